"""Numba's threads, one parallel kernel at a time.

Of Numba's threading layers the one that is always there, ``workqueue``, ends the process when two Python threads
enter it at once.
"""

from __future__ import annotations

import threading
from types import TracebackType

import numba


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


pool = Pool()
