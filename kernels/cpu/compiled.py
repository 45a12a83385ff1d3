"""How kernels are compiled: `serial` is for a function that one thread runs, `parallel` for one with parallel loops.

A function with parallel loops becomes a `Kernel`, which any Python thread may call at any time, in any process:

- Only one Python thread at a time enters Numba's threading layer. ``workqueue``, the layer that is always available,
  aborts the process when two enter it at once.
- A process that was forked after its parent had started Numba's threads never enters the layer: GNU's OpenMP aborts
  such a process, and ``workqueue`` waits there for threads that the fork did not copy. The kernel's `serial` twin runs
  instead: the same function with its loops on one thread, compiled when it is first needed.

Numba and multiprocessing take their locks in Python code, where an interrupt (KeyboardInterrupt, or what a signal
handler raises) can strike between taking a lock and entering the ``with`` that would release it. Interrupts reach the
main thread alone, so it leaves compiling, and starting Numba's threads, to another one. Locks here are taken directly
by ``with``.

A fork waits until no thread is compiling: in the child the compiler's locks would stay taken, and what they protect
half done. This cannot deadlock: a thread that compiles takes none of our locks, nor Python's import lock, which a
fork takes later; and Numba takes the compiler's two locks in the same order.
"""

import gc
import os
import threading
from contextlib import suppress
from functools import partial, update_wrapper
from types import FunctionType

from llvmlite import ir
from llvmlite.binding import ffi
from numba import config, njit, types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.np.ufunc import parallel as threading_layer

from ..threads import compiling, uninterrupted
from .disk_cache import folder, keep_on_disk, keeps_code

_compiler_locks = global_compiler_lock, ffi.lib._lock
_entry = threading.RLock()  # to the threading layer
_threads_lost = False  # by a fork after Numba's threads had started


def by_type(function, **options):
    """``function`` compiled by Numba with these options, for the types of its arguments alone: a kernel that calls it
    with a constant, or with a variable that begins as one, would have it compiled for the constant, and then again."""
    dispatcher = njit(**options)(function)
    if dispatcher is not function:  # NUMBA_DISABLE_JIT returns the function itself
        template = dispatcher.get_call_template
        dispatcher.get_call_template = lambda args, kws: template(tuple(map(types.unliteral, args)), kws)
    return dispatcher


def for_kernels(function, *, nogil=False, **options):
    """``function`` as `by_type` compiles it, without the wrapper for calls from Python, which takes half of the
    time."""
    return by_type(function, **{"_nrt": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True} | options)


def compiled(function, **options):
    """``function`` compiled by Numba with these options, and kept on disk; compiled apart for kernels that call it."""
    dispatcher = njit(**{"_nrt": True, "no_cfunc_wrapper": True} | options)(function)
    if dispatcher is not function:
        keep_on_disk(dispatcher)
        dispatcher._compiler.compile = partial(compiling, _kept, dispatcher._compiler.compile)
        dispatcher._compile_for_args = partial(_uninterrupted, _compile, dispatcher._compile_for_args)
        inner = for_kernels(function, **options)
        for name in "get_call_template", "get_overload", "get_compile_result":
            setattr(dispatcher, name, getattr(inner, name))
    return dispatcher


def _kept():
    if not keeps_code():
        return "in each process, as they cannot be kept"
    return f"once, kept in {folder()}; 'rapids-bfs warmup' compiles all ahead, in about 110 s on two cores"


def serial(function, **options):
    """``function`` compiled for one thread; it releases the GIL."""
    return compiled(function, nogil=True, **options)


def borrowing(decorator):
    """`serial` or `team.shared` for a function that counts no references to the arrays that it is given: its caller
    holds them. Such a function returns no array; Numba refuses to compile one that allocates."""
    return partial(decorator, _nrt=False)


def parallel(function):
    """A `Kernel` whose parallel loops are divided among Numba's threads."""
    return Kernel(function, parallel=True)


def call_of_c(builder, name, result, *arguments):
    """Call a C function by its name, which keeps addresses out of kernels on disk; return its ``result``."""
    kind = ir.FunctionType(result, [each.type for each in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


class Kernel:
    """A function that Numba's threads run, and its twin for one thread; compiled kernels may call it."""

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
            twin.__qualname__ = f"{function.__qualname__}_on_one_thread"  # names its files on disk
            self._on_one_thread = serial(twin)
        return self._on_one_thread

    @property
    def _numba_type_(self):
        """The type that Numba gives this in a function that calls it."""
        return self._on_threads._numba_type_


def threads_lost():
    """Return True if this process must do without Numba's threads."""
    return _threads_lost


def start_threads():
    """Start Numba's threads, unless they are there."""
    if not threading_layer._is_initialized:
        _uninterrupted(threading_layer._launch_threads)


def num_threads():
    """How many threads Numba gives to the kernels that this Python thread calls."""
    if not threading_layer._is_initialized:
        return config.NUMBA_NUM_THREADS
    return threading_layer._get_num_threads()  # numba.get_num_threads takes locks


def set_num_threads(number):
    """Let ``number`` threads run the kernels that this Python thread calls. Call `start_threads` before."""
    threading_layer._set_num_threads(number)


def _uninterrupted(function, *arguments):
    """`uninterrupted`, unless this thread is compiling already: another one would wait for its lock."""
    if global_compiler_lock.is_locked():
        return function(*arguments)
    return uninterrupted(function, *arguments)


def _compile(compile_for_args, *arguments):
    """Compile without Python's garbage collector, which would take a twelfth of the time. No fork sees it off."""
    with global_compiler_lock:
        collects = gc.isenabled()
        gc.disable()
        try:
            return compile_for_args(*arguments)
        finally:
            if collects:
                gc.enable()


def _before_fork():
    for lock in _compiler_locks:
        lock.__enter__()


def _after_fork():
    for lock in reversed(_compiler_locks):
        with suppress(RuntimeError):  # not taken: an interrupt ended the wait for it
            lock.__exit__(None, None, None)


def _after_fork_in_child():
    global _entry, _threads_lost
    _after_fork()
    _entry = threading.RLock()
    _threads_lost = _threads_lost or threading_layer._backend_init_process_lock is not None  # set first at the start


if hasattr(os, "register_at_fork"):  # missing on Windows only
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
