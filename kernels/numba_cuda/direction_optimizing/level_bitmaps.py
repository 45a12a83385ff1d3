"""Levels without a queue: bitmaps from which their distances are written at the end, or the queue is made again."""

from collections import namedtuple

import numpy as np
from numba import cuda

from ...whole_search import BITMAPS
from ..common.adjacency import row_of
from ..common.bitmap import list_bits
from ..common.pointers import advance, is_null, local_array, store_four
from ..common.ptx import load_read_only, load_relaxed
from ..common.warp import WARP, ballot, from_lane, inlined, lane_id
from .queue import append_to_queue

SKIP = np.int32(-2)  # no distance
DIGITS = 4  # binary, of how many bitmaps lack a vertex; BITMAPS if it is isolated
DISTANCES = BITMAPS + 1  # by that number

# Bitmaps of the vertices visited so far, each with all of the one before. A level without a queue adds one and leaves
# its distances to `record`; levels with a queue write theirs at once, and all go on in one bitmap. `levels` has, for
# each bitmap, that of its vertices that are not in the one before; SKIP if their distances are written.
Ring = namedtuple("Ring", ("words", "levels", "oldest", "newest"))


@inlined
def bitmap_at(s, ring, place):
    return advance(s.visited, (place & BITMAPS - 1) * (ring.words + 3 >> 2 << 2))


@inlined
def newest(s, ring):
    return bitmap_at(s, ring, ring.newest)


@inlined
def is_full(ring):
    return ring.newest - ring.oldest == BITMAPS - 2


@inlined
def with_another(ring, level):
    """The ring with one bitmap more."""
    place = np.int32(ring.newest + 1)
    if cuda.threadIdx.x == 0:
        ring.levels[place & BITMAPS - 1] = level
    return Ring(ring.words, ring.levels, ring.oldest, place)


@inlined
def without_older(ring):
    """The ring with the newest of its bitmaps alone."""
    return Ring(ring.words, ring.levels, ring.newest, ring.newest)


@inlined
def recorded_words(s):
    """Words of the bitmaps that a warp records at a time: so that all warps have some."""
    return np.int32(max(4, min(2 * s.tile, WARP)))


@inlined
def reset_for_next_search(s, warp, warps):
    """Reset the first bitmap for the next search: each warp the words that only it read in `record`."""
    words = s.n + WARP - 1 >> 5
    width = recorded_words(s)
    word = np.int64(warp) * width + lane_id()
    while lane_id() < width and word < words:
        s.visited[word] = load_read_only(s.isolated, word)
        word += np.int64(warps) * width


@inlined
def load_distances(s, ring, bitmaps, unreached, distances):
    """Fill the table of distances, by how many of the ring's bitmaps lack a vertex. To be called by whole blocks."""
    thread = np.int32(cuda.threadIdx.x)
    cuda.syncthreads()
    if thread <= bitmaps or thread == BITMAPS:
        if thread == 0:
            distances[thread] = SKIP
        elif thread == BITMAPS:
            distances[thread] = s.unreached
        elif thread == bitmaps:
            distances[thread] = unreached
        else:
            distances[thread] = ring.levels[ring.oldest + thread & BITMAPS - 1]
    cuda.syncthreads()


@inlined
def count_lacking(s, ring, bitmaps, with_isolated, inside, word, bits, digits):
    """How many bitmaps lack each vertex of a word, a word for each binary digit; none lacks an isolated vertex."""
    for i in range(BITMAPS - 1):
        bits[i] = -1
        if i < bitmaps and inside:
            bits[i] = load_relaxed(bitmap_at(s, ring, ring.oldest + i), word)
    for digit in range(DIGITS):
        digits[digit] = 0
    if with_isolated and inside:
        digits[DIGITS - 1] = load_read_only(s.isolated, word)
    for i in range(BITMAPS - 1):
        carry = np.int32(~bits[i])
        for digit in range(DIGITS - 1):
            both = np.int32(digits[digit] & carry)
            digits[digit] ^= carry
            carry = both


