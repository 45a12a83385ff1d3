"""A device for engines whose kernels are those of `kernels/numba_cuda`, run by `emulated_gpu`.

The kernels' modules are imported a second time, as the package `emulated`, with `Cuda` in place of `numba.cuda` and
`INTRINSICS` in place of the modules `pointers` and `ptx`.
"""

import ctypes
import sys
from contextlib import nullcontext
from ctypes import Structure, c_void_p
from functools import cache
from importlib import import_module, util
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest import mock

import numpy as np
from emulated_gpu import INTRINSICS, Cuda, Launch, Memory, int32, int64, integer, rubbish, unsigned

from rapids_bfs.engines.gpu import launch
from rapids_bfs.engines.gpu.published import Device

KERNELS = Path(__file__).parents[2] / "kernels"
PACKAGE = "emulated"


@cache
def imported():
    """What kernels import, and their own modules as far as they were imported: each there is once."""
    cuda = Cuda()
    spec = util.spec_from_file_location(PACKAGE, KERNELS / "__init__.py", submodule_search_locations=[str(KERNELS)])
    return {
        "numpy": SimpleNamespace(
            **{"int8": integer(8), "int32": int32, "int64": int64},
            **{f"uint{bits}": unsigned(bits) for bits in (16, 32, 64)},
        ),
        "numba": SimpleNamespace(cuda=cuda),
        "numba.cuda": cuda,
        PACKAGE: util.module_from_spec(spec),
        f"{PACKAGE}.numba_cuda.common.pointers": SimpleNamespace(**INTRINSICS),
        f"{PACKAGE}.numba_cuda.common.ptx": SimpleNamespace(**INTRINSICS),
    }


def emulated(file):
    """A module of `kernels/numba_cuda`, to be run here."""
    modules = imported()
    with mock.patch.dict(sys.modules, modules):
        module = import_module(f"{PACKAGE}.numba_cuda.{file}")
        modules |= {name: each for name, each in sys.modules.items() if name.startswith(f"{PACKAGE}.")}
    return module


class EmulatedKernel:
    """A kernel whose pointers are addresses of the device's arrays. It takes several arguments, or one structure."""

    def __init__(self, device, module, name, vertex, offset):
        self.device, self.kernel = device, getattr(module, name)
        self.types = module.signatures(vertex.itemsize, offset.itemsize)[name]

    def resident_blocks(self, threads, shared):
        return 1

    def resident_clusters(self, cluster, threads, shared, stream):
        return 1

    def launcher(self, grid, threads, shared, stream, *arguments, cooperative=False, cluster=1):
        def launch():
            passed = map(self.argument, arguments, self.types)
            Launch(self.kernel, tuple(passed), grid, threads, self.device.random, shared=shared, cluster=cluster)

        return launch

    def argument(self, given, kind):
        if not isinstance(given, Structure):
            return self.value(given.value, type(given), kind)
        types, structure = kind
        fields = zip(given._fields_, types, strict=True)
        return structure(*(self.value(getattr(given, name), each, dtype) for (name, each), dtype in fields))

    def value(self, value, kind, dtype):
        return self.device.memory(value, dtype) if kind is c_void_p else np.int64(value)


class EmulatedDevice(Device):
    """Blocks of few threads; the host's memory is the device's."""

    engine = "emulated"
    searches_on = "cpu"
    threads = 64
    multiprocessors = 3
    most_shared_bytes = 1 << 16
    l2_bytes = 1 << 20
    resident_blocks = 1
    stream_handle = 0
    context = None

    def __init__(self, seed):
        self.random = Random(seed)
        self.arrays = {}

    def current(self):
        return nullcontext()

    active = current

    def in_turn(self):
        return nullcontext(lambda context: None)

    def free_bytes(self):
        return 1e9

    def upload(self, array):
        return self._keep(array.copy())

    def empty(self, length, dtype):
        return self._keep(rubbish(length, dtype))

    def _keep(self, array):
        self.arrays[address(array)] = array
        return array

    def memory(self, at, dtype):
        """What a pointer points to, up to the end of its array."""
        if at is None:
            return None
        start, array = next(each for each in self.arrays.items() if 0 <= at - each[0] < max(each[1].nbytes, 1))
        return Memory(array.view(np.uint8)[at - start :].view(dtype))

    def host(self, array):
        return array.copy()

    def found(self, array):
        return array

    def mapped(self, length, dtype):
        return (self.empty(length, dtype),) * 2

    def absent(self, array):
        return None

    def kernels(self, file, vertex, offset):
        raise NotImplementedError("only kernels of one launch are emulated")

    def compiled(self, file, kernel, vertex, offset, threads, blocks):
        return EmulatedKernel(self, emulated(file), kernel, vertex, offset)

    def synchronize(self):
        pass


def address(array):
    return array.ctypes.data


def fill(array, byte, stream):
    array.view(np.uint8)[:] = byte


def copy(target, source, size, stream):
    ctypes.memmove(target, source, size)


DRIVER = {
    "address": address,
    "copy": copy,
    "fill": fill,
}


def emulate(monkeypatch, *hosts):
    """Let these modules find the emulated device where they import the driver's functions."""
    monkeypatch.setattr(launch, "address", address)
    for host in hosts:
        for name in DRIVER.keys() & vars(host).keys():
            monkeypatch.setattr(host, name, DRIVER[name])
