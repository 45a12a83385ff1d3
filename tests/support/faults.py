"""Faults of a rank, in a module that workers of a cluster import quickly."""

import os
import signal
import time

levels = 0


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
