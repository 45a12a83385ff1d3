"""Deterministic: the tree and the order of a sequential queue, in one cooperative launch.

The twin of ``deterministic.cu``, function by function; what the algorithm is, what each array holds, what a level costs
and why no race does harm stand there. Its parts are in ``ordered_levels.py``, ``wide_levels.py`` and
``small_levels.py``. What differs in Numba-CUDA is said in ``direction_optimizing.py``; and here:

A rank has the bits that it has in CUDA C++, as a signed number. `state` has plain elements of 64 bits, at the places in
``ordered_levels.py`` and below.

Sources: as in ``deterministic.cu``.
"""

from collections import namedtuple

import numpy as np
from numba import cuda
from numba.cuda import types

from ..deterministic import FAMILY_BITS, GROWTH, MANY, NUMBERS, PHASE_BITS, PHASES, POINTERS, TURNS
from ..whole_search import LIST, TILE, TILES
from .cooperative import (
    WARP,
    bit_of,
    exclusive_scan_of_block,
    grid_barrier,
    inlined,
    is_reached,
    lane_id,
    of_turn,
    packed,
    report,
    slot_of,
    unpacked,
)
from .ordered_levels import (
    TARGET_LEVEL,
    Block,
    append,
    claim,
    claim_by_slot,
    clear_marks,
    run_length,
    run_of,
    settle_in_order,
)
from .pointers import (
    anew,
    behind,
    cluster_size,
    is_null,
    like,
    load_read_only,
    load_shared_by_blocks,
    nanoseconds,
    pointer_into,
    send_add,
    send_or,
    size_of,
    store_four,
    store_pair,
)
from .small_levels import go_alone, go_together
from .wide_levels import find_large_family, for_each, mark_level, sweep, trace_back

MOST_WARPS = 32  # of a block
BEGIN, SEED, ALONE, CLAIM, SETTLE, APPEND, FAMILIES, FIRST_EDGES, MERGE, SWEEP, REORDER, TOGETHER = range(len(PHASES))

# Elements of `state`, beside TARGET_LEVEL and those of the barrier: three tails, each turn counts into another;
# where the block that went alone has got, in turns of either parity: level, begin, vertices, edges, unexplored.
TAILS, FINISHED, PROGRESS, PROGRESS_SIZE = 16, 32, 48, 5

# What a block is told at the end of a turn, in shared memory, and how many elements that has; and how many turns it
# notes.
FOUND, TOLD_TARGET_LEVEL, NOTED, TOLD_PROGRESS, TOLD = 0, 1, 2, 3, 3 + PROGRESS_SIZE
FIRST = 1  # turn; the note of the one before is when the search began

Search = namedtuple("Search", POINTERS + NUMBERS)


def argument_types(vertex, offset):
    """The types of the fields of `Search`, for Numba's types of a vertex and an offset."""
    vertices = ("targets", "in_targets", "positions", "hub", "heavy", "slots", "queued", "predecessors", "sources")
    known = {
        **dict.fromkeys(vertices, vertex),
        **dict.fromkeys(("offsets", "in_offsets", "queue", "rank"), offset),
        **dict.fromkeys(("isolated", "visited", "other", "fresh", "marks", "distances"), types.int32),
        **dict.fromkeys(("counts", "state", "trace", "turns", "status"), types.int64),
        "family": types.uint8,
    }
    return [*(types.CPointer(known[name]) for name in POINTERS), *(types.int64 for _ in NUMBERS)]


def signatures(vertex_bytes, offset_bytes):
    """The types of the kernel's arguments, for vertices and offsets of so many bytes."""
    vertex, offset = (types.int32 if each == 4 else types.int64 for each in (vertex_bytes, offset_bytes))
    return {"search": (types.NamedTuple(argument_types(vertex, offset), Search),)}


