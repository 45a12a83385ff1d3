"""Deterministic: the tree and the order of a sequential queue, in one cooperative launch.

The predecessor of a vertex is its first in-neighbour in the order of the queue; vertices follow each other as their
predecessors do, and those of one predecessor as its adjacency does. ``deterministic.cu`` finds the same by more means;
this kernel is its twin in what it answers, not function by function.

All edges are numbered in the order in which a sequential queue looks at them: those of the first vertex in the queue,
then those of the second. Each vertex *claims* the smallest number of an edge that leads to it (an atomic minimum), and
the edge whose number was taken is the one by which the queue would have found it. Numbers grow from level to level, so
that no later edge takes what was claimed, and nobody has to ask whether a vertex was visited.

*Ordered*: a team expands the frontier, a run of the queue, in rounds of as many edges as its threads have room for,
neighbouring edges in neighbouring threads. When all have claimed, the vertices that were won are counted, and a scan
over the team gives each its place in the queue and the number of its first edge. The team is one block while the
frontier is small, a cluster of blocks on graphs with many levels, else the whole grid: they differ in their barrier.
*Wide*, where the frontier has many edges: each unvisited vertex looks at all its in-neighbours, for the first in order.
An in-neighbour that is visited at all is in the frontier, or the vertex would not be unvisited. The vertices found are
in no order; a second such level compares in-neighbours by the predecessors of these, which have one, and then by
themselves, which stand in it as they ascend.
*Order*, when such levels are over: a vertex is marked at the number of its edge in a bitmap over the edges of the level
above, and the marks below its own are its place in the queue. Levels without an order are put in order one after the
other, of the upper one just the predecessors of the lower one's vertices.

  offsets, targets, in_offsets,  out-edges, and in-edges (the same arrays if the graph is symmetric)
  in_targets
  positions[m]                   null if each adjacency ascends; else in-edges ascend, and this is the position of each
                                 among the out-edges of its source
  visited[words]                 bitmap of the vertices visited before a wide level
  marks[m / 32 + 1], below[..]   of the edges of a level, by which its next one was found; and how many in words before
  counts[blocks]                 what each block of a team found, see `share_out`
  queue[2 * n], queued[n]        the ordered vertices with out-edges, level after level: for each the number of its
                                 first edge in its level, and what to add to numbers for places in `targets`; which
                                 vertices they are
  claims[n]                      the number that a vertex claimed; that of the first edge of a level for what was found
                                 otherwise in it, -1 for sources, UNREACHED before
  first[n]                       the number of a vertex's first edge in its level, if that is above a wide one; while
                                 vertices are put in order, the number of the edge that leads to one
  distances[n], predecessors[n]  the answer, -1 where there is none
  sources[count]                 in the host's memory, distinct, in the order of the queue
  state, trace, status           as in ``direction_optimizing.py``; "bottom-up" in a trace is a wide level

Work: O(n) to begin, to end and for each wide level. An ordered level looks at each of its edges once, a wide one at
those into unvisited vertices. Synchronisation: an ordered level has a barrier of its team, and two more for each round;
a wide level has two, and an order six.

Races: the smallest number does not depend on the order in which numbers come, and later rounds have larger ones. A wide
level reads what the ones before it wrote. Where two threads mark one vertex, or place it, they write the same.

Sources: G. Blelloch, J. Fineman, J. Shun, Greedy sequential maximal independent set and matching are parallel on
average, SPAA 2012, for taking prefixes of a sequential order; as in ``direction_optimizing.cu``.
"""

from collections import namedtuple

import numpy as np
from numba import cuda
from numba.cuda import types

from ..ordered_search import KEY_BITS, MOST_THREADS, NUMBERS, POINTERS
from .cooperative import (
    WARP,
    ballot,
    bit_of,
    count_of,
    from_lane,
    grid_barrier,
    inclusive_scan,
    inlined,
    is_reached,
    lane_id,
    lanes_below,
    lowest,
    packed,
    report,
    slot_of,
    unpacked,
    without_lowest,
)
from .pointers import (
    ALL,
    cluster_barrier,
    cluster_size,
    fetch_min,
    fetch_or,
    is_null,
    like,
    load_read_only,
    load_shared_by_blocks,
    most,
    nanoseconds,
    pointer_into,
    prefetch,
    reduce_or,
    registers,
    store_pair,
)

