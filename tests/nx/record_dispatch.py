"""A pytest plugin that writes the names of the functions that NetworkX dispatched to us, as JSON."""

import json
import os
from pathlib import Path

import rapids_bfs.nx

seen = set()
_implementation = rapids_bfs.nx._implementation


def recorded(name):
    function = _implementation(name)

    def call(*args, **kwargs):
        seen.add(name)
        return function(*args, **kwargs)

    return call


rapids_bfs.nx._implementation = recorded


def pytest_sessionfinish(session):
    Path(os.environ["DISPATCHED"]).write_text(json.dumps(sorted(seen)))
