"""Bit-parallel BFS: many sources at once, on all cores.

Each vertex has a row of bits, one a source, 64 to a word. A level joins the rows of neighbours, so that an edge is
read once for all the sources that reach it at the same level; in a small world these are most of them.

*Top-down*: threads take blocks of the frontier, the vertices that any source reached at the last level, and OR the row
of each into its neighbours', without the sources that these have seen. A second pass records the vertices found.
*Bottom-up*: threads take blocks of all vertices; each that misses a source looks for it among the rows of its
in-neighbours, and stops when it has found all that are still in flight. A row belongs to one thread, so nothing here is
atomic. A level with few edges runs on the calling thread alone.

A level notes what it found in one of two forms. *Distances* are bit-sliced: word ``w`` of ``planes[p]`` holds bit p
of the distances of 64 sources, so a vertex writes a word or two per level whatever the number of sources; `write`
turns them into rows of distances. *Counts* of the vertices that each source reached at a level are
vertical counters: adding a row is eight steps of a carry over whole rows.

=======================================  =====================================================================
``rank[n]``                              a vertex's number, by which the arrays below are indexed
``active``                               vertices with in-edges; the others' numbers follow theirs
``offsets[n + 1], targets[m]``           out-edges
``in_offsets[n + 1], in_targets[m]``     in-edges (the same arrays if the graph is symmetric)
``valid``                                a tuple of words: the bits that stand for a source
``seen[n * width]``                      rows: sources that have reached the vertex, or may not enter it
``frontier, upcoming[n * width]``        rows: sources that reached it at the last level, and at this one
``stamps[n]``                            the last level whose frontier the vertex was put in
``queues[2, n]``                         the frontier's vertices and the next one's, while top-down
``buffers[threads, CAPACITY]``           vertices won, on their way into the queue
``under_way[threads * width]``           a row per thread: sources that reached any vertex at this level
``wanted[width]``                        a row: sources that reached any vertex at the last level
``planes[:, n * width]``                 bits of the distances; no plane if they are not wanted
``tallies[threads, TALLIES * width]``    vertical counters
``counts[threads, 64 * width]``          vertices by source; of length 0 if they are not wanted
``counters[COUNTERS]``                   shared by the threads: the next block to take, the end of the queue, sums
=======================================  =====================================================================

Sources: M. Then et al., The more the merrier: efficient multi-source graph traversal, PVLDB 8(4), 2014;
H. Liu, H. H. Huang, Y. Hu, iBFS: concurrent breadth-first search on GPUs, SIGMOD 2016, for going bottom-up. Bit-sliced
distances and counters are ours.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from .atomics import exchange, fetch_add, fetch_or
from .bits import ONE, WORD, bit_of
from .compiled import borrowing, serial
from .team import shared
from .vectors import (
    any_bit,
    choose,
    load_row,
    no_words,
    store_numbers,
    store_row,
    transpose_bytes,
    widen,
    word_at,
    words_of,
)

# Bottom-up when the frontier has more than 1/ALPHA of the edges into vertices that miss a source. Top-down, `MANY`
# threads that write to the same lines take longer for an edge.
ALPHA, MANY, ALPHA_OF_MANY = 4, 4, 8
SERIAL_EDGES = 1 << 13  # edges; one thread does a level with fewer
BLOCK = 64  # vertices that a thread takes at a time
CAPACITY = 1024  # vertices in a thread's buffer
CLEARED = 1 << 15  # elements that a thread sets to zero at a time
TILE = 16 * WORD  # vertices whose distances a thread writes at a time
BYTE = 8
TALLIES = 8  # bits of a vertical counter
FULL = (1 << TALLIES) - 1  # rows that it can add

NEXT_BLOCK, TAIL, EDGES, OPEN_EDGES, COUNTERS = 0, 8, 16, 17, 24  # elements of `counters`, cache lines apart

Batch = namedtuple(
    "Batch",
    "rank active offsets targets in_offsets in_targets seen frontier upcoming stamps queues buffers under_way wanted"
    " planes tallies counts counters",
)


@borrowing(shared)
def _expand(arguments, thread):
    """OR the rows of ``queue[:end]`` into their out-neighbours', a block at a time, and enqueue these."""
    b, valid, queue, end, upcoming_queue, level, alone, frontier, upcoming = arguments
    buffer = b.buffers[thread]
    width = len(valid)
    held = 0
    while True:
        start = fetch_add(b.counters, NEXT_BLOCK, BLOCK)
        if start >= end:
            break
        for position in range(start, min(start + BLOCK, end)):
            vertex = queue[position]
            row = load_row(frontier, vertex, valid)
            for edge in range(b.offsets[vertex], b.offsets[vertex + 1]):
                neighbor = b.targets[edge]
                there = load_row(upcoming, neighbor, row)
                new = row & ~(load_row(b.seen, neighbor, row) | there)
                if not any_bit(new):
                    continue
                if alone:
                    store_row(upcoming, neighbor, there | new)
                else:
                    for place in range(width):
                        word = word_at(new, place)
                        if word:
                            fetch_or(upcoming, neighbor * width + place, word)
                if not any_bit(there) and exchange(b.stamps, neighbor, np.int32(level)) != level:
                    if held == CAPACITY:
                        _spill(upcoming_queue, buffer, held, b.counters)
                        held = 0
                    buffer[held] = neighbor
                    held += 1
    _spill(upcoming_queue, buffer, held, b.counters)
    return 0


