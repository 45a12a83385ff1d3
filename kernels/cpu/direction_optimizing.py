"""Direction-optimizing BFS on all cores.

*Top-down*: threads take blocks of the frontier from a queue; a neighbour is won by whoever sets its bit in the
bitmap ``visited``. It goes to a buffer of that thread's own, and from there its distance, predecessor and place in
the queue are written many at a time: an atomic waits for the writes before it. *Bottom-up*: threads take blocks of
64-vertex words; each unvisited vertex looks for a neighbour in the frontier's bitmap and stops at the first. It
looks at its ``hub`` first, the in-neighbour with the most out-edges; on skewed graphs few need to look further. A
word belongs to one thread, so nothing here is atomic. A level with few edges runs on the calling thread alone.

A top-down level costs one bit test per frontier edge and one atomic OR per vertex found; a bottom-up level at most
one bit test per edge into an unvisited vertex. A distance and a predecessor are written once per vertex and run.

====================================  ========================================================================
``offsets[n + 1], targets[m]``        out-edges
``in_offsets[n + 1], in_targets[m]``  in-edges (the same arrays if the graph is symmetric)
``hub[n]``                            the in-neighbour to look at first
``sourceless[words]``                 bitmap of the vertices without in-edges, which no level can find
``visited[words]``                    bitmap of the vertices found so far, and of the sourceless ones
``frontier[words], found[words]``     bitmaps of the level being expanded and of the next
``queue[n]``                          vertices in the order in which they were found; the frontier is a run of it
``buffers[threads, 2, CAPACITY]``     vertices won and their predecessors, on their way into the arrays
``counters[COUNTERS]``                what the threads share: the next block to take, the end of the queue
``notes[n + 1]``                      when each level ended, and its direction, if that is asked for
====================================  ========================================================================

Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, sections 3-5;
S. Beamer et al., The GAP benchmark suite, arXiv:1508.03619, for the parameters to start from. The hub is ours.
"""

import numpy as np
from numba import prange

from .atomics import fetch_add, fetch_or, prefetch
from .bits import LAST, ONE, WORD, bit_of, count_ones, lowest_one, word_of
from .clock import ticks
from .compiled import parallel, serial

ALPHA = 15  # bottom-up when the frontier has more than 1/ALPHA of the unexplored edges
BETA = 24  # top-down again when the frontier shrinks below 1/BETA of the vertices
# Where there is less to do than this, one thread does it: waking the others costs some microseconds, and on a busy
# machine the wait for the last of them a thousand times as much.
SERIAL_EDGES = 1 << 14  # of the frontier, top-down
SERIAL_WORDS = 1 << 11  # of a bitmap
QUEUE_BLOCK = 64  # frontier vertices that a thread takes at a time
WORD_BLOCK = 64  # bitmap words that a thread takes at a time
BATCH = 4  # in-neighbours that a vertex looks at at a time
CAPACITY = 1024  # vertices in a thread's buffer

NEXT_BLOCK, TAIL, COUNTERS = 0, 8, 16  # elements of `counters`, a cache line apart


@parallel
def prepare(offsets, in_offsets, in_targets, hub, sourceless):
    """Fill ``hub[n]`` and ``sourceless[words]``; the bits past the last vertex count as sourceless."""
    n = len(hub)
    for word in prange(len(sourceless)):
        bits = ~np.uint64(0)
        for vertex in range(word * WORD, min((word + 1) * WORD, n)):
            most = -1
            for edge in range(in_offsets[vertex], in_offsets[vertex + 1]):
                neighbor = in_targets[edge]
                degree = offsets[neighbor + 1] - offsets[neighbor]
                if degree > most:
                    most = degree
                    hub[vertex] = neighbor
            if most >= 0:
                bits &= ~bit_of(vertex)
        sourceless[word] = bits


@serial
def _top_down(offsets, targets, end, level, alone, visited, distances, predecessors, queue, buffer, counters):
    """Expand the frontier up to ``queue[end]``, a block at a time; return the out-edges of the vertices found."""
    held = 0
    edges = 0
    while True:
        start = fetch_add(counters, NEXT_BLOCK, QUEUE_BLOCK)
        if start >= end:
            break
        for position in range(start, min(start + QUEUE_BLOCK, end)):
            vertex = queue[position]
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                neighbor = targets[edge]
                word = word_of(neighbor)
                bit = bit_of(neighbor)
                if visited[word] & bit:
                    continue
                if alone:
                    visited[word] |= bit
                elif fetch_or(visited, word, bit) & bit:
                    continue
                if held == CAPACITY:
                    edges += _settle(offsets, level, distances, predecessors, queue, buffer, held, counters)
                    held = 0
                buffer[0, held] = neighbor
                buffer[1, held] = vertex
                held += 1
    return edges + _settle(offsets, level, distances, predecessors, queue, buffer, held, counters)


