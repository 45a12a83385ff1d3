"""The queue of the whole grid."""

import numpy as np

from ..common.frontier import packed, unpacked
from ..common.pointers import atomic_add, store_pair
from ..common.warp import WARP, from_lane, inlined, lane_id, warp_inclusive_scan


@inlined
def append_to_queue(s, begin, tail, count, wanted, vertex, first, degree):
    """Append the vertices that this warp wants, ``count`` per lane, to the queue from ``begin`` on.

    Those without edges are left out.
    """
    mine = np.int64(0)
    for k in range(count):
        if wanted[k] and degree[k] > 0:
            mine += packed(1, degree[k], s.edge_bits)
    place = warp_inclusive_scan(mine)
    total = from_lane(place, WARP - 1)
    if total == 0:
        return
    start = np.int64(0)
    if lane_id() == 0:
        start = atomic_add(s.state, tail, total)
    place += from_lane(start, 0) - mine
    for k in range(count):
        if wanted[k] and degree[k] > 0:
            slot, edges = unpacked(place, s.edge_bits)
            store_pair(s.queue, begin + slot, edges, first[k] - edges)
            s.queued[begin + slot] = vertex[k]
            place += packed(1, degree[k], s.edge_bits)


@inlined
def append_vertex(s, begin, tail, vertex, first, degree):
    """Append a vertex of this thread to the queue from ``begin`` on."""
    slot, edges = unpacked(atomic_add(s.state, tail, packed(1, degree, s.edge_bits)), s.edge_bits)
    store_pair(s.queue, begin + slot, edges, first - edges)
    s.queued[begin + slot] = vertex
