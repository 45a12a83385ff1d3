"""The kernels that make and check graphs, called by the modules that users call, run on the host, against NumPy's."""

import sys
from unittest import mock

import device
import numpy as np
import pytest
from oracle import random_graph

from rapids_bfs import bfs, csr, generators, validation

with mock.patch.dict(sys.modules, cupy=np):  # whose arrays are the device's here
    from rapids_bfs import device_csr


@pytest.fixture(autouse=True)
def host(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", np)
    for module in (device_csr, generators, validation):
        monkeypatch.setattr(module, "launch", device.launch)
    for module in (device_csr, generators):
        monkeypatch.setattr(module, "require_device_bytes", lambda *_: None)
    monkeypatch.setattr(generators, "to_device", lambda array: array)
    monkeypatch.setattr(device_csr, "BLOCK", 100)
    monkeypatch.setattr(device_csr, "PIECE", 120)


def edges_of_every_kind():
    """Few vertices, hubs, runs of one vertex, self-loops, parallel edges; none at all."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 80)), int(rng.choice([0, 7, 400]))
        ends = rng.integers(0, n, (2, m)).astype(rng.choice([np.int32, np.int64]))
        if seed % 2:
            ends[0].sort()
            ends[1, : m // 2] = ends[1, :1]
        yield n, *ends


def assert_same_rows(found, wanted):
    """The offsets are the same, and each row has the same targets in some order."""
    np.testing.assert_array_equal(found[0], wanted[0])
    owners = np.repeat(np.arange(len(wanted[0]) - 1), np.diff(wanted[0]))
    for one, other in [(found[1], wanted[1])]:
        np.testing.assert_array_equal(one[np.lexsort((one, owners))], other[np.lexsort((other, owners))])


def rows(sources, targets, n):
    order = np.argsort(sources, kind="stable")
    return np.r_[0, np.bincount(sources, minlength=n).cumsum()], targets[order]


def build_graphs():
    for n, sources, targets in edges_of_every_kind():
        loops = sources == targets
        both = np.r_[sources, targets[~loops]], np.r_[targets, sources[~loops]]
        assert_same_rows(device_csr.from_edges(sources, targets, n), rows(sources, targets, n))
        assert_same_rows(device_csr.from_edges(sources, targets, n, mirror=True), rows(*both, n))
        seen = device_csr.look([(sources, targets)])
        ids = np.r_[sources, targets]
        assert seen[:2] == ((ids.min(), ids.max()) if len(ids) else (device_csr.LARGEST, -1))
        assert seen.symmetric == (sorted(zip(sources, targets)) == sorted(zip(targets, sources)))
        assert device_csr.look([both]).symmetric
        present = np.zeros(n, bool)
        device_csr.mark(sources, present)
        assert set(np.flatnonzero(present)) == set(sources)


def test_edge_lists():
    build_graphs()


def test_ids_are_renamed_as_they_are_placed():
    for n, sources, targets in edges_of_every_kind():
        for vertex in (np.int32, np.int64):
            rank = np.random.default_rng(n).permutation(n).astype(vertex)
            counts = device_csr.count([(sources.astype(np.int64), targets)], n, len(sources))
            found = device_csr.place([(sources.astype(np.int64), targets.astype(np.int64))], counts, rank=rank)
            assert_same_rows(found, rows(sources, rank[targets], n))


def change_graphs():
    for n, sources, targets in edges_of_every_kind():
        offsets, targets = rows(sources, targets, n)
        sources = np.sort(sources)
        graph = offsets.astype(np.int32), targets
        np.testing.assert_array_equal(device_csr.sources_of(*graph), sources)
        assert_same_rows(device_csr.transpose(*graph), rows(targets, sources, n))
        ascending = device_csr.ascending(*graph)
        np.testing.assert_array_equal(ascending[1], targets[np.lexsort((targets, sources))])
        pairs = sorted({(u, v) for u, v in zip(sources.tolist(), targets.tolist()) if u != v})
        found = device_csr.without_repeats_and_loops(*ascending)
        assert [*zip(device_csr.sources_of(*found).tolist(), found[1].tolist())] == pairs
        assert device_csr.count_repeats(*ascending) == len(targets) - len({*zip(sources.tolist(), targets.tolist())})


def test_graphs_are_changed():
    change_graphs()


def draw_edges(kind):
    for scale, size in [(0, 3), (5, 150), (11, 700)]:
        for vertex in (np.int32, np.int64):
            drawn = []
            for where in ("cpu", "cuda"):
                with mock.patch.object(generators.Drawing, "graph", lambda self: self):
                    drawing = getattr(generators, kind)(scale, device=where)
                ends = np.empty((2, size), vertex)
                drawing.draw(40, *ends)
                drawn.append(ends)
            np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize("kind", ["rmat", "urand"])
def test_random_edges_are_those_of_the_cpu(kind):
    draw_edges(kind)


def check_answers():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, most_vertices=40, most_edges=200)
        n = graph.num_vertices
        result = bfs(graph, 0, engine="scipy", predecessors=seed % 3 != 0)
        if seed % 2:
            result.distances[rng.integers(n, size=3)] = rng.integers(-1, 6, size=3)
        confirmed, *breakers = validation._edge_rules_on_device(graph, result)
        wanted, *their_breakers = validation._edge_rules(graph, result)
        np.testing.assert_array_equal(confirmed, wanted)
        assert breakers == their_breakers


def test_answers_are_checked():
    check_answers()
