"""Variables of the environment that cannot be used are named, whatever is being done."""

import sys
from ctypes.util import find_library
from importlib.util import find_spec
from pathlib import Path

import pytest
from platformdirs import user_cache_dir
from programs import run_each

from rapids_bfs import InputError, compare_suite, load
from rapids_bfs.data import datasets
from rapids_bfs.kernels.cpu import disk_cache

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
HOW = ["command", *CALLS]
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


def program(variable, value, how):
    """A program that finds this variable."""
    with_threads = "import numba" if value == "tbb" else ""  # else NumPy answers
    does = COMMAND if how == "command" else PROGRAM.format(CALLS[how])
    return f"os.environ[{variable!r}] = {value!r}\n{with_threads}{does}"


def starts_no_numba(variable, value, how):
    """Does our own team of threads do this, so that Numba's do not start?"""
    return value == "tbb" and how != "generator"


@pytest.fixture(scope="module")
def done():
    """What each program wrote and returned at its end."""
    each = [(*getattr(one, "values", one), how) for one in WRONG for how in HOW]
    each = [one for one in each if not starts_no_numba(*one)]
    return dict(
        zip(
            each,
            run_each([program(*one) for one in each], imports="import numpy, networkx, typer.rich_utils"),
            strict=True,
        )
    )


@pytest.mark.parametrize(("variable", "value"), WRONG)
@pytest.mark.parametrize("how", HOW)
def test_a_wrong_variable_is_named(done, variable, value, how):
    if starts_no_numba(variable, value, how):
        pytest.skip("our own team of threads does this, and Numba's do not start")
    ended = done[variable, value, how]
    said = ended.stderr if how == "command" else ended.stdout
    assert f"the environment variable {variable} is '{value}'" in said
    assert "karate" not in said
    assert ended.stdout.count("\n") + ended.stderr.count("\n") == 1
    assert ended.returncode == (2 if how == "command" else 0)


@pytest.mark.skipif(sys.platform != "linux", reason="no variable names the user's cache folder")
def test_no_test_finds_what_another_has_kept(tmp_path_factory):
    """Suites and datasets are read instead of measured and downloaded again. See tests/conftest.py."""
    folder = Path(user_cache_dir("rapids_bfs"))
    assert folder.is_relative_to(tmp_path_factory.getbasetemp())
    assert not folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the system itself names the user's folders")
@pytest.mark.parametrize("older", [False, True])
def test_a_user_without_a_home_is_told_what_to_set(older, tmp_path, monkeypatch):
    """As in containers that run under any number. Older platformdirs give a path in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CACHE_HOME", datasets.FOLDER, "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    if older:
        monkeypatch.setattr("platformdirs.user_cache_path", lambda *names, **options: Path("~", ".cache", *names))
        monkeypatch.setattr("platformdirs.user_cache_dir", lambda *names, **options: "~/.cache/rapids_bfs")
    with pytest.raises(InputError, match="no home folder to keep datasets in: set HOME to one, or RAPIDS_BFS_DATASETS"):
        load("gap:road")
    with pytest.raises(InputError, match="no home folder to keep suites in: set HOME to one, or name a file"):
        compare_suite(["path:9"], engines=["scipy"])
    with pytest.raises(RuntimeError):
        disk_cache.folder.__wrapped__()
    monkeypatch.setenv(datasets.FOLDER, "~/graphs")
    with pytest.raises(InputError, match="RAPIDS_BFS_DATASETS is '~/graphs', and that user has no home"):
        load("gap:road")
    assert not [*tmp_path.iterdir()]
