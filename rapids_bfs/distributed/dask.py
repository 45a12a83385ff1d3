"""Ranks that are workers of a Dask cluster: the client's side. The workers' side is in `seats`.

A task creates a `Seat` on each worker. Dask frees it, with everything that the rank keeps, when the graph or the client
goes away. SPMD functions are not run as tasks, which the scheduler starts one by one, in some ten milliseconds. They
are called through `Client.run`, which also reports at once that a worker has gone.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

from .._core.cuda.arrays import CPU
from .._core.forks import generation
from ..errors import InputError, TraversalError
from . import workers as seats
from .communicators import LIMIT
from .launchers import GRACE, Kept, Launcher, said
from .workers import SEVERITY, Outcome, Seat

TICK = 2.0  # seconds without an answer after which we check which workers are alive
_turns = threading.Lock()  # collectives of two graphs on the same workers could deadlock


class DaskLauncher(Launcher):
    """A rank on each of these workers, in this order. ``limit``: how many seconds a worker may stay silent."""

    def __init__(self, client: Any, workers: Sequence[str], *, device: str = CPU, limit: float = LIMIT) -> None:
        self.client = client
        self.workers = tuple(workers)
        self.devices = tuple(f"worker {worker}" for worker in workers)
        self.device = device
        self.limit = limit
        self.token = secrets.token_hex(8)
        self._process = generation()
        self._together = False  # are the ranks connected, and has none failed since?
        self._meeting = 0  # how many times they have connected
        self._names = [f"partition {rank} of {self.size} ({name})" for rank, name in enumerate(self.devices)]
        self._seats = [self._task(rank, Seat, self.token, rank, self._names, device, limit) for rank in self._ranks]
        self._settled([self._task(rank, seats.settle, seat) for rank, seat in enumerate(self._seats)], limit)

    @classmethod
    def shared(cls, client: Any, workers: Sequence[str], device: str) -> DaskLauncher:
        """The launcher of all graphs on these workers, whose ranks meet but once, which takes longer than a search."""
        key = client.id, tuple(workers), device
        launcher = _shared.get(key)
        if launcher is None or any(seat.status != "finished" for seat in launcher._seats):
            launcher = _shared[key] = cls(client, workers, device=device)
        return launcher

    def __repr__(self) -> str:
        return f"<DaskLauncher on {', '.join(self.devices)}>"

    def __reduce__(self) -> Any:
        raise InputError("a graph on the workers of a Dask cluster stays there: copy it here by to('cpu') first")

    def keep(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> OnWorkers:
        return self.map_and_report(function, nothing, *arguments, each=each)[0]

    def map_and_report(
        self,
        function: Callable[..., Any],
        report: Callable[[Any], Any],
        *arguments: Any,
        each: Sequence[Kept] = (),
    ) -> tuple[OnWorkers, list[Any]]:
        kept = OnWorkers(self)
        return kept, self._called(function, arguments, each, kept.key, report)

    def run(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> list[Any]:
        return self._called(function, arguments, each)

    def spread(self, values: Sequence[Any]) -> OnWorkers:
        sent = zip(self.workers, values, strict=True)
        return self.hold(
            seats.itself, [self.client.scatter([value], workers=[worker], hash=False) for worker, value in sent]
        )

    def hold(self, function: Callable[..., Any], futures: Sequence[Sequence[Any]]) -> OnWorkers:
        """Let each rank keep ``function(*values)`` of the values of its Dask ``futures``, which are on its worker. The
        function gets no communicator."""
        kept = OnWorkers(self)
        self._settled(
            [
                self._task(rank, seats.hold, self._seats[rank], kept.key, function, *futures[rank])
                for rank in self._ranks
            ]
        )
        return kept

    def taken(self, kept: OnWorkers) -> list[Any]:
        """Turn what the ranks keep into Dask futures, which a busy worker gets round to later."""
        futures = [self._task(rank, seats.take, self._seats[rank], kept.key) for rank in self._ranks]
        for future in futures:
            future.add_done_callback(partial(_until_done, kept))
        return futures

    def dask_frame(self, function: Callable[..., Any], each: Sequence[Kept]) -> Any:
        import dask.dataframe as dd

        return dd.from_delayed(self.taken(self.keep(function, each=each)), verify_meta=False)

    @property
    def _ranks(self) -> range:
        return range(self.size)

    def _task(self, rank: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a Dask task to this rank's worker."""
        place = {"workers": [self.workers[rank]], "allow_other_workers": False}
        return self.client.submit(function, *arguments, pure=False, **place)

    def _settled(self, tasks: Sequence[Any], patience: float = math.inf) -> None:
        """Wait for tasks, one per rank, that return an `Outcome`; raise as `keep` does."""

        async def outcomes() -> list[Outcome]:
            return await self._outcomes({rank: task.result() for rank, task in enumerate(tasks)}, patience)

        self._require_process()
        self._values(outcomes)

    def _require_process(self) -> None:
        """Raise `TraversalError` in a forked child, which has neither the client's threads nor what they are to do."""
        if self._process != generation():
            raise TraversalError(
                "a forked process cannot ask the Dask workers of its parent: search this graph where it was made, or "
                "make a client and the graph in this process"
            )

    def _called(
        self,
        function: Callable[..., Any],
        arguments: Any,
        each: Sequence[Kept],
        key: str | None = None,
        report: Callable[[Any], Any] = seats.itself,
    ) -> list[Any]:
        """What ``report`` makes of what the ranks return; if there is a ``key``, they keep this under it."""
        self._require_process()
        keys = [kept.key for kept in each]
        with _turns:
            together, self._together = self._together, False  # unless the call comes to its end
            try:
                if not together:
                    self._meeting += 1
                    (invitation,) = self._on_workers(seats.invite, self._meeting, ranks=range(1))
                    self._on_workers(seats.join, self._meeting, invitation)
                found = self._on_workers(seats.call, function, arguments, keys, key, report)
            except BaseException as error:
                if not isinstance(error, Exception):
                    self.client.loop.add_callback(self._tell, seats.abort, self._meeting, "interrupted")
                raise
            self._together = True
            return found

    def _on_workers(self, function: Callable[..., Any], *arguments: Any, ranks: range | None = None) -> list[Any]:
        """Call ``function(token, rank, *arguments)`` on all workers at the same time, and return what it returns."""

        async def outcomes() -> list[Outcome]:
            if gone := [rank for rank, seat in enumerate(self._seats) if seat.status != "finished"]:
                return [self._lost(rank) for rank in gone]
            calls = {rank: self._call(rank, function, *arguments) for rank in ranks or self._ranks}
            return await self._outcomes(calls)

        return self._values(outcomes)

    def _values(self, outcomes: Callable[[], Awaitable[list[Outcome]]]) -> list[Any]:
        """The values of the outcomes. If ranks failed, raises the failure that caused the others."""
        if self.client.status != "running":
            raise TraversalError("the Dask client of this graph is closed: make the graph again")
        try:
            found = self.client.sync(outcomes)
        except OSError as error:
            raise TraversalError("Dask's scheduler does not answer: make a new client, and the graph again") from error
        failures = [(SEVERITY.index(outcome.failure), outcome) for outcome in found if outcome.failure]
        if failures:
            _, (message, failure) = min(failures, key=lambda each: each[0])
            raise failure(message)
        return [outcome.value for outcome in found]

    async def _call(self, rank: int, function: Callable[..., Any], *arguments: Any) -> Outcome:
        worker = self.workers[rank]
        answers = await self.client.run(function, self.token, rank, *arguments, workers=[worker])
        outcome: Outcome = answers[worker]
        return outcome

    async def _outcomes(self, calls: Mapping[int, Awaitable[Outcome]], patience: float = math.inf) -> list[Outcome]:
        """The outcome of each rank's call. Once one fails, the others are told to stop and have `GRACE` seconds to.

        A rank has also failed if its worker has gone, does not answer, or is not done after ``patience`` seconds.
        """
        waiting = {asyncio.ensure_future(call): rank for rank, call in calls.items()}
        outcomes: dict[int, Outcome] = {}
        meeting, heard = self._meeting, monotonic()
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
                there = await self._there()
                outcomes |= {rank: self._lost(rank) for rank in waiting.values() if self.workers[rank] not in there}
                if now > heard + self.limit:
                    silent = [rank for rank in waiting.values() if not await self._answers(rank)]
                    heard = now
            outcomes |= {rank: self._silent(rank) for rank in silent if rank not in outcomes}
            for each in [each for each, rank in waiting.items() if rank in outcomes]:
                each.cancel()
                del waiting[each]
            if not failed and (reasons := [outcome.value for outcome in outcomes.values() if outcome.failure]):
                failed = True
                deadline = min(deadline, now + GRACE)
                self.client.loop.add_callback(self._tell, seats.abort, meeting, reasons[0])
        return [outcome for _, outcome in sorted(outcomes.items())]

    def _ended(self, rank: int, call: asyncio.Future[Outcome]) -> Outcome:
        """The outcome of a finished call."""
        try:
            return call.result()
        except (OSError, KeyError, asyncio.CancelledError):  # a broken connection, no seat, a restart
            return self._lost(rank)
        except Exception as error:
            return Outcome(f"{self._names[rank]} failed: {said(error)}", TraversalError)

    def _lost(self, rank: int) -> Outcome:
        return Outcome(f"{self._names[rank]} is gone, and with it its partition: make the graph again", TraversalError)

    def _silent(self, rank: int) -> Outcome:
        return Outcome(f"{self._names[rank]} does not answer: restart it and make the graph again", TraversalError)

    async def _there(self) -> set[str]:
        """The addresses of the workers that the scheduler knows."""
        return set(await asyncio.wait_for(self.client.nthreads(), self.limit))

    async def _answers(self, rank: int) -> bool:
        call = self.client.run(seats.answer, workers=[self.workers[rank]], on_error="ignore")
        with suppress(asyncio.TimeoutError):
            return bool(await asyncio.wait_for(call, GRACE / 2))
        return False

    async def _tell(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call ``function(token, *arguments)`` on the workers that are alive, and ignore failures."""
        with suppress(Exception):
            call = self.client.run(function, self.token, *arguments, workers=list(self.workers), on_error="ignore")
            await asyncio.wait_for(call, GRACE)


def nothing(kept: Any) -> None:
    """What is reported of a value that is only kept."""


_shared: weakref.WeakValueDictionary[tuple[str, tuple[str, ...], str], DaskLauncher] = weakref.WeakValueDictionary()


class OnWorkers:
    """A handle of what each rank of a launcher keeps; the ranks release it when the handle is collected."""

    def __init__(self, launcher: DaskLauncher) -> None:
        self.key = secrets.token_hex(8)
        weakref.finalize(self, _forget, launcher, self.key).atexit = False


def _until_done(kept: OnWorkers, future: Any) -> None:
    """A callback that holds ``kept`` until the future is done, or nobody wants it any more."""


def _forget(launcher: DaskLauncher, key: str) -> None:
    if launcher.client.status == "running" and launcher._process == generation():
        launcher.client.loop.add_callback(launcher._tell, seats.forget, key)
