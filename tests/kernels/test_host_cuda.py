"""The CUDA C++ that users run, compiled by g++ and run without a GPU: the files of `host_cuda`, in processes of their
own under AddressSanitizer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "host_cuda"
sys.path.append(str(FOLDER))
from host_build import COMPILER, MESSAGES, sanitizer  # noqa: E402

LONG = [["direction_optimizing"], ["deterministic", "one_launch", "rank_kernels"]]
OTHERS = sorted({path.stem.removeprefix("test_") for path in FOLDER.glob("test_*.py")}.difference(*LONG))
PATIENCE = 1800  # seconds
HINT = f"\n{MESSAGES}=1 has an illegal instruction, which is undefined behaviour, described, and lines named"

pytestmark = pytest.mark.skipif(sanitizer() is None, reason=f"{COMPILER} is not installed: apt install {COMPILER}")


@pytest.fixture
def binaries(tmp_path_factory):
    """A folder of compiled kernels for all of pytest-xdist's processes."""
    session = tmp_path_factory.getbasetemp()
    folder = (session.parent if "PYTEST_XDIST_WORKER" in os.environ else session) / "host_cuda"
    folder.mkdir(exist_ok=True)
    return folder


def run(names, binaries):
    environment = os.environ | {
        "HOST_CUDA_BINARIES": str(binaries),
        "LD_PRELOAD": sanitizer(),
        # Python and what it loads keep what they have; a name for each address of a report takes a tenth of the time.
        "ASAN_OPTIONS": f"detect_leaks=0:symbolize={int(MESSAGES in os.environ)}",
        "NUMBA_THREADING_LAYER": "workqueue",  # others end a process that forked
    }
    files = [str(FOLDER / f"test_{name}.py") for name in names]
    # What the sanitizers say goes past pytest, as the process that they end could not pass it on.
    options = ["-q", "--capture=sys", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *files]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize("names", [*LONG, OTHERS], ids=lambda names: names[0])
def test_kernels_on_the_host(names, binaries):
    """In three processes, which take equally long; more of them would take longer, as each has to begin."""
    done = run(names, binaries)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-5000:] + HINT
