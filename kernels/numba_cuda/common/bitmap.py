"""Bitmaps of vertices, in words of 32 bits."""

import numpy as np
from numba import cuda

from .warp import WARP, from_lane, inlined, lane_id, warp_inclusive_scan_32


@inlined
def bit_of(vertex):
    return np.int32(1 << (vertex & 31))


@inlined
def test(bitmap, vertex):
    return bitmap[vertex >> 5] & bit_of(vertex) != 0


@inlined
def count_of(bits):
    return np.int32(cuda.popc(np.int32(bits)))


@inlined
def lowest(bits):
    """The number of the lowest bit that is set."""
    return count_of(np.int32(~bits & (bits - 1)))


@inlined
def without_lowest(bits):
    return np.int32(bits & (bits - 1))


@inlined
def list_bits(bits, found, base):
    """List the set bits of the words that the lanes hold, in order, as base + word * 32 + bit.

    Returns how many there are.
    """
    mine = count_of(bits)
    until = warp_inclusive_scan_32(mine)
    place = np.int32(until - mine)
    first = np.int32(base + lane_id() * WARP)
    while bits != 0:
        found[place] = first + lowest(bits)
        place = np.int32(place + 1)
        bits = without_lowest(bits)
    cuda.syncwarp()
    return from_lane(until, WARP - 1)
