"""A top-down level by the whole grid: a run of the frontier's edges for each warp."""

import numpy as np

from ..common.adjacency import load_rows
from ..common.bitmap import bit_of
from ..common.frontier import owner_of, slot_of
from ..common.pointers import atomic_or, cast_like, load_pair, local_array
from ..common.ptx import load_read_only
from ..common.warp import WARP, from_lane, inlined, lane_id
from .parameters import adopt
from .queue import append_to_queue

UNROLL = 4  # edges that a lane has in flight; twice as many in a dense level
MAX_COUNT = 2 * UNROLL


@inlined
def load_window(s, begin, vertices, edges, slot):
    """A window of 32 entries of the frontier from ``slot`` on: this lane's prefix, shift and vertex.

    And the edge where the window ends.
    """
    lane = lane_id()
    prefix, shift = cast_like(s.queue, edges), cast_like(s.queue, 0)
    owner = cast_like(s.queued, -1)
    if slot + lane < vertices:
        prefix, shift = load_pair(s.queue, begin + slot + lane)
        owner = s.queued[begin + slot + lane]
    end = edges
    if slot + WARP < vertices:
        end = np.int64(s.queue[2 * (begin + slot + WARP)])
    return prefix, shift, owner, end


@inlined
def expand_batch(s, visited, level, window, place, end, probe, after, tail, reached, dense):
    """Expand ``count`` edges per lane from ``place`` on; returns how many vertices this lane reached then."""
    prefix, shift, owner = window
    count = 2 * UNROLL if dense else UNROLL
    lane = lane_id()
    won = local_array(s.distances, MAX_COUNT)
    neighbor = local_array(s.targets, MAX_COUNT)
    parent = local_array(s.targets, MAX_COUNT)
    word = local_array(s.distances, MAX_COUNT)
    first = local_array(s.offsets, MAX_COUNT)
    degree = local_array(s.offsets, MAX_COUNT)
    for k in range(count):
        batch = place + k * WARP
        who = owner_of(prefix - batch)
        theirs = from_lane(shift, who)
        parent[k] = from_lane(owner, who)
        won[k] = batch + lane < end
        neighbor[k] = 0
        if won[k]:
            neighbor[k] = load_read_only(s.targets, theirs + batch + lane)
    if probe:
        for k in range(count):
            word[k] = visited[neighbor[k] >> 5]
        for k in range(count):
            won[k] = won[k] and word[k] & bit_of(neighbor[k]) == 0
    if not dense:
        load_rows(s.offsets, count, won, neighbor, first, degree)
    for k in range(count):
        word[k] = -1
        if won[k]:
            word[k] = atomic_or(visited, neighbor[k] >> 5, bit_of(neighbor[k]))
    for k in range(count):
        won[k] = word[k] & bit_of(neighbor[k]) == 0
        if won[k]:
            adopt(s, neighbor[k], parent[k], level)
            if not dense:
                s.distances[neighbor[k]] = level
            reached = np.int32(reached + 1)
    if not dense:
        for k in range(count):
            degree[k] -= first[k]
        append_to_queue(s, after, tail, count, won, neighbor, first, degree)
    return reached


@inlined
def expand(s, visited, level, begin, vertices, edges, tail, warp, warps, dense):
    """A top-down level: expand the frontier from ``begin`` on, a run of edges for each warp.

    Dense: reach vertices in the bitmap alone. Else give them their distance and append them to the queue. Returns
    how many this lane reached.
    """
    count = 2 * UNROLL if dense else UNROLL
    reached = np.int32(0)
    share = (edges + warps - 1) // warps
    run = share + WARP - 1 >> 5 << 5
    place = warp * run
    stop = min(place + run, edges)
    if place >= stop:
        return reached
    probe = run > count * WARP  # before the atomic, which is slow if there are many
    slot = slot_of(s.queue, begin, vertices, place)
    while place < stop:
        prefix, shift, owner, end = load_window(s, begin, vertices, edges, slot)
        end = min(end, stop)
        while place < end:
            window = prefix, shift, owner
            reached = expand_batch(s, visited, level, window, place, end, probe, begin + vertices, tail, reached, dense)
            place += count * WARP
        place = end
        slot += WARP
    return reached
