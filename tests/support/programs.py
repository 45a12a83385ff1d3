"""Python programs in processes of their own, for tests of what could end a process, or never end."""

import os
import subprocess
import sys
from pathlib import Path

LAYERS = {
    "default": {},
    "workqueue": {"NUMBA_THREADING_LAYER": "workqueue"},
    "one thread": {"NUMBA_NUM_THREADS": "1"},
}
WITHOUT_OPENMP = "import sys; sys.modules['numba.np.ufunc.omppool'] = sys.modules['numba.np.ufunc.tbbpool'] = None\n"


def run(program, *, seconds=600, **environment):
    """A program that ran to its end, in the folder of the tests."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        cwd=Path(__file__).parent,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done
