"""Variables of the environment that cannot be used are named, whatever is being done."""

import os
import subprocess
import sys

import pytest

WRONG = {"NUMBA_NUM_THREADS": "0", "NUMBA_THREADING_LAYER": "bogus"}
PROGRAM = """
try:
    import rapids_bfs
    rapids_bfs.bfs({}, 0, engine="cpu")
except rapids_bfs.InputError as error:
    print(error)
"""


@pytest.mark.parametrize("variable", WRONG)
@pytest.mark.parametrize("how", ["command", "file", "edges"])
def test_a_wrong_variable_is_named(variable, how):
    program = ["-c", PROGRAM.format({"file": "'karate'", "edges": "([0, 1], [1, 2])"}.get(how))]
    done = subprocess.run(
        [sys.executable, *(["-m", "rapids_bfs", "run", "karate", "--source", "0"] if how == "command" else program)],
        capture_output=True,
        text=True,
        env=os.environ | {variable: WRONG[variable]},
        timeout=600,
    )
    said = done.stderr if how == "command" else done.stdout
    assert f"the environment variable {variable} is '{WRONG[variable]}'" in said
    assert "karate" not in said
    assert said.count("\n") == 1
    assert done.returncode == (2 if how == "command" else 0)
