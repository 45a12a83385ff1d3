"""The memory that a process counts as available: limits of control groups and of CuPy's pool bound it."""

import os
import sys
from types import SimpleNamespace

import pytest

from rapids_bfs import InputError
from rapids_bfs._core import cgroups, memory
from rapids_bfs._core.cuda import arrays
from rapids_bfs._core.formatting import size
from rapids_bfs.adapters import call
from rapids_bfs.engines.gpu import launch

FREE = 1 << 34  # of the machine
UNLIMITED_IN_1 = "9223372036854771712\n"
POD = "kubepods.slice/pod1.slice/scope"


def v2(group, limit, used, stat="anon 5\nfile 7\n"):
    folder = f"sys/fs/cgroup/{group}".rstrip("/")
    return {f"{folder}/memory.max": limit, f"{folder}/memory.current": used, f"{folder}/memory.stat": stat}


def v1(folder, limit, used, stat=""):
    names = "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"
    return {f"sys/fs/cgroup/memory{folder}/{name}": text for name, text in zip(names, (limit, used, stat), strict=True)}


IN_A_CONTAINER = {"proc/self/cgroup": "0::/\n"}
IN_VERSION_1 = {"proc/self/cgroup": "4:memory:/docker/1f\n3:cpu,cpuacct:/other\n"}
FOUND = {
    "no control groups": ({}, FREE),
    "no file": (IN_A_CONTAINER, FREE),
    "no limit": (IN_A_CONTAINER | v2("", "max\n", "300\n"), FREE),
    "container": (IN_A_CONTAINER | v2("", "1000\n", "300\n"), 700),
    "more than the machine has free": (IN_A_CONTAINER | v2("", f"{1 << 40}\n", "300\n"), FREE),
    "more used than the limit": (IN_A_CONTAINER | v2("", "1000\n", "1300\n"), 0),
    "contents of files give way": (
        IN_A_CONTAINER | v2("", "1000\n", "900\n", "active_file 1\ninactive_file 400\n"),
        500,
    ),
    "no usage": (IN_A_CONTAINER | {"sys/fs/cgroup/memory.max": "1000\n"}, FREE),
    "words": (IN_A_CONTAINER | v2("", "a few\n", "300\n"), FREE),
    "nothing in it": (IN_A_CONTAINER | v2("", "", ""), FREE),
    "group around it": (
        {"proc/self/cgroup": f"0::/{POD}\n"}
        | v2(POD, "max\n", "10\n")
        | v2("kubepods.slice/pod1.slice", "5000\n", "100\n")
        | v2("kubepods.slice", "4000\n", "3000\n"),
        1000,
    ),
    "the nearest is the smallest": (
        {"proc/self/cgroup": "0::/a/b\n"} | v2("a/b", "500\n", "100\n") | v2("a", "4000\n", "3000\n"),
        400,
    ),
    "version 1": (IN_VERSION_1 | v1("/docker/1f", "1000\n", "300\n") | v1("", UNLIMITED_IN_1, "300\n"), 700),
    "version 1 in a container": (
        IN_VERSION_1 | v1("", "1000\n", "900\n", "inactive_file 1\ntotal_inactive_file 50"),
        150,
    ),
    "version 1 without a limit": (IN_VERSION_1 | v1("", UNLIMITED_IN_1, "300\n"), FREE),
    "another controller": ({"proc/self/cgroup": "3:cpuset:/\n"} | v1("", "1000\n", "300\n"), FREE),
    "outside of the namespace": ({"proc/self/cgroup": "0::/../b\n"} | v2("", "1000\n", "300\n"), FREE),
}


@pytest.mark.parametrize(("files", "expected"), FOUND.values(), ids=FOUND)
def test_limits(files, expected, monkeypatch, tmp_path):
    monkeypatch.setattr(cgroups, "ROOT", str(tmp_path))
    monkeypatch.setattr(memory, "_free_bytes", lambda: FREE)
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(os.fsencode(text))
    assert memory.available_bytes() == expected
    with memory.limited(lambda: 50):
        assert memory.available_bytes() == min(expected, 50)
    with pytest.raises(InputError, match=r"needs .* of memory, and"):
        memory.require_bytes(expected + 1, "it")


