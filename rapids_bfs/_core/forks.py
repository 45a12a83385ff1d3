"""Locks of calls that take turns, and what a forked child must not inherit from its parent's other threads: locks that
they hold, and their half-finished work."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from ..errors import InputError

Function = TypeVar("Function", bound=Callable[[], Any])

_generation = 0


def in_each_child(function: Function) -> Function:
    """Call ``function`` first of all in every process that is forked from now on; usable as a decorator."""
    if hasattr(os, "register_at_fork"):  # missing on Windows only
        os.register_at_fork(after_in_child=function)
    return function


def generation() -> int:
    """The number of forks between this process and the one that imported this module."""
    return _generation


def lock_of_process(locks: dict[int, threading.RLock]) -> threading.RLock:
    """The lock of this process among ``locks``: in a child, a thread that the fork did not copy may hold its parent's.
    `setdefault` gives one lock to all threads."""
    return locks.get(_generation) or locks.setdefault(_generation, threading.RLock())


class Turns:
    """Calls that take turns: each enters ``with turns.lock:``.

    Python runs signal handlers and finalizers in the midst of a call, on its thread. There, a call of their own would
    wait forever for the one that it interrupts, or overwrite what that has found.
    """

    def __init__(
        self,
        call: str = "searching the graph",
        advice: str = "let signal handlers and finalizers search a copy of it, graph.replace()",
    ) -> None:
        self._refusal = f"this thread is {call} already: {advice}"
        self._locks: dict[int, threading.RLock] = {}

    @property
    def lock(self) -> threading.RLock:
        """The lock of this process, to be taken by ``with``. Raises `InputError` in the thread that holds it."""
        lock = lock_of_process(self._locks)
        if lock._is_owned():  # type: ignore[attr-defined]
            raise InputError(self._refusal)
        return lock


@in_each_child
def _count() -> None:
    global _generation
    _generation += 1


if sys.version_info < (3, 12):  # where `cached_property` holds a lock while it computes
    _cached_properties: list[cached_property[Any]] = []

    def _find_cached_properties() -> None:
        """Look for those of our classes. Other threads may import modules meanwhile, or fork: a child of theirs then
        has all of them or none, and looks itself."""
        _cached_properties.clear()
        ours = [module for name, module in sys.modules.copy().items() if name.partition(".")[0] == "rapids_bfs"]
        classes = {each for module in ours for each in [*vars(module).values()] if isinstance(each, type)}
        attributes = [each for found in classes for each in [*vars(found).values()]]
        _cached_properties[:] = [each for each in attributes if isinstance(each, cached_property)]

    @in_each_child
    def _unlock_cached_properties() -> None:
        if not _cached_properties:  # an interrupt ended the search
            _find_cached_properties()
        for each in _cached_properties:
            vars(each)["lock"] = threading.RLock()

    if hasattr(os, "register_at_fork"):  # a child that looked at all modules would copy the memory that they are in
        os.register_at_fork(before=_find_cached_properties)
