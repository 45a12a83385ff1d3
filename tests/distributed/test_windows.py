"""Windows of memory that all ranks of a host use: opened by all or none, freed after the last use.

The GPUs are `fake_cuda`'s; threads stand for the processes of workers."""

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import SimpleNamespace
from unittest import mock

import pytest
from fake_cuda import FIRST_SHIFT, FakeCuda
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import run

from rapids_bfs._core.cuda import driver, nvml
from rapids_bfs._core.cuda.peer_access import obstacle_of_all
from rapids_bfs.distributed import peer_memory, search
from rapids_bfs.distributed.communicators import Aborted, ThreadCommunicator
from rapids_bfs.distributed.peer_memory import GRANULARITY, AtWork, Lease, at_work, freeing, hold, release
from rapids_bfs.distributed.windows import Location, open_windows, unfit

TIMEOUT = 300.0


@pytest.fixture
def cuda(monkeypatch, tmp_path):
    monkeypatch.setattr(peer_memory, "FOLDERS", (tmp_path,))  # the system's are those of all processes
    cuda = FakeCuda().install(monkeypatch)
    yield cuda
    nothing_left(cuda)


def on_ranks(cuda, devices, processes, function):
    """What ``function(communicator)`` returns or raises on each rank."""
    group = ThreadCommunicator.group([f"partition {rank}" for rank in range(len(devices))], TIMEOUT)
    outcomes = [None] * len(devices)

    def work(communicator):
        cuda.be(communicator.rank, devices[communicator.rank], processes[communicator.rank])
        try:
            outcomes[communicator.rank] = function(communicator)
        except Exception as error:
            outcomes[communicator.rank] = error

    threads = [threading.Thread(target=work, args=(communicator,)) for communicator in group]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    return outcomes


def opened(cuda, devices, processes, nbytes=1000):
    return on_ranks(cuda, devices, processes, lambda communicator: open_windows(communicator, nbytes))


def eventually(holds):
    """Wait until it holds: memory is freed by another thread."""
    deadline = time.monotonic() + TIMEOUT
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def nothing_left(cuda):
    eventually(lambda: not cuda.memory and not cuda.mapped)
    assert not [entry for entry in cuda.log if entry[0] == "freed while mapped"]


def leases():
    """Files of leases that have a name."""
    return [name for folder in peer_memory.FOLDERS for name in os.listdir(folder) if name.startswith("rapids_bfs-")]


@pytest.mark.parametrize("devices", [[0, 1, 2], [2, 0], [0, 0, 0], [1, 1, 0], [3]], ids=str)
def test_threads_of_one_process(cuda, devices):
    """Every rank reads, at its addresses, what every other wrote at its own; between devices there is peer access."""
    size = len(devices)
    windows = opened(cuda, devices, ["one"] * size, nbytes=8 * size)
    for rank in range(size):
        for owner, address in enumerate(windows[rank].addresses):
            assert address % 512 == 0
            assert ctypes.string_at(address + 8 * rank, 8) == bytes(8)
            ctypes.c_int64.from_address(address + 8 * rank).value = 100 * rank + owner
    for owner in range(size):
        written = (ctypes.c_int64 * size).from_address(windows[owner].addresses[owner])
        assert list(written) == [100 * rank + owner for rank in range(size)]
    assert cuda.enabled == {(one, other) for one in devices for other in devices if one != other}
    assert not [name for name, *_ in cuda.log if name.startswith("ipc")]


def test_workers_map_each_others_memory(cuda):
    before = leases()
    windows = opened(cuda, [0, 1, 2], "abc")
    own = [windows[rank].addresses[rank] for rank in range(3)]
    for rank in range(3):
        expected = [at if owner == rank else at + FIRST_SHIFT * (1 + rank) for owner, at in enumerate(own)]
        assert list(windows[rank].addresses) == expected
    assert cuda.enabled == set()
    assert leases() == before


