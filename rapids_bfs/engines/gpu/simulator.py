"""Numba's CUDA simulator, adapted to kernels that share memory: its threads are threads of Python."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from ..._core.forks import Turns

_turns = Turns("running Numba's simulator", "let signal handlers and finalizers use the engine 'cpu'")


def simulated() -> bool:
    """Return True if the kernels run in the simulator."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@contextmanager
def running() -> Iterator[None]:
    """A search in the simulator, which runs one kernel at a time: others wait, those on the same thread are refused.

    Python switches threads often meanwhile: the simulator's threads wait for one another at every barrier.
    """
    with _turns.lock:
        lock_shared_arrays()
        interval = sys.getswitchinterval()
        try:
            sys.setswitchinterval(1e-5)
            yield
        finally:
            sys.setswitchinterval(interval)


@cache
def lock_shared_arrays() -> None:
    """Let the threads of a block request its shared arrays one at a time.

    The simulator looks an array up by the line that requests it and, if it is missing, adds it. Two threads that did
    this at once would get an array each.
    """
    from numba.cuda.simulator.kernelapi import FakeCUDAShared

    allocate = FakeCUDAShared.array
    lock = threading.RLock()

    def array(self: Any, *arguments: Any, **named: Any) -> Any:
        asks = sys._getframe(1)
        line = asks.f_code.co_filename, asks.f_lineno
        with lock:
            arrays = self.__dict__.setdefault("arrays", {})
            if line not in arrays:
                self._allocations.clear()  # the arrays of the block before, by line
                arrays[line] = allocate(self, *arguments, **named)
            return arrays[line]

    FakeCUDAShared.array = array
