"""The quotas of control groups limit the cores that a process counts, and with them the threads of searches."""

import os

import pytest
from programs import run

from rapids_bfs._core import cgroups, cores

IN_A_CONTAINER = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}
POD = "kubepods.slice/pod1.slice/scope"
FOUND = {
    "container": (IN_A_CONTAINER, 2),
    "exactly one core": (IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": "100000 100000\n"}, 1),
    "a hundredth of a core": (IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": "1000 100000\n"}, 1),
    "more than the machine has": (IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": "6400000 100000\n"}, 64),
    "group of its own": ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "300000 100000"}, 3),
    "group around it": (
        {
            "proc/self/cgroup": f"0::/{POD}\n",
            f"sys/fs/cgroup/{POD}/cpu.max": "max 100000\n",
            "sys/fs/cgroup/kubepods.slice/pod1.slice/cpu.max": "500000 100000\n",
            "sys/fs/cgroup/kubepods.slice/cpu.max": "700000 100000\n",
        },
        5,
    ),
    "both versions mounted": (
        {
            "proc/self/cgroup": "1:name=systemd:/x\n0::/user.slice\n",
            "sys/fs/cgroup/unified/user.slice/cpu.max": "200000 100000\n",
        },
        2,
    ),
    "version 1": (
        {
            "proc/self/cgroup": "5:cpuset:/\n4:cpu,cpuacct:/docker/1f\n3:memory:/docker/1f\n0::/\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us": "250000\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us": "100000\n",
        },
        3,
    ),
    "version 1 in a container": (
        {
            "proc/self/cgroup": "4:cpuacct,cpu:/docker/1f\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "50000\n",
        },
        1,
    ),
}
UNLIMITED = {
    "no control groups": {},
    "no file": {"proc/self/cgroup": "0::/\n"},
    "no quota": IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": "max 100000\n"},
    "no quota in version 1": {
        "proc/self/cgroup": "4:cpu:/\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    },
    "no period": {"proc/self/cgroup": "4:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n"},
    "a period of 0": IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": "100000 0\n"},
    "a quota of 0": IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": "0 100000\n"},
    "words": IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": "a few\n"},
    "nothing in it": IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": ""},
    "bytes": IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": "\udcff\udcfe 100000"},
    "too many digits": IN_A_CONTAINER | {"sys/fs/cgroup/cpu.max": f"{10**400} 1\n"},
    "lines that are no groups": IN_A_CONTAINER | {"proc/self/cgroup": "0\n:\n::\n\udcff:cpu:\n"},
    "another controller": {
        "proc/self/cgroup": "3:cpuset:/\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    },
    "outside of the namespace": {
        "proc/self/cgroup": "0::/../b\n",
        "sys/fs/cgroup/cpu.max": "100000 100000\n",
        "sys/fs/b/cpu.max": "100000 100000\n",
    },
    "a folder": {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max/file": ""},
}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A function that lets the machine have 64 cores and these files."""

    def have(files):
        monkeypatch.setattr(cgroups, "ROOT", str(tmp_path))
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
        for name, text in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(os.fsencode(text))

    return have


@pytest.mark.parametrize(("files", "expected"), FOUND.values(), ids=FOUND)
def test_a_quota_is_found(files, expected, machine):
    machine(files)
    assert cores.usable_cores() == expected


@pytest.mark.parametrize("files", UNLIMITED.values(), ids=UNLIMITED)
def test_no_quota_is_found(files, machine):
    machine(files)
    assert cores.usable_cores() == 64


def test_a_file_that_is_not_to_be_read(machine, monkeypatch, tmp_path):
    machine(IN_A_CONTAINER)
    real = open

    def refuse(file, *arguments, **named):
        if str(file).endswith("cpu.max"):
            raise PermissionError(file)
        return real(file, *arguments, **named)

    monkeypatch.setattr("builtins.open", refuse)
    assert cores.usable_cores() == 64


SEARCH = """
import os
os.environ.pop("NUMBA_NUM_THREADS")
if "{told}":
    os.environ["NUMBA_NUM_THREADS"] = "{told}"
os.sched_getaffinity = lambda _: set(range(4))
from rapids_bfs._core import cgroups, cores
cgroups.ROOT = "{root}"
import numba
from rapids_bfs import bfs
from rapids_bfs._core.threads import pool
from rapids_bfs.generators import generate
assert bfs(generate("rmat:16"), 1, engine="cpu").num_reached > 1
with pool.work_on() as threads:
    assert numba.get_num_threads() == threads
print(pool.most, pool.team()[1], len(pool._helpers), threads, numba.get_num_threads())
"""


@pytest.mark.parametrize(("told", "expected"), [("", "2 2 1 2 4"), ("3", "3 3 2 3 3")])
def test_as_many_threads_search_as_the_quota_has_cores_unless_numba_is_told(told, expected, machine, tmp_path):
    machine(IN_A_CONTAINER)
    done = run(SEARCH.format(told=told, root=tmp_path), NUMBA_NUM_THREADS="1")
    assert done.stdout.split() == expected.split()
