"""The threads of the CPU's kernels: how many a kernel gets, and the helpers of `kernels.cpu.team`.

Numba's own threads run the kernels that have parallel loops, which take turns by themselves, see
`kernels.cpu.compiled`.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numba
import numpy as np

from ..errors import InputError
from ..kernels.cpu import team
from ..kernels.cpu.compiled import num_threads, set_num_threads, start_threads, threads_lost
from .environment import WrongVariable
from .forks import in_each_child

FEW = 1 << 13  # one thread finishes fewer items than these before the others wake up
LAYER = "NUMBA_THREADING_LAYER"
SPARE = 8  # one core in so many is left to other processes


class Pool:
    """Numba's threads, and the helpers of our own team.

    Helpers are daemon threads, started when first wanted, which sleep in between. After a fork the child has none, and
    starts its own.

    Numba's threads all meet after each loop, and one whose core another process has taken comes milliseconds later. So
    they leave a few cores alone, unless Numba has been told to use fewer threads. Helpers use them all.
    """

    def __init__(self) -> None:
        _require_main_interpreter()
        self._begin()
        in_each_child(self._begin)
        atexit.register(self._end)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._helpers: list[threading.Thread] = []
        self._team = team.new(0)

    @property
    def size(self) -> int:
        """How many threads may work for this Python thread, itself among them: as many as Numba's may."""
        return int(num_threads())

    @property
    def most(self) -> int:
        """How many threads may ever work for one kernel, whatever Numba is told: what there are buffers for."""
        return int(numba.config.NUMBA_NUM_THREADS)

    def team(self, things: int | None = None, few: int = FEW, most: int | None = None) -> tuple[np.ndarray, int]:
        """The last two arguments of a kernel that a team helps with: the team, and how many threads it deserves: one
        for fewer than ``few`` things, else as many as there are, but at most ``most``."""
        threads = 1 if things is not None and things < few else self.size
        if most is not None:
            threads = min(threads, most)
        if len(self._helpers) < threads - 1:
            with self._lock:
                self._start(threads - 1)
        return self._team, threads

    def _start(self, helpers: int) -> None:
        """Let there be so many helpers."""
        if not self._helpers:
            room = team.new(self.most - 1)
            team.close(room)
            team.serve(room, 0)  # returns, compiled
            room[team.CLOSED] = 0
            self._team = room
        for place in range(len(self._helpers) + 1, helpers + 1):
            helper = threading.Thread(
                target=team.serve, args=(self._team, place), name="rapids_bfs helper", daemon=True
            )
            self._helpers.append(helper)  # before the start: no interrupt may lead to two in one place
            with suppress(RuntimeError):  # too many threads: nobody waits for this one
                helper.start()

    def _start_numbas(self) -> None:
        try:
            start_threads()
        except ValueError as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            by = "the environment variable NUMBA_THREADING_LAYER" if LAYER in os.environ else "Numba's threading layer"
            raise WrongVariable(
                f"Numba's threads cannot start ({reason}): {by} is {numba.config.THREADING_LAYER!r}: "
                "unset it, or install what it names"
            ) from None

    def _end(self) -> None:
        team.close(self._team)
        for helper in self._helpers:
            if helper.is_alive():
                helper.join(0.1)

    @contextmanager
    def work_on(self, things: int | None = None, few: int = FEW) -> Iterator[int]:
        """``with pool.work_on(things) as threads``: so many of Numba's threads run the kernels with parallel loops that
        this Python thread calls in the body: one for fewer than ``few`` things, else as many as there are.

        This takes no lock. Numba keeps the number per Python thread: if an interrupt prevents its restoration, that
        thread loses speed, and no answer becomes wrong.
        """
        if threads_lost():
            yield 1
            return
        self._start_numbas()
        allowed = self.size
        spared = allowed // SPARE if allowed == numba.config.NUMBA_DEFAULT_NUM_THREADS else 0
        threads = 1 if things is not None and things < few else allowed - spared
        try:
            set_num_threads(threads)
            yield threads
        finally:
            if not threads_lost():  # as after a fork in the body
                set_num_threads(allowed)


def _require_main_interpreter() -> None:
    """Raise `InputError` in a subinterpreter, where Numba's kernels wait for the GIL for ever."""
    mine, main = (
        ctypes.PYFUNCTYPE(ctypes.c_void_p)((f"PyInterpreterState_{name}", ctypes.pythonapi))()
        for name in ("Get", "Main")
    )
    if mine != main:
        raise InputError("Numba, whose kernels rapids_bfs runs, needs the main interpreter: use a thread or a process")


pool = Pool()
