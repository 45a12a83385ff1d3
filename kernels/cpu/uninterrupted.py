"""Calls that no interrupt can stop half-way, and threads that have the room for ours."""

import os
import threading
from queue import SimpleQueue

STACK = 8 << 20  # bytes; what a thread has by default on Linux. Importing Numba takes more than 64 KiB
_stacks = threading.RLock()  # the size of stacks is one for all threads


def uninterrupted(function, *arguments, **named):
    """Call ``function`` where no interrupt can stop it half-way, and return its value or raise its exception.

    Interrupts (KeyboardInterrupt, or what a signal handler raises) reach the main thread alone, so it leaves the call
    to another thread, which goes on where an interrupt has ended the wait for it.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments, **named)
    outcome = SimpleQueue()

    def call():
        try:
            outcome.put((function(*arguments, **named), None))
        except BaseException as error:
            outcome.put((None, error))

    try:
        with_large_stack(threading.Thread(target=call).start)
    except RuntimeError:  # too many threads, or the interpreter is shutting down
        call()
    result, error = outcome.get()
    if error is not None:
        raise error
    return result


def with_large_stack(start, *arguments):
    """Call ``start``, which starts a thread that can import and compile, though `threading.stack_size` was told to give
    threads less."""
    with _stacks:
        told = threading.stack_size()  # asking for the size also sets it to 0, the default
        try:
            threading.stack_size(STACK if 0 < told < STACK else told)
            start(*arguments)
        finally:
            threading.stack_size(told)


def _renew_lock():
    global _stacks
    _stacks = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)  # another thread of the parent may hold it
