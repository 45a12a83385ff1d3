"""Distributed graphs on devices that are the host's, for tests of their searches."""

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from unittest import mock

import host_device
import numpy as np
import pytest
from emulator import emulate
from host_device import HostDevice
from oracle import expected_distances, random_graph, random_options

from rapids_bfs import bfs, validate
from rapids_bfs.distributed import cuda, partitioning, validation
from rapids_bfs.distributed import persistent as one_launch
from rapids_bfs.distributed.cuda import DevicePartition, DeviceSearch, Tuning
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.persistent import ALIGNMENT

with mock.patch.dict(sys.modules, cupy=np):  # whose arrays are the device's here
    from rapids_bfs._core.csr import device as device_csr

HANGS = 10.0  # seconds after which a search with a planted fault counts as hanging
SMALL = Tuning(threads=64, other_threads=64, other_blocks=1)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, cuda, one_launch)
    monkeypatch.setattr(one_launch, "STARTING", 3600.0)  # a host has other work
    monkeypatch.setitem(sys.modules, "cupy", np)
    monkeypatch.setitem(sys.modules, device_csr.__name__, device_csr)
    for module in (device_csr, partitioning, validation):
        monkeypatch.setattr(module, "launch", host_device.launch)
    monkeypatch.setattr(device_csr, "require", lambda *_: None)
    monkeypatch.setattr(device_csr, "working", nullcontext)
    monkeypatch.setattr(device_csr, "BLOCK", 100)
    monkeypatch.setattr(device_csr, "PIECE", 120)


def host_windows(communicator, nbytes):
    """Windows in the host's memory, which all ranks share."""
    arrays = communicator.allgather_object(np.zeros(nbytes + ALIGNMENT, np.uint8))
    addresses = tuple(-(-array.ctypes.data // ALIGNMENT) * ALIGNMENT for array in arrays)
    return SimpleNamespace(addresses=addresses, arrays=arrays)


def by_steps(device_partition, communicator):
    """A search that goes back to the host after each step."""
    return DeviceSearch(device_partition, "asked for")


def on_devices(whole, size, seed, make=by_steps, kind=HostDevice, **threads):
    """A distributed graph, which devices of the host search."""
    if HostDevice.planted:
        threads.setdefault("timeout", HANGS)
    graph = from_graph(whole, Threads(["cpu"] * size, **threads))

    def prepare(partition, communicator):
        device = kind(seed + communicator.rank, blocks=1 + seed % 3)
        partition.cache["search"] = make(DevicePartition(partition, communicator, device, SMALL), communicator)

    graph.launcher.collect(prepare, each=[graph.partitions])
    graph._prepared = True
    return graph


def assert_right(whole, size, sources, seed=0, make=by_steps, **options):
    return assert_finds(on_devices(whole, size, seed, make), whole, sources, **options)


def assert_finds(graph, whole, sources, **options):
    for _ in range(2):  # the second time over what the first one left
        result = bfs(graph, sources, trace=True, **options)
        assert validate(graph, result)
        expected = expected_distances(whole, sources, options.get("depth_limit"), options.get("target"))
        brought = result.to("cpu")
        np.testing.assert_array_equal(brought.distances, expected)
        assert (brought.predecessors is not None) == options.get("predecessors", True)
        assert (result.num_reached, result.depth) == (int((expected >= 0).sum()), int(expected.max()))
    return result


def random_searches(seeds=12, make=by_steps):
    """Directed or not, with isolated vertices, self-loops and parallel edges, over 1 to 5 partitions."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        whole = random_graph(rng, most_vertices=60, most_edges=240)
        sources, options = random_options(rng, whole.num_vertices)
        assert_right(whole, 1 + seed % 5, sources, seed, make, **options)
