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
SPARE = 8  # one core in so many is left to others


class Pool:
    """``with pool as threads``: the number of threads that a kernel may use, and nobody else in one.

    All threads meet after each level, and one whose core another process has taken comes milliseconds later: on 32
    cores, one of them busy, a search of rmat:20 by 32 threads took 50 ms rather than 2. So a few cores are spared,
    unless Numba has been told to use fewer threads.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._spared: list[int] = []  # threads, by each entry

    def __enter__(self) -> int:
        self._lock.acquire()
        threads = int(numba.get_num_threads())
        spared = threads // SPARE if threads == numba.config.NUMBA_DEFAULT_NUM_THREADS else 0
        self._spared.append(spared)
        if spared:
            numba.set_num_threads(threads - spared)
        return threads - spared

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if spared := self._spared.pop():
            numba.set_num_threads(numba.get_num_threads() + spared)
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
