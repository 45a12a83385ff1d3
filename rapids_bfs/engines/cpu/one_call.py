"""Buffers that serve one call at a time."""

from __future__ import annotations

import threading

from ...errors import InputError


class OneCall:
    """Its ``lock`` is refused to the thread that holds it: a signal handler, or a finalizer, which Python runs in the
    midst of a call, would overwrite what that call has found."""

    _lock: threading.RLock

    @property
    def lock(self) -> threading.RLock:
        if self._lock._is_owned():  # type: ignore[attr-defined]
            raise InputError(
                "this thread is searching the graph already: "
                "let signal handlers and finalizers search a copy of it, graph.replace()"
            )
        return self._lock

    @lock.setter
    def lock(self, lock: threading.RLock) -> None:
        self._lock = lock
