"""Bit-parallel: many sources at once, all levels of a batch in one cooperative launch.

The twin of ``bit_parallel.cu``, function by function; what the algorithm is, what each array holds, what a level costs
and why no race does harm stand there. Here is what differs in Numba-CUDA.

Everything that a batch needs comes as one named tuple, whose fields are the kernel's arguments one by one, see
``direction_optimizing.py``. The arrays of two levels are ``now`` and ``last``, ``found`` and ``found_before``,
``counts`` and ``counts_before`` there. Words are signed integers, whose bits are the same. `state` has plain elements
of 64 bits at the places below. A piece is two integers of the type of an offset, the second a vertex; beside one of
fewer bits lies nothing of meaning. What a thread notes is an array of registers.

Sources: as in ``bit_parallel.cu``.
"""

from collections import namedtuple

import numpy as np
from numba import cuda
from numba.cuda import types

from ..batch import BITS, NUMBERS, PIECE, POINTERS, WIDTHS
from .cooperative import (
    WARP,
    ballot,
    count_of,
    from_lane,
    grid_barrier,
    inclusive_scan_32,
    inlined,
    lane_id,
    lanes_below,
    lowest,
    without_lowest,
)
from .pointers import (
    ALL,
    behind,
    fetch_add,
    fetch_exchange,
    fetch_or,
    is_null,
    like,
    load_pair,
    load_read_only,
    load_shared_by_blocks,
    pointer_into,
    registers,
    store_pair,
)

UNROLL = 4  # edges that a group has under way at a time
SLOTS = 4  # levels whose counters are kept; a power of two
NEAR = 8  # planes that `write` has in registers

# Elements of `state`, those that all blocks ask for in lines of their own. All but `LEVELS` are the first of SLOTS: a
# level counts into the slot level % SLOTS; two levels on it is emptied.
FOUND, ITEMS, EDGES, UNDER_WAY, LEVELS = 16, 32, 48, 64, 64 + SLOTS * WIDTHS[-1]

# What a thread found in a phase: the out-edges, the sources under way in its word, and vertical counters of the sources
# of that word, which hold so many rows.
MY_EDGES, MY_SOURCES, HELD, TALLY = range(4)
TALLY_BITS = 8
FULL = (1 << TALLY_BITS) - 1  # rows that they can add
NOTES = TALLY + TALLY_BITS

Batch = namedtuple("Batch", POINTERS + NUMBERS)

# Where a thread stands: its lane, its word in the row, its group in the warp and the lanes of that. The first group of
# its warp begins with what has the number `first`, and goes on by `stride`.
Place = namedtuple("Place", ("width", "lane", "word", "group", "mask", "first", "stride"))

# What the threads of a block found together, in shared memory; empty between phases.
Gathered = namedtuple("Gathered", ("counts", "sources", "edges"))


def argument_types(vertex, offset):
    """The types of the fields of `Batch`, for Numba's types of a vertex and an offset."""
    known = {
        **dict.fromkeys(("rank", "targets", "in_targets", "heavy", "sources", "found", "found_before"), vertex),
        **dict.fromkeys(("offsets", "in_offsets", "pieces", "items"), offset),
        **dict.fromkeys(("stamps", "eccentricity", "distances"), types.int32),
        "harmonic": types.float64,
    }
    return [*(types.CPointer(known.get(name, types.int64)) for name in POINTERS), *(types.int64 for _ in NUMBERS)]


def signatures(vertex_bytes, offset_bytes):
    """The types of each kernel's arguments, for vertices and offsets of so many bytes."""
    vertex, offset = (types.int32 if each == 4 else types.int64 for each in (vertex_bytes, offset_bytes))
    batch = types.NamedTuple(argument_types(vertex, offset), Batch)
    return {f"{kernel}_{width}": (batch,) for kernel in ("search", "write") for width in WIDTHS}


@inlined
def slot_of(level):
    return np.int32(level & SLOTS - 1)


@inlined
def list_of(b, level):
    """The vertices found at a level, which is this one or the last one."""
    return b.found if level & 1 == 0 else b.found_before


@inlined
def counts_of(b, level):
    """How many vertices each source reached at a level, which is this one or the last one."""
    return b.counts if level & 1 == 0 else b.counts_before


