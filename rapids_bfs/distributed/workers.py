"""Ranks that are workers of a Dask cluster: the workers' side. The client's side is in `dask`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from .._core.cuda.arrays import CPU, CUDA, cupy_missing
from .._core.cuda.driver import no_device
from .._core.memory import limited
from .._core.threads import pool
from ..errors import InputError, TraversalError
from ..kernels.threads import start_thread
from . import nccl
from .comms import Endpoint
from .communicators import Aborted, Communicator, ThreadCommunicator
from .launchers import one_line
from .peer_memory import at_work

PAUSE = 1.0  # seconds after which a thread that waits for its worker looks whether that still runs
SEVERITY = (InputError, TraversalError, Aborted)  # when several ranks fail, the first of these is the cause


class Outcome(NamedTuple):
    """The value that a rank returned, or the error that it failed with: of a class in `SEVERITY`, without traceback."""

    value: Any = None
    error: Exception | None = None


class Rank:
    """A rank in its worker's process, with its communicator and the values that are stored there.

    It is an actor: its worker frees it when the client releases it or goes away.
    """

    def __init__(
        self, token: str, rank: int, device: str, addresses: Sequence[str], names: Sequence[str], timeout: float
    ) -> None:
        from distributed import get_worker

        self.worker = get_worker()
        self.rank = rank
        self.device = device  # the kind of device that the rank uses, "cpu" or "cuda"
        self.addresses = addresses  # of the workers of all ranks
        self.names = names
        self.timeout = timeout
        self.endpoint = Endpoint(self.worker, token, rank)
        self.values: dict[str, Any] = {}
        self.forgotten: set[str] = set()  # keys forgotten since the last `store`
        self.communicator: Communicator | None = None
        self.epoch = 0  # how many times the ranks have connected
        self._changed = threading.Condition()
        self._working = False  # an aborted call may still be running
        _ranks[token, rank] = self

    def guarded(self, work: Callable[..., Any], *arguments: Any) -> Outcome:
        """The outcome of ``work(*arguments)``. A failure aborts the other ranks."""
        with self._changed:
            if not self._changed.wait_for(lambda: not self._working, self.timeout):
                message = f"{self.names[self.rank]} has not ended an earlier call: restart this worker"
                return Outcome(error=TraversalError(message))
            self._working = True
        try:
            with at_work().working(), limited(memory_left(self.worker)), pool.limited(self.worker.state.nthreads):
                return Outcome(work(*arguments))
        except BaseException as error:
            if isinstance(error, Aborted):
                return Outcome(error=Aborted(str(error)))
            message = f"{self.names[self.rank]} failed: {one_line(error)}"
            if self.communicator is not None:
                self.communicator.abort(message)
            return Outcome(error=InputError(str(error)) if isinstance(error, InputError) else TraversalError(message))
        finally:
            with self._changed:
                self._working = False
                self._changed.notify()

    def bootstrap(self) -> Any:
        """The identifier with which the ranks `connect`; called on rank 0."""
        return nccl.unique_id() if len(self.names) > 1 and self.device == CUDA else None

    def connect(self, epoch: int, identifier: Any) -> None:
        """Leave the communicator of the previous epoch, and connect to the other ranks."""
        self.epoch, self.communicator = epoch, None
        if len(self.names) == 1:
            (self.communicator,) = ThreadCommunicator.group(self.names, self.timeout)
        elif self.device == CPU:
            self.communicator = self.endpoint.join(epoch, self.addresses, self.names, self.timeout)
        else:
            self.communicator = nccl.NcclCommunicator.connect(identifier, self.rank, self.names, self.timeout)
            self.communicator.barrier()  # it may be aborted while it joins

    def hold(self, key: str, function: Callable[..., Any], keys: Sequence[Sequence[Any]]) -> None:
        """Store ``function(*values)`` under ``key``, where the values are what Dask has here under ``keys[rank]``."""
        self.store(key, function(*(Stored(self.worker, each) for each in keys[self.rank])))

    def call(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        keys: Sequence[str],
        key: str | None,
        report: Callable[[Any], Any],
    ) -> Any:
        """Call an SPMD function with the values stored under ``keys``. Store the result under ``key``, if there is
        one, and return ``report(result)``."""
        found = function(*(self.values[each] for each in keys), self.communicator, *arguments)
        if key is not None:
            self.store(key, found)
        return report(found)

    def store(self, key: str, value: Any) -> None:
        """Store ``value``, unless its key has been forgotten meanwhile."""
        self.values[key] = value
        if key in self.forgotten:  # read last: `forget` adds to it first
            self.values.pop(key, None)
        self.forgotten.clear()


_ranks: WeakValueDictionary[tuple[str, int], Rank] = WeakValueDictionary()


def memory_left(worker: Any) -> Callable[[], int] | None:
    """A function that returns how many bytes this worker may still take, or None if Dask sets no limit.

    From its threshold ``pause`` on a worker starts no tasks, and results could not leave it. What Dask itself keeps
    there and can spill to disk does not count.
    """
    manager = worker.memory_manager
    if not manager.memory_limit:
        return None

    def left() -> int:
        usable = manager.memory_limit * (manager.memory_pause_fraction or 1)
        spilled = getattr(worker.data, "spilled_total", None)
        spillable = 0 if spilled is None else worker.state.nbytes - spilled.memory
        return max(int(usable - worker.monitor.get_process_memory() + spillable), 0)

    return left


class Stored:
    """A value that Dask keeps on this worker, in memory or spilled to disk: a call returns it."""

    def __init__(self, worker: Any, key: Any) -> None:
        self.worker, self.key = worker, key

    def __call__(self) -> Any:
        async def value() -> Any:
            return self.worker.data[self.key]

        loop = self.worker.loop.asyncio_loop
        reading = asyncio.run_coroutine_threadsafe(value(), loop)
        while not reading.done() and loop.is_running():
            wait([reading], PAUSE)
        try:
            return reading.result(0)
        except KeyError:
            raise TraversalError("Dask has moved a partition of the frame meanwhile: make the graph again") from None


def lacking(size: int) -> str | None:
    """None, or what this worker lacks to be one of ``size`` ranks on GPUs, and how to fix it."""
    if reason := no_device():
        return f"has no GPU for its part of the graph: {reason}"
    if reason := cupy_missing():
        return f"cannot use its GPU: {reason}"
    if size > 1 and (reason := nccl.missing()):
        return f"cannot exchange data with the GPUs of other workers: {reason}"
    return None


def itself(value: Any) -> Any:
    return value


def take(actor: Any, token: str, rank: int, key: str) -> Any:
    """A task that hands the value stored under ``key`` over to Dask. It depends on the rank, see `Rank`."""
    return _ranks[token, rank].values.pop(key)


async def call(token: str, rank: int, method: str, *arguments: Any) -> Outcome:
    """Call a method of the rank."""
    there = _ranks[token, rank]
    outcome: Outcome = await in_a_thread(there.guarded, getattr(there, method), *arguments)
    return outcome


async def in_a_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)``, called in a thread, while the worker stays responsive."""
    future: Future[Any] = Future()

    def work() -> None:
        try:
            future.set_result(function(*arguments))
        except BaseException as error:
            future.set_exception(error)

    start_thread(work)
    return await asyncio.wrap_future(future)


def abort(token: str, epoch: int, reason: str) -> None:
    """Abort the ranks in this process, unless they have connected again since."""
    for (theirs, _), rank in list(_ranks.items()):
        if theirs == token and rank.epoch == epoch and rank.communicator is not None:
            rank.communicator.abort(reason)


def forget(token: str, key: str) -> None:
    """Release the value stored under ``key``, or the next one stored there."""
    for (theirs, _), rank in list(_ranks.items()):
        if theirs == token:
            rank.forgotten.add(key)
            rank.values.pop(key, None)
