"""Faults planted in the kernels' text: a test that cannot see them is worth nothing.

All faults of a file are compiled into one library, and one of them at a time is chosen when it runs.
"""

import os
import signal
from collections.abc import Callable
from subprocess import CalledProcessError
from typing import NamedTuple

from host_build import Edits
from host_device import HostDevice

PATIENCE = 60  # seconds


class Fault(NamedTuple):
    """Instead of ``old``, an expression or a whole statement (with its semicolon), the kernel does ``new``."""

    old: str
    new: str
    check: Callable[..., None]  # what fails then,
    way: str = ""  # called with this


def with_switches(faults: list[Fault]) -> Edits:
    return tuple((fault.old, switch(number, fault)) for number, fault in enumerate(faults, 1))


def switch(number: int, fault: Fault) -> str:
    if fault.old.endswith(";"):
        return f"if (planted == {number}) {{ {fault.new} }} else {{ {fault.old} }}"
    return f"(planted == {number} ? ({fault.new}) : ({fault.old}))"


def assert_seen(monkeypatch, file: str, faults: dict[str, Fault], name: str) -> None:
    """The check of a fault passes without it, and fails, by whatever it ends in, with it."""
    fault = faults[name]
    monkeypatch.setattr(HostDevice, "edits", {file: with_switches([*faults.values()])})
    if (fault.check, fault.way) not in passed:
        run(fault)  # here, so that what is compiled is there for all
        assert passed or not fails(fault), "every check fails in a process of its own"
        passed.add((fault.check, fault.way))
    monkeypatch.setattr(HostDevice, "planted", 1 + [*faults].index(name))
    assert fails(fault), f"nothing went wrong with {fault.new!r}"


def run(fault: Fault) -> None:
    fault.check(*[fault.way] if fault.way else [])


def fails(fault: Fault) -> bool:
    """Does it raise or crash in a process of its own? Kernels that do not end raise."""
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        try:
            run(fault)
        except CalledProcessError:
            os._exit(0)  # what does not compile proves nothing
        except BaseException as error:
            print(f"{type(error).__name__}: {error}"[:2000], flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("exit status", status)
    assert status not in (-signal.SIGALRM, -signal.SIGTERM), "it hangs, or may not run in a process that forked"
    return status != 0


passed: set[tuple[Callable[..., None], str]] = set()  # without a fault
