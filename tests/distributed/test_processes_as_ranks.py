"""Ranks that are processes: each collective over real connections, by ranks in threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import MeetingServer, RemoteMeeting

from rapids_bfs.distributed.communicators import Aborted, MeetingCommunicator, no_answer


class Group:
    """Ranks in threads of this process, which know nothing of each other but their connections."""

    def __init__(self, size, timeout=300.0):
        names = [f"partition {rank}" for rank in range(size)]
        server = MeetingServer(names, timeout)
        self.connections = [
            server,
            *(RemoteMeeting(server.identifier, rank, names, timeout) for rank in range(1, size)),
        ]
        meetings = [server.meeting, *self.connections[1:]]
        self.communicators = [MeetingCommunicator(meeting, rank) for rank, meeting in enumerate(meetings)]
        self.pool = ThreadPoolExecutor(size)

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        for connection in self.connections:
            connection.close()
        self.pool.shutdown()

    def each(self, function):
        """What ``function(communicator)`` returns, by rank; the exception where it raised one."""
        futures = [self.pool.submit(function, communicator) for communicator in self.communicators]
        return [future.exception(600) or future.result() for future in futures]


DTYPES = (np.uint8, np.int32, np.int64, np.float64)


@settings(max_examples=30)
@given(st.data())
def test_what_is_sent_arrives(data):
    """Rounds of every collective, with pieces of any length."""
    size = data.draw(st.integers(1, 4))
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
        received = []
        for (lengths, dtype, _), pieces in zip(rounds, sent, strict=True):
            received.append(communicator.alltoallv_new(pieces[communicator.rank]))
            assert [each.dtype for each in received[-1]] == [dtype] * size
            whole = np.full((size, int(lengths[0, 0])), 100, dtype)
            whole[communicator.rank] = communicator.rank
            communicator.allgather(whole)
            assert whole.tolist() == [[rank] * int(lengths[0, 0]) for rank in range(size)]
            assert communicator.allgather_object(("x", communicator.rank)) == [("x", rank) for rank in range(size)]
        return received

    with Group(size) as group:
        for rank, received in enumerate(group.each(every_round)):
            for pieces, theirs in zip(sent, received, strict=True):
                for other in range(size):
                    np.testing.assert_array_equal(theirs[other], pieces[other][rank])


def test_what_was_received_is_the_ranks_own():
    def twice(communicator):
        first = communicator.alltoallv_new([np.full(9, 7)] * 2)
        communicator.alltoallv_new([np.full(9, 8)] * 2)
        return [each.tolist() for each in first]

    with Group(2) as group:
        assert group.each(twice) == [[[7] * 9] * 2] * 2


@pytest.mark.parametrize("failing", [0, 1])
def test_abort_ends_every_wait_for_good(failing):
    def work(communicator):
        if communicator.rank == failing:
            communicator.abort("partition 9 failed: no luck")
        communicator.barrier()

    with Group(3) as group:
        for _ in range(2):
            assert [str(error) for error in group.each(work)] == ["partition 9 failed: no luck"] * 3


@pytest.mark.parametrize("silent", [0, 1])
def test_who_does_not_answer_is_named(silent):
    """One of two, so that nobody else can be late."""

    def work(communicator):
        if communicator.rank != silent:
            communicator.barrier()

    with Group(2, timeout=0.5) as group:
        (error,) = [error for error in group.each(work) if error]
        assert isinstance(error, Aborted)
        assert str(error) == no_answer([f"partition {silent}"], 0.5)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_connection_that_breaks_ends_every_wait(lost):
    """As when a process ends; which is tested with Dask's workers."""

    def work(communicator):
        if communicator.rank == lost:
            group.connections[lost].close()
        else:
            communicator.barrier()

    with Group(3) as group:
        errors = [error for error in group.each(work) if error]
        assert len(errors) == 2
        assert all("partition" in str(error) for error in errors)


def test_a_rank_that_never_joins_is_named_and_leaves_no_thread():
    def threads():
        return {each for each in threading.enumerate() if each.name.endswith(("(_accept)", "(_serve)"))}

    before = threads()
    server = MeetingServer(["partition 0", "partition 1"], 0.2)
    with pytest.raises(Aborted, match=r"no answer for 0.2 s from partition 1"):
        server.meeting.meet(0, None)
    server.close()
    for thread in threads() - before:
        thread.join(300)
        assert not thread.is_alive()