UNROLL = 8  # edges that a thread has under way at a time in an ordered level
ROWS = 4  # and groups of 32 that a warp has in a wide one
TURN_ALONE = 1 << 20  # levels that a small team goes on before it shows itself at the grid's barrier
NO_KEY = np.int64((1 << 63) - 1)
ROOM = 2 * WARP  # vertices on the list of a warp
MEMORY = 4 * MOST_THREADS  # for `sweep`: four numbers a thread

# Elements of `state`, beside those of the barrier: two of what a small team did, in turn.
FINISHED, TARGET_LEVEL, PROGRESS = 16, 17, 32

Search = namedtuple("Search", POINTERS + NUMBERS)

# The blocks that work on something together, the first ones of the grid, and who this thread is among theirs.
Team = namedtuple("Team", ("blocks", "thread", "threads"))

# Edges that a thread has under way: their places in `targets`, and later the claims on what they lead to; the vertices
# at both ends, and where the edges of the second begin and end.
Edges = namedtuple("Edges", ("place", "parent", "neighbor", "first", "end"))

# A level: its vertices stand in the queue behind `begin`, and those above it have so many edges.
Level = namedtuple("Level", ("depth", "begin", "vertices", "edges", "explored"))


def argument_types(vertex, offset):
    """The types of the fields of `Search`, for Numba's types of a vertex and an offset."""
    known = {
        **dict.fromkeys(("targets", "in_targets", "positions", "below", "queued", "predecessors", "sources"), vertex),
        **dict.fromkeys(("offsets", "in_offsets", "queue", "claims", "first"), offset),
        **dict.fromkeys(("visited", "marks", "distances"), types.int32),
        **dict.fromkeys(("counts", "state", "trace", "status"), types.int64),
    }
    return [*(types.CPointer(known[name]) for name in POINTERS), *(types.int64 for _ in NUMBERS)]


def signatures(vertex_bytes, offset_bytes):
    """The types of the kernel's arguments, for vertices and offsets of so many bytes."""
    vertex, offset = (types.int32 if each == 4 else types.int64 for each in (vertex_bytes, offset_bytes))
    return {"search": (types.NamedTuple(argument_types(vertex, offset), Search),)}


@inlined
def team_of(blocks):
    return Team(np.int32(blocks), np.int64(cuda.grid(1)), np.int64(blocks) * cuda.blockDim.x)


@inlined
def barrier(s, team):
    """Wait for the team; what it wrote before is seen after."""
    if team.blocks == 1:
        cuda.syncthreads()
    elif team.blocks < cuda.gridDim.x:
        cluster_barrier()
    else:
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            grid_barrier(s.state)
        cuda.syncthreads()


@inlined
def share_out(s, team, mine, totals):
    """The sum of what the team's threads below this one hold, and of all. The team meets at a barrier meanwhile.

    ``totals``: a number a warp, in shared memory, not to be used again before the next barrier.
    """
    lane, warp = lane_id(), np.int32(cuda.threadIdx.x >> 5)
    until = inclusive_scan(mine)
    if lane == WARP - 1:
        totals[warp] = until
    cuda.syncthreads()
    held = np.int64(0)
    if lane < cuda.blockDim.x >> 5:
        held = totals[lane]
    held = inclusive_scan(held)
    total = from_lane(held, WARP - 1)
    lower = from_lane(held, warp + WARP - 1 & WARP - 1)
    below = until - mine
    if warp > 0:
        below += lower
    if team.blocks > 1:
        if cuda.threadIdx.x == 0:
            s.counts[cuda.blockIdx.x] = total
        barrier(s, team)
        total = np.int64(0)
        lower = np.int64(0)
        block = lane
        while block < team.blocks:
            count = load_shared_by_blocks(s.counts, block)
            total += count
            if block < cuda.blockIdx.x:
                lower += count
            block = np.int32(block + WARP)
        total = from_lane(inclusive_scan(total), WARP - 1)
        below += from_lane(inclusive_scan(lower), WARP - 1)
    return below, total


@inlined
def run_of(team, count):
    """The thread's part of so many things: from the first up to the second."""
    each = (count + team.threads - 1) // team.threads
    return min(team.thread * each, count), min((team.thread + 1) * each, count)


