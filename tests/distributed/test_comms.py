"""Ranks that communicate by Dask's comms: each collective over real connections, by ranks in threads."""

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np
import pytest
from certificates import security
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import TraversalError
from rapids_bfs.distributed.communicators import Aborted, no_answer

distributed = pytest.importorskip("distributed")

from distributed.core import Server  # noqa: E402
from distributed.utils import LoopRunner, sync  # noqa: E402

from rapids_bfs.distributed.comms import Endpoint, Message  # noqa: E402

DTYPES = (np.uint8, np.int32, np.int64, np.float64)
_tokens = map(str, count())


@pytest.fixture(scope="module")
def loop():
    runner = LoopRunner()
    runner.start()
    yield runner.loop
    runner.stop()


async def listening(protocol, security):
    server = Server({}, connection_args=security.get_connection_args("worker"))
    await server.listen(f"{protocol}://127.0.0.1:0", **security.get_listen_args("worker"))
    return server


async def closed(servers):
    for server in servers:
        await server.close()


class Group:
    """Ranks in threads of this process, each with a server of Dask's in the place of its worker."""

    def __init__(self, loop, size, timeout=300.0, security=None):
        security = security or distributed.Security()
        protocol = "tls" if security.require_encryption else "tcp"
        self.loop, self.names = loop, [f"partition {rank}" for rank in range(size)]
        self.servers = [sync(loop, listening, protocol, security) for _ in range(size)]
        token = next(_tokens)
        self.endpoints = [Endpoint(server, token, rank) for rank, server in enumerate(self.servers)]
        self.timeout = timeout
        self.pool = ThreadPoolExecutor(size)
        self.communicators = []

    def join(self, epoch=1, ranks=None):
        addresses = [server.address for server in self.servers]
        joining = [
            self.pool.submit(endpoint.join, epoch, addresses, self.names, self.timeout)
            for rank, endpoint in enumerate(self.endpoints)
            if ranks is None or rank in ranks
        ]
        self.communicators = [future.exception(600) or future.result() for future in joining]
        return self.communicators

    def __enter__(self):
        self.join()
        return self

    def __exit__(self, *raised):
        self.pool.shutdown()
        self.communicators.clear()
        sync(self.loop, closed, self.servers)

    def each(self, function):
        """What ``function(communicator)`` returns, by rank; the exception where it raised one."""
        futures = [self.pool.submit(function, communicator) for communicator in self.communicators]
        return [future.exception(600) or future.result() for future in futures]


@settings(max_examples=20)
@given(st.data())
def test_what_is_sent_arrives(loop, data):
    """Rounds of every collective, with pieces of any length."""
    size = data.draw(st.integers(2, 4))
    rounds = []
    for _ in range(data.draw(st.integers(1, 4))):
        lengths = data.draw(st.lists(st.integers(0, 300), min_size=size * size, max_size=size * size))
        rounds.append((np.reshape(lengths, (size, size)), data.draw(st.sampled_from(DTYPES)), data.draw(st.booleans())))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    sent = [
        [[rng.integers(0, 99, (2, n) if wide else n).astype(dtype) for n in row] for row in lengths]
        for lengths, dtype, wide in rounds
    ]

    def every_round(communicator):
        received, rank = [], communicator.rank
        for (lengths, dtype, _), pieces in zip(rounds, sent, strict=True):
            received.append(communicator.alltoallv_new(pieces[rank]))
            assert [each.dtype for each in received[-1]] == [dtype] * size
            into = [np.empty_like(pieces[other][rank]) for other in range(size)]
            communicator.alltoallv_into(pieces[rank], into)
            for mine, theirs in zip(into, received[-1], strict=True):
                np.testing.assert_array_equal(mine, theirs)
            whole = np.full((size, int(lengths[0, 0])), 100, dtype)
            whole[rank] = rank
            communicator.allgather(whole)
            assert whole.tolist() == [[rank] * int(lengths[0, 0]) for rank in range(size)]
            assert communicator.allgather_object(("x", rank)) == [("x", rank) for rank in range(size)]
        return received

    with Group(loop, size) as group:
        for rank, received in enumerate(group.each(every_round)):
            for pieces, theirs in zip(sent, received, strict=True):
                for other in range(size):
                    np.testing.assert_array_equal(theirs[other], pieces[other][rank])


