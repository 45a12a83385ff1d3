"""Tests that need a CUDA device, all marked `gpu`. A green run of them writes `validated.json`, see `validated`."""

from pathlib import Path

import pytest

from rapids_bfs._core.cuda import nvml
from rapids_bfs.engines import registered

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == FOLDER:
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(scope="session", autouse=True)
def engines():
    """Both engines must be able to use the device."""
    for name in ("cupy", "numba-cuda"):
        assert registered()[name].unavailable() is None, registered()[name].unavailable()


@pytest.fixture(autouse=True)
def not_alone(monkeypatch):
    """pytest-xdist's workers share a GPU: let it be used although other processes compute there."""
    monkeypatch.setattr(nvml, "others", lambda *given: [])