@inlined
def degree_of(s, vertex):
    return np.int64(load_read_only(s.offsets, vertex + 1)) - load_read_only(s.offsets, vertex)


@inlined
def counted(s, degree):
    """A vertex with so many out-edges; nothing if it has none."""
    return packed(degree > 0, degree, s.edge_bits)


@inlined
def enqueue(s, begin, place, vertex, first, degree):
    """Put a vertex with out-edges behind ``place``, what comes before it in its level."""
    if degree > 0:
        slot, edges = unpacked(place, s.edge_bits)
        store_pair(s.queue, begin + slot, edges, first - edges)
        s.queued[begin + slot] = vertex


@inlined
def settle(s, vertex, parent, depth):
    """Write down that a level reached a vertex."""
    s.distances[vertex] = depth
    s.predecessors[vertex] = parent
    if vertex == s.target:
        s.state[TARGET_LEVEL] = depth


# Loads and atomics that are independent stand in loops of their own, here and below, so that they are all on their way
# before the first is waited for.


@inlined
def claim(s, level, edge, rows, count, edges):
    """Let the targets of the edges from this number on, ``rows`` a thread, claim the smallest number.

    ``count`` is what a thread has room for. Returns, as a bit for each, which edges there are.
    """
    lane, behind = lane_id(), level.begin + level.vertices
    warps_first = edge - lane * rows
    slot = level.begin + slot_of(s.queue, level.begin, level.vertices, warps_first)
    if count == 1:  # each of the next 32 entries marks its first edge
        mark = np.int32(0)
        if slot + 1 + lane < behind:
            ahead = s.queue[2 * (slot + 1 + lane)] - warps_first
            if ahead < WARP:
                mark = np.int32(1 << ahead)
        slot += count_of(reduce_or(mark) & (lanes_below() << 1 | 1))
    else:  # one of so many is the thread's
        size = min(behind - slot, WARP * rows)
        while size > 1:
            half = size >> 1
            if s.queue[2 * (slot + half)] <= edge:
                slot += half
            size -= half
    live = np.int32(0)
    for k in range(count):
        edges.place[k] = 0
        if k < rows and edge + k < level.edges:
            live = np.int32(live | 1 << k)
            if k > 0 and slot + 1 < behind and s.queue[2 * (slot + 1)] <= edge + k:
                slot += 1
            edges.place[k] = s.queue[2 * slot + 1] + edge + k
            edges.parent[k] = s.queued[slot]
    for k in range(count):
        edges.neighbor[k] = 0
        if live >> k & 1:
            edges.neighbor[k] = load_read_only(s.targets, edges.place[k])
    for k in range(count):
        if live >> k & 1:
            fetch_min(s.claims, edges.neighbor[k], level.explored + edge + k)
    if count == 1:  # to have it as soon as it is needed
        load_row(s, live, edges, 0)
    return live


@inlined
def load_row(s, those, edges, k):
    """Where the edges of a neighbour begin and end, if this is one of those edges."""
    if those >> k & 1:
        edges.first[k] = load_read_only(s.offsets, edges.neighbor[k])
        edges.end[k] = load_read_only(s.offsets, edges.neighbor[k] + 1)


@inlined
def win(s, level, edge, live, count, edges):
    """Settle what the edges won. Returns which did, and what it counts for in the next level."""
    for k in range(count):
        if live >> k & 1:
            edges.place[k] = load_shared_by_blocks(s.claims, edges.neighbor[k])
    won = np.int32(0)
    for k in range(count):
        if live >> k & 1 and edges.place[k] == level.explored + edge + k:
            won = np.int32(won | 1 << k)
            settle(s, edges.neighbor[k], edges.parent[k], level.depth + 1)
    if count > 1:
        for k in range(count):
            load_row(s, won, edges, k)
    elif won != 0 and edges.first[0] < edges.end[0]:
        prefetch(s.targets, edges.first[0])
    counter = np.int64(0)
    for k in range(count):
        if won >> k & 1:
            counter += counted(s, edges.end[k] - edges.first[k])
    return won, counter


