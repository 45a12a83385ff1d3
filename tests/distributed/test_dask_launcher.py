"""SPMD functions on the workers of a Dask cluster: what they return and keep, and every way to fail."""

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager

import faults
import numpy as np
import pytest
from programs import run
from readme import ROOT

import rapids_bfs
from rapids_bfs import InputError, TraversalError
from rapids_bfs._core.cuda.driver import no_device

sys.path.append(str(ROOT))  # behind what is installed


dask, distributed = (pytest.importorskip(name) for name in ("dask", "distributed"))

from rapids_bfs.distributed import dask as on_dask  # noqa: E402
from rapids_bfs.distributed import workers as remote  # noqa: E402
from rapids_bfs.distributed.dask import DaskLauncher  # noqa: E402

PATIENCE = 600  # seconds


def launcher_of(dask_client, **options):
    return DaskLauncher(dask_client, sorted(dask_client.nthreads()), **{"timeout": PATIENCE} | options)


def who(communicator, offset):
    return os.getpid(), communicator.rank + offset, communicator.allgather_object(communicator.rank)


def squares(communicator, n):
    return np.arange(n) * communicator.rank


def power(communicator):
    return 10**communicator.rank


def largest(*stored):
    return max(value() for value in stored)


def total(mine, theirs, communicator):
    return int(sum(communicator.allgather_object(mine.sum() + theirs)))


def exchanged(communicator, n):
    received = communicator.alltoallv_new([np.full(n, 10 * communicator.rank + to) for to in range(communicator.size)])
    whole = np.full((communicator.size, 1), -1)
    whole[communicator.rank] = communicator.rank
    communicator.allgather_slices(whole)
    return [array.tolist() for array in received], whole.ravel().tolist()


def refuse(communicator, rank, error):
    if communicator.rank == rank:
        raise error
    communicator.barrier()


def die(communicator, rank):
    if communicator.rank == rank:
        os.kill(os.getpid(), signal.SIGKILL)
    communicator.barrier()


def await_file(communicator, rank, begun, path):
    if communicator.rank == rank:
        open(begun, "w").close()
    deadline = time.monotonic() + PATIENCE
    while communicator.rank == rank and not os.path.exists(path) and time.monotonic() < deadline:
        time.sleep(0.02)
    communicator.barrier()


def stop(communicator, rank):
    if communicator.rank == rank:
        os.kill(os.getpid(), signal.SIGSTOP)
    communicator.barrier()


def kept_there(token):
    """How much the launcher with this token keeps in this process; None if it has no rank."""
    return {theirs: len(rank.values) for (theirs, _), rank in remote._ranks.items()}.get(token)


def eventually(holds):
    """Wait until it holds: Dask frees what nobody refers to a little later."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        gc.collect()
        time.sleep(0.02)


def impatient(launcher, patience):
    """The launcher, whose ranks wait for each other this many seconds at most, now that they are connected."""
    launcher.collect(exchanged, 1)
    launcher.client.run(faults.be_impatient, launcher.token, patience)
    launcher.timeout = patience
    return launcher


@contextmanager
def paused(client, workers):
    """A context in which workers start no tasks, as when their memory is full."""
    client.run(set_status, "paused", workers=workers)
    try:
        yield
    finally:
        client.run(set_status, "running", workers=workers)


def set_status(name, dask_worker):
    dask_worker.status = distributed.core.Status[name]


def types_of_data(dask_worker):
    return {type(value).__name__ for value in dask_worker.data.values()}


def works(launcher):
    try:
        return bool(launcher.collect(exchanged, 1))
    except TraversalError:
        return False


INTERRUPTED = """
import os
import signal
import threading
import time
from pathlib import Path

from distributed import Client

from rapids_bfs.distributed.dask import DaskLauncher

begun, go_on = (Path(os.environ["FOLDER"], name) for name in ("begun", "go on"))
interrupted = threading.Event()


def until(path):
    while not path.exists():
        time.sleep(0.02)


def wait(communicator):
    if communicator.rank == 2:
        begun.touch()
        until(go_on)
    communicator.barrier()


def press():
    until(begun)
    while not interrupted.wait(1):  # again if need be: an interrupt within a finalizer is lost
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


with Client(os.environ["SCHEDULER"], set_as_default=False) as client:
    launcher = DaskLauncher(client, sorted(client.nthreads()), timeout=600)
    threading.Thread(target=press, daemon=True).start()
    try:
        launcher.collect(wait)
        raise SystemExit("it was not interrupted")
    except KeyboardInterrupt:
        interrupted.set()
    go_on.touch()
    assert launcher.collect(lambda communicator: communicator.rank) == [0, 1, 2]
