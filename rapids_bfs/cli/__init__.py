"""The program ``rapids-bfs``: errors and exit codes. `commands` has its commands."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
import warnings
from contextlib import suppress
from typing import Any

from ..errors import DeviceError, InputError, TraversalError

FINE, WRONG, BAD_INPUT, OUR_FAULT, DEVICE_FAILED, INTERRUPTED = 0, 1, 2, 70, 71, 130


def main() -> None:
    """Run the command, and end with its exit code."""
    if hasattr(signal, "SIGPIPE"):  # end quietly when the reader of a pipe is gone, as other programs do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # characters that its encoding lacks are written as escapes
            stream.reconfigure(errors="backslashreplace")
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):  # PYTHONUNBUFFERED; `_file_of` needs a buffer
        name, encoding = sys.stdout.fileno(), sys.stdout.encoding
        sys.stdout = open(name, "w", 1, encoding, "backslashreplace", closefd=False)  # noqa: SIM115
    warnings.showwarning = _show_warning
    code = run_command(sys.argv[1:])
    try:
        sys.stdout.flush()
    except (AttributeError, OSError):  # no standard output, or a full disk: `run_command` has reported it
        with suppress(AttributeError, OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run_command(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code. An error is one line on standard error.

    A bug in this program prints its traceback there, and has an exit code of its own.
    """
    try:
        from .commands import app  # inside of `try`: it is slow, and Ctrl-C may come meanwhile

        code = int(app(arguments, prog_name="rapids-bfs", standalone_mode=False) or FINE)
        _flush()
        if code == INTERRUPTED:  # as Typer ends Ctrl-C
            _say("interrupted")
        return code
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except Exception as error:
        return _explain(error)


def _explain(error: Exception) -> int:
    """Print the error; return the exit code."""
    import typer

    reason = str(error).strip() or type(error).__name__
    usage_error = typer.BadParameter.__mro__[1]  # of the click that Typer uses
    if isinstance(error, typer.Abort):
        _say("interrupted")
        return INTERRUPTED
    if isinstance(error, DeviceError):
        _say(f"the device failed: {reason}")
        return DEVICE_FAILED
    if isinstance(error, TraversalError):
        _say(f"wrong answer: {reason}")
        return WRONG
    if isinstance(error, usage_error):
        _say(_usage(error))
    elif isinstance(error, OSError):
        _say(f"error: {_file_of(error)}{error.strerror or reason}")
    elif isinstance(error, MemoryError):
        _say(f"error: {str(error) or 'out of memory'}")
    elif isinstance(error, InputError):
        _say(f"error: {reason}")
    elif isinstance(error, RuntimeError) and reason == "can't start new thread":
        _say(f"error: {reason}: raise the limit on processes and threads, by 'ulimit -u' or the container's settings")
    else:
        with suppress(OSError):
            traceback.print_exception(error)
        return OUR_FAULT
    return BAD_INPUT


def _file_of(error: OSError) -> str:
    """The file that ``error`` is about, if known. Standard output still holds the unwritten text, and fails again."""
    if error.filename is not None:
        return f"{error.filename}: "
    for name, works in (("standard output", _flush), ("the working directory", os.getcwd)):
        try:
            works()
        except OSError:
            return f"{name}: "
    return ""


def _flush() -> None:
    if sys.stdout:
        sys.stdout.flush()


def _usage(error: Exception) -> str:
    """The error in the arguments; empty if the help was shown instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return ""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "rapids-bfs"
    return f"error: {error.format_message().rstrip('.')}: see '{command} --help'"  # type: ignore[attr-defined]


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as a user of the command is to see it: without the line of Python that it comes from."""
    _say(f"warning: {message}")


def _say(text: str) -> None:
    """Print one line to standard error, if it can be."""
    from ..report.console import message, messages

    with suppress(OSError):
        if text:
            messages.print(message(text), soft_wrap=True)
