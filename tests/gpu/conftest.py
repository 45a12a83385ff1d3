"""Tests that need a CUDA device: marked `gpu`, skipped where there is none, and put on record when all are green.

With pytest-xdist, `pytest -m gpu tests/gpu -n 4` spreads them over several processes, and these over all devices.
"""

import json
import os
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest
import validated

from rapids_bfs.driver import driver
from rapids_bfs.engines import registered

FOLDER = Path(__file__).parent
PACKAGES = ("cupy", "cupy-cuda13x", "cupy-cuda12x", "numba", "numba-cuda", "numpy", "scipy")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == FOLDER:
            item.add_marker(pytest.mark.gpu)
            if not driver().devices:
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture(scope="session", autouse=True)
def engines():
    """Where there is a device, both engines must be able to use it."""
    for name in ("cupy", "numba-cuda"):
        assert registered()[name].unavailable() is None, registered()[name].unavailable()


class Recorder:
    """Writes `validated.json` if every test of this folder ran and passed."""

    def __init__(self):
        self.passed = set()
        self.spoiled = False

    def pytest_runtest_logreport(self, report):
        if Path(report.fspath).parent.name != FOLDER.name:
            return
        if report.when == "call" and report.passed:
            self.passed.add(Path(report.fspath).name)
        elif report.failed or report.skipped:
            self.spoiled = True

    def pytest_sessionfinish(self, session):
        whole = self.passed == {path.name for path in FOLDER.glob("test_*.py")}
        narrowed = session.config.option.keyword or any("::" in argument for argument in session.config.args)
        if whole and not narrowed and not self.spoiled:
            validated.RECORD.write_text(json.dumps(record(), indent=2) + "\n")


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # one of several processes, which know of their own tests alone
        devices = len([*Path("/dev").glob("nvidia[0-9]*")])  # without the driver, which reads the variable but once
        if devices > 1:
            os.environ["CUDA_VISIBLE_DEVICES"] = str(int(config.workerinput["workerid"][2:]) % devices)
    else:
        config.pluginmanager.register(Recorder())


def record():
    """The device, the day, the versions and the code that ran."""
    import cupy

    return {
        "card": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "date": datetime.now(UTC).date().isoformat(),
        "cuda": ".".join(map(str, driver().cuda)),
        "versions": {name: installed for name in PACKAGES if (installed := installed_version(name))},
        "sha256": validated.code_hash(),
    }


def installed_version(package):
    try:
        return version(package)
    except ModuleNotFoundError:
        return None
