"""Python programs in processes of their own, for tests of crashes and hangs."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

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


IN_FORKS = """
import gc, os, sys
_, folder, imports, *programs = sys.argv
exec(imports)
gc.freeze()  # else each program would go through all that was imported when it ends
for number, program in enumerate(programs):
    if not os.fork():
        for stream, name in (1, "out"), (2, "err"):
            os.dup2(os.open(f"{folder}/{number}.{name}", os.O_WRONLY | os.O_CREAT), stream)
        exec(program)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


def run_each(programs, *, imports="", seconds=600, **environment):
    """The output and result of each program. Where a process can fork, they are forks of one that has started and has
    made the slow imports; each exits as any interpreter does."""
    options = {"text": True, "check": False, "timeout": seconds, "env": os.environ | environment}
    if not hasattr(os, "fork"):
        each = [[sys.executable, "-c", f"import os, sys\n{imports}\n{program}"] for program in programs]
        return [subprocess.run(command, capture_output=True, **options) for command in each]
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-c", IN_FORKS, folder, imports, *programs]
        codes = subprocess.run(command, stdout=subprocess.PIPE, **options).stdout.split()
        assert len(codes) == len(programs)
        return [
            subprocess.CompletedProcess(
                program, int(code), *(Path(folder, f"{number}.{name}").read_text() for name in ("out", "err"))
            )
            for number, (program, code) in enumerate(zip(programs, codes, strict=True))
        ]
