"""A process that ends while communicators are aborted, or about to be."""

from programs import run


def output_until_the_end(program):
    """What the program prints until its process has ended as it should."""
    done = run(program)
    assert done.stderr == ""
    return done.stdout


def test_the_process_ends_after_an_abort():
    """NCCL is unloaded at the end of the process, where a watchdog in the midst of an abort would crash."""
    program = """
import threading, time
from types import SimpleNamespace
from rapids_bfs.distributed.nccl import Ranks
aborting = threading.Event()
def abort():
    aborting.set()
    time.sleep(0.5)
    print("aborted", flush=True)
ranks = Ranks({0: SimpleNamespace(abort=abort)}, ["a GPU"], 1e-3)
ranks.deadlines[0] = 0
aborting.wait()
"""
    assert output_until_the_end(program) == "aborted\n"


def test_the_process_does_not_wait_long_for_aborts():
    """It waited for each of them in turn. Time passes here while it waits for one, and only then."""
    program = """
import threading, time
from types import SimpleNamespace
from rapids_bfs.distributed import nccl
aborting = threading.Barrier(21)
def abort():
    aborting.wait()
    time.sleep(3600)
everything = [nccl.Ranks({0: SimpleNamespace(abort=abort)}, ["a GPU"], 1e-3) for _ in range(20)]
for ranks in everything:
    ranks.deadlines[0] = 0
aborting.wait()
waits = []
class Held:
    def acquire(self, timeout):
        waits.append(timeout)
nccl.monotonic = lambda: sum(waits)
for ranks in everything:
    assert ranks._lock.locked()
    ranks._lock = Held()
nccl._end()
print(len(waits), sum(waits) <= nccl.PARTING)
"""
    assert output_until_the_end(program) == "20 True\n"


def test_no_abort_begins_at_the_end_of_the_process():
    program = """
import time
from types import SimpleNamespace
from rapids_bfs.distributed import nccl
ranks = nccl.Ranks({0: SimpleNamespace(abort=lambda: print("aborted", flush=True))}, ["a GPU"], 1.0)
nccl._end()
ranks.deadlines[0] = 0
time.sleep(0.5)
"""
    assert output_until_the_end(program) == ""
