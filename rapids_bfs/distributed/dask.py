"""Ranks that are workers of a Dask cluster: the client's side. The workers' side is in `workers`.

On each worker a `Rank` is an actor of Dask's: the worker neither moves it nor spills it to disk, and frees it, with all
values stored there, when the graph or the client goes away. SPMD functions are called through `Client.run`, not as
tasks: the scheduler starts tasks one by one, which takes some ten milliseconds, and `Client.run` reports at once that a
worker has gone.
"""

from __future__ import annotations

import asyncio
import math
import os
import secrets
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from importlib import import_module
from time import monotonic
from typing import Any

from .._core.cuda.arrays import CPU
from .._core.forks import generation
from ..errors import InputError, TraversalError
from . import workers as remote
from .communicators import TIMEOUT
from .launchers import GRACE, Launcher, PerRank, new_turns, one_line, require_few_ranks
from .workers import SEVERITY, Outcome, Rank

PACKAGE = __name__.partition(".")[0]
VERSION = f"__import__({remote.__name__!r}).__version__"  # of the package; evaluated by workers that may lack it
TICK = 2.0  # seconds without an answer after which we check which workers are alive
_turns = new_turns()  # of all graphs on GPUs: kernels of two calls on the same GPUs could wait for each other


class DaskLauncher(Launcher):
    """A rank on each of these workers, in this order. A worker may stay silent for ``timeout`` seconds."""

    def __init__(self, client: Any, workers: Sequence[str], *, device: str = CPU, timeout: float = TIMEOUT) -> None:
        self.client = client
        self.workers = tuple(workers)
        self.devices = tuple(f"worker {worker}" for worker in workers)
        self.device = device
        self.timeout = timeout
        self.token = secrets.token_hex(8)
        self._process = generation()
        self._turns = new_turns() if device == CPU else _turns
        self._connected = False  # True while the ranks are connected and none has failed
        self._epoch = 0  # how many times they have connected
        self._names = [f"partition {rank} of {self.size} ({name})" for rank, name in enumerate(self.devices)]
        self._values(lambda: self._outcomes({rank: self._equipped(rank) for rank in range(self.size)}))
        with suppress(ValueError):  # the scheduler is not allowed to load plugins
            ask_scheduler(client, partial(client.register_plugin, _downscaling_guard()))
        given = [(self.token, rank, device, self.workers, self._names, timeout) for rank in range(self.size)]
        self._rank_futures = self._tasks(Rank, given, actor=True)
        self._values(lambda: self._outcomes({rank: self._made(rank) for rank in range(self.size)}, timeout))

    @classmethod
    def shared(cls, client: Any, workers: Sequence[str], device: str) -> DaskLauncher:
        """The launcher that all graphs on these workers use: connecting its ranks takes longer than a search."""
        if not workers:
            raise InputError("the Dask cluster has no workers: start some")
        require_few_ranks(len(workers), device)
        key = client.id, tuple(workers), device
        launcher = _shared.get(key)
        if launcher is None or any(future.status != "finished" for future in launcher._rank_futures):
            launcher = _shared[key] = cls(client, workers, device=device)
        return launcher

    def __repr__(self) -> str:
        return f"<DaskLauncher on {', '.join(self.devices)}>"

    def __reduce__(self) -> Any:
        raise InputError("a graph on the workers of a Dask cluster stays there: copy it here by to('cpu') first")

    def map_and_collect(
        self,
        function: Callable[..., Any],
        report: Callable[[Any], Any],
        *arguments: Any,
        each: Sequence[PerRank] = (),
    ) -> tuple[OnWorkers, list[Any]]:
        handle = OnWorkers(self)
        return handle, self._collect(function, arguments, each, handle.key, report)

    def collect(self, function: Callable[..., Any], *arguments: Any, each: Sequence[PerRank] = ()) -> list[Any]:
        return self._collect(function, arguments, each)

    def hold(self, function: Callable[..., Any], futures: Sequence[Sequence[Any]]) -> OnWorkers:
        """Store ``function(*values)`` on each rank, where ``futures[rank]`` are done on its worker, and each value is a
        `workers.Stored`. The function gets no communicator. The caller keeps the futures as long as the values."""
        handle = OnWorkers(self)
        keys = [[future.key for future in mine] for mine in futures]
        self._require_process()
        with self._turns.lock:
            self._on_workers("hold", handle.key, function, keys)
        return handle

    def as_futures(self, handle: OnWorkers) -> list[Any]:
        """Turn the stored values into Dask futures. A busy worker finishes them later."""
        given = [(actor, self.token, rank, handle.key) for rank, actor in enumerate(self._rank_futures)]
        futures = self._tasks(remote.take, given)
        for future in futures:
            future.add_done_callback(partial(_until_done, handle))
        return futures

    def dask_frame(self, function: Callable[..., Any], each: Sequence[PerRank]) -> Any:
        import dask.dataframe as dd

        return dd.from_delayed(self.as_futures(self.map(function, each=each)), verify_meta=False)

    def _tasks(self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]], **options: Any) -> list[Any]:
        """Submit a Dask task ``function(*arguments[rank])`` to each rank's worker."""
        options |= {"pure": False, "allow_other_workers": False}
        return [
            self.client.submit(function, *given, workers=[worker], key=f"{PACKAGE}-{secrets.token_hex(8)}", **options)
            for worker, given in zip(self.workers, arguments, strict=True)
        ]

    async def _equipped(self, rank: int) -> Outcome:
        """An `InputError` if the worker cannot be a rank."""
        reason = await unfit(self.client, self.workers[rank], self.device, self.size)
        return Outcome(error=InputError(reason) if reason else None)

    async def _made(self, rank: int) -> Outcome:
        """The outcome of making the rank."""
        await self._rank_futures[rank]
        return Outcome()

    def _require_process(self) -> None:
        """Raise `TraversalError` in a forked child, which does not have the client's threads."""
        if self._process != generation():
            raise TraversalError(
                "a forked process cannot ask the Dask workers of its parent: search this graph where it was made, or "
                "make a client and the graph in this process"
            )

    def _collect(
        self,
        function: Callable[..., Any],
        arguments: Any,
        each: Sequence[PerRank],
        key: str | None = None,
        report: Callable[[Any], Any] = remote.itself,
    ) -> list[Any]:
        """Call ``function`` on all ranks, which store the results under ``key``, if given. Returns the reports."""
        self._require_process()
        keys = [handle.key for handle in each]
        with self._turns.lock:
            connected, self._connected = self._connected, False  # unless the call succeeds
            try:
                if not connected:
                    self._epoch += 1
                    limit = 2 * self.timeout + GRACE  # for the end of an earlier call, and then to connect
                    (identifier,) = self._on_workers("bootstrap", ranks=range(1), patience=limit)
                    self._on_workers("connect", self._epoch, identifier, patience=limit)
                found = self._on_workers("call", function, arguments, keys, key, report)
            except BaseException as error:
                if not isinstance(error, Exception):
                    self.client.loop.add_callback(self._tell, remote.abort, self._epoch, "interrupted")
                raise
            self._connected = True
            return found

    def _on_workers(
        self, method: str, *arguments: Any, ranks: range | None = None, patience: float = math.inf
    ) -> list[Any]:
        """Call a method of the `Rank` on each worker at the same time, and return what it returns."""

        async def outcomes() -> list[Outcome]:
            if gone := [rank for rank, future in enumerate(self._rank_futures) if future.status != "finished"]:
                return [self._lost(rank) for rank in gone]
            async with self._turn_of_client():
                calls = {rank: self._call(rank, method, *arguments) for rank in ranks or range(self.size)}
                return await self._outcomes(calls, patience)

        return self._values(outcomes)

    def _turn_of_client(self) -> AbstractAsyncContextManager[Any]:
        """A context that clients enter in turns, if their ranks share GPUs: kernels of two clients could wait for each
        other. The scheduler ends the turn of a client that goes away."""
        if self.device == CPU or self.size == 1:
            return nullcontext()
        from distributed import Semaphore

        turns: AbstractAsyncContextManager[Any] = Semaphore(
            max_leases=1, name=PACKAGE, scheduler_rpc=self.client.scheduler, loop=self.client.loop
        )
        return turns

    def _values(self, outcomes: Callable[[], Awaitable[list[Outcome]]]) -> list[Any]:
        """The values of the outcomes. If ranks failed, raises the error that caused the others."""
        found: list[Any] = ask_scheduler(self.client, outcomes, None)  # which end by themselves
        errors = [outcome.error for outcome in found if outcome.error]
        if errors:
            require_open(self.client)  # the reason, if it is closed
            raise min(errors, key=lambda error: SEVERITY.index(type(error)))
        return [outcome.value for outcome in found]

    async def _call(self, rank: int, method: str, *arguments: Any) -> Outcome:
        worker = self.workers[rank]
        answers = await self.client.run(remote.call, self.token, rank, method, *arguments, workers=[worker])
        outcome: Outcome = answers[worker]
        return outcome

    async def _outcomes(self, calls: Mapping[int, Awaitable[Outcome]], patience: float = math.inf) -> list[Outcome]:
        """The outcome of each rank's call. Once one fails, the others are told to stop and have `GRACE` seconds to.

        A rank has also failed if its worker has gone, does not answer, or is not done after ``patience`` seconds.
        """
        waiting = {asyncio.ensure_future(call): rank for rank, call in calls.items()}
        outcomes: dict[int, Outcome] = {}
        epoch, heard = self._epoch, monotonic()
        deadline = heard + patience
        failed = False
        while waiting:
            done, _ = await asyncio.wait(waiting, timeout=TICK, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                rank = waiting.pop(each)
                outcomes[rank] = self._ended(rank, each)
            now = monotonic()
            silent: Iterable[int] = ()
            if now > deadline:
                silent = waiting.values()
            elif done:
                heard = now
            else:
                alive = await self._statuses()
                outcomes |= {rank: self._lost(rank) for rank in waiting.values() if self.workers[rank] not in alive}
                if now > heard + self.timeout:
                    silent = [rank for rank in waiting.values() if not await self._answers(rank)]
                    heard = now
            outcomes |= {rank: await self._silent(rank) for rank in silent if rank not in outcomes}
            for each in [each for each, rank in waiting.items() if rank in outcomes]:
                each.cancel()
                del waiting[each]
            if not failed and (errors := [outcome.error for outcome in outcomes.values() if outcome.error]):
                failed = True
                deadline = min(deadline, now + GRACE)
                self.client.loop.add_callback(self._tell, remote.abort, epoch, str(errors[0]))
        return [outcome for _, outcome in sorted(outcomes.items())]

    def _ended(self, rank: int, call: asyncio.Future[Outcome]) -> Outcome:
        """The outcome of a finished call."""
        try:
            return call.result()
        except (OSError, KeyError, asyncio.CancelledError):  # a broken connection, no rank, a restart
            return self._lost(rank)
        except Exception as error:
            return Outcome(error=TraversalError(f"{self._names[rank]} failed: {one_line(error)}"))

    def _lost(self, rank: int) -> Outcome:
        reason = "is gone, and with it its partition: make the graph again"
        return Outcome(error=TraversalError(f"{self._names[rank]} {reason}"))

    async def _silent(self, rank: int) -> Outcome:
        reason = "does not answer: restart it and make the graph again"
        if (await self._statuses()).get(self.workers[rank]) == "paused":
            reason = "has been paused by Dask, since its memory is full: free memory there, or give it more"
        return Outcome(error=TraversalError(f"{self._names[rank]} {reason}"))

    async def _statuses(self) -> dict[str, str]:
        """The status of each worker that the scheduler knows, by address."""
        found = await asyncio.wait_for(self.client.scheduler.identity(n_workers=-1), self.timeout)
        return {address: worker["status"] for address, worker in found["workers"].items()}

    async def _answers(self, rank: int) -> bool:
        call = self.client.run(os.getpid, workers=[self.workers[rank]], on_error="ignore")
        with suppress(asyncio.TimeoutError):
            return bool(await asyncio.wait_for(call, GRACE / 2))
        return False

    async def _tell(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call ``function(token, *arguments)`` on the workers that are alive, and ignore failures."""
        with suppress(Exception):
            call = self.client.run(function, self.token, *arguments, workers=list(self.workers), on_error="ignore")
            await asyncio.wait_for(call, GRACE)


def require_open(client: Any) -> None:
    """Raise `TraversalError` if the client is closed."""
    if client.status != "running":
        raise TraversalError("the Dask client of this graph is closed: make the graph again")


def ask_scheduler(client: Any, question: Callable[[], Awaitable[Any]], timeout: float | None = TIMEOUT) -> Any:
    """The answer of Dask's scheduler, within ``timeout`` seconds unless that is None. Raises `TraversalError` if there
    is none."""
    require_open(client)
    try:
        return client.sync(question, callback_timeout=timeout)
    except OSError as error:
        raise TraversalError("Dask's scheduler does not answer: make a new client, and the graph again") from error


def _downscaling_guard() -> Any:
    """A plugin by which the scheduler keeps an adaptive cluster from closing workers with ranks. Its class is pickled
    by value, since it is local: the scheduler may lack our package."""
    from distributed import SchedulerPlugin

    ours = f"{PACKAGE}-"

    class DownscalingGuard(SchedulerPlugin):  # type: ignore[misc]  # Dask has no types
        name = f"{PACKAGE}.ranks"
        idempotent = True

        def valid_workers_downscaling(self, scheduler: Any, workers: list[Any]) -> list[Any]:
            return [worker for worker in workers if not any(str(task.key).startswith(ours) for task in worker.actors)]

    return DownscalingGuard()


_shared: weakref.WeakValueDictionary[tuple[str, tuple[str, ...], str], DaskLauncher] = weakref.WeakValueDictionary()


async def unfit(client: Any, worker: str, device: str, size: int) -> str | None:
    """None, or one line: why the worker cannot be one of ``size`` ranks on such devices. It imports what ranks need,
    which may take seconds."""
    here = import_module(PACKAGE).__version__
    version = (await client.run(asyncio.to_thread, eval, VERSION, workers=[worker], on_error="return"))[worker]
    if isinstance(version, OSError):  # of the connection
        return f"worker {worker} ended while it imported {PACKAGE} ({one_line(version)}): see its log, or its nanny's"
    if isinstance(version, Exception):
        return f"worker {worker} cannot import {PACKAGE} ({one_line(version)}): install {here} there"
    if version != here:
        return f"worker {worker} has {PACKAGE} {version}, and this process has {here}: install the same"
    if device == CPU:
        return None
    lacks = (await client.run(remote.in_a_thread, remote.lacking, size, workers=[worker]))[worker]
    return f"worker {worker} {lacks}" if lacks else None


class OnWorkers:
    """A handle of a value on each rank. The ranks release their values when it is garbage-collected."""

    def __init__(self, launcher: DaskLauncher) -> None:
        self.key = secrets.token_hex(8)
        weakref.finalize(self, _forget, launcher, self.key).atexit = False


def _until_done(handle: OnWorkers, future: Any) -> None:
    """A callback that refers to ``handle`` until the future is done or released."""


def _forget(launcher: DaskLauncher, key: str) -> None:
    if launcher.client.status == "running" and launcher._process == generation():
        launcher.client.loop.add_callback(launcher._tell, remote.forget, key)
