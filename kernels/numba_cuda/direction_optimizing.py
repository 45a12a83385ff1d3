"""Direction-optimizing: the whole search in one cooperative launch.

The twin of ``direction_optimizing.cu``, function by function; what the algorithm is, what each array holds, what a
level costs and why no race does harm stand there. Here is what differs in Numba-CUDA.

Arrays come as raw pointers and everything that a search needs as one named tuple, whose fields are the kernel's
arguments one by one: the host keeps them in the same structure as the other kernel's. Integers are 64 bits wide in
Numba, whatever goes into an operation; a variable that needs no more than 32 is made so wherever it is set. Counters
are signed, since an unsigned and a signed integer of 64 bits would meet in a float. A frontier is two variables,
``vertices`` and ``edges``. `state` has plain elements of 64 bits at the places below, a pair of the queue lies at
``queue[2 * i]``, a chunk at ``queue[4 * i]`` of the queue in shared memory: first, rest, vertex and nothing. What is
an array of a few registers there is one here, see `registers`; a group of number k begins at its element ``4 * k``.
There is no kernel for graphs of small rows, and a chunk holds no neighbours.

Sources: as in ``direction_optimizing.cu``.
"""

from collections import namedtuple

import numpy as np
from numba import cuda
from numba.cuda import types

from ..whole_search import BITMAPS, GROUP, LIST, NUMBERS, POINTERS, RECENT, TILE, TILES
from .cooperative import (
    WARP,
    ballot,
    bit_of,
    count_of,
    from_lane,
    grid_barrier,
    inclusive_scan,
    inclusive_scan_32,
    inlined,
    is_reached,
    keep_missed,
    lane_id,
    lanes_below,
    list_bits,
    load_group,
    load_rows,
    load_whole_group,
    lowest,
    of_turn,
    owner_of,
    packed,
    report,
    slot_of,
    tile_of,
    unpacked,
    vertex_of,
    without_lowest,
)
from .pointers import (
    ALL,
    behind,
    block_barrier,
    cluster_barrier,
    cluster_size,
    fetch_add,
    fetch_exchange,
    fetch_or,
    is_null,
    like,
    load_four,
    load_pair,
    load_read_only,
    load_shared_by_blocks,
    nanoseconds,
    of_block,
    pointer_into,
    prefetch,
    reduce_add,
    reduce_max,
    registers,
    rolled,
    send_or,
    size_of,
    store_four,
    store_pair,
)

UNROLL = 4  # edges, vertices or groups that a lane has under way at a time
GROUPED = UNROLL * GROUP  # neighbours, where they are groups
SKIP = np.int32(-2)  # no distance
MORE = -2  # no neighbour: more than are here
TURN_ALONE = 1 << 20  # levels that a block goes alone before it shows itself at the barrier
SOLO = 128  # threads of a block that works without a cluster: others would be in their way
CHUNK = 4  # edges of a chunk, at most
GOLDEN = np.uint32(0x9E3779B9)  # 2^32 over the golden ratio
ENOUGH = 1 << 16  # in-edges among which the heaviest are looked for
NONE_LEFT = 1 << 62
DIGITS = 4  # binary, of how many bitmaps do not have a vertex; BITMAPS if it is isolated
DISTANCES = BITMAPS + 1  # by that number

# Elements of `state`, those that all blocks ask for in lines of their own.
# The team leaves its level in two of them in turn; the tails and what it explored are three.
TAILS, FINISHED, STALE, TARGET_LEVEL, EXPLORED, LEVEL = 16, 32, 33, 35, 36, 39

# What a block of the team has in shared memory beside its queues: how many chunks it appended to this level's, to the
# next, and zero; does the team stop before a level, by the level's parity, since some may be there yet when others find
# the next; and chunks that each warp appends, in turn.
ENDED, TOTALS = 3, 5
TEAM = TOTALS + 2 * WARP

# What a block is told at the end of a turn, in shared memory, and how many elements that has.
TOLD_COUNTED, TOLD_EXPLORED, TOLD_LEVEL, TOLD_TARGET_LEVEL, TOLD = range(5)

Search = namedtuple("Search", POINTERS + NUMBERS)

# Bitmaps of the vertices visited so far, each with all of the one before. A level without a queue adds one and leaves
# its distances to `record`; levels with a queue write theirs at once, and all go on in one bitmap. `levels` has, for
# each bitmap, that of its vertices that are not in the one before; SKIP if their distances are written.
Ring = namedtuple("Ring", ("words", "levels", "oldest", "newest"))


def argument_types(vertex, offset):
    """The types of the fields of `Search`, for Numba's types of a vertex and an offset."""
    known = {
        **dict.fromkeys(("targets", "in_targets", "hub", "heavy", "queued", "predecessors", "sources"), vertex),
        **dict.fromkeys(("offsets", "in_offsets", "queue"), offset),
        **dict.fromkeys(("isolated", "visited", "distances"), types.int32),
        **dict.fromkeys(("state", "trace", "status"), types.int64),
    }
    return [*(types.CPointer(known[name]) for name in POINTERS), *(types.int64 for _ in NUMBERS)]


def signatures(vertex_bytes, offset_bytes):
    """The types of each kernel's arguments, for vertices and offsets of so many bytes."""
    vertex, offset = (types.int32 if each == 4 else types.int64 for each in (vertex_bytes, offset_bytes))
    vertices, offsets, words = types.CPointer(vertex), types.CPointer(offset), types.CPointer(types.int32)
    return {
        "prepare": (vertex, vertex, offsets, offsets, vertices, vertices, vertices, words),
        "search": (types.NamedTuple(argument_types(vertex, offset), Search),),
    }


@inlined
def test(bitmap, vertex):
    return bitmap[vertex >> 5] & bit_of(vertex) != 0


@inlined
def degree_of(s, vertex):
    """The vertex's first edge and how many it has."""
    first = load_read_only(s.offsets, vertex)
    return first, like(s.offsets, load_read_only(s.offsets, vertex + 1) - first)


