"""Faults planted in the kernels' text, each of which a test must detect.

All faults of a file are compiled into one library; `planted` selects one at run time.
"""

import os
import signal
from collections.abc import Callable
from subprocess import CalledProcessError
from typing import NamedTuple

from host_build import Edits
from host_device import HostDevice

PATIENCE = 600  # seconds before a check counts as hanging
ALONE_AT_THE_BARRIER: Edits = (  # a grid of one block that waits at the grid's barrier traps
    ("= atomic_add_acq_rel(arrived, step);", "= gridDim.x == 1 ? (__trap(), 0) : atomic_add_acq_rel(arrived, step);"),
)


class Fault(NamedTuple):
    """Instead of ``old``, an expression or a whole statement (with its semicolon), the kernel does ``new``."""

    old: str
    new: str
    check: Callable[..., None]  # the test that then fails
    way: str = ""  # its argument, if any


def with_switches(faults: list[Fault]) -> Edits:
    return tuple((fault.old, switch(number, fault)) for number, fault in enumerate(faults, 1))


def switch(number: int, fault: Fault) -> str:
    if fault.old.endswith(";"):
        return f"if (planted == {number}) {{ {fault.new} }} else {{ {fault.old} }}"
    return f"(planted == {number} ? ({fault.new}) : ({fault.old}))"


def assert_seen(monkeypatch, file: str, faults: dict[str, Fault], name: str) -> None:
    """Assert that the check of this fault passes without it, and with it raises, crashes or hangs."""
    fault = faults[name]
    monkeypatch.setattr(HostDevice, "edits", {file: with_switches([*faults.values()])})
    if (fault.check, fault.way) not in passed:
        run(fault)  # in this process, so that its children find the library compiled
        assert passed or not fails(fault), "every check fails in a forked process"
        passed.add((fault.check, fault.way))
    monkeypatch.setattr(HostDevice, "planted", 1 + [*faults].index(name))
    assert fails(fault), f"nothing went wrong with {fault.new!r}"


def run(fault: Fault) -> None:
    fault.check(*[fault.way] if fault.way else [])


def fails(fault: Fault) -> bool:
    """Does the check raise or crash in a forked process? Kernels that do not end raise."""
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


passed: set[tuple[Callable[..., None], str]] = set()  # checks that passed without a fault
