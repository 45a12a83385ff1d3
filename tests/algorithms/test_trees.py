"""Predecessors of many searches, from their distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

from rapids_bfs import InputError, as_graph, bfs, bfs_batch, validate
from rapids_bfs._core import memory
from rapids_bfs.algorithms.trees import predecessors_of
from rapids_bfs.generators import generate


def assert_predecessors(graph, distances, predecessors):
    """Each is the smallest in-neighbour one level up, as a loop in Python finds it."""
    into = graph.reverse
    assert predecessors.dtype == graph.targets.dtype
    for level, found in zip(distances, predecessors, strict=True):
        for vertex in range(graph.num_vertices):
            neighbors = into.targets[into.offsets[vertex] : into.offsets[vertex + 1]].tolist()
            above = [u for u in neighbors if level[vertex] > 0 and level[u] == level[vertex] - 1]
            assert found[vertex] == min(above, default=-1)
            assert bool(above) == (level[vertex] > 0)


@given(data=st.data())
def test_any_searches(data):
    graph = data.draw(graphs(min_vertices=1))
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=4))
    limit = data.draw(st.none() | st.integers(0, 3))
    distances = bfs_batch(graph, sources, depth_limit=limit).distances
    for row, source in enumerate(sources):
        np.testing.assert_array_equal(distances[row], oracle_distances(graph, [source], limit))
    assert_predecessors(graph, distances, predecessors_of(graph, distances))


@given(data=st.data())
def test_smallest_predecessors_depend_neither_on_the_engine_nor_on_the_order_of_edges(data):
    graph = data.draw(graphs(min_vertices=1))
    vertices = st.integers(0, graph.num_vertices - 1)
    sources = data.draw(st.lists(vertices, min_size=1, max_size=3, unique=True))
    limits = {"depth_limit": data.draw(st.none() | st.integers(0, 3)), "target": data.draw(st.none() | vertices)}
    engine = data.draw(st.sampled_from(["auto", "cpu:sequential", "networkx"]))
    pairs = graph.vertex_pairs()
    order = data.draw(st.permutations(range(len(pairs[0]))))
    ends = [each[np.array(order, np.int64)] for each in pairs]
    shuffled = as_graph(tuple(ends), directed=graph.directed, vertices=graph.num_vertices)
    results = [bfs(each, sources, deterministic="smallest", engine=engine, **limits) for each in (graph, shuffled)]
    for result in results:
        assert_predecessors(result.graph, result.distances[None], result.predecessors[None])
        assert validate(result.graph, result)
    np.testing.assert_array_equal(results[0].predecessors, results[1].predecessors)


def test_smallest_without_predecessors_and_misspelt():
    graph = generate("path:5")
    assert bfs(graph, 2, deterministic="smallest", predecessors=False).predecessors is None
    with pytest.raises(InputError, match="True, False or \"smallest\", not 'smalest'"):
        bfs(graph, 2, deterministic="smalest")


def test_smallest_with_a_mask():
    graph = as_graph([(0, 1), (0, 2), (1, 3), (2, 3)])
    result = bfs(graph, 0, deterministic="smallest", vertices=np.array([True, False, True, True]), trace=True)
    assert result.predecessors.tolist() == [-1, -1, 0, 2]
    assert len(result.trace) == 3


def test_no_search():
    assert predecessors_of(generate("path:3"), np.empty((0, 3), np.int32)).shape == (0, 3)


def test_too_little_memory_is_named(monkeypatch):
    graph = generate("path:300")
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 10)
    with pytest.raises(InputError, match="predecessors of 300 vertices in 2 searches needs"):
        predecessors_of(graph, np.zeros((2, 300), np.int32))