def test_workers_that_are_threads_of_two_processes(cuda):
    windows = opened(cuda, [0, 1, 2, 3], "aabb")
    own = [windows[rank].addresses[rank] for rank in range(4)]
    assert list(windows[0].addresses) == [own[0], own[1], *(at + FIRST_SHIFT for at in own[2:])]
    assert cuda.enabled == {(0, 1), (1, 0), (2, 3), (3, 2)}


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_they_are_closed_in_any_order(data):
    """A window lasts as long as any rank has it open; then it is freed, also when the ranks just forget theirs."""
    size = data.draw(st.integers(1, 4))
    processes = data.draw(st.lists(st.sampled_from("abcd"), min_size=size, max_size=size))
    order = data.draw(st.permutations(range(size)))
    forget = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    with pytest.MonkeyPatch.context() as monkeypatch:
        cuda = FakeCuda().install(monkeypatch)
        windows = dict(enumerate(opened(cuda, range(size), processes)))
        owned = [each.addresses[rank] for rank, each in windows.items()]
        for rank in order:
            assert all(address in cuda.memory for address in owned)
            if forget[rank]:
                del windows[rank]
            else:
                windows[rank].close()
                assert windows[rank].addresses == ()
        nothing_left(cuda)


def test_a_device_has_ended_its_work_before_memory_goes(cuda):
    opened(cuda, [0, 1], "aa")
    nothing_left(cuda)
    for place, entry in enumerate(cuda.log):
        if entry[0] == "free":
            assert {("synchronize", 0), ("synchronize", 1)} <= set(cuda.log[:place])


def test_memory_comes_in_blocks_of_its_own(cuda):
    opened(cuda, [0, 1], "ab", nbytes=GRANULARITY + 1)
    assert {entry[2] for entry in cuda.log if entry[0] == "malloc"} == {2 * GRANULARITY}


def test_the_pool_gives_up_what_nobody_uses(cuda):
    """Where memory for a window is short, once; for another error, not at all."""

    def of_rank_1():
        return [name for name, rank, *_ in cuda.log if rank == 1 and name in ("malloc", "free_all_blocks")]

    cuda.failing["malloc", 1] = 2, "cudaErrorMemoryAllocation: out of memory"
    cuda.on_free_all_blocks = cuda.failing.clear
    windows = opened(cuda, [0, 1], "ab")
    assert of_rank_1() == ["malloc", "free_all_blocks", "malloc"]
    assert not isinstance(windows[1], str)
    cuda.log.clear()
    cuda.failing["malloc", 1] = 719, "cudaErrorLaunchFailure: unspecified launch failure"
    assert opened(cuda, [0, 1], "ab") == ["partition 1: cudaErrorLaunchFailure: unspecified launch failure"] * 2
    assert of_rank_1() == ["malloc"]