@borrowing(serial)
def _spill(queue, buffer, held, counters):
    tail = fetch_add(counters, TAIL, held)
    for i in range(held):
        queue[tail + i] = buffer[i]


@borrowing(serial)
def _note(b, valid, level, vertex, new, tally, held, counts):
    """Record that the sources in ``new`` reached the vertex; return the number of rows in the tally."""
    for plane in range(len(b.planes)):
        if level >> plane & 1:
            planes = b.planes[plane]
            store_row(planes, vertex, load_row(planes, vertex, new) | new)
    if len(counts) == 0:
        return 0
    carry = new
    for place in range(TALLIES):
        row = load_row(tally, place, new)
        store_row(tally, place, row ^ carry)
        carry = row & carry
    if held + 1 < FULL:
        return held + 1
    _empty(tally, counts)
    return 0


@borrowing(serial)
def _empty(tally, counts):
    """Add the vertical counters to ``counts`` and set them to zero."""
    words = len(counts) // WORD
    for place in range(TALLIES):
        for word in range(words):
            bits = tally[place * words + word]
            for i in range(WORD):
                counts[word * WORD + i] += np.int64(bits >> np.uint64(i) & ONE) << place
            tally[place * words + word] = 0


@borrowing(shared)
def _record(arguments, thread):
    """Record the sources that reached the vertices in ``queue[:end]``, a block at a time; return their out-edges."""
    b, valid, queue, end, level, upcoming = arguments
    counts, tally = b.counts[thread], b.tallies[thread]
    under_way = no_words(valid)
    edges = 0
    held = 0
    while True:
        start = fetch_add(b.counters, NEXT_BLOCK, BLOCK)
        if start >= end:
            break
        for position in range(start, min(start + BLOCK, end)):
            vertex = np.int64(queue[position])  # as `_sweep` has it: one `_note` for both
            new = load_row(upcoming, vertex, valid)
            store_row(b.seen, vertex, load_row(b.seen, vertex, new) | new)
            held = _note(b, valid, level, vertex, new, tally, held, counts)
            under_way = under_way | new
            edges += b.offsets[vertex + 1] - b.offsets[vertex]
    if held:
        _empty(tally, counts)
    store_row(b.under_way, thread, under_way)
    return edges


@borrowing(shared)
def _sweep(arguments, thread):
    """Let the vertices that miss a source in flight look for it, a block at a time; return how many found any.

    Counts their out-edges, and the in-edges of those that still miss one.
    """
    b, valid, level, frontier, upcoming = arguments
    counts, tally = b.counts[thread], b.tallies[thread]
    n = b.active
    wanted = load_row(b.wanted, 0, valid)
    nothing = no_words(wanted)
    under_way = nothing
    found = 0
    edges = 0
    open_edges = 0
    held = 0
    while True:
        start = fetch_add(b.counters, NEXT_BLOCK, BLOCK)
        if start >= n:
            break
        for vertex in range(start, min(start + BLOCK, n)):
            seen = load_row(b.seen, vertex, wanted)
            missing = wanted & ~seen
            new = nothing
            if any_bit(missing):
                first, last = b.in_offsets[vertex], b.in_offsets[vertex + 1]
                for edge in range(first, last):
                    new = new | load_row(frontier, b.in_targets[edge], new)
                    if not any_bit(missing & ~new):
                        break
                new = new & missing
                if any_bit(missing & ~new):
                    open_edges += last - first
                if any_bit(new):
                    store_row(b.seen, vertex, seen | new)
                    held = _note(b, valid, level, vertex, new, tally, held, counts)
                    under_way = under_way | new
                    found += 1
                    edges += b.offsets[vertex + 1] - b.offsets[vertex]
            store_row(upcoming, vertex, new)
    if held:
        _empty(tally, counts)
    store_row(b.under_way, thread, under_way)
    fetch_add(b.counters, EDGES, edges)
    fetch_add(b.counters, OPEN_EDGES, open_edges)
    return found