@inlined
def adopt(s, vertex, parent, level):
    """Write down who reached a vertex, and when it was the target."""
    if not is_null(s.predecessors):
        s.predecessors[vertex] = parent
    if vertex == s.target:
        s.state[TARGET_LEVEL] = level


@inlined
def end_turn(state, turn, edge_bits, told):
    """Wait for all blocks, and learn what was counted in this turn. The next one's tail is made ready meanwhile."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            state[of_turn(TAILS, turn + 1)] = 0
            state[of_turn(EXPLORED, turn + 1)] = 0
        grid_barrier(state)
        told[TOLD_COUNTED] = load_shared_by_blocks(state, of_turn(TAILS, turn))
        told[TOLD_EXPLORED] = load_shared_by_blocks(state, of_turn(EXPLORED, turn))
        told[TOLD_LEVEL] = load_shared_by_blocks(state, LEVEL + (turn & 1))
        told[TOLD_TARGET_LEVEL] = load_shared_by_blocks(state, TARGET_LEVEL)
    cuda.syncthreads()
    return unpacked(told[TOLD_COUNTED], edge_bits)


@inlined
def enqueue(s, begin, tail, count, keep, vertex, first, degree):
    """Append the vertices that this warp keeps, ``count`` a lane, to the queue behind ``begin``.

    Those without edges are left out.
    """
    mine = np.int64(0)
    for k in range(count):
        if keep[k] and degree[k] > 0:
            mine += packed(1, degree[k], s.edge_bits)
    place = inclusive_scan(mine)
    total = from_lane(place, WARP - 1)
    if total == 0:
        return
    start = np.int64(0)
    if lane_id() == 0:
        start = fetch_add(s.state, tail, total)
    place += from_lane(start, 0) - mine
    for k in range(count):
        if keep[k] and degree[k] > 0:
            slot, edges = unpacked(place, s.edge_bits)
            store_pair(s.queue, begin + slot, edges, first[k] - edges)
            s.queued[begin + slot] = vertex[k]
            place += packed(1, degree[k], s.edge_bits)


# Loads and atomics that are independent stand in loops of their own, here and below, so that they are all on their way
# before the first is waited for.


def expander(dense):
    count = 2 * UNROLL if dense else UNROLL

    @inlined
    def expand(s, visited, level, begin, vertices, edges, tail, warp, warps):
        """A top-down level: expand the frontier behind ``begin``, a run of edges for each warp.

        Dense: reach vertices in the bitmap alone. Else give them their distance and append them to the queue. Returns
        how many this lane reached.
        """
        reached = np.int32(0)
        share = (edges + warps - 1) // warps
        run = share + WARP - 1 >> 5 << 5
        place = warp * run
        stop = min(place + run, edges)
        if place >= stop:
            return reached
        lane = lane_id()
        look = run > count * WARP  # before the atomic, which is slow if there are many
        won = registers(s.distances, count)
        neighbor = registers(s.targets, count)
        parent = registers(s.targets, count)
        word = registers(s.distances, count)
        first = registers(s.offsets, count)
        degree = registers(s.offsets, count)

        # A window of 32 entries, one a lane, and the edges that it covers.
        slot = slot_of(s.queue, begin, vertices, place)
        while place < stop:
            prefix, shift = like(s.queue, edges), like(s.queue, 0)
            owner = like(s.queued, -1)
            if slot + lane < vertices:
                prefix, shift = load_pair(s.queue, begin + slot + lane)
                owner = s.queued[begin + slot + lane]
            end = edges
            if slot + WARP < vertices:
                end = np.int64(s.queue[2 * (begin + slot + WARP)])
            end = min(end, stop)

            while place < end:
                for k in range(count):
                    batch = place + k * WARP
                    who = owner_of(prefix - batch)
                    theirs = from_lane(shift, who)
                    parent[k] = from_lane(owner, who)
                    won[k] = batch + lane < end
                    neighbor[k] = 0
                    if won[k]:
                        neighbor[k] = load_read_only(s.targets, theirs + batch + lane)
                if look:
                    for k in range(count):
                        word[k] = visited[neighbor[k] >> 5]
                    for k in range(count):
                        won[k] = won[k] and word[k] & bit_of(neighbor[k]) == 0
                if not dense:
                    load_rows(s, count, won, neighbor, first, degree)
                for k in range(count):
                    word[k] = -1
                    if won[k]:
                        word[k] = fetch_or(visited, neighbor[k] >> 5, bit_of(neighbor[k]))
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
                    enqueue(s, begin + vertices, tail, count, won, neighbor, first, degree)
                place += count * WARP
            place = end
            slot += WARP
        return reached

    return expand


expand, expand_dense = expander(False), expander(True)


@inlined
def reach(s, hits, vertex, local, parent, level):
    """Bottom-up: a vertex has found its parent; mark it in the words of the tiles."""
    adopt(s, vertex, parent, level)
    fetch_or(hits, local >> 5, bit_of(local))


@inlined
def sweep(s, visited, upcoming, level, warp, warps, found, hits):
    """A bottom-up level: let unvisited vertices look for the frontier.

    A warp takes tiles of words until it has enough unvisited vertices. Returns how many found the frontier, counted in
    the lanes. ``found`` has room for LIST vertices, ``hits`` for the words of TILES tiles.
    """
    words = s.n + WARP - 1 >> 5
    lane = lane_id()
    tile = np.int32(s.tile)
    stride = like(s.targets, warps * tile * WARP)
    reached = np.int32(0)
    local = registers(s.distances, UNROLL)
    hub = registers(s.targets, UNROLL)
    parent = registers(s.targets, UNROLL)
    first = registers(s.offsets, UNROLL)
    last = registers(s.offsets, UNROLL)
    group = registers(s.targets, GROUPED)
    word = registers(s.distances, GROUPED)

    here = np.int64(warp)
    ahead = tile_of(visited, here, tile, words)  # of the next tile
    while here * tile < words:
        origin = like(s.targets, here * tile * WARP)
        tiles = np.int32(0)
        unseen = np.int32(0)
        while tiles < TILES and unseen <= LIST - TILE * WARP and here * tile < words:
            seen = ahead
            ahead = tile_of(visited, here + warps, tile, words)
            hits[tiles * TILE + lane] = seen
            count = list_bits(np.int32(~seen), behind(found, unseen), tiles * TILE * WARP)
            unseen = np.int32(unseen + count)
            tiles = np.int32(tiles + 1)
            here += warps

        # Who misses moves to the front of the list.
        missed = np.int32(0)
        if unseen > WARP:
            # The hubs.
            begin = np.int32(0)
            while begin < unseen:
                for k in range(UNROLL):
                    place = begin + k * WARP + lane
                    local[k] = -1
                    hub[k] = 0
                    if place < unseen:
                        local[k] = found[place]
                        hub[k] = load_read_only(s.hub, vertex_of(s, origin, stride, local[k]))
                for k in range(UNROLL):
                    word[k] = visited[hub[k] >> 5]
                cuda.syncwarp()
                for k in range(UNROLL):
                    hit = word[k] & bit_of(hub[k]) != 0
                    if local[k] >= 0 and hit:
                        reach(s, hits, vertex_of(s, origin, stride, local[k]), local[k], hub[k], level)
                        reached = np.int32(reached + 1)
                    missed = keep_missed(found, missed, local[k] >= 0 and not hit, local[k])
                begin = np.int32(begin + UNROLL * WARP)
            cuda.syncwarp()

            # The next four.
            without_hub = missed
            missed = np.int32(0)
            begin = np.int32(0)
            while begin < without_hub:
                for k in range(UNROLL):
                    place = begin + k * WARP + lane
                    local[k] = -1
                    vertex = origin
                    if place < without_hub:
                        local[k] = found[place]
                        vertex = vertex_of(s, origin, stride, local[k])
                    load_whole_group(s.heavy, np.int64(vertex), k, group)
                    parent[k] = -1
                # Two at a time: where one of the first two is visited, the others need no look.
                for half in range(0, GROUP, 2):
                    for k in range(UNROLL):
                        for i in range(2):
                            neighbor = group[k * GROUP + half + i]
                            word[k * 2 + i] = 0
                            if parent[k] < 0 and neighbor >= 0:
                                word[k * 2 + i] = visited[neighbor >> 5]
                    cuda.syncwarp()
                    for k in range(UNROLL):
                        for i in range(1, -1, -1):
                            neighbor = group[k * GROUP + half + i]
                            if word[k * 2 + i] & bit_of(neighbor) != 0:
                                parent[k] = neighbor
                for k in range(UNROLL):
                    if local[k] >= 0 and parent[k] >= 0:
                        reach(s, hits, vertex_of(s, origin, stride, local[k]), local[k], parent[k], level)
                        reached = np.int32(reached + 1)
                    miss = local[k] >= 0 and parent[k] < 0 and group[k * GROUP + GROUP - 1] != -1
                    missed = keep_missed(found, missed, miss, local[k])
                begin = np.int32(begin + UNROLL * WARP)
        elif unseen > 0:
            # A few look at their hub and the next four at once.
            local[0] = -1
            vertex = origin
            if lane < unseen:
                local[0] = found[lane]
                vertex = vertex_of(s, origin, stride, local[0])
            hub[0] = load_read_only(s.hub, vertex)
            load_whole_group(s.heavy, np.int64(vertex), 0, group)
            for i in range(GROUP):
                word[i] = visited[max(group[i], 0) >> 5]
            parent[0] = hub[0] if test(visited, hub[0]) else like(s.targets, -1)
            cuda.syncwarp()
            for i in range(GROUP):
                if group[i] >= 0 and word[i] & bit_of(group[i]) != 0:
                    parent[0] = group[i]
            if local[0] >= 0 and parent[0] >= 0:
                reach(s, hits, vertex, local[0], parent[0], level)
                reached = np.int32(reached + 1)
            missed = keep_missed(found, missed, local[0] >= 0 and parent[0] < 0 and group[GROUP - 1] != -1, local[0])
        cuda.syncwarp()

        # All in-neighbours in groups, round after round; the fewer vertices are left, the more lanes each has.
        done = np.int64(0)  # groups that those left have looked at
        while missed > 0:
            left = missed
            missed = np.int32(0)
            bits = np.int32(0)
            while bits < 5 and left << bits + 1 <= UNROLL * WARP:
                bits = np.int32(bits + 1)
            width = np.int32(1 << bits)
            part = np.int32(lane & width - 1)
            begin = np.int32(0)
            while begin < left:
                for k in range(UNROLL):
                    place = begin + (k * WARP + lane >> bits)
                    local[k] = -1
                    first[k] = 0
                    last[k] = 0
                    if place < left:
                        local[k] = found[place]
                        vertex = vertex_of(s, origin, stride, local[k])
                        first[k] = load_read_only(s.in_offsets, vertex)
                        last[k] = load_read_only(s.in_offsets, vertex + 1)
                for k in range(UNROLL):
                    load_group(s.in_targets, (first[k] >> 2) + done + part, last[k], s.m, k, group)
                for i in range(GROUPED):
                    word[i] = visited[group[i] >> 5]
                cuda.syncwarp()
                for k in range(UNROLL):
                    place = ((first[k] >> 2) + done + part) * GROUP
                    inside = np.int32(max(first[k] - place, 0))  # the first of the group in the row
                    outside = np.int32(min(last[k] - place, GROUP))  # and the first behind it
                    parent[k] = -1
                    for i in range(GROUP - 1, -1, -1):
                        neighbor = group[k * GROUP + i]
                        if i >= inside and i < outside and word[k * GROUP + i] & bit_of(neighbor) != 0:
                            parent[k] = neighbor
                    some = np.int32(ballot(parent[k] >= 0) >> lane - part & (1 << width) - 1)
                    if some != 0 and lowest(some) == part:
                        reach(s, hits, vertex_of(s, origin, stride, local[k]), local[k], parent[k], level)
                        reached = np.int32(reached + 1)
                    more = place + (width - part) * GROUP < last[k]
                    missed = keep_missed(found, missed, part == 0 and some == 0 and more, local[k])
                begin = np.int32(begin + (UNROLL * WARP >> bits))
            cuda.syncwarp()
            done += width
        cuda.syncwarp()
        for i in range(tiles):
            place = (here - (tiles - i) * np.int64(warps)) * tile + lane
            if lane < tile and place < words:
                upcoming[place] = hits[i * TILE + lane]
        cuda.syncwarp()
    return reached


@inlined
def bitmap_at(s, ring, place):
    return behind(s.visited, (place & BITMAPS - 1) * (ring.words + 3 >> 2 << 2))


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
def make_ready(s, warp, warps):
    """Leave the first bitmap as the next search begins with it: a warp what only that warp read in `record`."""
    words = s.n + WARP - 1 >> 5
    width = recorded_words(s)
    word = np.int64(warp) * width + lane_id()
    while lane_id() < width and word < words:
        s.visited[word] = load_read_only(s.isolated, word)
        word += np.int64(warps) * width


@inlined
def record(s, ring, unreached, with_isolated, warp, warps):
    """Write the distances that the levels without a queue left open, and `unreached` for vertices in no bitmap.

    Unless that is SKIP. ``with_isolated``: also the distances of those, since memory is faster at whole runs. To
    be called by whole blocks.
    """
    distances = cuda.shared.array(DISTANCES, np.int32)
    lane, thread = lane_id(), np.int32(cuda.threadIdx.x)
    bitmaps = np.int32(ring.newest - ring.oldest + 1)
    bits = registers(s.distances, BITMAPS)
    digits = registers(s.distances, DIGITS)
    distance = registers(s.distances, 4)
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
    width = recorded_words(s)
    start = np.int64(warp) * width
    while start < ring.words:
        inside = lane < width and start + lane < ring.words
        for i in range(BITMAPS - 1):
            bits[i] = -1
            if i < bitmaps and inside:
                bits[i] = load_shared_by_blocks(bitmap_at(s, ring, ring.oldest + i), start + lane)
        # How many bitmaps do not have the vertex, of which an isolated one lacks none: a word for each binary digit.
        for digit in range(DIGITS):
            digits[digit] = 0
        if with_isolated and inside:
            digits[DIGITS - 1] = load_read_only(s.isolated, start + lane)
        for i in range(BITMAPS - 1):
            carry = np.int32(~bits[i])
            for digit in range(DIGITS - 1):
                both = np.int32(digits[digit] & carry)
                digits[digit] ^= carry
                carry = both
        some = ballot(digits[0] | digits[1] | digits[2] | digits[3] != 0)
        # Four vertices a lane: 8 lanes take a word.
        for first in range(0, width, 4):
            if some >> first & 15 == 0:
                continue
            which = np.int32(first + (lane >> 3))
            shift = np.int32((lane & 7) * 4)
            lacking = np.int32(0)  # a byte a vertex
            for digit in range(DIGITS):
                four = np.int32(from_lane(digits[digit], which) >> shift & 15)
                lacking = np.int32(lacking + ((four * 0x00204081 & 0x01010101) << digit))
            vertex = (start + which) * WARP + shift
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
        start += warps * width


@inlined
def to_queue(s, before, visited, copy, begin, tail, warp, warps, found):
    """Append the vertices that the last level reached to the queue behind ``begin``, and copy the bitmap.

    They are those in its bitmap and not in the one before.
    """
    words = s.n + WARP - 1 >> 5
    lane = lane_id()
    keep = registers(s.distances, 1)
    vertex = registers(s.targets, 1)
    first = registers(s.offsets, 1)
    degree = registers(s.offsets, 1)
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
            keep[0] = start + lane < reached
            if keep[0]:
                vertex[0] = tile * s.tile * WARP + found[start + lane]
                first[0], degree[0] = degree_of(s, vertex[0])
            enqueue(s, begin, tail, 1, keep, vertex, first, degree)
            start = np.int32(start + WARP)
        cuda.syncwarp()
        tile += warps


# The team: block 0, or the blocks of its cluster, going on without the others.


@inlined
def hand_over(s, begin, tail, vertex, first, degree):
    """Append a vertex to the queue of the whole grid behind ``begin``."""
    slot, edges = unpacked(fetch_add(s.state, tail, packed(1, degree, s.edge_bits)), s.edge_bits)
    store_pair(s.queue, begin + slot, edges, first - edges)
    s.queued[begin + slot] = vertex


@inlined
def end_team(counts, size, level):
    """Tell all blocks of the team to stop before this level."""
    rank = np.int32(0)
    while rank < size:
        of_block(counts, rank)[ENDED + (level & 1)] = 1
        rank = rolled(np.int32(rank + 1))


@inlined
def anywhere(counts, counter, total, filled):
    """Room for so many chunks of this warp in its block's queue: where it begins; and ``filled`` as it is."""
    start = np.int32(0)
    if total != 0 and lane_id() == 0:
        start = np.int32(fetch_add(counts, counter, total))
    return from_lane(start, 0), filled


