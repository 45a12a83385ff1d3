"""Betweenness: shortest paths through each vertex or arc, from many sources at once, in one cooperative launch.

The twin of ``betweenness.cu``, function by function; what the algorithm is, what each array holds, what a level costs
and why no race does harm stand there. Here is what differs in Numba-CUDA.

Everything that a launch needs comes as one named tuple, whose fields are the kernel's arguments one by one, see
``direction_optimizing.py``. Words are signed integers, whose bits are the same. `state` has plain elements of 64 bits
at the places below. A piece is two integers of the type of an offset, the second a vertex; beside one of fewer bits
lies nothing of meaning. A hit is two integers of 64 bits, its sources, and its place times 32 plus its owner. A pair of
numbers is two variables. What a lane has under way is in arrays of registers.

Sources: as in ``betweenness.cu``.
"""

import math
from collections import namedtuple

import numpy as np
from numba import cuda
from numba.cuda import types

from ..batch import BITS, PIECE
from ..brandes import NUMBERS, POINTERS, TURNS
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
    fetch_add_ordered,
    fetch_exchange,
    fetch_or,
    like,
    load_pair,
    load_read_only,
    load_shared_by_blocks,
    pointer_into,
    registers,
    store_pair,
)

UNROLL = 4  # rows that a warp has under way at a time
SLOTS = 4  # levels whose counters are kept; a power of two
WARPS = 16  # of a block, at most
ROOM = WARP + UNROLL  # hits of a warp
SHARES = WARPS * ROOM
HITS = 2 * SHARES
LANE_BITS = 5

# Elements of `state`, those that all blocks ask for in lines of their own. They are the first of SLOTS: a level counts
# into the slot level % SLOTS, which is emptied a level before.
FOUND, LOGGED, ARCS = 16, 32, 48

Batch = namedtuple("Batch", POINTERS + NUMBERS)

# What a lane holds: a place or a piece of it (then `slot` is where it is in the arrays of partials, else -1), the
# sources that it is about (none: there is nothing to do), the first of its arcs and how many there are.
Item = namedtuple("Item", ("place", "bits", "begin", "arcs", "slot"))


def argument_types(vertex, offset):
    """The types of the fields of `Batch`, for Numba's types of a vertex and an offset."""
    known = {
        **dict.fromkeys(("targets", "in_targets", "sources", "found", "log"), vertex),
        **dict.fromkeys(("offsets", "in_offsets", "pieces", "in_pieces"), offset),
        **dict.fromkeys(("rows", "partials", "sums", "scores"), types.float64),
        "is_target": types.int8,
    }
    return [*(types.CPointer(known.get(name, types.int64)) for name in POINTERS), *(types.int64 for _ in NUMBERS)]


def signatures(vertex_bytes, offset_bytes):
    """The types of the kernel's arguments, for vertices and offsets of so many bytes."""
    vertex, offset = (types.int32 if each == 4 else types.int64 for each in (vertex_bytes, offset_bytes))
    return {"betweenness": (types.NamedTuple(argument_types(vertex, offset), Batch),)}


@inlined
def front(b, level):
    """The sources whose distance is the level, by place."""
    return behind(b.fronts, (level & TURNS - 1) * (b.n << b.shift))


@inlined
def word_of(b, place):
    return place & (1 << b.shift) - 1


@inlined
def neighbor_of(b, vertex, place):
    """The place of a vertex that has the same sources as ``place``."""
    return np.int64(vertex) << b.shift | word_of(b, place)


@inlined
def sources_of(b, place):
    """The sources that there are in a place's word."""
    count = b.k - word_of(b, place) * BITS
    if count >= BITS:
        return np.int64(-1)
    if count > 0:
        return (np.int64(1) << count) - 1
    return np.int64(0)


@inlined
def low_of(bits):
    """Is the source of this lane among them?"""
    return np.int32(bits) & np.int32(1 << lane_id()) != 0


@inlined
def high_of(bits):
    """Is the source of number lane + 32?"""
    return np.int32(bits >> WARP) & np.int32(1 << lane_id()) != 0


