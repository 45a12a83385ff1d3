"""Checks of free memory before allocations, the peak of a device's memory, and new arrays there."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np

from ..errors import DeviceMemoryError, InputError
from .cgroups import content, groups
from .cuda.arrays import LESS_MEMORY, require_device
from .formatting import size
from .rapids import driver_allocates, has_pool, pool_bytes, rmm_allocates

# By version of Linux's control groups: the files with the limit and with what is used of it; the line of memory.stat
# that says how much of that are files' contents, which give way
GROUP_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", rb"^total_inactive_file (\d{1,18})$"),
    2: ("memory.max", "memory.current", rb"^inactive_file (\d{1,18})$"),
}
NUMBER = re.compile(rb"(\d{1,18})\n?")  # without a limit it is "max", or has more digits
MEMINFO = Path("/proc/meminfo")
ALIGNMENT = 256  # of arrays on a device
SHARED_BYTES = 1 << 26  # an allocation takes some microseconds, which larger searches do not notice
CLEARED_BYTES = 1 << 20  # of an array; a search clears smaller ones in no time
CACHED_SHARE = 8  # CuPy's pool keeps its free blocks up to 1/CACHED_SHARE of what its limit leaves
AHEAD_BYTES = 1 << 27  # of the arrays of one answer; larger ones would take too much memory while they are unused


_left: ContextVar[Callable[[], int] | None] = ContextVar("_left", default=None)


@contextmanager
def limited(left: Callable[[], int] | None) -> Iterator[None]:
    """A context in which `available_bytes` is at most ``left()``, unless that is None; in this thread alone."""
    token = _left.set(left)
    try:
        yield
    finally:
        _left.reset(token)


def available_bytes() -> int:
    """Bytes that this process can still allocate: the free memory of the machine, or of its container or any control
    group around it if that is less, or what `limited` leaves."""
    available = _free_bytes()
    if left := _left.get():
        available = min(available, left())
    for version, folder in groups("memory"):
        limit_file, used_file, files_line = GROUP_FILES[version]
        limit = NUMBER.fullmatch(content(f"{folder}/{limit_file}"))
        used = limit and NUMBER.fullmatch(content(f"{folder}/{used_file}"))
        if limit and used and (unused := int(limit[1]) - int(used[1])) < available:
            files = re.search(files_line, content(f"{folder}/memory.stat"), re.MULTILINE)
            available = min(available, max(unused + int(files[1] if files else 0), 0))
    return available


def _free_bytes() -> int:
    """The free memory of the machine. Linux is asked without psutil, whose import takes as long as a small search."""
    with suppress(OSError, ValueError, IndexError):  # another system, or an old kernel
        return 1024 * int(MEMINFO.read_bytes().partition(b"MemAvailable:")[2].split(None, 1)[0])
    import psutil

    return int(psutil.virtual_memory().available)


def available_device_bytes() -> int:
    """Bytes that CuPy can still allocate on its current device: at most what the limit of its pool leaves, or
    `pool_bytes` where RMM allocates."""
    import cupy

    free, total = cupy.cuda.Device().mem_info
    if has_pool():
        return pool_bytes(free, total)
    pool = cupy.get_default_memory_pool()
    limit = 0 if rmm_allocates() else pool.get_limit()
    left = limit - pool.used_bytes() if limit else total
    if (
        limit and pool.free_bytes() > left // CACHED_SHARE
    ):  # they count against the limit, and CuPy does not give them up there
        pool.free_all_blocks()
        free, _ = cupy.cuda.Device().mem_info
    return int(max(min(free + pool.free_bytes(), left), 0))


def new_arrays(length: int, *dtypes: Any) -> list[Any]:
    """CuPy arrays, not filled. Small ones share an allocation, which lives as long as any of them.

    Where RMM would ask the driver for memory, which takes longer than a small search, CuPy's pool is used.
    """
    import cupy

    allocate = cupy.get_default_memory_pool().malloc if driver_allocates() else cupy.cuda.alloc
    sizes = [-(-length * np.dtype(dtype).itemsize // ALIGNMENT) * ALIGNMENT for dtype in dtypes]
    if sum(sizes) > SHARED_BYTES:
        places = [allocate(size) for size in sizes]
    else:
        block = allocate(sum(sizes))
        places = [block + start for start in accumulate(sizes[:-1], initial=0)]
    return [cupy.ndarray(length, dtype, place) for dtype, place in zip(dtypes, places, strict=True)]


class NextArrays:
    """The arrays of one answer after another, as by `new_arrays`.

    Allocating them takes up to a third of a small search's time, so those of the next answer are allocated while the
    device is still busy with this one. Not for use by several threads at a time.
    """

    def __init__(self, length: int, *dtypes: Any, clears_last: bool = False) -> None:
        """``clears_last``: store -1 in the last array if it is large and allocated ahead; ``last_is_clear`` says so."""
        self.of = length, *dtypes
        nbytes = [length * np.dtype(dtype).itemsize for dtype in dtypes]
        self.few = sum(nbytes) <= AHEAD_BYTES
        self.clears_last = clears_last and nbytes[-1] >= CLEARED_BYTES
        self.last_is_clear = False  # of the arrays that `take` returned
        # The current stream and the thread at the allocation, and the arrays. The stream itself, as a new one may get
        # the handle of one that was destroyed.
        self.ready: tuple[Any, int, list[Any]] | None = None

    def take(self) -> list[Any]:
        """New arrays, which CuPy's current stream may write."""
        ready, self.ready = self.ready, None
        if ready is not None and ready[0] is _current_stream() and ready[1] == get_ident():
            self.last_is_clear = self.clears_last
            return ready[2]
        self.last_is_clear = False
        return new_arrays(*self.of)

    def allocate_ahead(self) -> None:
        """Allocate the next arrays; called while the device is busy. If memory is short, the next `take` raises.

        The last array is cleared by CuPy's current stream, to which the memory belongs, while the host goes on.
        """
        if self.few:
            with suppress(MemoryError):
                arrays = new_arrays(*self.of)
                if self.clears_last:
                    arrays[-1].data.memset_async(0xFF, arrays[-1].nbytes)
                self.ready = _current_stream(), get_ident(), arrays