def expander(count):
    @inlined
    def expand(s, team, level, totals):
        """An ordered level, at most so many edges a thread: the next one, which stands in the queue behind it."""
        behind = level.begin + level.vertices
        rows = np.int32(1)  # edges a thread
        while rows < count and rows * team.threads < level.edges:
            rows = np.int32(2 * rows)
        edges = Edges(
            registers(s.offsets, count),
            registers(s.targets, count),
            registers(s.targets, count),
            registers(s.offsets, count),
            registers(s.offsets, count),
        )
        found = np.int64(0)
        edge = team.thread * rows
        done = np.int64(0)
        while done < level.edges:
            live = np.int32(0)
            if edge - lane_id() * rows < level.edges:  # the whole warp
                live = claim(s, level, edge, rows, count, edges)
            barrier(s, team)
            won = np.int32(0)
            counter = np.int64(0)
            if live != 0:
                won, counter = win(s, level, edge, live, count, edges)
            below, total = share_out(s, team, counter, totals)
            below += found
            for k in range(count):
                if won >> k & 1:
                    degree = edges.end[k] - edges.first[k]
                    enqueue(s, behind, below, edges.neighbor[k], edges.first[k], degree)
                    below += counted(s, degree)
            found += total
            done += rows * team.threads
            edge += rows * team.threads
        barrier(s, team)
        vertices, arcs = unpacked(found, s.edge_bits)
        return Level(level.depth + 1, behind, vertices, arcs, level.explored + level.edges)

    return expand


expand_one, expand_many = expander(1), expander(UNROLL)


@inlined
def is_over(s, level):
    """Does the search end with this level?"""
    target_level = np.int64(0)
    if s.target >= 0:
        target_level = load_shared_by_blocks(s.state, TARGET_LEVEL)
    return level.edges == 0 or level.depth >= min(s.depth_limit, s.n + 1) or is_reached(target_level, level.depth)


@inlined
def is_wide(s, level):
    return level.edges >= s.wide and level.edges > (s.m - level.explored) // s.alpha


@inlined
def go(s, team, level, least, most_edges, totals):
    """Ordered levels, as long as they have more than ``least`` and at most so many edges, and are not wide."""
    last = level.depth + TURN_ALONE
    stay = True
    while stay:
        if level.edges <= team.threads:  # each thread has one at most: less to do
            level = expand_one(s, team, level, totals)
        else:
            level = expand_many(s, team, level, totals)
        if not is_null(s.trace) and team.thread == 0:
            s.trace[level.depth] = nanoseconds() * 2
        stay = least < level.edges and level.edges <= most_edges and level.depth < last
        stay = stay and not is_over(s, level) and not is_wide(s, level)
    return level


@inlined
def leave(s, level, turn):
    """Leave the level that a small team came to where the other blocks find it in this turn."""
    if cuda.grid(1) == 0:
        here = PROGRESS + WARP // 2 * (turn & 1)
        s.state[here] = level.depth
        s.state[here + 1] = level.begin
        s.state[here + 2] = level.vertices
        s.state[here + 3] = level.edges
        s.state[here + 4] = level.explored


@inlined
def level_left(s, turn):
    here = PROGRESS + WARP // 2 * (turn & 1)
    return Level(
        load_shared_by_blocks(s.state, here),
        load_shared_by_blocks(s.state, here + 1),
        load_shared_by_blocks(s.state, here + 2),
        load_shared_by_blocks(s.state, here + 3),
        load_shared_by_blocks(s.state, here + 4),
    )


@inlined
def words_for(count):
    """Words of a bitmap of so many bits."""
    return count + WARP - 1 >> 5


@inlined
def clear_marks(s, team, edges):
    i = team.thread
    while i < words_for(edges):
        s.marks[i] = 0
        i += team.threads


@inlined
def prepare_wide(s, team, level, ages):
    """Fill `visited`, and for an ordered level clear `marks` and fill `first`."""
    lane = lane_id()
    start = team.thread - lane
    while start < s.n:
        seen = start + lane >= s.n
        if not seen:
            seen = s.claims[start + lane] != most(s.claims)
        bits = ballot(seen)
        if lane == 0:
            s.visited[start >> 5] = bits
        start += team.threads
    if ages == 0:
        clear_marks(s, team, level.edges)
        i = level.begin + team.thread
        while i < level.begin + level.vertices:
            s.first[s.queued[i]] = s.queue[2 * i]
            i += team.threads


