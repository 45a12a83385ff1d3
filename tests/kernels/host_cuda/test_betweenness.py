"""Betweenness in CUDA C++ and its host, run on the host, against NetworkX and the CPU's sums."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from emulator import emulate
from host_device import HostDevice
from host_faults import Fault, assert_seen
from oracle import random_graph

from rapids_bfs import Graph, as_graph
from rapids_bfs.engines import registered
from rapids_bfs.engines.gpu import betweenness
from rapids_bfs.engines.gpu.betweenness import DEFAULT, Brandes
from rapids_bfs.generators import generate

NEVER, ALWAYS = 0, 1 << 30  # alpha: let every place pull never, or at each level
SMALL = replace(DEFAULT, threads=64)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, betweenness)


def assert_right(graph, sources, is_target=None, seed=0, blocks=2, **tuning):
    """With endpoints and for arcs. The sums without endpoints, which differ by whole numbers, follow from these."""
    is_target = np.ones(graph.num_vertices, bool) if is_target is None else is_target
    expected = registered()["cpu"].prepare_betweenness(graph, "direction-optimizing")
    prepared = Brandes(graph, HostDevice(seed, blocks=blocks), replace(SMALL, grid=blocks, **tuning))
    for endpoints, edges in ((True, False), (False, True)):
        found = prepared.scores(sources, is_target, endpoints, edges)
        wanted = expected.scores(sources, is_target, endpoints, edges)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def random_sums(alpha, places):
    """Directed or not, with isolated vertices, self-loops and parallel arcs; sources repeated; some targets."""
    rng = np.random.default_rng([alpha, places])
    for seed in range(8):
        graph = random_graph(rng, most_vertices=30, most_edges=90)
        sources = rng.integers(0, graph.num_vertices, int(rng.choice([3, 70])))
        is_target = rng.random(graph.num_vertices) < 0.6
        assert_right(graph, sources, is_target, seed, 1 + seed % 4, alpha=alpha, places=places)


@pytest.mark.parametrize("alpha", [NEVER, 3, ALWAYS])
@pytest.mark.parametrize("places", [1, 1 << 20])
def test_random_graphs(alpha, places):
    random_sums(alpha, places)


def test_networkx_finds_the_same():
    for seed in range(4):
        graph = nx.gnm_random_graph(40, 90, seed)
        found = Brandes(as_graph(graph), HostDevice(seed), SMALL).scores(np.arange(40), np.ones(40, bool), False, False)
        wanted = nx.betweenness_centrality(graph, normalized=False)
        np.testing.assert_allclose(found / 2, [wanted[vertex] for vertex in range(40)], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("alpha", [NEVER, ALWAYS])
def test_pieces_of_arcs(alpha):
    """Vertices of many arcs, which are shared out in pieces."""
    assert_right(generate("star:300"), np.arange(0, 9, 2), alpha=alpha)
    ends = np.repeat(np.arange(3), 150), np.tile(np.arange(3, 153), 3)
    assert_right(as_graph(ends, directed=False), np.arange(12), seed=1, alpha=alpha)


def one_source_a_word():
    random_sums(NEVER, 1)


def pulls():
    random_sums(ALWAYS, 1 << 20)


def pieces():
    assert_right(generate("star:300"), np.arange(0, 9, 2))


def test_many_levels_and_wide_types():
    graph = generate("path:12")
    wide = Graph(graph.offsets.astype(np.int64), graph.targets.astype(np.int64), directed=False)
    assert_right(wide, np.array([0, 5, 11, 0]))


ADD_SHARE = "if (for_arcs && listed && step) b.sums[arc << b.shift | b.word_of(hit.place)] += window.shares[number];"
FAULTS = {
    "forward: a place is found twice": Fault(
        "atomicOr(upcoming + neighbor, fresh) == 0", "atomicOr(upcoming + neighbor, fresh) + 1 > 0", one_source_a_word
    ),
    "forward: sources that were there before": Fault(
        "b.sources_of(place) & ~b.seen[place]", "b.sources_of(place)", pulls
    ),
    "forward: a front that is not cleared": Fault(
        "if (level >= 3) clear_front(b, level - 3, thread, threads);", ";", one_source_a_word
    ),
    "warp: no meeting before what was added up is read": Fault(f"__syncwarp();\n        {ADD_SHARE}", ADD_SHARE, pulls),
    "backward: the paths": Fault("sum.low + target / paths.low", "sum.low + target", pulls),
    "backward: the last piece of a place": Fault(
        "__shfl_sync(ALL, before, 0) + 1 < count", "__shfl_sync(ALL, before, 0) + 2 < count", pieces
    ),
    "backward: arcs into the source": Fault("b.edges || b.endpoints ? 0 : 1", "1", pulls),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    assert_seen(monkeypatch, "betweenness", FAULTS, name)