@inlined
def load_low(rows, row, bits):
    """The number of this lane's source in a row, 0 if it is not among these."""
    number = 0.0
    if low_of(bits):
        number = rows[row * BITS + lane_id()]
    return number


@inlined
def load_high(rows, row, bits):
    number = 0.0
    if high_of(bits):
        number = rows[row * BITS + WARP + lane_id()]
    return number


@inlined
def store_numbers(rows, row, bits, low, high):
    if low_of(bits):
        rows[row * BITS + lane_id()] = low
    if high_of(bits):
        rows[row * BITS + WARP + lane_id()] = high


@inlined
def sum_of_warp(value):
    for step in range(5):
        value += cuda.shfl_xor_sync(ALL, value, 16 >> step)
    return value


@inlined
def append(state, tail, keep, value, values):
    """Append the lanes' values that are to be kept; element ``tail`` of the state counts what is behind ``values``."""
    keepers = ballot(keep)
    start = np.int64(0)
    if keepers != 0:
        if lane_id() == 0:
            start = fetch_add(state, tail, np.int64(count_of(keepers)))
        start = from_lane(start, 0) + count_of(keepers & lanes_below())
        if keep:
            values[start] = value
    return start


@inlined
def owner_of(start, step):
    """The last lane whose steps start at or before this."""
    owner = np.int32(0)
    for i in range(5):
        half = 16 >> i
        if from_lane(start, owner + half) <= step:
            owner = np.int32(owner + half)
    return owner


@inlined
def no_item():
    return Item(np.int64(0), np.int64(0), np.int64(0), np.int32(0), np.int64(-1))


@inlined
def whole(b, offsets, place, bits):
    """A place with all its arcs, unless these are so many that it comes in pieces."""
    vertex = place >> b.shift
    begin = np.int64(load_read_only(offsets, vertex))
    arcs = load_read_only(offsets, vertex + 1) - begin
    if arcs > PIECE:
        bits, arcs = np.int64(0), np.int64(0)
    return Item(np.int64(place), np.int64(bits), begin, np.int32(arcs), np.int64(-1))


@inlined
def load_piece(b, pieces, slot):
    """The first arc of a piece, and whose it is."""
    begin, beside = load_pair(pieces, slot >> b.shift)
    return np.int64(begin), np.int64(like(b.targets, beside))


@inlined
def part(b, offsets, pieces, slot, words):
    """The piece at this slot, for the sources that ``words`` has at its place."""
    begin, vertex = load_piece(b, pieces, slot)
    place = neighbor_of(b, vertex, slot)
    arcs = min(load_read_only(offsets, vertex + 1) - begin, np.int64(PIECE))
    return Item(place, np.int64(words[place]), begin, np.int32(arcs), np.int64(slot))


@inlined
def missing(b, item):
    """The item, for those sources that it is not about."""
    bits = sources_of(b, item.place) & ~item.bits
    return Item(item.place, bits, item.begin, item.arcs, item.slot)


@inlined
def expand(b, item, level):
    """Few arcs, first phase: set the items' sources in their neighbours' words, and list the neighbours."""
    upcoming = front(b, level)
    length = item.arcs if item.bits != 0 else np.int32(0)
    upto = inclusive_scan_32(length)
    start, steps = np.int32(upto - length), from_lane(upto, WARP - 1)
    base = np.int32(0)
    while base < steps:
        step = np.int32(base + lane_id())
        owner = owner_of(start, step)
        place, bits = from_lane(item.place, owner), from_lane(item.bits, owner)
        arc = from_lane(item.begin, owner) + (step - from_lane(start, owner))
        neighbor = np.int64(0)
        first = False
        if step < steps:
            neighbor = neighbor_of(b, load_read_only(b.targets, arc), place)
            fresh = bits & ~(b.seen[neighbor] | load_shared_by_blocks(upcoming, neighbor))
            if fresh != 0:
                first = fetch_or(upcoming, neighbor, fresh) == 0
        append(b.state, FOUND + (level & SLOTS - 1), first, neighbor, b.found)
        base = np.int32(base + WARP)


