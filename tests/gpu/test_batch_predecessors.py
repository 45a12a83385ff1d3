"""Predecessors of many searches on the device: those that the CPU's kernel finds in the same adjacencies."""

import numpy as np
import pytest
from oracle import random_graph

from rapids_bfs import bfs_batch
from rapids_bfs.algorithms.trees import predecessors_of
from rapids_bfs.generators import generate
from rapids_bfs.kernels.cpu.predecessors import find_predecessors


@pytest.mark.parametrize("name", ["rmat:12", "grid:40", "star:3000", "path:500"])
def test_named_graphs(name):
    assert_as_on_the_cpu(generate(name), np.random.default_rng(len(name)))


def test_random_graphs():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        assert_as_on_the_cpu(random_graph(rng, most_vertices=90, most_edges=900), rng)


def assert_as_on_the_cpu(graph, rng):
    sources = rng.integers(graph.num_vertices, size=40)
    found = bfs_batch(graph.to("cuda"), sources).distances
    expected = bfs_batch(graph, sources, engine="cpu").distances
    np.testing.assert_array_equal(found.get(), expected)
    into = graph.to("cuda").reverse.to("cpu")  # in the device's own order
    wanted = np.empty(expected.shape, graph.targets.dtype)
    find_predecessors(into.offsets, into.targets, expected, wanted)
    predecessors = predecessors_of(graph.to("cuda"), found)
    assert predecessors.dtype == wanted.dtype
    np.testing.assert_array_equal(predecessors.get(), wanted)
