"""cuGraph's own tests run on `rapids_bfs.cugraph`, beside the same tests run on cuGraph.

    python tests/rapids/cugraph_suite.py CHECKOUT [--json FILE]

CHECKOUT is a checkout of rapidsai/cugraph of the installed version, of which `datasets` and
`python/cugraph/cugraph/tests` are enough:

    git archive HEAD datasets python/cugraph/cugraph/tests | tar x -C CHECKOUT

Tests that fail on cuGraph too, for want of a network or of a data set, are no difference. Exits with 1 if a test passes
on cuGraph and fails on ours for no reason that `BY_DESIGN` names, or if a function of ours was never called.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TESTS = "python/cugraph/cugraph/tests"
FILES = {  # and which of their tests
    "traversal/test_bfs.py": "",
    "traversal/test_filter_unreachable.py": "",
    "traversal/test_paths.py": "",
    "components/test_connectivity.py": "",
    "centrality/test_betweenness_centrality.py": "",
    "centrality/test_edge_betweenness_centrality.py": "",
    "sampling/test_egonet.py": "",
    "structure/test_graph.py": "two_hop",
}
OURS = (
    *("bfs", "bfs_edges", "filter_unreachable", "shortest_path", "shortest_path_length"),
    *("connected_components", "strongly_connected_components", "weakly_connected_components"),
    *("betweenness_centrality", "edge_betweenness_centrality", "ego_graph"),
)
METHOD = "get_two_hop_neighbors"
UNTESTED = {"bfs_edges", "shortest_path"}  # by cuGraph's tests of one GPU
BY_DESIGN = {
    "traversal/test_paths.py": "their graphs have weights, which these functions refuse: cugraph.sssp takes them",
}
# Instead of cuGraph's own, which sets up Dask and the network, and of pytest-benchmark.
CONFTEST = """
import pytest

@pytest.fixture
def benchmark():
    return lambda function, *arguments, **options: function(*arguments, **options)
"""
RECORD = "CUGRAPH_SUITE_RECORD"  # the file in which a run leaves what became of each test
REPLACED = "CUGRAPH_SUITE_OURS"  # set if it is to be run on ours


class Recorder:
    """The plugin of a run: it puts our functions in the place of cuGraph's, and records each test."""

    def __init__(self):
        self.outcomes, self.calls = {}, Counter()

    def replace(self):
        import cugraph

        from rapids_bfs import cugraph as ours

        for name in OURS:
            setattr(cugraph, name, self.counted(name, getattr(ours, name)))
        setattr(cugraph.Graph, METHOD, self.counted(METHOD, getattr(ours, METHOD)))

    def counted(self, name, function):
        def call(*arguments, **options):
            self.calls[name] += 1
            return function(*arguments, **options)

        return call

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            said = str(report.longrepr if crash is None else crash.message).strip().splitlines()
            self.outcomes[report.nodeid] = report.outcome, *(said[:1] if report.failed else [])

    def pytest_sessionfinish(self):
        record = {"outcomes": self.outcomes, "calls": self.calls}
        Path(os.environ[RECORD]).write_text(json.dumps(record))


def pytest_configure(config):
    recorder = Recorder()
    if REPLACED in os.environ:
        recorder.replace()
    config.pluginmanager.register(recorder)


def run(checkout, *, ours):
    """The outcome of each test, and how often each of our functions was called.

    The tests lie apart from the checkout, whose package Python would otherwise import instead of the installed one.
    """
    with tempfile.TemporaryDirectory() as folder:
        tests, record = Path(folder) / "tests", Path(folder) / "record.json"
        for file in FILES:
            (tests / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(checkout / TESTS / file, tests / file)
        (tests / "conftest.py").write_text(CONFTEST)
        environment = os.environ | {
            RECORD: str(record),
            "RAPIDS_DATASET_ROOT_DIR": str(checkout / "datasets"),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        }
        environment |= {REPLACED: "1"} if ours else {}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "cugraph_suite", "-p", "no:cacheprovider", "-m", "sg"]
        command += [
            "--rootdir",
            str(tests),
            "-W",
            "ignore",
            "-o",
            "markers=sg\nmg\nrequires_nx",
            "--import-mode",
            "importlib",
        ]
        outcomes, calls = {}, Counter()
        for file, only in FILES.items():
            record.unlink(missing_ok=True)
            options = [str(tests / file), *(["-k", only] if only else [])]
            done = subprocess.run(
                [*command, *options], env=environment, cwd=folder, capture_output=True, text=True, check=False
            )
            if not record.exists():
                raise SystemExit(f"{file} did not run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
            found = json.loads(record.read_text())
            outcomes |= found["outcomes"]
            calls.update(found["calls"])
        return outcomes, calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    checkout = arguments.checkout.resolve()
    theirs, _ = run(checkout, ours=False)
    ours, calls = run(checkout, ours=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"theirs": theirs, "ours": ours, "calls": calls}, indent=1) + "\n")

    differ = [name for name, (outcome, *_) in theirs.items() if outcome == "passed" != ours.get(name, ["missing"])[0]]
    print(f"{'file':50}{'on cuGraph':>16}{'on ours':>16}{'differ':>8}")
    for file in FILES:
        shown = [f"{count_of(each, file, 'passed')}/{count_of(each, file)} passed" for each in (theirs, ours)]
        print(f"{file:50}{shown[0]:>16}{shown[1]:>16}{sum(file in name for name in differ):8}")
    unexplained = [name for name in differ if not any(file in name for file in BY_DESIGN)]
    for name in differ:
        reason = next((text for file, text in BY_DESIGN.items() if file in name), None)
        print(f"{name}: {reason or ' '.join(ours.get(name, ['did not run'])[1:])}")
    never = {*OURS, METHOD} - UNTESTED - calls.keys()
    print("never called:", ", ".join(sorted(never)) or "none")
    sys.exit(bool(unexplained or never))


def count_of(outcomes, file, outcome=None):
    return sum(file in name and outcome in (None, found) for name, (found, *_) in outcomes.items())


if __name__ == "__main__":
    main()
