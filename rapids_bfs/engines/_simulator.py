"""Numba's CUDA simulator, made fit for kernels that share memory: its threads are threads of Python."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

VERTICES = 5_000  # of the largest graph that it searches in bearable time


def simulated() -> bool:
    """Do the kernels run in the simulator?"""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@contextmanager
def running() -> Iterator[None]:
    """Let Python's threads take turns often: those of the simulator wait for one another at every barrier."""
    lock_shared_arrays()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


class SharedArrays(dict[Any, Any]):
    """A block's shared arrays, by the line that asks for them.

    The simulator looks an array up and, if it is not there, adds it. Two threads that do so at once would get an
    array each; here a thread that finds none keeps the others waiting until it has added it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def get(self, line: Any, default: Any = None) -> Any:
        self._lock.acquire()
        array = super().get(line)
        if array is not None:
            self._lock.release()
        return array

    def __setitem__(self, line: Any, array: Any) -> None:
        super().__setitem__(line, array)
        self._lock.release()


@cache
def lock_shared_arrays() -> None:
    """Give every block that runs from now on `SharedArrays`."""
    from numba.cuda.simulator.kernelapi import FakeCUDAShared

    initialize = FakeCUDAShared.__init__

    def initialize_with_lock(self: Any, *arguments: Any) -> None:
        initialize(self, *arguments)
        self._allocations = SharedArrays()

    FakeCUDAShared.__init__ = initialize_with_lock
