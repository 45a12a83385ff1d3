"""Direction-optimizing: the whole search in one cooperative launch.

The twin of ``direction_optimizing.cu``, function by function; what the algorithm is, what each array holds, what a
level costs and why no race does harm stand there. Here is what differs in Numba-CUDA.

Arrays come as raw pointers and everything that a search needs as one named tuple, whose fields are the kernel's
arguments one by one: the host keeps them in the same structure as the other kernel's. Integers are 64 bits wide in
Numba, whatever goes into an operation; a variable that needs no more than 32 is made so wherever it is set. Counters
are signed, since an unsigned and a signed integer of 64 bits would meet in a float. `state` has plain elements of 64
bits at the places below, a pair of the queue lies at ``queue[2 * i]``.

Sources: as in ``direction_optimizing.cu``.
"""

from collections import namedtuple

import numpy as np
from numba import cuda
from numba.cuda import types

from ..whole_search import ALONE_UNROLL, GIVEN_UP, LEVELS, NUMBER, NUMBERS, POINTERS, TILE
from .pointers import (
    ALL,
    fetch_add,
    fetch_add_ordered,
    fetch_or,
    give_up,
    is_null,
    like,
    load_four_read_only,
    load_ordered,
    load_pair,
    load_read_only,
    load_shared_by_blocks,
    nanoseconds,
    pointer_into,
    reduce_or,
    registers,
    size_of,
    store_pair,
)

WARP = 32
UNROLL = 4  # edges or vertices that a lane has under way at a time
LANE_ROUNDS = 8  # groups of 4 in-edges that a lane looks at before its warp takes the rest over
PATIENCE = 1 << 27  # looks at the barrier before the search is torn down: about a minute
TURN_ALONE = 1 << 20  # levels that a block goes alone before it shows itself at the barrier
ENOUGH = 1 << 16  # in-edges among which the hub is looked for
TOP_BIT = np.int64(-1 << 63)

# Elements of `state`, those that all blocks ask for in lines of their own.
ARRIVED, TAILS, FINISHED, STALE, TARGET_LEVEL, ALONE = 0, 16, 32, 33, 35, 36
LEVEL, VERTICES, EDGES, UNEXPLORED = range(4)  # of what a block that went alone leaves, from ALONE on, two of them
TOLD_COUNTED, TOLD_TARGET_LEVEL, TOLD_ALONE, TOLD = 0, 1, 2, 6  # elements of `told` and how many

Search = namedtuple("Search", POINTERS + NUMBERS)


def inlined(function):
    return cuda.jit(device=True, forceinline=True)(function)


def argument_types(vertex, offset):
    """The types of the fields of `Search`, for Numba's types of a vertex and an offset."""
    known = {
        **dict.fromkeys(("targets", "in_targets", "hub", "queued", "predecessors", "sources"), vertex),
        **dict.fromkeys(("offsets", "in_offsets", "queue"), offset),
        **dict.fromkeys(("isolated", "visited", "other", "distances"), types.int32),
        **dict.fromkeys(("state", "trace", "status"), types.int64),
    }
    return [*(types.CPointer(known[name]) for name in POINTERS), *(types.int64 for _ in NUMBERS)]


def signatures(vertex_bytes, offset_bytes):
    """The types of each kernel's arguments, for vertices and offsets of so many bytes."""
    vertex, offset = (types.int32 if each == 4 else types.int64 for each in (vertex_bytes, offset_bytes))
    vertices, offsets, words = types.CPointer(vertex), types.CPointer(offset), types.CPointer(types.int32)
    return {
        "prepare": (vertex, offsets, offsets, vertices, vertices, words),
        "search": (types.NamedTuple(argument_types(vertex, offset), Search),),
    }


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
def test(bitmap, vertex):
    return bitmap[vertex >> 5] & bit_of(vertex) != 0


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


@inlined
def inclusive_scan(value):
    """The sum over the lanes up to this one."""
    lane = lane_id()
    for step in range(5):
        distance = 1 << step
        below = cuda.shfl_up_sync(ALL, value, distance)
        if lane >= distance:
            value += below
    return value


@inlined
def degree_of(s, vertex):
    """The vertex's first edge and how many it has."""
    first = load_read_only(s.offsets, vertex)
    return first, like(s.offsets, load_read_only(s.offsets, vertex + 1) - first)


