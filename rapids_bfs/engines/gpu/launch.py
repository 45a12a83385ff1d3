"""Kernels launched by calls of the CUDA driver, with arguments that are laid out once.

The libraries that compile kernels take 6 (CuPy) to 60 microseconds (Numba) for a launch with a dozen arguments.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NoReturn

from ..._core.cuda.arrays import clear_errors, is_cupy_array
from ..._core.cuda.driver import library
from ...errors import DeviceError

MAX_DYNAMIC_SHARED_SIZE_BYTES, NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 8, 14  # of CUfunction_attribute
COOPERATIVE, CLUSTER_DIMENSION = 2, 4  # of CUlaunchAttributeID


def call(name: str, *arguments: Any) -> None:
    """Call a function of the driver. Raises `DeviceError` with the driver's message."""
    if status := getattr(library(), name)(*arguments):
        fail(name, status)


def fail(name: str, status: int) -> NoReturn:
    words = ctypes.c_char_p()
    library().cuGetErrorString(status, ctypes.byref(words))
    raise DeviceError(f"{name}: {(words.value or b'unknown error').decode()} ({status})")


def current_context() -> int | None:
    """The driver's context of this thread."""
    context = ctypes.c_void_p()  # of this call alone: a signal handler may ask between the driver's answer and its use
    if status := library().cuCtxGetCurrent(ctypes.byref(context)):
        fail("cuCtxGetCurrent", status)
    return context.value


@cache
def primary_context(device: int) -> int | None:
    """The primary context of a device, which CUDA's runtime and all libraries here use; never released."""
    handle, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(handle), device)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    return context.value


class Within:
    """`clear_errors`, and a context of the driver is current in this thread."""

    __slots__ = ("before", "context")

    def __init__(self, context: int | None) -> None:
        self.context = context

    def __enter__(self) -> None:
        self.before = current_context()
        if self.before != self.context:
            call("cuCtxSetCurrent", ctypes.c_void_p(self.context))

    def __exit__(self, *raised: Any) -> None:
        if self.before != self.context:
            call("cuCtxSetCurrent", ctypes.c_void_p(self.before))
        clear_errors.__exit__(*raised)


class InTurn:
    """A context manager whose value is a function that makes a context of the driver current in this thread.

    The thread's own context is current again at the end, not between one and the next.
    """

    __slots__ = ("before", "now")

    def __enter__(self) -> Callable[[int | None], None]:
        self.before = self.now = current_context()
        return self._switch

    def _switch(self, context: int | None) -> None:
        if context != self.now:
            self.now = context
            call("cuCtxSetCurrent", ctypes.c_void_p(context))

    def __exit__(self, *raised: object) -> None:
        call("cuCtxSetCurrent", ctypes.c_void_p(self.before))


def address(array: Any) -> int:
    """The address of an array on the device."""
    return int(array.data.ptr if is_cupy_array(array) else array.__cuda_array_interface__["data"][0])


def addresses(arrays: dict[str, Any]) -> dict[str, int]:
    """The address of each array on the device, by its name."""
    return {name: address(array) for name, array in arrays.items()}


def fill(array: Any, byte: int, stream: int) -> None:
    """Set every byte of an array on the device."""
    if array.nbytes:
        size = ctypes.c_size_t(array.nbytes)
        call("cuMemsetD8Async", ctypes.c_uint64(address(array)), byte, size, ctypes.c_void_p(stream))


def copy(target: int, source: int, size: int, stream: int) -> None:
    """Copy ``size`` bytes from one address on the device to another."""
    if size:
        addresses = ctypes.c_uint64(target), ctypes.c_uint64(source)
        call("cuMemcpyDtoDAsync_v2", *addresses, ctypes.c_size_t(size), ctypes.c_void_p(stream))


class Attribute(ctypes.Structure):
    """The driver's CUlaunchAttribute, of which the values here are integers."""

    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class Configuration(ctypes.Structure):
    """The driver's CUlaunchConfig."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("number", ctypes.c_uint),
    ]


def configuration(grid: int, threads: int, shared: int, stream: int, cluster: int, cooperative: bool) -> Configuration:
    """The configuration of a launch of ``grid`` blocks, in clusters of ``cluster`` unless that is 1."""
    attributes = []
    if cluster > 1:
        attributes.append(Attribute(CLUSTER_DIMENSION, 0, (cluster, 1, 1)))
    if cooperative:
        attributes.append(Attribute(COOPERATIVE, 0, (1,)))
    array = (Attribute * len(attributes))(*attributes)
    return Configuration((grid, 1, 1), (threads, 1, 1), shared, stream, array, len(attributes))


class CompiledKernel:
    """A kernel of the current context, by the driver's handle of it."""

    def __init__(self, function: int | None, keeps: Any, *, fields: bool = False) -> None:
        """``keeps`` owns the handle: the handle is valid while ``keeps`` lives.

        ``fields``: the kernel takes the fields of a structure as its arguments, not the structure.
        """
        self.function = ctypes.c_void_p(function)
        self.keeps = keeps
        self.fields = fields

    def resident_blocks(self, threads: int, shared: int) -> int:
        """The number of blocks with ``shared`` bytes of shared memory that a multiprocessor runs at the same time."""
        call("cuFuncSetAttribute", self.function, MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        count = ctypes.c_int()
        call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            *(ctypes.byref(count), self.function, threads, ctypes.c_size_t(shared)),
        )
        return count.value

    def resident_clusters(self, cluster: int, threads: int, shared: int, stream: int) -> int:
        """The number of clusters of ``cluster`` blocks that the device runs at the same time; 0 if it has no
        clusters."""
        cuda = library()
        if cuda.cuFuncSetAttribute(self.function, NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1):
            return 0
        count = ctypes.c_int()
        how = configuration(cluster, threads, shared, stream, cluster, cooperative=False)
        failed = cuda.cuOccupancyMaxActiveClusters(ctypes.byref(count), self.function, ctypes.byref(how))
        return 0 if failed else count.value

    def launcher(
        self,
        grid: int,
        threads: int,
        shared: int,
        stream: int,
        *arguments: Any,
        cooperative: bool = False,
        cluster: int = 1,
    ) -> Callable[[], None]:
        """A function that launches the kernel. Each launch reads ``arguments``, values of `ctypes` types, anew."""
        addresses = [address for argument in arguments for address in self._addresses(argument)]
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        how = configuration(grid, threads, shared, stream, cluster, cooperative)
        everything = ctypes.byref(how), self.function, pointers, ctypes.c_void_p()
        function = library().cuLaunchKernelEx  # fewer arguments, each of which takes time, than `cuLaunchKernel` has

        # A default argument keeps the memory that the pointers refer to as long as this function lives.
        def launch(kept: Any = arguments) -> None:
            if status := function(*everything):
                fail("cuLaunchKernelEx", status)

        return launch

    def _addresses(self, argument: Any) -> Iterator[int]:
        base = ctypes.addressof(argument)
        if self.fields and isinstance(argument, ctypes.Structure):
            for field in argument._fields_:
                yield base + getattr(type(argument), field[0]).offset
        else:
            yield base
