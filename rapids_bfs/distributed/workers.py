"""Ranks that are workers of a Dask cluster: the workers' side. The client's side is in `on_dask`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from .._core.cuda.arrays import CUDA
from ..errors import InputError, TraversalError
from .communicators import Aborted, Communicator, ThreadCommunicator
from .launchers import said
from .peer_memory import at_work
from .processes import ProcessCommunicator

SEVERITY = (InputError, TraversalError, Aborted)  # when several ranks fail, the first of these is the cause


class Outcome(NamedTuple):
    """What a rank returned, or how it failed: the class of the error and its message."""

    value: Any
    failure: type[Exception] | None = None


class Seat:
    """A rank in its worker's process, with its communicator and what it keeps.

    It is the result of a task, so that the worker frees it when the client releases the task or goes away. It cannot
    be pickled, so that Dask neither moves nor spills it.
    """

    def __init__(self, token: str, rank: int, names: Sequence[str], device: str, limit: float) -> None:
        self.rank = rank
        self.names = names
        self.device = device
        self.limit = limit
        self.kept: dict[str, Any] = {}
        self.forgotten: set[str] = set()  # keys, since something was last kept
        self.communicator: Communicator | None = None
        self.meeting = 0  # the number of the meeting in which they connected
        self._changed = threading.Condition()
        self._working = False  # an earlier call that was told to stop may still be running
        _seats[token, rank] = self

    def __reduce__(self) -> Any:
        raise TypeError("a partition of a graph stays on its worker")

    def guarded(self, work: Callable[..., Any], *arguments: Any) -> Outcome:
        """The outcome of ``work(*arguments)``. If it fails, the communicator are told."""
        with self._changed:
            if not self._changed.wait_for(lambda: not self._working, self.limit):
                message = f"{self.names[self.rank]} has not ended an earlier call: restart this worker"
                return Outcome(message, TraversalError)
            self._working = True
        try:
            with at_work().working():
                return Outcome(work(*arguments))
        except BaseException as error:
            if isinstance(error, Aborted):
                return Outcome(str(error), Aborted)
            message = f"{self.names[self.rank]} failed: {said(error)}"
            if self.communicator is not None:
                self.communicator.abort(message)
            return (
                Outcome(str(error), InputError) if isinstance(error, InputError) else Outcome(message, TraversalError)
            )
        finally:
            with self._changed:
                self._working = False
                self._changed.notify()

    def invite(self, meeting: int) -> Any:
        """On rank 0: what the ranks need to `join`."""
        self._part(meeting)
        if len(self.names) == 1:
            return None
        if self.device == CUDA:
            from .nccl import unique_id

            return unique_id()
        self.communicator, invitation = ProcessCommunicator.first(self.names, self.limit)
        return invitation

    def join(self, meeting: int, invitation: Any) -> None:
        """Connect to the other ranks."""
        size = len(self.names)
        if size == 1:
            (self.communicator,) = ThreadCommunicator.group(self.names, self.limit)
        elif self.device == CUDA:
            from .nccl import NcclCommunicator

            self._part(meeting)
            self.communicator = NcclCommunicator.join(size, invitation, self.rank, self.names, self.limit)
        elif self.rank:
            self._part(meeting)
            self.communicator = ProcessCommunicator.join(invitation, self.rank, self.names, self.limit)

    def _part(self, meeting: int) -> None:
        """Leave the communicator of earlier meetings."""
        self.meeting = meeting
        if isinstance(self.communicator, ProcessCommunicator):
            self.communicator.close()
        self.communicator = None

    def call(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        keys: Sequence[str],
        key: str | None,
        report: Callable[[Any], Any],
    ) -> Any:
        """Call an SPMD function with what is kept under ``keys``. Keep what it returns under ``key``, if there is one,
        and return what ``report`` makes of it."""
        found = function(*(self.kept[each] for each in keys), self.communicator, *arguments)
        if key is not None:
            self.keep(key, found)
        return report(found)

    def keep(self, key: str, value: Any) -> None:
        """Keep ``value``, unless its key has been forgotten meanwhile."""
        self.kept[key] = value
        if key in self.forgotten:  # looked up last: `forget` adds to it first
            self.kept.pop(key, None)
        self.forgotten.clear()


_seats: WeakValueDictionary[tuple[str, int], Seat] = WeakValueDictionary()


def settle(seat: Seat) -> Outcome:
    """A task that succeeds once the seat exists."""
    return Outcome(None)


def hold(seat: Seat, key: str, function: Callable[..., Any], *values: Any) -> Outcome:
    """Keep ``function(*values)`` under ``key``."""
    return seat.guarded(lambda: seat.keep(key, function(*values)))


def itself(value: Any) -> Any:
    return value


def take(seat: Seat, key: str) -> Any:
    """Hand over to Dask what was kept under ``key``."""
    return seat.kept.pop(key)


async def invite(token: str, rank: int, meeting: int) -> Outcome:
    return await _in_thread(_seats[token, rank], "invite", meeting)


async def join(token: str, rank: int, meeting: int, invitation: Any) -> Outcome:
    return await _in_thread(_seats[token, rank], "join", meeting, invitation)


async def call(token: str, rank: int, *arguments: Any) -> Outcome:
    return await _in_thread(_seats[token, rank], "call", *arguments)


async def _in_thread(seat: Seat, method: str, *arguments: Any) -> Outcome:
    """Call a method of the seat in a thread, so that the worker stays responsive."""
    future: Future[Outcome] = Future()

    def work() -> None:
        future.set_result(seat.guarded(getattr(seat, method), *arguments))

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(future)


def abort(token: str, meeting: int, reason: str) -> None:
    """Stop what the ranks in this process are doing, unless they have reconnected since."""
    for (theirs, _), seat in list(_seats.items()):
        if theirs == token and seat.meeting == meeting and seat.communicator is not None:
            seat.communicator.abort(reason)


def forget(token: str, key: str) -> None:
    """Release what is kept under ``key``, or is about to be."""
    for (theirs, _), seat in list(_seats.items()):
        if theirs == token:
            seat.forgotten.add(key)
            seat.kept.pop(key, None)


def answer() -> None:
    """Do nothing: that it returns shows that the worker is alive."""