@inlined
def in_order(counts, totals, total, filled):
    """Room for them after those of the warps before, behind the ``filled`` chunks that the block has already: where it
    begins; and how many chunks the block has then. In order, vertices with neighbours in common stay with one block.

    All warps come here together, with ``totals`` not those of the time before.
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
    return np.int32(filled + reduce_add(below)), np.int32(filled + reduce_add(theirs))


@inlined
def is_news(recent, vertex):
    """Note that this block asks for a vertex; did it not do so before, as far as the table remembers?

    Source of the place in it: D. E. Knuth, The art of computer programming 3, section 6.4.
    """
    place = np.uint64(np.uint32(vertex * GOLDEN)) * np.uint64(RECENT) >> np.uint64(32)
    return fetch_exchange(recent, np.int32(place), vertex) != vertex


def chunk_queue(reserve):
    @inlined
    def enqueue_chunks(s, queue, counts, where, filled, size, level, begin, tail, count, keep, vertex, first, degree):
        """Append the chunks of the vertices that this warp keeps, ``count`` a lane, to the queue of its block.

        A chunk is up to CHUNK edges of a vertex. Its rest counts the edges from its first to the end of the vertex's
        adjacency; it is negated in all chunks of a vertex but the first, and 0 where there is nothing. Where there is
        room says ``reserve``, with ``where`` and ``filled``, which is returned as it is then. What finds no room goes
        to the queue of the whole grid behind ``begin`` instead, unless it is there already (``begin`` is negative), and
        then the team stops before this level.
        """
        lane = lane_id()
        capacity = np.int32(s.capacity)
        place = registers(s.distances, CHUNK)
        mine, before, total = np.int32(0), np.int32(0), np.int32(0)
        large = False
        for k in range(count):
            kept = ballot(keep[k] != 0)
            place[k] = mine
            if keep[k]:
                mine = np.int32(mine + 1)
            before = np.int32(before + count_of(kept & lanes_below()))
            total = np.int32(total + count_of(kept))
            large = large or (keep[k] and degree[k] > CHUNK)
        if ballot(large) != 0:  # some have several chunks
            mine = np.int32(0)
            for k in range(count):
                place[k] = mine
                if keep[k]:
                    mine = np.int32(mine + min((np.int64(degree[k]) + CHUNK - 1) >> 2, capacity + 1))
            until = inclusive_scan_32(mine)
            before = np.int32(until - mine)
            total = from_lane(until, WARP - 1)
        for k in range(count):
            place[k] += before
        start, filled = reserve(counts, where, total, filled)
        if total == 0:
            return filled
        if np.int32(start + total) > capacity:
            if lane == 0:
                end_team(counts, size, level)
            i = np.int32(start + lane)
            while i < capacity:
                queue[4 * i + 1] = 0
                i = rolled(np.int32(i + WARP))
            if begin >= 0:
                for k in range(count):
                    if keep[k]:
                        hand_over(s, begin, tail, vertex[k], first[k], degree[k])
            return filled
        for k in range(count):
            if keep[k]:
                at = np.int32(start + place[k])
                store_four(queue, at, first[k], degree[k], vertex[k], 0)
                done = like(s.offsets, CHUNK)
                while done < degree[k]:
                    at = rolled(np.int32(at + 1))
                    store_four(queue, at, first[k] + done, done - degree[k], vertex[k], 0)
                    done = like(s.offsets, done + CHUNK)
        return filled

    return enqueue_chunks


def chunk_expander(whole, together):
    count = CHUNK if whole else 1
    bits = 0 if whole else 2  # of the threads to a chunk
    enqueue_chunks = chunk_queue(in_order if together else anywhere)

    @inlined
    def expand_chunks(
        s, visited, level, queues, counts, next_counter, size, after, tail, here, threads, spread, recent
    ):
        """Expand chunks into the vertices of a level, a thread each, or a thread each of their edges.

        ``queues`` are the chunks' and the next level's; ``here`` says between which chunks this block's are, and how
        many the blocks up to the lane's have, with it and without. Returns the edges of what this lane reached, and how
        many chunks a team's block has appended.
        """
        queue, upcoming = queues
        begin, stop, until, before = here
        lane = lane_id()
        won = registers(s.distances, count)
        neighbor = registers(s.targets, count)
        first = registers(s.offsets, count)
        degree = registers(s.offsets, count)
        word = registers(s.distances, count)
        explored = np.int64(0)
        filled, where = np.int32(0), next_counter
        warp_begin = np.int32(cuda.threadIdx.x) & -WARP
        start = np.int32((begin << bits) + warp_begin)
        end = np.int32(stop << bits)
        if together:  # the warps go the same rounds
            end = np.int32(end + warp_begin)
            where = TOTALS
        while start < end:
            place = np.int32(np.int32(start + lane) >> bits)
            inside = place < stop
            whose_queue = queue
            if spread:
                whose = np.int32(0)  # the first block with more chunks up to it
                for half in range(5):
                    step = 16 >> half
                    if from_lane(until, np.int32(whose + step - 1)) <= place:
                        whose = np.int32(whose + step)
                others = from_lane(before, whose)
                if inside:
                    whose_queue = of_block(queue, whose)
                    place = np.int32(place - others)
            begins, rest = like(s.offsets, 0), like(s.offsets, 0)
            parent = like(s.targets, 0)
            if inside:
                begins, rest, owner, _ = load_four(whose_queue, place)
                parent = like(s.targets, owner)
                rest = like(s.offsets, abs(rest))
            part = np.int32(0 if whole else lane & CHUNK - 1)  # of the chunk, from which on this thread's edges are
            for k in range(count):
                neighbor[k] = 0
                won[k] = np.int32(part + k) < rest
                if won[k]:
                    neighbor[k] = load_read_only(s.targets, begins + part + k)
            if together:
                for k in range(count):
                    if won[k]:
                        won[k] = is_news(recent, neighbor[k])
            for k in range(count):
                word[k] = -1
                first[k] = 0
                degree[k] = 0
                if won[k]:
                    word[k] = fetch_or(visited, neighbor[k] >> 5, bit_of(neighbor[k]))
                    first[k] = load_read_only(s.offsets, neighbor[k])
                    degree[k] = load_read_only(s.offsets, neighbor[k] + 1)
            for k in range(count):
                degree[k] -= first[k]
                won[k] = word[k] & bit_of(neighbor[k]) == 0
                if won[k]:
                    prefetch(s.targets, first[k])
                    if not is_null(s.predecessors):
                        s.predecessors[neighbor[k]] = parent
                    s.distances[neighbor[k]] = level
                    if neighbor[k] == s.target:
                        s.state[TARGET_LEVEL] = level
                        end_team(counts, size, level)
                    explored += degree[k]
                    won[k] = degree[k] > 0
            filled = enqueue_chunks(
                s, upcoming, counts, where, filled, size, level, after, tail, count, won, neighbor, first, degree
            )
            if together:
                where = np.int32(2 * TOTALS + WARP - where)
            start = np.int32(start + threads)
        return explored, filled

    return expand_chunks


def team(together):
    enqueue_chunks = chunk_queue(anywhere)
    expand_edges, expand_chunks = chunk_expander(False, together), chunk_expander(True, together)

    @inlined
    def team_barrier():
        """Wait for all blocks of a team, or for the SOLO threads of the only one.

        What they wrote before, in their shared memory too, is seen after.
        """
        if together:
            cluster_barrier()
        elif cuda.blockDim.x == SOLO:
            cuda.syncthreads()
        else:
            block_barrier(SOLO)

    @inlined
    def go(s, visited, level, begin, vertices, edges, turn, blocks, limit, memory):
        """Top-down levels by one block, or by a team of several, from the frontier behind ``begin`` on.

        Until it has more than ``limit`` chunks; it then stands behind ``begin + vertices``. If there is no room for the
        first, the team goes no level. Each block goes on with what it found. Where there are more edges than threads
        and some blocks have many more than others, the chunks of the next level are shared out evenly. Leaves its last
        level and the edges of the vertices that it reached in `state`.
        """
        counts = pointer_into(cuda.shared.array(TEAM, np.int32), 0, np.int32)
        thread = np.int32(cuda.threadIdx.x)
        size, rank, threads = np.int32(1), np.int32(0), np.int32(SOLO)
        if together:
            size, rank, threads = blocks, np.int32(cuda.blockIdx.x), np.int32(cuda.blockDim.x)
        if thread >= threads:
            return
        lane = lane_id()
        first_level = level
        last = np.int32(min(s.depth_limit, level + TURN_ALONE))
        after = begin + vertices
        tail = of_turn(TAILS, turn)
        queue = pointer_into(memory, 0, s.offsets)  # of this level
        upcoming = behind(queue, 4 * s.capacity)
        recent = pointer_into(memory, 8 * s.capacity * size_of(s.offsets), s.targets)
        counter, next_counter, spare = np.int32(0), np.int32(1), np.int32(2)
        explored = np.int64(0)
        keep = registers(s.distances, 1)
        vertex = registers(s.targets, 1)
        first = registers(s.offsets, 1)
        degree = registers(s.offsets, 1)

        i = thread
        while i < TEAM:
            counts[i] = 0
            i = np.int32(i + threads)
        i = thread
        while together and i < RECENT:
            recent[i] = -1
            i = np.int32(i + threads)
        team_barrier()
        i = np.int64(rank * threads + (thread & -WARP))
        while i < vertices:
            keep[0] = i + lane < vertices
            if keep[0]:
                prefix, shift = load_pair(s.queue, begin + i + lane)
                end = edges
                if i + lane + 1 < vertices:
                    end = np.int64(s.queue[2 * (begin + i + lane + 1)])
                vertex[0] = s.queued[begin + i + lane]
                first[0] = prefix + shift
                degree[0] = end - prefix
            enqueue_chunks(
                s, queue, counts, counter, np.int32(0), size, level, -1, tail, 1, keep, vertex, first, degree
            )
            i += size * threads
        team_barrier()

        spread = False  # are chunks shared out, since some blocks had many more than others in the level before?
        while True:
            total = counts[counter]  # chunks
            if counts[ENDED + (level & 1)] != 0 or level == last or (not together and (total == 0 or total > limit)):
                break
            from_here, stop = np.int32(0), total  # this block takes those between
            # Those of the lane's block, of the blocks up to it, and without it.
            theirs, until, before = np.int32(0), np.int32(0), np.int32(0)
            if together and lane < size:
                theirs = of_block(counts, lane)[counter]
            if spread:
                until = inclusive_scan_32(theirs)
                total = from_lane(until, WARP - 1)
                before = np.int32(until - theirs)
                share = np.int32((np.uint32(total) + np.uint32(size) - np.uint32(1)) // np.uint32(size))
                from_here = np.int32(rank * share)
                stop = np.int32(min(from_here + share, total))
            if thread == 0:
                counts[spare] = 0
            upper = np.int32(level + 1)
            queues, here = (queue, upcoming), (from_here, stop, until, before)
            # One edge a thread is less to wait for, one chunk a thread less to do.
            if (stop - from_here) * CHUNK <= threads:
                found, filled = expand_edges(
                    s, visited, upper, queues, counts, next_counter, size, after, tail, here, threads, spread, recent
                )
            else:
                found, filled = expand_chunks(
                    s, visited, upper, queues, counts, next_counter, size, after, tail, here, threads, spread, recent
                )
            explored += found
            # What the others have is known by now: it was asked for at the beginning of the level.
            if together:
                if thread == 0:
                    counts[next_counter] = filled
                total = reduce_add(theirs)
                most = reduce_max(theirs)
                if total == 0:
                    break
                # Some have a quarter more than others.
                spread = most * CHUNK > threads and most * size > (total >> 2) * 5
            team_barrier()
            level = upper
            if not is_null(s.trace) and rank == 0 and thread == 0:
                s.trace[level] = nanoseconds() * 2
            queue, upcoming = upcoming, queue
            counter, next_counter, spare = next_counter, spare, counter
            if together and total > limit:
                break

        # Hand over: the first chunk of each vertex stands for all. Without room for the frontier there is nothing new.
        left = np.int32(0)
        if level > first_level:
            left = np.int32(min(counts[counter], s.capacity))
        place = thread
        while place < left:
            begins, rest, owner, _ = load_four(queue, place)
            if rest > 0:
                hand_over(s, after, tail, owner, begins, rest)
            place = np.int32(place + threads)
        explored = from_lane(inclusive_scan(explored), WARP - 1)
        if lane == 0 and explored > 0:
            fetch_add(s.state, of_turn(EXPLORED, turn), explored)
        if rank == 0 and thread == 0:
            s.state[LEVEL + (turn & 1)] = level

    return go


go_alone, go_together = team(False), team(True)


def prepare(n, near, offsets, in_offsets, in_targets, hub, heavy, isolated):
    """Fill ``hub``, ``heavy`` and ``isolated``: a warp takes 32 vertices, its lanes the in-edges of one by one."""
    lane = lane_id()
    word = np.int64(cuda.blockIdx.x) * (cuda.blockDim.x >> 5) + (cuda.threadIdx.x >> 5)
    while word * WARP < n:
        bits = np.int32(0)
        for i in range(WARP):
            vertex = word * WARP + i
            if vertex >= n:
                bits = np.int32(bits | 1 << i)
                continue
            begin, end = np.int64(in_offsets[vertex]), np.int64(in_offsets[vertex + 1])
            if begin == end and offsets[vertex] == offsets[vertex + 1]:
                bits = np.int32(bits | 1 << i)
            end = min(end, begin + ENOUGH)
            # Each round takes the heaviest edge after that of the round before, by degree, then by place.
            degree_before, edge_before = np.int64(NONE_LEFT), np.int64(-1)
            for place in range(1 + GROUP):
                most, where = np.int64(-1), np.int64(NONE_LEFT)
                edge = begin + lane
                while edge < end:
                    neighbor = np.int64(in_targets[edge])
                    degree = np.int64(offsets[neighbor + 1] - offsets[neighbor])
                    left = degree < degree_before or (degree == degree_before and edge > edge_before)
                    if left and degree > most:
                        most, where = degree, edge
                    edge += WARP
                for step in range(5):
                    other = cuda.shfl_xor_sync(ALL, most, 1 << step)
                    theirs = cuda.shfl_xor_sync(ALL, where, 1 << step)
                    if other > most or (other == most and theirs < where):
                        most, where = other, theirs
                degree_before, edge_before = most, where
                if lane == 0:
                    heavy_place = place if near else place - 1
                    if place == 0:
                        hub[vertex] = in_targets[where] if most >= 0 else vertex
                    if 0 <= heavy_place < GROUP:
                        heavy[vertex * GROUP + heavy_place] = in_targets[where] if most >= 0 else -1
                    if near and place == GROUP and most >= 0:
                        heavy[vertex * GROUP + GROUP - 1] = MORE
        if lane == 0:
            isolated[word] = bits
        word += cuda.gridDim.x * (cuda.blockDim.x >> 5)


def search(s):
    memory = cuda.shared.array(0, np.int8, alignment=16)
    told = cuda.shared.array(TOLD, np.int64)
    reached = cuda.shared.array(1, np.int32)  # by the block in this level, where the queue does not count
    levels = cuda.shared.array(BITMAPS, np.int32)
    lane, warp_of_block = lane_id(), np.int32(cuda.threadIdx.x >> 5)
    warps_of_block = np.int32(cuda.blockDim.x >> 5)
    warps = np.int32(cuda.gridDim.x * warps_of_block)
    warp = np.int32(warp_of_block * cuda.gridDim.x + cuda.blockIdx.x)  # neighbours on different multiprocessors
    thread, threads = cuda.grid(1), cuda.gridsize(1)
    cluster = cluster_size()
    words = s.n + WARP - 1 >> 5
    hits = pointer_into(memory, warp_of_block * TILES * TILE * 4, s.visited)
    found = pointer_into(memory, warps_of_block * TILES * TILE * 4 + warp_of_block * LIST * 2, np.uint16)
    one_source = s.count == 1
    was_stale = s.state[STALE + (s.number - 1 & 1)] != 0
    stale = STALE + (s.number & 1)
    unreached = np.int32(s.unreached)
    ring = Ring(words, levels, np.int32(0), np.int32(0))

    # Begin: the first bitmap has the isolated vertices, as the last search left it.
    if cuda.threadIdx.x == 0:
        reached[0] = 0
        told[TOLD_TARGET_LEVEL] = 0
    word = thread
    while was_stale and s.fresh == 0 and word < words:
        left = load_read_only(s.isolated, word)
        while left != 0:
            vertex = word * WARP + lowest(left)
            if vertex < s.n and not (one_source and vertex == s.source):
                s.distances[vertex] = unreached
            left = without_lowest(left)
        word += threads
    if thread == 0:
        s.state[TARGET_LEVEL] = 0
        s.state[stale] = was_stale if s.fresh != 0 else one_source and test(s.isolated, s.source)
        s.state[of_turn(TAILS, 1)] = s.state[of_turn(EXPLORED, 1)] = 0
        if not is_null(s.trace):
            s.trace[0] = nanoseconds() * 2
        if one_source:
            store_pair(s.queue, 0, 0, s.offsets[s.source])
            s.queued[0] = s.source
            send_or(s.visited, s.source >> 5, bit_of(s.source))
            if not is_null(s.predecessors):
                s.predecessors[s.source] = -1
            s.distances[s.source] = 0
    turn = np.int32(1)
    vertices, edges = np.int64(0), np.int64(0)
    if one_source:
        edges = np.int64(degree_of(s, s.source)[1])
        vertices = np.int64(edges > 0)
    if one_source and edges > 0 and 1 + (edges >> 2) <= s.alone and s.depth_limit > 0:
        cuda.syncthreads()  # block 0 goes on alone, and what it wrote no other block needs before the next barrier
    else:
        end_turn(s.state, np.int32(0), s.edge_bits, told)
    if not one_source:
        keep = registers(s.distances, 1)
        source = registers(s.targets, 1)
        firsts = registers(s.offsets, 1)
        degrees = registers(s.offsets, 1)
        start = np.int64(warp) * WARP
        while start < s.count:
            keep[0] = start + lane < s.count
            if keep[0]:
                source[0] = s.sources[start + lane]
                firsts[0], degrees[0] = degree_of(s, source[0])
                if s.fresh == 0 and test(s.isolated, source[0]):
                    s.state[stale] = 1
                fetch_or(s.visited, source[0] >> 5, bit_of(source[0]))
                s.distances[source[0]] = 0
                if not is_null(s.predecessors):
                    s.predecessors[source[0]] = -1
            enqueue(s, 0, of_turn(TAILS, turn), 1, keep, source, firsts, degrees)
            start += warps * WARP
        vertices, edges = end_turn(s.state, turn, s.edge_bits, told)
        turn = np.int32(turn + 1)

    # The levels. Every thread follows them in variables of its own.
    begin = np.int64(0)  # of the frontier in the queue; where it is not there, of the next one that will be
    unexplored = s.m
    level = np.int32(0)
    queued = True  # the frontier is in the queue, not just in the newest bitmap and not in the one before
    small = np.int64(0)  # frontiers in a row, bottom-up
    stuck = False  # did the team find no room for the frontier?
    given_up = False
    with_isolated = False  # are their distances written at the end?
    while True:
        reached_target = s.target >= 0 and is_reached(told[TOLD_TARGET_LEVEL], level)
        done = vertices == 0 or level >= s.depth_limit or given_up or reached_target
        chunks = vertices + (edges >> 2)  # at most
        together = queued and not stuck and chunks <= (s.together if cluster > 1 else s.alone)
        bottom_up = not queued or edges > unexplored // s.alpha
        dense = not together and (bottom_up or edges > s.dense)
        if done or (dense and is_full(ring)):
            with_isolated = done and (s.fresh != 0 or ring.newest > ring.oldest)
            record(s, ring, unreached if done else np.int32(SKIP), with_isolated, warp, warps)
            ring = without_older(ring)
        if done:
            break
        expanded = vertices

        if together:
            size, limit = np.int32(1), s.alone
            if chunks > s.alone:
                size, limit = cluster, s.together
            if cuda.blockIdx.x < size:
                if size > 1:
                    go_together(s, newest(s, ring), level, begin, vertices, edges, turn, size, np.int32(limit), memory)
                else:
                    go_alone(s, newest(s, ring), level, begin, vertices, edges, turn, size, np.int32(limit), memory)
            left_vertices, left_edges = end_turn(s.state, turn, s.edge_bits, told)
            turn = np.int32(turn + 1)
            stuck = level == told[TOLD_LEVEL]
            if stuck:
                continue
            unexplored += left_edges - told[TOLD_EXPLORED] - edges
            vertices, edges = left_vertices, left_edges
            level = np.int32(told[TOLD_LEVEL])
            begin += expanded
            given_up = level > s.n
            continue

        level = np.int32(level + 1)
        stuck = False
        given_up = level > s.n  # as many levels as vertices, if each reaches one and the last none
        if queued:
            unexplored -= edges
            begin += expanded
        if dense:
            visited = newest(s, ring)
            ring = with_another(ring, level)
            upcoming = newest(s, ring)
            if bottom_up:
                mine = sweep(s, visited, upcoming, level, warp, warps, found, hits)
            else:
                word = thread
                while word < words:
                    upcoming[word] = load_shared_by_blocks(visited, word)
                    word += threads
                end_turn(s.state, turn, s.edge_bits, told)
                turn = np.int32(turn + 1)
                mine = expand_dense(s, upcoming, level, begin - expanded, expanded, edges, 0, warp, warps)
            mine = from_lane(inclusive_scan_32(mine), WARP - 1)
            if lane == 0 and mine > 0:
                cuda.atomic.add(reached, 0, mine)
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                total = cuda.atomic.exch(reached, 0, 0)
                if total > 0:
                    fetch_add(s.state, of_turn(TAILS, turn), packed(total, 0, s.edge_bits))
        else:
            tail = of_turn(TAILS, turn)
            expand(s, newest(s, ring), level, begin - expanded, expanded, edges, tail, warp, warps)
        queued = not dense
        vertices, edges = end_turn(s.state, turn, s.edge_bits, told)
        turn = np.int32(turn + 1)
        if not is_null(s.trace) and thread == 0:
            s.trace[level] = nanoseconds() * 2 + bottom_up
        if queued or vertices == 0:
            continue

        # Back to the queue? After bottom-up levels, when the frontier has been small and shrinking for some time.
        if bottom_up:
            small = small + 1 if vertices < expanded and vertices < s.n // s.beta else 0
            back = small >= s.tail
        else:
            small = 0
            back = vertices * (s.m // s.n) <= unexplored // s.alpha
        if back and not is_full(ring):
            before, visited = bitmap_at(s, ring, ring.newest - 1), newest(s, ring)
            ring = with_another(ring, SKIP)
            to_queue(s, before, visited, newest(s, ring), begin, of_turn(TAILS, turn), warp, warps, found)
            vertices, edges = end_turn(s.state, turn, s.edge_bits, told)
            turn = np.int32(turn + 1)
            queued = True
            small = 0

    if with_isolated and (not one_source or test(s.isolated, s.source)):  # a source may be isolated
        end_turn(s.state, turn, s.edge_bits, told)
        i = thread
        while i < s.count:
            s.distances[s.source if one_source else np.int64(s.sources[i])] = 0
            i += threads
    report(s.state, FINISHED, s.status, s.number, level, given_up)
    make_ready(s, warp, warps)  # while the host goes on
