"""How kernels are compiled and kept on disk."""

from importlib import import_module
from pathlib import Path

import pytest
from programs import run

from rapids_bfs import kernels
from rapids_bfs.kernels.cpu.compiled import Kernel
from rapids_bfs.kernels.cpu.disk_cache import SealedFiles

MODULES = [
    *(f"rapids_bfs.kernels.cpu.{path.stem}" for path in Path(kernels.__path__[0], "cpu").glob("[a-z]*.py")),
    *(f"rapids_bfs.{name}" for name in ("csr", "generators", "validation")),
]

REFUSE = """
import errno
from numba.core import caching
def refuse(self):
    raise OSError(errno.EROFS, "Read-only file system")
caching._CacheLocator.ensure_cache_path = refuse
"""
FULL = """
import errno
from numba.core import caching
def full(self, path):
    raise OSError(errno.ENOSPC, "No space left on device")
caching.IndexDataCacheFile._open_for_write = full
"""
SEARCH = """
import numpy as np
from rapids_bfs import Graph, bfs
ring = Graph(np.arange(101, dtype=np.int32), np.roll(np.arange(100, dtype=np.int32), -1))
print(bfs(ring, 1, engine="cpu:sequential").depth)
"""
NETWORKX = """
import networkx as nx
nx.config.backend_priority = ["rapids_bfs"]
print(len(list(nx.bfs_edges(nx.path_graph(100), 0))))
"""
COMMAND = """
import sys
from rapids_bfs.cli import main
sys.argv = ["rapids-bfs", "info"]
main()
"""


def test_a_twin_for_one_thread_has_nothing_to_do_with_threads():
    kernels = [each for module in map(import_module, MODULES) for each in vars(module).values()]
    twins = [kernel.serial for kernel in kernels if isinstance(kernel, Kernel)]
    assert len(twins) > 10
    for twin in twins:
        called = [twin.py_func.__globals__.get(name) for name in twin.__code__.co_names]
        assert not twin.targetoptions.get("parallel")
        assert not any(isinstance(each, Kernel) for each in called)


@pytest.mark.parametrize(("program", "answer"), [(SEARCH, "99"), (NETWORKX, "99"), (COMMAND, "cpu")])
def test_no_folder_can_be_written(program, answer):
    done = run(REFUSE + program)
    assert answer in done.stdout
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1


def test_the_disk_is_full(tmp_path):
    done = run(FULL + SEARCH, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "99\n"
    assert done.stderr.count("No space left on device") == 1


def test_damaged_files_are_compiled_again(tmp_path):
    """Cut off, and with one byte changed, wherever it is."""
    run(
        """
import random
from pathlib import Path
import numpy as np
from rapids_bfs.kernels.cpu import direction_optimizing
from rapids_bfs.kernels.cpu.compiled import serial
def hits():
    function, bitmap = serial(direction_optimizing._clear.py_func), np.ones(3, np.uint64)
    function(bitmap)
    assert not bitmap.any()
    return sum(function.stats.cache_hits.values())
assert [hits(), hits()] == [0, 1]
draw = random.Random(0)
for path in sorted(Path("FOLDER").rglob("*_clear*.nb*")):
    whole = path.read_bytes()
    for cut in 0, len(whole) // 2, len(whole) - 1:
        path.write_bytes(whole[:cut])
        assert [hits(), hits()] == [0, 1]
    for at in draw.sample(range(len(whole)), 40):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1 :])
        assert hits() == 0 or path.suffix == ".nbi"
        path.write_bytes(whole)
""".replace("FOLDER", str(tmp_path)),
        NUMBA_CACHE_DIR=str(tmp_path),
    )


def test_what_was_compiled_for_another_key_is_not_taken(tmp_path):
    files = SealedFiles(str(tmp_path), "function", "stamp")
    files.save("key", "compiled")
    files.save("other key", "compiled otherwise")
    assert files.load("key") == "compiled"
    (tmp_path / "function.2.nbc").replace(tmp_path / "function.1.nbc")
    assert files.load("key") is None


def test_without_a_home(tmp_path):
    assert run(SEARCH, HOME=str(tmp_path / "nowhere")).stdout == "99\n"


def test_without_numbas_compiler():
    program = """
from rapids_bfs import InputError
print(bfs(ring, 1).depth)
try:
    bfs(ring, 1, engine="cpu")
except InputError as error:
    print(error)
"""
    done = run(SEARCH.replace("cpu:sequential", "scipy") + program, NUMBA_DISABLE_JIT="1")
    depth, _, error = done.stdout.splitlines()
    assert depth == "99"
    assert "NUMBA_DISABLE_JIT" in error
