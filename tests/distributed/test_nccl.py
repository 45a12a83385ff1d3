"""Ranks that talk by NCCL, with a library that stands for it: addresses, sizes, order, timeouts, failures."""

import ctypes
import gc
import platform
import sys
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from rapids_bfs import TraversalError
from rapids_bfs.distributed import communicators as communicator
from rapids_bfs.distributed import nccl
from rapids_bfs.distributed.communicators import Aborted
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.nccl import NcclCommunicator, Ranks
from rapids_bfs.distributed.nccl_library import NcclError

NAMES = [f"partition {rank} (cuda:{rank})" for rank in range(3)]


class OnDevice(np.ndarray):
    """An array that has its address where CuPy's have it."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        return np.array(self)


def on_device(array):
    return np.ascontiguousarray(array).view(OnDevice)


class Handle:
    """One of a group, whose collectives take place when all have come, unless it is aborted. It joins at once."""

    joins = True

    def __init__(self, rank, rendezvous):
        self.rank, self.rendezvous, self.calls = rank, rendezvous, []
        self.library = SimpleNamespace(group=self.group)

    def in_progress(self):
        return False

    def abort(self):
        self.rendezvous.fail("aborted")

    def allgather(self, source, target, nbytes, stream):
        assert source == target + nbytes * self.rank
        for rank, theirs in enumerate(self._meet(source)):
            if rank != self.rank:
                ctypes.memmove(target + nbytes * rank, theirs, nbytes)
        self._meet(None)

    def send(self, address, nbytes, peer, stream):
        self.calls.append(("send", peer, address, nbytes))

    def receive(self, address, nbytes, peer, stream):
        self.calls.append(("receive", peer, address, nbytes))

    @contextmanager
    def group(self):
        yield
        sent = {peer: (address, nbytes) for what, peer, address, nbytes in self.calls if what == "send"}
        everything = self._meet(sent)
        for what, peer, address, nbytes in self.calls:
            if what == "receive":
                theirs, length = everything[peer][self.rank]
                assert length == nbytes
                ctypes.memmove(address, theirs, nbytes)
        self._meet(None)
        self.calls = []

    def _meet(self, value):
        try:
            return self.rendezvous.exchange(self.rank, value)
        except Aborted as error:
            raise NcclError("unhandled system error") from error


@pytest.fixture
def ranks(monkeypatch):
    """A function that makes the ranks of a group, in one process or each as if in its own."""

    def cupy_empty(shape, dtype):
        return on_device(np.empty(shape, dtype))

    cupy = SimpleNamespace(
        empty=cupy_empty,
        asarray=on_device,
        cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=0)),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cupy.cuda)
    monkeypatch.setattr(communicator, "on_device", lambda array: isinstance(array, OnDevice))
    monkeypatch.setattr(communicator, "finish", lambda: None)
    monkeypatch.setattr(NcclCommunicator.wait, "__defaults__", (lambda: None,))

    def make(together, timeout=None, kind=Handle, late=()):
        """With a timeout: it is over once all but the ``late`` ranks wait."""
        rendezvous = communicator.Rendezvous(NAMES, 300.0)
        handles = {rank: kind(rank, rendezvous) for rank in range(len(NAMES))}
        if together:
            group = NcclCommunicator.group(Ranks(handles, NAMES, timeout or 300.0))
        else:
            group = [
                NcclCommunicator(Ranks({rank: each}, NAMES, timeout or 300.0), rank) for rank, each in handles.items()
            ]

        def waits(each):
            joined = each.rank not in each.ranks.joining
            return joined == kind.joins and each.ranks.deadlines[each.rank] < nccl.NEVER

        def clock():
            return timeout if all(waits(each) for each in group if each.rank not in late) else 0.0

        if timeout:
            monkeypatch.setattr(nccl, "monotonic", clock)

        def run(function):
            """What ``function`` returns or raises on each rank."""
            outcomes = [None] * len(NAMES)

            def work(rank):
                try:
                    outcomes[rank] = function(group[rank])
                except Exception as error:
                    outcomes[rank] = error

            threads = [threading.Thread(target=work, args=(rank,)) for rank in range(len(NAMES))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return outcomes

        return run

    return make


@pytest.fixture(params=[True, False], ids=["one process", "several"])
def together(request):
    return request.param


def test_small_objects(ranks, together):
    values = [("a", 1), {"b": [2] * 100}, None]
    assert (
        ranks(together)(lambda communicator: communicator.allgather_object(values[communicator.rank])) == [values] * 3
    )


def test_a_small_object_takes_one_collective(ranks):
    """A larger one on any rank takes two."""

    def allgather_object(communicator):
        small = communicator.allgather_object(communicator.rank), communicator.ranks.calls[communicator.rank]
        values = communicator.allgather_object(bytes(5000 * communicator.rank))
        return small, [len(value) for value in values], communicator.ranks.calls[communicator.rank]

    assert ranks(False)(allgather_object) == [(([0, 1, 2], 1), [0, 5000, 10000], 3)] * 3


def test_slices(ranks, together):
    def gather(communicator):
        whole = on_device(np.zeros(12, np.int32))
        whole[4 * communicator.rank : 4 * communicator.rank + 4] = communicator.rank + 1
        communicator.allgather(whole)
        return whole.tolist()

    assert ranks(together)(gather) == [[1] * 4 + [2] * 4 + [3] * 4] * 3


def test_pieces_of_any_size(ranks, together):
    """Rank r has r times p elements for rank p, in rows of two."""

    def alltoallv(communicator):
        pieces = [on_device(np.full((2, communicator.rank * to), 10 * communicator.rank + to)) for to in range(3)]
        return [each.tolist() for each in communicator.alltoallv_new(pieces)]

    for rank, received in enumerate(ranks(together)(alltoallv)):
        assert received == [[[10 * sender + rank] * (sender * rank)] * 2 for sender in range(3)]


def test_who_does_not_answer_is_named(ranks):
    go = threading.Event()

    def hang(communicator):
        if communicator.rank == 1:
            go.wait()
        whole = on_device(np.zeros(3, np.uint8))
        try:
            communicator.allgather(whole)
            communicator.wait()
        finally:
            go.set()

    for outcome in ranks(True, timeout=0.5, late=[1])(hang):
        assert isinstance(outcome, TraversalError)
        assert "no answer for 0.5 s from partition 1 (cuda:1)" in str(outcome)


def test_in_several_processes_the_others_are_named(ranks):
    go = threading.Event()

    def hang(communicator):
        if communicator.rank == 1:
            go.wait()
            return
        try:
            communicator.allgather(on_device(np.zeros(3, np.uint8)))
        finally:
            go.set()

    first, _, last = ranks(False, timeout=0.5, late=[1])(hang)
    assert isinstance(first, Aborted)
    assert isinstance(last, Aborted)


def test_abort(ranks, together):
    def fail(communicator):
        if communicator.rank == 2:
            communicator.abort("partition 2 (cuda:2) failed: it broke")
            return None
        communicator.allgather(on_device(np.zeros(3, np.uint8)))
        return communicator.wait()

    first, second, _ = ranks(together)(fail)
    assert isinstance(first, Aborted)
    assert isinstance(second, Aborted)
    if together:
        assert str(first) == str(second) == "partition 2 (cuda:2) failed: it broke"


def test_who_only_computes_is_left_alone(ranks):
    """The timeout counts from a collective until `wait`, and not after it."""

    def compute(communicator):
        communicator.allgather(on_device(np.zeros(3, np.uint8)))
        begun = communicator.ranks.deadlines[communicator.rank]
        communicator.wait()
        return begun < nccl.NEVER, communicator.ranks.deadlines[communicator.rank]

    assert ranks(True)(compute) == [(True, nccl.NEVER)] * 3


def test_graphs_on_the_same_devices_share_communicators(ranks, monkeypatch):
    """While one of them lives; those of a failed search serve nobody any more."""
    made = []

    def join_all(ordinals):
        made.append(ordinals)
        return [SimpleNamespace(abort=lambda: None) for _ in ordinals]

    monkeypatch.setattr(nccl, "missing", lambda: None)
    monkeypatch.setattr(nccl, "library", lambda: SimpleNamespace(join_all=join_all))
    graphs = [Threads(["cuda:0", "cuda:1"]) for _ in range(2)]
    first = [graph._group()[0].ranks for graph in graphs]
    assert first[0] is first[1]
    assert Threads(["cuda:1", "cuda:0"])._group()[0].ranks is not first[0]
    assert Threads(["cuda:0", "cuda:1"], 3.0)._group()[0].timeout == 3.0
    graphs[0]._group()[0].abort("it broke")
    again = [graph._group()[0].ranks for graph in (graphs[1], graphs[0])]
    assert again[0] is again[1] is not first[0]
    assert made == [[0, 1], [1, 0], [0, 1], [0, 1]]
    del again, first, graphs
    gc.collect()
    deadline = time.monotonic() + 300
    while list(nccl._shared):  # a watchdog holds those that it looks at
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Slow(Handle):
    """Joins, and begins its collectives, after some looks at it."""

    looks = 0

    def in_progress(self):
        self.looks += 1
        return self.looks % 3 != 0


class Alone(Handle):
    """Rank 1 never joins, nor do then the others."""

    joins = False

    def in_progress(self):
        return True


class Failing(Handle):
    """Rank 1 fails while it joins; the others go on joining."""

    def in_progress(self):
        if self.rank == 1:
            raise NcclError("NCCL: unhandled cuda error")
        return True


def gather(communicator):
    whole = on_device(np.zeros(3, np.uint8))
    communicator.allgather(whole)
    communicator.wait()


class TestJoining:
    """The first collective waits until the rank has joined."""

    def test_collectives_that_begin_late(self, ranks, together):
        values = ["a", "b", "c"]
        found = ranks(together, kind=Slow)(
            lambda communicator: communicator.allgather_object(values[communicator.rank])
        )
        assert found == [values] * 3
        assert ranks(together, kind=Slow)(gather) == [None] * 3

    def test_a_rank_that_never_joins(self, ranks, together):
        """All stop at the limit, and each process names its ranks, its host, and where to look."""
        for rank, outcome in enumerate(ranks(together, timeout=0.5, kind=Alone)(gather)):
            assert isinstance(outcome, Aborted)
            names = NAMES if together else NAMES[rank : rank + 1]
            assert str(outcome).startswith(f"{', '.join(names)} on host {platform.node()} could not join the other")
            assert "within 0.5 s: set NCCL_SOCKET_IFNAME to" in str(outcome)
            assert str(outcome).endswith("NCCL_DEBUG=INFO prints")

    def test_a_rank_that_fails(self, ranks):
        outcomes = ranks(True, kind=Failing)(gather)
        assert {str(outcome) for outcome in outcomes} == {"partition 1 (cuda:1) failed: NCCL: unhandled cuda error"}

    def test_an_abort_meanwhile(self, ranks, together):
        """It ends joining at once, long before the limit."""

        def join(communicator):
            threading.Timer(0.2, communicator.abort, ["partition 7 is gone"]).start()
            gather(communicator)

        for outcome in ranks(together, kind=Alone)(join):
            assert isinstance(outcome, Aborted)
            assert str(outcome) == "partition 7 is gone"

    def test_no_rank_is_asked_once_it_is_freed(self, ranks):
        asked = []

        class Freed(Alone):
            freed = False

            def in_progress(self):
                asked.append(self.freed)
                return True

            def abort(self):
                self.freed = True

        ranks(True, timeout=0.3, kind=Freed)(gather)
        assert asked
        assert not any(asked)


class TestAborts:
    """An abort frees a communicator, so it must not come while a collective begins there."""

    @pytest.fixture
    def calls(self, ranks):
        return []

    @pytest.fixture
    def rank(self, ranks, calls, monkeypatch):
        """One rank, whose collective takes until it is told to begin."""
        self.entered, self.go = threading.Event(), threading.Event()

        def all_gather(*arguments):
            calls.append("begin")
            self.entered.set()
            self.go.wait(300)
            calls.append("end")

        fake = SimpleNamespace(allgather=all_gather, in_progress=lambda: False, abort=lambda: calls.append("abort"))
        return NcclCommunicator(Ranks({0: fake}, NAMES[:1]), 0)

    def begin(self, rank):
        def gather():
            with pytest.raises(Aborted, match="it broke"):
                rank.allgather(on_device(np.zeros(3, np.uint8)))

        thread = threading.Thread(target=gather)
        thread.start()
        assert self.entered.wait(300)
        return thread

    def test_an_abort_waits_until_the_collective_has_begun(self, rank, calls, monkeypatch):
        monkeypatch.setattr(nccl, "BEGINNING", 300)
        beginning = self.begin(rank)
        aborting = threading.Thread(target=rank.abort, args=("it broke",))
        aborting.start()
        while rank.ranks.failure is None:
            pass
        assert calls == ["begin"]
        self.go.set()
        aborting.join()
        beginning.join()
        assert calls == ["begin", "end", "abort"]

    def test_an_abort_ends_a_collective_that_waits_for_others(self, rank, calls, monkeypatch):
        monkeypatch.setattr(nccl, "BEGINNING", 0.1)
        beginning = self.begin(rank)
        rank.abort("it broke")
        assert calls == ["begin", "abort"]
        self.go.set()
        beginning.join()

    def test_no_collective_begins_after_an_abort(self, rank, calls):
        rank.abort("it broke")
        with pytest.raises(Aborted, match="it broke"):
            rank.allgather(on_device(np.zeros(3, np.uint8)))
        assert calls == ["abort"]
