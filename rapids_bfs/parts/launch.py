"""Who runs an SPMD function on all ranks, and keeps what they return: here the threads of one process.

An SPMD function takes what each rank holds itself, then its `Peers`, then arguments that are the same on all ranks:
``function(*mine, peers, *arguments)``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from queue import SimpleQueue
from time import monotonic
from typing import Any

from .._core.arguments import whole_number
from .._core.device import CPU, CUDA
from .._core.driver import driver
from .._core.forks import generation
from ..errors import InputError, TraversalError
from .peers import LIMIT, Peers, Stopped, ThreadPeers

MOST_THREADS = 256  # parts in the host's memory
GRACE = 10.0  # seconds that ranks have to end after one has failed
Kept = Any  # what each rank keeps; a list by rank where that is this process


class Launcher(ABC):
    """The ranks of a graph in parts."""

    devices: tuple[str, ...]  # how messages call each rank's device
    device: str  # where their arrays live, "cpu" or "cuda"

    @property
    def size(self) -> int:
        return len(self.devices)

    @abstractmethod
    def keep(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> Kept:
        """Call ``function`` on every rank, with its own of ``each``, and let the ranks keep what it returns.

        Raises what it raises: an `InputError` as it is, and anything else as a `TraversalError` that names the rank.
        """

    @abstractmethod
    def run(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> list[Any]:
        """`keep`, and bring here what was returned, by rank."""

    def first(self, function: Callable[..., Any], kept: Kept) -> Any:
        """``function(value)`` of what rank 0 keeps."""
        return self.run(_called, function, each=[kept])[0]

    @abstractmethod
    def spread(self, values: Sequence[Any]) -> Kept:
        """Give each rank its own of these values."""


class Threads(Launcher):
    """Ranks that are threads of this process, each with a device of its own or sharing one."""

    def __init__(self, devices: Sequence[str], limit: float = LIMIT) -> None:
        self.devices = tuple(devices)
        self.device = CUDA if self.devices[0].startswith(CUDA) else CPU
        self.limit = limit
        self._turns: dict[int, threading.Lock] = {}  # by process: another thread may hold one when this one forks
        self._lost = ""  # which rank did not end
        self._communicators: Any = None  # made when first needed, and after a failure again

    def __repr__(self) -> str:
        return f"<Threads on {', '.join(self.devices)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Threads, (self.devices, self.limit)

    def spread(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def first(self, function: Callable[..., Any], kept: Kept) -> Any:
        return function(kept[0])

    def run(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> list[Any]:
        return self.keep(function, *arguments, each=each)

    def keep(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Kept] = ()) -> list[Any]:
        with self._turns.setdefault(generation(), threading.Lock()):
            if self._lost:
                raise TraversalError(f"{self._lost} did not end after an earlier failure: make the graph again")
            group = self._peers()
            finished: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()

            def work(peers: Peers) -> None:
                try:
                    with self._current(peers.rank):
                        mine = [kept[peers.rank] for kept in each]
                        finished.put((peers.rank, function(*mine, peers, *arguments), None))
                except BaseException as error:
                    finished.put((peers.rank, None, error))
                    peers.abort(f"part {peers.rank} ({self.devices[peers.rank]}) failed: {said(error)}")

            ranks = [threading.Thread(target=work, args=(peers,), daemon=True) for peers in group]
            values: list[Any] = [None] * self.size
            try:
                for rank in ranks:
                    rank.start()
                for _ in ranks:
                    number, values[number], error = finished.get()
                    if error is not None:
                        raise self._failure(number, error)
            except BaseException:
                group[0].abort("interrupted")
                self._communicators = None
                self._end(ranks)
                raise
            return values

    def _end(self, ranks: Sequence[threading.Thread]) -> None:
        """Wait until no rank works on its part any more. One that does not end cannot be stopped; nothing will be asked
        of these ranks again."""
        deadline = monotonic() + GRACE
        for rank, thread in enumerate(ranks):
            self._lost = f"part {rank} ({self.devices[rank]})"
            if thread.ident is not None:
                thread.join(max(deadline - monotonic(), 0))
            if thread.is_alive():
                return
        self._lost = ""

    def _failure(self, rank: int, error: BaseException) -> BaseException:
        """The error that callers see."""
        if isinstance(error, InputError | Stopped):
            return error
        failure = TraversalError(f"part {rank} of {self.size} ({self.devices[rank]}) failed: {said(error)}")
        failure.__cause__ = error
        return failure

    def _peers(self) -> Sequence[Peers]:
        """The peers of each rank, which serve one call."""
        names = [f"part {rank} ({device})" for rank, device in enumerate(self.devices)]
        if self.device == CPU or len(set(self.devices)) < self.size or self.size == 1:
            return ThreadPeers.group(names, self.limit)
        from .nccl import NcclPeers, Ranks

        if self._communicators is None:
            ordinals = [ordinal(device) for device in self.devices]
            self._communicators = Ranks.of_process(ordinals, names, self.limit)
        return NcclPeers.group(self._communicators)

    def _current(self, rank: int) -> AbstractContextManager[Any]:
        """Within it the rank's device is that of this thread."""
        if self.device == CPU:
            return nullcontext()
        import cupy

        device: AbstractContextManager[Any] = cupy.cuda.Device(ordinal(self.devices[rank]))
        return device


def _called(value: Any, peers: Peers, function: Callable[..., Any]) -> Any:
    return function(value)


def ordinal(device: str) -> int:
    """The number of a device such as "cuda:1"."""
    return int(device.partition(":")[2])


def said(error: BaseException) -> str:
    """An error in one line, and what to do where memory ran out."""
    line = str(error).strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return f"{line}: it does not fit, take more devices or free memory there"
    return line


def device_names(devices: Any) -> list[str]:
    """The device of each part: so many GPUs, "all", those with these ordinals, or "cpu:4" for parts on the CPU.

    Raises `InputError` if there are no such devices.
    """
    if isinstance(devices, str) and devices.startswith(f"{CPU}:"):
        count = devices.partition(":")[2]
        if not (count.isascii() and count.isdigit() and 1 <= int(count) <= MOST_THREADS):
            raise InputError(f"devices={devices!r}: 'cpu:4' stands for 4 parts, at most {MOST_THREADS}")
        return [CPU] * int(count)
    there = len(driver().devices)
    if isinstance(devices, str) and devices == "all":
        ordinals = list(range(max(there, 1)))
    elif isinstance(devices, list | tuple):
        ordinals = [whole_number(each, "a device") for each in devices]
    elif isinstance(devices, str):
        raise InputError(
            f"devices is a number of GPUs, 'all', 'auto', a list as in [0, 1], or 'cpu:4', not {devices!r}"
        )
    else:
        ordinals = list(range(whole_number(devices, "the number of devices", 1)))
    if not ordinals:
        raise InputError("devices is empty: at least one is needed")
    if max(ordinals) >= there:
        raise InputError(
            f"there is no GPU {max(ordinals)}: this machine has {there}"
            + ("; devices='cpu:4' makes 4 parts in the host's memory" if there == 0 else "")
        )
    return [f"{CUDA}:{each}" for each in ordinals]
