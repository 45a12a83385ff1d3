"""Calls that no interrupt can stop half-way."""

import threading
from queue import SimpleQueue


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
        threading.Thread(target=call).start()
    except RuntimeError:  # too many threads, or the interpreter is shutting down
        call()
    result, error = outcome.get()
    if error is not None:
        raise error
    return result
