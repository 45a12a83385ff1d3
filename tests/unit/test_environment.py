"""Variables of the environment that cannot be used are named, whatever is being done."""

import os
import subprocess
import sys
from ctypes.util import find_library
from importlib.util import find_spec
from pathlib import Path

import pytest
from platformdirs import user_cache_dir

WRONG = [
    *[("NUMBA_NUM_THREADS", value) for value in ("0", "-1", "x", "", "2.5")],
    ("NUMBA_THREADING_LAYER", "bogus"),
    pytest.param(
        "NUMBA_THREADING_LAYER",
        "tbb",
        marks=pytest.mark.skipif(find_library("tbb") is not None or find_spec("tbb") is not None, reason="TBB is here"),
    ),
]
CALLS = {
    "file": "rapids_bfs.bfs('karate', 0, engine='cpu')",
    "edges": "rapids_bfs.bfs(([0, 1], [1, 2]), 0, engine='cpu')",
    "generator": "rapids_bfs.load('rmat:4')",
    "networkx": "import networkx as nx; nx.descendants(nx.path_graph(3), 0, backend='rapids_bfs')",
}
COMMAND = """
import sys
from rapids_bfs.cli import main
sys.argv = ["rapids-bfs", "run", "karate", "--source", "0"]
main()
"""
PROGRAM = """
try:
    import rapids_bfs
    {}
except rapids_bfs.InputError as error:
    print(error)
"""


@pytest.mark.parametrize(("variable", "value"), WRONG)
@pytest.mark.parametrize("how", ["command", *CALLS])
def test_a_wrong_variable_is_named(variable, value, how):
    if (value, how) == ("tbb", "networkx"):
        pytest.skip("a search of three vertices starts no threads")
    program = COMMAND if how == "command" else PROGRAM.format(CALLS[how])
    with_threads = "import numba" if value == "tbb" else ""  # else NumPy answers
    done = subprocess.run(
        [sys.executable, "-c", with_threads + program],
        capture_output=True,
        text=True,
        env=os.environ | {variable: value},
        timeout=600,
    )
    said = done.stderr if how == "command" else done.stdout
    assert f"the environment variable {variable} is '{value}'" in said
    assert "karate" not in said
    assert done.stdout.count("\n") + done.stderr.count("\n") == 1
    assert done.returncode == (2 if how == "command" else 0)


@pytest.mark.skipif(sys.platform != "linux", reason="no variable names the user's cache folder")
def test_no_test_finds_what_another_has_kept(tmp_path_factory):
    """Suites and datasets are read instead of measured and downloaded again. See tests/conftest.py."""
    folder = Path(user_cache_dir("rapids_bfs"))
    assert folder.is_relative_to(tmp_path_factory.getbasetemp())
    assert not folder.exists()
