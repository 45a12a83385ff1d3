"""Graphs on a device whose adjacency stays on the host. Python's memory stands in for pinned, integers for pointers."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from strategies import graphs

from rapids_bfs import InputError, as_graph, load
from rapids_bfs._core import memory
from rapids_bfs._core.cuda import arrays as device
from rapids_bfs._core.cuda import driver
from rapids_bfs.adapters import pinned
from rapids_bfs.adapters.pinned import with_pinned_adjacency

without_device = pytest.mark.skipif(bool(driver.driver().devices), reason="there is a CUDA device")


@dataclass
class OnDevice:
    """An array of the device."""

    shape: tuple[int, ...]
    dtype: np.dtype
    at: Any
    __cuda_array_interface__ = None

    def __len__(self):
        return self.shape[0]

    @property
    def nbytes(self):
        return len(self) * self.dtype.itemsize


@pytest.fixture
def asked(monkeypatch):
    """How many bytes of the host and of the device were asked for."""
    asked = {"host": 0, "device": 0}

    def require(where):
        def more(needed, what):
            asked[where] += needed

        return more

    cuda = SimpleNamespace(
        Device=lambda: SimpleNamespace(id=0),
        PinnedMemory=bytearray,
        PinnedMemoryPointer=lambda memory, offset: memory,
        UnownedMemory=lambda at, size, owner, device: (at, size, owner),
        MemoryPointer=lambda memory, offset: memory,
    )
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda, ndarray=OnDevice))
    monkeypatch.setattr(pinned, "moved", lambda array, where: OnDevice(array.shape, array.dtype, array))
    monkeypatch.setattr(pinned, "require_bytes", require("host"))
    monkeypatch.setattr(pinned, "require_device_bytes", require("device"))
    return asked


def assert_same_memory(there, here, arrays):
    """A graph on the device and its twin on the host, which has these offsets and targets."""
    assert (there.device, here.device) == ("cuda", "cpu")
    assert there.to("cpu") is here
    assert here.to("cuda") is there
    np.testing.assert_array_equal(there.offsets.at, arrays.offsets)
    np.testing.assert_array_equal(here.offsets, arrays.offsets)
    np.testing.assert_array_equal(here.targets, arrays.targets)
    at, size, owner = there.targets.at
    assert (at, size) == (here.targets.ctypes.data, here.targets.nbytes)
    assert owner.ctypes.data == at
    assert there.targets.dtype == arrays.targets.dtype


@pytest.mark.parametrize("ids", [{3: [70], 70: [3, 9], 9: [70]}, {"a": ["b"], "b": []}, {0: [1, 2], 1: [0], 2: []}])
def test_device_and_host_see_the_same_memory(asked, ids):
    graph = as_graph(ids)
    there = with_pinned_adjacency(graph)
    assert_same_memory(there, there.to("cpu"), graph)
    assert (there.reverse is there) is not graph.directed
    assert_same_memory(there.reverse, there.reverse.to("cpu"), graph.reverse)
    sides = 1 + graph.directed
    assert asked["host"] == sides * graph.targets.nbytes
    labels = 0 if graph.labels is None or graph.has_objects else graph.labels.nbytes
    assert asked["device"] == sides * (graph.offsets.nbytes + labels)
    assert [there.to("cpu").vertex_of(each) for each in ids] == [graph.vertex_of(each) for each in ids]
    kept = there.labels.at if labels else there.labels
    assert kept is graph.labels or kept.tolist() == graph.labels.tolist()


@pytest.mark.usefixtures("asked")
def test_any_graph():
    @given(graphs())
    def same(graph):
        there = with_pinned_adjacency(graph)
        assert_same_memory(there, there.to("cpu"), graph)

    same()


@pytest.mark.parametrize(
    ("on_host", "on_device", "message"),
    [
        (256, 1 << 40, "the adjacency of karate in pinned memory needs 624 bytes of memory, and 256 bytes are free"),
        (1 << 40, 16, "karate without its adjacency needs 140 bytes of device memory, and 16 bytes are free"),
    ],
)
def test_memory_that_does_not_suffice(monkeypatch, on_host, on_device, message):
    graph = load("karate")
    monkeypatch.setattr(memory, "require_device", lambda: None)
    monkeypatch.setattr(memory, "available_bytes", lambda: on_host)
    monkeypatch.setattr(memory, "available_device_bytes", lambda: on_device)
    with pytest.raises(InputError, match=message):
        with_pinned_adjacency(graph)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjacency": "pinned"}, "adjacency='pinned' is for graphs that a device searches: give device='cuda' too"),
        ({"adjacency": "disk", "device": "cuda"}, "an adjacency is 'device' or 'pinned', not 'disk'"),
        ({"adjacency": "host", "device": "cuda"}, "an adjacency is 'device' or 'pinned', not 'host'"),
        ({"adjacency": np.array(["pinned", "x"])}, "an adjacency is 'device' or 'pinned', not "),
        ({"adjacency": ["pinned"]}, "'pinned', not \\['pinned'\\]"),
    ],
)
def test_other_places(options, message):
    for make, graph in ((load, "karate"), (as_graph, "karate"), (as_graph, {0: [1]})):
        with pytest.raises(InputError, match=message):
            make(graph, **options)


@without_device
def test_without_a_device():
    with pytest.raises(InputError, match="this needs a CUDA device"):
        load("rmat:20", device="cuda", adjacency="pinned")


def test_load(asked, monkeypatch):
    monkeypatch.setattr(device, "cupy_missing", lambda: None)
    whole = load("karate")
    for make, graph in ((load, "karate"), (as_graph, "karate"), (as_graph, whole), (as_graph, whole.to("dict"))):
        there = make(graph, device="cuda", adjacency="pinned")
        assert_same_memory(there, there.to("cpu"), as_graph(graph))