@inlined
def look(s, level, ages, vertex, some, shifts, best):
    """Let a vertex a lane, in ``some`` lanes, look for its first in-neighbour in the level.

    The lanes share their in-edges out. Returns what the vertices found count for in the next level. ``shifts`` and
    ``best`` have room for a number a lane.
    """
    lane = lane_id()
    bits = KEY_BITS - s.edge_bits  # of the vertex in a key
    begins = np.int64(0)
    degree = np.int64(0)
    if some:
        begins = np.int64(load_read_only(s.in_offsets, vertex))
        degree = load_read_only(s.in_offsets, vertex + 1) - begins
    until = inclusive_scan(degree)
    total = from_lane(until, WARP - 1)
    start = until - degree
    mine = count_of(ballot(degree > 0) & lanes_below())
    if degree > 0:
        shifts[mine] = begins - start
        best[mine] = NO_KEY
    cuda.syncwarp()

    head = registers(s.distances, ROWS)
    row = registers(s.distances, ROWS)
    neighbor = registers(s.targets, ROWS)
    ancestor = registers(s.targets, ROWS)
    word = registers(s.distances, ROWS)
    prefix = registers(s.first, ROWS)
    rows = np.int32(0)  # that begin before these edges
    edge = np.int64(0)
    while edge < total:
        for k in range(ROWS):
            # Each row that begins within these 32 edges marks its first; the last mark up to an edge is its row's.
            batch = edge + k * WARP
            mark = np.int32(0)
            if degree > 0 and batch <= start and start < batch + WARP:
                mark = np.int32(1 << (start - batch))
            marks = reduce_or(mark)
            upto = np.int32(marks & (lanes_below() << 1 | 1))
            head[k] = 31 - cuda.clz(upto) if upto != 0 else 0
            row[k] = rows + count_of(upto) - 1
            rows = np.int32(rows + count_of(marks))
            neighbor[k] = -1
            if batch + lane < total:
                neighbor[k] = load_read_only(s.in_targets, shifts[row[k]] + batch + lane)
        for k in range(ROWS):
            word[k] = 0
            if neighbor[k] >= 0:
                word[k] = s.visited[neighbor[k] >> 5]
        for k in range(ROWS):
            ancestor[k] = -1
            if word[k] & bit_of(neighbor[k]) != 0:
                ancestor[k] = neighbor[k] if ages == 0 else s.predecessors[neighbor[k]]
        for k in range(ROWS):
            prefix[k] = 0
            if ancestor[k] >= 0:
                prefix[k] = s.first[ancestor[k]]
        for k in range(ROWS):
            key = NO_KEY
            if ancestor[k] >= 0:
                key = np.int64(prefix[k]) << bits | np.int64(neighbor[k])
            for step in range(5):
                other = cuda.shfl_up_sync(ALL, key, 1 << step)
                if lane - (1 << step) >= head[k]:
                    key = min(key, other)
            # The last lane of a row has the least of all its lanes.
            after = from_lane(row[k], lane + 1 & WARP - 1)
            if (lane == WARP - 1 or after != row[k]) and key < best[row[k]]:
                best[row[k]] = key
            cuda.syncwarp()
        edge += ROWS * WARP

    found = np.int64(0)
    if degree > 0 and best[mine] != NO_KEY:
        settle(s, vertex, like(s.targets, best[mine] & (np.int64(1) << bits) - 1), level.depth + 1)
        s.claims[vertex] = level.explored
        found = counted(s, degree_of(s, vertex))
    cuda.syncwarp()
    return found