@inlined
def record_four(s, bitmaps, unreached, vertex, lacking, distances, distance):
    """Write the distances of four vertices, and -1 as their predecessors if no level reached them.

    ``lacking`` has a byte for each.
    """
    whole = vertex + 4 <= s.n
    for i in range(4):
        distance[i] = distances[lacking >> 8 * i & 255]
        whole = whole and distance[i] != SKIP
    if whole:
        store_four(s.distances, vertex >> 2, distance[0], distance[1], distance[2], distance[3])
    else:
        for i in range(4):
            if distance[i] != SKIP and vertex + i < s.n:
                s.distances[vertex + i] = distance[i]
    if unreached != SKIP and not is_null(s.predecessors):
        for i in range(4):
            lacks = lacking >> 8 * i & 255
            if (lacks == bitmaps or (s.fresh != 0 and lacks == BITMAPS)) and vertex + i < s.n:
                s.predecessors[vertex + i] = -1


@inlined
def record(s, ring, unreached, with_isolated, warp, warps):
    """Write the distances that the levels without a queue left open, and `unreached` for vertices in no bitmap.

    Unless that is SKIP. ``with_isolated``: also the distances of those, since memory is faster at whole runs. To
    be called by whole blocks.
    """
    distances = cuda.shared.array(DISTANCES, np.int32)
    lane = lane_id()
    bitmaps = np.int32(ring.newest - ring.oldest + 1)
    bits = local_array(s.distances, BITMAPS)
    digits = local_array(s.distances, DIGITS)
    distance = local_array(s.distances, 4)
    load_distances(s, ring, bitmaps, unreached, distances)
    width = recorded_words(s)
    start = np.int64(warp) * width
    while start < ring.words:
        inside = lane < width and start + lane < ring.words
        count_lacking(s, ring, bitmaps, with_isolated, inside, start + lane, bits, digits)
        some = ballot(digits[0] | digits[1] | digits[2] | digits[3] != 0)
        # Four vertices per lane: 8 lanes take a word.
        for first in range(0, width, 4):
            if some >> first & 15 == 0:
                continue
            which = np.int32(first + (lane >> 3))
            shift = np.int32((lane & 7) * 4)
            lacking = np.int32(0)
            for digit in range(DIGITS):
                four = np.int32(from_lane(digits[digit], which) >> shift & 15)
                lacking = np.int32(lacking + ((four * 0x00204081 & 0x01010101) << digit))
            vertex = (start + which) * WARP + shift
            record_four(s, bitmaps, unreached, vertex, lacking, distances, distance)
        start += warps * width


@inlined
def to_queue(s, before, visited, copy, begin, tail, warp, warps, found):
    """Append the vertices that the last level reached to the queue from ``begin`` on, and copy the bitmap.

    They are those in its bitmap and not in the one before. ``found`` has room for the vertices of a tile.
    """
    words = s.n + WARP - 1 >> 5
    lane = lane_id()
    wanted = local_array(s.distances, 1)
    vertex = local_array(s.targets, 1)
    first = local_array(s.offsets, 1)
    degree = local_array(s.offsets, 1)
    tile = np.int64(warp)
    while tile * s.tile < words:
        word = tile * s.tile + lane
        fresh = np.int32(0)
        if lane < s.tile and word < words:
            bits = visited[word]
            copy[word] = bits
            fresh = np.int32(bits & ~before[word])
        reached = list_bits(fresh, found, 0)
        start = np.int32(0)
        while start < reached:
            wanted[0] = start + lane < reached
            if wanted[0]:
                vertex[0] = tile * s.tile * WARP + found[start + lane]
                first[0], degree[0] = row_of(s, vertex[0])
            append_to_queue(s, begin, tail, 1, wanted, vertex, first, degree)
            start = np.int32(start + WARP)
        cuda.syncwarp()
        tile += warps
