"""What kernels of one cooperative launch have: warps, bitmaps, queues with prefix sums, a barrier for all blocks."""

import numpy as np
from numba import cuda

from ..whole_search import GROUP, LEVELS_SHIFT, NUMBER_SHIFT, TILE
from .pointers import (
    ALL,
    fetch_add,
    fetch_add_ordered,
    give_up,
    like,
    load_four_read_only,
    load_ordered,
    load_read_only,
    reduce_or,
)

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
def of_turn(first, turn):
    """The place in `state` of the one of three that belongs to a turn: the next one's is zero."""
    return np.int32(first + np.uint32(turn) % np.uint32(3))


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
def owner_of(start):
    """The lane whose entry has this lane's edge, where a window's entries begin ``start`` edges from that of lane 0.

    Each that begins within these 32 marks its first edge; the marks up to an edge count to its owner.
    """
    before = count_of(ballot(start <= 0)) - 1
    mark = np.int32(0)
    if start > 0 and start < WARP:
        mark = np.int32(1 << start)
    marks = reduce_or(mark)
    return np.int32((before + count_of(marks & (lanes_below() << 1 | 1))) & 31)


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
def list_bits(bits, found, base):
    """List the set bits of the words that the lanes hold, in order, as base + word * 32 + bit.

    Returns how many there are.
    """
    mine = count_of(bits)
    until = inclusive_scan_32(mine)
    place = np.int32(until - mine)
    first = np.int32(base + lane_id() * WARP)
    while bits != 0:
        found[place] = first + lowest(bits)
        place = np.int32(place + 1)
        bits = without_lowest(bits)
    cuda.syncwarp()
    return from_lane(until, WARP - 1)


@inlined
def tile_of(visited, number, tile, words):
    """The words of a tile, one a lane; all their vertices seen where there is none."""
    lane = lane_id()
    place = number * tile + lane
    seen = np.int32(-1)
    if lane < tile and place < words:
        seen = visited[place]
    return seen


@inlined
def vertex_of(s, origin, stride, local):
    """The vertex at place ``local`` in tiles that begin ``stride`` vertices after one another, from ``origin`` on."""
    return like(s.targets, origin + (local >> 10) * stride + (local & TILE * WARP - 1))


@inlined
def keep_missed(found, missed, miss, local):
    """Append those who miss to the front of the list, which has ``missed``. Returns how many it has then."""
    misses = ballot(miss)
    if miss:
        found[missed + count_of(misses & lanes_below())] = local
    return np.int32(missed + count_of(misses))


# Loads that are independent stand in loops of their own, so that they are all on their way before the first is waited
# for.


@inlined
def load_rows(s, count, wanted, vertex, first, last):
    """The bounds of the rows of these vertices."""
    for k in range(count):
        first[k] = 0
        last[k] = 0
        if wanted[k]:
            first[k] = load_read_only(s.offsets, vertex[k])
            last[k] = load_read_only(s.offsets, vertex[k] + 1)


@inlined
def load_whole_group(targets, group, k, loaded):
    """A group of neighbours as number ``k``."""
    a, b, c, d = load_four_read_only(targets, group)
    loaded[k * GROUP] = a
    loaded[k * GROUP + 1] = b
    loaded[k * GROUP + 2] = c
    loaded[k * GROUP + 3] = d


@inlined
def load_group(targets, group, last, m, k, loaded):
    """A group of in-neighbours as number ``k``, if it begins before ``last``; what lies past the end is 0."""
    place = group * GROUP
    for i in range(GROUP):
        loaded[k * GROUP + i] = 0
    if place < last and place + GROUP <= m:
        load_whole_group(targets, group, k, loaded)
    if place < last and place + GROUP > m:
        for i in range(GROUP - 1):
            if place + i < m:
                loaded[k * GROUP + i] = load_read_only(targets, place + i)


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
