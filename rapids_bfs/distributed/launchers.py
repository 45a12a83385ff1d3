"""Launchers call an SPMD function on all ranks, here on threads of one process, and collect or keep its results.

An SPMD function takes the rank's own values, then its `Communicator`, then arguments that are the same on all ranks:
``function(*own, communicator, *arguments)``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from queue import SimpleQueue
from time import monotonic, sleep
from typing import Any

from .._core.arguments import quoted, whole_number
from .._core.cuda.arrays import CPU, CUDA
from .._core.cuda.driver import driver
from .._core.forks import Turns, generation
from .._core.formatting import counted
from ..errors import InputError, TraversalError
from ..kernels.distributed import MAX_RANKS
from ..kernels.threads import start_thread
from .communicators import TIMEOUT, Aborted, Communicator, ThreadCommunicator
from .peer_memory import at_work

MAX_THREADS = 256  # ranks on the CPU
GRACE = 10.0  # seconds that the other ranks have to stop after one has failed
PAUSE = 0.001  # seconds between two checks whether they have
PerRank = Any  # one value for each rank, stored there; a list by rank if the ranks are in this process


def new_turns() -> Turns:
    """Return turns for calls of distributed graphs."""
    return Turns("calling a distributed graph", "signal handlers and finalizers cannot call one meanwhile")


_turns = new_turns()  # of all graphs on GPUs: kernels of two calls on the same GPUs could wait for each other


class Launcher(ABC):
    """The ranks of a distributed graph."""

    devices: tuple[str, ...]  # the name of each rank's device, for messages
    device: str  # the kind of these devices, "cpu" or "cuda"

    @property
    def size(self) -> int:
        return len(self.devices)

    @abstractmethod
    def collect(self, function: Callable[..., Any], *arguments: Any, each: Sequence[PerRank] = ()) -> list[Any]:
        """Call ``function`` on every rank with the rank's own values of ``each``. Returns the results, by rank.

        Raises the `InputError` of a rank as it is, and anything else as a `TraversalError` that names the rank.
        """

    def map_and_collect(
        self,
        function: Callable[..., Any],
        report: Callable[[Any], Any],
        *arguments: Any,
        each: Sequence[PerRank] = (),
    ) -> tuple[PerRank, list[Any]]:
        """`collect`, but the results stay on the ranks. Also returns ``report(result)`` of each, by rank."""
        values = self.collect(function, *arguments, each=each)
        return values, [report(value) for value in values]

    def map(self, function: Callable[..., Any], *arguments: Any, each: Sequence[PerRank] = ()) -> PerRank:
        """`map_and_collect` without a report."""
        return self.map_and_collect(function, _nothing, *arguments, each=each)[0]

    def dask_frame(self, function: Callable[..., Any], each: Sequence[PerRank]) -> Any:
        """The Dask frame whose partitions ``function`` returns on each rank; None unless the ranks are Dask workers."""
        return None


def _nothing(result: Any) -> None:
    """The report of a result that only stays on its rank."""


class Call:
    """A call of an SPMD function, on a thread for each rank. An interrupt may come at any moment.

    Each rank itself notes that it works: an interrupted `Thread.start` cannot tell whether its thread runs.
    """

    def __init__(self, group: Sequence[Communicator]) -> None:
        self.group = group
        self.ended = False
        self._working: set[int] = set()
        self._process = generation()

    @contextmanager
    def working(self, rank: int) -> Iterator[None]:
        """A context in which the rank may use its partition. Raises `Aborted` if the call has ended."""
        self._working.add(rank)
        try:
            if self.ended:  # read last: `end` sets it first
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


class CurrentRank:
    """The rank on whose behalf a thread that works for all ranks is working."""

    rank = 0


class Threads(Launcher):
    """Ranks that are threads of this process, each with a device of its own or sharing one."""

    def __init__(self, devices: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.devices = tuple(devices)
        self.device = CUDA if self.devices[0].startswith(CUDA) else CPU
        self.names = [f"partition {rank} ({device})" for rank, device in enumerate(self.devices)]
        self.timeout = timeout
        self._turns = _turns if self.device == CUDA else new_turns()
        self._call: Call | None = None  # the running one, or one that failed to end
        self._nccl_ranks: Any = None  # made by the first call, and again after a failure

    def __repr__(self) -> str:
        return f"<Threads on {', '.join(self.devices)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Threads, (self.devices, self.timeout)

    def collect(self, function: Callable[..., Any], *arguments: Any, each: Sequence[PerRank] = ()) -> list[Any]:
        with self._turns.lock, at_work().working():
            self._end()
            call = self._call = Call(self._group())
            finished: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()

            def work(communicator: Communicator) -> None:
                try:
                    with call.working(communicator.rank), self._current(communicator.rank):
                        mine = [values[communicator.rank] for values in each]
                        found = function(*mine, communicator, *arguments)
                except BaseException as error:
                    finished.put((communicator.rank, None, error))
                    if not call.ended:
                        communicator.abort(f"{self.names[communicator.rank]} failed: {one_line(error)}")
                else:
                    finished.put((communicator.rank, found, None))

            values: list[Any] = [None] * self.size
            try:
                for communicator in call.group:
                    start_thread(work, communicator)
                for _ in call.group:
                    rank, values[rank], error = finished.get()
                    if error is not None:
                        raise self._failure(rank, error)
            except BaseException:
                if not call.end():
                    self._call = None
                raise
            self._call = None
            return values

    def call_together(self, function: Callable[..., Any], *arguments: Any, each: Sequence[PerRank]) -> Any:
        """Call ``function(*each, names, timeout, current, *arguments)`` in this thread, on behalf of all ranks.

        Raises as `collect` does; ``current.rank`` is the rank that failed.
        """
        with self._turns.lock, at_work().working():
            self._end()
            current = CurrentRank()
            try:
                return function(*each, self.names, self.timeout, current, *arguments)
            except Exception as error:
                failure = self._failure(current.rank, error)
                if failure is error:
                    raise
                raise failure from error

    def _end(self) -> None:
        """End an earlier call that failed. Raises `TraversalError` if a rank still works on it."""
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
        failure = TraversalError(f"partition {rank} of {self.size} ({self.devices[rank]}) failed: {one_line(error)}")
        failure.__cause__ = error
        return failure

    def _group(self) -> Sequence[Communicator]:
        """The communicators of all ranks for one call."""
        if self.device == CPU or len(set(self.devices)) < self.size or self.size == 1:
            return ThreadCommunicator.group(self.names, self.timeout)
        from .nccl import NcclCommunicator, Ranks, missing

        if missing():  # one launch needs none, and copies serve to build the graph
            return ThreadCommunicator.group(self.names, self.timeout)
        if self._nccl_ranks is None or self._nccl_ranks.failure is not None:
            ordinals = [ordinal(device) for device in self.devices]
            self._nccl_ranks = Ranks.shared(ordinals, self.names, self.timeout)
        return NcclCommunicator.group(self._nccl_ranks)

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


def require_few_ranks(count: int, device: str) -> None:
    """Raise `InputError` if kernels cannot count for this many ranks."""
    if device == CUDA and count > MAX_RANKS:
        raise InputError(f"a graph is distributed over at most {MAX_RANKS} GPUs, not {count:,}: take fewer of them")


def one_line(error: BaseException) -> str:
    """An error in one line, with what to do if memory ran out."""
    line = str(error).strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return f"{line}: it does not fit: use more devices, or free memory there"
    return line


def device_names(devices: Any) -> list[str]:
    """The device of each rank, for a number of GPUs, "all", a list of ordinals, or "cpu:4" for four ranks on the CPU.

    Raises `InputError` if there are no such devices.
    """
    if isinstance(devices, str) and devices.startswith(f"{CPU}:"):
        count = devices.partition(":")[2]
        if not (re.fullmatch("[0-9]{1,3}", count) and 1 <= int(count) <= MAX_THREADS):
            raise InputError(f"devices={quoted(devices)}: 'cpu:4' stands for 4 threads, at most {MAX_THREADS}")
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
        asked = f"no GPU {quoted(highest)}" if isinstance(ordinals, list) else f"not {quoted(devices)}"
        hint = "; 'cpu:4' distributes over 4 threads of the CPU" if there == 0 else ""
        raise InputError(f"this machine has {counted(there, 'GPU')}, {asked}{hint}")
    require_few_ranks(len(ordinals), CUDA)
    return [f"{CUDA}:{each}" for each in ordinals]
