"""Ranks that communicate by NCCL. Each has its own GPU, and is a thread of one process or a process of its own."""

from __future__ import annotations

import pickle
import struct
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import numpy as np

from .._core.cuda.arrays import finish
from .._core.forks import generation
from ..errors import InputError
from .communicators import TIMEOUT, AbortCallbacks, Aborted, Communicator, Meeting, no_answer

CHECKS = 20  # times that the watchdog checks within the timeout
NEVER = float("inf")
BEGINNING = 1.0  # seconds after which a collective that still begins waits for other ranks, which an abort ends
HEADER = struct.Struct("q")
SMALL_BYTES = 1024  # bytes of an object and its header that one collective gathers; larger ones take a second


def library() -> Any:
    """CuPy's NCCL. Raises `InputError` if it is not installed."""
    from cupy.cuda import nccl

    if not getattr(nccl, "available", True):
        raise InputError("several GPUs need NCCL, which is not installed: pip install nvidia-nccl-cu13 (or -cu12)")
    return nccl


def unique_id() -> tuple[int, ...]:
    """The identifier with which ranks in several processes `NcclCommunicator.connect`."""
    identifier: tuple[int, ...] = library().get_unique_id()
    return identifier


class Ranks:
    """NCCL's communicators of the ranks in this process, and a watchdog that aborts them when one waits too long.

    After a failure they cannot be used again.
    """

    def __init__(self, communicators: Mapping[int, Any], names: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.communicators = dict(communicators)
        self.names = tuple(names)
        self.timeout = timeout
        self.failure: str | None = None
        self.calls = dict.fromkeys(self.communicators, 0)
        self.deadlines = dict.fromkeys(self.communicators, NEVER)
        self.stops = AbortCallbacks()
        self._lock = threading.Lock()  # a condition's own ``with`` can be interrupted on the way in and out
        self._begun = threading.Condition(self._lock)
        self._beginning: set[int] = set()  # ranks
        threading.Thread(target=_watch, args=(weakref.ref(self), timeout / CHECKS), daemon=True).start()

    @classmethod
    def shared(cls, ordinals: Sequence[int], names: Sequence[str], timeout: float) -> Ranks:
        """The ranks that all graphs on these devices use: connecting takes longer than a search. After a failure they
        connect again."""
        key = generation(), tuple(ordinals), timeout
        ranks = _shared.get(key)
        if ranks is None or ranks.failure is not None:
            communicators = dict(enumerate(library().NcclCommunicator.initAll(list(ordinals))))
            ranks = _shared[key] = cls(communicators, names, timeout)
        return ranks

    @contextmanager
    def beginning(self, rank: int) -> Iterator[None]:
        """A context in which the rank begins a collective. Raises `Aborted` after a failure."""
        with self._lock:
            if self.failure is not None:
                raise Aborted(self.failure)
            self._beginning.add(rank)
            self.calls[rank] += 1
            self.deadlines[rank] = monotonic() + self.timeout
        try:
            yield
        finally:
            with self._lock:
                self._beginning.discard(rank)
                self._begun.notify_all()

    def fail(self, reason: str) -> None:
        """Abort all pending collectives. None begins meanwhile: an abort frees the communicator."""
        with self._lock:
            if self.failure is None:
                self.failure = reason
                self.stops()
                self._begun.wait_for(lambda: not self._beginning, BEGINNING)
                for communicator in self.communicators.values():
                    communicator.abort()

    def check(self) -> None:
        """Fail if a rank has been waiting for too long."""
        if monotonic() < min(self.deadlines.values()):
            return
        latest = max(self.calls.values())
        late = [rank for rank, calls in self.calls.items() if calls < latest]
        if not late and len(self.calls) < len(self.names):
            late = [rank for rank in range(len(self.names)) if rank not in self.calls]
        self.fail(no_answer([self.names[rank] for rank in late or self.calls], self.timeout))


_shared: weakref.WeakValueDictionary[tuple[int, tuple[int, ...], float], Ranks] = weakref.WeakValueDictionary()


def _watch(ranks: weakref.ref[Ranks], pause: float) -> None:
    while True:
        sleep(pause)
        alive = ranks()
        if alive is None or alive.failure is not None:
            return
        alive.check()
        del alive


class NcclCommunicator(Communicator):
    """One of the ranks. Collectives on arrays are asynchronous: `wait` waits for them.

    The timeout counts from the first of them until `wait`. With a ``meeting``, all ranks are threads of this process
    and exchange small objects there; otherwise these go through NCCL too.
    """

    def __init__(self, ranks: Ranks, rank: int, meeting: Meeting | None = None) -> None:
        self.ranks, self.rank, self.meeting = ranks, rank, meeting
        self.names, self.size = ranks.names, len(ranks.names)
        self.timeout, self.stops = ranks.timeout, ranks.stops
        self._communicator = ranks.communicators[rank]
        self._nccl = library()

    @classmethod
    def group(cls, ranks: Ranks) -> list[NcclCommunicator]:
        """The communicator of each rank, all in this process."""
        meeting = Meeting(ranks.names, ranks.timeout)
        meeting.stops = ranks.stops
        return [cls(ranks, rank, meeting) for rank in ranks.communicators]

    @classmethod
    def connect(cls, identifier: tuple[int, ...], rank: int, names: Sequence[str], timeout: float) -> NcclCommunicator:
        """The only rank of this process, on CuPy's current device. All ranks call this at the same time."""
        return cls(Ranks({rank: library().NcclCommunicator(len(names), identifier, rank)}, names, timeout), rank)

    def _call(self, begin: Callable[[Any, int], None]) -> None:
        """Begin a collective on the communicator and the current stream."""
        from cupy.cuda import get_current_stream

        try:
            with self.ranks.beginning(self.rank):
                begin(self._communicator, get_current_stream().ptr)
        except self._nccl.NcclError as error:
            raise self._stopped(error) from error

    def _stopped(self, error: Exception) -> Aborted:
        """The failure that stopped this rank: the first of another rank, otherwise its own."""
        self.ranks.fail(f"{self.ranks.names[self.rank]} failed: {error}")
        return Aborted(self.ranks.failure)

    def wait(self, finished: Callable[[], None] = finish) -> None:
        try:
            finished()
        except Exception as error:
            raise self._stopped(error) from error
        finally:
            self.ranks.deadlines[self.rank] = NEVER
        if self.ranks.failure is not None:
            raise Aborted(self.ranks.failure)

    def ready(self) -> None:
        if self.meeting is not None:  # an allocation may block on another thread's collective, which waits for us
            self.meeting.meet(self.rank, None)

    def allgather_object(self, value: Any) -> list[Any]:
        if self.meeting is not None:
            return self.meeting.meet(self.rank, value)
        packed = pickle.dumps(value)
        rows = self._rows(packed, SMALL_BYTES)
        longest = HEADER.size + max(HEADER.unpack_from(row)[0] for row in rows)
        if longest > SMALL_BYTES:
            rows = self._rows(packed, longest)
        return [pickle.loads(row[HEADER.size :]) for row in rows]  # pickle ignores the padding

    def _rows(self, packed: bytes, width: int) -> list[bytes]:
        """The first ``width`` bytes of each rank's message: a header with the length of ``packed``, then ``packed``."""
        import cupy

        row = (HEADER.pack(len(packed)) + packed).ljust(width, b"\0")[:width]
        everything = cupy.empty((self.size, width), np.uint8)
        everything[self.rank] = cupy.asarray(np.frombuffer(row, np.uint8))
        self.allgather(everything)
        self.wait()
        return [each.tobytes() for each in everything.get()]

    def allgather(self, whole: Any) -> None:
        nbytes = whole.nbytes // self.size
        start = whole.data.ptr

        def begin(communicator: Any, stream: int) -> None:
            communicator.allGather(start + nbytes * self.rank, start, nbytes, self._nccl.NCCL_INT8, stream)

        if nbytes:
            self._call(begin)

    def alltoallv(self, pieces: Sequence[Any], into: Sequence[Any]) -> None:
        byte = self._nccl.NCCL_INT8

        def begin(communicator: Any, stream: int) -> None:
            self._nccl.groupStart()
            try:
                for peer, (mine, theirs) in enumerate(zip(pieces, into, strict=True)):
                    if mine.nbytes:
                        communicator.send(mine.data.ptr, mine.nbytes, byte, peer, stream)
                    if theirs.nbytes:
                        communicator.recv(theirs.data.ptr, theirs.nbytes, byte, peer, stream)
            finally:
                self._nccl.groupEnd()

        self._call(begin)

    def abort(self, reason: str) -> None:
        if self.meeting is not None:
            self.meeting.fail(reason)
        self.ranks.fail(reason)
