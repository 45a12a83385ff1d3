"""What kernels of one cooperative launch have: warps, a barrier for all blocks, queues with prefix sums."""

import numpy as np
from numba import cuda

from ..whole_search import LEVELS_SHIFT, NUMBER_SHIFT
from .pointers import ALL, fetch_add, fetch_add_ordered, give_up, load_ordered

WARP = 32
PATIENCE = 1 << 27  # looks at the barrier before the search is torn down: about a minute
TOP_BIT = np.int64(-1 << 63)
ARRIVED = 0  # element of `state`, whose first 128 bytes belong to the barrier


def inlined(function):
    return cuda.jit(device=True, forceinline=True)(function)


@inlined
def lane_id():
    return np.int32(cuda.threadIdx.x & 31)


@inlined
def lanes_below():
    return np.int32((1 << lane_id()) - 1)


@inlined
def count_of(bits):
    return np.int32(cuda.popc(np.int32(bits)))


@inlined
def lowest(bits):
    """The place of the lowest bit that is set."""
    return count_of(np.int32(~bits & (bits - 1)))


@inlined
def without_lowest(bits):
    return np.int32(bits & (bits - 1))


@inlined
def ballot(condition):
    return cuda.ballot_sync(ALL, condition)


@inlined
def from_lane(value, lane):
    return cuda.shfl_sync(ALL, value, lane)


def scanner(integer):
    @inlined
    def inclusive_scan(value):
        """The sum over the lanes up to this one."""
        lane = lane_id()
        for step in range(5):
            distance = 1 << step
            below = cuda.shfl_up_sync(ALL, value, distance)
            if lane >= distance:
                value = integer(value + below)
        return value

    return inclusive_scan


inclusive_scan, inclusive_scan_32 = scanner(np.int64), scanner(np.int32)


@inlined
def grid_barrier(state):
    """Wait for all blocks.

    What any thread of a block wrote before its first thread calls this, with the block's barriers around it, is seen
    by every thread after. Block 0 adds what makes the top bit change, so the count is never set back.
    """
    step = np.int64(1)
    if cuda.blockIdx.x == 0:
        step = TOP_BIT - (cuda.gridDim.x - 1)
    before = fetch_add_ordered(state, ARRIVED, step)
    patience = np.int32(PATIENCE)
    while before ^ load_ordered(state, ARRIVED) >= 0:
        patience = np.int32(patience - 1)
        if patience == 0:
            give_up()


@inlined
def packed(vertices, edges, edge_bits):
    return np.int64(vertices) << edge_bits | np.int64(edges)


@inlined
def unpacked(counter, edge_bits):
    """Vertices and edges."""
    return np.int64(np.uint64(counter) >> np.uint64(edge_bits)), counter & ((np.int64(1) << edge_bits) - 1)


@inlined
def bit_of(vertex):
    return np.int32(1 << (vertex & 31))


@inlined
def is_reached(target_level, level):
    """Did a level up to this one reach the target? Blocks ahead of the one that asks may be at the next level."""
    return target_level > 0 and target_level <= level


@inlined
def slot_of(queue, begin, vertices, edge):
    """The slot behind ``begin`` of the vertex that has this edge of the level: the last whose prefix is at most it.

    32 slots are looked at at a time.
    """
    slot = np.int64(0)
    while vertices > 1:
        step = vertices + WARP - 1 >> 5
        place = lane_id() * step
        before = False
        if place < vertices:
            before = queue[2 * (begin + slot + place)] <= edge
        passed = (count_of(ballot(before)) - 1) * step
        slot += passed
        vertices = min(step, vertices - passed)
    return slot


@inlined
def report(state, finished, status, number, levels, given_up):
    """End a search: the last block to come here tells the host, in one write, which it was and how many levels it had.

    ``finished`` is the place in `state` that counts the blocks that are done with the search.
    """
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if fetch_add(state, finished, 1) == cuda.gridDim.x - 1:
            state[finished] = 0
            status[0] = number << NUMBER_SHIFT | np.int64(levels) << LEVELS_SHIFT | np.int64(given_up)
