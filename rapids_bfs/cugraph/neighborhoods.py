"""`ego_graph`, `get_two_hop_neighbors` and `k_hop_nbrs` of `rapids_bfs.cugraph`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._core.arguments import index_of, quoted, whole_number
from .._core.cuda.arrays import moved
from ..adapters import cudf as cudf_adapter
from ..algorithms.neighborhoods import EgoGraphs, iter_ego_graphs
from ..algorithms.walks import walk_ends
from ..errors import InputError
from .prepared import Prepared, is_graph
from .searcher import searcher_of


def ego_graph(
    G: Any, n: Any, radius: int = 1, center: bool = True, undirected: Any = None, distance: Any = None
) -> Any:
    """The graphs around vertices, as `cugraph.ego_graph` of RAPIDS 26.10 returns them.

    All are found at once, and the work is proportional to what they hold.

    Parameters
    ----------
    G : cugraph.Graph, cudf.DataFrame, CuPy or SciPy sparse matrix
        A matrix or an edge list is taken as undirected.
    n : vertex id, or list, Series or DataFrame of ids
        Use a DataFrame for ids of several columns.
    radius : int
        The largest distance from the seed, at least 1.
    center : bool
        Must be True.
    undirected, distance
        Ignored, as in cuGraph, with a warning if they are given.

    Returns
    -------
    cugraph.Graph
        The edges between the vertices within ``radius`` of the seed, with their weights if ``G`` has weights.
    list of cugraph.Graph
        In the order of the seeds, if there are several.

    Raises
    ------
    TypeError
        If ``G`` or ``n`` has another type.
    ValueError
        If a seed is not a vertex, there is none, or ``radius`` is less than 1.
    NotImplementedError
        If ``center`` is False.
    """
    if center is not True:
        raise NotImplementedError("center=False is not supported: the graph holds its seed")
    for name, value in (("undirected", undirected), ("distance", distance)):
        if value is not None:
            warnings.warn(f"{name}= is ignored, as in cuGraph", UserWarning, stacklevel=2)
    prepared = searcher_of(G, directed=False)
    seeds = _seeds(prepared, n)
    radius = whole_number(radius, "the radius", 1)
    weights = G.decompress_to_edgelist(return_unrenumbered_edgelist=False) if is_graph(G) and G.is_weighted() else None
    graph = prepared.graph
    made = [
        _cugraph_graph(G, prepared, ego, position, weights)
        for ego in iter_ego_graphs(graph, graph.ids_of(seeds), radius)
        for position in range(len(ego))
    ]
    return made[0] if len(made) == 1 else made


def get_two_hop_neighbors(G: Any, start_vertices: Any = None) -> Any:
    """Pairs of vertices that are two edges apart, as the method of `cugraph.Graph` of this name returns them.

    Parameters
    ----------
    G : cugraph.Graph, cudf.DataFrame, CuPy or SciPy sparse matrix
    start_vertices : vertex id, or list, Series or DataFrame of ids, optional
        Default: all vertices.

    Returns
    -------
    cudf.DataFrame
        With the columns ``first`` and ``second``, in ascending order of integer ids: a walk of two edges leads from the
        one to the other, which may be the same. ``second`` comes first if cuGraph has renumbered the graph.

    Raises
    ------
    TypeError, ValueError
        If ``G`` has another type, a start is not a vertex, or the pairs do not fit in the memory.
    """
    prepared = searcher_of(G)
    starts = np.arange(prepared.graph.num_vertices) if start_vertices is None else prepared.vertices_at(start_vertices)
    position, ends = walk_ends(prepared.graph, starts, 2)
    first = prepared.ids("first", moved(starts, prepared.graph.device)[position])
    second = prepared.ids("second", ends)
    return cudf_adapter.frame_of(first | second if prepared.names is None else second | first)


def k_hop_nbrs(G: Any, start_vertices: Any, k: int) -> tuple[Any, Any]:
    """The vertices that a walk of exactly k edges leads to, as the function of cuGraph's C++ of this name finds them.

    Parameters
    ----------
    G : cugraph.Graph, cudf.DataFrame, CuPy or SciPy sparse matrix
    start_vertices : vertex id, or list, Series or DataFrame of ids
    k : int
        At least 1. For the vertices within k edges use `rapids_bfs.neighborhoods`.

    Returns
    -------
    offsets : cudf.Series of int64
    neighbors : cudf.Series, or DataFrame if ids have several columns
        Those of the i-th start are ``neighbors[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    TypeError, ValueError
        If ``G`` has another type, a start is not a vertex, k is not a whole number from 1 on, or there is too little
        memory.
    """
    prepared = searcher_of(G)
    starts = prepared.vertices_at(start_vertices)
    position, ends = walk_ends(prepared.graph, starts, whole_number(k, "k", 1))
    import cudf

    frame = cudf_adapter.frame_of(prepared.ids("neighbors", ends))
    offsets = prepared.xp.searchsorted(position, prepared.xp.arange(len(starts) + 1))
    return cudf.Series(offsets), frame["neighbors"] if len(frame.columns) == 1 else frame


def _seeds(prepared: Prepared, n: Any) -> np.ndarray:
    """The vertices of the seeds. Raises what `cugraph.ego_graph` raises if they are of another type."""
    if isinstance(n, list):
        several = len(n) > 0
    elif index_of(n) is not None or isinstance(n, str):
        several = True
    elif hasattr(n, "columns") or hasattr(n, "to_frame"):
        several = len(n) > 0
    else:
        raise TypeError(
            f"'n' must be either an integer or a list or a cudf.Series or a cudf.DataFrame, got: {type(n)} {quoted(n)}"
        )
    if not several:
        raise InputError("'n' must contain at least one seed vertex")
    return prepared.vertices_at(n)


def _cugraph_graph(G: Any, prepared: Prepared, egos: EgoGraphs, position: int, weights: Any) -> Any:
    """The graph around one seed, made as `cugraph.ego_graph` makes it, of ``weights`` if it has any: a frame of all of
    the graph's edges with cuGraph's integers in ``src`` and ``dst``."""
    import cugraph

    piece = slice(*egos.offsets[position : position + 2].tolist())
    ends = egos.sources[piece], egos.targets[piece]
    edges = cudf_adapter.frame_of(
        {end: prepared.vertices[each] for end, each in zip(("src", "dst"), ends, strict=True)}
    )
    if weights is not None:
        edges = edges.drop_duplicates().merge(weights[["src", "dst", "weight"]], on=["src", "dst"])
    columns = {"src": ["src"], "dst": ["dst"]}
    if prepared.names is not None:
        named = {end: cudf_adapter.rows_at(prepared.names, edges[end].values) for end in columns}
        columns = {end: list(prepared.columns_of(end).values()) for end in columns}
        ids = {column: named[end][part] for end in columns for part, column in prepared.columns_of(end).items()}
        edges = cudf_adapter.frame_of(ids if weights is None else ids | {"weight": edges["weight"]})
    source, target = (each[0] if len(each) == 1 else each for each in columns.values())
    kind = type(G) if is_graph(G) else cugraph.Graph
    made = kind(directed=prepared.graph.directed)
    options = {} if weights is None else {"edge_attr": "weight"}
    made.from_cudf_edgelist(edges, source=source, destination=target, **options)
    return made
