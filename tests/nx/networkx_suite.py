"""NetworkX's own tests run through the backend, and a record of what became of each.

    python3 tests/nx/networkx_suite.py [--whole] [--engine cupy] [--json FILE]

Tests that are skipped or expected to fail are run without the backend too: those that are so only with it are named.
Exits with 1 if there is one such, if a test fails, or if a function of the backend was never dispatched to it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx as nx

from rapids_bfs.nx.functions import FUNCTIONS
from rapids_bfs.nx.policy import is_ours

FOLDER = Path(nx.__file__).parent
FILES = [
    "algorithms.traversal.tests.test_bfs",
    "algorithms.shortest_paths.tests.test_unweighted",
    "algorithms.shortest_paths.tests.test_generic",
    "algorithms.tests.test_distance_measures",
    "algorithms.tests.test_dag",
    "algorithms.components.tests.test_connected",
    "algorithms.components.tests.test_weakly_connected",
    "algorithms.components.tests.test_strongly_connected",
    "algorithms.bipartite.tests.test_basic",
    "generators.tests.test_ego",
    "algorithms.tree.tests.test_recognition",
    "algorithms.centrality.tests.test_closeness_centrality",
    "algorithms.centrality.tests.test_harmonic_centrality",
    "algorithms.centrality.tests.test_betweenness_centrality",
    "algorithms.centrality.tests.test_betweenness_centrality_subset",
    "algorithms.centrality.tests.test_reaching",
    "algorithms.tests.test_wiener",
    "algorithms.tests.test_efficiency",
    "algorithms.tests.test_cycles",
]
# One test has 500 graphs; nearly all of its time goes into weights, which are NetworkX's. One seed of ten is enough.
FEWER = "not use_bounds_on_off or -0]"
# A test of NetworkX's dispatch itself: its stub is in no backend, and NetworkX then expects the call to fail.
OF_DISPATCH = "utils/tests/test_backends.py::test_not_implemented_by_nx"


def run(modules, *, backend="rapids_bfs", engine="auto", only=""):
    """What `suite_record` writes of a run of these modules, or of those tests that the expression ``only`` chooses;
    without ``backend`` NetworkX is tested as it is."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        environment = os.environ | {
            "NETWORKX_TEST_BACKEND": backend or "",
            "NETWORKX_FALLBACK_TO_NX": "True" if backend else "",
            "SUITE_RECORD": str(record),
            "SUITE_ENGINE": engine,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-k", only, "-p", "suite_record"]
        command += ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
        command += ["--rootdir", str(FOLDER), "--pyargs"]  # tests are named from there on
        done = subprocess.run(
            [*command, *modules], env=environment, cwd=folder, capture_output=True, text=True, check=False
        )
        assert record.exists(), done.stdout[-3000:] + done.stderr[-3000:]
        return json.loads(record.read_text()) | {"output": done.stdout[-3000:]}


def ours():
    """The functions that the backend has of the installed NetworkX."""
    return set(filter(is_ours, FUNCTIONS))


def held_back(record):
    """Tests that are skipped or expected to fail in this run, and that pass without the backend."""
    names = sorted({*record["skipped"], *record["xfailed"]} - {OF_DISPATCH})
    if not names:
        return []
    plain = run([str(FOLDER / name) for name in names], backend=None)
    assert not plain["dispatched"]
    return sorted({*names} - {*plain["skipped"], *plain["xfailed"]})


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--whole", action="store_true", help="all of NetworkX's tests, not only those of our functions")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    modules = ["networkx"] if arguments.whole else [f"networkx.{file}" for file in FILES]
    record = run(modules, engine=arguments.engine)
    found = held_back(record)
    missing = sorted(ours() - record["dispatched"].keys())
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")

    print(f"{'function':40}{'calls':>8}{'of which left to NetworkX':>28}")
    for name, counts in record["dispatched"].items():
        print(f"{name:40}{counts['calls']:8,}{counts['left']:28,}")
    print(
        f"NetworkX {record['networkx']}, engine {record['engine']}: {record['passed']:,} passed,"
        f" {len(record['failed'])} failed, {len(record['skipped'])} skipped, {len(record['xfailed'])} expected to fail"
    )
    print("skipped or expected to fail with the backend alone:", ", ".join(found) or "none")
    print("never dispatched to the backend:", ", ".join(missing) or "none")
    print(*record["failed"], sep="\n")
    sys.exit(bool(record["failed"] or found or missing))


if __name__ == "__main__":
    main()
