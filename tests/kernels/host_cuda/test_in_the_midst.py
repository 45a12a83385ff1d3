"""Searches by CUDA C++ and its hosts, run on the host, in the midst of others on the same thread."""

from dataclasses import replace

import pytest
from emulator import emulate
from host_device import HostDevice
from midst import assert_safe_in_the_midst
from tunings import TUNINGS

from rapids_bfs import betweenness, bfs, bfs_batch
from rapids_bfs.engines import OPTIONAL, Engine, registered, resolve
from rapids_bfs.engines.gpu import betweenness as brandes
from rapids_bfs.engines.gpu import bit_parallel, cooperative, deterministic, direction_optimizing, first_bitmap
from rapids_bfs.engines.gpu.published import ALGORITHMS
from rapids_bfs.generators import generate

SMALL = {"threads": 64, "grid": 2}


class OnHost(Engine):
    """The engine ``cupy`` on a `HostDevice`."""

    name = "on the host"
    algorithms = ("direction-optimizing", *ALGORITHMS)
    supports = OPTIONAL

    def prepare(self, graph, algorithm):
        if algorithm in ALGORITHMS:
            return ALGORITHMS[algorithm](graph, HostDevice())
        return direction_optimizing.DirectionOptimizing(graph, HostDevice(blocks=2), TUNINGS["top-down"])

    def prepare_batch(self, graph, algorithm):
        return bit_parallel.BitParallel(graph, HostDevice(blocks=2), replace(bit_parallel.DEFAULT, **SMALL))

    def prepare_betweenness(self, graph, algorithm):
        return brandes.Brandes(graph, HostDevice(blocks=2), replace(brandes.DEFAULT, **SMALL))


@pytest.fixture(autouse=True)
def on_host(monkeypatch):
    emulate(monkeypatch, cooperative, direction_optimizing, deterministic, first_bitmap, bit_parallel, brandes)
    for module, name in (direction_optimizing, "PREPARE_THREADS"), (bit_parallel, "WRITE_THREADS"):
        monkeypatch.setattr(module, name, 64)
    monkeypatch.setattr(direction_optimizing, "finish", lambda: None)
    monkeypatch.setitem(registered(), OnHost.name, OnHost())
    yield
    resolve.cache_clear()


SEARCHES = {
    **{
        name: lambda graph, vertex, name=name: bfs(graph, vertex, engine=f"on the host:{name}").distances
        for name in OnHost.algorithms
    },
    "deterministic": lambda graph, vertex: bfs(graph, vertex, deterministic=True, engine="on the host").predecessors,
    "bit-parallel": lambda graph, vertex: bfs_batch(graph, range(vertex, 6), engine="on the host").distances,
    "summary": lambda graph, vertex: bfs_batch(graph, range(vertex, 6), keep="summary", engine="on the host").total,
    "betweenness": lambda graph, vertex: betweenness(graph, range(vertex), engine="on the host"),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_in_the_midst_of_another_search(name):
    """It overwrote the answer, without a word."""
    graph, other = generate("grid:4"), generate("path:9")
    assert_safe_in_the_midst(lambda vertex: SEARCHES[name](graph, vertex), lambda: SEARCHES[name](other, 1), most=30)
