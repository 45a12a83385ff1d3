"""Kernels launched by the CUDA driver itself: their arguments are laid out once, and a launch is one call.

The libraries that compile kernels take 6 (CuPy) to 60 microseconds (Numba) for a launch with a dozen arguments.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..driver import library
from ..errors import TraversalError

MAX_DYNAMIC_SHARED_SIZE_BYTES = 8  # a CUfunction_attribute


def call(name: str, *arguments: Any) -> None:
    """Call a function of the driver. Raises `TraversalError` with the driver's own words."""
    check(name, getattr(library(), name)(*arguments))


def check(name: str, status: int) -> None:
    if status:
        words = ctypes.c_char_p()
        library().cuGetErrorString(status, ctypes.byref(words))
        raise TraversalError(f"{name}: {(words.value or b'unknown error').decode()} ({status})")


def current_context() -> ctypes.c_void_p:
    """The driver's context of this thread."""
    context = ctypes.c_void_p()
    call("cuCtxGetCurrent", ctypes.byref(context))
    return context


def address(array: Any) -> int:
    """Of an array on the device."""
    return int(array.__cuda_array_interface__["data"][0])


def fill(array: Any, byte: int, stream: int) -> None:
    """Set every byte of an array on the device."""
    if array.nbytes:
        size = ctypes.c_size_t(array.nbytes)
        call("cuMemsetD8Async", ctypes.c_uint64(address(array)), byte, size, ctypes.c_void_p(stream))


def copy_to_device(values: np.ndarray, array: Any, stream: int) -> None:
    """Copy to the beginning of an array on the device."""
    if values.nbytes:
        source, size = ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes)
        call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address(array)), source, size, ctypes.c_void_p(stream))


class CompiledKernel:
    """A kernel of the current context, by the driver's handle of it."""

    def __init__(self, function: int | None, keeps: Any, *, fields: bool = False) -> None:
        """``keeps`` is what the handle is good for as long as it lives.

        ``fields``: the kernel takes the fields of a structure as its arguments, not the structure.
        """
        self.function = ctypes.c_void_p(function)
        self.keeps = keeps
        self.fields = fields

    def resident_blocks(self, threads: int, shared: int) -> int:
        """How many blocks with so many bytes of shared memory a multiprocessor runs at the same time."""
        call("cuFuncSetAttribute", self.function, MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        count = ctypes.c_int()
        call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            *(ctypes.byref(count), self.function, threads, ctypes.c_size_t(shared)),
        )
        return count.value

    def launcher(
        self, grid: int, threads: int, shared: int, stream: int, *arguments: Any, cooperative: bool = False
    ) -> Callable[[], None]:
        """What launches the kernel with the values that ``arguments`` (of types of `ctypes`) have at that time."""
        addresses = [address for argument in arguments for address in self._addresses(argument)]
        name = "cuLaunchCooperativeKernel" if cooperative else "cuLaunchKernel"
        function = getattr(library(), name)
        everything = [
            self.function,
            *(ctypes.c_uint(size) for size in (grid, 1, 1, threads, 1, 1, shared)),
            ctypes.c_void_p(stream),
            (ctypes.c_void_p * len(addresses))(*addresses),
        ]
        if not cooperative:
            everything.append(ctypes.c_void_p())

        def launch(kept: Any = arguments) -> None:
            if status := function(*everything):
                check(name, status)

        return launch

    def _addresses(self, argument: Any) -> Iterator[int]:
        base = ctypes.addressof(argument)
        if self.fields and isinstance(argument, ctypes.Structure):
            for field in argument._fields_:
                yield base + getattr(type(argument), field[0]).offset
        else:
            yield base
