"""Calls that no interrupt can stop half-way, threads with stacks large enough to import and compile, and a line about
compiling that takes long."""

import ctypes
import os
import sys
import threading
from _thread import allocate_lock, start_new_thread
from contextlib import suppress
from functools import partial
from importlib import _bootstrap, import_module
from operator import attrgetter
from queue import Empty, SimpleQueue
from time import perf_counter

STACK = 8 << 20  # bytes; what a thread has by default on Linux. Importing Numba takes more than 64 KiB
QUIET = "RAPIDS_BFS_QUIET"  # the environment variable that leaves out the line about compiling
SLOW = 1.0  # seconds of compiling in a process after which there is one
QUICK = 0.1  # seconds that are not counted: loading compiled code from a cache takes less
PAUSE = 0.05  # seconds between two looks whether a thread waits for an import
_unsaid, _spent = [True], 0.0  # the line; seconds
_stacks = threading.RLock()  # the size of stacks is one for all threads
_seen_small = False
_size_of_stacks = ctypes.pythonapi.PyThread_get_stacksize  # `threading.stack_size` sets it to 0 when it is asked
_size_of_stacks.restype = ctypes.c_size_t


def _code(name):
    """The code of this function of the import system, which is not public; None if it has no such function."""
    try:
        return attrgetter(name)(_bootstrap).__code__
    except AttributeError:
        return None


_IMPORTS, _WAITS = _code("_find_and_load"), _code("_ModuleLock.acquire")


def uninterrupted(function, *arguments, **named):
    """Call ``function`` where no interrupt can stop it half-way, and return its value or raise its exception.

    Interrupts (KeyboardInterrupt, or what a signal handler raises) reach the main thread alone, so it leaves the call
    to another thread, which goes on where an interrupt has ended the wait for it.
    """
    return _in_another_thread(start_thread, partial(function, *arguments, **named))


def imported(name):
    """The module of this name, of which no interrupt leaves half."""
    return uninterrupted(import_module, name)


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


def _in_another_thread(start, function):
    """`uninterrupted`, for which ``start`` starts the thread."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    outcome, helper = SimpleQueue(), []

    def call():
        helper.append(threading.get_ident())
        try:
            outcome.put((function(), None))
        except BaseException as error:
            outcome.put((None, error))

    try:
        start(call)
    except RuntimeError:  # too many threads, or the interpreter is shutting down
        call()
    result, error = _got(outcome, helper)
    if error is not None:
        raise error
    return result


def _got(outcome, helper):
    """What another thread puts into this queue. Raises `ImportError` if it waits for what this thread is importing.

    A signal handler may have interrupted that import, which goes on once the handler has ended, or the package that is
    imported extends Numba.
    """
    ours = set(_imports(sys._getframe()))
    while True:
        try:
            return outcome.get(timeout=PAUSE if ours else None)
        except Empty:
            frame = sys._current_frames().get(helper[0]) if helper else None
            for each in _frames(frame):
                if each.f_code is _WAITS and (name := getattr(each.f_locals.get("self"), "name", None)) in ours:
                    raise ImportError(f"{name} is being imported: search when it has been") from None


def _imports(frame):
    """The names of the modules that the thread of this frame is importing."""
    return (each.f_locals["name"] for each in _frames(frame) if each.f_code is _IMPORTS and "name" in each.f_locals)


def _frames(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


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
