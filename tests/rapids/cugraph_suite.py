"""cuGraph's own tests run on `rapids_bfs.cugraph`, beside the same tests run on cuGraph.

    python tests/rapids/cugraph_suite.py CHECKOUT [--json FILE] [--seconds N] [--workers N]

CHECKOUT is a checkout of rapidsai/cugraph of the installed version, of which `datasets` and
`python/cugraph/cugraph/tests` are enough:

    git archive HEAD datasets python/cugraph/cugraph/tests | tar x -C CHECKOUT

Tests that fail on cuGraph too, for want of a network or of a data set, are no difference. Exits with 1 if a test passes
on cuGraph and fails on ours for no reason that `BY_DESIGN` names, or if a function of ours was never called; with 2 if
the time was over before. With ``--json`` the next call goes on where the last one ended.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
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
PLAN = "CUGRAPH_SUITE_PLAN"  # the file that says what a process is to run, and where it leaves what became of it
NOT_TO_ITS_END = "its process did not live to the end of it"
GRACE = 30  # seconds over the time of a process, for its last test


class Recorder:
    """The plugin of a process: it puts our functions in the place of cuGraph's, and notes each test, a line each."""

    def __init__(self, *, ours, share, workers, seconds, done, record):
        self.share, self.workers, self.done = share, workers, set(done)
        self.end = time.monotonic() + seconds
        self.record, self.calls = Path(record), Counter()
        if ours:
            self.replace()

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

    def note(self, **line):
        with self.record.open("a") as lines:
            lines.write(json.dumps(line) + "\n")

    def pytest_collection_modifyitems(self, items):
        wanted = [
            item for item in items if any(file in item.nodeid and only in item.name for file, only in FILES.items())
        ]
        mine = [item for item in wanted if item.nodeid not in self.done][self.share :: self.workers]
        self.note(wanted=[item.nodeid for item in wanted])
        items[:] = mine

    def pytest_runtest_logstart(self, nodeid):
        self.note(test=nodeid, outcome=["crashed", NOT_TO_ITS_END])

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            said = str(report.longrepr if crash is None else crash.message).strip().splitlines()
            self.note(test=report.nodeid, outcome=[report.outcome, *(said[:1] if report.failed else [])])

    def pytest_runtest_teardown(self, item):
        self.note(calls=self.calls)
        self.calls.clear()
        if time.monotonic() > self.end:
            item.session.shouldstop = "the time is over"


def pytest_configure(config):
    if PLAN in os.environ:
        config.pluginmanager.register(Recorder(**json.loads(Path(os.environ[PLAN]).read_text())))


def begin(tests, folder, checkout, plan):
    """Start a process that runs its share. The tests lie apart from the checkout, whose package Python would otherwise
    import instead of the installed one."""
    written = folder / f"plan-{plan['ours']}-{plan['share']}.json"
    written.write_text(json.dumps(plan))
    environment = os.environ | {
        PLAN: str(written),
        "RAPIDS_DATASET_ROOT_DIR": str(checkout / "datasets"),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "cugraph_suite", "-p", "no:cacheprovider", "-m", "sg"]
    command += ["--rootdir", str(tests), "-W", "ignore", "-o", "markers=sg\nmg\nrequires_nx"]
    command += ["--import-mode", "importlib", *(str(tests / file) for file in FILES)]
    with written.with_suffix(".log").open("w") as log:
        return subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT)


def run(checkout, known, *, seconds, workers):
    """Add to what is ``known`` of the tests on cuGraph and on ours, which run beside each other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tests = folder / "tests"
        for file in FILES:
            (tests / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(checkout / TESTS / file, tests / file)
        (tests / "conftest.py").write_text(CONFTEST)
        processes = []
        for whose in ("theirs", "ours"):
            for share in range(workers):
                plan = {"ours": whose == "ours", "share": share, "workers": workers, "seconds": seconds}
                plan |= {"done": [*known[whose]], "record": str(folder / f"{whose}-{share}")}
                processes.append((whose, plan["record"], begin(tests, folder, checkout, plan)))
        end = time.monotonic() + seconds + GRACE
        for _, _, process in processes:
            try:
                process.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for whose, record, _ in processes:
            if not Path(record).exists():
                logs = [log.read_text()[-3000:] for log in sorted(folder.glob("*.log"))]
                raise SystemExit(f"{whose}: a process did not collect its tests:\n{logs[0]}{logs[-1]}")
            for line in map(json.loads, Path(record).read_text().splitlines()):
                if "test" in line:
                    known[whose][line["test"]] = line["outcome"]
                known["wanted"] = line.get("wanted", known["wanted"])
                known["calls"] = dict(Counter(known["calls"]) + Counter(line.get("calls", {})))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--json", type=Path, help="what is known already, and where it is kept")
    parser.add_argument("--seconds", type=float, default=3600, help="after which no test begins")
    parser.add_argument("--workers", type=int, default=4, help="processes for each of cuGraph and ours")
    arguments = parser.parse_args()
    known = {"theirs": {}, "ours": {}, "calls": {}, "wanted": []}
    if arguments.json and arguments.json.exists():
        known |= json.loads(arguments.json.read_text())
    run(arguments.checkout.resolve(), known, seconds=arguments.seconds, workers=arguments.workers)
    if arguments.json:
        arguments.json.write_text(json.dumps(known, indent=1) + "\n")
    sys.exit(report(known))


def report(known):
    """Print the table and what differs. Returns the exit status."""
    theirs, ours = known["theirs"], known["ours"]
    both = theirs.keys() & ours.keys()
    differ = sorted(name for name in both if theirs[name][0] == "passed" != ours[name][0])
    left = [name for name in known["wanted"] if name not in both]
    print(f"{'file':52}{'on cuGraph':>16}{'on ours':>16}{'differ':>8}{'left':>6}")
    for file in FILES:
        shown = [f"{count_of(each, file, 'passed')}/{count_of(each, file)} passed" for each in (theirs, ours)]
        print(f"{file:52}{shown[0]:>16}{shown[1]:>16}{count_of(differ, file):8}{count_of(left, file):6}")
    for name in differ:
        reason = next((text for file, text in BY_DESIGN.items() if file in name), None)
        print(f"{name}: {reason or ' '.join(ours[name][1:])}")
    if left:
        print(f"{len(left)} of {len(known['wanted'])} tests are left for the next call")
        return 2
    never = {*OURS, METHOD} - UNTESTED - known["calls"].keys()
    print("never called:", ", ".join(sorted(never)) or "none")
    return int(bool(never) or any(not any(file in name for file in BY_DESIGN) for name in differ))


def count_of(outcomes, file, outcome=None):
    """How many tests of a file there are, or had this outcome."""
    return sum(file in name and (outcome is None or outcomes[name][0] == outcome) for name in outcomes)


if __name__ == "__main__":
    main()
