"""Every way of searching gives NetworkX's answers in its order: without an order, along an engine's tree, on a GPU."""

import random
from contextlib import contextmanager

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nx_calls import CALLS, CLASSES, close, draw_call, outcome, public, random_graph

from rapids_bfs import Graph
from rapids_bfs.engines import registered, resolve
from rapids_bfs.engines.cpu import CPU
from rapids_bfs.nx import routing, search
from rapids_bfs.nx.algorithms import ego
from rapids_bfs.nx.functions import FUNCTIONS
from rapids_bfs.nx.graph import ConvertedGraph
from rapids_bfs.nx.routing import search_engine
from rapids_bfs.nx.search import ordered_bfs

GRAPHS = 12  # a function and way
SEARCHES = [name for name in CALLS if FUNCTIONS[name].ends or "component" in name or name.startswith("is_")]
SETS = ("descendants", "ancestors", "node_connected_component", "connected_components", "weakly_connected_components")


class Another(CPU):
    """An engine like any other: the backend does not know that it has a queue."""

    name = "another"
    algorithms = ("sequential",)


@pytest.fixture(autouse=True)
def another(monkeypatch):
    monkeypatch.setitem(registered(), "another", Another())
    yield
    resolve.cache_clear()


@pytest.fixture
def always(monkeypatch):
    """However small a graph is, and however deep."""
    monkeypatch.setattr(routing, "WIDE", 0)
    monkeypatch.setattr(routing, "GPU_SEARCH", 0)
    monkeypatch.setattr(routing, "GPU_PREPARATION", 0)
    monkeypatch.setattr(ego, "FEW_ARCS", 0)


@pytest.fixture
def calls(monkeypatch):
    """How often some functions were called."""
    counts = {}

    def count(owner, name):
        original = getattr(owner, name)

        def counted(*args, **kwargs):
            counts[name] = counts.get(name, 0) + 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    count(ConvertedGraph, "set_where")
    count(search, "tree_of")
    return counts


@contextmanager
def without_order(monkeypatch):
    yield


@contextmanager
def along_a_tree(monkeypatch):
    with nx.config.backends.rapids_bfs(engine="another"):
        yield


@contextmanager
def as_if_on_a_gpu(monkeypatch):
    monkeypatch.setattr(routing, "resolve", lambda spec, deterministic: resolve("another", deterministic))
    yield


WAYS = (without_order, along_a_tree, as_if_on_a_gpu)


def drawn(rng):
    """A graph that is often whole or nearly so, and whose nodes are mostly 0..n-1."""
    graph = random_graph(rng, most_nodes=rng.choice([6, 30]), min_nodes=1)
    if rng.random() < 0.8:
        graph = nx.convert_node_labels_to_integers(graph, first_label=rng.choice([0, 0, 1]))
    nodes = list(graph)
    if rng.random() < 0.5:
        graph.add_edges_from((node, rng.choice(nodes)) for node in nodes)
    return graph


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SEARCHES)
def test_is_networkx_own_in_order(name, way, always, calls, monkeypatch):
    for seed in range(GRAPHS):
        rng = random.Random(f"{name} {seed}")
        graph = drawn(rng)
        args, kwargs = draw_call(name, rng, graph)
        expected = outcome(public(name), graph, *args, backend="networkx", **kwargs)
        with way(monkeypatch):
            for turn in range(3):  # the first search knows nothing of the graph
                found = outcome(public(name), graph, *args, backend="rapids_bfs", **kwargs)
                assert close(found, expected), f"seed {seed}, {turn}: {name}({graph}, *{args}, **{kwargs})"
    assert name not in SETS or calls["set_where"]
    assert way is not along_a_tree or not name.startswith("bfs_") or calls["tree_of"]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("undirected", [False, True])
def test_parts_of_all_sizes(cls, undirected, always):
    """A row of a multigraph that is much longer than the part has an order of its own."""
    for seed in range(60):
        rng = random.Random(seed)
        graph = cls(nx.gnm_random_graph(60, 90, seed=seed, directed=True), tone="low")
        for hub in 60 * [3, 7]:
            graph.add_edge(*rng.sample([hub, rng.randrange(60)], 2), by=[seed])
        nx.set_node_attributes(graph, {3: [seed], 5: "x"}, "kind")
        if seed % 2:
            graph = nx.relabel_nodes(graph, {node: f"{node}" for node in graph})
        node = rng.choice(list(graph))
        options = {"radius": seed % 4, "undirected": undirected, "center": seed % 5 > 0}
        found = nx.ego_graph(graph, node, backend="rapids_bfs", **options)
        expected = nx.ego_graph(graph, node, backend="networkx", **options)
        assert outcome(lambda found=found: found) == outcome(lambda expected=expected: expected)
        assert found.adj == expected.adj
        if graph.is_directed():
            assert [list(row) for row in found.pred.values()] == [list(row) for row in expected.pred.values()]
        for one, other in zip(found.edges(data=True), graph.subgraph(found).edges(data=True), strict=True):
            assert one[2] is not other[2]
        assert all(found._node[each] is not graph._node[each] for each in found)
        if not graph.is_directed():
            assert all(found._adj[head][tail] is found._adj[tail][head] for tail, head in found.edges())


def test_a_part_of_a_graph_of_ones_own_class_is_of_that_class(always):
    class Own(nx.Graph):
        def add_node(self, node, **attributes):
            super().add_node(node, seen=True, **attributes)

    graph = Own(nx.path_graph(9))
    for each in (graph, nx.freeze(nx.path_graph(9)), nx.DiGraph(graph).reverse(copy=False), graph.subgraph(range(7))):
        found = nx.ego_graph(each, 4, 2, backend="rapids_bfs")
        assert type(found) is type(each)
        assert not nx.is_frozen(found)
        assert outcome(lambda found=found: found) == outcome(nx.ego_graph, each, 4, 2, backend="networkx")


