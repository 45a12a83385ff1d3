"""A frontier as a queue with prefix sums over its edges, so that its edges can be numbered through and divided evenly.

Entry i of a queue is the pair ``queue[2 * i]``, ``queue[2 * i + 1]``: the edges of the level before this vertex, and
the place of an edge in `targets` less its number in the level.
"""

import numpy as np

from .bitmap import count_of
from .ptx import warp_reduce_or
from .warp import WARP, ballot, inlined, lane_id, lanes_below


@inlined
def packed(vertices, edges, edge_bits):
    """Both in one counter of 64 bits, that one atomic adds to."""
    return np.int64(vertices) << edge_bits | np.int64(edges)


@inlined
def unpacked(counter, edge_bits):
    """Vertices and edges."""
    return np.int64(np.uint64(counter) >> np.uint64(edge_bits)), counter & ((np.int64(1) << edge_bits) - 1)


@inlined
def slot_of(queue, begin, vertices, edge):
    """The slot, counted from ``begin``, of the vertex that has this edge: the last whose prefix is at most it.

    A step compares 32 slots at once.
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
def owner_of(start):
    """The lane whose entry has this lane's edge, in a window of 32 entries, one per lane, and 32 edges.

    ``start`` is the first edge of this lane's entry, counted from the first of the window. Each entry that begins among
    the 32 edges marks its first; the number of marks up to an edge tells its owner.
    """
    before = count_of(ballot(start <= 0)) - 1
    mark = np.int32(0)
    if start > 0 and start < WARP:
        mark = np.int32(1 << start)
    marks = warp_reduce_or(mark)
    return np.int32((before + count_of(marks & (lanes_below() << 1 | 1))) & 31)
