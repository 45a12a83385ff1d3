"""How many of Numba's threads a kernel gets. Kernels take turns by themselves, see `kernels.cpu.compiled`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba

from .kernels.cpu.compiled import num_threads, set_num_threads, threads_lost

FEW = 1 << 13  # one thread finishes fewer items than these before the others wake up
SPARE = 8  # one core in so many is left to other processes


class Pool:
    """Numba's threads.

    All threads meet after each level, and one whose core another process has taken comes milliseconds later: on 32
    cores, one of them busy, a search of rmat:20 by 32 threads took 50 ms rather than 2. So a few cores are spared,
    unless Numba has been told to use fewer threads.
    """

    @property
    def size(self) -> int:
        """How many threads a kernel may use that this Python thread calls."""
        if threads_lost():
            return 1
        threads = int(num_threads())
        return threads - threads // SPARE if threads == numba.config.NUMBA_DEFAULT_NUM_THREADS else threads

    @contextmanager
    def work_on(self, things: int | None = None, few: int = FEW) -> Iterator[int]:
        """``with pool.work_on(things) as threads``: so many threads run the kernels that this Python thread calls in
        the body: one for fewer than ``few`` things, else as many as there are.

        This takes no lock. Numba keeps the number per Python thread: if an interrupt prevents its restoration, that
        thread loses speed, and no answer becomes wrong.
        """
        if threads_lost():
            yield 1
            return
        allowed = num_threads()
        threads = 1 if things is not None and things < few else self.size
        try:
            set_num_threads(threads)
            yield threads
        finally:
            if not threads_lost():  # as after a fork in the body
                set_num_threads(allowed)


pool = Pool()
