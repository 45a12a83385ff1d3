"""Tests side by side with RAPIDS, all marked `rapids`."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == FOLDER:
            item.add_marker(pytest.mark.rapids)