@inlined
def settle(s, vertex, parent, level):
    """Write down that this level reached a vertex."""
    s.distances[vertex] = level
    if not is_null(s.predecessors):
        s.predecessors[vertex] = parent
    if vertex == s.target:
        s.state[TARGET_LEVEL] = level


@inlined
def is_reached(target_level, level):
    """Did a level up to this one reach the target? Blocks ahead of the one that asks may be at the next level."""
    return target_level > 0 and target_level <= level


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
def tail_of(turn):
    """The place in `state` of the counter of a turn: of this one, of the next, which is zero, or of the one before."""
    return np.int32(TAILS + np.uint32(turn) % np.uint32(3))


@inlined
def end_turn(state, turn, edge_bits, told):
    """Wait for all blocks, and learn what was counted in this turn. The next one's tail is made ready meanwhile."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            state[tail_of(turn + 1)] = 0
        grid_barrier(state)
        told[TOLD_COUNTED] = load_shared_by_blocks(state, tail_of(turn))
        told[TOLD_TARGET_LEVEL] = load_shared_by_blocks(state, TARGET_LEVEL)
        for i in range(4):
            told[TOLD_ALONE + i] = load_shared_by_blocks(state, ALONE + (turn & 1) * 4 + i)
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
            if not is_null(s.predecessors):
                s.queued[begin + slot] = vertex[k]
            place += packed(1, degree[k], s.edge_bits)


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
def expand(s, visited, level, begin, vertices, edges, tail, warp, warps):
    """A top-down level: expand the frontier behind ``begin``, a run of edges for each warp."""
    share = (edges + warps - 1) // warps
    run = share + WARP - 1 >> 5 << 5
    place = warp * run
    stop = min(place + run, edges)
    if place >= stop:
        return
    lane = lane_id()
    won = registers(s.distances, UNROLL)
    neighbor = registers(s.targets, UNROLL)
    parent = registers(s.targets, UNROLL)
    first = registers(s.offsets, UNROLL)
    degree = registers(s.offsets, UNROLL)

    # A window of 32 entries, one a lane, and the edges that it covers.
    slot = slot_of(s.queue, begin, vertices, place)
    while place < stop:
        prefix, shift = like(s.queue, edges), like(s.queue, 0)
        owner = like(s.queued, -1)
        if slot + lane < vertices:
            prefix, shift = load_pair(s.queue, begin + slot + lane)
            if not is_null(s.predecessors):
                owner = s.queued[begin + slot + lane]
        end = edges
        if slot + WARP < vertices:
            end = np.int64(s.queue[2 * (begin + slot + WARP)])
        end = min(end, stop)

        while place < end:
            for k in range(UNROLL):
                # Each entry that begins within these 32 edges marks its first; the marks up to an edge count to its
                # owner.
                batch = place + k * WARP
                start = prefix - batch
                before = count_of(ballot(start <= 0)) - 1
                mark = np.int32(0)
                if start > 0 and start < WARP:
                    mark = np.int32(1 << start)
                marks = reduce_or(mark)
                who = np.int32((before + count_of(marks & (lanes_below() << 1 | 1))) & 31)
                theirs = from_lane(shift, who)
                parent[k] = from_lane(owner, who)
                won[k] = batch + lane < end
                neighbor[k] = 0
                if won[k]:
                    neighbor[k] = load_read_only(s.targets, theirs + batch + lane)
            for k in range(UNROLL):
                won[k] = won[k] and not test(visited, neighbor[k])
            for k in range(UNROLL):
                if won[k]:
                    first[k], degree[k] = degree_of(s, neighbor[k])
                    bit = bit_of(neighbor[k])
                    won[k] = fetch_or(visited, neighbor[k] >> 5, bit) & bit == 0
            for k in range(UNROLL):
                if won[k]:
                    settle(s, neighbor[k], parent[k], level)
            enqueue(s, begin + vertices, tail, UNROLL, won, neighbor, first, degree)
            place += UNROLL * WARP
        place = end
        slot += WARP


@inlined
def list_bits(bits, found):
    """List the set bits of the words that the lanes hold, in order, as word * 32 + bit; return how many there are."""
    lane = lane_id()
    count = np.int32(0)
    some = ballot(bits != 0)
    while some != 0:
        word = lowest(some)
        those = from_lane(bits, word)
        if those >> lane & 1:
            found[count + count_of(those & lanes_below())] = word * WARP + lane
        count = np.int32(count + count_of(those))
        some = without_lowest(some)
    cuda.syncwarp()
    return count


@inlined
def reach(s, hits, origin, local, parent, level):
    """Bottom-up: settle the vertex number ``local`` of a tile and mark it in the tile's words."""
    settle(s, like(s.targets, origin + local), parent, level)
    fetch_or(hits, local >> 5, bit_of(local))


