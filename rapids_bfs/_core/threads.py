"""The threads of the CPU's kernels: the number for a kernel, and the helpers of `kernels.cpu.team`.

Numba's own threads run the kernels with parallel loops, one kernel at a time, see `kernels.cpu.compiled`.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from _thread import LockType, allocate_lock
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import numpy as np

from ..errors import InputError
from ..kernels.cpu import numba, team
from ..kernels.cpu.compiled import num_threads, set_num_threads, start_threads, threads_lost
from ..kernels.threads import start_thread, uninterrupted
from .cores import usable_cores
from .environment import WrongVariable
from .forks import in_each_child
from .memory import available_bytes

FEW = 1 << 13  # items; one thread finishes fewer before the others wake up
LAYER = "NUMBA_THREADING_LAYER"
SPARE = 8  # one core in 8 is left to other processes
PARTING = 0.1  # seconds that the helpers have to leave at the process's end, all together


class Pool:
    """Numba's threads, and the helpers of our own team.

    Helpers are daemon threads; they are started when first needed and sleep between jobs. A forked child has none, and
    starts its own.

    Numba's threads meet after each loop, and a thread that has lost its core to another process arrives milliseconds
    late. So they leave a few cores free, unless NUMBA_NUM_THREADS asks for fewer threads. Helpers use all cores.

    At most ``most`` threads ever work for one kernel: buffers and the team have room for so many. Numba is asked once,
    since it reads NUMBA_NUM_THREADS again whenever it compiles. Without that variable, its number is that of the cores
    that the process may run on, which a container's quota may lower.
    """

    def __init__(self) -> None:
        _require_main_interpreter()
        told = "NUMBA_NUM_THREADS" in os.environ
        threads = numba.config.NUMBA_NUM_THREADS if told else min(numba.config.NUMBA_NUM_THREADS, usable_cores())
        self.most: int = min(max(threads, 1), team.INSIDE)
        self._begin()
        in_each_child(self._begin)
        atexit.register(self._end)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._helpers: list[LockType] = []  # what each holds until it has left
        self._team = team.new(0)

    @property
    def size(self) -> int:
        """The number of threads that may work for this Python thread, itself included: Numba's number of threads, but
        at most ``most``."""
        return min(max(int(num_threads()), 1), self.most)

    def team(self, things: int | None = None, few: int = FEW, most: int | None = None) -> tuple[np.ndarray, int]:
        """The last two arguments of a kernel that a team helps with: the team, and the number of threads: one for fewer
        than ``few`` items, else all, but at most ``most``. Raises `WrongVariable` if NUMBA_DISABLE_JIT is set."""
        if numba.config.DISABLE_JIT:
            raise WrongVariable("NUMBA_DISABLE_JIT is set, and kernels only run compiled: unset it")
        threads = 1 if things is not None and things < few else self.size
        if most is not None:
            threads = min(threads, most)
        if len(self._helpers) < threads - 1:
            uninterrupted(self._start, threads - 1)  # a signal handler that searches would wait for the lock forever
        return self._team, threads

    def fitting(self, each: int) -> int:
        """How many threads may have buffers of this many bytes each, in half of the free memory; one at least."""
        return max(1, min(self.most, available_bytes() // (2 * max(each, 1))))

    def _start(self, helpers: int) -> None:
        """Start helpers until there are ``helpers``."""
        with self._lock:
            if not self._helpers:
                room = team.new(self.most - 1)
                team.close(room)
                team.serve(room, 0)  # returns, compiled
                room[team.CLOSED] = 0
                self._team = room
            for place in range(len(self._helpers) + 1, helpers + 1):
                inside = allocate_lock()
                self._helpers.append(inside)
                with suppress(RuntimeError):  # the system has no more threads; jobs do not wait for this one
                    start_thread(_serve, self._team, place, inside, threading.get_native_id())

    @contextmanager
    def limited(self, threads: int) -> Iterator[None]:
        """A context in which at most ``threads`` threads work for this Python thread.

        This takes no lock. Numba keeps the number per Python thread: if an interrupt prevents its restoration, that
        thread loses speed, and no answer becomes wrong.
        """
        if threads_lost():
            yield
            return
        self._start_numbas()
        allowed = num_threads()
        try:
            set_num_threads(min(threads, allowed))
            yield
        finally:
            if not threads_lost():  # as after a fork in the body
                set_num_threads(allowed)

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
        end = monotonic() + PARTING
        for inside in self._helpers:
            inside.acquire(timeout=max(end - monotonic(), 0))

    @contextmanager
    def work_on(self, things: int | None = None, few: int = FEW) -> Iterator[int]:
        """``with pool.work_on(things) as threads``: this number of Numba's threads runs the kernels with parallel loops
        that this Python thread calls in the body: one for fewer than ``few`` items, else all.
        """
        if threads_lost():
            yield 1
            return
        allowed = self.size
        spared = allowed // SPARE if allowed == numba.config.NUMBA_DEFAULT_NUM_THREADS else 0
        threads = 1 if things is not None and things < few else allowed - spared
        with self.limited(threads):
            yield threads


def _serve(room: np.ndarray, place: int, inside: LockType, starter: int) -> None:
    """`team.serve`, unless threads are green, as gevent's: one that polls and sleeps would stop the ``starter``, on
    which it runs."""
    if threading.get_native_id() != starter:
        with inside:
            team.serve(room, place)


def _require_main_interpreter() -> None:
    """Raise `InputError` in a subinterpreter, where Numba's kernels would wait for the GIL forever."""
    mine, main = (
        ctypes.PYFUNCTYPE(ctypes.c_void_p)((f"PyInterpreterState_{name}", ctypes.pythonapi))()
        for name in ("Get", "Main")
    )
    if mine != main:
        raise InputError("Numba, whose kernels rapids_bfs runs, needs the main interpreter: use a thread or a process")


pool = Pool()
