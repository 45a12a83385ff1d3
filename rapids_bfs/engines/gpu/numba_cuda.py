"""Engine ``numba-cuda``: our kernels in Numba-CUDA, on a GPU or in Numba's simulator."""

from __future__ import annotations

import ctypes
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from ..._core.cuda.arrays import CPU, CUDA, to_device
from ..._core.cuda.arrays import cupy_missing as no_cupy
from ..._core.cuda.driver import no_device, pip_install, too_old
from ..._core.forks import in_each_child
from ..._core.memory import available_device_bytes
from ...graph import Graph
from ...kernels.cuda import KERNELS
from ...kernels.threads import compiling, imported
from ..base import Engine, Traversal
from . import simulator
from .cupy import stream_of
from .direction_optimizing import DirectionOptimizing
from .launch import CompiledKernel, call, primary_context
from .published import ALGORITHMS, Device, Kernel
from .simulator import simulated


class NumbaCUDA(Engine):
    name = "numba-cuda"
    # The simulator has no barrier over several blocks, no votes and shuffles of a warp, and no PTX.
    algorithms = tuple(ALGORITHMS) if simulated() else ("direction-optimizing", *ALGORITHMS)
    supports = ("depth_limit", "target", "several sources", "vertices")
    checking = ALGORITHMS.keys()

    @property
    def searches_on(self) -> str:  # type: ignore[override]
        return searches_on()

    def unavailable(self) -> str | None:
        return numba_cuda_missing()

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        make = DirectionOptimizing if algorithm == "direction-optimizing" else ALGORITHMS[algorithm]
        device = NumbaDevice(graph)
        with device.current():
            return make(graph, device)


@cache
def numba_cuda_missing() -> str | None:
    """None, or one line: what is missing and how to install it."""
    if simulated():
        return None  # Numba itself has the simulator
    if reason := no_device():
        return reason
    if importlib.util.find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed: {pip_install('cuda')}"
    try:
        cuda = imported("numba.cuda")
    except Exception as error:  # importing mismatched versions can raise anything
        if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
            return f"NumPy {np.__version__} is too new for numba-cuda {version('numba-cuda')}: pip install 'numpy<2.5'"
        return f"numba-cuda cannot be imported ({error}): {pip_install('cuda')}"
    try:
        major, _ = cuda.cudadrv.runtime.get_version()
    except Exception as error:  # NVRTC is loaded here; each version of its binding raises an exception of its own
        return f"numba-cuda finds no CUDA toolkit ({error}): {pip_install('cuda')}"
    return too_old(f"numba-cuda {version('numba-cuda')}", major)


in_each_child(numba_cuda_missing.cache_clear)


def searches_on() -> str:
    """The device of graphs that are searched without a copy; CuPy is needed for arrays on "cuda"."""
    return CPU if simulated() or no_cupy() else CUDA


