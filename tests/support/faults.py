"""Faults of a rank, in a module that workers of a cluster import quickly."""

import os
import signal
import time
from contextlib import contextmanager
from unittest import mock

levels = 0


@contextmanager
def in_time(ranks):
    """A context in which no time passes for the client until so many ranks have answered a call, and a quarter of an
    hour at each look at its clock from then on: whatever the machine is busy with, just the others are late."""
    from rapids_bfs.distributed import dask

    answered, seconds = 0, 0
    outcomes, ended = dask.DaskLauncher._outcomes, dask.DaskLauncher._ended

    async def outcomes_of_call(*arguments):
        nonlocal answered
        answered = 0
        return await outcomes(*arguments)

    def ended_and_counted(*arguments):
        nonlocal answered
        answered += 1
        return ended(*arguments)

    def clock():
        nonlocal seconds
        seconds += 900 * (answered >= ranks)
        return seconds

    with (
        mock.patch.multiple(dask.DaskLauncher, _outcomes=outcomes_of_call, _ended=ended_and_counted),
        mock.patch.multiple(dask, monotonic=clock, GRACE=600),
    ):
        yield


def build_and_die(source, communicator, plan):
    """A build in which rank 1 dies at its first exchange of arrays."""
    from rapids_bfs.distributed.build import build

    real = communicator.alltoallv_new

    def dying(pieces):
        if communicator.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(pieces)

    communicator.alltoallv_new = dying
    return build(source, communicator, plan)


def die_in_level(partition, communicator, rank, level):
    """Let a rank die in this level of its next search."""
    search = partition.cache["search"]
    top_down = search.top_down

    def dying(now, *rest):
        if communicator.rank == rank and now == level:
            os.kill(os.getpid(), signal.SIGKILL)
        top_down(now, *rest)

    search.top_down = dying


def slow_down(partition, communicator, seconds):
    """Let each level of the next searches take longer, and count them."""
    search = partition.cache["search"]
    top_down = search.top_down

    def slow(*arguments):
        global levels
        levels += 1
        time.sleep(seconds)
        top_down(*arguments)

    search.top_down = slow


def be_impatient(token, seconds):
    """Let this process's ranks of the launcher with this token wait for others no longer than this, from now on."""
    from rapids_bfs.distributed import workers

    for (theirs, _), rank in list(workers._ranks.items()):
        if theirs == token:
            rank.timeout = seconds
            if rank.communicator is not None:
                rank.communicator.timeout = seconds


def levels_searched():
    """How many levels the searches of this process have gone since they were slowed down."""
    return levels
