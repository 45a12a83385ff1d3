"""Engine ``cupy``: our kernels in CUDA C++, compiled and launched by CuPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import numpy as np

from ..._core.cuda.arrays import CUDA, aligned, cupy_missing
from ..._core.cuda.kernels import function_of, module
from ..._core.memory import available_device_bytes
from ...errors import DeviceMemoryError
from ...graph import Graph
from ..base import OPTIONAL, BatchTraversal, Betweenness, Engine, Options, Traversal
from .betweenness import Brandes
from .bit_parallel import BitParallel
from .direction_optimizing import DirectionOptimizing
from .launch import CompiledKernel, primary_context
from .published import ALGORITHMS, Device, FrontierMask, Kernel

TEXTURE = "frontier-mask-texture"
TEXTURE_BYTES = 512  # a texture begins at a multiple of it
Prepared = TypeVar("Prepared")


class CuPy(Engine):
    name = "cupy"
    checking = (*ALGORITHMS, TEXTURE)
    algorithms = ("direction-optimizing", *checking)
    searches_on = CUDA
    supports = OPTIONAL
    masks = algorithms[:1]

    def unavailable(self) -> str | None:
        return cupy_missing()

    def unsupported(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        if options.deterministic and options.predecessors and algorithm != self.algorithms[0]:
            return f"{algorithm} cannot search deterministically: use engine='cupy' or engine='cpu'"
        reason = super().unsupported(graph, algorithm, options, sources)
        if reason is None and algorithm == TEXTURE:
            longest = CuPyDevice(graph).attribute("MaxTexture1DLinearWidth")
            if graph.num_arcs > longest or graph.targets.dtype != np.int32:
                return (
                    f"{graph.name} has {graph.num_arcs:,} entries of {graph.targets.dtype} in its adjacency:"
                    f" a texture of this device holds {longest:,} of int32, use 'cupy:frontier-mask'"
                )
        return reason

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        own: Any = {self.algorithms[0]: DirectionOptimizing, TEXTURE: FrontierMaskTexture}
        make: Callable[[Graph, CuPyDevice], Traversal] = own.get(algorithm) or ALGORITHMS[algorithm]
        return prepared(make, graph)

    def prepare_batch(self, graph: Graph, algorithm: str) -> BatchTraversal:
        """Prepare to search from many sources at once or, if memory is short, from one after the other."""
        if algorithm == self.algorithms[0]:
            with suppress(DeviceMemoryError):
                return prepared(BitParallel, graph)
        return super().prepare_batch(graph, algorithm)

    def prepare_betweenness(self, graph: Graph, algorithm: str) -> Betweenness:
        return prepared(Brandes, graph)


def prepared(make: Callable[[Graph, CuPyDevice], Prepared], graph: Graph) -> Prepared:
    """The preparation that ``make`` returns for a graph and its device."""
    device = CuPyDevice(graph)
    with device.current():
        return make(graph, device)


_streams: dict[int, Any] = {}


def stream_of(device: int) -> Any:
    """The one stream of all searches on this device, which must be current.

    CuPy's pool keeps the memory of each stream apart, so more streams would need more memory.
    """
    import cupy

    if device not in _streams:
        _streams.setdefault(device, cupy.cuda.Stream(non_blocking=True))  # the same one in every thread
    return _streams[device]


class CuPyDevice(Device):
    """The device that a graph is on, or else CuPy's current one, and a stream of our own.

    ``own_stream``: it is not the stream that all searches share.
    """

    engine = CuPy.name
    searches_on = CUDA
    small_rows = deep_by_grid = True
    threads = 256

    def __init__(self, graph: Graph | None = None, *, own_stream: bool = False) -> None:
        import cupy

        self.cupy = cupy
        there: Any = cupy.cuda.Device()
        if graph is not None and graph.is_on(CUDA):
            there = graph.to(CUDA).targets.device
        self.id = int(there.id)
        self.context = primary_context(self.id)
        with self.current():
            self.stream = cupy.cuda.Stream(non_blocking=True) if own_stream else stream_of(self.id)
        self.stream_handle = self.stream.ptr
        self.multiprocessors = self.attribute("MultiProcessorCount")
        self.most_shared_bytes = self.attribute("MaxSharedMemoryPerBlockOptin")
        self.l2_bytes = self.attribute("L2CacheSize")
        self.cooperative = bool(self.attribute("CooperativeLaunch"))
        self.time_limit = bool(self.attribute("KernelExecTimeout"))
        self.resident_blocks = 8 * self.multiprocessors

    def attribute(self, name: str) -> int:
        """An attribute of the device, as CUDA reports it."""
        runtime = self.cupy.cuda.runtime
        return int(runtime.deviceGetAttribute(getattr(runtime, f"cudaDevAttr{name}"), self.id))

    @contextmanager
    def active(self) -> Iterator[None]:
        with self.current(), self.stream:
            yield

    def free_bytes(self) -> float:
        with self.current():
            return available_device_bytes()

    def upload(self, array: Any) -> Any:
        self.cupy.cuda.Device(self.id).synchronize()  # another stream may still write it
        return self.cupy.asarray(array)

    def empty(self, length: int, dtype: Any) -> Any:
        return self.cupy.empty(length, dtype)

    def host(self, array: Any) -> np.ndarray:
        copy: np.ndarray = self.cupy.asnumpy(array)
        return copy

    def found(self, array: Any) -> Any:
        return array

    def mapped(self, length: int, dtype: Any) -> tuple[Any, Any]:
        import cupyx

        array = cupyx.zeros_pinned(length, dtype)
        return array, np.uintp(array.ctypes.data)  # with unified addressing the host's address is the device's too

    def absent(self, array: Any) -> Any:
        return np.uintp(0)

    def kernels(self, file: str, vertex: np.dtype, offset: np.dtype) -> dict[str, Kernel]:
        compiled, names = module(file, vertex.itemsize, offset.itemsize)
        return {name: self._launcher(function_of(compiled, instance)) for name, instance in names.items()}

    def _launcher(self, kernel: Any) -> Callable[..., None]:
        def launch(blocks: int, *arguments: Any) -> None:
            kernel((blocks,), (self.threads,), arguments)

        return launch

    def compiled(
        self, file: str, kernel: str, vertex: np.dtype, offset: np.dtype, threads: int, blocks: int
    ) -> CompiledKernel:
        sizes = vertex.itemsize, offset.itemsize
        code, names = module(file, *sizes, f"-DTHREADS={threads}", f"-DBLOCKS={blocks}", kernel=kernel)
        function = function_of(code, names[kernel])
        return CompiledKernel(function.kernel.ptr, function)

    def compiled_together(
        self, file: str, vertex: np.dtype, offset: np.dtype, threads: int, blocks: int
    ) -> dict[str, CompiledKernel]:
        code, names = module(file, vertex.itemsize, offset.itemsize, f"-DTHREADS={threads}", f"-DBLOCKS={blocks}")
        functions = {name: function_of(code, instance) for name, instance in names.items()}
        return {name: CompiledKernel(function.kernel.ptr, function) for name, function in functions.items()}

    def synchronize(self) -> None:
        self.stream.synchronize()


class FrontierMaskTexture(FrontierMask):
    """`frontier_mask_texture`: the adjacency is read through a texture object."""

    file = "frontier_mask_texture"

    def __init__(self, graph: Graph, device: CuPyDevice) -> None:
        super().__init__(graph, device)
        with device.active():  # its stream first copies, if need be, then searches
            self.array = aligned(self.targets, TEXTURE_BYTES)
        self.targets = texture_of(self.array) if len(self.array) else np.uintp(0)


def texture_of(array: Any) -> Any:
    """A texture object over an int32 array on the device, which must outlive it."""
    from cupy.cuda import runtime, texture

    channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindSigned)
    resource = texture.ResourceDescriptor(
        runtime.cudaResourceTypeLinear, arr=array, chDesc=channel, sizeInBytes=array.nbytes
    )
    return texture.TextureObject(resource, texture.TextureDescriptor())
