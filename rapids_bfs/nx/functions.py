"""Every function of the backend, declared once: its module, the arguments it searches from, those it cannot take.

The dispatch interface, `get_info`, `can_run` and `should_run` are all read from `FUNCTIONS`. This module imports
nothing but the standard library: NetworkX calls `get_info` whenever it is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BACKEND = "rapids_bfs"
URL = "https://github.com/rapids-bfs/rapids_bfs"
MIN_EDGES = 20_000  # measured by `python -m benchmarks networkx`


@dataclass(frozen=True)
class Function:
    """A NetworkX function that the backend implements.

    Attributes
    ----------
    ours : str
        Its module below ``rapids_bfs.nx.algorithms``.
    module : str
        Its module below ``networkx``.
    ends : tuple of str
        The arguments that name vertices to search from or to. A call with one of them is a single search, a call with
        two asks for a path between two vertices.
    per_vertex : bool
        Without an end given, is there a search from every vertex, rather than one pass over the graph?
    limit : str or None
        The argument that says how far to search.
    without : tuple of str
        Arguments that must be None: they would give edges a length, or write to the graph.
    early : bool
        NetworkX often knows the answer after a few edges.
    delegated : tuple of str
        Arguments that leave the call to NetworkX: there is nothing to search, or a Python function is called at every
        vertex. The graph's own methods for the neighbours of a node do not count as such a function.
    """

    ours: str
    module: str
    ends: tuple[str, ...] = ()
    per_vertex: bool = False
    limit: str | None = None
    without: tuple[str, ...] = ()
    early: bool = False
    delegated: tuple[str, ...] = ()


def _declare(
    modules: tuple[str, str], names: str, *, ends: str = "", without: str = "", delegated: str = "", **features: Any
) -> dict[str, Function]:
    """One declaration for several functions; several names of functions or arguments are separated by blanks."""
    start, absent, theirs = (tuple(each.split()) for each in (ends, without, delegated))
    return dict.fromkeys(names.split(), Function(*modules, start, without=absent, delegated=theirs, **features))


_BFS = "traversal", "algorithms.traversal.breadth_first_search"
_DAG = "traversal", "algorithms.dag"
_UNWEIGHTED = "paths", "algorithms.shortest_paths.unweighted"
_PATHS = "paths", "algorithms.shortest_paths.generic"
_DISTANCE = "distances", "algorithms.distance_measures"
_EFFICIENCY = "distances", "algorithms.efficiency_measures"
_WIENER = "distances", "algorithms.wiener"
_CYCLES = "distances", "algorithms.cycles"
_COMPONENTS = "components", "algorithms.components.connected"
_WEAK = "components", "algorithms.components.weakly_connected"
_STRONG = "components", "algorithms.components.strongly_connected"
_TREES = "components", "algorithms.tree.recognition"
_BIPARTITE = "components", "algorithms.bipartite.basic"
_BETWEENNESS = "centrality", "algorithms.centrality.betweenness"
_SUBSET = "centrality", "algorithms.centrality.betweenness_subset"
_CLOSENESS = "centrality", "algorithms.centrality.closeness"
_HARMONIC = "centrality", "algorithms.centrality.harmonic"
_REACHING = "centrality", "algorithms.centrality.reaching"
_EGO = "ego", "generators.ego"

_TRAVERSALS = "bfs_edges bfs_tree bfs_predecessors bfs_successors"
_PATHS_FROM = "single_source_shortest_path single_source_shortest_path_length"
_PATHS_TO = "single_target_shortest_path single_target_shortest_path_length"
_PATHS_FROM_ALL = "all_pairs_shortest_path all_pairs_shortest_path_length"
_CONNECTED = "connected_components number_connected_components is_connected"
_WEAKLY = "weakly_connected_components number_weakly_connected_components is_weakly_connected"
_STRONGLY = "strongly_connected_components number_strongly_connected_components is_strongly_connected"
_OF_SUBSETS = "betweenness_centrality_subset edge_betweenness_centrality_subset"

FUNCTIONS: dict[str, Function] = {
    **_declare(_BFS, _TRAVERSALS, ends="source", limit="depth_limit", delegated="sort_neighbors"),
    **_declare(_BFS, "generic_bfs_edges", ends="source", limit="depth_limit", delegated="neighbors"),
    **_declare(_BFS, "bfs_layers bfs_labeled_edges", ends="sources"),
    **_declare(_BFS, "descendants_at_distance", ends="source", limit="distance"),
    **_declare(_UNWEIGHTED, _PATHS_FROM, ends="source", limit="cutoff"),
    **_declare(_UNWEIGHTED, _PATHS_TO, ends="target", limit="cutoff"),
    **_declare(_UNWEIGHTED, _PATHS_FROM_ALL, per_vertex=True, limit="cutoff"),
    **_declare(_UNWEIGHTED, "bidirectional_shortest_path", ends="source target", early=True),
    **_declare(_UNWEIGHTED, "predecessor", ends="source", limit="cutoff"),
    **_declare(_PATHS, "has_path", ends="source target", early=True),
    **_declare(_PATHS, "shortest_path shortest_path_length", ends="source target", per_vertex=True, without="weight"),
    **_declare(_PATHS, "average_shortest_path_length", per_vertex=True, without="weight"),
    **_declare(_PATHS, "all_shortest_paths single_source_all_shortest_paths", ends="source", without="weight"),
    **_declare(_PATHS, "all_pairs_all_shortest_paths", per_vertex=True, without="weight"),
    **_declare(_DISTANCE, "eccentricity", ends="v", per_vertex=True, without="weight", delegated="sp"),
    **_declare(_DISTANCE, "diameter radius center periphery", per_vertex=True, without="weight", delegated="e"),
    **_declare(_DISTANCE, "barycenter centroid", per_vertex=True, without="weight attr", delegated="sp"),
    **_declare(_DISTANCE, "harmonic_diameter", per_vertex=True, without="weight", delegated="sp"),
    **_declare(_DAG, "descendants ancestors", ends="source"),
    **_declare(_DAG, "transitive_closure", per_vertex=True),
    **_declare(_COMPONENTS, _CONNECTED),
    **_declare(_COMPONENTS, "node_connected_component", ends="n"),
    **_declare(_WEAK, _WEAKLY),
    **_declare(_STRONG, _STRONGLY),
    **_declare(_BIPARTITE, "is_bipartite color sets", early=True),
    **_declare(_EGO, "ego_graph", ends="n", limit="radius", without="distance"),
    **_declare(_TREES, "is_tree is_arborescence", early=True),
    **_declare(_TREES, "is_forest is_branching"),
    **_declare(_CLOSENESS, "closeness_centrality", ends="u", per_vertex=True, without="distance", delegated="sp"),
    **_declare(_HARMONIC, "harmonic_centrality", per_vertex=True, without="distance"),
    **_declare(_BETWEENNESS, "betweenness_centrality edge_betweenness_centrality", per_vertex=True, without="weight"),
    **_declare(_SUBSET, _OF_SUBSETS, per_vertex=True, without="weight"),
    **_declare(_REACHING, "global_reaching_centrality", per_vertex=True, without="weight"),
    **_declare(_REACHING, "local_reaching_centrality", ends="v", without="weight", delegated="paths"),
    **_declare(_WIENER, "wiener_index", per_vertex=True, without="weight"),
    **_declare(_EFFICIENCY, "global_efficiency local_efficiency", per_vertex=True),
    **_declare(_CYCLES, "girth", per_vertex=True),
}


def get_info() -> dict[str, Any]:
    """The backend's entry point `backend_info`, which NetworkX calls without importing the backend."""
    return {
        "backend_name": BACKEND,
        "project": "rapids-bfs",
        "package": "rapids_bfs",
        "url": URL,
        "short_summary": "Breadth-first search on CPU and GPU, in NetworkX's own order.",
        "default_config": {"engine": "auto", "min_edges": MIN_EDGES},
        "functions": {name: _documented(function) for name, function in FUNCTIONS.items()},
    }


def _documented(function: Function) -> dict[str, Any]:
    """What NetworkX adds to a function's docstring: how it searches, what becomes of its arguments, its source."""
    parameters = {
        "G : graph of any class": "Converted at the first call; NetworkX keeps the conversion with the graph."
    }
    if function.limit:
        parameters[f"{function.limit} : number, optional"] = "The search goes no further than this, nor does its work."
    parameters |= dict.fromkeys([f"{each} : None" for each in function.without], "A search counts edges: must be None.")
    parameters |= dict.fromkeys([f"{each} : None" for each in function.delegated], "If given, NetworkX answers.")
    if function.per_vertex:
        searches = "One search, or one from every node" if function.ends else "A search from every node"
        searches += ", many of them at once"
    else:
        searches = "A search" if function.ends else "A pass over the graph"
    return {
        "url": f"{URL}/blob/main/rapids_bfs/nx/algorithms/{function.ours}.py",
        "additional_docs": f"{searches}; the answer and its order are NetworkX's.",
        "additional_parameters": parameters,
    }
