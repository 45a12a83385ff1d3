"""Locks of calls that take turns. Python runs signal handlers and finalizers in the midst of a call, on its thread.
There, a call of their own would wait forever for the one that it interrupts, or overwrite what that has found."""

from __future__ import annotations

import threading

from ..errors import InputError


def unheld(lock: threading.RLock, call: str, advice: str) -> threading.RLock:
    """The lock of a ``call``, to be taken by ``with``. Raises `InputError` in the thread that holds it."""
    if lock._is_owned():  # type: ignore[attr-defined]
        raise InputError(f"this thread is {call} already: {advice}")
    return lock
