"""The NetworkX backend on the GPU: orders, distances, predecessors and sets equal to those of the CPU's queue."""

import random
from collections.abc import Iterable, Mapping

import networkx as nx
import numpy as np
import pytest

from rapids_bfs._core.cuda.arrays import on_device
from rapids_bfs.generators import generate
from rapids_bfs.nx import routing
from rapids_bfs.nx.graph import ConvertedGraph
from rapids_bfs.nx.routing import search_engine
from rapids_bfs.nx.search import ordered_bfs, reach, unordered_bfs

SPECS = ["path:300", "star:300", "grid:40", "tree:1000", "rmat:10", "urand:10", "complete:100"]
CALLS = {
    **dict.fromkeys(("bfs_edges", "bfs_successors", "bfs_labeled_edges", "predecessor"), lambda nodes: (nodes[0],)),
    **dict.fromkeys(("descendants", "ancestors", "shortest_path_length"), lambda nodes: (nodes[0],)),
    **dict.fromkeys(("single_source_shortest_path", "single_target_shortest_path"), lambda nodes: (nodes[0],)),
    **dict.fromkeys(("descendants_at_distance", "ego_graph"), lambda nodes: (nodes[0], 2)),
    "bfs_layers": lambda nodes: (nodes[:3],),
}
UNDIRECTED = {
    "node_connected_component": lambda nodes: (nodes[0],),
    **dict.fromkeys(("connected_components", "is_connected", "is_tree"), lambda nodes: ()),
}
DIRECTED = dict.fromkeys(
    ("weakly_connected_components", "is_weakly_connected", "is_strongly_connected"), lambda nodes: ()
)


@pytest.fixture
def ways(monkeypatch):
    """The engines that search on the GPU; "auto" takes it for every search but a graph's first."""
    monkeypatch.setattr(routing, "WIDE", 0)
    monkeypatch.setattr(routing, "GPU_SEARCH", 0)
    monkeypatch.setattr(routing, "GPU_PREPARATION", 0)
    return "cupy", "auto"


def shuffled(graph, rng):
    """The graph with its nodes and adjacencies in another order."""
    made = type(graph)()
    nodes, edges = list(graph), list(graph.edges)
    rng.shuffle(nodes)
    rng.shuffle(edges)
    made.add_nodes_from(nodes)
    made.add_edges_from(edges)
    return made


def random_graphs(seed):
    """Directed or not, connected or not, with self-loops; nodes are 0..n-1 or names."""
    rng = random.Random(seed)
    for directed in (False, True):
        for n, m in ((1, 0), (9, 12), (300, 150), (300, 400), (2000, 12_000)):
            graph = nx.gnm_random_graph(n, m, seed=seed, directed=directed)
            graph.add_edges_from((node, node) for node in rng.sample(range(n), n // 9))
            yield nx.convert_node_labels_to_integers(shuffled(graph, rng))
            yield shuffled(nx.relabel_nodes(graph, str), rng)


def assert_equal(found, expected):
    for name in ("order", "distances", "predecessors"):
        assert not on_device(getattr(found, name))
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.sources == expected.sources


def searched(engine, graph, *args, **kwargs):
    with nx.config.backends.rapids_bfs(engine=engine):
        return ordered_bfs(graph, *args, **kwargs)


@pytest.mark.parametrize("seed", range(4))
def test_ordered_searches(seed, ways):
    rng = np.random.default_rng(seed)
    for origin in random_graphs(seed):
        graph = ConvertedGraph(origin)
        for edges in (graph.forward, graph.backward, graph.symmetrized, graph.undirected):
            for size, limit in ((1, None), (1, 2), (3, None), (3, 0), (100, 1)):
                sources = rng.choice(len(graph), min(size, len(graph)), replace=False)
                expected = searched("cpu", graph, sources, limit, over=edges)
                for way in ways:
                    assert_equal(searched(way, graph, sources, limit, over=edges), expected)


@pytest.mark.parametrize("spec", [*SPECS, "rmat:14", "grid:200"])
def test_generated_graphs(spec, ways):
    graph = ConvertedGraph(generate(spec).to("networkx"))
    for source in {0, len(graph) // 2, len(graph) - 1}:
        sources = np.array([source])
        expected = searched("cpu", graph, sources)
        for way in ways:
            assert_equal(searched(way, graph, sources), expected)


@pytest.mark.parametrize("seed", range(4))
def test_sets(seed, ways):
    for origin in random_graphs(seed):
        graph = ConvertedGraph(origin)
        for edges in (graph.forward, graph.backward, graph.symmetrized):
            for sources in (True, False):
                expected = searched("cpu", graph, np.array([0]), over=edges).reached(sources=sources)
                for way in ways:
                    with nx.config.backends.rapids_bfs(engine=way):
                        assert list(reach(graph, 0, over=edges).reached(sources=sources)) == list(expected)
                        distances = unordered_bfs(graph, 0, over=edges).distances
                        assert on_device(distances) == (search_engine(edges) == "cupy")


@pytest.mark.parametrize("seed", range(2))
def test_functions(seed, ways):
    for origin in random_graphs(seed):
        for name, draw in (CALLS | (DIRECTED if origin.is_directed() else UNDIRECTED)).items():
            function, args = getattr(nx, name), draw(list(origin))
            expected = in_order(function(origin, *args, backend="networkx"))
            for way in ways:
                with nx.config.backends.rapids_bfs(engine=way):
                    for _ in range(3):
                        assert in_order(function(origin, *args, backend="rapids_bfs")) == expected, name


def in_order(answer):
    """An answer as lists, in whose equality order counts."""
    if isinstance(answer, nx.Graph):
        return [(node, list(row.items())) for node, row in answer.adj.items()]
    if isinstance(answer, Mapping):
        return list(answer.items())
    if isinstance(answer, Iterable):
        return [list(each) if isinstance(each, set) else each for each in answer]
    return answer


def test_a_first_search_is_the_cpus():
    edges = ConvertedGraph(nx.gnm_random_graph(20_000, 400_000, seed=1)).forward
    assert search_engine(edges) == "cpu"
    assert not edges.is_on("cuda")


def test_a_large_graph_that_was_searched_for_some_time_is_the_gpus(monkeypatch):
    monkeypatch.setattr(routing, "GPU_PREPARATION", 1)  # as if one search took as long as to put the graph there
    graph = ConvertedGraph(nx.gnm_random_graph(20_000, 400_000, seed=1))
    sources = np.array([17])
    first = ordered_bfs(graph, sources)
    assert_equal(ordered_bfs(graph, sources), first)
    assert graph.forward.is_on("cuda")
