"""Calls that no interrupt can stop half-way, and threads with stacks large enough to import and compile."""

import ctypes
import os
import sys
import threading
from _thread import start_new_thread
from functools import partial
from importlib import _bootstrap, import_module
from queue import SimpleQueue

STACK = 8 << 20  # bytes; what a thread has by default on Linux. Importing Numba takes more than 64 KiB
_stacks = threading.RLock()  # the size of stacks is one for all threads
_seen_small = False
_size_of_stacks = ctypes.pythonapi.PyThread_get_stacksize  # `threading.stack_size` sets it to 0 when it is asked
_size_of_stacks.restype = ctypes.c_size_t


def uninterrupted(function, *arguments, **named):
    """Call ``function`` where no interrupt can stop it half-way, and return its value or raise its exception.

    Interrupts (KeyboardInterrupt, or what a signal handler raises) reach the main thread alone, so it leaves the call
    to another thread, which goes on where an interrupt has ended the wait for it.
    """
    return _in_another_thread(start_thread, partial(function, *arguments, **named))


def imported(name):
    """The module of this name, of which no interrupt leaves half.

    A signal handler may interrupt the import of another package to call this. Then another thread that needs that
    package would wait for its import, and the import for that thread. So this thread itself imports then.
    """
    return import_module(name) if _is_importing() else uninterrupted(import_module, name)


def _is_importing():
    """Is this thread importing a module of another package?"""
    ours = __name__.partition(".")[0]
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code is _bootstrap._find_and_load.__code__ and frame.f_locals["name"].partition(".")[0] != ours:
            return True
        frame = frame.f_back
    return False


def start_thread(function, *arguments):
    """Start a daemon thread that calls ``function``. Its stack has at least `STACK` bytes, even where
    `threading.stack_size` asks for fewer.

    While the main thread is in here, a signal handler may run, and wait for other threads that start threads. So the
    main thread takes no lock that they need, neither ours nor those of `threading.Thread.start`.
    """
    global _seen_small
    if 0 < _size_of_stacks() < STACK:
        _seen_small = True
    if _seen_small:  # now or before: what was just read may be the size that another thread sets for a moment
        _in_another_thread(_start, partial(_start_with_large_stack, function, arguments))
    else:
        start_new_thread(function, arguments)


def _in_another_thread(start, function):
    """`uninterrupted`, for which ``start`` starts the thread."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    outcome = SimpleQueue()

    def call():
        try:
            outcome.put((function(), None))
        except BaseException as error:
            outcome.put((None, error))

    try:
        start(call)
    except RuntimeError:  # too many threads, or the interpreter is shutting down
        call()
    result, error = outcome.get()
    if error is not None:
        raise error
    return result


def _start(function):
    start_new_thread(function, ())


def _start_with_large_stack(function, arguments):
    with _stacks:
        before = threading.stack_size()
        try:
            threading.stack_size(STACK if 0 < before < STACK else before)
            start_new_thread(function, arguments)
        finally:
            threading.stack_size(before)


def _renew_lock():
    global _stacks
    _stacks = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)  # another thread of the parent may hold it
