"""Ranks that communicate by NCCL. Each has its own GPU, and is a thread of one process or a process of its own."""

from __future__ import annotations

import atexit
import pickle
import platform
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
from ..kernels.threads import start_thread
from .communicators import TIMEOUT, AbortCallbacks, Aborted, Communicator, Rendezvous, no_answer
from .nccl_library import Handle, NcclError, library
from .nccl_library import missing as missing
from .peer_memory import PARTING

CHECKS = 20  # times that the watchdog checks within the timeout
NEVER = float("inf")
BEGINNING = 1.0  # seconds that an abort waits for collectives to begin; one that takes longer waits for other ranks
PAUSE = 2e-5  # seconds between two looks whether a collective has begun, at first; it doubles up to LONGEST_PAUSE
LONGEST_PAUSE = 1e-3
HEADER = struct.Struct("q")
SMALL_BYTES = 1024  # bytes of an object and its header that one collective gathers; larger ones take a second


def unique_id() -> bytes:
    """The identifier with which ranks in several processes `NcclCommunicator.connect`."""
    return library().unique_id()


def not_joined(names: Sequence[str], timeout: float) -> str:
    """The message when these ranks, which are on this host, waited ``timeout`` seconds for the others to join."""
    return (
        f"{', '.join(names)} on host {platform.node()} could not join the other ranks by NCCL within {timeout:g} s: "
        "set NCCL_SOCKET_IFNAME to the network interface that connects the hosts, or see what NCCL_DEBUG=INFO prints"
    )


