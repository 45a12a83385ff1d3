"""What every kernel of one cooperative launch has: warps, and a barrier for all blocks."""

import numpy as np
from numba import cuda

from .pointers import ALL, fetch_add_ordered, give_up, load_ordered

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
