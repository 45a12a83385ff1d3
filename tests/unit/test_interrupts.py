"""The library answers after an interrupt at any line, in the thread that was interrupted and in others."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from interrupts import at_line

from rapids_bfs.distributed.peer_memory import AtWork

TIMES = int(os.environ.get("RAPIDS_BFS_INTERRUPTS", "300"))


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no interval timers")
def test_interrupts_at_lines_and_at_random_moments():
    """Set RAPIDS_BFS_INTERRUPTS for more of them."""
    command = [sys.executable, "-W", "ignore", "interrupts.py", "--times", str(TIMES), "--seed", str(os.getpid())]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=600 + TIMES,
        cwd=Path(__file__).parents[1] / "support",
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:]


def test_an_interrupted_call_is_not_at_work_for_ever():
    """What waits until no call is at work goes on."""
    at_work = AtWork()

    def operation():
        with at_work.working():
            pass

    def wait(done):
        with at_work.exclusive():
            done.set()

    for line in range(1, at_line(0, operation) + 1):
        at_line(line, operation)
        done = threading.Event()
        threading.Thread(target=wait, args=[done], daemon=True).start()
        assert done.wait(600), f"line {line}"