@inlined
def end_phase(state, level, told):
    """Wait for all blocks, and learn what the level has so far: vertices found, items, and edges."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        grid_barrier(state)
        told[0] = load_shared_by_blocks(state, FOUND + slot_of(level))
        told[1] = load_shared_by_blocks(state, ITEMS + slot_of(level))
        told[2] = load_shared_by_blocks(state, EDGES + slot_of(level))
    cuda.syncthreads()
    return told[0], told[1], told[2]


@inlined
def place_of_thread(width):
    lane = lane_id()
    group = np.int32(lane // width)
    groups, warps_of_block = WARP // width, np.int64(cuda.blockDim.x >> 5)
    warp = np.int64(cuda.threadIdx.x >> 5) * cuda.gridDim.x + cuda.blockIdx.x
    return Place(
        width=width,
        lane=lane,
        word=np.int32(lane - group * width),
        group=group,
        mask=np.int32((1 << width) - 1 << group * width),
        first=warp * groups,
        stride=cuda.gridDim.x * warps_of_block * groups,
    )


@inlined
def any_of_group(at, holds):
    """Does it hold in any lane of the group? To be asked by the whole warp."""
    return ballot(holds) & at.mask != 0


@inlined
def my_word(at, vertex):
    """The place of this lane's word of the vertex's row."""
    return np.int64(vertex) * at.width + at.word


# Loops over what a thread notes count by themselves: from `range` some compilers would not unroll them, and keep the
# notes in memory.


@inlined
def begin(notes):
    i = 0
    while i < NOTES:
        notes[i] = 0
        i += 1


@inlined
def empty(notes, at, counts):
    """Add the vertical counters to the block's."""
    if notes[HELD] == 0:
        return
    for bit in range(BITS):
        count = np.int64(0)
        for i in range(TALLY_BITS):
            count |= (notes[TALLY + i] >> bit & 1) << i
        if count != 0:
            fetch_add(counts, at.word * BITS + bit, count)
    i = 0
    while i < TALLY_BITS:
        notes[TALLY + i] = 0
        i += 1
    notes[HELD] = 0


@inlined
def add(notes, bits, at, counts):
    """Count a vertex that these sources reached."""
    carry = bits
    i = 0
    while i < TALLY_BITS:
        before = notes[TALLY + i]
        notes[TALLY + i] = before ^ carry
        carry &= before
        i += 1
    notes[HELD] += 1
    if notes[HELD] == FULL:
        empty(notes, at, counts)


@inlined
def hand_in(b, level, at, notes, gathered):
    """Add what the block found to the level's counters. To be called by all threads of the block, once a phase."""
    slot = slot_of(level)
    thread = cuda.threadIdx.x
    empty(notes, at, gathered.counts)
    if notes[MY_SOURCES] != 0:
        fetch_or(gathered.sources, at.word, notes[MY_SOURCES])
    if at.word == 0 and notes[MY_EDGES] != 0:
        fetch_add(gathered.edges, 0, notes[MY_EDGES])
    cuda.syncthreads()
    if thread < at.width:
        sources = fetch_exchange(gathered.sources, thread, 0)
        if sources != 0:
            fetch_or(b.state, UNDER_WAY + slot * WIDTHS[-1] + thread, sources)
    if thread == 0:
        edges = fetch_exchange(gathered.edges, 0, 0)
        if edges != 0:
            fetch_add(b.state, EDGES + slot, edges)
    if not is_null(b.planes):
        return
    level_counts = counts_of(b, level)
    i = thread
    while i < BITS * at.width:
        if gathered.counts[i] != 0:
            fetch_add(level_counts, i, gathered.counts[i])
        gathered.counts[i] = 0
        i += cuda.blockDim.x


@inlined
def note(b, vertex, bits, level, at, notes, gathered):
    """Write down that these sources reached the vertex at this level. To be called by the lanes of its group."""
    place = my_word(at, vertex)
    notes[MY_SOURCES] |= bits
    if at.word == 0:
        notes[MY_EDGES] += load_read_only(b.offsets, vertex + 1) - load_read_only(b.offsets, vertex)
    if bits == 0:
        return
    b.seen[place] |= bits
    if level == 0:
        return
    if is_null(b.planes):
        add(notes, bits, at, gathered.counts)
        return
    left = level
    while left != 0:
        b.planes[lowest(left) * b.n * at.width + place] |= bits
        left = without_lowest(left)


@inlined
def append(b, vertices, tail, keep, vertex):
    """Append the vertices that the lanes of this warp keep to the list."""
    keepers = ballot(keep)
    if keepers == 0:
        return
    start = np.int64(0)
    if lane_id() == 0:
        start = fetch_add(b.state, tail, count_of(keepers))
    start = from_lane(start, 0)
    if keep:
        vertices[start + count_of(keepers & lanes_below())] = vertex


