"""The bit-parallel kernel of Numba-CUDA and its host, emulated thread by thread, against the CPU's batches."""

from dataclasses import replace

import numpy as np
import pytest
from emulator import EmulatedDevice, emulate, emulated
from oracle import assert_batches, random_graph

from rapids_bfs import Graph, as_graph
from rapids_bfs.engines import _bit_parallel
from rapids_bfs.engines._bit_parallel import DEFAULT, BitParallel, pieces_of

NEVER, ALWAYS = 1, 1 << 40  # alpha: go bottom-up never, or at once
SMALL = replace(DEFAULT, threads=64, grid=3)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, _bit_parallel)
    monkeypatch.setattr(_bit_parallel, "WRITE_THREADS", 64)


def assert_right(graph, sources, depth_limit=None, seed=0, **tuning):
    traversal = BitParallel(graph, EmulatedDevice(seed), replace(SMALL, **tuning))
    assert_batches(traversal, sources, depth_limit)


@pytest.mark.parametrize("alpha", [NEVER, 3, ALWAYS])
@pytest.mark.parametrize("k", [3, 100, 300])  # sources, of one, four and sixteen words
def test_random_graphs(alpha, k):
    rng = np.random.default_rng([alpha, k])
    for seed in range(2):
        graph = random_graph(rng, most_vertices=30, most_edges=90)
        sources = rng.integers(0, graph.num_vertices, k)
        assert_right(graph, sources, int(rng.integers(0, 4)) if rng.integers(2) else None, seed, alpha=alpha)


def test_bottom_up_and_back():
    """A search out of a clique goes bottom-up there, and top-down along the path that begins in it."""
    clique, path = np.triu_indices(12, 1), np.arange(11, 20)
    ends = np.concatenate([clique[0], path]), np.concatenate([clique[1], path + 1])
    graph = as_graph(ends, vertices=21, directed=False)
    assert_right(graph, np.array([0, 5]), alpha=3)


@pytest.mark.parametrize("alpha", [NEVER, ALWAYS])
def test_vertices_with_many_edges_and_wide_offsets(alpha, monkeypatch):
    """Two hubs, whose edges are shared out in pieces: beside a vertex there lies what nobody wrote."""

    def pieces_with_rubbish(*arguments):
        heavy, pieces = pieces_of(*arguments)
        pieces.view(np.int32).reshape(-1, 4)[:, 3] = -1
        return heavy, pieces

    monkeypatch.setattr(_bit_parallel, "pieces_of", pieces_with_rubbish)
    leaves = np.arange(2, 150)
    ends = np.concatenate([leaves, leaves[::30]]), np.repeat([0, 1], [len(leaves), len(leaves[::30])])
    graph = as_graph(ends, vertices=150, directed=False)
    wide = Graph(graph.offsets.astype(np.int64), graph.targets, directed=False)
    assert_right(wide, np.array([0, 7, 8]), alpha=alpha)


def test_counters_that_are_often_full(monkeypatch):
    monkeypatch.setattr(emulated("bit_parallel"), "FULL", 3)
    assert_right(as_graph({0: range(1, 100)}, directed=False), np.arange(70), threads=32, grid=1)