@inlined
def one_of(edge, begin, end, neighbor, otherwise):
    """The neighbor if its edge is within bounds."""
    return neighbor if edge >= begin and edge < end else otherwise


@inlined
def sweep(s, visited, upcoming, level, warp, warps, found, hits):
    """A bottom-up level: let unvisited vertices look for the frontier, a tile of words at a time.

    Returns in the last lane how many of the warp's found it. ``found`` has room for the vertices of a tile, ``hits``
    for its words.
    """
    words = s.n + WARP - 1 >> 5
    lane = lane_id()
    total = np.int64(0)
    local = registers(s.distances, UNROLL)
    hub = registers(s.targets, UNROLL)
    hit = registers(s.distances, UNROLL)

    tile = np.int64(warp)
    while tile * s.tile < words:
        word = tile * s.tile + lane
        mine = lane < s.tile and word < words
        seen = np.int32(-1)
        if mine:
            seen = visited[word]
        origin = like(s.targets, tile * s.tile * WARP)
        hits[lane] = 0
        unseen = list_bits(np.int32(~seen), found)

        # The hubs. Who misses moves to the front of the list.
        missed = np.int32(0)
        begin = np.int32(0)
        while begin < unseen:
            for k in range(UNROLL):
                place = begin + k * WARP + lane
                local[k] = -1
                hub[k] = 0
                if place < unseen:
                    local[k] = found[place]
                    hub[k] = load_read_only(s.hub, origin + local[k])
            for k in range(UNROLL):
                hit[k] = local[k] >= 0 and test(visited, hub[k])
            cuda.syncwarp()
            for k in range(UNROLL):
                if hit[k]:
                    reach(s, hits, origin, local[k], hub[k], level)
                miss = local[k] >= 0 and not hit[k]
                misses = ballot(miss)
                if miss:
                    found[missed + count_of(misses & lanes_below())] = local[k]
                missed = np.int32(missed + count_of(misses))
            begin = np.int32(begin + UNROLL * WARP)
        cuda.syncwarp()

        # The other in-neighbours, four at a time; where they are many, the lanes go on together.
        begin = np.int32(0)
        while begin < missed:
            here = np.int32(0)
            edge, end = np.int64(0), np.int64(0)
            if begin + lane < missed:
                here = np.int32(found[begin + lane])
                edge = np.int64(load_read_only(s.in_offsets, origin + here))
                end = np.int64(load_read_only(s.in_offsets, origin + here + 1))
            vertex = like(s.targets, origin + here)
            parent = like(s.targets, -1)
            group = edge >> 2
            rounds = np.int32(0)
            while rounds < LANE_ROUNDS and parent < 0 and group * 4 < end:
                place = group * 4
                a, b, c, d = load_four_read_only(s.in_targets, group)
                a = one_of(place, edge, end, a, vertex)  # itself: unvisited
                b = one_of(place + 1, edge, end, b, vertex)
                c = one_of(place + 2, edge, end, c, vertex)
                d = one_of(place + 3, edge, end, d, vertex)
                hit_a, hit_b, hit_c, hit_d = test(visited, a), test(visited, b), test(visited, c), test(visited, d)
                if hit_d:
                    parent = d
                if hit_c:
                    parent = c
                if hit_b:
                    parent = b
                if hit_a:
                    parent = a
                rounds = np.int32(rounds + 1)
                group += 1
            cuda.syncwarp()
            rest = ballot(parent < 0 and group * 4 < end)
            while rest != 0:
                who = lowest(rest)
                last = from_lane(end, who)
                place = from_lane(group, who) * 4
                while place < last:
                    neighbor = like(s.targets, -1)
                    if place + lane < last:
                        neighbor = load_read_only(s.in_targets, place + lane)
                    some = ballot(neighbor >= 0 and test(visited, neighbor))
                    if some != 0:
                        first = from_lane(neighbor, lowest(some))
                        if lane == who:
                            parent = first
                        break
                    place += WARP
                rest = without_lowest(rest)
            if parent >= 0:
                reach(s, hits, origin, here, parent, level)
            begin = np.int32(begin + WARP)
        cuda.syncwarp()
        if mine:
            upcoming[word] = seen | hits[lane]
        total += count_of(hits[lane])
        cuda.syncwarp()
        tile += warps
    return inclusive_scan(total)


