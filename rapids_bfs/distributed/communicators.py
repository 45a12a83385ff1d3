"""The collectives by which the ranks of an SPMD function communicate, each with a timeout."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

import numpy as np

from .._core.cuda.arrays import finish, on_device
from ..errors import TraversalError

TIMEOUT = 45.0  # seconds that a rank waits for the others


class Aborted(TraversalError):
    """A collective failed because another rank failed or does not answer."""


class NotStarted(Aborted):
    """The kernel of a rank did not start in time. No rank has done anything, so the search can begin again."""


class AbortCallbacks:
    """Functions to call when the ranks are aborted, from the thread that learns of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Callable[[], None]] = []
        self._stopped = False

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Iterator[None]:
        """A context in which an abort calls ``stop``; at once if the ranks have been aborted before."""
        with self._lock:
            self._calls.append(stop)
            if self._stopped:
                stop()
        try:
            yield
        finally:
            with self._lock:
                self._calls.remove(stop)

    def __call__(self) -> None:
        with self._lock:
            self._stopped = True
            for stop in self._calls:
                stop()


class Communicator(ABC):
    """The ranks 0..size-1, as seen by one of them, `rank`.

    All ranks call the same collectives in the same order. Each call waits for the others, at most ``timeout`` seconds,
    and raises `Aborted` if one of them has failed, was stopped, or does not answer; later collectives then fail too.
    Arrays are NumPy's or CuPy's. Those on a device are read and written in its current stream; they are complete after
    `wait`.
    """

    rank: int
    size: int
    names: Sequence[str]  # of all ranks, for messages
    timeout: float = TIMEOUT
    one_process = False  # are all ranks in one process, which has one memory on the host?
    stops: AbortCallbacks  # called when the ranks of this process are stopped
    transport: str = "copies"  # by which arrays on devices are exchanged

    @abstractmethod
    def allgather_object(self, value: Any) -> list[Any]:
        """The ``value`` of every rank, a small object that can be pickled, by rank."""

    @abstractmethod
    def allgather(self, whole: Any) -> None:
        """Gather ``whole`` in place: rank r has written the r-th of ``size`` equal slices, and gets the others."""

    @abstractmethod
    def alltoallv(self, pieces: Sequence[Any], into: Sequence[Any]) -> None:
        """Send ``pieces[r]`` to each rank r, and receive from it into ``into[r]``, of the same shape and type."""

    @abstractmethod
    def abort(self, reason: str) -> None:
        """Make all ranks raise `Aborted` with this reason, those that are waiting at once."""

    def allgather_slices(self, whole: Any, finished: Callable[[], None] = finish) -> Any:
        """`allgather`, and `wait` until ``whole`` is complete. Returns it."""
        self.ready()
        self.allgather(whole)
        if on_device(whole):
            self.wait(finished)
        return whole

    def alltoallv_new(self, pieces: Sequence[Any]) -> list[Any]:
        """`alltoallv` of arrays of any shape and one type, into new arrays. Returns them by rank."""
        shapes = self.allgather_object([piece.shape for piece in pieces])
        return self.alltoallv_into(pieces, [_like(pieces[0], theirs[self.rank]) for theirs in shapes])

    def alltoallv_into(self, pieces: Sequence[Any], into: list[Any]) -> list[Any]:
        """`alltoallv`, and wait until ``into`` is complete. Returns it."""
        self.ready()
        self.alltoallv(pieces, into)
        if on_device(into[0]):
            self.wait()
        return into

    def bytes_sent(self) -> int | None:
        """Bytes that this rank has sent to others so far, with what frames them; None if they are not counted."""
        return None

    def barrier(self) -> None:
        """Wait for all ranks."""
        self.allgather_object(None)

    def wait(self, finished: Callable[[], None] = finish) -> None:
        """Call ``finished``, which waits for the device. Raises `Aborted` after the timeout."""
        finished()

    def ready(self) -> None:  # noqa: B027 - only some kinds of communicator need it
        """Synchronize the ranks between allocations and a collective on arrays."""


def _like(array: Any, shape: tuple[int, ...]) -> Any:
    if not on_device(array):
        return np.empty(shape, array.dtype)
    import cupy

    return cupy.empty(shape, array.dtype)


def _copy(into: Any, array: Any) -> None:
    """Copy an array, which may be on another device: both are contiguous, and have the same shape and type."""
    if on_device(into) and into.device != array.device:
        into.data.copy_from_device(array.data, array.nbytes)
    else:
        into[...] = array


