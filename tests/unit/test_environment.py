"""Variables of the environment that cannot be used are named, whatever is being done."""

import os
import subprocess
import sys
from ctypes.util import find_library
from importlib.util import find_spec

import pytest

WRONG = [
    ("NUMBA_NUM_THREADS", "0"),
    ("NUMBA_THREADING_LAYER", "bogus"),
    pytest.param(
        "NUMBA_THREADING_LAYER",
        "tbb",
        marks=pytest.mark.skipif(find_library("tbb") is not None or find_spec("tbb") is not None, reason="TBB is here"),
    ),
]
PROGRAM = """
try:
    import rapids_bfs
    rapids_bfs.bfs({}, 0, engine="cpu")
except rapids_bfs.InputError as error:
    print(error)
"""


@pytest.mark.parametrize(("variable", "value"), WRONG)
@pytest.mark.parametrize("how", ["command", "file", "edges"])
def test_a_wrong_variable_is_named(variable, value, how):
    program = ["-c", PROGRAM.format({"file": "'karate'", "edges": "([0, 1], [1, 2])"}.get(how))]
    done = subprocess.run(
        [sys.executable, *(["-m", "rapids_bfs", "run", "karate", "--source", "0"] if how == "command" else program)],
        capture_output=True,
        text=True,
        env=os.environ | {variable: value},
        timeout=600,
    )
    said = done.stderr if how == "command" else done.stdout
    assert f"the environment variable {variable} is '{value}'" in said
    assert "karate" not in said
    assert said.count("\n") == 1
    assert done.returncode == (2 if how == "command" else 0)
