"""Faults planted in the kernels' text: a test that cannot see them is worth nothing.

All faults of a file are compiled into one library, and one of them at a time is chosen when it runs.
"""

import os
import signal
from collections.abc import Callable
from typing import NamedTuple

from build import Edits
from device import HostDevice

PATIENCE = 60  # seconds


class Fault(NamedTuple):
    """Instead of ``old``, an expression or a whole statement (with its semicolon), the kernel does ``new``."""

    old: str
    new: str
    seen_by: Callable[[], None]  # what fails then


def with_switches(faults: list[Fault]) -> Edits:
    return tuple((fault.old, switch(number, fault)) for number, fault in enumerate(faults, 1))


def switch(number: int, fault: Fault) -> str:
    if fault.old.endswith(";"):
        return f"if (planted == {number}) {{ {fault.new} }} else {{ {fault.old} }}"
    return f"(planted == {number} ? ({fault.new}) : ({fault.old}))"


def assert_seen(file: str, faults: dict[str, Fault], name: str) -> None:
    """The test that is to see a fault passes without it, and fails, by whatever it ends in, with it."""
    HostDevice.edits = {file: with_switches([*faults.values()])}
    HostDevice.planted = 1 + [*faults].index(name)
    try:
        assert fails(faults[name].seen_by), f"nothing went wrong with {faults[name].new!r}"
    finally:
        HostDevice.edits, HostDevice.planted = {}, 0


def fails(test: Callable[[], None]) -> bool:
    """Does it raise, crash or hang in a process of its own?"""
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        try:
            test()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}"[:2000])
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0