def no_answer(names: Sequence[str], timeout: float) -> str:
    """The message when these ranks did not answer within ``timeout`` seconds."""
    return f"no answer for {timeout:g} s from {', '.join(names)}: all were stopped; see what keeps its device busy"


class Rendezvous:
    """A barrier for threads of one process, at which they exchange objects by reference."""

    def __init__(self, names: Sequence[str], timeout: float) -> None:
        self.names = tuple(names)
        self.timeout = timeout
        self.failure: str | None = None
        self._rounds = [0] * len(self.names)
        self._values: tuple[list[Any], list[Any]] = ([None] * len(self.names), [None] * len(self.names))
        self._lock = threading.Lock()  # a condition's own ``with`` can be interrupted on the way in and out
        self._changed = threading.Condition(self._lock)
        self.stops = AbortCallbacks()

    def exchange(self, rank: int, value: Any) -> list[Any]:
        """The values of all ranks in this round."""
        deadline = monotonic() + self.timeout
        with self._lock:
            self._rounds[rank] += 1
            now = self._rounds[rank]
            values = self._values[now % 2]  # no rank is two rounds ahead of one that still reads
            values[rank] = value
            self._changed.notify_all()
            while self.failure is None and min(self._rounds) < now:
                in_time = self._changed.wait(deadline - monotonic())
                late = [name for name, round in zip(self.names, self._rounds, strict=True) if round < now]
                if late and not in_time:
                    self._fail(no_answer(late, self.timeout))
            if self.failure is not None:
                raise Aborted(self.failure)
            return values.copy()

    def fail(self, reason: str) -> None:
        with self._lock:
            self._fail(reason)

    def _fail(self, reason: str) -> None:
        if self.failure is None:
            self.failure = reason
        self._changed.notify_all()
        self.stops()


class ThreadCommunicator(Communicator):
    """Communicates between ranks that are threads of one process, with arrays on the host or on devices."""

    one_process = True

    def __init__(self, rendezvous: Rendezvous, rank: int) -> None:
        self.rendezvous = rendezvous
        self.rank = rank
        self.names, self.size = rendezvous.names, len(rendezvous.names)
        self.timeout, self.stops = rendezvous.timeout, rendezvous.stops
        self._sent = 0  # bytes of arrays, which nothing frames

    @classmethod
    def group(cls, names: Sequence[str], timeout: float = TIMEOUT) -> list[ThreadCommunicator]:
        """The communicator of each rank; messages use these ``names``."""
        rendezvous = Rendezvous(names, timeout)
        return [cls(rendezvous, rank) for rank in range(len(names))]

    def allgather_object(self, value: Any) -> list[Any]:
        return self.rendezvous.exchange(self.rank, value)

    def bytes_sent(self) -> int:
        return self._sent

    def ready(self) -> None:
        self.rendezvous.exchange(self.rank, None)  # on one device an allocation may wait for another rank's kernel

    def wait(self, finished: Callable[[], None] = finish) -> None:
        finished()
        if self.rendezvous.failure is not None:
            raise Aborted(self.rendezvous.failure)

    def allgather(self, whole: Any) -> None:
        slices = whole.reshape(self.size, -1)
        self._sent += (self.size - 1) * slices[self.rank].nbytes
        theirs = self._lent(slices[self.rank])
        for rank, slice in enumerate(theirs):
            if rank != self.rank:
                _copy(slices[rank], slice)
        self._done(whole)

    def alltoallv(self, pieces: Sequence[Any], into: Sequence[Any]) -> None:
        self._sent += sum(piece.nbytes for rank, piece in enumerate(pieces) if rank != self.rank)
        for mine, theirs in zip(into, self._lent(pieces), strict=True):
            _copy(mine, theirs[self.rank])
        self._done(into[0])

    def _lent(self, arrays: Any) -> list[Any]:
        """The arrays of all ranks, valid until all have called `_done`."""
        self._settle(arrays[0] if isinstance(arrays, Sequence) else arrays)
        return self.rendezvous.exchange(self.rank, arrays)

    def _done(self, array: Any) -> None:
        self._settle(array)
        self.rendezvous.exchange(self.rank, None)

    @staticmethod
    def _settle(array: Any) -> None:
        if on_device(array):
            finish()

    def abort(self, reason: str) -> None:
        self.rendezvous.fail(reason)
