"""Settings that all tests share."""

import os
from dataclasses import replace

import pytest
import validated
from hypothesis import HealthCheck, settings

from rapids_bfs import device

# Beside other work GNU's OpenMP would hold up each parallel loop, however small, with threads that wait busily.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Compilation makes the first example slow; the machine may be shared.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


class OnDevice:
    """An array that stands for one on a device: it has a length and can be copied to the host, no more."""

    def __init__(self, array):
        self.__cuda_array_interface__ = {}
        self.get, self.nbytes = array.copy, array.nbytes
        self.length = len(array)

    def __len__(self):
        return self.length


@pytest.fixture
def put_on_device(monkeypatch):
    """A function that puts a result and its graph on a device, whether or not there is one."""
    monkeypatch.setattr(device, "to_device", lambda array: array)

    def put(result):
        graph = result.graph._with(offsets=OnDevice(result.graph.offsets), targets=OnDevice(result.graph.targets))
        arrays = {name: OnDevice(getattr(result, name)) for name in ("distances", "predecessors")}
        return replace(result, graph=graph, **arrays)

    return put


def pytest_terminal_summary(terminalreporter):
    if line := validated.warning():
        terminalreporter.write_line(f"warning: {line}", yellow=True)
