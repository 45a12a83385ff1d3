"""Queues of chunks in shared memory, one per block.

Chunk i of a queue is four elements from ``queue[4 * i]`` on: first, rest, vertex and nothing. It is up to CHUNK edges
of a vertex, from `first` on; `rest` counts the edges from there to the end of the vertex's row. It is negated in all
chunks of a vertex but the first, and 0 where there is nothing.
"""

from collections import namedtuple

import numpy as np
from numba import cuda

from ..common.bitmap import count_of
from ..common.pointers import atomic_add, cast_like, local_array, store_four
from ..common.ptx import map_shared_rank, no_unroll, warp_reduce_add
from ..common.warp import WARP, ballot, from_lane, inlined, lane_id, lanes_below, warp_inclusive_scan_32
from .queue import append_vertex

CHUNK = 4  # edges of a chunk, at most

# Elements of a block's counts.
ENDED = 3  # two, after three numbers of chunks: do small levels stop before this one? By parity: some blocks may be
# there yet when others find the next
TOTALS = 5  # chunks that each warp appends, in two rows that take turns
COUNTS = TOTALS + 2 * WARP

# What a block needs in all its small levels.
Block = namedtuple(
    "Block",
    (
        "counts",  # in shared memory: chunks in this level's queue, in the next, zero; then the elements above
        "recent",  # in shared memory: vertices that the block of a cluster visited, see `not_recently_seen`
        "size",  # of the cluster, in blocks
        "rank",  # of the block in it
        "threads",  # of the block that take part
        "after",  # where the next frontier begins in the queue of the whole grid
        "tail",  # the element of `state` that counts it
    ),
)


@inlined
def end_small_levels(block, level):
    """Tell all blocks of the cluster to stop before this level."""
    rank = np.int32(0)
    while rank < block.size:
        map_shared_rank(block.counts, rank)[ENDED + (level & 1)] = 1
        rank = no_unroll(np.int32(rank + 1))


@inlined
def reserve_anywhere(counts, counter, total, filled):
    """Room for so many chunks of this warp in its block's queue: where it begins; and ``filled`` as it is."""
    start = np.int32(0)
    if total != 0 and lane_id() == 0:
        start = np.int32(atomic_add(counts, counter, total))
    return from_lane(start, 0), filled


@inlined
def reserve_in_order(counts, totals, total, filled):
    """Room for them after those of the warps before, behind the ``filled`` chunks that the block has already: where it
    begins; and how many chunks the block has then. In order, vertices with neighbours in common stay with one block.

    All warps call this together, with ``totals`` not those of the time before.
    """
    lane, warp = lane_id(), np.int32(cuda.threadIdx.x >> 5)
    if lane == 0:
        counts[totals + warp] = total
    cuda.syncthreads()
    theirs = np.int32(0)
    if lane < cuda.blockDim.x >> 5:
        theirs = counts[totals + lane]
    below = np.int32(0)
    if lane < warp:
        below = theirs
    return np.int32(filled + warp_reduce_add(below)), np.int32(filled + warp_reduce_add(theirs))


def chunk_queue(reserve):
    @inlined
    def append_chunks(s, block, queue, where, filled, level, begin, count, wanted, vertex, first, degree):
        """Append the chunks of the vertices that this warp wants, ``count`` per lane, to the queue of its block.

        ``reserve`` allocates their places, with ``where`` and ``filled``, whose new value is returned. Chunks without
        room go to the queue of the whole grid from ``begin`` on instead, unless it is there already (``begin``
        is negative), and then small levels stop before this one.
        """
        lane = lane_id()
        capacity = np.int32(s.capacity)
        place = local_array(s.distances, CHUNK)
        mine, before, total = np.int32(0), np.int32(0), np.int32(0)
        large = False
        for k in range(count):
            kept = ballot(wanted[k] != 0)
            place[k] = mine
            if wanted[k]:
                mine = np.int32(mine + 1)
            before = np.int32(before + count_of(kept & lanes_below()))
            total = np.int32(total + count_of(kept))
            large = large or (wanted[k] and degree[k] > CHUNK)
        if ballot(large) != 0:  # some have several chunks
            mine = np.int32(0)
            for k in range(count):
                place[k] = mine
                if wanted[k]:
                    mine = np.int32(mine + min((np.int64(degree[k]) + CHUNK - 1) >> 2, capacity + 1))
            until = warp_inclusive_scan_32(mine)
            before = np.int32(until - mine)
            total = from_lane(until, WARP - 1)
        for k in range(count):
            place[k] += before
        start, filled = reserve(block.counts, where, total, filled)
        if total == 0:
            return filled
        if np.int32(start + total) > capacity:
            if lane == 0:
                end_small_levels(block, level)
            i = np.int32(start + lane)
            while i < capacity:
                queue[4 * i + 1] = 0
                i = no_unroll(np.int32(i + WARP))
            if begin >= 0:
                for k in range(count):
                    if wanted[k]:
                        append_vertex(s, begin, block.tail, vertex[k], first[k], degree[k])
            return filled
        for k in range(count):
            if wanted[k]:
                at = np.int32(start + place[k])
                store_four(queue, at, first[k], degree[k], vertex[k], 0)
                done = cast_like(s.offsets, CHUNK)
                while done < degree[k]:
                    at = no_unroll(np.int32(at + 1))
                    store_four(queue, at, first[k] + done, done - degree[k], vertex[k], 0)
                    done = cast_like(s.offsets, done + CHUNK)
        return filled

    return append_chunks
