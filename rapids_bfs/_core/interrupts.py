"""What signal handlers raise is about the call that they interrupt, not about the code that ran at that moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


def is_interrupt(error: BaseException) -> bool:
    """Is it a KeyboardInterrupt, or was it raised by a signal handler of this process?"""
    if isinstance(error, KeyboardInterrupt):
        return True
    if threading.current_thread() is not threading.main_thread():  # where no handler runs
        return False
    handlers = {_code(signal.getsignal(each)) for each in signal.valid_signals()} - {None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def interrupt_behind(error: BaseException | None) -> BaseException | None:
    """The interrupt that ``error`` is, or from which a library raised it; else None."""
    while error is not None and not is_interrupt(error):
        error = error.__cause__
    return error


@contextmanager
def suppressed(*kinds: type[Exception]) -> Iterator[None]:
    """`contextlib.suppress`, except for what a signal handler raises: a timer's TimeoutError is an OSError, too."""
    try:
        yield
    except kinds as error:
        if not isinstance(error, FileNotFoundError) and is_interrupt(error):  # asking takes longer than most files
            raise


def _code(handler: Any) -> Any:
    """The code of a handler that is written in Python; else None."""
    while isinstance(handler, partial):
        handler = handler.func
    if not callable(handler):  # SIG_DFL, SIG_IGN or None
        return None
    function = handler if hasattr(handler, "__code__") else type(handler).__call__
    return getattr(function, "__code__", None)
