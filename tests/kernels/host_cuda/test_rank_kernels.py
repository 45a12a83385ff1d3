"""Distributed graphs on devices: built, searched and validated by the CUDA C++ and its hosts, run on the host."""

from unittest import mock

import numpy as np
import pytest
from distributed_on_host import assert_right, device_csr, host, random_searches  # noqa: F401 - a fixture
from host_faults import Fault, assert_seen
from oracle import random_graph
from strategies import edges_of

from rapids_bfs import as_graph, bfs
from rapids_bfs._core.csr import host as host_csr
from rapids_bfs.distributed import level_synchronous as search
from rapids_bfs.distributed import partitioning, validation
from rapids_bfs.distributed.build import Plan, build
from rapids_bfs.distributed.graph import DistributedGraph, from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.partitioning import Partitioning
from rapids_bfs.distributed.sources import LocalEdges
from rapids_bfs.generators import generate


def test_random_graphs():
    random_searches()


def test_bottom_up():
    """All levels."""
    with mock.patch.multiple(search, ALPHA=1 << 20, BETA=1 << 40):
        random_searches(6)
        assert_right(generate("star:3000"), 2, [2999])


def test_back_to_top_down():
    """A star, at one of whose leaves a binary tree begins."""
    children = np.arange(201, 260)
    parents = np.append(np.append(np.zeros(199, int), 1), (children - 199) // 2 + 199)
    ends = np.append(np.arange(1, 201), children), parents
    with mock.patch.multiple(search, ALPHA=3, BETA=1):
        steps = assert_right(as_graph(ends, directed=False), 3, [0]).trace
        assert [step.direction for step in steps][:3] == ["bottom-up", "bottom-up", "top-down"]
        random_searches(6)


def test_no_room():
    """A level goes bottom-up where pairs find no room, and the search goes on."""
    for room in (0, 1, 3):
        how = {"ALPHA": 0, "may_overflow": lambda *_: False}
        with mock.patch.multiple(search, CAPACITY_DIVISOR=1 << 20, MIN_CAPACITY=room, **how):
            random_searches(6)


def test_top_down():
    with mock.patch.multiple(search, ALPHA=0, MIN_CAPACITY=1 << 12):
        random_searches(6)
        steps = assert_right(generate("rmat:8"), 3, [1, 9]).trace
        assert {step.direction for step in steps} == {"top-down"}


def test_more_than_one_run():
    """Bitmaps of more than 32 words, rows of many edges, and levels that go either way."""
    steps = assert_right(generate("rmat:12"), 3, [1]).trace
    assert {step.direction for step in steps} == {"top-down", "bottom-up"}
    assert_right(generate("star:3000"), 2, [5])


def test_wide_numbers():
    with mock.patch.object(Partitioning, "dtype", np.dtype(np.int64)):
        assert_right(generate("rmat:7"), 3, [1, 9])


def test_numbers_are_those_of_the_cpu():
    for n in (1, 2, 3, 77, 128, 1000):
        for size in (1, 3, 4):
            there = Partitioning.of(n, size)
            for ids in (np.arange(n, dtype=np.int32), np.arange(n)):
                numbers = there.global_ids(ids)
                with mock.patch.object(partitioning, "on_device", return_value=True):
                    np.testing.assert_array_equal(there.global_ids(ids), numbers)
                    np.testing.assert_array_equal(there.ids(np.append(numbers, -1)), np.append(ids, -1))
                    assert (there.global_ids(np.array([-1, n, 1 << 30], ids.dtype)) == -1).all()
                    unused = np.setdiff1d(np.arange(-1, (size + 1) * there.stride, dtype=numbers.dtype), numbers)
                    assert (there.ids(unused) == -1).all()


def edges_of_every_kind():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        size, stride, m = int(rng.integers(1, 6)), 256, int(rng.choice([0, 7, 400]))
        places = rng.integers(0, 40, (2, m))
        yield size, stride, (places + stride * rng.integers(0, size, (2, m))).astype(rng.choice([np.int32, np.int64]))


def test_edges_are_dealt():
    """Each partition gets its arcs, in any order."""
    for size, stride, ends in edges_of_every_kind():
        for mirror in (False, True):
            for loops in (False, True):
                found = device_csr.bucket_by_owner((*ends,), size, stride, mirror=mirror, loops=loops)
                wanted = host_csr.bucket_by_owner((*ends,), size, stride, mirror=mirror, loops=loops)
                assert [sorted(each.T.tolist()) for each in found] == [sorted(each.T.tolist()) for each in wanted]


def test_rows_are_made():
    for _, stride, (sources, targets) in edges_of_every_kind():
        places = sources % stride
        counts = [np.zeros(40, np.int64) for _ in range(2)]
        placed = []
        for csr, degrees in zip((host_csr, device_csr), counts, strict=True):
            csr.count_local_ids(places, degrees)
            offsets = np.append(0, np.cumsum(degrees))
            cursors, rows = offsets[:-1].copy(), np.empty(len(targets), targets.dtype)
            csr.scatter_targets(places, targets, cursors, rows)
            np.testing.assert_array_equal(cursors, offsets[1:])
            assert csr.count_own_loops(offsets, rows, stride) == ((places + stride) == targets).sum()
            placed.append(csr.simplified(offsets, rows, 6 * stride))
        np.testing.assert_array_equal(*counts)
        for found, wanted in zip(*placed, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_changed_edges_stay_within_the_rows():
    """Arcs that were not counted: those at no place are left out, and nothing is written beyond the rows."""
    own, room, guard = 5, 12, -7
    rng = np.random.default_rng(3)
    places, targets = rng.integers(0, 2 * own, (2, 300), np.int32)
    counts = np.full(own + 3, guard, np.int64)
    counts[:own] = 0
    device_csr.count_local_ids(places, counts[:own])
    assert counts.tolist() == [*np.bincount(places, minlength=2 * own)[:own].tolist(), *[guard] * 3]
    rows = np.full(room + 300, guard, np.int32)
    device_csr.scatter_targets(places, targets, np.arange(own) * 3, rows[:room])
    assert (rows[room:] == guard).all()


def test_graphs_are_built():
    """From distributed edges, ids with gaps or not, each rank with a share of them."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        size, factor, directed, simple = 1 + seed % 4, 1 + 2 * (seed % 2), bool(seed & 2), bool(seed & 4)
        ends = factor * rng.integers(0, 40, (2, 300))
        whole = as_graph((*ends,), directed=directed)
        cuts = np.sort(rng.integers(0, 300, size - 1))
        shares = [(*each,) for each in np.split(ends, cuts, axis=1)]
        launcher = Threads(["cpu"] * size)
        sources = [LocalEdges(lambda share=share: [share]) for share in shares]
        graph = DistributedGraph(
            launcher.map(build, Plan("cuda", directed=directed, simple=simple), each=[sources]), launcher
        )
        assert edges_of(graph.to("cpu")) == edges_of(whole.simple if simple else whole)
        assert graph.num_edges == (whole.simple if simple else whole).num_edges


def test_answers_are_checked():
    """The device says of every vertex what the host says, whatever the distances are."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        whole = random_graph(rng, most_vertices=40, most_edges=200)
        graph = from_graph(whole, Threads(["cpu"] * (1 + seed % 3)))
        result = bfs(graph, 0, predecessors=seed % 3 != 0)
        everywhere = np.full(graph.partitioning.size * graph.partitioning.stride, -1, np.int32)
        for partition, answer in zip(graph.partitions, result.answers, strict=True):
            changed = rng.integers(-1, 6, partition.num_vertices) if seed % 2 else answer.distances
            everywhere[partition.base : partition.base + partition.num_vertices] = changed
        for partition, answer in zip(graph.partitions, result.answers, strict=True):
            given = partition, answer, everywhere, int(rng.integers(6)), np
            wanted = validation._edge_rules(*given)
            with mock.patch.object(validation, "on_device", return_value=True):
                found = validation._edge_rules(*given)
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(one, other)


FAULTS = {
    "distributed": {
        "expand: parents of another partition": Fault(
            "base + __shfl_sync(ALL, local_id, source)", "__shfl_sync(ALL, local_id, source)", test_top_down
        ),
        "send: no room for the last": Fault("slot < x.level_capacity", "slot <= x.level_capacity", test_no_room),
        "send: nobody is told": Fault("segment(x, x.sent, partition)[1] = 1;", ";", test_no_room),
        "settle: though somebody had no room": Fault(
            "if (segment(x, x.received, partition)[1]) return;", ";", test_no_room
        ),
        "settle: the wrong level": Fault(
            "s.distances[vertex[k]] = level;", "s.distances[vertex[k]] = 0;", test_top_down
        ),
        "settle: over the frontier": Fault(
            "found += settle_pairs(s, s.visited, pairs_of(pairs), run, base, level, x.end, x.tail);",
            "found += settle_pairs(s, s.visited, pairs_of(pairs), run, base, level, x.begin, x.tail);",
            test_top_down,
        ),
        "note: nothing is visited": Fault("if (fresh) s.visited[word] = upcoming;", ";", test_bottom_up),
        "sweep: long rows are left": Fault(
            "probe_long_rows(s, x.seen, x.upcoming, static_cast<int>(x.level), 0, rows, warp, warps);",
            ";",
            test_bottom_up,
        ),
        "list: no degrees": Fault("degree[0] -= row[0];", "degree[0] = 1;", test_back_to_top_down),
        "prepare: the hub of who has no in-edges is another's": Fault(
            "static_cast<Vertex>(base + vertex)", "static_cast<Vertex>(vertex)", random_searches
        ),
        "report: the next level goes on counting": Fault("*x.tail = *x.found = *x.left = 0;", ";", test_top_down),
    },
    "distributed_build": {
        "to_global_ids: partitions and places": Fault(
            "x % partitions * stride + x / partitions",
            "x / partitions * stride + x % partitions",
            test_numbers_are_those_of_the_cpu,
        ),
        "bucket_by_owner: loops twice": Fault("inside && u != v", "inside", test_edges_are_dealt),
        "scatter_targets: beyond the rows": Fault(
            "local_id < own && slot < capacity", "local_id < own", test_changed_edges_stay_within_the_rows
        ),
    },
    "distributed_validation": {
        "an edge over two levels": Fault("level > up + 1", "level > up + 2", test_answers_are_checked),
        "an unreached vertex": Fault("level < 0 && up < stopped_at", "false", test_answers_are_checked),
        "loops of another partition": Fault("targets[arc] == base + row", "targets[arc] == row", test_rows_are_made),
    },
}


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, faults in FAULTS.items() for name in faults])
def test_a_fault_is_seen(file, name, monkeypatch):
    assert_seen(monkeypatch, file, FAULTS[file], name)
