"""Answers in the user's ids: the kernel against NumPy, and whole searches of the drop-in against SciPy, on the host."""

import sys
from dataclasses import replace
from functools import cached_property
from itertools import product
from types import SimpleNamespace

import host_device
import numpy as np
import pytest
from emulator import emulate
from host_device import HostDevice
from host_faults import Fault, assert_seen
from oracle import expected_distances, random_graph

from rapids_bfs._core import memory
from rapids_bfs.cugraph import searcher as searchers
from rapids_bfs.engines.gpu import cooperative as one_launch
from rapids_bfs.engines.gpu import direction_optimizing
from rapids_bfs.engines.gpu.direction_optimizing import DEFAULT, DirectionOptimizing

SHORT, LONG = np.int32, np.int64
FAR = 2**31 - 1


@pytest.mark.parametrize("way", ["short", "long"])
def test_kernel(way):
    """Elements that are no vertices, too, which a search that failed may leave; ``way`` is "short" or "long"."""
    for n, vertex, named in product((1, 5, 3000), (SHORT, LONG), (False, True)):
        rng = np.random.default_rng(n)
        dtype = SHORT if way == "short" else LONG
        distances = rng.integers(-1, 9, n).astype(SHORT)
        predecessors = rng.integers(-3, n + 3, n).astype(vertex)
        ids = np.sort(rng.choice(10 * n, n, replace=False)).astype(dtype) if named else None
        found = [np.full(n, 77, dtype) for _ in range(2)]
        known = (predecessors >= 0) & (predecessors < n)
        vertices = np.where(known, predecessors, 0)
        wanted = np.where(known, ids[vertices] if named else vertices, -5)
        host_device.launch("answer", "translate", vertex, dtype, n, distances, predecessors, ids, n, FAR, -5, *found)
        np.testing.assert_array_equal(found[0], np.where(distances < 0, FAR, distances))
        np.testing.assert_array_equal(found[1], wanted)
        if vertex == dtype:
            host_device.launch(
                "answer", "translate", vertex, dtype, n, None, predecessors, ids, n, FAR, -5, found[0], predecessors
            )
            np.testing.assert_array_equal(predecessors, wanted)
        before = found[1].copy()
        host_device.launch("answer", "translate", vertex, dtype, n, distances, None, ids, n, FAR, -5, *found)
        np.testing.assert_array_equal(found[1], before)


FAULTS = {
    "beyond the last vertex": Fault("vertex[k] >= 0 && vertex[k] < n", "vertex[k] >= 0", test_kernel, "short"),
    "no ids": Fault(
        "ids ? ids[vertex[k]] : static_cast<Id>(vertex[k])", "static_cast<Id>(vertex[k])", test_kernel, "long"
    ),
    "the next element": Fault(
        "if (predecessors) as_ids[i] = id[k];", "if (predecessors) as_ids[i] = id[0];", test_kernel, "short"
    ),
    "unreached as the search has it": Fault(
        "distance[k] < 0 ? static_cast<Id>(unreached) : distance[k]", "distance[k]", test_kernel, "long"
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    assert_seen(monkeypatch, "answer", FAULTS, name)


class Array(np.ndarray):
    """NumPy's, with its address where CuPy has it."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


class Counting(HostDevice):
    """A device whose arrays look like CuPy's, and which counts how often it is waited for."""

    waits = 0

    def empty(self, length, dtype):
        return super().empty(length, dtype).view(Array)

    def synchronize(self):
        self.waits += 1


class Searcher(searchers.Searcher):
    """One whose ids look like CuPy's."""

    @cached_property
    def vertices(self):
        return super().vertices.view(Array)


@pytest.fixture
def counts(monkeypatch):
    """What a call of the drop-in makes and launches, besides the search itself."""
    counts = {"arrays": 0, "launches": 0}

    def new_arrays(n, *dtypes):
        counts["arrays"] += len(dtypes)
        return [host_device.empty(n * np.dtype(each).itemsize).view(each).view(Array) for each in dtypes]

    class Translation:
        def __init__(self, names, function):
            self.kernel = HostDevice().kernel(*names[:2], *map(np.dtype, names[2:]))

        def launcher(self, *arguments):
            launch = self.kernel.launcher(*arguments)

            def counted():
                counts["launches"] += 1
                launch()

            return counted

    emulate(monkeypatch, one_launch, direction_optimizing)
    monkeypatch.setattr(direction_optimizing, "PREPARE_THREADS", 64)
    monkeypatch.setattr(direction_optimizing, "finish", lambda: None)
    monkeypatch.setitem(sys.modules, "cupy", np)
    monkeypatch.setattr(memory, "new_arrays", new_arrays)
    monkeypatch.setattr(memory, "_current_stream", lambda: 0)
    monkeypatch.setattr(searchers, "kernel_of", lambda *names: SimpleNamespace(kernel=SimpleNamespace(ptr=names)))
    monkeypatch.setattr(searchers, "CompiledKernel", Translation)
    monkeypatch.setattr(searchers, "blocks_for", lambda count: 2)
    return counts


@pytest.mark.parametrize("return_predecessors", [True, False])
@pytest.mark.parametrize("gaps", [False, True], ids=["0..n-1", "gaps"])
@pytest.mark.parametrize("dtype", [SHORT, LONG])
def test_a_search_takes_one_more_launch_at_most(dtype, gaps, return_predecessors, counts, monkeypatch):
    """And no memory but that of its answer, one search over what the last one left, from isolated vertices too."""
    tuning = replace(DEFAULT, threads=64, grid=2, capacity=64)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, most_vertices=60, most_edges=70)
        n = graph.num_vertices
        ids = np.sort(rng.choice(9 * n, n, replace=False)) if gaps else np.arange(n)
        named = graph.replace(labels=ids) if gaps else graph
        traversal = DirectionOptimizing(named, Counting(seed), tuning)
        monkeypatch.setattr(
            searchers, "resolve", lambda kind, kept=traversal: SimpleNamespace(traversal=lambda graph: kept)
        )
        searcher = Searcher(named, np.dtype(dtype))
        searcher.next_arrays.few = False  # none are allocated ahead
        waited_with = []  # what the searcher has when CuPy's stream, which makes it, is waited for
        monkeypatch.setattr(
            direction_optimizing, "finish", lambda kept=searcher, to=waited_with: to.append({*vars(kept)})
        )
        for _ in range(5):
            counts |= {"arrays": 0, "launches": 0}
            traversal.device.waits = 0
            source, limit = int(rng.integers(n)), [None, -3, 2][rng.integers(3)]
            with searcher.search(int(ids[source]), limit, return_predecessors) as found:
                pass
            expected = expected_distances(graph, [source], limit if limit == 2 else None, None)
            assert [each.dtype for each in found] == [dtype] * 2
            np.testing.assert_array_equal(found[0], np.where(expected < 0, dtype(np.iinfo(dtype).max), expected))
            reached = (expected > 0) & return_predecessors
            np.testing.assert_array_equal(found[1] >= 0, reached)
            before = np.searchsorted(ids, found[1][reached])
            np.testing.assert_array_equal(ids[before], found[1][reached])
            np.testing.assert_array_equal(expected[before], expected[reached] - 1)
            more = dtype == LONG or (gaps and return_predecessors)
            assert counts == {"arrays": 2, "launches": int(more)}
            assert traversal.device.waits == int(more)
        assert not gaps or all("vertices" in each for each in waited_with)
