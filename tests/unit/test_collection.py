"""Tests that need a device are collected where there is one, and a green run of them is put on record."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import validated

TESTS = Path(__file__).parents[1]
GPU = sorted(path.name for path in (TESTS / "gpu").glob("test_*.py"))
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
    without_cupy = {"tests/gpu/test_device_graph.py", "tests/gpu/test_gpu_windows.py"}
    assert {f"tests/gpu/{name}" for name in GPU} - collected <= without_cupy, done.stdout
    assert "not collected: tests/gpu" not in done.stdout


def test_no_two_files_have_one_name():
    """Pytest collects no two, and those in `gpu` and `rapids` are collected only where they can run."""
    apart = TESTS / "kernels" / "host_cuda"  # in a process of their own
    names = [path.name for path in TESTS.rglob("test_*.py") if path.parent != apart]
    assert sorted(names) == sorted({*names})


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that tells a recorder of a green run of `tests/gpu`, changed, and returns what it wrote."""
    (tmp_path / "gpu").mkdir()
    for name in GPU:
        (tmp_path / "gpu" / name).touch()
    monkeypatch.setattr(validated, "RECORD", tmp_path / "gpu" / "validated.json")
    monkeypatch.setattr(validated, "record", lambda: {"card": "a device"})

    def run(*, without=None, narrowed_by=(), keyword="", **last):
        recorder = validated.Recorder(SimpleNamespace(args=narrowed_by, option=SimpleNamespace(keyword=keyword)))
        passed = {"when": "call", "passed": True, "failed": False, "skipped": False}
        for report in [
            *(passed | {"fspath": f"tests/gpu/{name}"} for name in GPU if name != without),
            passed | {"fspath": f"tests/gpu/{GPU[0]}"} | last,
        ]:
            recorder.pytest_runtest_logreport(SimpleNamespace(**report))
        recorder.pytest_sessionfinish()
        return json.loads(validated.RECORD.read_text()) if validated.RECORD.exists() else None

    return run


def test_a_green_run_is_recorded(run):
    assert run() == {"card": "a device"}
    assert run(fspath="tests/unit/test_graph.py", passed=False, failed=True) == {"card": "a device"}


@pytest.mark.parametrize(
    "changed",
    [
        {"passed": False, "failed": True},
        {"when": "setup", "passed": False, "skipped": True},
        {"without": GPU[-1]},
        {"narrowed_by": ["tests/gpu/test_classics.py::test_small"]},
        {"keyword": "small"},
    ],
    ids=str,
)
def test_a_run_that_was_not_whole_or_not_green_is_not(run, changed):
    assert run(**changed) is None