class FakePool:
    """CuPy's pool on a device of 1000 bytes, of which other programs use 100."""

    def __init__(self, limit, used, cached):
        self.limit, self.used, self.cached = limit, used, cached
        self.malloc = object()

    def get_limit(self):
        return self.limit

    def used_bytes(self):
        return self.used

    def free_bytes(self):
        return self.cached

    def free_all_blocks(self):
        self.cached = 0

    @property
    def mem_info(self):
        return 900 - self.used - self.cached, 1000


@pytest.fixture
def pool(monkeypatch):
    def with_pool(*described, by_rmm=False):
        pool = FakePool(*described)
        cuda = SimpleNamespace(
            Device=lambda: pool, get_allocator=lambda: rmm.rmm_cupy_allocator if by_rmm else pool.malloc
        )
        rmm = SimpleNamespace(rmm_cupy_allocator=object())
        monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda, get_default_memory_pool=lambda: pool))
        monkeypatch.setitem(sys.modules, "rmm.allocators.cupy", rmm)
        monkeypatch.setattr(memory, "has_pool", lambda: False)  # of RMM
        monkeypatch.setattr(memory, "require_device", lambda: None)
        return pool

    return with_pool


@pytest.mark.parametrize(
    ("limit", "used", "cached", "by_rmm", "available", "cached_then"),
    [
        (0, 200, 300, False, 700, 300),
        (600, 200, 10, False, 400, 10),
        (600, 200, 300, False, 400, 0),  # CuPy would not free these to make room for a larger block
        (2000, 200, 300, False, 700, 0),
        (100, 200, 10, False, 0, 0),  # a limit that was set later
        (600, 200, 300, True, 700, 300),
    ],
)
def test_limit_of_cupys_pool(pool, limit, used, cached, by_rmm, available, cached_then):
    found = pool(limit, used, cached, by_rmm=by_rmm)
    assert memory.available_device_bytes() == available
    assert found.cached == cached_then
    memory.require_device_bytes(available, "it")
    message = f"it needs {size(available + 1)} of device memory, and {size(available)} are free: take fewer sources"
    with pytest.raises(InputError, match=message):
        memory.require_device_bytes(available + 1, "it")


class OutOfMemoryError(MemoryError):
    """That of CuPy."""


class CUDARuntimeError(RuntimeError):
    """That of CuPy."""

    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status


def import_on_device(error, monkeypatch):
    def adapter(graph):
        raise error

    call(adapter, "graph")


def upload(error, monkeypatch):
    def asarray(array):
        raise error

    monkeypatch.setattr(arrays, "require_device", lambda: None)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=asarray, ndarray=()))
    arrays.to_device([1])


def wait(error, monkeypatch):
    def synchronize():
        raise error

    current = SimpleNamespace(synchronize=synchronize)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: current)))
    arrays.finish()


def search(error, monkeypatch):
    monkeypatch.setattr(launch, "current_context", lambda: 5)
    with launch.Within(5):
        raise error


@pytest.mark.parametrize("use", [import_on_device, upload, wait, search])
@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (
            OutOfMemoryError("Out of memory allocating 9 bytes (limit set to: 5 bytes)."),
            InputError,
            "allocating 9 .* load",
        ),
        (MemoryError("std::bad_alloc"), MemoryError, "std::bad_alloc"),
        (CUDARuntimeError(900), InputError, "a stream is being captured .* after end_capture"),
        (CUDARuntimeError(700), CUDARuntimeError, "700"),
    ],
)
def test_errors_of_cupy_that_say_what_to_do(use, error, kind, words, monkeypatch):
    with pytest.raises(kind, match=words):
        use(error, monkeypatch)
