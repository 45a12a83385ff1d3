"""Our CUDA C++ kernels, compiled by CuPy and launched on its current stream."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...kernels import cuda
from ...kernels.threads import compiling

THREADS = 256  # of a block
BLOCKS = 8  # of a multiprocessor


@cache
def module(
    file: str, vertex_bytes: int, offset_bytes: int, *options: str, kernel: str | None = None
) -> tuple[Any, dict[str, str]]:
    """A compiled file, and the mangled names of its kernels, or of one of them; CuPy caches compiled files on disk."""
    import cupy

    names = cuda.expressions(file, vertex_bytes, offset_bytes)
    names = names if kernel is None else {kernel: names[kernel]}
    code = cuda.source(file)
    return cupy.RawModule(code=code, options=cuda.OPTIONS + options, name_expressions=[*names.values()]), names


@cache
def kernel_of(file: str, name: str, vertex: Any, offset: Any) -> Any:
    """A kernel of ``file``, for these types of vertices and offsets, as CuPy's function."""
    compiled, names = module(file, np.dtype(vertex).itemsize, np.dtype(offset).itemsize)
    return function_of(compiled, names[name])


def function_of(compiled: Any, name: str) -> Any:
    """The function of this mangled name in a `module`, which CuPy compiles when it is asked for the first one."""
    return compiling(lambda: "once, kept in CuPy's cache", compiled.get_function, name)


def blocks_for(count: int) -> int:
    """The number of blocks that have a thread for each of ``count`` items, or as many as the current device holds."""
    from cupy.cuda import Device

    return min(-(-count // THREADS), _most_blocks(Device().id))


@cache
def _most_blocks(device: int) -> int:
    from cupy.cuda import runtime

    return BLOCKS * int(runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, device))


def launch(file: str, kernel: str, vertex: Any, offset: Any, count: int, *arguments: Any) -> None:
    """Start ``kernel`` of ``file``, with a thread for each of ``count`` items or as many as the device holds.

    It is the instance of the template for these types of vertices and offsets. Arguments are arrays, None for a null
    pointer, and whole numbers, which kernels take as ``long long``.
    """
    if count == 0:
        return
    function, blocks = kernel_of(file, kernel, vertex, offset), blocks_for(count)
    passed = [np.uintp(0) if each is None else np.int64(each) if isinstance(each, int) else each for each in arguments]
    function((blocks,), (THREADS,), tuple(passed))