@inlined
def sweep(s, team, level, ages, shifts, best, found):
    """A wide level: let unvisited vertices look for the first of the frontier.

    A warp takes tiles of words, lists the unvisited vertices, and goes on as soon as it has one for each lane. Returns
    what those that its lanes found count for. ``found`` has room for ROOM vertices.
    """
    words = words_for(s.n)
    lane = lane_id()
    warps = team.threads >> 5
    tile = np.int64(cuda.threadIdx.x >> 5) * cuda.gridDim.x + cuda.blockIdx.x  # neighbours on different processors
    counter = np.int64(0)
    listed = np.int32(0)
    unseen = np.int32(0)
    open_words = np.int32(0)
    word = np.int64(0)  # the tile's first
    while True:
        while listed < WARP and (open_words != 0 or tile * s.tile < words):
            if open_words == 0:
                word = tile * s.tile
                unseen = np.int32(0)
                if lane < s.tile and word + lane < words:
                    unseen = np.int32(~s.visited[word + lane])
                open_words = ballot(unseen != 0)
                tile += warps
            else:
                which = lowest(open_words)
                bits = from_lane(unseen, which)
                if bits >> lane & 1:
                    found[listed + count_of(bits & lanes_below())] = (word + which) * WARP + lane
                listed = np.int32(listed + count_of(bits))
                open_words = without_lowest(open_words)
        if listed == 0:
            break
        cuda.syncwarp()
        vertex = like(s.targets, found[lane] if lane < listed else 0)
        counter += look(s, level, ages, vertex, lane < listed, shifts, best)
        listed = np.int32(max(listed - WARP, 0))
        left = found[WARP + lane]
        cuda.syncwarp()
        found[lane] = left
        cuda.syncwarp()
    return counter


@inlined
def place_in(s, list_of, begin, end, vertex):
    """The first place of a vertex in an ascending list, where it is."""
    while begin < end:
        middle = begin + (end - begin) // 2
        if load_read_only(list_of, middle) < vertex:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def position_of(s, parent, vertex):
    """The first position of a vertex in the adjacency of its predecessor."""
    if is_null(s.positions):
        begin = np.int64(load_read_only(s.offsets, parent))
        return place_in(s, s.targets, begin, np.int64(load_read_only(s.offsets, parent + 1)), vertex) - begin
    begin, end = np.int64(load_read_only(s.in_offsets, vertex)), np.int64(load_read_only(s.in_offsets, vertex + 1))
    return np.int64(load_read_only(s.positions, place_in(s, s.in_targets, begin, end, parent)))


@inlined
def ancestor_of(s, vertex, claim, age):
    """So many levels above a vertex with this claim; -1 if it has another, or the ancestor no out-edges."""
    if s.claims[vertex] != claim:
        return np.int64(-1)
    ancestor = np.int64(vertex)
    while age > 0:
        ancestor = np.int64(s.predecessors[ancestor])
        age -= 1
    return ancestor if degree_of(s, ancestor) > 0 else np.int64(-1)


@inlined
def order(s, team, level, claim, age, totals):
    """Put the ancestors of the vertices with a claim in order, so many levels above them and one below ``level``.

    Returns their level, with `first` filled and `marks` cleared.
    """
    behind = level.begin + level.vertices
    i = team.thread
    while i < s.n:
        vertex = ancestor_of(s, i, claim, age)
        if vertex >= 0:
            parent = np.int64(s.predecessors[vertex])
            edge = s.first[parent] + position_of(s, parent, vertex)
            s.first[vertex] = edge
            fetch_or(s.marks, edge >> 5, bit_of(edge))
        i += team.threads
    barrier(s, team)

    begin, end = run_of(team, words_for(level.edges))
    mine = np.int64(0)
    i = begin
    while i < end:
        mine += count_of(s.marks[i])
        i += 1
    below, vertices = share_out(s, team, mine, totals)
    i = begin
    while i < end:
        s.below[i] = below
        below += count_of(s.marks[i])
        i += 1
    barrier(s, team)

    i = team.thread
    while i < s.n:
        vertex = ancestor_of(s, i, claim, age)
        if vertex >= 0:
            edge = np.int64(s.first[vertex])
            bits = s.marks[edge >> 5] & (bit_of(edge) - 1)
            s.queued[behind + s.below[edge >> 5] + count_of(bits)] = vertex
        i += team.threads
    barrier(s, team)

    begin, end = run_of(team, vertices)
    mine = np.int64(0)
    i = begin
    while i < end:
        mine += degree_of(s, s.queued[behind + i])
        i += 1
    below, edges = share_out(s, team, mine, totals)
    i = begin
    while i < end:
        vertex = s.queued[behind + i]
        first, degree = load_read_only(s.offsets, vertex), degree_of(s, vertex)
        s.first[vertex] = below
        store_pair(s.queue, behind + i, below, first - below)
        below += degree
        i += 1
    clear_marks(s, team, edges)
    barrier(s, team)
    return Level(level.depth + 1, behind, vertices, edges, level.explored)


