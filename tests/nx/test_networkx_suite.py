"""NetworkX's own tests of these functions, run with the backend, none of them skipped or expected to fail by us."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from rapids_bfs.nx.functions import FUNCTIONS
from rapids_bfs.nx.policy import is_ours

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


def test_passes_and_every_function_is_dispatched_here(tmp_path):
    record = tmp_path / "dispatched.json"
    environment = os.environ | {
        "NETWORKX_TEST_BACKEND": "rapids_bfs",
        "NETWORKX_FALLBACK_TO_NX": "True",
        "DISPATCHED": str(record),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
    }
    modules = [f"networkx.{file}" for file in FILES]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "record_dispatch", "-p", "no:cacheprovider", "--pyargs"]
    done = subprocess.run(
        [*command, *modules], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    summary = done.stdout.strip().splitlines()[-1]
    assert int(re.search(r"(\d+) passed", summary)[1]) > 500, summary
    assert "xfailed" not in summary, summary
    dispatched = set(json.loads(record.read_text()))
    assert dispatched == set(filter(is_ours, FUNCTIONS))
