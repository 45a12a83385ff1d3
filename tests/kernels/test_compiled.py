"""How kernels are compiled and kept on disk."""

import gc
import os
import pickle
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from programs import run

from rapids_bfs import kernels
from rapids_bfs.kernels.cpu import disk_cache
from rapids_bfs.kernels.cpu.compiled import Kernel, borrowing, by_type, serial
from rapids_bfs.kernels.cpu.disk_cache import SealedFiles

MODULES = [
    *(f"rapids_bfs.kernels.cpu.{path.stem}" for path in Path(kernels.__path__[0], "cpu").glob("[a-z]*.py")),
    *(
        f"rapids_bfs.kernels.cpu.networkx.{path.stem}"
        for path in Path(kernels.__path__[0], "cpu", "networkx").glob("[a-z]*.py")
    ),
    *(f"rapids_bfs.{name}" for name in ("_core.csr.host_filter", "generators.random_edges")),
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
SMALL = """
import sys
import numpy as np
from rapids_bfs.engines.libraries.base import distances_along
from rapids_bfs.kernels.cpu import disk_cache
assert distances_along(np.array([1, 0]), np.array([1, -1])).tolist() == [1, 0]
hits = sum(distances_along.stats.cache_hits.values())
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


@pytest.mark.parametrize(("program", "answer", "notes"), [(SEARCH, "99", 1), (NETWORKX, "99", 0), (COMMAND, "cpu", 0)])
def test_no_folder_can_be_written(program, answer, notes, tmp_path):
    """Worth a note where something is compiled, as nothing is by the last two."""
    done = run(REFUSE + program, NUMBA_CACHE_DIR=str(tmp_path))
    assert answer in done.stdout
    assert done.stderr.count("set NUMBA_CACHE_DIR") == notes


def test_the_disk_is_full(tmp_path):
    done = run(FULL + SEARCH, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "99\n"
    assert done.stderr.count("No space left on device") == 1


def test_damaged_files_are_compiled_again(tmp_path):
    """Cut off, and with one byte changed, wherever it is: then code is not even loaded."""
    run(
        """
import random
from pathlib import Path
import numpy as np
from rapids_bfs.kernels.cpu import distributed_search
from rapids_bfs.kernels.cpu.compiled import serial
def compiled():
    function, weights = serial(distributed_search.weigh.py_func), np.zeros(2, np.uint8)
    function(np.array([0, 1, 4]), weights)
    assert weights.tolist() == [1, 3]
    return function
def hits():
    return sum(compiled().stats.cache_hits.values())
def code():
    return serial(distributed_search.weigh.py_func)._cache.load_overload(types, target)
assert [hits(), hits()] == [0, 1]
first = compiled()
types, target = first.signatures[0], first.targetctx
assert code() is not None
draw = random.Random(0)
for path in sorted(Path("FOLDER").rglob("*weigh*.nb*")):
    whole = path.read_bytes()
    for cut in 0, len(whole) // 2, len(whole) - 1:
        path.write_bytes(whole[:cut])
        assert [hits(), hits()] == [0, 1]
    for at in draw.sample(range(len(whole)), 40):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1 :])
        assert code() is None if path.suffix == ".nbc" else hits() in (0, 1)
        path.write_bytes(whole)
""".replace("FOLDER", str(tmp_path)),
        NUMBA_CACHE_DIR=str(tmp_path),
    )


def test_code_is_kept_in_the_users_cache_folder(tmp_path):
    """Not beside the source, which an uninstaller would leave it to."""
    home = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    folder = run(SMALL + "print(disk_cache.folder())", NUMBA_CACHE_DIR="", **home).stdout.strip()
    assert tmp_path in Path(folder).parents
    assert [*Path(folder).rglob("*distances_along*.nbc")]


def test_kept_code_needs_neither_the_compiler_nor_a_writable_folder(tmp_path):
    """What Numba's compiler imports, SciPy's linear algebra among it, takes longer than a search."""
    program = SMALL + "print(hits, 'scipy.linalg' in sys.modules)"
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "0 True\n"
    done = run(REFUSE + program, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "1 False\n"
    assert not done.stderr


def test_a_change_to_a_kernel_makes_code_stale_that_may_contain_it(tmp_path):
    """Numba looks at the function's own file alone."""
    changed = "from rapids_bfs.kernels.cpu import disk_cache\ndisk_cache._kernels_stamp = lambda: b'another'\n"
    run(SMALL, NUMBA_CACHE_DIR=str(tmp_path))
    assert run(changed + SMALL + "print(hits)", NUMBA_CACHE_DIR=str(tmp_path)).stdout == "0\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_who_waits_at_a_terminal_is_told_once(tmp_path):
    import pty

    program = SMALL + "distances_along(np.array([0], np.int32), np.array([-1]))"

    def said(environment):
        reader, terminal = pty.openpty()
        subprocess.run([sys.executable, "-c", program], stderr=terminal, env=environment, timeout=600, check=True)
        os.write(terminal, b"end")
        os.close(terminal)
        text = b""
        while not text.endswith(b"end"):
            text += os.read(reader, 4096)
        os.close(reader)
        return text.decode()

    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = said(environment), said(environment)
    assert first.count("compiling kernels once, about 10 s") == 1
    assert str(tmp_path) in first
    assert second == "end"
    assert not run(program, NUMBA_CACHE_DIR=str(tmp_path / "new")).stderr  # nobody waits there


def test_what_was_compiled_for_another_key_is_not_taken(tmp_path):
    files = SealedFiles(str(tmp_path), "function", "stamp")
    files.save("key", "compiled")
    files.save("other key", "compiled otherwise")
    assert files.load("key") == "compiled"
    (tmp_path / "function.2.nbc").replace(tmp_path / "function.1.nbc")
    assert files.load("key") is None


