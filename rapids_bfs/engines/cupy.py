"""Engine ``cupy``: our kernels in CUDA C++, compiled and launched by CuPy."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np

from ..driver import no_device, too_old
from ..errors import InputError
from ..graph import Graph
from ..kernels import cuda as kernels
from . import Engine, Traversal
from ._levels import ALGORITHMS, Device, FrontierMask, Kernel


class CuPy(Engine):
    name = "cupy"
    algorithms = ("direction-optimizing", *ALGORITHMS, "frontier-mask-texture")
    deterministic = True

    def unavailable(self) -> str | None:
        return missing()

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        device = CuPyDevice()
        if algorithm == "direction-optimizing":
            from ._direction_optimizing import DirectionOptimizing

            return DirectionOptimizing(graph, device)
        make = FrontierMaskTexture if algorithm == "frontier-mask-texture" else ALGORITHMS[algorithm]
        return make(graph, device)


@cache
def missing() -> str | None:
    """None, or one line: what is missing here and what mends it."""
    if reason := no_device():
        return reason
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed: pip install 'rapids-bfs[cu13]'"
    try:
        import cupy
    except Exception as error:  # whatever an import of unlike versions ends in
        return f"CuPy cannot be imported ({error}): pip install 'rapids-bfs[cu13]'"
    major = cupy.cuda.runtime.runtimeGetVersion() // 1000
    if reason := too_old(f"CuPy {cupy.__version__}", major):
        return reason
    try:
        cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing").compile()
    except Exception as error:  # without NVRTC, its headers or the libraries that they need
        first_line = str(error).strip().partition("\n")[0]
        return f"CuPy finds no CUDA toolkit ({first_line}): pip install 'cupy-cuda{major}x[ctk]'"
    return None


@cache
def module(file: str, vertex_bytes: int, offset_bytes: int, *options: str) -> tuple[Any, dict[str, str]]:
    """A file compiled with ``options``, and its kernels' names in it; CuPy keeps what it compiled on disk."""
    import cupy

    names = kernels.expressions(file, vertex_bytes, offset_bytes)
    code = kernels.source(file)
    return cupy.RawModule(code=code, options=kernels.OPTIONS + options, name_expressions=[*names.values()]), names


class CuPyDevice(Device):
    """CuPy's current device, and a stream of its own."""

    engine = CuPy.name
    threads = 256

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.resident_blocks = 8 * self.attribute("MultiProcessorCount")

    def attribute(self, name: str) -> int:
        """What CUDA says of the device."""
        runtime = self.cupy.cuda.runtime
        return int(runtime.deviceGetAttribute(getattr(runtime, f"cudaDevAttr{name}"), self.cupy.cuda.Device().id))

    def active(self) -> AbstractContextManager[Any]:
        return self.stream

    def free_bytes(self) -> float:
        return self.cupy.cuda.Device().mem_info[0] + self.cupy.get_default_memory_pool().free_bytes()

    def upload(self, array: np.ndarray) -> Any:
        return self.cupy.asarray(array)

    def empty(self, length: int, dtype: Any) -> Any:
        return self.cupy.empty(length, dtype)

    def host(self, array: Any) -> np.ndarray:
        return self.cupy.asnumpy(array)

    def mapped(self, length: int, dtype: Any) -> tuple[Any, Any]:
        import cupyx

        array = cupyx.zeros_pinned(length, dtype)
        return array, np.uintp(array.ctypes.data)  # with unified addressing the host's address is the device's too

    def absent(self, array: Any) -> Any:
        return np.uintp(0)

    def kernels(self, file: str, vertex: np.dtype, offset: np.dtype) -> dict[str, Kernel]:
        compiled, names = module(file, vertex.itemsize, offset.itemsize)
        return {name: self._launcher(compiled.get_function(instance)) for name, instance in names.items()}

    def _launcher(self, kernel: Any) -> Callable[..., None]:
        def launch(blocks: int, *arguments: Any) -> None:
            kernel((blocks,), (self.threads,), arguments)

        return launch

    def synchronize(self) -> None:
        self.stream.synchronize()


class FrontierMaskTexture(FrontierMask):
    """`frontier_mask_texture`: the adjacency comes through a texture object."""

    file = "frontier_mask_texture"

    def __init__(self, graph: Graph, device: CuPyDevice) -> None:
        longest = device.attribute("MaxTexture1DLinearWidth")
        if graph.num_arcs > longest or graph.targets.dtype != np.int32:
            raise InputError(
                f"{graph.name} has {graph.num_arcs:,} entries of {graph.targets.dtype} in its adjacency:"
                f" a texture of this device holds {longest:,} of int32, use 'cupy:frontier-mask'"
            )
        super().__init__(graph, device)
        self.array = self.targets
        self.targets = texture_of(self.array) if len(self.array) else np.uintp(0)


def texture_of(array: Any) -> Any:
    """A texture object over an int32 array on the device, which must outlive it."""
    from cupy.cuda import runtime, texture

    channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindSigned)
    resource = texture.ResourceDescriptor(
        runtime.cudaResourceTypeLinear, arr=array, chDesc=channel, sizeInBytes=array.nbytes
    )
    return texture.TextureObject(resource, texture.TextureDescriptor())
