"""Deterministic searches on the GPU: distances and predecessors equal to those of a sequential queue."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import random_graph, random_options
from strategies import graphs

from rapids_bfs import Graph, as_graph, bfs
from rapids_bfs.engines import Options, registered, resolve
from rapids_bfs.engines.gpu.deterministic import DEFAULT
from rapids_bfs.generators import generate

SMALL = ["path:1", "path:9", "star:9", "complete:7", "tree:15", "grid:5", "rmat:8", "urand:8", "complete:100"]
LARGE = ["rmat:18", "urand:18", "grid:700", "tree:100000", "star:300000", "path:3000"]
ALWAYS = 1 << 40  # alpha: every level may be wide
WHOLE = replace(DEFAULT, grid=1 << 20)  # however small the graph is
WIDE = replace(WHOLE, single_block_edges=0, wide=0, alpha=ALWAYS, chunk=32)
TUNINGS = {
    "default": DEFAULT,
    "ordered": replace(WHOLE, single_block_edges=0, wide=ALWAYS),
    "wide": replace(WIDE, patience=100),
    "wide, few first edges": replace(WIDE, share=ALWAYS, patience=100),
    "wide, all edges first": replace(WIDE, share=1, chunk=1 << 20, large=1),
    "wide, up to the first sibling group": replace(WIDE, share=1, large=ALWAYS, patience=100),
    "wide, up to a large sibling group": replace(WIDE, share=1, large=20, patience=2),
    "wide and reordered, up to a large sibling group": replace(WIDE, share=1, large=6, patience=1),
    "deep": replace(WHOLE, single_block_edges=0, deep=-1),
    "deep, few levels": replace(WHOLE, deep=-1, meet=3, few_levels=0),
    "deep, with little room": replace(WHOLE, single_block_edges=30, deep=-1, deep_capacity=20),
    "deep, few blocks, then wide": replace(WIDE, single_block_edges=10, deep_chunks=100, deep=-1, grid=5, threads=128),
    "reordered each time": replace(WIDE, patience=1),
    "reordered at times": replace(WIDE, patience=3, share=2),
    "to and fro": replace(WIDE, single_block_edges=40, wide=60, alpha=10, patience=2),
    "small blocks": replace(WIDE, single_block_edges=100, wide=200, threads=256, blocks=4),
}


@pytest.fixture(params=TUNINGS)
def tuning(request):
    return TUNINGS[request.param]


def search(graph, tuning=DEFAULT):
    traversal = registered()["cupy"].prepare(graph, "direction-optimizing")
    traversal.deterministic.tune(tuning)
    return traversal


def assert_sequential(traversal, sources, **options):
    """The answer of a deterministic search is that of the textbook queue, bit for bit."""
    graph, sources = traversal.graph, np.array(sources)
    result = traversal.run(sources, Options(deterministic=True, **options))
    expected = resolve("cpu:sequential").traversal(graph).run(sources, Options(**options))
    np.testing.assert_array_equal(result.distances, expected.distances)
    np.testing.assert_array_equal(result.predecessors, expected.predecessors)
    return result


def shuffled(graph, rng):
    """The graph with each adjacency in another order."""
    owners = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    order = np.lexsort((rng.random(graph.num_arcs), owners))
    return graph.replace(targets=graph.targets[order])


def ascending(graph):
    owners = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    return graph.replace(targets=graph.targets[np.lexsort((graph.targets, owners))])


@pytest.mark.parametrize("spec", SMALL)
def test_small(tuning, spec):
    graph = generate(spec)
    for each in (graph, shuffled(graph, np.random.default_rng(2))):
        traversal = search(each, tuning)
        for source in {0, graph.num_vertices // 2, graph.num_vertices - 1}:
            assert_sequential(traversal, [source])


@pytest.mark.parametrize("spec", LARGE)
def test_large(tuning, spec):
    graph = generate(spec)
    rng = np.random.default_rng(3)
    for each in (graph, shuffled(graph, rng)):
        traversal = search(each, tuning)
        for source in rng.choice(np.flatnonzero(graph.degrees), 3, replace=False):
            assert_sequential(traversal, [source])
        assert_sequential(traversal, rng.choice(graph.num_vertices, 2000, replace=False))
        assert_sequential(traversal, [0], depth_limit=3)
        assert_sequential(traversal, [0], target=7)


@pytest.mark.parametrize("kind", ["ascending", "as given", "shuffled"])
def test_random_graphs(tuning, kind):
    """Hundreds of them, directed or not, with loops, duplicates and isolated vertices."""
    rng = np.random.default_rng(4)
    for most in 40 * [10, 40, 300]:
        graph = random_graph(rng, most_vertices=most, most_edges=3 * most)
        if kind == "ascending":
            graph = ascending(graph)
        elif kind == "shuffled":
            graph = shuffled(graph, rng)
        traversal = search(graph, tuning)
        for _ in range(5):
            sources, options = random_options(rng, graph.num_vertices)
            assert_sequential(traversal, rng.permutation(sources), **options | {"predecessors": True})


@given(data=st.data())
def test_any_graph(data):
    graph = data.draw(graphs(min_vertices=1))
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=3, unique=True))
    tuning = TUNINGS[data.draw(st.sampled_from([*TUNINGS]))]
    assert_sequential(search(graph, tuning), sources, depth_limit=data.draw(st.none() | st.integers(0, 4)))


def test_directed(tuning):
    rng = np.random.default_rng(7)
    graph = as_graph(tuple(rng.integers(0, 30_000, (2, 120_000))), vertices=30_000, directed=True)
    for each in (graph, ascending(graph)):
        traversal = search(each, tuning)
        for source in rng.integers(0, 30_000, 5):
            assert_sequential(traversal, [source])


def test_a_core_with_a_long_tail(tuning):
    """Wide levels, then many narrow ones."""
    rng = np.random.default_rng(9)
    core, n = 20_000, 21_000
    tail = np.arange(core, n)
    pairs = rng.integers(0, core, (2, 200_000)), np.array([tail - 1, tail]), np.array([tail - 2, tail])
    graph = as_graph(tuple(np.concatenate(pairs, axis=1)), vertices=n, directed=False)
    traversal = search(graph, tuning)
    for source in (0, 1, n - 1):
        assert_sequential(traversal, [source])


def test_int64(tuning):
    graph = generate("rmat:12")
    wide_offsets = Graph(graph.offsets.astype(np.int64), graph.targets, directed=False)
    wide = Graph(wide_offsets.offsets, graph.targets.astype(np.int64), directed=False)
    for each in (wide_offsets, wide, shuffled(wide, np.random.default_rng(1))):
        assert_sequential(search(each, tuning), [int(np.argmax(graph.degrees))])


def test_searches_of_both_kinds_in_turn():
    """Neither kind finds what the other left, and sources without edges are forgotten."""
    graph = as_graph(([0, 1, 2, 3], [1, 2, 3, 4]), vertices=7, directed=True)
    traversal = search(graph)
    for source in (6, 0, 4, 5, 2, 6, 6, 1):
        assert_sequential(traversal, [source, 3])
        assert_sequential(traversal, [source])
        found = traversal.run(np.array([source])).distances
        np.testing.assert_array_equal(found, bfs(graph, source, engine="scipy").distances)


def test_distances_alone_are_the_default_search():
    graph = generate("rmat:10")
    traversal = registered()["cupy"].prepare(graph, "direction-optimizing")
    result = traversal.run(np.array([0]), Options(deterministic=True, predecessors=False))
    assert result.predecessors is None
    assert "deterministic" not in vars(traversal)


def test_trace():
    graph = generate("rmat:16")
    traversal = search(graph, replace(DEFAULT, wide=1000))
    result = assert_sequential(traversal, [int(np.argmax(graph.degrees))], trace=True)
    trace = result.trace
    assert sum(level.newly_reached for level in trace) == result.num_reached - 1
    assert {level.direction for level in trace} == {"top-down", "bottom-up"}


def test_auto_takes_the_gpu():
    graph = generate("rmat:8")
    expected = bfs(graph, 0, engine="cpu:sequential").predecessors
    np.testing.assert_array_equal(bfs(graph, 0, deterministic=True).predecessors, expected)
    assert "cupy" in graph.traversals
