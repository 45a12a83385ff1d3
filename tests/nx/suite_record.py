"""A pytest plugin that writes down, as JSON, how tests ended and which functions NetworkX dispatched to us.

``SUITE_RECORD`` names the file and ``SUITE_ENGINE`` the engine.
"""

import json
import logging
import os
from collections import Counter
from pathlib import Path

import networkx as nx

from rapids_bfs.nx import calls

dispatched, left = Counter(), Counter()
passed, failed, skipped, xfailed = [], [], {}, []
implementation = calls.implementation


class Leaving(logging.Handler):
    """Counts the calls that our functions leave to NetworkX."""

    def emit(self, record):
        left[record.args[0]] += 1


def counted(name):
    function = implementation(name)

    def call(*args, **kwargs):
        dispatched[name] += 1
        return function(*args, **kwargs)

    return call


def pytest_sessionstart(session):
    calls.implementation = counted
    calls.logger.addHandler(Leaving())
    calls.logger.setLevel(logging.DEBUG)
    calls.logger.propagate = False
    nx.config.backends.rapids_bfs.engine = os.environ["SUITE_ENGINE"]


def pytest_collectreport(report):
    if report.skipped:
        skipped[report.nodeid] = report.longrepr[2]


def pytest_runtest_logreport(report):
    if hasattr(report, "wasxfail"):
        xfailed.append(report.nodeid)
    elif report.skipped:
        skipped[report.nodeid] = report.longrepr[2]
    elif report.failed:
        failed.append(report.nodeid)
    elif report.when == "call":
        passed.append(report.nodeid)


def pytest_sessionfinish(session):
    record = {
        "networkx": nx.__version__,
        "backend": session.config.backend,
        "engine": os.environ["SUITE_ENGINE"],
        "passed": len(passed),
        "failed": failed,
        "skipped": skipped,
        "xfailed": xfailed,
        "dispatched": {name: {"calls": dispatched[name], "left": left[name]} for name in sorted(dispatched)},
    }
    Path(os.environ["SUITE_RECORD"]).write_text(json.dumps(record, indent=1) + "\n")
