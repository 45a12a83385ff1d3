"""A thread leaves a core, if it may run on another."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from rapids_bfs.kernels.cpu import cores
from rapids_bfs.kernels.cpu.compiled import serial


@pytest.mark.skipif(sys.platform != "linux", reason="this system moves no threads")
def test_leaving_cores():
    """One that was left before is given back; others are where the main thread may run, wherever it was told to."""

    @serial
    def current():
        return cores.current_core()

    def left(core):
        cores.leave(core)
        here = os.sched_getaffinity(0)
        assert current() in here
        return here

    allowed = os.sched_getaffinity(os.getpid())
    with ThreadPoolExecutor(1) as thread:
        for core in sorted(allowed):
            assert thread.submit(left, core).result() == (allowed - {core} or allowed)
        for nowhere in -1, cores.CORES:
            assert thread.submit(left, nowhere).result() == (allowed - {max(allowed)} or allowed)
        try:
            os.sched_setaffinity(os.getpid(), {max(allowed)})
            assert thread.submit(left, min(allowed)).result() == {max(allowed)}
        finally:
            os.sched_setaffinity(os.getpid(), allowed)