def test_over_tls(loop, tmp_path):
    with Group(loop, 2, security=security(tmp_path)) as group:
        assert all(link.comm.peer_address.startswith("tls:") for link in group.communicators[0].links.values())
        assert group.each(lambda communicator: communicator.allgather_object(communicator.rank)) == [[0, 1]] * 2


def test_an_array_may_be_written_to_once_it_is_sent_and_once_it_has_come(loop):
    """More than sockets hold: the first is still on its way when it is overwritten."""
    n = 1 << 22

    def twice(communicator):
        array = np.full(n, 7)
        first = communicator.alltoallv_new([array, array])
        array[:] = 8
        communicator.alltoallv_new([array, array])
        return [int(each.min()) for each in first], [int(each.max()) for each in first]

    with Group(loop, 2) as group:
        assert group.each(twice) == [([7, 7], [7, 7])] * 2


@pytest.mark.parametrize("failing", [0, 1])
def test_abort_ends_every_wait_for_good(loop, failing):
    def work(communicator):
        if communicator.rank == failing:
            communicator.abort("partition 9 failed: no luck")
        communicator.barrier()

    with Group(loop, 3) as group:
        for _ in range(2):
            assert [str(error) for error in group.each(work)] == ["partition 9 failed: no luck"] * 3


@pytest.mark.parametrize("silent", [0, 1])
def test_a_rank_that_does_not_answer_is_named(loop, silent):
    """One of two, so that nobody else can be late."""

    def work(communicator):
        if communicator.rank != silent:
            communicator.timeout = 0.5
            communicator.barrier()

    with Group(loop, 2) as group:
        (error,) = [error for error in group.each(work) if error]
        assert isinstance(error, Aborted)
        assert str(error) == no_answer([f"partition {silent}"], 0.5)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_worker_that_ends_ends_every_wait(loop, lost):
    def work(communicator):
        if communicator.rank == lost:
            sync(loop, closed, [group.servers[lost]])
            loop.add_callback(lambda: [link.close() for link in communicator.links.values()])
        else:
            communicator.barrier()

    with Group(loop, 3) as group:
        errors = [error for error in group.each(work) if error]
        assert [str(error) for error in errors] == [f"partition {lost} has broken the connection"] * 2


def test_ranks_out_of_step_are_told():
    message = Message.of(np.zeros(3, np.int32))
    for into in (np.empty(3, np.int64), np.empty(4, np.int32)):
        with pytest.raises(ValueError, match=r"out of step: array <i4\(3,\) came"):
            message.array(into)


def test_a_rank_that_never_joins_is_named(loop):
    with Group(loop, 2) as group:
        group.timeout = 0.2
        (error,) = group.join(2, ranks={1})
        assert str(error) == no_answer(["partition 0"], 0.2)


def test_a_worker_that_cannot_be_reached_is_named(loop):
    with Group(loop, 2) as group:
        sync(loop, closed, [group.servers[1]])
        group.timeout = 0.5
        (error,) = group.join(2, ranks={0})
        assert isinstance(error, TraversalError)
        assert "partition 1" in str(error)


def test_ranks_join_again_and_leave_no_connection(loop):
    def works(communicator):
        return communicator.allgather_object(communicator.rank)

    with Group(loop, 3) as group:
        old = [link for communicator in group.communicators for link in communicator.links.values()]
        group.join(2)
        gc.collect()
        assert group.each(works) == [[0, 1, 2]] * 3
        sync(loop, all_ended, old)


async def all_ended(links):
    while not all(link.comm.closed() for link in links):
        await asyncio.sleep(0.01)