@borrowing(shared)
def _to_queue(arguments, thread):
    """Put the vertices whose row is not empty into the queue, a block at a time."""
    b, valid, frontier, queue = arguments
    n = b.active
    while True:
        start = fetch_add(b.counters, NEXT_BLOCK, BLOCK)
        if start >= n:
            break
        stop = min(start + BLOCK, n)
        held = 0
        for vertex in range(start, stop):
            held += any_bit(load_row(frontier, vertex, valid))
        tail = fetch_add(b.counters, TAIL, held)
        for vertex in range(start, stop):
            if any_bit(load_row(frontier, vertex, valid)):
                queue[tail] = vertex
                tail += 1
    return 0


@borrowing(shared)
def _clear(arguments, thread):
    flat, counters = arguments
    while True:
        start = fetch_add(counters, NEXT_BLOCK, CLEARED)
        if start >= len(flat):
            return 0
        flat[start : start + CLEARED] = 0


@serial
def clear(array, counters, team, threads):
    """Fill ``array``, of any shape, with zeros."""
    counters[NEXT_BLOCK] = 0
    _clear(team, threads, (array.reshape(-1), counters))


@borrowing(serial)
def _start(b, sources, queue):
    """Put the sources into the frontier; return how many vertices they are, and their out-edges."""
    width = len(b.wanted)
    size = 0
    edges = 0
    b.wanted[:] = 0
    for i in range(len(sources)):
        source = sources[i]
        seen = b.seen[source * width : (source + 1) * width]
        if not seen.any():
            queue[size] = source
            size += 1
            edges += b.offsets[source + 1] - b.offsets[source]
        seen[i // WORD] |= bit_of(i)
        b.frontier[source * width + i // WORD] |= bit_of(i)
        b.wanted[i // WORD] |= bit_of(i)
    return size, edges


@borrowing(serial)
def _end_level(b, level, summary, threads):
    """Gather the results of all threads: the sources that are in flight, and the summary's sums."""
    width = len(b.wanted)
    b.wanted[:] = 0
    for thread in range(threads):
        for place in range(width):
            b.wanted[place] |= b.under_way[thread * width + place]
            b.under_way[thread * width + place] = 0
    counts = b.counts
    for source in range(counts.shape[1]):
        count = 0
        for thread in range(threads):
            count += counts[thread, source]
            counts[thread, source] = 0
        if count:
            summary.reached[source] += count
            summary.total[source] += level * count
            summary.eccentricity[source] = level
            summary.harmonic[source] += count / level


@njit(inline="always")
def _level_top_down(b, valid, level, queue, size, upcoming_queue, frontier, upcoming, team, threads):
    """Expand the frontier ``queue[:size]``; return the size of the next one and its out-edges."""
    b.counters[NEXT_BLOCK] = b.counters[TAIL] = 0
    _expand(team, threads, (b, valid, queue, size, upcoming_queue, level, threads == 1, frontier, upcoming))
    nothing = no_words(valid)
    for position in range(size):
        store_row(frontier, queue[position], nothing)
    size = b.counters[TAIL]
    b.counters[NEXT_BLOCK] = 0
    return size, _record(team, threads, (b, valid, upcoming_queue, size, level, upcoming))


@borrowing(serial)
def search(b, valid, sources, masked, depth_limit, summary, team, threads):
    """Search from up to 64 * width ``sources``, not entering the vertices ``masked``; return the number of levels.

    Bits of the distances are in ``planes``, if there are any; ``summary`` is complete if ``counts`` are there. A source
    may be given more than once.
    """
    n, m = b.active, len(b.targets)
    for rows in b.seen, b.frontier, b.upcoming:
        clear(rows, b.counters, team, threads)
    b.stamps[:] = 0
    for vertex in masked:
        store_row(b.seen, vertex, words_of(valid))
    frontier, upcoming = b.frontier, b.upcoming
    queue, upcoming_queue = b.queues[0], b.queues[1]
    size, edges = _start(b, sources, queue)
    alpha = ALPHA if threads < MANY else ALPHA_OF_MANY
    open_edges = m
    level = 0
    was_bottom_up = False
    while size > 0 and level < depth_limit:
        level += 1
        bottom_up = edges > (open_edges + n) // alpha
        if bottom_up:
            b.counters[NEXT_BLOCK] = b.counters[EDGES] = b.counters[OPEN_EDGES] = 0
            deserved = threads if n + open_edges >= SERIAL_EDGES else 1
            size = _sweep(team, deserved, (b, valid, level, frontier, upcoming))
            edges, open_edges = b.counters[EDGES], b.counters[OPEN_EDGES]
        else:
            deserved = threads if edges >= SERIAL_EDGES else 1
            if was_bottom_up:
                b.counters[NEXT_BLOCK] = b.counters[TAIL] = 0
                _to_queue(team, threads, (b, valid, frontier, queue))
                clear(upcoming, b.counters, team, threads)
            size, edges = _level_top_down(
                b, valid, level, queue, size, upcoming_queue, frontier, upcoming, team, deserved
            )
            queue, upcoming_queue = upcoming_queue, queue
        frontier, upcoming = upcoming, frontier
        was_bottom_up = bottom_up
        _end_level(b, level, summary, threads)
    for vertex in masked:
        store_row(b.seen, vertex, no_words(valid))
    return level


@borrowing(serial)
def _load_columns(rows, rank, first, width, word, columns):
    """Sort the bytes of a column of words, those of `TILE` vertices from ``first`` on, for `choose`.

    Of each 64 vertices the 64 lowest bytes come first, the bits of sources 0 to 7, then the next ones.
    """
    last = len(rank) - 1
    for i in range(0, min(TILE, last + 1 - first), BYTE):
        v = first + i
        bytes = transpose_bytes(
            words_of(
                (
                    rows[rank[v] * width + word],
                    rows[rank[min(v + 1, last)] * width + word],
                    rows[rank[min(v + 2, last)] * width + word],
                    rows[rank[min(v + 3, last)] * width + word],
                    rows[rank[min(v + 4, last)] * width + word],
                    rows[rank[min(v + 5, last)] * width + word],
                    rows[rank[min(v + 6, last)] * width + word],
                    rows[rank[min(v + 7, last)] * width + word],
                )
            )
        )
        place = i // WORD * WORD + i % WORD // BYTE
        for byte in range(BYTE):
            columns[place + BYTE * byte] = word_at(bytes, byte)


@njit(inline="always")
def _write_tile(b, width, first, seen, planes, ragged, distances):
    """Turn the planes of `TILE` vertices from ``first`` on into distances."""
    k, n = distances.shape
    bits = len(planes)
    for word in range((k + WORD - 1) // WORD):
        _load_columns(b.seen, b.rank, first, width, word, seen)
        for plane in range(bits):
            _load_columns(b.planes[plane], b.rank, first, width, word, planes[plane])
        for i in range(min(WORD, k - word * WORD)):
            row = distances[word * WORD + i]
            for start in range(0, min(TILE, n - first), WORD):
                place, bit = start + i // BYTE * BYTE, i % BYTE
                low = choose(seen, place, bit, 0, -1)
                for plane in range(min(bits, BYTE - 1)):
                    low = low | choose(planes[plane], place, bit, 1 << plane, 0)
                numbers = widen(low, 0)
                for plane in range(BYTE - 1, bits):
                    numbers = numbers | widen(choose(planes[plane], place, bit, 1, 0), plane)
                if first + start + WORD <= n:
                    store_numbers(row, first + start, numbers)
                else:
                    store_numbers(ragged, 0, numbers)
                    for vertex in range(first + start, n):
                        row[vertex] = ragged[vertex - first - start]


@shared
def _write_tiles(arguments, thread):
    b, width, bits, distances = arguments
    seen = np.empty(TILE, np.uint64)
    planes = np.empty((bits, TILE), np.uint64)
    ragged = np.empty(WORD, np.int32)
    while True:
        first = fetch_add(b.counters, NEXT_BLOCK, TILE)
        if first >= distances.shape[1]:
            return 0
        _write_tile(b, width, first, seen, planes, ragged, distances)


@borrowing(serial)
def write(b, levels, distances, team, threads):
    """Turn the planes of a search of so many levels into ``distances[k, n]``, int32, -1 where a source is not."""
    bits = 0
    while bits < len(b.planes) and levels >> bits:
        bits += 1
    b.counters[NEXT_BLOCK] = 0
    _write_tiles(team, threads, (b, len(b.wanted), bits, distances))
