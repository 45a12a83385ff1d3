"""The few functions of NCCL that ranks need, called by ctypes in the library that CuPy loads.

CuPy itself joins ranks by ``ncclCommInitRank``, which waits for all of them without a limit, and cannot be stopped.
Here communicators are non-blocking: functions return at once, `Handle.in_progress` says whether what they began is
done, and an abort ends it at any moment.

Source: NVIDIA, NCCL user guide, Creating a communicator with options; Using multiple NCCL communicators concurrently.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

from .._core.cuda.driver import cuda_major
from .._core.forks import generation
from ..errors import InputError
from .peer_memory import freeing

SONAME = "libnccl.so.2"
SUCCESS, IN_PROGRESS = 0, 7  # ncclSuccess, ncclInProgress
BYTES = 0  # ncclInt8
MAGIC = 0xCAFEBEEF  # of a configuration
VERSION = 21400  # of the configuration below, which later versions of NCCL accept: 2.14
FUNCTIONS = (
    "ncclGetUniqueId",
    "ncclCommInitRankConfig",
    "ncclCommGetAsyncError",
    "ncclCommAbort",
    "ncclGroupStart",
    "ncclGroupEnd",
    "ncclAllGather",
    "ncclSend",
    "ncclRecv",
)


class NcclError(RuntimeError):
    """A call of NCCL failed."""


class UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_byte * 128),)


class Config(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("magic", ctypes.c_uint),
        ("version", ctypes.c_uint),
        ("blocking", ctypes.c_int),
    )


def missing() -> str | None:
    """None, or one line: why NCCL cannot be called here, and what to do."""
    with suppress(ImportError):  # its library
        from cupy.cuda import nccl

        if getattr(nccl, "available", True):
            return None
    if sys.platform == "win32":
        return "NCCL is not available on Windows: use GPUs with peer access, or Linux (WSL, too)"
    return f"NCCL is not installed: pip install nvidia-nccl-cu{cuda_major()}"


def library() -> Library:
    """The library that CuPy has loaded. Raises `InputError` if there is none."""
    if reason := missing():
        raise InputError(f"this needs NCCL. {reason}")
    return _loaded()


@cache
def _loaded() -> Library:
    try:
        return Library(ctypes.CDLL(SONAME))  # the one that is loaded already, by its name
    except (AttributeError, OSError) as error:
        raise InputError(
            f"NCCL 2.14 or later is needed ({error}): pip install -U nvidia-nccl-cu{cuda_major()}"
        ) from None


class Library:
    """NCCL's functions in ``loaded``. Errors are raised as `NcclError`; functions do not wait for other ranks."""

    def __init__(self, loaded: Any) -> None:
        self.functions = {name: getattr(loaded, name) for name in FUNCTIONS}
        self.functions["ncclCommInitRankConfig"].argtypes = (
            *(ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int, ctypes.POINTER(Config)),
        )
        self.text = loaded.ncclGetErrorString
        self.text.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function, which may go on after it has returned."""
        status = self.functions[name](*arguments)
        if status not in (SUCCESS, IN_PROGRESS):
            raise self.error(status)

    def error(self, status: int) -> NcclError:
        return NcclError(f"NCCL: {self.text(status).decode()}")

    def unique_id(self) -> bytes:
        identifier = UniqueId()
        self.call("ncclGetUniqueId", ctypes.byref(identifier))
        return bytes(identifier)

    @contextmanager
    def group(self) -> Iterator[None]:
        """A context whose calls of this thread begin together, at its end."""
        self.call("ncclGroupStart")
        try:
            yield
        finally:
            self.call("ncclGroupEnd")

    def join(self, size: int, identifier: bytes, rank: int) -> Handle:
        """Begin to join ``size`` ranks as this one, on CuPy's current device."""
        comm = ctypes.c_void_p()
        config = Config(ctypes.sizeof(Config), MAGIC, VERSION, 0)
        given = size, UniqueId.from_buffer_copy(identifier), rank
        self.call("ncclCommInitRankConfig", ctypes.byref(comm), *given, ctypes.byref(config))
        return Handle(self, comm)

    def join_all(self, ordinals: Sequence[int]) -> list[Handle]:
        """Begin to join the ranks of this process, one on each of these devices."""
        from cupy.cuda import Device

        identifier, handles = self.unique_id(), []
        with self.group():
            for rank, ordinal in enumerate(ordinals):
                with Device(ordinal):
                    handles.append(self.join(len(ordinals), identifier, rank))
        return handles


class Handle:
    """The communicator of one rank. No other call may run while it is aborted, which frees it. Without references it is
    aborted too, while no SPMD call runs: that waits for all kernels on the device, and these may wait for another rank.
    """

    def __init__(self, library: Library, comm: ctypes.c_void_p) -> None:
        self.library, self.comm = library, comm
        self._abort = partial(_abort, library, comm, generation())
        self._later = weakref.finalize(self, freeing().put, self._abort)
        self._later.atexit = False

    def abort(self) -> None:
        """Abort it now, the first time."""
        if self._later.detach():
            self._abort()

    def in_progress(self) -> bool:
        """Is the last call still being issued? Raises `NcclError` if it failed."""
        state = ctypes.c_int()
        self.library.call("ncclCommGetAsyncError", self.comm, ctypes.byref(state))
        if state.value not in (SUCCESS, IN_PROGRESS):
            raise self.library.error(state.value)
        return state.value == IN_PROGRESS

    def allgather(self, source: int, target: int, nbytes: int, stream: int) -> None:
        """``nbytes`` of each rank, from an address to an address."""
        ends = ctypes.c_void_p(source), ctypes.c_void_p(target)
        self.library.call("ncclAllGather", *ends, ctypes.c_size_t(nbytes), BYTES, self.comm, ctypes.c_void_p(stream))

    def send(self, address: int, nbytes: int, peer: int, stream: int) -> None:
        self._exchange("ncclSend", address, nbytes, peer, stream)

    def receive(self, address: int, nbytes: int, peer: int, stream: int) -> None:
        self._exchange("ncclRecv", address, nbytes, peer, stream)

    def _exchange(self, name: str, address: int, nbytes: int, peer: int, stream: int) -> None:
        given = ctypes.c_void_p(address), ctypes.c_size_t(nbytes), BYTES, peer, self.comm, ctypes.c_void_p(stream)
        self.library.call(name, *given)


def _abort(library: Library, comm: ctypes.c_void_p, process: int) -> bool:
    """Whether it is done, as `freeing` asks."""
    if process == generation():  # a fork copies no communicators
        library.functions["ncclCommAbort"](comm)
    return True
