"""Modules are imported in other threads, where no interrupt leaves half of one."""

import pytest
from programs import run


def test_an_interrupt_of_a_module_that_searches_leaves_all_of_numba(tmp_path):
    """In the thread that was interrupted half of it stayed, and no later search worked."""
    search = "import rapids_bfs; found = rapids_bfs.bfs(rapids_bfs.load('path:70000'), 0).num_reached"
    (tmp_path / "searches.py").write_text(search)
    run(
        f"""
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "numba.core.types":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
sys.path.insert(0, {str(tmp_path)!r})
try:
    import searches
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("not interrupted")
{search}
assert found == 70_000
"""
    )


@pytest.mark.parametrize("needed", ["half", "other"])
def test_a_signal_handler_imports_what_is_being_imported(tmp_path, needed):
    """Or what needs it: another thread waited for the import by the main thread, which waited for that thread."""
    (tmp_path / "half.py").write_text("import signal; signal.raise_signal(signal.SIGTERM)\nwhole = True")
    (tmp_path / "other.py").write_text("import half; whole = True")
    run(
        f"""
import signal, sys
from rapids_bfs.kernels.threads import imported
found = []
def handle(*_):
    try:
        found.append(imported({needed!r}))
    except RuntimeError as error:
        found.append(error)  # if Python sees that one waits for the other
signal.signal(signal.SIGTERM, handle)
sys.path.insert(0, {str(tmp_path)!r})
import half
assert half.whole and imported({needed!r}).whole and found
""",
        seconds=300,
    )


def test_an_interrupt_in_a_module_that_is_being_imported_leaves_no_half_module(tmp_path):
    """The main thread imported, and the interrupt left half of the package for the rest of the process."""
    (tmp_path / "mine.py").write_text("from rapids_bfs.kernels.threads import imported; imported('slow')")
    (tmp_path / "slow.py").write_text(
        "import signal, time; signal.raise_signal(signal.SIGTERM); time.sleep(0.5)\ndone = 1"
    )
    run(
        f"""
import signal, sys
from rapids_bfs.kernels.threads import imported
def stop(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGTERM, stop)
sys.path.insert(0, {str(tmp_path)!r})
try:
    import mine
except KeyboardInterrupt:
    interrupted = True
first = sys.modules["slow"]
assert interrupted and imported("slow") is first and first.done
"""
    )
