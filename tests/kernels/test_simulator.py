"""The Numba kernels run without a GPU, in Numba's simulator."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMPARE = (
    "from rapids_bfs import compare; from rapids_bfs.generators import generate\n"
    "runs = compare(generate('grid:4'), num_sources=1, engines='numba-cuda:two-kernel').engines[0]\n"
    "print(runs.unavailable or runs.runs[0].verdict)\n"
)


def run(*arguments, simulated):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_ENABLE_CUDASIM"}
    if simulated:
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_kernels_are_right():
    assert run(Path(__file__).parents[1] / "support" / "in_simulator.py", simulated=True) == "right"


def test_compare_runs_and_validates():
    assert run("-c", COMPARE, simulated=True) == "valid"


def test_without_a_device_compare_says_so():
    from rapids_bfs._core.cuda.driver import driver

    if driver().devices:
        pytest.skip("there is a CUDA device")
    said = run("-c", COMPARE, simulated=False)
    assert said.startswith("there is no CUDA device")