@inlined
def push(b, holds, vertex, level, at):
    """Append the out-edges of the vertices that the groups of this warp hold, PIECE at a time, to the items."""
    begin, end = like(b.offsets, 0), like(b.offsets, 0)
    if holds:
        begin, end = load_read_only(b.offsets, vertex), load_read_only(b.offsets, vertex + 1)
    mine = np.int32((end - begin + PIECE - 1) // PIECE)
    upto = inclusive_scan_32(mine if at.word == 0 else np.int32(0))
    total = from_lane(upto, WARP - 1)
    if total == 0:
        return
    start = np.int64(0)
    if at.lane == 0:
        start = fetch_add(b.state, ITEMS + slot_of(level), total)
    start = from_lane(start, 0) + (upto - mine)
    i = at.word
    while i < mine:
        store_pair(b.items, start + i, begin + np.int64(i) * PIECE, vertex)
        i = np.int32(i + at.width)


@inlined
def load_piece(b, pieces, offsets, piece):
    """The first edge of a piece, the one behind its last, and whose they are."""
    begin, beside = load_pair(pieces, piece)
    vertex = like(b.targets, beside)
    return begin, like(offsets, min(begin + PIECE, np.int64(load_read_only(offsets, vertex + 1)))), vertex


@inlined
def expand(b, frontier, upcoming, level, items, at):
    """Top-down, first phase: OR the rows of the items' vertices into their neighbours', and list these."""
    found, tail = list_of(b, level), FOUND + slot_of(level)
    none = like(b.offsets, 0)
    neighbor = registers(b.targets, UNROLL)
    fresh = registers(b.seen, UNROLL)
    there = registers(b.seen, UNROLL)
    first = at.first
    while first < items:
        item = first + at.group
        edge, end = none, none
        bits = np.int64(0)
        if item < items:
            edge, end, vertex = load_piece(b, b.items, b.offsets, item)
            bits = frontier[my_word(at, vertex)]
        while cuda.any_sync(ALL, edge < end):
            for i in range(UNROLL):
                neighbor[i] = -1
                if edge + i < end:
                    neighbor[i] = load_read_only(b.targets, edge + i)
            for i in range(UNROLL):
                fresh[i] = 0
                there[i] = 0
                if neighbor[i] >= 0:
                    place = my_word(at, neighbor[i])
                    there[i] = load_shared_by_blocks(upcoming, place)
                    fresh[i] = bits & ~(b.seen[place] | there[i])
            for i in range(UNROLL):
                if fresh[i] != 0:
                    fetch_or(upcoming, my_word(at, neighbor[i]), fresh[i])
                untouched = any_of_group(at, fresh[i] != 0 and there[i] == 0)  # by others, in some word
                wins = False
                if untouched and at.word == 0 and load_shared_by_blocks(b.stamps, neighbor[i]) != level:
                    wins = fetch_exchange(b.stamps, neighbor[i], level) != level
                append(b, found, tail, wins, neighbor[i])
            edge = like(b.offsets, edge + UNROLL)
        first += at.stride


@inlined
def settle(b, frontier, upcoming, level, count, last_count, at, notes, gathered):
    """Top-down, second phase: settle what was found at this level, and forget the last frontier."""
    found = list_of(b, level)
    first = at.first
    while first < count:
        place = first + at.group
        holds = place < count
        vertex = like(b.targets, 0)
        if holds:
            vertex = found[place]
            bits = load_shared_by_blocks(upcoming, my_word(at, vertex))
            note(b, vertex, bits, level, at, notes, gathered)
        push(b, holds, vertex, level, at)
        first += at.stride
    last = list_of(b, level + 1)
    place = at.first + at.group
    while place < last_count:
        frontier[my_word(at, last[place])] = 0
        place += at.stride


@inlined
def look(b, frontier, edge, end, missing, at):
    """The bits of a group's word that are in the rows of the in-neighbours ``edge`` to ``end - 1``.

    It stops when none of ``missing`` is left. To be called by the whole warp.
    """
    neighbor = registers(b.in_targets, UNROLL)
    bits = np.int64(0)
    while True:
        going_on = any_of_group(at, missing & ~bits != 0) and edge < end
        if not cuda.any_sync(ALL, going_on):
            return bits & missing
        if going_on:
            last = like(b.in_offsets, end - 1)
            for i in range(UNROLL):
                neighbor[i] = load_read_only(b.in_targets, min(like(b.in_offsets, edge + i), last))
            for i in range(UNROLL):
                bits |= frontier[my_word(at, neighbor[i])]
        edge = like(b.in_offsets, edge + UNROLL)


@inlined
def sweep(b, frontier, upcoming, level, at, notes, gathered):
    """Bottom-up, first phase: share out the heavy vertices, and settle the others."""
    none = like(b.in_offsets, 0)
    wanted = load_shared_by_blocks(b.state, UNDER_WAY + slot_of(level - 1) * WIDTHS[-1] + at.word)
    first = at.first
    while first < b.piece_count:
        piece = first + at.group
        edge, end = none, none
        missing, place = np.int64(0), np.int64(0)
        if piece < b.piece_count:
            edge, end, vertex = load_piece(b, b.pieces, b.in_offsets, piece)
            place = my_word(at, vertex)
            missing = wanted & ~(b.seen[place] | load_shared_by_blocks(upcoming, place))
        bits = look(b, frontier, edge, end, missing, at)
        if bits != 0:
            fetch_or(upcoming, place, bits)
        first += at.stride
    first = at.first
    while first < b.active:
        vertex = first + at.group
        edge, end = none, none
        missing = np.int64(0)
        light = False
        place = my_word(at, vertex)
        if vertex < b.active:
            edge, end = load_read_only(b.in_offsets, vertex), load_read_only(b.in_offsets, vertex + 1)
            light = end - edge <= PIECE
            if light:
                missing = wanted & ~b.seen[place]
        bits = look(b, frontier, edge, end, missing, at)
        finds = any_of_group(at, bits != 0)
        if light:
            upcoming[place] = bits
        if finds:
            note(b, vertex, bits, level, at, notes, gathered)
        first += at.stride


@inlined
def settle_heavy(b, frontier, upcoming, level, at, notes, gathered):
    """Bottom-up, second phase: settle the heavy vertices, and empty their rows for the next level."""
    first = at.first
    while first < b.heavies:
        place = first + at.group
        holds = place < b.heavies
        vertex = like(b.targets, 0)
        bits = np.int64(0)
        if holds:
            vertex = load_read_only(b.heavy, place)
            bits = load_shared_by_blocks(upcoming, my_word(at, vertex))
        if any_of_group(at, bits != 0):
            note(b, vertex, bits, level, at, notes, gathered)
        if holds:
            frontier[my_word(at, vertex)] = 0
        first += at.stride


@inlined
def list_frontier(b, frontier, upcoming, last_level, at):
    """Back from bottom-up: list the frontier, the vertices of the last level, and empty the rows of this one."""
    found, tail = list_of(b, last_level), FOUND + slot_of(last_level)
    first = at.first
    while first < b.n:
        vertex = first + at.group
        place = my_word(at, vertex)
        some = False
        if vertex < b.active:
            some = frontier[place] != 0
        if vertex < b.n:
            upcoming[place] = 0
        holds = any_of_group(at, some)
        push(b, holds, like(b.targets, vertex), last_level, at)
        append(b, found, tail, holds and at.word == 0, vertex)
        first += at.stride


@inlined
def sum_up(b, level, width, thread, threads):
    """Add the counts of a level to the sums. Each source belongs to one thread of the grid."""
    if level == 0 or not is_null(b.planes):
        return
    counts = counts_of(b, level)
    source = thread
    while source < BITS * width:
        count = load_shared_by_blocks(counts, source)
        if count != 0:
            counts[source] = 0
            b.reached[source] += count
            b.total[source] += count * level
            b.eccentricity[source] = level
            b.harmonic[source] += count / level
        source += threads


@inlined
def empty_slot(state, slot, width):
    state[FOUND + slot] = 0
    state[ITEMS + slot] = 0
    state[EDGES + slot] = 0
    for word in range(width):
        state[UNDER_WAY + slot * WIDTHS[-1] + word] = 0


@inlined
def clear(b, width, thread, threads):
    """Forget the last batch."""
    i = thread
    while i < b.n * width:
        b.seen[i] = 0
        b.now[i] = 0
        b.last[i] = 0
        if not is_null(b.planes):
            b.planes[i] = 0
        i += threads
    i = thread
    while i < b.n:
        b.stamps[i] = -1
        i += threads
    if thread < SLOTS:
        empty_slot(b.state, thread, width)
    source = thread
    while is_null(b.planes) and source < BITS * width:
        b.counts[source] = 0
        b.counts_before[source] = 0
        b.reached[source] = 1
        b.total[source] = 0
        b.eccentricity[source] = 0
        b.harmonic[source] = 0
        source += threads


def searcher(width):
    sources, others = BITS * width, width + 1

    def search(b):
        counts = cuda.shared.array(sources, np.int32)
        words = cuda.shared.array(others, np.int64)
        told = cuda.shared.array(3, np.int64)
        of_words = pointer_into(words, 0, b.seen)
        gathered = Gathered(pointer_into(counts, 0, b.stamps), of_words, behind(of_words, width))
        notes = registers(b.seen, NOTES)
        at = place_of_thread(width)
        thread, threads = cuda.grid(1), cuda.gridsize(1)

        i = cuda.threadIdx.x
        while i < sources:
            gathered.counts[i] = 0
            i += cuda.blockDim.x
        if cuda.threadIdx.x < others:
            gathered.sources[cuda.threadIdx.x] = 0
        clear(b, width, thread, threads)
        end_phase(b.state, 0, told)

        i = thread
        while i < b.k:
            source = b.sources[i]
            fetch_or(b.now, np.int64(source) * width + i // BITS, 1 << i % BITS)
            if fetch_exchange(b.stamps, source, 0) != 0:
                b.found[fetch_add(b.state, FOUND, 1)] = source
            i += threads
        found, items, edges = end_phase(b.state, 0, told)

        # Level 0 is settled like any other, and then the levels follow. Every thread keeps track of them on its own.
        now, last = b.now, b.last
        level = np.int32(0)
        bottom_up = False
        while True:
            begin(notes)
            if bottom_up:
                settle_heavy(b, last, now, level, at, notes, gathered)
            else:
                last_count = np.int64(0)
                if level > 0:
                    last_count = load_shared_by_blocks(b.state, FOUND + slot_of(level - 1))
                settle(b, last, now, level, found, last_count, at, notes, gathered)
            hand_in(b, level, at, notes, gathered)
            found, items, edges = end_phase(b.state, level, told)
            sum_up(b, level, width, thread, threads)
            if edges == 0 or level >= b.depth_limit:
                break

            # The next level: what it counts into is empty, and so is the plane that it is the first to need.
            if thread == 0:
                empty_slot(b.state, slot_of(level + 3), width)
            was_bottom_up = bottom_up
            bottom_up = edges > b.m // b.alpha
            if was_bottom_up and not bottom_up:
                list_frontier(b, now, last, level, at)
                found, items, edges = end_phase(b.state, level, told)
            level = np.int32(level + 1)
            now, last = last, now
            plane = count_of(level)
            if not is_null(b.planes) and level & level + 1 == 0 and plane < b.bits:
                i = thread
                while i < b.n * width:
                    b.planes[plane * b.n * width + i] = 0
                    i += threads
            if bottom_up:
                begin(notes)
                sweep(b, last, now, level, at, notes, gathered)
                hand_in(b, level, at, notes, gathered)
            else:
                expand(b, last, now, level, items, at)
            found, items, edges = end_phase(b.state, level, told)
        if thread == 0:
            b.state[LEVELS] = level

    return search


def writer(width):
    def write(b):
        """Turn the planes into distances[k][n], -1 where a source is not: a thread takes a vertex."""
        planes = min(np.int64(WARP - cuda.clz(np.int32(b.state[LEVELS]))), b.bits)
        near = registers(b.seen, NEAR)
        plane_words = b.n * width
        vertex = np.int64(cuda.grid(1))
        while vertex < b.n:
            row = np.int64(b.rank[vertex]) * width
            for word in range((b.k + BITS - 1) // BITS):
                seen = b.seen[row + word]
                for i in range(NEAR):
                    near[i] = 0
                    if i < planes:
                        near[i] = b.planes[i * plane_words + row + word]
                first = np.int64(word) * BITS
                place = first * b.n + vertex
                for source in range(min(b.k - first, BITS)):
                    distance = np.int64(0)
                    for i in range(NEAR):
                        distance |= (near[i] >> source & 1) << i
                    for i in range(NEAR, planes):
                        distance |= (b.planes[i * plane_words + row + word] >> source & 1) << i
                    b.distances[place] = distance if seen >> source & 1 != 0 else -1
                    place += b.n
            vertex += cuda.gridsize(1)

    return write


search_1, search_4, search_16 = (searcher(width) for width in WIDTHS)
write_1, write_4, write_16 = (writer(width) for width in WIDTHS)