@inlined
def progress_of(turn):
    return np.int32(PROGRESS + WARP // 2 * (turn & 1))


@inlined
def end_turn(s, phase, turn, told):
    """Wait for all blocks, and learn what was counted in this turn. The next one's tail is made ready meanwhile.

    Returns the next turn.
    """
    cuda.syncthreads()
    if anew(np.int32(cuda.threadIdx.x)) == 0:
        if cuda.blockIdx.x == 0:
            s.state[of_turn(TAILS, turn + 1)] = 0
        grid_barrier(s.state)
        if turn < told[NOTED]:
            s.turns[turn] = nanoseconds() << PHASE_BITS | phase
        told[FOUND] = load_shared_by_blocks(s.state, of_turn(TAILS, turn))
        told[TOLD_TARGET_LEVEL] = load_shared_by_blocks(s.state, TARGET_LEVEL)
        for i in range(PROGRESS_SIZE):
            told[TOLD_PROGRESS + i] = load_shared_by_blocks(s.state, progress_of(turn) + i)
    cuda.syncthreads()
    return np.int32(turn + 1)


@inlined
def leave(s, turn, level, begin, vertices, edges, unexplored):
    """Let all blocks know, at the end of this turn, where the search has got."""
    here = progress_of(turn)
    s.state[here] = level
    s.state[here + 1] = begin
    s.state[here + 2] = vertices
    s.state[here + 3] = edges
    s.state[here + 4] = unexplored


@inlined
def set_all(array, length):
    """Set every bit of so many elements, and on to the next multiple of 16 bytes."""
    words = pointer_into(array, 0, np.int32)
    i = cuda.grid(1)
    while i * 16 < length * size_of(array):
        store_four(words, i, -1, -1, -1, -1)
        i += cuda.gridsize(1)


@inlined
def seed(s, totals):
    """Let one block put the sources with out-edges into the queue. Returns how many they are, and their edges."""
    found = np.int64(0)
    start = np.int64(0)
    while start < s.count:
        here = start + cuda.threadIdx.x
        vertex = like(s.targets, 0)
        first, degree = like(s.offsets, 0), like(s.offsets, 0)
        if here < s.count:
            vertex = s.sources[here]
            first = load_read_only(s.offsets, vertex)
            degree = like(s.offsets, load_read_only(s.offsets, vertex + 1) - first)
            send_or(s.visited, vertex >> 5, bit_of(vertex))
            s.distances[vertex] = 0
            s.predecessors[vertex] = -1
        mine = np.int64(0)
        if degree > 0:
            mine = packed(1, degree, s.edge_bits)
        place, total = exclusive_scan_of_block(mine, totals)
        slot, prefix = unpacked(found + place, s.edge_bits)
        if here < s.count:
            s.rank[vertex] = slot
            s.family[vertex] = MANY
        if degree > 0:
            store_pair(s.queue, slot, prefix, first - prefix)
            s.queued[slot] = vertex
        found += total
        cuda.syncthreads()
        start += cuda.blockDim.x
    return unpacked(found, s.edge_bits)


@inlined
def reorder(s, before, visited, family, level, ages, begin, vertices, edges, turn, told, block):
    """Put the last level in order, after ``ages`` levels without one: the last ordered one stands behind ``begin``.

    Returns where the last level begins in the queue, its vertices and edges, and the next turn.
    """
    base = np.int32(level - ages)  # the last ordered level
    trace_back(s, before, visited, level, base, block)
    age = base
    while age < level:
        age = np.int32(age + 1)
        run = run_of(s, begin, vertices, edges, np.int64(0), edges, block)
        clear_marks(s, run, block)
        turn = end_turn(s, REORDER, turn, told)
        mark_level(s, family, age, begin, run_length(edges, block), block)
        turn = end_turn(s, REORDER, turn, told)
        begin += vertices
        vertices, edges = append(s, run, block)
        turn = end_turn(s, REORDER, turn, told)
    words = s.n + WARP - 1 >> 5
    word = cuda.grid(1)
    while word < words:
        s.fresh[word] = 0
        word += cuda.gridsize(1)
    return begin, vertices, edges, turn


@inlined
def merge(s, visited, other):
    """Fill ``other`` with what is visited or was reached in this level so far."""
    words = s.n + WARP - 1 >> 5
    word = cuda.grid(1)
    while word < words:
        other[word] = visited[word] | s.fresh[word]
        word += cuda.gridsize(1)


@inlined
def last_of(s, word, bitmap):
    """Who is not in the bitmap; and the first bitmap becomes that of the next search."""
    bits = bitmap[word]
    s.visited[word] = load_read_only(s.isolated, word)
    return np.int32(~bits)


@inlined
def is_unreached(s, vertex, bitmap):
    s.distances[vertex] = -1
    s.predecessors[vertex] = -1


clear_unreached = for_each(last_of, is_unreached)


def search(s):
    memory = cuda.shared.array(0, np.int8, alignment=16)
    told = cuda.shared.array(TOLD, np.int64)
    totals = pointer_into(cuda.shared.array(WARP, np.int64), 0, np.int64)
    bases = pointer_into(cuda.shared.array(MOST_WARPS, np.int64), 0, np.int64)
    warp, warps = np.int32(cuda.threadIdx.x >> 5), np.int32(cuda.blockDim.x >> 5)  # of the block
    block = Block(
        np.int32(warp * cuda.gridDim.x + cuda.blockIdx.x),  # neighbouring warps on different multiprocessors
        np.int32(cuda.gridDim.x * warps),
        pointer_into(memory, warps * TILES * TILE * 4 + warp * LIST * 2, np.uint16),
        pointer_into(memory, warp * TILES * TILE * 4, s.visited),
        totals,
        bases,
    )
    words = s.n + WARP - 1 >> 5
    cluster = cluster_size()

    if cuda.threadIdx.x == 0:
        told[NOTED] = 0
        if cuda.blockIdx.x == 0:
            s.state[TARGET_LEVEL] = 0
            if not is_null(s.trace):
                s.trace[0] = nanoseconds() * 2
            if not is_null(s.turns):
                told[NOTED] = TURNS
                s.turns[0] = nanoseconds() << PHASE_BITS | BEGIN
    turn = np.int32(FIRST)
    # The levels. Every thread follows them in variables of its own.
    visited, other = s.visited, s.other
    family, other_family = s.family, behind(s.family, words * WARP)
    vertices, edges = np.int64(0), np.int64(0)  # of the last frontier with an order
    begin = np.int64(0)  # of that in the queue
    reached = np.int64(0)  # by the last level; those without edges may be left out
    unexplored = s.m
    level = np.int32(0)
    ages = np.int32(0)  # levels since the last one with an order
    # The first turn seeds. A search is given up after as many levels as vertices, if each reaches one
    # and the last none.
    while turn == FIRST or (reached > 0 and level < s.depth_limit and level <= s.n):
        if turn != FIRST and is_reached(told[TOLD_TARGET_LEVEL], level):
            break
        if ages == s.patience:
            begin, vertices, edges, turn = reorder(
                s, other, visited, family, level, ages, begin, vertices, edges, turn, told, block
            )
            ages = np.int32(0)
            reached = vertices
            turn = end_turn(s, REORDER, turn, told)
            continue
        if turn == FIRST or (ages == 0 and edges <= (s.together if cluster > 1 else s.alone)):
            size = np.int32(1)
            if edges > s.alone:
                size = cluster
            if cuda.blockIdx.x < size:
                if turn == FIRST:
                    vertices, edges = seed(s, totals)
                after = begin + vertices
                if size > 1:
                    level, vertices, edges, unexplored = go_together(
                        s, visited, family, level, begin, vertices, edges, unexplored, size, memory, totals
                    )
                elif vertices > 0 and edges <= s.alone and level < s.depth_limit:
                    level, vertices, edges, unexplored = go_alone(
                        s, visited, family, level, begin, vertices, edges, unexplored, memory, totals
                    )
                else:
                    after = begin  # the frontier is where it was
                if cuda.grid(1) == 0:
                    leave(s, turn, level, after, vertices, edges, unexplored)
            phase = np.int32(TOGETHER)
            if size == 1:
                phase = np.int32(ALONE)
            if turn == FIRST:
                phase = np.int32(SEED)
            turn = end_turn(s, phase, turn, told)
            level = np.int32(told[TOLD_PROGRESS])
            begin = told[TOLD_PROGRESS + 1]
            vertices, edges = told[TOLD_PROGRESS + 2], told[TOLD_PROGRESS + 3]
            unexplored = told[TOLD_PROGRESS + 4]
            reached = vertices
            continue

        level = np.int32(level + 1)
        wide = ages > 0 or (edges >= s.wide and edges > unexplored // s.alpha)
        if ages == 0:
            unexplored -= edges
        if not wide:
            run = run_of(s, begin, vertices, edges, np.int64(0), edges, block)
            clear_marks(s, run, block)
            claim(s, visited, run)
            turn = end_turn(s, CLAIM, turn, told)
            settle_in_order(s, visited, family, level, begin, vertices, edges, block)
            turn = end_turn(s, SETTLE, turn, told)
            begin += vertices
            vertices, edges = append(s, run, block)
            reached = vertices
            turn = end_turn(s, APPEND, turn, told)
        else:
            last = np.int64(0)  # of the first edges
            foremost = np.int32(0)
            if ages == 0:
                before_large = edges
                if is_null(s.positions):
                    tail = of_turn(TAILS, turn)
                    find_large_family(s, family, begin, vertices, edges, unexplored // s.large, tail)
                    turn = end_turn(s, FAMILIES, turn, told)
                    before_large -= told[FOUND] >> FAMILY_BITS
                    foremost = np.int32(told[FOUND] & (1 << FAMILY_BITS) - 1)
                share = unexplored // s.share
                if before_large < edges:
                    share = 2 * unexplored // s.share
                last = min(max(share, s.chunk), before_large)
                last = min(edges, last + WARP - 1 >> 5 << 5)
                start, to = np.int64(0), min(last, max((last // (GROWTH * GROWTH * WARP) + 1) * WARP, s.chunk))
                reached_so_far = visited
                while start < last:
                    if start > 0:
                        merge(s, visited, other)
                        turn = end_turn(s, MERGE, turn, told)
                        reached_so_far = other
                    run = run_of(s, begin, vertices, edges, start, to, block)
                    claim_by_slot(s, reached_so_far, run)
                    turn = end_turn(s, FIRST_EDGES, turn, told)
                    start, to = to, min(last, GROWTH * to)
                if last < before_large:  # who has the first edge left?
                    foremost = np.int32(family[s.queued[begin + slot_of(s.queue, begin, vertices, last)]])
            complete = ages == 0 and last == edges
            by_warp = sweep(
                s, visited, other, family, other_family, level, anew(ages), begin, last > 0, complete, foremost, block
            )
            mine = np.int64(0)
            if lane_id() == 0:
                mine = by_warp
            _, by_block = exclusive_scan_of_block(mine, totals)
            if cuda.threadIdx.x == 0 and by_block > 0:
                send_add(s.state, of_turn(TAILS, turn), by_block)
            turn = end_turn(s, SWEEP, turn, told)
            reached = told[FOUND]
            visited, other = other, visited
            family, other_family = other_family, family
            ages = np.int32(ages + 1)
        if not is_null(s.trace) and cuda.grid(1) == 0:
            s.trace[level] = nanoseconds() * 2 + wide

    # End: whatever was not visited is unreached. The next search begins with the isolated vertices visited alone.
    clear_unreached(s, block, visited)
    report(s.state, FINISHED, s.status, s.number, level, level > s.n)
    set_all(s.rank, s.n)  # while the host goes on
    set_all(s.family, 2 * words * WARP)