def _current_stream() -> Any:
    """CuPy's current stream. A per-thread default stream is one object in all threads."""
    import cupy

    return cupy.cuda.get_current_stream()


class PeakDeviceBytes:
    """The peak of device memory allocated within ``with PeakDeviceBytes() as peak``, above the level at its beginning.

    ``peak.bytes``, known at the end, counts allocations from CuPy's pool, which all of ours are, and, where RMM is
    loaded, from RMM, which all of RAPIDS' are. Free blocks of a pool do not count.
    """

    bytes = 0

    def __enter__(self) -> PeakDeviceBytes:
        require_device()
        with ExitStack() as hooks:
            self._pool = hooks.enter_context(_pool_hook())
            self._rmm: Any = import_module("rmm.statistics") if "rmm" in sys.modules else None
            if self._rmm:  # an allocation may outlive this block: it keeps its memory resource alive
                hooks.enter_context(self._rmm.statistics())
            self._hooks = hooks.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        with self._hooks:
            self.bytes = self._pool.peak + (self._rmm.get_statistics().peak_bytes if self._rmm else 0)


def _pool_hook() -> Any:
    """A hook of CuPy's that follows the bytes of its pools in use from now on."""
    import cupy

    class Hook(cupy.cuda.MemoryHook):  # type: ignore[misc]  # CuPy has no types
        name = "PeakDeviceBytes"
        used = peak = 0

        def malloc_postprocess(self, **kwargs: Any) -> None:
            self.used += kwargs["mem_size"] if kwargs["mem_ptr"] else 0
            self.peak = max(self.peak, self.used)

        def free_postprocess(self, **kwargs: Any) -> None:
            self.used -= kwargs["mem_size"]

    return Hook()


def require_device_bytes(needed: int, what: str) -> None:
    """Raise `DeviceMemoryError` if ``needed`` bytes for ``what`` are more than the device has."""
    require_device()
    require_free(needed, what, available_device_bytes)


def require_free(needed: int, what: str, free: Callable[[], float], memory: str = "device memory") -> None:
    """Raise `DeviceMemoryError` if ``needed`` bytes for ``what`` are more than ``free()``."""
    if needed <= free():
        return
    gc.collect()  # arrays may be held by reference cycles, such as that of an error and its traceback
    if needed > (available := free()):
        left = size(int(available))
        raise DeviceMemoryError(f"{what} needs {size(needed)} of {memory}, and {left} are free: {LESS_MEMORY}")


def has_bytes(needed: int) -> bool:
    """Return True if ``needed`` bytes are available. Small amounts always are, which saves asking the system."""
    return needed < 1 << 24 or needed <= available_bytes()


def require_bytes(needed: int, what: str) -> None:
    """Raise `InputError` if ``needed`` bytes for ``what`` are more than there are."""
    available = available_bytes()
    if needed > available:
        raise InputError(f"{what} needs {size(needed)} of memory, and {size(available)} are free")
