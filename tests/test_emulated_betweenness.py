"""Betweenness on a GPU in Numba-CUDA, and its host, emulated thread by thread, against the CPU's sums."""

from dataclasses import replace

import numpy as np
import pytest
from emulator import EmulatedDevice, emulate, emulated
from oracle import random_graph

from rapids_bfs import Graph, as_graph
from rapids_bfs.engines import _betweenness, _bit_parallel, registered
from rapids_bfs.engines._betweenness import DEFAULT, Brandes
from rapids_bfs.generators import generate

NEVER, ALWAYS = 0, 1 << 30  # alpha: let every place pull never, or at each level
SMALL = replace(DEFAULT, threads=64, grid=2)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, _betweenness)


def assert_right(graph, sources, is_target=None, seed=0, **tuning):
    """With endpoints and for arcs; the sums of vertices are those with endpoints but for whole numbers."""
    is_target = np.ones(graph.num_vertices, bool) if is_target is None else is_target
    expected = registered()["cpu"].prepare_betweenness(graph, "direction-optimizing")
    prepared = Brandes(graph, EmulatedDevice(seed), replace(SMALL, **tuning))
    for endpoints, edges in ((True, False), (False, True)):
        found = prepared.scores(sources, is_target, endpoints, edges)
        wanted = expected.scores(sources, is_target, endpoints, edges)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("alpha", [NEVER, 3, ALWAYS])
@pytest.mark.parametrize("places", [1, 1 << 20])
def test_random_graphs(alpha, places):
    """Directed or not, with isolated vertices, self-loops and parallel arcs; sources repeated; some targets."""
    rng = np.random.default_rng([alpha, places])
    for seed in range(2):
        graph = random_graph(rng, most_vertices=20, most_edges=50)
        sources = rng.integers(0, graph.num_vertices, int(rng.choice([3, 70])))
        is_target = rng.random(graph.num_vertices) < 0.6
        assert_right(graph, sources, is_target, seed, alpha=alpha, places=places)


@pytest.mark.parametrize("alpha", [NEVER, ALWAYS])
def test_pieces_of_arcs(alpha, monkeypatch):
    monkeypatch.setattr(emulated("betweenness"), "PIECE", 4)
    monkeypatch.setattr(_bit_parallel, "PIECE", 4)
    for seed, spec in enumerate(["star:12", "complete:9"]):
        assert_right(generate(spec), np.arange(0, 9, 2), seed=seed, alpha=alpha)
    ends = np.repeat(np.arange(6), 6), np.tile(np.arange(6, 12), 6)
    assert_right(as_graph(ends, directed=True), np.arange(12), alpha=alpha)


def test_many_levels_and_wide_types():
    graph = generate("path:12")
    wide = Graph(graph.offsets.astype(np.int64), graph.targets.astype(np.int64), directed=False)
    assert_right(wide, np.array([0, 5, 11, 0]))