@serial
def _settle(offsets, level, distances, predecessors, queue, buffer, held, counters):
    """Write and enqueue the vertices in the buffer (row 0: vertices, row 1: predecessors); return their out-edges."""
    tail = fetch_add(counters, TAIL, held)
    edges = 0
    for i in range(held):
        vertex = buffer[0, i]
        queue[tail + i] = vertex
        distances[vertex] = level
        edges += offsets[vertex + 1] - offsets[vertex]
    if len(predecessors):
        for i in range(held):
            predecessors[buffer[0, i]] = buffer[1, i]
    return edges


@serial
def _first_hit(frontier, in_targets, start, stop):
    """The first of the edges ``start..stop - 1`` whose end is in the frontier, or -1.

    They are tested `BATCH` at a time: loads that do not wait for each other cost less than a branch guessed wrong.
    """
    edge = np.int64(start)
    while edge + BATCH <= stop:
        hits = np.uint64(0)
        for i in range(BATCH):
            neighbor = np.uint64(in_targets[edge + i])
            hits |= (frontier[word_of(neighbor)] >> (neighbor & LAST) & ONE) << np.uint64(i)
        if hits:
            return edge + np.int64(lowest_one(hits))
        edge += BATCH
    while edge < stop:
        neighbor = in_targets[edge]
        if frontier[word_of(neighbor)] & bit_of(neighbor):
            return edge
        edge += 1
    return np.int64(-1)


@serial
def _bottom_up(in_offsets, in_targets, hub, level, visited, frontier, found, distances, predecessors, counters):
    """Let unvisited vertices look for the frontier, a block of words at a time; return how many found it."""
    want_predecessors = len(predecessors) > 0
    total = 0
    while True:
        start = fetch_add(counters, NEXT_BLOCK, WORD_BLOCK)
        if start >= len(visited):
            break
        for word in range(start, min(start + WORD_BLOCK, len(visited))):
            first = np.uint64(word) * np.uint64(WORD)
            unvisited = ~visited[word]
            hits = np.uint64(0)
            left = unvisited
            while left:
                place = lowest_one(left)
                left &= left - ONE
                parent = np.uint64(hub[first + place])
                hits |= (frontier[word_of(parent)] >> (parent & LAST) & ONE) << place
            missed = unvisited & ~hits
            left = missed
            while left:
                vertex = first + lowest_one(left)
                left &= left - ONE
                prefetch(in_targets, in_offsets[vertex])
            left = hits
            while left:
                vertex = first + lowest_one(left)
                left &= left - ONE
                distances[vertex] = level
                if want_predecessors:
                    predecessors[vertex] = hub[vertex]
            left = missed
            while left:
                place = lowest_one(left)
                vertex = first + place
                left &= left - ONE
                edge = _first_hit(frontier, in_targets, in_offsets[vertex], in_offsets[vertex + ONE])
                if edge >= 0:
                    hits |= ONE << place
                    distances[vertex] = level
                    if want_predecessors:
                        predecessors[vertex] = in_targets[edge]
            found[word] = hits
            visited[word] |= hits
            total += count_ones(hits)
    return total


@serial
def _to_bitmap(queue, end, bitmap, counters):
    """Set the bits of the vertices up to ``queue[end]``, a block at a time."""
    while True:
        start = fetch_add(counters, NEXT_BLOCK, QUEUE_BLOCK)
        if start >= end:
            break
        for position in range(start, min(start + QUEUE_BLOCK, end)):
            vertex = queue[position]
            fetch_or(bitmap, word_of(vertex), bit_of(vertex))


@serial
def _to_queue(offsets, bitmap, queue, counters):
    """Append the vertices of the bitmap to the queue, a block of words at a time; return their out-edges."""
    edges = 0
    while True:
        start = fetch_add(counters, NEXT_BLOCK, WORD_BLOCK)
        if start >= len(bitmap):
            break
        stop = min(start + WORD_BLOCK, len(bitmap))
        held = 0
        for word in range(start, stop):
            held += count_ones(bitmap[word])
        tail = fetch_add(counters, TAIL, held)
        for word in range(start, stop):
            bits = bitmap[word]
            while bits:
                vertex = np.uint64(word) * np.uint64(WORD) + lowest_one(bits)
                bits &= bits - ONE
                edges += offsets[vertex + ONE] - offsets[vertex]
                queue[tail] = vertex
                tail += 1
    return edges


