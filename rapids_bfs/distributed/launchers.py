"""Launchers run an SPMD function on all ranks and keep what it returns; here, on the threads of one process.

An SPMD function takes values that the rank itself keeps, then its `Communicator`, then arguments that are the same on all
ranks: ``function(*mine, communicator, *arguments)``.
"""

from __future__ import annotations

import re
import threading
from _thread import start_new_thread
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from queue import SimpleQueue
from time import monotonic, sleep
from typing import Any

from .._core.arguments import quoted, whole_number
from .._core.cuda.arrays import CPU, CUDA
from .._core.cuda.driver import driver
from .._core.forks import generation, lock_of_process
from ..errors import InputError, TraversalError
from .communicators import LIMIT, Aborted, Communicator, ThreadCommunicator
from .peer_memory import at_work

MAX_THREADS = 256  # partitions in the host's memory
GRACE = 10.0  # seconds that the other ranks have to stop after one has failed
PAUSE = 0.001  # seconds until we look again whether they have
_turns: dict[int, threading.Lock] = {}  # of graphs on GPUs, whose kernels could wait for each other; by process
Kept = Any  # a value on each rank; a list by rank if the ranks are in this process


class Launcher(ABC):
    """The ranks of a graph in partitions."""

    devices: tuple[str, ...]  # the name of each rank's device in messages
    device: str  # where their arrays live, "cpu" or "cuda"

    @property
    def size(self) -> int:
        return len(self.devices)

    @abstractmethod
    def keep(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> Kept:
        """Call ``function`` on every rank with the rank's own values of ``each``; the ranks keep what it returns.

        If it raises an `InputError`, that is raised here; anything else becomes a `TraversalError` that names the rank.
        """

    @abstractmethod
    def map_and_report(
        self,
        function: Callable[..., Any],
        report: Callable[[Any], Any],
        *arguments: Any,
        each: Sequence[Kept] = (),
    ) -> tuple[Kept, list[Any]]:
        """`keep`, and bring here what ``report`` makes of each value that is kept, by rank."""

    @abstractmethod
    def run(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> list[Any]:
        """Like `keep`, but return the results, by rank."""

    def dask_frame(self, function: Callable[..., Any], each: Sequence[Kept]) -> Any:
        """A Dask frame with what ``function`` makes on each rank, a frame; None unless the ranks are Dask's workers."""
        return None

    @abstractmethod
    def spread(self, values: Sequence[Any]) -> Kept:
        """Give each rank its own one of these values."""


class Call:
    """A call of all ranks, each on a thread, which may be interrupted at any moment.

    That a rank is at work is known from the rank: an interrupted `Thread.start` cannot tell whether its thread runs.
    """

    def __init__(self, group: Sequence[Communicator]) -> None:
        self.group = group
        self.ended = False
        self._working: set[int] = set()
        self._process = generation()

    @contextmanager
    def working(self, rank: int) -> Iterator[None]:
        """Within it, the rank may use its partition. Raises `Aborted` if the call has ended before its thread began."""
        self._working.add(rank)
        try:
            if self.ended:  # looked up last: `end` sets it first
                raise Aborted("the call has ended")
            yield
        finally:
            self._working.discard(rank)

    def end(self) -> list[int]:
        """Stop the ranks, and return those that are still at work `GRACE` seconds later: a thread cannot be killed."""
        if self._process != generation():  # a fork copies no threads
            return []
        self.group[0].abort("interrupted")
        self.ended = True
        deadline = monotonic() + GRACE
        while self._working and monotonic() < deadline:
            sleep(PAUSE)
        return sorted(self._working)


class At:
    """Whose work is under way in a thread that works for all ranks."""

    rank = 0


class Threads(Launcher):
    """Ranks that are threads of this process, each with a device of its own or sharing one."""

    def __init__(self, devices: Sequence[str], limit: float = LIMIT) -> None:
        self.devices = tuple(devices)
        self.device = CUDA if self.devices[0].startswith(CUDA) else CPU
        self.names = [f"partition {rank} ({device})" for rank, device in enumerate(self.devices)]
        self.limit = limit
        self._turns = _turns if self.device == CUDA else {}
        self._call: Call | None = None  # that is under way, or was not seen to end as it should
        self._communicators: Any = None  # got when first needed, and after a failure again

    def __repr__(self) -> str:
        return f"<Threads on {', '.join(self.devices)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Threads, (self.devices, self.limit)

    def spread(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def map_and_report(
        self,
        function: Callable[..., Any],
        report: Callable[[Any], Any],
        *arguments: Any,
        each: Sequence[Kept] = (),
    ) -> tuple[list[Any], list[Any]]:
        kept = self.keep(function, *arguments, each=each)
        return kept, [report(value) for value in kept]

    def run(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> list[Any]:
        return self.keep(function, *arguments, each=each)

    def keep(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> list[Any]:
        with lock_of_process(self._turns), at_work().working():
            self._end()
            call = self._call = Call(self._peers())
            finished: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()

            def work(communicator: Communicator) -> None:
                try:
                    with call.working(communicator.rank), self._current(communicator.rank):
                        mine = [kept[communicator.rank] for kept in each]
                        found = function(*mine, communicator, *arguments)
                except BaseException as error:
                    finished.put((communicator.rank, None, error))
                    if not call.ended:
                        communicator.abort(f"{self.names[communicator.rank]} failed: {said(error)}")
                else:
                    finished.put((communicator.rank, found, None))

            values: list[Any] = [None] * self.size
            try:
                for communicator in call.group:
                    start_new_thread(work, (communicator,))
                for _ in call.group:
                    number, values[number], error = finished.get()
                    if error is not None:
                        raise self._failure(number, error)
            except BaseException:
                if not call.end():
                    self._call = None
                raise
            self._call = None
            return values

    def together(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> Any:
        """Call ``function(*each, names, limit, at, *arguments)`` in this thread, in the place of all ranks.

        What it raises is raised as from `keep`, by the rank that ``at`` says.
        """
        with lock_of_process(self._turns), at_work().working():
            self._end()
            at = At()
            try:
                return function(*each, self.names, self.limit, at, *arguments)
            except Exception as error:
                failure = self._failure(at.rank, error)
                if failure is error:
                    raise
                raise failure from error

    def _end(self) -> None:
        """End an earlier call that failed. Raises `TraversalError` while a rank is still at work on it."""
        if self._call is None:
            return
        for rank in self._call.end():
            raise TraversalError(
                f"{self.names[rank]} has not ended after an earlier failure: wait, or make the graph again"
            )
        self._call = None

    def _failure(self, rank: int, error: BaseException) -> BaseException:
        """The error that callers see."""
        if isinstance(error, InputError | Aborted):
            return error
        failure = TraversalError(f"partition {rank} of {self.size} ({self.devices[rank]}) failed: {said(error)}")
        failure.__cause__ = error
        return failure

    def _peers(self) -> Sequence[Communicator]:
        """The communicator of each rank, which serve one call."""
        if self.device == CPU or len(set(self.devices)) < self.size or self.size == 1:
            return ThreadCommunicator.group(self.names, self.limit)
        from .nccl import NcclCommunicator, Ranks

        if self._communicators is None or self._communicators.failure is not None:
            ordinals = [ordinal(device) for device in self.devices]
            self._communicators = Ranks.shared(ordinals, self.names, self.limit)
        return NcclCommunicator.group(self._communicators)

    def _current(self, rank: int) -> AbstractContextManager[Any]:
        """A context in which the rank's device is this thread's current one."""
        if self.device == CPU:
            return nullcontext()
        import cupy

        device: AbstractContextManager[Any] = cupy.cuda.Device(ordinal(self.devices[rank]))
        return device


def ordinal(device: str) -> int:
    """The number of a device such as "cuda:1"."""
    return int(device.partition(":")[2])


def said(error: BaseException) -> str:
    """An error in one line, with what to do if memory ran out."""
    line = str(error).strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return f"{line}: it does not fit: use more devices, or free memory there"
    return line


def device_names(devices: Any) -> list[str]:
    """The device of each partition, for a number of GPUs, "all", a list of ordinals, or "cpu:4" for partitions on the CPU.

    Raises `InputError` if there are no such devices.
    """
    if isinstance(devices, str) and devices.startswith(f"{CPU}:"):
        count = devices.partition(":")[2]
        if not (re.fullmatch("[0-9]{1,3}", count) and 1 <= int(count) <= MAX_THREADS):
            raise InputError(f"devices={quoted(devices)}: 'cpu:4' stands for 4 partitions, at most {MAX_THREADS}")
        return [CPU] * int(count)
    there = len(driver().devices)
    ordinals: Sequence[int]
    if isinstance(devices, str) and devices == "all":
        ordinals = range(max(there, 1))
    elif isinstance(devices, list | tuple):
        ordinals = [whole_number(each, "a device") for each in devices]
    elif isinstance(devices, str):
        raise InputError(
            f"devices is a number of GPUs, 'all', 'auto', a list as in [0, 1], or 'cpu:4', not {quoted(devices)}"
        )
    else:
        ordinals = range(whole_number(devices, "the number of devices", 1))
    if not ordinals:
        raise InputError("devices is empty: at least one is needed")
    highest = ordinals[-1] if isinstance(ordinals, range) else max(ordinals)
    if highest >= there:
        raise InputError(
            f"there is no GPU {quoted(highest)}: this machine has {there}"
            + ("; devices='cpu:4' makes 4 partitions in the host's memory" if there == 0 else "")
        )
    return [f"{CUDA}:{each}" for each in ordinals]