class NumbaDevice(Device):
    """The device that a graph is on, or else Numba's current one, and a stream.

    Where CuPy's pool has the memory, that is the stream of `stream_of`: the pool hands freed memory on without waiting
    for any stream but the one that it was allocated on.
    """

    engine = NumbaCUDA.name
    allocating: AbstractContextManager[Any] = nullcontext()  # makes that stream CuPy's current one

    def __init__(self, graph: Graph) -> None:
        self.cuda = cuda = imported("numba.cuda")
        self.searches_on = searches_on()
        if simulated():
            self.threads, self.resident_blocks = 8, 2
            self.stream = cuda.stream()
            return
        there: Any = graph.to(CUDA).targets.device if graph.is_on(CUDA) else cuda.get_current_device()
        device = cuda.gpus[int(there.id)]
        self.threads = 256
        self.multiprocessors = device.MULTIPROCESSOR_COUNT
        self.most_shared_bytes = device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        self.l2_bytes = device.L2_CACHE_SIZE
        self.cooperative = bool(device.COOPERATIVE_LAUNCH)
        self.time_limit = bool(device.KERNEL_EXEC_TIMEOUT)
        self.resident_blocks = 8 * self.multiprocessors
        self.context = primary_context(device.id)
        with self.current():
            if self.searches_on == CUDA:
                self.allocating = stream_of(device.id)
                self.stream = cuda.external_stream(stream_of(device.id).ptr)
            else:
                self.stream = cuda.stream()
        self.stream_handle = int(self.stream)

    def current(self) -> AbstractContextManager[Any]:
        return nullcontext() if simulated() else super().current()

    @contextmanager
    def active(self) -> Iterator[None]:
        with simulator.running() if simulated() else self.current(), self.allocating:
            yield

    def free_bytes(self) -> float:
        with self.current():
            if self.searches_on == CUDA:
                return available_device_bytes()  # Numba cannot report it while RMM allocates
            return float(self.cuda.current_context().get_memory_info().free)

    def upload(self, array: Any) -> Any:
        if self.searches_on == CPU:
            return self.cuda.to_device(array, stream=self.stream)
        import cupy

        cupy.cuda.Device().synchronize()  # another stream may still write it
        return self.cuda.as_cuda_array(to_device(array))

    def empty(self, length: int, dtype: Any) -> Any:
        if self.searches_on == CPU:
            return self.cuda.device_array(length, dtype)
        import cupy

        return self.cuda.as_cuda_array(cupy.empty(length, dtype))  # from CuPy's pool, like uploads

    def host(self, array: Any) -> np.ndarray:
        copy: np.ndarray = array.copy_to_host(stream=self.stream)
        self.synchronize()
        return copy

    def found(self, array: Any) -> Any:
        return self.host(array) if self.searches_on == CPU else to_device(array)

    def mapped(self, length: int, dtype: Any) -> tuple[Any, Any]:
        array = self.cuda.mapped_array(length, dtype)
        return array, array if simulated() else self.cuda.as_cuda_array(array)  # wrapped once, not at each launch

    def absent(self, array: Any) -> Any:
        return array[:0]

    def kernels(self, file: str, vertex: np.dtype, offset: np.dtype) -> dict[str, Kernel]:
        module = import_module(f"rapids_bfs.kernels.numba_cuda.{file}")
        return {name: self._launcher(getattr(module, name)) for name in KERNELS[file]}  # the names in CUDA C++

    def _launcher(self, kernel: Any) -> Callable[..., None]:
        def configured(blocks: int) -> Callable[..., None]:
            with warnings.catch_warnings():  # that few blocks use little of the device: a small frontier has few
                warnings.simplefilter("ignore")
                launch: Callable[..., None] = kernel[blocks, self.threads, self.stream]
                return launch

        if not simulated():  # where this changes the kernel itself, which all devices share
            configured = cache(configured)

        ready = simulated()  # where nothing is compiled

        def launch(blocks: int, *arguments: Any) -> None:
            nonlocal ready
            if ready:
                configured(blocks)(*arguments)
            else:
                compiling(_kept, configured(blocks), *arguments)
                ready = True

        return launch

    def compiled(
        self, file: str, kernel: str, vertex: np.dtype, offset: np.dtype, threads: int, blocks: int
    ) -> CompiledKernel:
        device = self.cuda.get_current_device().id
        return compiled(file, kernel, vertex.itemsize, offset.itemsize, threads, blocks, device)

    def synchronize(self) -> None:
        self.stream.synchronize()


def _kept() -> str:
    return "in each process: Numba-CUDA keeps none"


@cache
def compiled(
    file: str, kernel: str, vertex_bytes: int, offset_bytes: int, threads: int, blocks: int, device: int
) -> CompiledKernel:
    """A kernel that Numba compiles for its current device."""
    from cuda.bindings.driver import CUkernel

    cuda = imported("numba.cuda")
    module = import_module(f"rapids_bfs.kernels.numba_cuda.{file}")
    signature = module.signatures(vertex_bytes, offset_bytes)[kernel]
    dispatcher = cuda.jit(launch_bounds=(threads, blocks))(getattr(module, kernel))
    loaded = compiling(_kept, dispatcher.compile, signature).library.get_cufunc()
    function = ctypes.c_void_p(int(loaded.handle))
    if isinstance(loaded.handle, CUkernel):  # numba-cuda from 0.23 on loads it from a library
        call("cuKernelGetFunction", ctypes.byref(function), ctypes.c_void_p(int(loaded.handle)))
    return CompiledKernel(function.value, loaded, fields=True)
