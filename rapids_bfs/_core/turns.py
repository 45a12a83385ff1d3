"""Locks of calls that take turns. Python runs signal handlers and finalizers in the midst of a call, on its thread.
There, a call of their own would wait forever for the one that it interrupts, or overwrite what that has found."""

from __future__ import annotations

import threading

from ..errors import InputError

ADVICE = "let signal handlers and finalizers search a copy of it, graph.replace()"


def unheld(lock: threading.RLock, call: str, advice: str) -> threading.RLock:
    """The lock of a ``call``, to be taken by ``with``. Raises `InputError` in the thread that holds it."""
    if lock._is_owned():  # type: ignore[attr-defined]
        raise InputError(f"this thread is {call} already: {advice}")
    return lock


class OneCall:
    """Buffers that serve one call at a time. Their ``lock`` is refused to the thread that holds it."""

    _lock: threading.RLock

    @property
    def lock(self) -> threading.RLock:
        return unheld(self._lock, "searching the graph", ADVICE)

    @lock.setter
    def lock(self, lock: threading.RLock) -> None:
        self._lock = lock