@inlined
def to_queue(s, before, visited, begin, tail, warp, warps, found):
    """Append the vertices that the last bottom-up level reached to the queue behind ``begin``."""
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
            fresh = np.int32(visited[word] & ~before[word])
        reached = list_bits(fresh, found)
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


@inlined
def local_queue(s, memory, which):
    """The entries and the vertices of a queue in shared memory."""
    entries = s.capacity * 2 * size_of(s.queue)
    vertices = s.capacity * size_of(s.queued)
    return pointer_into(memory, which * entries, s.queue), pointer_into(
        memory, 2 * entries + which * vertices, s.queued
    )


@inlined
def go_alone(s, visited, level, begin, vertices, edges, unexplored, memory):
    """Top-down levels by one block, from the frontier behind ``begin`` until it has more than ``alone`` edges.

    It then stands behind ``begin + vertices``. Returns the last level, the frontier and the unexplored edges.
    """
    totals = cuda.shared.array(WARP, np.int64)  # of each warp
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    lane, warp = lane_id(), np.int32(thread >> 5)
    behind = begin + vertices
    last = np.int32(min(s.depth_limit, level + TURN_ALONE))
    now = np.int32(0)
    entries, owners = local_queue(s, memory, now)
    i = np.int32(thread)
    while i < vertices:
        prefix, shift = load_pair(s.queue, begin + i)
        store_pair(entries, i, prefix, shift)
        if not is_null(s.predecessors):
            owners[i] = s.queued[begin + i]
        i = np.int32(i + threads)
    if thread < WARP:
        totals[thread] = 0
    cuda.syncthreads()

    won = registers(s.distances, ALONE_UNROLL)
    neighbor = registers(s.targets, ALONE_UNROLL)
    parent = registers(s.targets, ALONE_UNROLL)
    first = registers(s.offsets, ALONE_UNROLL)
    degree = registers(s.offsets, ALONE_UNROLL)
    arrived = False
    while vertices > 0 and edges <= s.alone and level < last and not arrived:
        level = np.int32(level + 1)
        unexplored -= edges
        entries, owners = local_queue(s, memory, now)
        few = np.int32(edges)
        for k in range(ALONE_UNROLL):
            won[k] = 0
            edge = np.int32(k * threads + thread)
            if edge < few:
                slot = np.int32(0)
                size = np.int32(vertices)
                while size > 1:
                    half = np.int32(size >> 1)
                    if entries[2 * (slot + half)] <= edge:
                        slot = np.int32(slot + half)
                    size = np.int32(size - half)
                won[k] = 1
                neighbor[k] = load_read_only(s.targets, entries[2 * slot + 1] + edge)
                if not is_null(s.predecessors):
                    parent[k] = owners[slot]
        for k in range(ALONE_UNROLL):
            if won[k]:
                first[k], degree[k] = degree_of(s, neighbor[k])
                bit = bit_of(neighbor[k])
                won[k] = fetch_or(visited, neighbor[k] >> 5, bit) & bit == 0
        mine = np.int64(0)
        for k in range(ALONE_UNROLL):
            if won[k]:
                settle(s, neighbor[k], parent[k], level)
                if degree[k] > 0:
                    mine += packed(1, degree[k], s.edge_bits)

        # Slots and prefixes: a scan over the lanes, then over the warps.
        place = inclusive_scan(mine)
        if lane == WARP - 1:
            totals[warp] = place
        cuda.syncthreads()
        each = inclusive_scan(totals[lane])
        total = from_lane(each, WARP - 1)
        earlier = from_lane(each, (warp - 1) & 31)
        if warp > 0:
            place += earlier
        place -= mine
        now = np.int32(1 - now)
        entries, owners = local_queue(s, memory, now)
        for k in range(ALONE_UNROLL):
            if won[k] and degree[k] > 0:
                slot, prefix = unpacked(place, s.edge_bits)
                store_pair(entries, slot, prefix, first[k] - prefix)
                if not is_null(s.predecessors):
                    owners[slot] = neighbor[k]
                place += packed(1, degree[k], s.edge_bits)
        vertices, edges = unpacked(total, s.edge_bits)
        if not is_null(s.trace) and thread == 0:
            s.trace[level] = nanoseconds() * 2
        cuda.syncthreads()
        arrived = s.target >= 0 and is_reached(load_shared_by_blocks(s.state, TARGET_LEVEL), level)

    entries, owners = local_queue(s, memory, now)
    i = np.int32(thread)
    while i < vertices:
        prefix, shift = load_pair(entries, i)
        store_pair(s.queue, behind + i, prefix, shift)
        if not is_null(s.predecessors):
            s.queued[behind + i] = owners[i]
        i = np.int32(i + threads)
    return level, vertices, edges, unexplored


