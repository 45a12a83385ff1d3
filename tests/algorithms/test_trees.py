"""Predecessors of many searches, from their distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

from rapids_bfs import InputError, bfs_batch
from rapids_bfs._core import memory
from rapids_bfs.algorithms.trees import predecessors_of
from rapids_bfs.generators import generate


def assert_predecessors(graph, distances, predecessors):
    """Each is the first in-neighbour one level up, as a loop in Python finds it."""
    into = graph.reverse
    assert predecessors.dtype == graph.targets.dtype
    for level, found in zip(distances, predecessors, strict=True):
        for vertex in range(graph.num_vertices):
            neighbors = into.targets[into.offsets[vertex] : into.offsets[vertex + 1]].tolist()
            above = [u for u in neighbors if level[vertex] > 0 and level[u] == level[vertex] - 1]
            assert found[vertex] == (above[0] if above else -1)
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


def test_no_search():
    assert predecessors_of(generate("path:3"), np.empty((0, 3), np.int32)).shape == (0, 3)


def test_too_little_memory_is_named(monkeypatch):
    graph = generate("path:300")
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 10)
    with pytest.raises(InputError, match="predecessors of 300 vertices in 2 searches needs"):
        predecessors_of(graph, np.zeros((2, 300), np.int32))