@given(n=st.integers(1, 3000), first=st.sampled_from([0, 1, 70]), share=st.floats(0, 1), seed=st.integers(0, 99))
def test_a_set_has_the_order_in_which_it_is_made_one_by_one(n, first, share, seed):
    rng = np.random.default_rng(seed)
    nodes = range(first, first + n) if seed % 2 else (first + rng.permutation(n)).tolist()
    graph = ConvertedGraph(nx.empty_graph(nodes))
    vertices = rng.permutation(n)[: round(share * n)]
    one_by_one = set()
    for node in graph.nodes[vertices]:
        one_by_one.add(node)
    assert list(graph.set_at(vertices)) == list(one_by_one)
    if graph.ascends(len(vertices)):
        assert list(one_by_one) == sorted(one_by_one)
        assert list(graph.set_where(np.isin(np.arange(n), vertices))) == list(one_by_one)


def test_a_set_of_anything_but_numbers_is_made_one_by_one():
    for nodes in ([0.0, 1], [True, 2, 0], [-1, 0, 1], ["0", 1], [10**30, 0, 1]):
        assert not ConvertedGraph(nx.empty_graph(nodes)).ascends(len(nodes))


def test_an_answer_can_be_changed(always):
    graph = nx.cycle_graph(40)
    for _ in range(3):
        found = nx.node_connected_component(graph, 3, backend="rapids_bfs")
        assert found == set(range(40))
        found.clear()


@pytest.mark.parametrize("limit", [None, 0, 1, 3])
def test_a_tree_of_an_engine_is_walked_as_a_queue_walks(limit):
    """Several sources, over edges of all kinds."""
    for seed in range(60):
        rng = random.Random(seed)
        graph = ConvertedGraph(drawn(rng))
        some = range(len(graph))
        sources = np.array(rng.sample(some, rng.randint(1, min(3, len(graph)))))
        for edges in (graph.forward, graph.backward, graph.symmetrized, graph.undirected):
            expected = ordered_bfs(graph, sources, limit, over=edges)
            with nx.config.backends.rapids_bfs(engine="another"):
                found = ordered_bfs(graph, sources, limit, over=edges)
            for name in ("order", "distances", "predecessors"):
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_a_function_of_the_neighbours_may_name_one_twice():
    graph = nx.gnp_random_graph(30, 0.2, seed=3)
    options = {"sort_neighbors": lambda found: 2 * sorted(found, reverse=True)}
    expected = list(nx.bfs_edges(graph, 1, backend="networkx", **options))
    with nx.config.backends.rapids_bfs(engine="another"):
        assert list(nx.bfs_edges(graph, 1, backend="rapids_bfs", **options)) == expected


class TestEngine:
    """What "auto" takes for one search, as if there were a GPU."""

    @pytest.fixture(autouse=True)
    def gpu(self, monkeypatch):
        monkeypatch.setattr(routing, "resolve", lambda spec, deterministic: resolve("another", deterministic))
        monkeypatch.setattr(routing, "GPU_SEARCH", 3000)
        monkeypatch.setattr(routing, "GPU_PREPARATION", 0)

    def searched(self, origin, limit=None):
        graph = ConvertedGraph(origin)
        ordered_bfs(graph, np.array([0]), limit)
        return graph.forward

    def test_the_cpu_for_the_first_search(self, monkeypatch):
        monkeypatch.setattr(routing, "WIDE", 10)
        edges = ConvertedGraph(nx.gnm_random_graph(500, 2000, seed=1)).forward
        assert search_engine(edges) == "cpu"

    def test_the_gpu_for_a_large_graph_that_is_searched_again(self, monkeypatch):
        monkeypatch.setattr(routing, "WIDE", 10)
        assert search_engine(self.searched(nx.gnm_random_graph(500, 2000, seed=1))) == "another"
        assert search_engine(self.searched(nx.gnm_random_graph(400, 1400, seed=1))) == "cpu"

    def test_the_gpu_once_searches_have_taken_as_long_as_its_preparation(self, monkeypatch):
        monkeypatch.setattr(routing, "WIDE", 10)
        monkeypatch.setattr(routing, "GPU_PREPARATION", 9000)
        graph = ConvertedGraph(nx.gnm_random_graph(500, 2000, seed=1))
        taken = []
        for _ in range(4):  # each walks 4,000 arcs
            taken.append(search_engine(graph.forward))
            ordered_bfs(graph, np.array([0]))
        assert taken == ["cpu", "cpu", "cpu", "another"]

    def test_the_cpu_for_a_deep_graph(self, monkeypatch):
        monkeypatch.setattr(routing, "WIDE", 10)
        assert search_engine(self.searched(nx.path_graph(4000))) == "cpu"

    def test_the_cpu_for_searches_that_end_soon(self, monkeypatch):
        monkeypatch.setattr(routing, "WIDE", 10)
        origin = nx.gnm_random_graph(500, 2000, seed=1)
        assert search_engine(self.searched(origin, limit=1)) == "cpu"  # of the graph nothing is known yet
        edges = self.searched(origin)
        assert [search_engine(edges, limit) for limit in (0, 1, 2, 5)] == ["cpu", "cpu", "cpu", "another"]

    def test_what_is_asked_for_whatever_the_graph_is_like(self):
        edges = Graph(np.array([0, 1, 2]), np.array([1, 0]))
        with nx.config.backends.rapids_bfs(engine="networkx"):
            assert search_engine(edges) == "networkx"
