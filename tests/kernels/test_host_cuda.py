"""The CUDA C++ that users run, compiled by g++ and run without a GPU: each file of `host_cuda` in a process of its own,
under AddressSanitizer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "host_cuda"
sys.path.append(str(FOLDER))
from host_build import COMPILER, sanitizer  # noqa: E402

FILES = sorted(path.name for path in FOLDER.glob("test_*.py"))
PATIENCE = 1800  # seconds

pytestmark = pytest.mark.skipif(sanitizer() is None, reason=f"{COMPILER} is not installed: apt install {COMPILER}")


def run(file):
    environment = os.environ | {
        "LD_PRELOAD": sanitizer(),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python and what it loads keep what they have
        "NUMBA_THREADING_LAYER": "workqueue",  # others end a process that forked
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbmake", str(FOLDER / file)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize("file", FILES)
def test_kernels_on_the_host(file):
    done = run(file)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-5000:]
