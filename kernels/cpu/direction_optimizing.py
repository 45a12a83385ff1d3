"""Direction-optimizing BFS, by a team of threads.

Levels with few edges are left to the textbook queue, on the calling thread: grids and paths have no others. Threads of
the `team` take the blocks of any other; their number grows with the work of the level. A level goes bottom-up if that
costs less by estimate, `_bottom_up_pays`. The search ends when nothing is left to be found.

*Top-down*: threads take blocks of the frontier from a queue; the thread that sets a neighbour's bit in the
bitmap ``visited`` wins it. It goes to that thread's own buffer, and from there its distance, predecessor and place in
the queue are written many at a time: an atomic waits for the writes before it. *Bottom-up*: threads take blocks of
64-vertex words; each unvisited vertex looks for a neighbour in the frontier's bitmap and stops at the first. It
looks at its ``hub`` first, the in-neighbour with the most out-edges; on skewed graphs few need to look further. A
word belongs to one thread, so nothing here is atomic.

A top-down level costs one bit test per frontier edge and one atomic OR per vertex found; a bottom-up level at most
one bit test per edge into an unvisited vertex. A distance and a predecessor are written once per vertex and run.
Indices are unsigned: Numba tests signed ones, which may count from the end.

====================================  ========================================================================
``offsets[n + 1], targets[m]``        out-edges
``most``                              out-edges that a vertex has, at most
``in_offsets[n + 1], in_targets[m]``  in-edges (the same arrays if the graph is symmetric)
``hub[n]``                            the in-neighbour to probe first
``sourceless[words]``                 bitmap of the vertices without in-edges, which no level can find
``masked[words]``                     bitmap of the vertices that the search does not enter, or of length 0
``visited[words]``                    bitmap of the vertices found so far, of the sourceless and of the masked ones
``frontier[words], found[words]``     bitmaps of the level being expanded and of the next
``queue[n]``                          vertices in the order in which they were found; the frontier is a run of it
``buffers[threads, 2, CAPACITY]``     vertices won and their predecessors, on their way into the arrays
``counters[COUNTERS]``                shared by the threads: the next block to take, the end of the queue; and how many
                                      sources the last search had, which begin the queue
``notes[n + 1]``                      when each level ended, and its direction, if wanted
====================================  ========================================================================

Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, sections 3-5;
S. Beamer et al., The GAP benchmark suite, arXiv:1508.03619, for the estimates' origin. The hub is ours.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from .atomics import fetch_add, fetch_or, prefetch
from .bits import LAST, ONE, WORD, bit_of, count_ones, lowest_one, word_of
from .clock import ticks
from .compiled import borrowing, serial
from .sequential import expand, prefetch_ahead
from .team import shared

# What an edge of the frontier costs top-down, and a vertex bottom-up besides its probes, in probes. Threads help little
# top-down: an edge counts as often as there are threads, up to so many.
EDGE, VERTEX, MOST_COUNTED = 4, 2, 16
# Portions of work: there are no more threads than portions, and only one for fewer than `FEW`, which it finishes before
# the others wake up.
FEW = 2
EDGES = 1 << 12  # of the frontier, top-down
LINES = 1 << 10  # words of the bitmap, top-down: threads contend for the cache lines of a smaller one
WORDS = 1 << 9  # bottom-up
WORDS_READ = 1 << 12  # where bits are only read
LEAST_SHARED = FEW * min(LINES, WORDS, WORDS_READ)  # words of the bitmap; a search of fewer has one thread
QUEUE_BLOCK = 256  # frontier vertices that a thread takes at a time
BLOCKS = 8  # of a level for each thread, if that makes blocks smaller
WORD_BLOCK = 64  # bitmap words that a thread takes at a time
BATCH = np.uint64(4)  # in-neighbours that are probed at a time
CAPACITY = 1024  # vertices in a thread's buffer

NEXT_BLOCK, TAIL, SOURCES, COUNTERS = 0, 8, 16, 24  # elements of `counters`, a cache line apart

Search = namedtuple(
    "Search",
    "offsets targets most in_offsets in_targets hub visited frontier found distances predecessors queue buffers"
    " counters",
)


@borrowing(shared)
def _find_hubs(arguments, thread):
    offsets, in_offsets, in_targets, hub, sourceless, counters = arguments
    while True:
        start = fetch_add(counters, NEXT_BLOCK, WORD_BLOCK)
        if start >= len(sourceless):
            break
        for word in range(start, min(start + WORD_BLOCK, len(sourceless))):
            bits = ~np.uint64(0)
            for vertex in range(word * WORD, min((word + 1) * WORD, len(hub))):
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
    return 0


@borrowing(serial)
def prepare(offsets, in_offsets, in_targets, hub, sourceless, counters, team, threads):
    """Fill ``hub[n]`` and ``sourceless[words]``; the bits past the last vertex count as sourceless."""
    counters[NEXT_BLOCK] = 0
    _find_hubs(team, threads, (offsets, in_offsets, in_targets, hub, sourceless, counters))


@borrowing(shared)
def _top_down(arguments, thread):
    """Expand ``queue[:end]`` from the next block on; return the out-edges of the vertices found."""
    s, end, level, block = arguments
    buffer = s.buffers[thread]
    held = 0
    edges = 0
    while True:
        start = fetch_add(s.counters, NEXT_BLOCK, block)
        if start >= end:
            break
        head, stop = np.uint64(start), np.uint64(min(start + block, end))
        while head < stop:
            vertex = np.uint64(s.queue[head])
            prefetch_ahead(s.offsets, s.targets, s.queue, head, np.uint64(end))
            head += ONE
            edge, last = np.uint64(s.offsets[vertex]), np.uint64(s.offsets[vertex + ONE])
            while edge < last:
                neighbor = np.uint64(s.targets[edge])
                edge += ONE
                word, bit = word_of(neighbor), bit_of(neighbor)
                if s.visited[word] & bit or fetch_or(s.visited, word, bit) & bit:
                    continue
                if held == CAPACITY:
                    edges += _flush(s, level, buffer, held)
                    held = 0
                buffer[0, held] = neighbor
                buffer[1, held] = vertex
                held += 1
    return edges + _flush(s, level, buffer, held)


@borrowing(serial)
def _flush(s, level, buffer, held):
    """Write and enqueue the vertices in the buffer (row 0: vertices, row 1: predecessors); return their out-edges."""
    tail = np.uint64(fetch_add(s.counters, TAIL, held))
    edges = 0
    for i in range(np.uint64(held)):
        vertex = np.uint64(buffer[0, i])
        s.queue[tail + i] = vertex
        s.distances[vertex] = level
        edges += s.offsets[vertex + ONE] - s.offsets[vertex]
    if len(s.predecessors):
        for i in range(np.uint64(held)):
            s.predecessors[np.uint64(buffer[0, i])] = buffer[1, i]
    return edges


@borrowing(serial)
def _first_hit(frontier, in_targets, start, stop):
    """The first of the edges ``start..stop - 1`` whose end is in the frontier, or -1.

    They are tested `BATCH` at a time: independent loads cost less than a mispredicted branch.
    """
    edge, end = np.uint64(start), np.uint64(stop)
    while edge + BATCH <= end:
        hits = np.uint64(0)
        for i in range(BATCH):
            neighbor = np.uint64(in_targets[edge + i])
            hits |= (frontier[word_of(neighbor)] >> (neighbor & LAST) & ONE) << i
        if hits:
            return np.int64(edge + lowest_one(hits))
        edge += BATCH
    while edge < end:
        neighbor = np.uint64(in_targets[edge])
        if frontier[word_of(neighbor)] & bit_of(neighbor):
            return np.int64(edge)
        edge += ONE
    return np.int64(-1)


@borrowing(shared)
def bottom_up_level(arguments, thread):
    """Let unvisited vertices look for the frontier, a block of words at a time; return how many found it."""
    s, frontier, found, level = arguments
    want_predecessors = len(s.predecessors) > 0
    total = 0
    while True:
        start = fetch_add(s.counters, NEXT_BLOCK, WORD_BLOCK)
        if start >= len(s.visited):
            break
        for word in range(start, min(start + WORD_BLOCK, len(s.visited))):
            first = np.uint64(word) * np.uint64(WORD)
            unvisited = ~s.visited[word]
            hits = np.uint64(0)
            left = unvisited
            while left:
                place = lowest_one(left)
                left &= left - ONE
                parent = np.uint64(s.hub[first + place])
                hits |= (frontier[word_of(parent)] >> (parent & LAST) & ONE) << place
            missed = unvisited & ~hits
            left = missed
            while left:
                vertex = first + lowest_one(left)
                left &= left - ONE
                prefetch(s.in_targets, s.in_offsets[vertex])
            left = hits
            while left:
                vertex = first + lowest_one(left)
                left &= left - ONE
                s.distances[vertex] = level
                if want_predecessors:
                    s.predecessors[vertex] = s.hub[vertex]
            left = missed
            while left:
                place = lowest_one(left)
                vertex = first + place
                left &= left - ONE
                edge = _first_hit(frontier, s.in_targets, s.in_offsets[vertex], s.in_offsets[vertex + ONE])
                if edge >= 0:
                    hits |= ONE << place
                    s.distances[vertex] = level
                    if want_predecessors:
                        s.predecessors[vertex] = s.in_targets[edge]
            found[word] = hits
            s.visited[word] |= hits
            total += count_ones(hits)
    return total


@borrowing(shared)
def to_queue(arguments, thread):
    """Append the vertices of the bitmap to the queue, a block of words at a time; return their out-edges."""
    s, bitmap = arguments
    edges = 0
    while True:
        start = fetch_add(s.counters, NEXT_BLOCK, WORD_BLOCK)
        if start >= len(bitmap):
            break
        stop = min(start + WORD_BLOCK, len(bitmap))
        held = 0
        for word in range(start, stop):
            held += count_ones(bitmap[word])
        tail = np.uint64(fetch_add(s.counters, TAIL, held))
        for word in range(start, stop):
            bits = bitmap[word]
            while bits:
                vertex = np.uint64(word) * np.uint64(WORD) + lowest_one(bits)
                bits &= bits - ONE
                edges += s.offsets[vertex + ONE] - s.offsets[vertex]
                s.queue[tail] = vertex
                tail += ONE
    return edges


@borrowing(shared)
def _mark_unreached(arguments, thread):
    """Write -1 at the vertices that no level reached, a block of words at a time."""
    s, masked = arguments
    want_predecessors = len(s.predecessors) > 0
    while True:
        start = fetch_add(s.counters, NEXT_BLOCK, WORD_BLOCK)
        if start >= len(s.visited):
            break
        for word in range(start, min(start + WORD_BLOCK, len(s.visited))):
            bits = ~s.visited[word]
            if len(masked):
                bits |= masked[word]
            while bits:
                vertex = np.uint64(word) * np.uint64(WORD) + lowest_one(bits)
                bits &= bits - ONE
                s.distances[vertex] = -1
                if want_predecessors:
                    s.predecessors[vertex] = -1
    return 0


@njit(inline="always")
def _bottom_up_pays(s, edges, left, degree, threads):
    """Would ``left`` vertices look for the frontier, by so many threads, in less time than its ``edges`` take top-down?

    Each probes in-edges until one comes from the frontier: all of them, ``degree`` on average, or fewer if the frontier
    has more edges than there are such vertices. A level bottom-up also goes over the whole bitmap.
    """
    weighed = EDGE * min(threads, MOST_COUNTED) * (edges - len(s.visited))
    return weighed > 0 and weighed > left * (VERTEX + left * degree / max(left, edges))


@njit(inline="always")
def _edges_from(s, begin, end, left, degree, threads):
    """Out-edges of ``queue[begin:end]``, or a bound of them if even so many are few."""
    edges = (end - begin) * s.most
    if not _are_few(s, edges, left, degree, threads):
        edges = 0
        for position in range(np.uint64(begin), np.uint64(end)):
            vertex = np.uint64(s.queue[position])
            edges += s.offsets[vertex + ONE] - s.offsets[vertex]
    return edges


@njit(inline="always")
def _are_few(s, edges, left, degree, threads):
    """Does a level with so many out-edges stay with the queue, on the calling thread?"""
    return edges < FEW * EDGES and not _bottom_up_pays(s, edges, left, degree, threads)


@borrowing(serial)
def _deserved(threads, pieces, portion):
    """The number of threads for this many pieces of work."""
    return min(threads, pieces // portion) if pieces >= FEW * portion else 1


@borrowing(serial)
def _start(s, sourceless, masked, sources):
    """Put the sources into the queue; return how many vertices are left to be found.

    The last sources may be vertices that no level writes, those without in-edges.
    """
    for i in range(s.counters[SOURCES]):
        s.distances[s.queue[i]] = -1
    s.counters[SOURCES] = len(sources)
    for word in range(len(sourceless)):
        s.visited[word] = sourceless[word]
    for word in range(len(masked)):
        s.visited[word] |= masked[word]
    for i in range(len(sources)):
        source = sources[i]
        s.visited[word_of(source)] |= bit_of(source)
        s.distances[source] = 0
        if len(s.predecessors):
            s.predecessors[source] = -1
        s.queue[i] = source
    left = 0
    for word in range(len(sourceless)):
        left += count_ones(~s.visited[word])
    return left


@borrowing(serial)
def _mark_reached(s, sourceless, masked, sources, bitmap):
    """Set the bits of all vertices that the search has reached, and no others.

    The next step may take them for the frontier: the edges out of earlier levels lead to visited vertices.
    """
    for word in range(len(bitmap)):
        bitmap[word] = s.visited[word] & ~sourceless[word]
    for word in range(len(masked)):
        bitmap[word] &= ~masked[word]
    for i in range(len(sources)):  # they may be sourceless
        bitmap[word_of(sources[i])] |= bit_of(sources[i])


@borrowing(serial)
def _by_queue(s, begin, end, level, left, degree, depth_limit, target, notes, threads):
    """Let the textbook queue expand ``queue[begin:end]``, and the levels after it while they have few edges.

    Return the last of these levels, the begin and end of what it found, its out-edges, and the vertices left. This is
    apart from the other levels for the compiler to keep the variables of its loop in registers.
    """
    edges = 0
    while True:
        level += 1
        tail = expand(s.offsets, s.targets, begin, end, level, s.visited, s.distances, s.predecessors, s.queue)
        begin, end = end, tail
        left -= end - begin
        if len(notes):
            notes[level] = ticks() << 1
        if begin == end or left == 0 or level >= depth_limit:
            break
        if target >= 0 and s.visited[word_of(target)] & bit_of(target):
            break
        edges = _edges_from(s, begin, end, left, degree, threads)
        if not _are_few(s, edges, left, degree, threads):
            break
    return level, begin, end, left, edges


@borrowing(serial)
def _by_threads(s, begin, end, level, team, threads):
    """Let threads expand ``queue[begin:end]``; return the out-edges of what they found."""
    s.counters[NEXT_BLOCK] = begin
    s.counters[TAIL] = end
    block = max(1, min(QUEUE_BLOCK, (end - begin) // (BLOCKS * threads)))
    return _top_down(team, threads, (s, end, level, block))


@borrowing(serial)
def search(
    offsets, targets, most, in_offsets, in_targets, hub, visited, frontier, found, distances, predecessors, queue,
    buffers, counters, sourceless, masked, sources, depth_limit, target, notes, team, threads,
):  # fmt: skip
    """Fill ``distances[n]`` and, unless its length is 0, ``predecessors[n]``; return how many vertices are reached.

    The first arguments are those of a `Search`: Numba takes twice as long to receive them as one. ``sources`` are
    distinct. The search ends below ``depth_limit`` and after the level that reaches ``target`` (-1: none). It does not
    enter ``masked`` vertices, of which none is a source; bits past the last vertex are 0. Nothing is written at other
    sourceless vertices than the sources, and those of the last search: there the arrays must hold -1.

    Unless their length is 0, ``notes[0]`` is when the first level begins and ``notes[level]`` when that one ends, in
    ticks of the clock, and in the lowest bit whether it was bottom-up. There are at most n levels.
    """
    s = Search(
        offsets, targets, most, in_offsets, in_targets, hub, visited, frontier, found, distances, predecessors, queue,
        buffers, counters,
    )  # fmt: skip
    return _search(s, sourceless, masked, sources, depth_limit, target, notes, team, threads)


@borrowing(serial)
def _search(s, sourceless, masked, sources, depth_limit, target, notes, team, threads):
    searchers, readers = _deserved(threads, len(s.visited), WORDS), _deserved(threads, len(s.visited), WORDS_READ)
    expanders = min(threads, len(s.visited) // LINES)
    findable = left = _start(s, sourceless, masked, sources)
    degree = len(s.targets) / max(left, 1)
    if target >= 0 and s.visited[word_of(target)] & bit_of(target):
        if s.distances[target] == 0:  # a source
            depth_limit = 0
        target = -1  # its bit is always set, and no level can find it
    frontier, found = s.frontier, s.found
    begin, end = 0, len(sources)
    edges = _edges_from(s, begin, end, left, degree, searchers)
    size = end  # vertices in the frontier
    level = 0
    bottom_up = False
    if len(notes):
        notes[0] = ticks() << 1
    while size > 0 and level < depth_limit and not (target >= 0 and s.visited[word_of(target)] & bit_of(target)):
        if not bottom_up and left > 0 and _bottom_up_pays(s, edges, left, degree, searchers):
            bottom_up = True
            _mark_reached(s, sourceless, masked, sources, frontier)
        wanted = _deserved(min(expanders, end - begin), edges, EDGES)
        if left > 0 and not bottom_up and wanted < 2:
            level, begin, end, left, edges = _by_queue(
                s, begin, end, level, left, degree, depth_limit, target, notes, searchers
            )
            size = end - begin
            continue
        level += 1
        direction = np.int64(bottom_up)
        if left == 0:  # all vertices are found
            size = 0
        elif bottom_up:
            s.counters[NEXT_BLOCK] = 0
            size = bottom_up_level(team, searchers, (s, frontier, found, level))
            frontier, found = found, frontier
            left -= size
            if not _bottom_up_pays(s, np.int64(size * degree), left, degree, searchers):
                bottom_up = False
                s.counters[NEXT_BLOCK] = 0
                s.counters[TAIL] = end
                edges = to_queue(team, readers, (s, frontier))
                begin, end = end, s.counters[TAIL]
        else:
            edges = _by_threads(s, begin, end, level, team, wanted)
            begin, end = end, s.counters[TAIL]
            size = end - begin
            left -= size
        if len(notes):
            notes[level] = ticks() << 1 | direction
    s.counters[NEXT_BLOCK] = 0
    _mark_unreached(team, readers, (s, masked))
    return len(sources) + findable - left
