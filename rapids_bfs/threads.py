"""Numba's threads, one parallel kernel at a time.

Of Numba's threading layers the one that is always there, ``workqueue``, ends the process when two Python threads
enter it at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import numba

FEW = 1 << 13  # with fewer things to do, one thread has done them before the others are awake


class Pool:
    """``with pool as threads``: the number of threads that a kernel may use, and nobody else in one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> int:
        self._lock.acquire()
        return int(numba.get_num_threads())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    @contextmanager
    def work_on(self, things: int, few: int = FEW) -> Iterator[int]:
        """``with pool.work_on(things) as threads``: the same, with one thread alone for fewer than ``few`` things."""
        with self as threads:
            try:
                if things < few:
                    numba.set_num_threads(1)
                yield int(numba.get_num_threads())
            finally:
                numba.set_num_threads(threads)


pool = Pool()
