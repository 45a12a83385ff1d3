"""Lanes of a warp: votes, scans and sums."""

import numpy as np
from numba import cuda

from .ptx import ALL

WARP = 32


def inlined(function):
    """Compile a function of the device, to be inlined wherever it is called."""
    return cuda.jit(device=True, forceinline=True)(function)


@inlined
def lane_id():
    return np.int32(cuda.threadIdx.x & 31)


@inlined
def lanes_below():
    return np.int32((1 << lane_id()) - 1)


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


warp_inclusive_scan, warp_inclusive_scan_32 = scanner(np.int64), scanner(np.int32)


@inlined
def warp_sum_32(value):
    """The sum over the lanes, in every lane."""
    return from_lane(warp_inclusive_scan_32(value), WARP - 1)
