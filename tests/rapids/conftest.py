"""Tests side by side with RAPIDS: marked `rapids`, skipped with the reason where it or a GPU is missing."""

from pathlib import Path

import pytest

from rapids_bfs.rapids import missing

FOLDER = Path(__file__).parent
PACKAGES = ("cudf", "cugraph", "pylibcugraph", "nx_cugraph")


class Skipped(pytest.Module):
    """A module that is not even imported."""

    def collect(self):
        pytest.skip(self.reason, allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    if reason := next(filter(None, map(missing, PACKAGES)), None):
        module = Skipped.from_parent(parent, path=module_path)
        module.reason = reason
        return module
    return None


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == FOLDER:
            item.add_marker(pytest.mark.rapids)