@inlined
def join(b, offsets, pieces, slot, low, high, found):
    """Hand in what a piece adds up to. Whoever is the last of its place gets the sums of all; is it this warp?"""
    piece_begin, vertex = load_piece(b, pieces, slot)
    begin, end = np.int64(load_read_only(offsets, vertex)), np.int64(load_read_only(offsets, vertex + 1))
    first = slot - ((piece_begin - begin) // PIECE << b.shift)
    count = np.int32((end - begin + PIECE - 1) // PIECE)
    store_numbers(b.partials, slot, found, low, high)
    before = np.int64(0)
    if lane_id() == 0:
        b.partial_bits[slot] = found
    cuda.syncwarp()
    if lane_id() == 0:
        before = fetch_add_ordered(b.arrivals, first, np.int64(1))
    cuda.syncwarp()
    last = from_lane(before, 0) + 1 >= count
    if last:
        if lane_id() == 0:
            b.arrivals[first] = 0
        low, high, found = 0.0, 0.0, np.int64(0)
        lows, highs = registers(b.partials, UNROLL), registers(b.partials, UNROLL)
        base = np.int32(0)
        while base < count:
            bits = np.int64(0)
            if base + lane_id() < count:
                bits = b.partial_bits[first + (np.int64(base + lane_id()) << b.shift)]
            some = ballot(bits != 0)
            while some != 0:
                for i in range(UNROLL):
                    piece = lowest(some) if some != 0 else np.int32(0)
                    theirs = from_lane(bits, piece)
                    if some == 0:
                        theirs = np.int64(0)
                    found |= theirs
                    row = first + (np.int64(base + piece) << b.shift)
                    lows[i] = load_low(b.partials, row, theirs)
                    highs[i] = load_high(b.partials, row, theirs)
                    some = without_lowest(some)
                for i in range(UNROLL):
                    low += lows[i]
                    high += highs[i]
            base = np.int32(base + WARP)
    return last, low, high, found


@inlined
def pass_on(b, place, bits, target, paths_low, paths_high, low, high, level):
    """Pass on what a place has: its dependencies add up to ``low`` and ``high`` for each path.

    Returns what this is worth to the vertex, over the sources of this lane.
    """
    if low_of(bits):
        b.rows[place * BITS + lane_id()] = low + target / paths_low
    if high_of(bits):
        b.rows[place * BITS + WARP + lane_id()] = high + target / paths_high
    if level == 0:  # a source has one path to each target
        return math.floor(low + 0.5) + math.floor(high + 0.5) if b.endpoints != 0 else 0.0
    worth = cuda.fma(paths_low, low, paths_high * high)
    if b.endpoints != 0:
        if low_of(bits):
            worth += target
        if high_of(bits):
            worth += target
    return worth


def gatherer(back):
    @inlined
    def finish(b, item, targets, level, current, paths_low, paths_high, low, high, found, outcome):
        """The item of the lane ``current`` has ended: write its row, and tell that lane what it came to."""
        if current < 0:
            return outcome
        slot = from_lane(item.slot, current)
        last = True
        if slot >= 0:
            offsets, pieces = (b.offsets, b.pieces) if back else (b.in_offsets, b.in_pieces)
            last, low, high, found = join(b, offsets, pieces, slot, low, high, found)
        if last:
            place = from_lane(item.place, current)
            if back:
                bits = from_lane(item.bits, current)
                target = 1.0 if targets >> current & 1 else 0.0
                worth = pass_on(b, place, bits, target, paths_low, paths_high, low, high, level)
                if b.edges == 0:
                    worth = sum_of_warp(worth)
                    if lane_id() == current:
                        outcome = worth
            else:
                store_numbers(b.rows, place, found, low, high)
                if lane_id() == current:
                    outcome = found
        return outcome

    @inlined
    def share_of(b, shares, number, paths_low, paths_high, low, high):
        """What a hit adds to its arc, if arcs are counted."""
        if back and b.edges != 0:
            # The compiler may fuse either product with the sum, and not the same one in each place: it is said which.
            share = sum_of_warp(cuda.fma(paths_low, low, paths_high * high))
            if lane_id() == 0:
                shares[number] = share

    @inlined
    def gather(b, item, level, hits, shares):
        """Add up the rows of the neighbours at the level above, or at the level below if ``back``.

        An item's first step is the item itself, and it has ended when the next one's comes. Returns, in the lane that
        holds it, the sources that reached the place, or the sum of its dependencies if ``back``; 0 in those of pieces
        that were not the last.
        """
        if back:
            neighbors, beside = b.targets, front(b, level + 1)
            targets = ballot(item.bits != 0 and b.is_target[item.place >> b.shift] != 0)
            outcome = 0.0
        else:
            neighbors, beside = b.in_targets, front(b, level - 1)
            targets = np.int32(0)
            outcome = np.int64(0)
        lane = lane_id()
        current = np.int32(-1)  # the lane of the item under way
        paths_low, paths_high, low, high = 0.0, 0.0, 0.0, 0.0
        found = np.int64(0)
        bits_of, tags = registers(b.seen, UNROLL), registers(b.seen, UNROLL)
        lows, highs = registers(b.rows, UNROLL), registers(b.rows, UNROLL)

        length = np.int32(item.arcs + 1) if item.bits != 0 else np.int32(0)
        upto = inclusive_scan_32(length)
        start, steps = np.int32(upto - length), from_lane(upto, WARP - 1)
        first = np.int32(0)
        while first < steps:
            step = np.int32(first + lane)
            owner = owner_of(start, step)
            itself = step == from_lane(start, owner)
            place, sources = from_lane(item.place, owner), from_lane(item.bits, owner)
            arc = from_lane(item.begin, owner) + (step - from_lane(start, owner)) - 1
            bits = sources if back else np.int64(0)
            if step < steps and not itself:
                place = neighbor_of(b, load_read_only(neighbors, arc), place)
                bits = beside[place] & sources
            listed = step < steps and (itself or bits != 0)
            listing = ballot(listed)
            count, number = count_of(listing), count_of(listing & lanes_below())
            if listed:
                store_pair(hits, number, bits, place << LANE_BITS | owner)
            latest = from_lane(owner, np.int32(31 - cuda.clz(listing)))
            if lane < UNROLL:
                store_pair(hits, count + lane, np.int64(0), place << LANE_BITS | latest)  # bring nothing
            cuda.syncwarp()
            base = np.int32(0)
            while base < count:
                for i in range(UNROLL):
                    bits_of[i], tags[i] = load_pair(hits, base + i)
                    lows[i] = load_low(b.rows, tags[i] >> LANE_BITS, bits_of[i])
                    highs[i] = load_high(b.rows, tags[i] >> LANE_BITS, bits_of[i])
                if tags[UNROLL - 1] & WARP - 1 == current:
                    for i in range(UNROLL):
                        low += lows[i]
                        high += highs[i]
                        found |= bits_of[i]
                        share_of(b, shares, base + i, paths_low, paths_high, lows[i], highs[i])
                else:
                    i = base
                    while i < min(base + UNROLL, count):
                        holder = np.int32(tags[0] & WARP - 1)
                        if holder == current:
                            low += lows[0]
                            high += highs[0]
                            found |= bits_of[0]
                            share_of(b, shares, i, paths_low, paths_high, lows[0], highs[0])
                        else:
                            outcome = finish(
                                b, item, targets, level, current, paths_low, paths_high, low, high, found, outcome
                            )
                            current = holder
                            paths_low, paths_high, low, high = lows[0], highs[0], 0.0, 0.0
                            found = np.int64(0)
                        for j in range(UNROLL - 1):
                            bits_of[j], tags[j] = bits_of[j + 1], tags[j + 1]
                            lows[j], highs[j] = lows[j + 1], highs[j + 1]
                        i = np.int32(i + 1)
                base = np.int32(base + UNROLL)
            cuda.syncwarp()
            if back and b.edges != 0 and listed and not itself:
                b.sums[arc << b.shift | word_of(b, place)] += shares[number]
            first = np.int32(first + WARP)
        return finish(b, item, targets, level, current, paths_low, paths_high, low, high, found, outcome)

    return gather


gather_paths, gather_dependencies = gatherer(False), gatherer(True)


@inlined
def settle(b, place, found, level, tail):
    """Forward: what the lanes' items found becomes part of the level. Returns the out-edges of these places."""
    arcs = np.int64(0)
    entry = tail + append(b.state, LOGGED + (level & SLOTS - 1), found != 0, place, behind(b.log, tail))
    if found != 0:
        b.log_bits[entry] = found
        front(b, level)[place] = found
        b.seen[place] |= found
        vertex = place >> b.shift
        arcs += load_read_only(b.offsets, vertex + 1) - load_read_only(b.offsets, vertex)
    return arcs


@inlined
def forget(b, level):
    """Empty the front of a level."""
    words = front(b, level)
    end = b.begins[level + 1]
    i = b.begins[level] + cuda.grid(1)
    while i < end:
        words[b.log[i]] = 0
        i += cuda.gridsize(1)


@inlined
def zero(values, count, none):
    i = np.int64(cuda.grid(1))
    while i < count:
        values[i] = none
        i += cuda.gridsize(1)


@inlined
def end_phase(state, level, arcs, gathered, told):
    """Wait for all blocks, and learn what the level has so far: places found and logged, and arcs out of the latter."""
    arcs = sum_of_warp(arcs)
    if lane_id() == 0 and arcs != 0:
        fetch_add(gathered, 0, arcs)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        some = fetch_exchange(gathered, 0, np.int64(0))
        slot = level & SLOTS - 1
        if some != 0:
            fetch_add(state, ARCS + slot, some)
        grid_barrier(state)
        told[0] = load_shared_by_blocks(state, FOUND + slot)
        told[1] = load_shared_by_blocks(state, LOGGED + slot)
        told[2] = load_shared_by_blocks(state, ARCS + slot)
    cuda.syncthreads()
    return told[0], told[1], told[2]


@inlined
def place_of(b, i):
    return np.int64(b.sources[i]) << b.shift | i // BITS


def betweenness(b):
    told = cuda.shared.array(3, np.int64)
    gathered = pointer_into(cuda.shared.array(1, np.int64), 0, np.int64)  # arcs out of the places that the block logged
    all_hits = cuda.shared.array(HITS, np.int64, alignment=16)  # stored in pairs
    all_shares = cuda.shared.array(SHARES, np.float64)
    lane, warp_of_block = lane_id(), np.int64(cuda.threadIdx.x >> 5)
    hits = pointer_into(all_hits, warp_of_block * ROOM * 16, np.int64)
    shares = pointer_into(all_shares, warp_of_block * ROOM * 8, np.float64)
    thread, threads = np.int64(cuda.grid(1)), np.int64(cuda.gridsize(1))
    warps = np.int64(cuda.gridDim.x) * (cuda.blockDim.x >> 5)
    warp = warp_of_block * cuda.gridDim.x + cuda.blockIdx.x
    mine, stride = lane * warps + warp, WARP * warps  # neighbouring warps take neighbouring items
    places = b.n << b.shift
    scored = b.m if b.edges != 0 else b.n
    nothing = np.int64(0)

    if cuda.threadIdx.x == 0:
        gathered[0] = 0
    if thread < SLOTS:
        b.state[FOUND + thread] = 0
        b.state[LOGGED + thread] = 0
        b.state[ARCS + thread] = 0
    zero(b.seen, places, 0)
    zero(b.fronts, TURNS * places, 0)
    zero(b.sums, scored << b.shift, 0.0)
    zero(b.arrivals, max(b.piece_count, b.in_piece_count) << b.shift, 0)
    end_phase(b.state, 0, nothing, gathered, told)

    # Level 0. Of sources that share a place the first logs it.
    i = thread
    while i < b.k:
        b.rows[place_of(b, i) * BITS + i % BITS] = 1.0
        fetch_or(front(b, 0), place_of(b, i), np.int64(1) << i % BITS)
        i += threads
    end_phase(b.state, 0, nothing, gathered, told)
    arcs = np.int64(0)
    base = np.int64(0)
    while base + warp < b.k:
        i = base + mine
        place, found = np.int64(0), np.int64(0)
        if i < b.k:
            place = place_of(b, i)
            found = front(b, 0)[place]
            if found & (np.int64(1) << i % BITS) - 1 != 0:  # not the first
                found = np.int64(0)
        arcs += settle(b, place, found, 0, nothing)
        base += stride
    _, end, out = end_phase(b.state, 0, arcs, gathered, told)

    # Forward. Every thread keeps track of the levels on its own; the frontier is log[begin..end - 1].
    begin = np.int64(0)
    level = np.int64(0)
    while begin < end:
        if thread == 0:
            b.begins[level] = begin
        level += 1
        if thread == 0:
            slot = level + 1 & SLOTS - 1
            b.state[FOUND + slot] = 0
            b.state[LOGGED + slot] = 0
            b.state[ARCS + slot] = 0
        if level >= 3:
            forget(b, level - 3)  # the level after this one needs the room
        few = out * b.alpha <= b.m << b.shift
        count = places
        if few:
            light = end - begin
            base = np.int64(0)
            while base + warp < light + (b.piece_count << b.shift):
                i = base + mine
                item = no_item()
                if i < light:
                    item = whole(b, b.offsets, np.int64(b.log[begin + i]), b.log_bits[begin + i])
                elif i < light + (b.piece_count << b.shift):
                    item = part(b, b.offsets, b.pieces, i - light, front(b, level - 1))
                expand(b, item, level)
                base += stride
            count, _, _ = end_phase(b.state, level, nothing, gathered, told)
        arcs = np.int64(0)
        base = np.int64(0)
        while base + warp < count + (b.in_piece_count << b.shift):
            i = base + mine
            item = no_item()
            if i < count:
                place = np.int64(b.found[i]) if few else i
                bits = front(b, level)[place] if few else sources_of(b, place) & ~b.seen[place]
                item = whole(b, b.in_offsets, place, bits)
            elif i < count + (b.in_piece_count << b.shift):
                if few:
                    item = part(b, b.in_offsets, b.in_pieces, i - count, front(b, level))
                else:
                    item = missing(b, part(b, b.in_offsets, b.in_pieces, i - count, b.seen))
            found = gather_paths(b, item, level, hits, shares)
            arcs += settle(b, item.place, found, level, end)
            base += stride
        _, logged, out = end_phase(b.state, level, arcs, gathered, told)
        begin = end
        end += logged
    if thread == 0:
        b.begins[level] = end

    # Backward. The fronts are those of the last level that has any places, and of the one before.
    levels = level
    last = np.int64(0) if b.edges != 0 or b.endpoints != 0 else np.int64(1)
    level -= 1
    while level >= last:
        begin = b.begins[level]
        light = end - begin
        base = np.int64(0)
        while base + warp < light + (b.piece_count << b.shift):
            i = base + mine
            item = no_item()
            if i < light:
                item = whole(b, b.offsets, np.int64(b.log[begin + i]), b.log_bits[begin + i])
            elif i < light + (b.piece_count << b.shift):
                item = part(b, b.offsets, b.pieces, i - light, front(b, level))
            worth = gather_dependencies(b, item, level, hits, shares)
            if worth != 0:
                b.sums[item.place] += worth
            base += stride
        if level > 0:
            words = front(b, level - 1)
            i = b.begins[level - 1] + thread
            while i < begin:
                words[b.log[i]] = b.log_bits[i]
                i += threads
        if level + 2 < levels:
            forget(b, level + 2)
        end = begin
        end_phase(b.state, 0, nothing, gathered, told)
        level -= 1

    i = thread
    while i < scored:
        total = 0.0
        for word in range(1 << b.shift):
            total += b.sums[i << b.shift | word]
        b.scores[i] += total
        i += threads