def prepare(n, offsets, in_offsets, in_targets, hub, isolated):
    """Fill ``hub`` and ``isolated``: a warp takes 32 vertices, its lanes the in-edges of one after the other."""
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
            most = np.int64(-1)
            best = vertex
            edge = begin + lane
            while edge < min(end, begin + ENOUGH):
                neighbor = np.int64(in_targets[edge])
                degree = np.int64(offsets[neighbor + 1] - offsets[neighbor])
                if degree > most:
                    most, best = degree, neighbor
                edge += WARP
            for step in range(5):
                other = cuda.shfl_xor_sync(ALL, most, 1 << step)
                theirs = cuda.shfl_xor_sync(ALL, best, 1 << step)
                if other > most:
                    most, best = other, theirs
            if lane == 0:
                hub[vertex] = best
        if lane == 0:
            isolated[word] = bits
        word += cuda.gridDim.x * (cuda.blockDim.x >> 5)


def search(s):
    memory = cuda.shared.array(0, np.int8, alignment=16)
    told = cuda.shared.array(TOLD, np.int64)
    reached = cuda.shared.array(1, np.int32)  # by the block in this level, bottom-up
    lane, warp_of_block = lane_id(), np.int32(cuda.threadIdx.x >> 5)
    warps_of_block = np.int32(cuda.blockDim.x >> 5)
    warps = np.int32(cuda.gridDim.x * warps_of_block)
    warp = np.int32(warp_of_block * cuda.gridDim.x + cuda.blockIdx.x)  # neighbours on different multiprocessors
    thread, threads = cuda.grid(1), cuda.gridsize(1)
    words = s.n + WARP - 1 >> 5
    hits = pointer_into(memory, warp_of_block * TILE * 4, s.visited)
    found = pointer_into(memory, warps_of_block * TILE * 4 + warp_of_block * TILE * WARP * 2, np.uint16)
    one_source = s.count == 1
    was_stale = s.state[STALE + (s.number - 1 & 1)] != 0
    stale = STALE + (s.number & 1)

    # Begin: nothing is visited but the isolated vertices, and the source if there is only one.
    if cuda.threadIdx.x == 0:
        reached[0] = 0
    word = thread
    while word < words:
        bits = load_read_only(s.isolated, word)
        if was_stale:
            left = bits
            while left != 0:
                vertex = word * WARP + lowest(left)
                if vertex < s.n and not (one_source and vertex == s.source):
                    s.distances[vertex] = -1
                left = without_lowest(left)
        if one_source and word == s.source >> 5:
            bits = np.int32(bits | bit_of(s.source))
        s.visited[word] = bits
        word += threads
    if thread == 0:
        s.state[TARGET_LEVEL] = 0
        s.state[stale] = one_source and test(s.isolated, s.source)
        if not is_null(s.trace):
            s.trace[0] = nanoseconds() * 2
        if one_source:
            store_pair(s.queue, 0, 0, s.offsets[s.source])
            if not is_null(s.predecessors):
                s.queued[0] = s.source
                s.predecessors[s.source] = -1
            s.distances[s.source] = 0
    turn = np.int32(0)
    end_turn(s.state, turn, s.edge_bits, told)
    turn = np.int32(turn + 1)

    if one_source:
        edges = np.int64(degree_of(s, s.source)[1])
        vertices = np.int64(edges > 0)
    else:
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
                if test(s.isolated, source[0]):
                    s.state[stale] = 1
                fetch_or(s.visited, source[0] >> 5, bit_of(source[0]))
                s.distances[source[0]] = 0
                if not is_null(s.predecessors):
                    s.predecessors[source[0]] = -1
            enqueue(s, 0, tail_of(turn), 1, keep, source, firsts, degrees)
            start += warps * WARP
        vertices, edges = end_turn(s.state, turn, s.edge_bits, told)
        turn = np.int32(turn + 1)

    # The levels. Every thread follows them in variables of its own.
    visited, other = s.visited, s.other
    begin = np.int64(0)  # of the frontier in the queue; going bottom-up, where the next one will begin
    unexplored = s.m
    level = np.int32(0)
    bottom_up = False
    given_up = False
    while vertices > 0 and level < s.depth_limit and not given_up:
        if s.target >= 0 and is_reached(told[TOLD_TARGET_LEVEL], level):
            break
        expanded = vertices

        if not bottom_up and edges <= s.alone:
            if cuda.blockIdx.x == 0:
                level, vertices, edges, unexplored = go_alone(
                    s, visited, level, begin, vertices, edges, unexplored, memory
                )
                if cuda.threadIdx.x == 0:
                    alone = ALONE + (turn & 1) * 4
                    s.state[alone + LEVEL] = level
                    s.state[alone + VERTICES] = vertices
                    s.state[alone + EDGES] = edges
                    s.state[alone + UNEXPLORED] = unexplored
            end_turn(s.state, turn, s.edge_bits, told)
            turn = np.int32(turn + 1)
            level = np.int32(told[TOLD_ALONE + LEVEL])
            vertices, edges = told[TOLD_ALONE + VERTICES], told[TOLD_ALONE + EDGES]
            unexplored = told[TOLD_ALONE + UNEXPLORED]
            begin += expanded
            given_up = level > s.n
            continue

        level = np.int32(level + 1)
        given_up = level > s.n  # as many levels as vertices, if each reaches one and the last none
        tail = tail_of(turn)
        if not bottom_up:
            bottom_up = edges > unexplored // s.alpha
            unexplored -= edges
            if not bottom_up:
                expand(s, visited, level, begin, vertices, edges, tail, warp, warps)
            begin += expanded
        if bottom_up:
            mine = sweep(s, visited, other, level, warp, warps, found, hits)
            if lane == WARP - 1 and mine > 0:
                cuda.atomic.add(reached, 0, np.int32(mine))
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                total = cuda.atomic.exch(reached, 0, 0)
                if total > 0:
                    fetch_add(s.state, tail, packed(total, 0, s.edge_bits))
            visited, other = other, visited
        vertices, edges = end_turn(s.state, turn, s.edge_bits, told)
        turn = np.int32(turn + 1)
        if not is_null(s.trace) and thread == 0:
            s.trace[level] = nanoseconds() * 2 + bottom_up
        if bottom_up and vertices > 0 and vertices < expanded and vertices < s.n // s.beta:
            to_queue(s, other, visited, begin, tail_of(turn), warp, warps, found)
            vertices, edges = end_turn(s.state, turn, s.edge_bits, told)
            turn = np.int32(turn + 1)
            bottom_up = False

    # End: whatever was not visited is unreached.
    start = np.int64(warp) * WARP
    while start < words:
        unseen = np.int32(0)
        if start + lane < words:
            unseen = np.int32(~visited[start + lane])
        some = ballot(unseen != 0)
        while some != 0:
            which = lowest(some)
            if from_lane(unseen, which) >> lane & 1:
                vertex = (start + which) * WARP + lane
                s.distances[vertex] = -1
                if not is_null(s.predecessors):
                    s.predecessors[vertex] = -1
            some = without_lowest(some)
        start += warps * WARP
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if fetch_add(s.state, FINISHED, 1) == cuda.gridDim.x - 1:
            s.state[FINISHED] = 0
            s.status[LEVELS] = level
            s.status[GIVEN_UP] = given_up
            cuda.threadfence_system()
            s.status[NUMBER] = s.number