@serial
def _mark_unreached(visited, distances, predecessors, counters):
    """Write -1 wherever no level has written, a block of words at a time."""
    want_predecessors = len(predecessors) > 0
    while True:
        start = fetch_add(counters, NEXT_BLOCK, WORD_BLOCK)
        if start >= len(visited):
            break
        for word in range(start, min(start + WORD_BLOCK, len(visited))):
            bits = ~visited[word]
            while bits:
                vertex = np.uint64(word) * np.uint64(WORD) + lowest_one(bits)
                bits &= bits - np.uint64(1)
                distances[vertex] = -1
                if want_predecessors:
                    predecessors[vertex] = -1


@serial
def _copy(bitmap, other):
    for word in range(len(bitmap)):
        other[word] = bitmap[word]


@serial
def _clear(bitmap):
    for word in range(len(bitmap)):
        bitmap[word] = 0


@parallel
def search(
    offsets, targets, in_offsets, in_targets, hub, sourceless, sources, depth_limit, target,
    distances, predecessors, visited, frontier, found, queue, buffers, counters, threads, notes,
):  # fmt: skip
    """Fill ``distances[n]`` and, unless its length is 0, ``predecessors[n]``; return how many vertices are reached.

    ``sources`` are distinct. The search ends below ``depth_limit`` and after the level that reaches ``target``
    (-1: none). At sourceless vertices other than the sources nothing is written: what stands there must be -1.

    Unless their length is 0, ``notes[0]`` is when the first level begins and ``notes[level]`` when that one ends, in
    ticks of the clock, and in the lowest bit whether it was bottom-up. There are at most n levels.
    """
    small = threads == 1 or len(visited) < SERIAL_WORDS
    n = len(distances)
    want_predecessors = len(predecessors) > 0
    _copy(sourceless, visited)
    edges = 0
    for i in range(len(sources)):
        source = sources[i]
        if source == target:
            depth_limit = 0
        visited[word_of(source)] |= bit_of(source)
        distances[source] = 0
        if want_predecessors:
            predecessors[source] = -1
        queue[i] = source
        edges += offsets[source + 1] - offsets[source]

    if target >= 0 and sourceless[word_of(target)] & bit_of(target):
        target = -1  # its bit says nothing, and no level can find it

    begin, end = 0, len(sources)
    reached = size = end  # size: vertices in the frontier; edges: out-edges of the frontier, when top-down
    unexplored = len(targets)
    level = 0
    bottom_up = False
    if len(notes):
        notes[0] = ticks() << 1
    while size > 0 and level < depth_limit and not (target >= 0 and visited[word_of(target)] & bit_of(target)):
        level += 1
        if not bottom_up and edges > unexplored // ALPHA:
            bottom_up = True
            _clear(frontier)
            counters[NEXT_BLOCK] = begin
            if small:
                _to_bitmap(queue, end, frontier, counters)
            else:
                for _ in prange(threads):
                    _to_bitmap(queue, end, frontier, counters)

        direction = np.int64(bottom_up)
        if bottom_up:
            counters[NEXT_BLOCK] = 0
            if small:
                discovered = _bottom_up(
                    in_offsets, in_targets, hub, level, visited, frontier, found, distances, predecessors, counters
                )
            else:
                discovered = 0
                for _ in prange(threads):
                    discovered += _bottom_up(
                        in_offsets, in_targets, hub, level,
                        visited, frontier, found, distances, predecessors, counters,
                    )  # fmt: skip
            frontier, found = found, frontier
            if discovered < size and discovered < n // BETA:
                bottom_up = False
                counters[NEXT_BLOCK] = 0
                counters[TAIL] = end
                if small:
                    edges = _to_queue(offsets, frontier, queue, counters)
                else:
                    edges = 0
                    for _ in prange(threads):
                        edges += _to_queue(offsets, frontier, queue, counters)
                begin, end = end, counters[TAIL]
        else:
            unexplored -= edges
            counters[NEXT_BLOCK] = begin
            counters[TAIL] = end
            if threads == 1 or edges < SERIAL_EDGES:
                edges = _top_down(
                    offsets, targets, end, level, True,
                    visited, distances, predecessors, queue, buffers[0], counters,
                )  # fmt: skip
            else:
                edges = 0
                for thread in prange(threads):
                    edges += _top_down(
                        offsets, targets, end, level, False,
                        visited, distances, predecessors, queue, buffers[thread], counters,
                    )  # fmt: skip
            begin, end = end, counters[TAIL]
            discovered = end - begin
        size = discovered
        reached += discovered
        if len(notes):
            notes[level] = ticks() << 1 | direction

    counters[NEXT_BLOCK] = 0
    if small:
        _mark_unreached(visited, distances, predecessors, counters)
    else:
        for _ in prange(threads):
            _mark_unreached(visited, distances, predecessors, counters)
    return reached
