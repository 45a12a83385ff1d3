"""The library answers after an interrupt at any line, in the thread that was interrupted and in others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
        timeout=300 + TIMES,
        cwd=Path(__file__).parents[1] / "support",
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:]
