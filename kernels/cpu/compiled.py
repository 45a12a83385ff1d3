"""How kernels are compiled: `serial` is for a function that one thread runs, `parallel` for one with parallel loops.

A function with parallel loops becomes a `Kernel`, which any Python thread may call at any time, in any process:

- One Python thread at a time is in Numba's threading layer. The layer that is always there, ``workqueue``, ends the
  process when two enter it at once.
- A process that was forked after its parent had started Numba's threads never enters the layer: GNU's OpenMP ends such
  a process, and ``workqueue`` waits in it for threads that the fork has not copied. There the kernel's `serial` twin
  runs, the same function with its loops on one thread, compiled when it is first needed.

Numba and multiprocessing take their locks in Python's code, where an interrupt (KeyboardInterrupt, or what a signal's
handler raises) can strike between a lock and the ``with`` that would release it. Interrupts strike the main thread
alone, so that it has another one compile, and start Numba's threads. Locks here are taken by ``with`` themselves.

A fork waits until no thread is compiling: in the child the compiler's locks would stay taken, and what they protect
half done. It does not wait for ever: whoever compiles asks for no lock of ours, nor for Python's import lock, which a
fork takes later; and Numba takes the compiler's two locks in the same order.
"""

import os
import threading
from contextlib import suppress
from functools import partial, update_wrapper
from queue import SimpleQueue
from types import FunctionType

from llvmlite.binding import ffi
from numba import njit
from numba.core.compiler_lock import global_compiler_lock
from numba.np.ufunc import parallel as threading_layer

from .disk_cache import keep_on_disk

_compiler_locks = global_compiler_lock, ffi.lib._lock
_entry = threading.RLock()  # to the threading layer
_threads_lost = False  # at a fork


def compiled(function, **options):
    """``function`` compiled by Numba with these options, and kept on disk."""
    dispatcher = njit(**options)(function)
    if dispatcher is not function:  # as it is under NUMBA_DISABLE_JIT
        keep_on_disk(dispatcher)
        dispatcher._compile_for_args = partial(_uninterrupted, dispatcher._compile_for_args)
    return dispatcher


def serial(function):
    """``function`` compiled for one thread; others run meanwhile."""
    return compiled(function, nogil=True)


def parallel(function):
    """A `Kernel` whose parallel loops are shared out over Numba's threads."""
    return Kernel(function, parallel=True)


def calls_parallel(function):
    """A `Kernel` without parallel loops of its own, which calls kernels that have some."""
    return Kernel(function)


class Kernel:
    """A function that Numba's threads run, and its twin that one thread runs; compiled kernels may call it."""

    def __init__(self, function, **options):
        self._on_threads = compiled(function, nogil=True, **options)
        self._on_one_thread = None
        update_wrapper(self, function)

    def __call__(self, *arguments):
        if _threads_lost:
            return self.serial(*arguments)
        with _entry:
            return self._on_threads(*arguments)

    @property
    def serial(self):
        """The twin. Where the function calls kernels, it calls their twins."""
        if self._on_one_thread is None:
            function = self.__wrapped__
            names = function.__globals__.copy()
            for name in function.__code__.co_names:
                if isinstance(names.get(name), Kernel):
                    names[name] = names[name].serial
            twin = FunctionType(function.__code__, names, function.__name__)
            twin.__qualname__ = f"{function.__qualname__}_on_one_thread"  # so that it has files of its own on disk
            self._on_one_thread = serial(twin)
        return self._on_one_thread

    @property
    def _numba_type_(self):
        """What Numba takes this for in a function that calls it."""
        return self._on_threads._numba_type_


def threads_lost():
    """Must this process do without Numba's threads?"""
    return _threads_lost


def num_threads():
    """How many of Numba's threads run the kernels that this Python thread calls."""
    if not threading_layer._is_initialized:
        _uninterrupted(threading_layer._launch_threads)
    return threading_layer._get_num_threads()  # numba.get_num_threads takes locks


def set_num_threads(number):
    """Have so many of them run the kernels that this Python thread calls; after `num_threads`."""
    threading_layer._set_num_threads(number)


def _uninterrupted(function, *arguments, **named):
    """What ``function`` returns or raises, which no interrupt keeps from coming to its end."""
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments, **named)
    outcome = SimpleQueue()

    def call():
        try:
            outcome.put((function(*arguments, **named), None))
        except BaseException as error:
            outcome.put((None, error))

    threading.Thread(target=call).start()
    result, error = outcome.get()
    if error is not None:
        raise error
    return result


def _before_fork():
    for lock in _compiler_locks:
        lock.__enter__()


def _after_fork():
    for lock in reversed(_compiler_locks):
        with suppress(RuntimeError):  # it was not taken, because an interrupt ended the wait for it
            lock.__exit__(None, None, None)


def _after_fork_in_child():
    global _entry, _threads_lost
    _after_fork()
    _entry = threading.RLock()
    # The first of what Numba sets when it starts its threads.
    _threads_lost = _threads_lost or threading_layer._backend_init_process_lock is not None


if hasattr(os, "register_at_fork"):  # as everywhere but on Windows
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