class Ranks:
    """NCCL's communicators of the ranks in this process, and a watchdog that aborts them when one waits too long.

    They may still be joining those of other processes: the first collective of each waits until it has joined. After a
    failure they cannot be used again.
    """

    def __init__(self, handles: Mapping[int, Handle], names: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.handles = dict(handles)
        self.joining = set(self.handles)
        self.names = tuple(names)
        self.timeout = timeout
        self.failure: str | None = None
        self.calls = dict.fromkeys(self.handles, 0)
        self.deadlines = dict.fromkeys(self.handles, NEVER)
        self.stops = AbortCallbacks()
        self._lock = threading.Lock()  # a condition's own ``with`` can be interrupted on the way in and out
        self._begun = threading.Condition(self._lock)
        self._beginning: set[int] = set()  # ranks
        _alive.add(self)
        start_thread(_watch, weakref.ref(self), timeout / CHECKS)

    @classmethod
    def shared(cls, ordinals: Sequence[int], names: Sequence[str], timeout: float) -> Ranks:
        """The ranks that all graphs on these devices use: connecting takes longer than a search. After a failure they
        connect again."""
        key = generation(), tuple(ordinals), timeout
        ranks = _shared.get(key)
        if ranks is None or ranks.failure is not None:
            ranks = _shared[key] = cls(dict(enumerate(library().join_all(ordinals))), names, timeout)
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

    def complete(self, rank: int) -> None:
        """Wait until NCCL has begun what this rank called. Only within `beginning`.

        Raises `Aborted` after a failure, among them the watchdog's if NCCL takes too long, and `NcclError`.
        """
        pause = PAUSE
        while self.failure is None:  # read first: while a rank begins, nobody frees its handle
            if not self.handles[rank].in_progress():
                self.joining.discard(rank)
                return
            sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        raise Aborted(self.failure)

    def fail(self, reason: str) -> None:
        """Abort all pending collectives. None begins meanwhile: an abort frees the communicator."""
        with self._lock:
            if self.failure is None:
                self.failure = reason
                self.stops()
                self._begun.wait_for(lambda: not self._beginning, BEGINNING)
                for handle in self.handles.values():
                    handle.abort()

    def check(self) -> None:
        """Fail if a rank has been waiting for too long."""
        if monotonic() < min(self.deadlines.values()):
            return
        if joining := [rank for rank in sorted(self.joining) if self.deadlines[rank] < NEVER]:
            self.fail(not_joined([self.names[rank] for rank in joining], self.timeout))
            return
        latest = max(self.calls.values())
        late = [rank for rank, calls in self.calls.items() if calls < latest]
        if not late and len(self.calls) < len(self.names):
            late = [rank for rank in range(len(self.names)) if rank not in self.calls]
        self.fail(no_answer([self.names[rank] for rank in late or self.calls], self.timeout))


_shared: weakref.WeakValueDictionary[tuple[int, tuple[int, ...], float], Ranks] = weakref.WeakValueDictionary()
_alive: weakref.WeakSet[Ranks] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """Wait for running aborts, and let no other begin: NCCL is unloaded next, and a thread inside it would crash."""
    end = monotonic() + PARTING
    for ranks in tuple(_alive):
        if ranks._lock.acquire(timeout=max(end - monotonic(), 0)):
            ranks.failure = ranks.failure or "the process is ending"
            ranks._lock.release()


def _watch(ranks: weakref.ref[Ranks], pause: float) -> None:
    while True:
        sleep(pause)
        alive = ranks()
        if alive is None or alive.failure is not None:
            return
        alive.check()
        del alive


class NcclCommunicator(Communicator):
    """One of the ranks, or a rank that still joins. Collectives on arrays are asynchronous: `wait` waits for them.

    The timeout counts from the first of them until `wait`. With a ``rendezvous``, all ranks are threads of this process
    and exchange small objects there; otherwise these go through NCCL too.
    """

    transport = "NCCL"

    def __init__(self, ranks: Ranks, rank: int, rendezvous: Rendezvous | None = None) -> None:
        self.ranks, self.rank, self.rendezvous = ranks, rank, rendezvous
        self.names, self.size = ranks.names, len(ranks.names)
        self.timeout, self.stops = ranks.timeout, ranks.stops

    @classmethod
    def group(cls, ranks: Ranks) -> list[NcclCommunicator]:
        """The communicator of each rank, all in this process."""
        rendezvous = Rendezvous(ranks.names, ranks.timeout)
        rendezvous.stops = ranks.stops
        return [cls(ranks, rank, rendezvous) for rank in ranks.handles]

    @classmethod
    def connect(cls, identifier: bytes, rank: int, names: Sequence[str], timeout: float) -> NcclCommunicator:
        """The only rank of this process, on CuPy's current device. All ranks call this at the same time, and then a
        collective, which waits until all have joined, at most ``timeout`` seconds."""
        return cls(Ranks({rank: library().join(len(names), identifier, rank)}, names, timeout), rank)

    def _call(self, begin: Callable[[Handle, int], None]) -> None:
        """Begin a collective on the current stream."""
        from cupy.cuda import get_current_stream

        try:
            with self.ranks.beginning(self.rank):
                self.ranks.complete(self.rank)
                begin(self.ranks.handles[self.rank], get_current_stream().ptr)
                self.ranks.complete(self.rank)
        except NcclError as error:
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
        if self.rendezvous is not None:  # an allocation may block on another thread's collective, which waits for us
            self.rendezvous.exchange(self.rank, None)

    def allgather_object(self, value: Any) -> list[Any]:
        if self.rendezvous is not None:
            return self.rendezvous.exchange(self.rank, value)
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

        def begin(handle: Handle, stream: int) -> None:
            handle.allgather(start + nbytes * self.rank, start, nbytes, stream)

        if nbytes:
            self._call(begin)

    def alltoallv(self, pieces: Sequence[Any], into: Sequence[Any]) -> None:
        def begin(handle: Handle, stream: int) -> None:
            with handle.library.group():
                for peer, (mine, theirs) in enumerate(zip(pieces, into, strict=True)):
                    if mine.nbytes:
                        handle.send(mine.data.ptr, mine.nbytes, peer, stream)
                    if theirs.nbytes:
                        handle.receive(theirs.data.ptr, theirs.nbytes, peer, stream)

        self._call(begin)

    def abort(self, reason: str) -> None:
        if self.rendezvous is not None:
            self.rendezvous.fail(reason)
        self.ranks.fail(reason)