"""


FORKED = """
import os

from distributed import Client

from rapids_bfs import TraversalError, as_graph, bfs
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.distributed.dask import DaskLauncher

with Client(os.environ["SCHEDULER"], set_as_default=False) as client:
    graph = from_graph(as_graph("karate"), DaskLauncher(client, sorted(client.nthreads()), timeout=600))
    assert bfs(graph, 0).depth == 3
    child = os.fork()
    if child == 0:
        try:
            bfs(graph, 0)
        except TraversalError as error:
            print(error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    assert bfs(graph, 0).depth == 3
"""


class TestCalls:
    def test_each_worker_is_a_rank(self, dask_client):
        launcher = launcher_of(dask_client)
        found = launcher.collect(who, 5)
        assert len({pid for pid, _, _ in found}) == 3
        assert [rest for _, *rest in found] == [[5 + rank, [0, 1, 2]] for rank in range(3)]

    def test_arrays_go_from_process_to_process(self, dask_client):
        launcher = launcher_of(dask_client)
        for n in (0, 3, 1000):
            expected = [([[10 * other + rank] * n for other in range(3)], [0, 1, 2]) for rank in range(3)]
            assert launcher.collect(exchanged, n) == expected

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
    def test_a_forked_child(self, dask_client):
        line = "a forked process cannot ask the Dask workers of its parent"
        assert run(FORKED, SCHEDULER=dask_client.scheduler.address).stdout.startswith(line)

    def test_what_is_kept_stays_until_nobody_refers_to_it(self, dask_client):
        launcher = launcher_of(dask_client)
        token = launcher.token
        kept = launcher.map(squares, 4)
        spread = launcher.map(power)
        assert launcher.collect(total, each=[kept, spread]) == [18 + 111] * 3
        assert set(dask_client.run(kept_there, token).values()) == {2}
        del kept
        eventually(lambda: set(dask_client.run(kept_there, token).values()) == {1})
        del spread, launcher
        eventually(lambda: set(dask_client.run(kept_there, token).values()) == {None})

    def test_what_is_forgotten_while_it_is_made_is_not_kept(self, dask_client, tmp_path):
        launcher = launcher_of(dask_client)
        making = threading.Thread(
            target=launcher._collect, args=(await_file, (0, str(tmp_path / "begun"), str(tmp_path / "go")), (), "key")
        )
        making.start()
        eventually((tmp_path / "begun").exists)
        dask_client.run(remote.forget, launcher.token, "key")
        (tmp_path / "go").touch()
        making.join()
        assert set(dask_client.run(kept_there, launcher.token).values()) == {0}

    def test_what_is_kept_can_be_told_of_at_once(self, dask_client):
        launcher = launcher_of(dask_client)
        kept, told = launcher.map_and_collect(squares, len, 4)
        assert told == [4, 4, 4]
        assert launcher.collect(total, each=[kept, launcher.map(power)]) == [18 + 111] * 3

    def test_graphs_on_the_same_workers_share_one(self, dask_client):
        """As long as one of them uses it; and not once a worker has gone."""
        workers = sorted(dask_client.nthreads())
        launcher = DaskLauncher.shared(dask_client, workers, "cpu")
        assert DaskLauncher.shared(dask_client, workers, "cpu") is launcher
        assert DaskLauncher.shared(dask_client, workers[:2], "cpu") is not launcher
        launcher._rank_futures[1].cancel()
        other = DaskLauncher.shared(dask_client, workers, "cpu")
        assert other is not launcher
        assert other.collect(exchanged, 1)

    def test_it_is_freed_when_the_client_goes(self, dask_client):
        with distributed.Client(dask_client.scheduler.address, set_as_default=False) as other:
            launcher = launcher_of(other)
            token = launcher.token
            kept = launcher.map(squares, 4)
        eventually(lambda: set(dask_client.run(kept_there, token).values()) == {None})
        with pytest.raises(TraversalError, match="client of this graph is closed: make the graph again"):
            launcher.collect(total, each=[kept, kept])

    def test_ranks_do_not_keep_dask_from_spilling(self, dask_client):
        """What cannot be pickled would, among a worker's data."""
        launcher = launcher_of(dask_client)
        assert not any("Rank" in types for types in dask_client.run(types_of_data).values())
        assert launcher.collect(exchanged, 1)

    def test_one_worker(self, dask_client):
        launcher = DaskLauncher(dask_client, list(dask_client.nthreads())[:1])
        assert launcher.collect(exchanged, 2) == [([[0, 0]], [0])]

    @pytest.mark.parametrize("device", ["cpu", "cuda"])
    def test_clients_take_turns_where_their_ranks_share_gpus(self, dask_client, tmp_path, device):
        """As they would on GPUs. The turn of a client ends with its call."""
        begun, go = tmp_path / "begun", tmp_path / "go"
        with distributed.Client(dask_client.scheduler.address, set_as_default=False) as other:
            mine, theirs = launcher_of(dask_client), launcher_of(other)
            mine.device = theirs.device = device
            theirs.collect(exchanged, 1)
            waiting = threading.Thread(target=mine.collect, args=(await_file, 0, str(begun), str(go)))
            waiting.start()
            eventually(begun.exists)
            done = []
            calling = threading.Thread(target=lambda: done.append(theirs.collect(exchanged, 1)))
            calling.start()
            calling.join(1 if device == "cuda" else PATIENCE)
            assert len(done) == (device == "cpu")
            go.touch()
            for thread in (waiting, calling):
                thread.join(PATIENCE)
            assert len(done) == 1

    def test_two_graphs_at_the_same_time(self, dask_client):
        launchers = [launcher_of(dask_client) for _ in range(2)]
        found = [[], []]

        def work(which):
            for _ in range(5):
                found[which].append(launchers[which].collect(exchanged, which))

        threads = [threading.Thread(target=work, args=(which,)) for which in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for which in range(2):
            assert found[which] == [launchers[which].collect(exchanged, which)] * 5

    def test_values_that_dask_has_on_the_workers_are_taken_and_given_back(self, dask_client):
        launcher = launcher_of(dask_client)
        futures = [
            [dask_client.submit(int, value, workers=[worker], pure=False) for value in (rank, 7)]
            for rank, worker in enumerate(launcher.workers)
        ]
        assert [dask_client.gather(mine) for mine in futures] == [[0, 7], [1, 7], [2, 7]]
        kept = launcher.hold(largest, futures)
        taken = launcher.as_futures(kept)
        assert dask_client.gather(taken) == [7, 7, 7]
        assert [next(iter(dask_client.who_has(each).values()))[0] for each in taken] == list(launcher.workers)

    def test_it_is_not_pickled(self, dask_client):
        import pickle

        with pytest.raises(InputError, match=r"stays there: copy it here by to\('cpu'\)"):
            pickle.dumps(launcher_of(dask_client))


SET_VERSION = "__import__('sys').modules['rapids_bfs'].__dict__.update(__version__={!r})"
HIDE = "__import__('sys').modules.update(rapids_bfs=None, hidden=__import__('rapids_bfs'))"
SHOW = "__import__('sys').modules.update(rapids_bfs=__import__('sys').modules.pop('hidden'))"


class TestWorkersThatCannotBeRanks:
    """Each is named in one line before anything is sent. What a worker lacks is hidden there, by Python alone."""

    @pytest.mark.parametrize(
        ("hide", "show", "says"),
        [
            (HIDE, SHOW, r"cannot import rapids_bfs \(.*\): install "),
            (SET_VERSION.format("0.0.7"), SET_VERSION.format(rapids_bfs.__version__), "has rapids_bfs 0.0.7, and this"),
        ],
        ids=["without the package", "another version"],
    )
    def test_the_package(self, dask_client, hide, show, says):
        worker = sorted(dask_client.nthreads())[1]
        launcher_of(dask_client)  # imports it everywhere
        dask_client.run(eval, hide, workers=[worker])
        try:
            with pytest.raises(InputError, match=f"^worker {worker} {says}"):
                launcher_of(dask_client)
        finally:
            dask_client.run(eval, show, workers=[worker])
        assert launcher_of(dask_client).collect(exchanged, 1)

    def test_a_worker_that_ends_meanwhile(self, dask_client, monkeypatch):
        """As one does whose nanny kills it, since the import takes more memory than it may."""
        worker, pid = sorted(dask_client.run(os.getpid).items())[1]
        ends = f"__import__('os')._exit(1) if __import__('os').getpid() == {pid} else {on_dask.VERSION}"
        monkeypatch.setattr(on_dask, "VERSION", ends)
        with pytest.raises(InputError, match=f"^worker {worker} ended while it imported rapids_bfs"):
            launcher_of(dask_client)

    @pytest.mark.skipif(no_device() is None, reason="there is a GPU")
    def test_no_gpu(self, dask_client):
        with pytest.raises(InputError, match=r"^worker tcp://.* has no GPU for its part of the graph: there is"):
            launcher_of(dask_client, device="cuda")


class TestFailures:
    @pytest.mark.parametrize("rank", [0, 2])
    def test_an_input_error_comes_out_as_it_is(self, dask_client, rank):
        launcher = launcher_of(dask_client)
        with pytest.raises(InputError, match=r"^no such vertex$"):
            launcher.collect(refuse, rank, InputError("no such vertex"))
        assert launcher.collect(exchanged, 1)

    @pytest.mark.parametrize(
        ("error", "line"),
        [
            (ZeroDivisionError("no\nluck"), "failed: no"),
            (MemoryError("unable to allocate"), "failed: unable to allocate: it does not fit"),
            (SystemExit(3), "failed: 3"),
        ],
    )
    def test_other_errors_name_the_worker(self, dask_client, error, line):
        launcher = launcher_of(dask_client)
        with pytest.raises(TraversalError) as raised:
            launcher.collect(refuse, 1, error)
        assert str(raised.value).startswith(f"partition 1 of 3 (worker {launcher.workers[1]}) {line}")
        assert "\n" not in str(raised.value)
        assert launcher.collect(exchanged, 1)

    def test_a_rank_that_does_not_come_is_named(self, dask_client, tmp_path):
        rank = 0
        launcher, other = impatient(launcher_of(dask_client), 2), launcher_of(dask_client)
        says = rf"partition {rank} of 3 .worker tcp.* does not answer: restart it"
        with faults.in_time(2), pytest.raises(TraversalError, match=says):
            launcher.collect(await_file, rank, str(tmp_path / "begun"), str(tmp_path / "go"))
        with pytest.raises(TraversalError, match=rf"partition {rank} of 3 .* has not ended an earlier call: restart"):
            launcher.collect(exchanged, 1)
        assert other.collect(exchanged, 1)
        (tmp_path / "go").touch()
        dask_client.run(faults.be_impatient, launcher.token, PATIENCE)
        launcher.timeout = PATIENCE
        eventually(lambda: works(launcher))

    @pytest.mark.parametrize("rank", [0, 1])
    def test_a_worker_that_is_killed(self, dask_client, rank):
        launcher = launcher_of(dask_client)
        other = DaskLauncher(dask_client, launcher.workers[1 - rank :: 2][:1])
        kept = other.map(squares, 3)
        launcher.collect(exchanged, 1)
        for call in (lambda: launcher.collect(die, rank), lambda: launcher.collect(exchanged, 1)):
            with pytest.raises(TraversalError) as raised:
                call()
            name = f"partition {rank} of 3 (worker {launcher.workers[rank]})"
            assert str(raised.value) == f"{name} is gone, and with it its partition: make the graph again"
        assert other.collect(exchanged, 1)
        assert [each.tolist() for each in other.collect(lambda mine, communicator: mine, each=[kept])] == [[0, 0, 0]]
        assert dask_client.submit(lambda: 5).result() == 5

    def test_what_fails_outside_the_program_of_a_rank(self, dask_client):
        with pytest.raises(TraversalError, match=r"^partition 0 of 3 .* failed: 'Rank' object has no attribute 'none'"):
            launcher_of(dask_client)._on_workers("none")

    def test_a_scheduler_that_does_not_answer(self, dask_client):
        with pytest.raises(
            TraversalError, match=r"^Dask's scheduler does not answer: make a new client, and the graph"
        ):
            on_dask.ask_scheduler(dask_client, lambda: asyncio.sleep(600), 0.1)
        assert on_dask.ask_scheduler(dask_client, dask_client.nthreads)

    def test_a_worker_that_dask_has_paused(self, dask_client):
        worker = sorted(dask_client.nthreads())[1]
        line = rf"^partition 1 of 3 \(worker {worker}\) has been paused by Dask, since its memory is full: free memory"
        with paused(dask_client, [worker]), faults.in_time(2), pytest.raises(TraversalError, match=line):
            launcher_of(dask_client, timeout=8)
        assert launcher_of(dask_client).collect(exchanged, 1)

    def test_a_worker_that_is_stopped(self, dask_client):
        launcher = impatient(launcher_of(dask_client), 2)
        pids = dask_client.run(os.getpid)
        try:
            says = r"partition 1 of 3 .*does not answer: restart it"
            with faults.in_time(2), pytest.raises(TraversalError, match=says):
                launcher.collect(stop, 1)
        finally:
            os.kill(pids[launcher.workers[1]], signal.SIGCONT)
        dask_client.run(faults.be_impatient, launcher.token, PATIENCE)
        launcher.timeout = PATIENCE
        eventually(lambda: works(launcher))

    def test_an_interrupt(self, dask_client, tmp_path):
        """In a process of its own: it reaches the main thread, where pytest-xdist runs no tests."""
        run(INTERRUPTED, SCHEDULER=dask_client.scheduler.address, FOLDER=str(tmp_path))