class Harmful:
    """Pickled, it makes a file where it is read."""

    def __init__(self, ran):
        self.ran = ran

    def __reduce__(self):
        return open, (str(self.ran), "w")


def test_a_file_in_the_current_folder_names_no_cache(tmp_path):
    """Numba reads `.numba_config.yaml` there, and what it finds in a cache runs."""
    pytest.importorskip("yaml", reason="Numba reads the file by PyYAML, which is not installed")
    run(SMALL, NUMBA_CACHE_DIR=str(tmp_path / "prepared"))
    for path in (tmp_path / "prepared").rglob("*.nbi"):
        path.write_bytes(pickle.dumps(Harmful(tmp_path / "ran")))
    (tmp_path / ".numba_config.yaml").write_text(
        "cache_dir: prepared\ncache_locator_classes: UserProvidedCacheLocator\n"
    )
    there = f"import os\nos.chdir({str(tmp_path)!r})\ndel os.environ['NUMBA_CACHE_DIR']\n"
    run(there + SMALL, XDG_CACHE_HOME=str(tmp_path / "own"))
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no modes")
@pytest.mark.parametrize(
    ("above", "mode", "user", "private"),
    [
        (0, 0o700, 0, True),
        (0, 0o777, 0, False),
        (1, 0o777, 0, False),
        (2, 0o777, 0, False),
        (2, 0o1777, 0, True),  # where none can rename what another has made
        (0, 0o700, 1, False),
    ],
)
def test_code_is_taken_from_where_this_user_alone_can_write(above, mode, user, private, tmp_path, monkeypatch):
    monkeypatch.setattr(disk_cache, "folder", lambda: str(tmp_path / "shared" / "cache"))
    uid = os.geteuid() + user
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    cache = disk_cache.Cache(run)
    folder = Path(cache.cache_path)
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    Path(cache._cache_file._index_path).write_bytes(pickle.dumps(Harmful(tmp_path / "ran")))
    changed = [folder, *folder.parents][above]
    changed.chmod(mode)
    assert cache.load_overload(None, cpu_target.target_context) is None
    assert (tmp_path / "ran").exists() == private
    with nullcontext() if private else pytest.raises(PermissionError, match=f"other users .* {changed}"):
        cache._impl.locator.ensure_cache_path()


def test_without_a_home(tmp_path):
    assert run(SEARCH, HOME=str(tmp_path / "nowhere"), NUMBA_CACHE_DIR="", XDG_CACHE_HOME="").stdout == "99\n"


def test_a_change_in_any_folder_of_kernels_has_all_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_cache, "__file__", str(tmp_path / "disk_cache.py"))
    stamp = disk_cache._kernels_stamp.__wrapped__
    before = stamp()
    (tmp_path / "networkx").mkdir()
    (tmp_path / "networkx" / "ordered.py").write_text("changed")
    assert stamp() != before


def test_without_numbas_compiler():
    program = """
from rapids_bfs import InputError, load
print(bfs(ring, 1).depth)
for ask in (lambda: bfs(ring, 1, engine="cpu"), lambda: load("karate").num_edges):
    try:
        ask()
    except InputError as error:
        print(error)
"""
    done = run(SEARCH.replace("cpu:sequential", "scipy") + program, NUMBA_DISABLE_JIT="1")
    depth, _, no_engine, no_file = done.stdout.splitlines()
    assert depth == "99"
    assert "unset NUMBA_DISABLE_JIT" in no_engine
    assert no_file == "NUMBA_DISABLE_JIT is set, and kernels only run compiled: unset it"


def test_a_constant_has_nothing_compiled_again():
    @by_type
    def add(total, number):
        return total + number

    @by_type
    def add_up(numbers):
        total = 0
        for number in numbers:
            total = add(total, number)
        return add(total, 1)

    assert add_up(np.arange(4)) == 7
    assert len(add.signatures) == 1


def test_what_kernels_alone_call_is_not_made_callable_from_python():
    @serial
    def doubled(number):
        return 2 * number

    @serial
    def doubled_twice(number):
        return doubled(doubled(number))

    assert doubled_twice(3) == 12
    assert doubled.signatures == []
    assert doubled(3) == 6


def test_a_function_that_borrows_its_arrays_cannot_allocate():
    @serial
    def zeros(length):
        return len(np.zeros(length))

    @borrowing(serial)
    def through_another(length):
        return zeros(length)

    @borrowing(serial)
    def by_itself(length):
        return len(np.zeros(length))

    assert through_another(3) == 3
    with pytest.raises(TypingError):
        by_itself(3)


def test_counting_no_references_leaves_them_as_they_are():
    @borrowing(serial)
    def last_of_longer(one, other):
        longer = one if len(one) > len(other) else other
        return longer[1:][-1]

    arrays = np.arange(3), np.arange(5)
    before = [*map(sys.getrefcount, arrays)]
    assert [last_of_longer(*arrays) for _ in range(100)] == [4] * 100
    assert [*map(sys.getrefcount, arrays)] == before


@pytest.mark.parametrize("switch", [gc.enable, gc.disable], ids=["on", "off"])
def test_nothing_is_collected_while_compiling(switch):
    """And the collector is on or off afterwards as before, whatever comes of it."""

    class Unknown:
        collected = True

        @property
        def _numba_type_(self):
            self.collected = gc.isenabled()
            raise ValueError("a type that Numba asks for when it compiles")

    @serial
    def itself(x):
        return x

    unknown = Unknown()
    switch()
    try:
        before = gc.isenabled()
        with pytest.raises(TypingError):
            itself(unknown)
        assert (unknown.collected, gc.isenabled()) == (False, before)
    finally:
        gc.enable()