@inlined
def source_at(s, i):
    """A source; one alone is known without asking the host's memory."""
    if s.count == 1:
        return s.source
    return np.int64(s.sources[i])


@inlined
def begin_search(s, team, totals):
    """Forget the last search, and put the sources with out-edges into the queue. Returns their level."""
    i = team.thread
    while i < s.n:
        s.claims[i] = most(s.claims)
        i += team.threads
    if team.thread == 0:
        s.state[TARGET_LEVEL] = 0
        if not is_null(s.trace):
            s.trace[0] = nanoseconds() * 2
    begin, end = run_of(team, s.count)
    mine = np.int64(0)
    i = begin
    while i < end:
        mine += counted(s, degree_of(s, source_at(s, i)))
        i += 1
    below, total = share_out(s, team, mine, totals)
    i = begin
    while i < end:
        source = source_at(s, i)
        degree = degree_of(s, source)
        s.claims[source] = -1
        s.distances[source] = 0
        s.predecessors[source] = -1
        enqueue(s, np.int64(0), below, source, np.int64(load_read_only(s.offsets, source)), degree)
        below += counted(s, degree)
        i += 1
    barrier(s, team)
    vertices, edges = unpacked(total, s.edge_bits)
    return Level(np.int64(0), np.int64(0), vertices, edges, np.int64(0))


def search(s):
    totals = pointer_into(cuda.shared.array(WARP, np.int64), 0, np.int64)
    memory = cuda.shared.array(MEMORY, np.int64)
    mine = np.int64(cuda.threadIdx.x >> 5) * 32 * WARP
    shifts, best, found = (
        pointer_into(memory, mine, np.int64),
        pointer_into(memory, mine + 8 * WARP, np.int64),
        pointer_into(memory, mine + 16 * WARP, np.int64),
    )
    cluster = cluster_size()
    small = s.together if cluster > 1 else s.alone
    everyone = team_of(cuda.gridDim.x)
    patience = 2 if is_null(s.positions) else 1

    level = begin_search(s, everyone, totals)
    ordered = level  # the last one with an order
    ages = np.int32(0)  # levels since then
    claim = np.int64(0)  # of the vertices in the last of these
    turn = np.int32(0)
    while not is_over(s, level):
        wide = is_wide(s, level)
        if wide and ages < patience:
            prepare_wide(s, everyone, level, ages)
            barrier(s, everyone)
            counter = sweep(s, everyone, level, ages, shifts, best, found)
            _, counter = share_out(s, everyone, counter, totals)
            vertices, edges = unpacked(counter, s.edge_bits)
            claim = level.explored
            level = Level(level.depth + 1, level.begin, vertices, edges, level.explored + level.edges)
            ages = np.int32(ages + 1)
            if not is_null(s.trace) and everyone.thread == 0:
                s.trace[level.depth] = nanoseconds() * 2 + 1
        elif ages > 0:
            while ages > 0:
                ages = np.int32(ages - 1)
                ordered = order(s, everyone, ordered, claim, ages, totals)
            level = Level(level.depth, ordered.begin, ordered.vertices, ordered.edges, level.explored)
            ordered = level
        else:
            blocks, least, upto = np.int32(1), np.int64(0), s.alone
            if level.edges > s.alone:
                blocks, least, upto = np.int32(cluster), s.alone, small
            if level.edges > small:
                blocks, least, upto = np.int32(cuda.gridDim.x), small, s.m
            if cuda.gridDim.x == 1:
                blocks, least, upto = np.int32(1), np.int64(0), s.m
            if cuda.blockIdx.x < blocks:
                level = go(s, team_of(blocks), level, least, upto, totals)
            if blocks < cuda.gridDim.x:
                leave(s, level, turn)
                barrier(s, everyone)
                level = level_left(s, turn)
                turn = np.int32(turn + 1)
            ordered = level

    i = everyone.thread
    while i < s.n:
        if s.claims[i] == most(s.claims):
            s.distances[i] = -1
            s.predecessors[i] = -1
        i += everyone.threads
    report(s.state, FINISHED, s.status, s.number, level.depth, level.depth > s.n)
