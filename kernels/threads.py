"""Calls that no interrupt can stop half-way, threads with stacks large enough to import and compile, and a line about
compiling that takes long."""

import ctypes
import os
import sys
import threading
from _thread import allocate_lock, start_new_thread
from contextlib import suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from time import perf_counter

STACK = 8 << 20  # bytes; what a thread has by default on Linux. Importing Numba takes more than 64 KiB
PAUSE = 0.05  # seconds between two looks whether an import has begun
QUIET = "RAPIDS_BFS_QUIET"  # the environment variable that leaves out the line about compiling
SLOW = 1.0  # seconds of compiling in a process after which there is one
QUICK = 0.1  # seconds that are not counted: loading compiled code from a cache takes less
_unsaid, _spent = [True], 0.0  # the line; seconds
_stacks = threading.RLock()  # the size of stacks is one for all threads
_seen_small = False
_size_of_stacks = ctypes.pythonapi.PyThread_get_stacksize  # `threading.stack_size()` would set it to 0
_size_of_stacks.restype = ctypes.c_size_t


def uninterrupted(function, *arguments):
    """Call ``function`` where no interrupt can stop it half-way, and return its value or raise its exception.

    Interrupts (KeyboardInterrupt, or what a signal handler raises) reach the main thread alone, so it leaves the call
    to another thread, which goes on where an interrupt has ended the wait for it.
    """
    return _value(*_begun(function, *arguments).get())


def imported(name):
    """Import the module of this name, and return it; no interrupt leaves half of it.

    Once another thread has begun to import it, the main thread waits as for any import by another thread. If that
    waits for an import of the main thread, which a signal handler has interrupted, Python raises a `RuntimeError`.
    """
    if parent := name.rpartition(".")[0]:
        imported(parent)
    if name not in sys.modules:
        outcome = _begun(import_module, name)
        while name not in sys.modules:
            with suppress(Empty):
                return _value(*outcome.get(timeout=PAUSE))
    return import_module(name)


def _begun(function, *arguments):
    """Let another thread call ``function``; this one if it is not the main thread, or if none can be started. Return a
    queue, which gets its value and exception."""
    outcome = SimpleQueue()

    def call():
        try:
            outcome.put((function(*arguments), None))
        except BaseException as error:
            outcome.put((None, error))

    if threading.current_thread() is threading.main_thread():
        with suppress(RuntimeError):  # too many threads, or the interpreter is shutting down
            start_thread(call)
            return outcome
    call()
    return outcome


def _value(value, error):
    if error is not None:
        raise error
    return value


def start_thread(function, *arguments):
    """Start a daemon thread that calls ``function``. Its stack has at least `STACK` bytes, even where
    `threading.stack_size` asks for fewer."""
    global _seen_small
    if 0 < _size_of_stacks() < STACK:
        _seen_small = True
    if not _seen_small:  # now or before: what was just read may be the size that another thread sets for a moment
        start_new_thread(function, arguments)
        return
    with _stacks:
        before = _size_of_stacks()
        try:
            threading.stack_size(STACK)
            start_new_thread(function, arguments)
        finally:
            threading.stack_size(before)


def compiling(kept, function, *arguments):
    """Call ``function``, which compiles, and return its value. If that takes long, a line on standard error says so,
    once in a process; ``kept()`` is its end, on where compiled code is kept."""
    global _spent
    if not _unsaid:
        return function(*arguments)
    left, begin, running = max(SLOW - _spent, 0.0), perf_counter(), allocate_lock()
    running.acquire()
    with suppress(RuntimeError):  # too many threads, or the interpreter is shutting down
        start_thread(lambda: running.acquire(timeout=left) or _say(kept))
    try:
        return function(*arguments)
    finally:
        running.release()
        if (seconds := perf_counter() - begin) >= left:
            _say(kept)
        elif seconds > QUICK:
            _spent += seconds


def _say(kept):
    with suppress(IndexError, OSError):  # said already; nobody reads it
        _unsaid.pop()
        if not os.environ.get(QUIET) and sys.stderr:
            print(f"rapids_bfs: compiling kernels {kept()}", file=sys.stderr, flush=True)


def _renew_lock():
    global _stacks
    _stacks = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)  # another thread of the parent may hold it
