"""A thread leaves a core, if it may run on another, and stays where others put it."""

import os
import threading

import pytest

from rapids_bfs.kernels.cpu import cores
from rapids_bfs.kernels.cpu.compiled import serial


def in_a_thread(function):
    """What it returns; what it does to its own cores changes no others'."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system moves no threads")
def test_leaving_cores():
    def left_after_each():
        allowed = sorted(os.sched_getaffinity(0))
        masks, seen = cores.masks(), []
        for core in [allowed[0], allowed[-1], allowed[-1], -1, cores.CORES, 999]:
            cores.leave(core, masks)
            seen.append(sorted(os.sched_getaffinity(0)))
        os.sched_setaffinity(0, allowed[:1])  # by somebody else
        for core in allowed[0], allowed[-1]:
            cores.leave(core, masks)
            seen.append(sorted(os.sched_getaffinity(0)))
        return allowed, seen

    allowed, seen = in_a_thread(left_after_each)
    if len(allowed) == 1:
        assert all(each == allowed for each in seen)
        return
    assert seen[0] == allowed[1:]
    assert seen[1] == seen[2] == seen[3] == seen[4] == allowed[:-1]
    assert seen[5] in (allowed, [core for core in allowed if core != 999])
    assert seen[6:] == [allowed[:1]] * 2


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system moves no threads")
def test_leaving_no_cores_of_the_process():
    """Somebody lets all threads run where this one had left itself."""

    def left_then():
        cores.leave(min(os.sched_getaffinity(0)), masks := cores.masks())
        here = os.sched_getaffinity(0)
        main = os.sched_getaffinity(os.getpid())
        os.sched_setaffinity(os.getpid(), here)
        try:
            cores.leave(min(here), masks)
        finally:
            os.sched_setaffinity(os.getpid(), main)
        return here, os.sched_getaffinity(0)

    here, left = in_a_thread(left_then)
    assert left == (here - {min(here)} or here)


def test_the_current_core():
    @serial
    def core():
        return cores.current_core()

    here = in_a_thread(core)
    assert here in os.sched_getaffinity(0) if cores.KNOWN else here == -1
