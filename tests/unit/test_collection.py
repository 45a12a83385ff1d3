"""Tests that need a device are collected where there is one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
GPU = sorted(path.name for path in (TESTS / "gpu").glob("test_*.py"))
WITHOUT_CUPY = ("device_components", "device_filter", "device_graph", "gpu_tensors", "gpu_windows")  # or PyTorch
A_DEVICE = """
from rapids_bfs._core.cuda import driver

driver.driver = lambda: driver.Driver((13, 0), ("a device",))
"""


def test_tests_of_a_device_are_collected_where_there_is_one(tmp_path):
    (tmp_path / "a_device.py").write_text(A_DEVICE)
    command = [sys.executable, "-m", "pytest", "-p", "a_device", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-m", "gpu", str(TESTS / "gpu")],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    collected = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    without_cupy = {f"tests/gpu/test_{name}.py" for name in WITHOUT_CUPY}
    assert {f"tests/gpu/{name}" for name in GPU} - collected <= without_cupy, done.stdout
    assert "not collected: tests/gpu" not in done.stdout


def test_no_two_files_have_one_name():
    """Pytest collects no two, and those in `gpu` and `rapids` are collected only where they can run."""
    apart = TESTS / "kernels" / "host_cuda"  # in a process of their own
    names = [path.name for path in TESTS.rglob("test_*.py") if path.parent != apart]
    assert sorted(names) == sorted({*names})


SKIPS = """
import pytest

def test_without_a_gpu():
    pytest.skip("there is no CUDA device: no driver")

@pytest.mark.skip(reason="nobody knows why")
def test_never():
    pass
"""


@pytest.mark.parametrize(("switch", "code"), [("", 0), ("1", 1)])
def test_a_skip_that_is_not_listed_fails_where_that_is_asked(switch, code, tmp_path):
    (tmp_path / "test_skips.py").write_text(SKIPS)
    (tmp_path / "test_module.py").write_text("import pytest\npytest.importorskip('a_module_that_is_not_there')")
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-n", "2", "-p", "no:cacheprovider"]
    paths = os.pathsep.join([str(TESTS), str(TESTS / "support")])
    environment = os.environ | {"PYTHONPATH": paths, "FAIL_ON_SKIPS": switch}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    told = [line.rpartition(": ")[2] for line in done.stdout.splitlines() if "MAY_BE_SKIPPED" in line]
    assert sorted(told) == ["No module named 'a_module_that_is_not_there'", "nobody knows why"][: 2 * code]