CALLS = [
    "malloc",
    "memset",
    "deviceSynchronize",
    "memcpy",
    "ipcGetMemHandle",
    "ipcOpenMemHandle",
    "deviceEnablePeerAccess",
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("rank", [0, 2])
def test_one_that_fails_is_the_line_of_all(cuda, call, rank):
    """And nothing is left: neither memory nor mappings nor files."""
    before = leases()
    cuda.failing[call, rank] = 2, "cudaErrorMemoryAllocation: out of memory\nmore"
    processes = "aaa" if call == "deviceEnablePeerAccess" else "abc"
    assert opened(cuda, [0, 1, 2], processes) == [f"partition {rank}: cudaErrorMemoryAllocation: out of memory"] * 3
    nothing_left(cuda)
    eventually(lambda: leases() == before)


@pytest.mark.parametrize("processes", ["aaa", "abc"])
@pytest.mark.parametrize("path", [(0, 2), (2, 0)])
def test_peer_access_that_does_not_work(cuda, processes, path):
    """CUDA grants it, and what one GPU writes does not arrive, or what it reads is something else."""
    cuda.broken.add(path)
    lines = opened(cuda, [0, 1, 2], processes)
    assert len(set(lines)) == 1
    assert f"partition {path[1]} and partition {path[0]} do not see what the other writes" in lines[0]


def test_peer_access_that_is_there_already(cuda):
    cuda.enabled.update({(0, 1), (1, 0)})
    first, second = opened(cuda, [0, 1], "aa")
    assert first.addresses == second.addresses


def test_a_host_without_a_place_for_leases(cuda, monkeypatch):
    monkeypatch.setattr(peer_memory, "hold", lambda path: hold(path + "-elsewhere"))
    first, second = opened(cuda, [0, 1], "ab")
    assert first == second
    assert "of another worker is not to be seen here: start the workers alike" in first


@pytest.mark.parametrize("shares", [0, 1, 2])
def test_a_rank_that_leaves(cuda, shares):
    """After any of the steps: the others are stopped, and nothing is left."""

    def leave(communicator):
        if communicator.rank:
            return open_windows(communicator, 100)
        real, left = communicator.allgather_object, iter(range(shares))

        def allgather_object(value):
            if next(left, None) is None:
                communicator.abort("partition 0 failed: it broke")
                raise RuntimeError("it broke")
            return real(value)

        communicator.allgather_object = allgather_object
        return open_windows(communicator, 100)

    first, *rest = on_ranks(cuda, [0, 1, 2], "aab", leave)
    assert isinstance(first, RuntimeError)
    assert all(isinstance(each, Aborted) for each in rest)
    del first, rest
    gc.collect()  # the frames of the error


def test_obstacles(cuda):
    def line():
        first, second = opened(cuda, [0, 1], "ab")
        assert first == second
        assert isinstance(first, str), first
        return first

    cuda.unlinked.add((0, 1))
    assert line() == "GPU 0000:00:00.0 has no peer access to GPU 0000:01:00.0: see nvidia-smi topo -p2p r"
    cuda.unlinked = {(0, 3), (1, 2)}  # which are no ranks'
    cuda.others["0000:01:00.0"] = [77]
    assert line() == (
        "process 77 computes on GPU 0000:01:00.0: wait until it has ended; graphs made before stay with NCCL"
    )
    with mock.patch.dict(os.environ, CUDA_LAUNCH_BLOCKING="1"):
        assert "CUDA_LAUNCH_BLOCKING" in line()
    cuda.mps.add(1)
    assert line() == "GPU 0000:01:00.0 is shared through MPS: stop its daemon (echo quit | nvidia-cuda-mps-control)"


def test_what_cannot_be_freed_does_not_keep_the_rest(cuda):
    cuda.failing["free", None] = 700, "cudaErrorIllegalAddress: an illegal memory access was encountered"
    opened(cuda, [0, 1], "aa")
    eventually(lambda: [entry[0] for entry in cuda.log].count("free") == 2)
    cuda.failing.clear()
    lost = dict(cuda.memory)
    cuda.memory.clear()
    assert len(lost) == 2
    opened(cuda, [0, 1], "aa")


def test_memory_is_freed_while_no_rank_works(cuda):
    """A kernel of a rank that works may wait for another one's, which waits for the device while memory is freed."""
    with at_work().working():
        with at_work().working():
            opened(cuda, [0, 1], "ab")
        gc.collect()
        time.sleep(0.05)
        assert not [entry for entry in cuda.log if entry[0] in ("free", "ipcCloseMemHandle")]


def test_new_work_waits_until_memory_is_freed():
    """Unless other work is under way, which may wait for the new one."""
    turns, entered, left = AtWork(), threading.Event(), []
    with turns.working():

        def free():
            entered.set()
            with turns.exclusive():
                left.append("freed")

        freeing = threading.Thread(target=free)
        freeing.start()
        entered.wait(TIMEOUT)
        eventually(lambda: turns._waiting)
        with turns.working():
            left.append("worked")
        assert left == ["worked"]
    with turns.working():
        left.append("worked again")
    freeing.join(TIMEOUT)
    assert left == ["worked", "freed", "worked again"]


def test_work_that_an_interrupt_keeps_from_its_end_does_not_keep_memory():
    turns, freed = AtWork(), threading.Event()
    turns.working().__enter__()

    def free():
        with turns.exclusive():
            freed.set()

    threading.Thread(target=free, daemon=True).start()
    assert freed.wait(TIMEOUT)


def test_ranks_that_free_first_at_once_share_a_thread(monkeypatch):
    """Each had its own, and one of them was left inside of CUDA at the end of the process."""
    monkeypatch.setattr(peer_memory, "_begun", cache(peer_memory._begun.__wrapped__))
    together, started = threading.Barrier(4), []

    def start_thread(work, jobs):
        started.append(jobs)
        time.sleep(0.1)

    monkeypatch.setattr(peer_memory, "start_thread", start_thread)
    with ThreadPoolExecutor(4) as ranks:
        found = [*ranks.map(lambda _: together.wait(TIMEOUT) is None or freeing(), range(4))]
    assert len(started) == 1
    assert all(jobs is started[0] for jobs in found)


def test_the_process_ends_after_what_is_being_freed():
    """NCCL and CUDA are unloaded at the end of the process, where a thread that frees a communicator would crash."""
    program = """
import time
from rapids_bfs.distributed.peer_memory import freeing
freeing().put(lambda: time.sleep(0.5) or print("freed", flush=True) or True)
freeing().put(lambda: print("and more", flush=True) or True)
"""
    done = run(program, seconds=TIMEOUT)
    assert (done.stdout, done.stderr) == ("freed\nand more\n", "")


def test_the_process_does_not_wait_long_for_what_is_being_freed():
    program = """
import time
from rapids_bfs.distributed import peer_memory
peer_memory.PARTING = 0.1
peer_memory.freeing().put(lambda: time.sleep(3600))
"""
    run(program)


def test_what_info_says(cuda):
    """Of all devices of this process, whoever may search on them."""
    assert obstacle_of_all() is None
    cuda.others["0000:02:00.0"] = [77]
    assert obstacle_of_all().startswith("process 77 computes on GPU 0000:02:00.0")
    cuda.unlinked.add((1, 3))
    assert obstacle_of_all().startswith("GPU 0000:01:00.0 has no peer access to GPU 0000:03:00.0")


def places(*rows):
    return [Location(*row[:3], 1, *row[3:]) for row in rows]


def test_places_that_do_not_fit():
    one = ("h", "b", "p", 0, "0000:00:00.0", "u")
    assert unfit(places(one, one)) is None  # partitions on one device
    assert unfit(places(one, ("container", "b", "q", 0, "0000:01:00.0", "v"))) is None
    assert unfit(places(one, ("g", "c", "q", 0, "0000:01:00.0", "v"))) == "ranks on 2 hosts (g, h)"
    assert unfit(places(one, ("h", "b", "p", 1, "x", "w"), ("h", "b", "q", 0, *one[-2:]))) == (
        "partition 0 and partition 2 share GPU 0000:00:00.0 from two processes: start one worker a GPU"
    )
    assert unfit(places(one, ("h", "b", "q", 0, "0000:00:00.0", "v"))) == (
        "partition 0 and partition 1 are on slices (MIG) of GPU 0000:00:00.0, which cannot reach each other's memory"
    )


def test_a_lease_ends_with_who_holds_it():
    """Also where that process is killed."""
    lease = Lease()
    program = (
        f"from rapids_bfs.distributed.peer_memory import hold; hold({lease.path!r}); print('held', flush=True); input()"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    held = None
    try:
        assert holder.stdout.readline() == b"held\n"
        held = hold(lease.path)
        lease.unlink()
        assert not lease.ended()
        release(held)
        assert not lease.ended()
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait(TIMEOUT)
        holder.stdin.close()
        holder.stdout.close()
    assert lease.ended()


def test_a_forked_child_is_another_process():
    before = peer_memory.process()
    child = os.fork()
    if child == 0:
        os._exit(peer_memory.process() != before)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


class Nvml:
    """A library that fills in what there is, and asks for more room where it is too little."""

    def __init__(self, running, samples):
        self.running, self.samples = running, samples

    def nvmlDeviceGetHandleByPciBusId_v2(self, bus_id, device):
        return 0 if bus_id == b"0000:01:00.0" else 6

    def nvmlDeviceGetComputeRunningProcesses_v3(self, device, count, room):
        return self._filled(count, room, [(pid, 1 << 30, 0, 0) for pid in self.running])

    def nvmlDeviceGetProcessUtilization(self, device, room, count, since):
        newest = int(1e6 * time.time())
        return self._filled(count, room, [(pid, newest - int(1e6 * age), sm, 0, 0, 0) for pid, age, sm in self.samples])

    def _filled(self, count, room, entries):
        count, length = count._obj, count._obj.value
        count.value = len(entries)
        if length < len(entries):
            return nvml.INSUFFICIENT_SIZE
        for place, entry in enumerate(entries):
            room[place] = entry
        return 0


@pytest.mark.parametrize(
    ("running", "samples", "ours", "expected"),
    [
        ([10, 11], [(10, 0, 90), (11, 0, 30)], [10], [11]),
        ([10, 11], [(10, 0, 90), (11, 0, 0)], [10], []),  # a context alone
        ([10, 11], [(11, 3600, 50)], [10], []),  # long ago
        ([10], [(11, 0, 50)], [10], []),  # it has ended
        ([10, 11], [(11, 0, 50)], [10, 11], []),
        ([110, 111], [(111, 0, 50)], [10, 11], []),  # numbers of another namespace
        ([110, 111], [(111, 0, 50)], [], [111]),
        ([], [], [10], []),
        (list(range(50)), [(pid, 0, 1) for pid in range(40)], [0], list(range(1, 40))),
    ],
)
def test_others_that_compute(monkeypatch, running, samples, ours, expected):
    monkeypatch.setattr(nvml, "library", lambda: Nvml(running, samples))
    monkeypatch.setattr(nvml.time, "sleep", lambda seconds: None)
    assert nvml.others("0000:01:00.0", ours) == expected
    assert nvml.others("0000:02:00.0", ours) == []


def test_who_has_just_ended_its_work_is_no_other(monkeypatch):
    fake = Nvml([10, 11], [(11, 0, 50)])
    monkeypatch.setattr(nvml, "library", lambda: fake)
    monkeypatch.setattr(nvml.time, "sleep", lambda seconds: fake.samples.clear())
    assert nvml.others("0000:01:00.0", [10]) == []


def test_without_nvml(monkeypatch):
    monkeypatch.setattr(nvml, "library", lambda: None)
    assert nvml.others("0000:01:00.0", [1]) == []


def test_nvml_that_cannot_say(monkeypatch):
    fake = Nvml([10, 11], [])
    fake.nvmlDeviceGetProcessUtilization = lambda *arguments: 3  # NVML_ERROR_NOT_SUPPORTED
    monkeypatch.setattr(nvml, "library", lambda: fake)
    assert nvml.others("0000:01:00.0", [10]) == []


def test_the_driver_is_asked(monkeypatch):
    """Which PCI bus id a device has, and whether MPS runs what is launched there; an older driver does not know."""
    asked = []

    def get(device, ordinal):
        device._obj.value = 10 + ordinal
        return 0

    def bus_id(name, length, device):
        name.value = f"0000:1B:{device.value:02d}.0".encode()
        assert len(name.value) < length
        return 0

    def attribute(holds, number, device):
        asked.append(number)
        holds._obj.value = int(device.value == 11)
        return int(device.value == 12)

    library = SimpleNamespace(cuDeviceGet=get, cuDeviceGetPCIBusId=bus_id, cuDeviceGetAttribute=attribute)
    monkeypatch.setattr(driver, "library", lambda: library)
    assert driver.pci_bus_id(1) == "0000:1b:11.0"
    assert [driver.under_mps(ordinal) for ordinal in range(3)] == [False, True, False]
    assert asked == [133] * 3


def test_search_ids_go_on_with_the_time():
    """In their lower halves, which all words of a message between GPUs carry: another search's are earlier."""
    ticks = 5, 5 + (1 << 32), 9, (1 << 32) - 1
    with mock.patch.object(search, "monotonic_ns", side_effect=[256 * tick + 255 for tick in ticks]):
        ids = [search._new_search_id() for _ in ticks]
    assert [each % (1 << 32) for each in ids] == [6, 6, 10, 0]
    assert len(set(ids)) == 4
    assert all(0 < each <= 1 << 61 for each in ids)
