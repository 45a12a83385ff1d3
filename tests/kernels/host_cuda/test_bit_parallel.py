"""The bit-parallel kernels of CUDA C++ and their host, run on the host, against SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from emulator import emulate
from host_device import HostDevice
from host_faults import Fault, assert_seen
from oracle import random_graph
from strategies import oracle_distances

from rapids_bfs import Graph, as_graph
from rapids_bfs.engines.gpu import bit_parallel
from rapids_bfs.engines.gpu.bit_parallel import DEFAULT, BitParallel, pieces_of
from rapids_bfs.generators import generate

NEVER, ALWAYS = 1, 1 << 40  # alpha: go bottom-up never, or at once
SMALL = replace(DEFAULT, threads=64)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, bit_parallel)
    monkeypatch.setattr(bit_parallel, "WRITE_THREADS", 64)


def assert_right(graph, sources, depth_limit=None, seed=0, blocks=3, fitting=None, **tuning):
    """Distances and their sums, twice, the second time over what the first one left. After the preparation there is
    memory for rows of ``fitting`` words."""
    device = HostDevice(seed, blocks=blocks)
    traversal = BitParallel(graph, device, replace(SMALL, grid=blocks, **tuning))
    if fitting:
        device.free_bytes = lambda: traversal._bytes(fitting, 64 * fitting)
    expected = np.array([oracle_distances(graph, [source], depth_limit) for source in sources])
    reached = expected > 0
    harmonic = np.divide(1, expected, out=np.zeros(expected.shape), where=reached).sum(axis=1)
    for _ in range(2):
        distances = np.full((len(sources), graph.num_vertices), 9, np.int32)
        traversal.distances(sources, depth_limit, distances)
        np.testing.assert_array_equal(distances, expected)
        summary = traversal.summary(sources, depth_limit)
        np.testing.assert_array_equal(summary.reached, 1 + reached.sum(axis=1))
        np.testing.assert_array_equal(summary.total, np.where(reached, expected, 0).sum(axis=1))
        np.testing.assert_array_equal(summary.eccentricity, expected.max(axis=1))
        np.testing.assert_allclose(summary.harmonic, harmonic)
        assert traversal.width <= (fitting or traversal.widest)


def within_masks(alpha, k, seeds=range(4)):
    """What one batch leaves is nothing to the next, which has another mask or none."""
    for seed in seeds:
        rng = np.random.default_rng([alpha, k, seed])
        graph = random_graph(rng, most_vertices=60, most_edges=200)
        traversal = BitParallel(graph, HostDevice(seed, blocks=2), replace(SMALL, grid=2, alpha=alpha))
        for share in (0.7, 1.1, 0.4):
            mask = rng.random(graph.num_vertices) < share
            mask[rng.integers(graph.num_vertices)] = True
            sources = rng.choice(np.flatnonzero(mask), k)
            kept, given = (graph.filter(vertices=mask), mask) if share < 1 else (graph, None)
            expected = np.array([oracle_distances(kept, [source]) for source in sources])
            distances = np.full(expected.shape, 9, np.int32)
            traversal.distances(sources, None, distances, vertices=given)
            np.testing.assert_array_equal(distances, expected)
            summary = traversal.summary(sources, None, vertices=given)
            np.testing.assert_array_equal(summary.reached, (expected >= 0).sum(axis=1))
            np.testing.assert_array_equal(summary.total, np.where(expected > 0, expected, 0).sum(axis=1))


@pytest.mark.parametrize(("alpha", "k"), [(NEVER, 3), (3, 100), (ALWAYS, 3)])
def test_masks(alpha, k):
    within_masks(alpha, k)


def random_batches(alpha, k):
    for seed in range(6):
        rng = np.random.default_rng([alpha, k, seed])
        graph = random_graph(rng, most_vertices=40, most_edges=120)
        sources = rng.integers(0, graph.num_vertices, k)
        limit = int(rng.integers(0, 4)) if rng.integers(2) else None
        assert_right(graph, sources, limit, seed, blocks=1 + seed, alpha=alpha)


@pytest.mark.parametrize("alpha", [NEVER, 3, ALWAYS])
@pytest.mark.parametrize("k", [3, 100, 300])  # sources, of one, four and sixteen words
def test_random_graphs(alpha, k):
    random_batches(alpha, k)


@pytest.mark.parametrize("fitting", [1, 4])
def test_batches_are_narrower_if_there_is_less_memory_than_before(fitting):
    assert_right(generate("rmat:5"), np.arange(300) % 32, fitting=fitting)


def test_bottom_up_and_back():
    """A search out of a clique goes bottom-up there, and top-down along the path that begins in it."""
    clique, path = np.triu_indices(12, 1), np.arange(11, 20)
    ends = np.concatenate([clique[0], path]), np.concatenate([clique[1], path + 1])
    assert_right(as_graph(ends, vertices=21, directed=False), np.array([0, 5]), alpha=3)


def two_hubs(alpha, offset=np.int32):
    """Vertices of many edges, which are shared out in pieces."""
    leaves = np.arange(2, 300)
    ends = np.concatenate([leaves, leaves[::30]]), np.repeat([0, 1], [len(leaves), len(leaves[::30])])
    graph = as_graph(ends, vertices=300, directed=False)
    wide = Graph(graph.offsets.astype(offset), graph.targets, directed=False)
    assert_right(wide, np.array([0, 7, 8]), alpha=alpha)


@pytest.mark.parametrize("alpha", [NEVER, ALWAYS])
def test_vertices_with_many_edges_and_wide_offsets(alpha, monkeypatch):
    """Beside a vertex in a piece there lies what nobody wrote."""

    def pieces_with_rubbish(*arguments):
        heavy, pieces = pieces_of(*arguments)
        pieces.view(np.int32).reshape(-1, 4)[:, 3] = -1
        return heavy, pieces

    monkeypatch.setattr(bit_parallel, "pieces_of", pieces_with_rubbish)
    two_hubs(alpha, np.int64)


def test_counters_that_are_full():
    """A warp reaches more vertices of one word than its counters hold."""
    assert_right(generate("star:600"), np.array([0, 1]), threads=32, blocks=1)


def never_bottom_up():
    random_batches(NEVER, 100)


def always_bottom_up():
    random_batches(ALWAYS, 100)


def to_and_fro():
    random_batches(3, 3)


def masked_bottom_up():
    within_masks(ALWAYS, 3)


def pieces_bottom_up():
    two_hubs(ALWAYS)


FAULTS = {
    "top-down: a neighbour is listed twice": Fault(
        "wins = atomicExch(b.stamps + neighbor[i], level) != level;",
        "wins = true;",
        never_bottom_up,
    ),
    "top-down: the last edge of an item": Fault(
        "edge + i < end ? b.targets[edge + i] : -1", "edge + i + 1 < end ? b.targets[edge + i] : -1", never_bottom_up
    ),
    "top-down: past the last edge": Fault("neighbor[i] < 0", "false", never_bottom_up),
    "top-down: the last frontier is not cleared": Fault(
        "if (first + at.group < last_count) frontier[at.row_word(last[first + at.group])] = 0;",
        ";",
        never_bottom_up,
    ),
    "bottom-up: half of the neighbours": Fault(
        "b.in_targets[min(edge + i, end - 1)]", "b.in_targets[min(edge + i / 2, end - 1)]", always_bottom_up
    ),
    "bottom-up: sources that reached a vertex before": Fault(
        "if (is_light) missing = wanted & ~b.seen[place];", "if (is_light) missing = wanted;", always_bottom_up
    ),
    "bottom-up: a piece of a heavy vertex": Fault("if (bits) atomicOr(upcoming + place, bits);", ";", pieces_bottom_up),
    "masks: barred vertices are entered": Fault("seen[word] = ~Word(0);", ";", masked_bottom_up),
    "masks: barred vertices have a distance": Fault(
        "vertex < b.n && (!b.allowed || b.allowed[vertex])", "vertex < b.n", masked_bottom_up
    ),
    "back to the queue: the rows of the last level": Fault("if (inside) upcoming[place] = 0;", ";", to_and_fro),
    "sums: the level of the sum": Fault(
        "b.total[source] += count * level;", "b.total[source] += count;", never_bottom_up
    ),
    "write: the planes of another vertex": Fault("vertex < b.n ? b.rank[vertex] : 0", "vertex", never_bottom_up),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    assert_seen(monkeypatch, "bit_parallel", FAULTS, name)
