"""Random NetworkX graphs, and random calls of every function of the backend."""

import inspect
import math
import random
import warnings
from collections.abc import Iterator, Mapping, Set

import networkx as nx

CLASSES = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
VERSION = tuple(map(int, nx.__version__.split(".")[:2]))


def random_graph(rng, cls=None, *, most_nodes=10, min_nodes=0):
    """A graph of any class and any kind of nodes, with self-loops, parallel edges and adjacencies in no order."""
    graph = (cls or rng.choice(CLASSES))(name=rng.choice(["", "drawn"]))
    n = rng.randint(min_nodes, most_nodes)
    nodes = rng.choice(
        [
            list(range(n)),
            rng.sample(range(n), n),
            rng.sample(range(-50, 2000), n),
            [f"node {i}" for i in rng.sample(range(n), n)],
            [(i // 3, i % 3) for i in rng.sample(range(n), n)],
            [i / 2 if i % 2 else f"{i}" for i in range(n)],
        ]
    )
    graph.add_nodes_from(nodes, colour="red")
    pairs = [
        (rng.choice(nodes), rng.choice(nodes)) for _ in range(rng.choice([0, n // 2, n, 2 * n, 4 * n]) if n else 0)
    ]
    if rng.random() < 0.3:  # a tree, or nearly
        pairs = [(nodes[rng.randrange(i)], nodes[i]) for i in range(1, n)] + pairs[: rng.randint(0, 1)]
    if rng.random() < 0.3:  # bipartite
        pairs = [(u, v) for u, v in pairs if nodes.index(u) % 2 != nodes.index(v) % 2]
    if rng.random() < 0.5:
        pairs = [(u, v) for u, v in pairs if u != v]
    rng.shuffle(pairs)
    graph.add_edges_from(pairs, weight=2)
    if pairs and rng.random() < 0.3:
        graph.remove_edge(*rng.choice(pairs))
        graph.add_edge(*rng.choice(pairs))
    return graph


def views(rng, graph):
    """What NetworkX makes of a graph without copying it."""
    nodes, edges = list(graph), list(graph.edges(keys=True) if graph.is_multigraph() else graph.edges)
    yield graph.subgraph(rng.sample(nodes, rng.randint(0, len(nodes))))
    yield graph.edge_subgraph(rng.sample(edges, rng.randint(0, len(edges))))
    yield nx.restricted_view(graph, rng.sample(nodes, min(1, len(nodes))), rng.sample(edges, len(edges) // 2))
    yield graph.to_undirected(as_view=True)
    yield graph.to_directed(as_view=True)
    if graph.is_directed():
        yield graph.reverse(copy=False)


class Draw:
    """The arguments of a call."""

    def __init__(self, rng, graph):
        self.rng, self.graph = rng, graph

    def node(self):
        """A node; seldom none of the graph."""
        nodes = list(self.graph)
        return self.rng.choice(nodes) if nodes and self.rng.random() < 0.97 else self.rng.choice(["missing", 10**9])

    def nodes(self):
        return [self.node() for _ in range(self.rng.randint(1, 4))]

    def bunch(self):
        return self.rng.choice([None, self.nodes(), set(self.nodes())])

    def limit(self):
        return self.rng.choice([None, None, 0, 1, 2, 3, 1.5, -1, math.inf])

    def maybe(self, *values):
        return self.rng.choice(values)

    def sorter(self):
        return self.rng.choice([None, lambda found: sorted(found, key=str), lambda found: list(found)[::-1]])

    def neighbors(self):
        """The graph's own function for the neighbours of a node, or None."""
        methods = ["neighbors", "successors", "predecessors"] if self.graph.is_directed() else ["neighbors"]
        return self.rng.choice([None, *(getattr(self.graph, method) for method in methods)])

    def some(self, **options):
        """Some of these options."""
        return {name: value for name, value in options.items() if self.rng.random() < 0.6}


def _traversals_and_paths():
    """Each function's name with what draws its arguments beside the graph, by name or position."""

    def search(d):
        return (d.node(),), d.some(depth_limit=d.limit(), sort_neighbors=d.sorter())

    def reversible(d):
        args, options = search(d)
        return args, options | d.some(reverse=d.maybe(True, False))

    def from_source(d):
        return (d.node(),), d.some(cutoff=d.limit())

    def between(d):
        return (d.node(), d.node()), {}

    def sources(d):
        return (d.rng.choice([d.node(), d.nodes(), tuple(dict.fromkeys(d.nodes()))]),), {}

    def path(d):
        method = d.maybe("dijkstra", "bellman-ford", "dijkstra", "nonsense")
        return (), d.some(source=d.node(), target=d.node(), method=method)

    yield from dict.fromkeys(("bfs_edges", "bfs_tree"), reversible).items()
    yield from dict.fromkeys(("bfs_predecessors", "bfs_successors"), search).items()
    yield "generic_bfs_edges", lambda d: ((d.node(),), d.some(depth_limit=d.limit(), neighbors=d.neighbors()))
    yield from dict.fromkeys(("bfs_layers", "bfs_labeled_edges"), sources).items()
    yield "descendants_at_distance", lambda d: ((d.node(), d.maybe(0, 1, 2, 3, 1.5, -1)), {})
    yield from dict.fromkeys(("single_source_shortest_path", "single_source_shortest_path_length"), from_source).items()
    yield from dict.fromkeys(("single_target_shortest_path", "single_target_shortest_path_length"), from_source).items()
    both = ("all_pairs_shortest_path", "all_pairs_shortest_path_length")
    yield from dict.fromkeys(both, lambda d: ((), d.some(cutoff=d.limit()))).items()
    yield from dict.fromkeys(("bidirectional_shortest_path", "has_path"), between).items()
    yield (
        "predecessor",
        lambda d: ((d.node(),), d.some(target=d.node(), cutoff=d.limit(), return_seen=d.maybe(True, False))),
    )
    yield from dict.fromkeys(("shortest_path", "shortest_path_length"), path).items()
    yield "average_shortest_path_length", lambda d: ((), d.some(method=d.maybe("unweighted", None, "nonsense")))
    yield "all_shortest_paths", lambda d: ((d.node(), d.node()), d.some(method=d.maybe("bellman-ford", "nonsense")))
    yield "single_source_all_shortest_paths", lambda d: ((d.node(),), d.some(method=d.maybe("dijkstra", "nonsense")))
    yield "all_pairs_all_shortest_paths", lambda d: ((), d.some(method=d.maybe("dijkstra", "nonsense")))


def _measures():
    """The same of functions that answer for a whole graph, or for its parts."""

    def only_graph(d):
        return (), {}

    def bounds(d):
        return (), d.some(usebounds=d.maybe(True, False))

    yield "eccentricity", lambda d: ((), d.some(v=d.maybe(d.node(), d.nodes())))
    yield from dict.fromkeys(("diameter", "radius", "center", "periphery"), bounds).items()
    yield "barycenter", only_graph
    if VERSION >= (3, 7):
        yield "centroid", only_graph
    yield "harmonic_diameter", only_graph
    yield from dict.fromkeys(
        ("descendants", "ancestors", "node_connected_component"), lambda d: ((d.node(),), {})
    ).items()
    yield "transitive_closure", lambda d: ((), d.some(reflexive=d.maybe(None, True, False, "nonsense")))
    families = ("connected_components", "weakly_connected_components", "strongly_connected_components")
    yield from dict.fromkeys((*families, *(f"number_{family}" for family in families)), only_graph).items()
    connected = ("is_connected", "is_weakly_connected", "is_strongly_connected", "girth", "wiener_index")
    yield from dict.fromkeys(connected, only_graph).items()
    yield from dict.fromkeys(("is_bipartite", "color", "global_efficiency", "local_efficiency"), only_graph).items()
    yield "sets", lambda d: ((), d.some(top_nodes=d.nodes()))
    yield (
        "ego_graph",
        lambda d: (
            (d.node(),),
            d.some(radius=d.maybe(0, 1, 2, 1.5), center=d.maybe(True, False), undirected=d.maybe(True, False)),
        ),
    )
    yield from dict.fromkeys(("is_tree", "is_forest", "is_arborescence", "is_branching"), only_graph).items()
    yield "closeness_centrality", lambda d: ((), d.some(u=d.node(), wf_improved=d.maybe(True, False)))
    yield "harmonic_centrality", lambda d: ((), d.some(nbunch=d.bunch(), sources=d.bunch()))

    def sample(d):
        return d.some(k=d.rng.randint(1, max(1, len(d.graph))), normalized=d.maybe(True, False)) | {
            "seed": d.rng.randint(0, 9)
        }

    yield "betweenness_centrality", lambda d: ((), sample(d) | d.some(endpoints=d.maybe(True, False)))
    yield "edge_betweenness_centrality", lambda d: ((), sample(d))
    subset = ("betweenness_centrality_subset", "edge_betweenness_centrality_subset")
    yield from dict.fromkeys(
        subset, lambda d: ((d.nodes(), d.nodes()), d.some(normalized=d.maybe(True, False)))
    ).items()
    yield "global_reaching_centrality", lambda d: ((), d.some(normalized=d.maybe(True, False)))
    yield "local_reaching_centrality", lambda d: ((d.node(),), d.some(normalized=d.maybe(True, False)))


CALLS = dict(_traversals_and_paths()) | dict(_measures())


def function(name):
    return nx.utils.backends._registered_algorithms.get(name) or getattr(nx, name)


def public(name):
    """The function as users call it, its outer decorators included."""
    original = function(name).orig_func
    module = __import__(original.__module__, fromlist=[name])
    return getattr(module, name)


def outcome(call, *args, **kwargs):
    """What a call returns, consumed in full and in order; or the exception it ends with, and when."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = call(*args, **kwargs)
        except Exception as error:
            return "raised", type(error), str(error)
        try:
            found = in_order(result)
        except Exception as error:
            return "raised while consumed", type(error), str(error)
    said = [
        (each.category, str(each.message))
        for each in warned
        if issubclass(each.category, (FutureWarning, DeprecationWarning))
    ]
    return "returned", found, said


def in_order(value):
    """``value`` as lists, in whose equality order counts."""
    if isinstance(value, nx.Graph):
        rows = [(node, [(to, dict(data)) for to, data in row.items()]) for node, row in value._adj.items()]
        return type(value), dict(value.graph), list(value.nodes(data=True)), rows
    if isinstance(value, Mapping):
        return type(value), [(key, in_order(item)) for key, item in value.items()]
    if isinstance(value, Set):
        return type(value), list(value)
    if isinstance(value, Iterator):
        return "generator" if inspect.isgenerator(value) else "iterator", [in_order(each) for each in value]
    if isinstance(value, list | tuple):
        return type(value), [in_order(each) for each in value]
    return value


def close(one, other, *, strict=False):
    """Are these equal, floats up to their last digits? ``strict``: no integer is equal to a float."""
    if isinstance(one, float) or isinstance(other, float):
        return (
            isinstance(one, float | int)
            and isinstance(other, float | int)
            and (not strict or type(one) is type(other))
            and (math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-13) or (one != one and other != other))
        )
    if isinstance(one, list | tuple):
        alike = type(one) is type(other) and len(one) == len(other)
        return alike and all(close(*pair, strict=strict) for pair in zip(one, other, strict=True))
    return type(one) is type(other) and (one is other or one == other)


def draw_call(name, rng, graph):
    args, kwargs = CALLS[name](Draw(rng, graph))
    return args, kwargs


def generator(seed):
    return random.Random(seed)
