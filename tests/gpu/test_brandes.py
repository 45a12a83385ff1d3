"""Betweenness on the GPU: both ways of going forward, few words and many, vertices and arcs, against the CPU's sums."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import random_graph
from strategies import graphs

from rapids_bfs import Graph, InputError, as_graph, betweenness, load
from rapids_bfs.engines import registered
from rapids_bfs.engines.gpu.betweenness import DEFAULT
from rapids_bfs.generators import generate

NEVER, ALWAYS = 0, 1 << 30  # alpha: let every place pull never, or at each level
TUNINGS = {
    "default": DEFAULT,
    "by lists": replace(DEFAULT, alpha=NEVER),
    "by sweeps": replace(DEFAULT, alpha=ALWAYS),
    "one block": replace(DEFAULT, grid=1),
    "a word at a time": replace(DEFAULT, places=1),
    "fewer threads": replace(DEFAULT, threads=128, blocks=4),
}
SHAPES = ["rmat:10", "urand:9", "grid:20", "tree:1000", "star:1500", "path:300", "complete:200"]


@pytest.fixture(params=TUNINGS)
def tuning(request):
    return TUNINGS[request.param]


def assert_right(graph, sources, tuning, is_target=None):
    """The sums for vertices, with endpoints and for arcs; the second time the same to the bit."""
    is_target = np.ones(graph.num_vertices, bool) if is_target is None else is_target
    expected = registered()["cpu"].prepare_betweenness(graph, "direction-optimizing")
    prepared = registered()["cupy"].prepare_betweenness(graph, "direction-optimizing")
    prepared.tune(tuning)
    for endpoints, edges in ((False, False), (True, False), (False, True)):
        found = prepared.scores(sources, is_target, endpoints, edges)
        wanted = expected.scores(sources, is_target, endpoints, edges)
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(prepared.scores(sources, is_target, endpoints, edges), found)


@pytest.mark.parametrize("spec", SHAPES)
def test_shapes(tuning, spec):
    graph = generate(spec)
    rng = np.random.default_rng(2)
    for k in (1, 64, 65, 700):
        assert_right(graph, rng.integers(0, graph.num_vertices, k), tuning)


def test_random_graphs(tuning):
    """Directed or not, with isolated vertices, self-loops and parallel arcs; sources repeated; some targets."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        graph = random_graph(rng)
        sources = rng.integers(0, graph.num_vertices, int(rng.integers(1, 200)))
        assert_right(graph, sources, tuning, rng.random(graph.num_vertices) < rng.choice([0.1, 0.5, 1]))


def test_directed(tuning):
    rng = np.random.default_rng(4)
    for most in (5_000, 40):  # targets: many, and so few that they have very many in-edges
        ends = rng.integers(0, 5_000, 60_000), rng.integers(0, most, 60_000)
        for each in (ends, ends[::-1]):
            graph = as_graph(each, vertices=5_000, directed=True)
            assert_right(graph, rng.integers(0, 5_000, 150), tuning)


def test_int64():
    graph = generate("rmat:9")
    offsets = graph.offsets.astype(np.int64)
    sources = np.arange(100)
    assert_right(Graph(offsets, graph.targets, directed=False), sources, DEFAULT)
    assert_right(Graph(offsets, graph.targets.astype(np.int64), directed=False), sources, DEFAULT)


def test_very_many_paths():
    """2^600 of them: far beyond what an integer holds."""
    layers = np.arange(1201)
    sides = np.where(layers % 2 == 0, 1, 2)
    first = np.cumsum(sides) - sides
    arcs = [(first[i] + a, first[i + 1] + b) for i in layers[:-1] for a in range(sides[i]) for b in range(sides[i + 1])]
    graph = as_graph(tuple(np.array(arcs).T), directed=True)
    assert_right(graph, np.arange(0, graph.num_vertices, 9), DEFAULT)


@given(graph=graphs(min_vertices=1))
def test_all_pairs_as_networkx(graph):
    simple = graph.simple
    nx_graph = simple.to("networkx")
    wanted = np.array([*nx.betweenness_centrality(nx_graph, normalized=False).values()])
    found = betweenness(simple, engine="cupy")
    np.testing.assert_allclose(found, wanted * (1 if simple.directed else 2), atol=1e-10)


@given(data=st.data())
def test_arcs_between_some_as_networkx(data):
    graph = data.draw(graphs(min_vertices=1)).simple.replace(directed=True)
    some = st.lists(st.integers(0, graph.num_vertices - 1), max_size=6)
    sources, targets = data.draw(some), data.draw(some)
    wanted = nx.edge_betweenness_centrality_subset(graph.to("networkx"), sources, targets)
    found = betweenness(graph, sources, targets=targets, edges=True, engine="cupy")
    ends = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets)).tolist(), graph.targets.tolist()
    np.testing.assert_allclose(found, [wanted[arc] for arc in zip(*ends, strict=True)], atol=1e-10)


def test_a_graph_on_the_device():
    graph = load("rmat:10", device="cuda")
    found = betweenness(graph, range(100), engine="cupy")
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, betweenness(graph.to("cpu"), range(100), engine="cpu"), rtol=1e-10, atol=1e-10)


def test_little_memory_takes_fewer_sources(monkeypatch):
    graph = generate("rmat:10")
    prepared = registered()["cupy"].prepare_betweenness(graph, "direction-optimizing")
    is_target = np.ones(graph.num_vertices, bool)
    wanted = prepared.scores(np.arange(300), is_target, False, False)
    prepared.tune(DEFAULT)
    monkeypatch.setattr(type(prepared.device), "free_bytes", lambda device: 1_500_000)
    np.testing.assert_allclose(prepared.scores(np.arange(300), is_target, False, False), wanted, rtol=1e-12)
    assert prepared.at_once < 64
    prepared.tune(DEFAULT)
    monkeypatch.setattr(type(prepared.device), "free_bytes", lambda device: 100_000)
    with pytest.raises(InputError, match="of device memory"):
        prepared.scores(np.arange(300), is_target, False, False)


def test_auto_takes_a_gpu():
    graph = load("karate")
    betweenness(graph)
    assert any(key == "cupy, betweenness" for key in graph.traversals)
