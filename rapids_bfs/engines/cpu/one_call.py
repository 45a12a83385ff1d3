"""Buffers that serve one call at a time."""

from __future__ import annotations

import threading

from ..._core.turns import unheld

ADVICE = "let signal handlers and finalizers search a copy of it, graph.replace()"


class OneCall:
    """Buffers that serve one call at a time. Their ``lock`` is refused to the thread that holds it."""

    _lock: threading.RLock

    @property
    def lock(self) -> threading.RLock:
        return unheld(self._lock, "searching the graph", ADVICE)

    @lock.setter
    def lock(self, lock: threading.RLock) -> None:
        self._lock = lock
