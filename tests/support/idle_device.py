"""A device that does nothing, for what the hosts of the GPU kernels promise whatever the kernels do."""

import ctypes
import weakref

import numpy as np
from emulator import EmulatedDevice, emulate

from rapids_bfs.engines import Options
from rapids_bfs.engines.gpu import betweenness, bit_parallel, deterministic, direction_optimizing
from rapids_bfs.engines.gpu import cooperative as one_launch
from rapids_bfs.engines.gpu.betweenness import Brandes
from rapids_bfs.engines.gpu.bit_parallel import BitParallel
from rapids_bfs.engines.gpu.launch import CompiledKernel
from rapids_bfs.engines.gpu.published import ALGORITHMS
from rapids_bfs.kernels.whole_search import NUMBER_SHIFT

SOURCES = np.arange(3)
OPERATIONS = {
    **{name: lambda search: search.run(SOURCES) for name in ALGORITHMS},
    "direction-optimizing": lambda search: search.run(SOURCES),
    "traced": lambda search: search.run(SOURCES, Options(trace=True)),
    "deterministic": lambda search: search.run(SOURCES, Options(deterministic=True)),
    "batch": lambda batch: batch.distances(SOURCES, None, np.empty((3, batch.graph.num_vertices), np.int32)),
    "summary": lambda batch: batch.summary(SOURCES, None),
    "betweenness": lambda brandes: brandes.scores(SOURCES, np.ones(brandes.graph.num_vertices, bool), True, False),
}
MAKERS = {**ALGORITHMS, "batch": BitParallel, "summary": BitParallel, "betweenness": Brandes}


def let_hosts_be_idle(monkeypatch):
    """Let the hosts of the GPU kernels find such a device, and wait for its kernels briefly."""
    emulate(monkeypatch, one_launch, direction_optimizing, deterministic, bit_parallel, betweenness)
    monkeypatch.setattr(one_launch, "SPINS", 2)


class IdleDevice(EmulatedDevice):
    """Its kernels do nothing but, when they are waited for, say that a search is done."""

    engine = "idle"
    small_rows = deep_by_grid = True
    multiprocessors = resident_blocks = 2

    def __init__(self, shared=227):
        self.most_shared_bytes = shared << 10
        self.arrays = weakref.WeakValueDictionary()
        self.launched = []
        self.asked = []  # bytes of shared memory
        self.cooperatively = []  # were the last launches?
        self.grids = {}  # blocks, by kernel
        self.clusters_asked = []  # sizes
        self.largest_cluster = 16
        self.allocations = 0  # before one that fails; negative: none does

    def empty(self, length, dtype):
        self.allocations -= 1
        if self.allocations == 0:
            raise MemoryError
        return self._keep(np.zeros(length, dtype))

    def has(self, place):
        """Is this the address of an array that is there, or none?"""
        return place is None or any(0 <= place - at <= array.nbytes for at, array in self.arrays.items())

    def host(self, array):
        self.synchronize()
        return array.copy()

    def mapped(self, length, dtype):
        return (self._keep(np.zeros(length, dtype)),) * 2

    def kernels(self, file, vertex, offset):
        return dict.fromkeys(("reset", "seed", "expand", "commit"), lambda *arguments: self.launched.append(None))

    def compiled(self, file, kernel, vertex, offset, threads, blocks):
        return IdleKernel(self, kernel)

    def synchronize(self):
        while self.launched:
            parameters = self.launched.pop(0)
            if hasattr(parameters, "number"):
                ctypes.c_int64.from_address(parameters.status).value = parameters.number << NUMBER_SHIFT


class IdleKernel(CompiledKernel):
    def __init__(self, device, name):
        super().__init__(None, None)
        self.device, self.name = device, name

    def resident_blocks(self, threads, shared):
        self.device.asked.append(shared)
        return 1

    def resident_clusters(self, cluster, threads, shared, stream):
        self.device.clusters_asked.append(cluster)
        return cluster <= self.device.largest_cluster

    def launcher(self, grid, threads, shared, stream, *arguments, cooperative=False, cluster=1):
        self.device.grids[self.name] = grid

        def launch():
            self.device.cooperatively.append(cooperative)
            parameters = type(arguments[0]).from_buffer_copy(arguments[0])
            for name, kind in getattr(parameters, "_fields_", ()):
                assert kind is not ctypes.c_void_p or self.device.has(getattr(parameters, name)), f"{name} is gone"
            self.device.launched.append(parameters)

        return launch
