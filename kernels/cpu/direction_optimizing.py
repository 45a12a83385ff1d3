"""Direction-optimizing BFS, by a team of threads.

Levels with few edges are left to the textbook queue, on the calling thread: grids and paths have no others. Threads of
the `team` share any other; their number grows with the work of the level. Once levels grow fast, the helpers are
summoned, to be awake in time. A level goes bottom-up if that costs less by estimate, `_bottom_up_pays`. The search ends
when nothing is left to be found.

*Top-down*: see `top_down`. *Bottom-up*: threads take blocks of 64-vertex words; each unvisited vertex looks for a
neighbour in the frontier's bitmap and stops at the first. It looks at its ``hub`` first, the in-neighbour with the most
out-edges; on skewed graphs few need to look further. A word belongs to one thread, so nothing here is atomic.

A top-down level costs one bit test per frontier edge, and another for those to unvisited vertices; a bottom-up level at
most one bit test per edge into an unvisited vertex. A distance and a predecessor are written once per vertex and run.
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
``pool, bins``                        of `top_down`
``counters[COUNTERS]``                shared by the threads: the next block and chunk to take, the end of the queue; and
                                      how many sources the last search had, which begin the queue
``notes[n + 1]``                      when each level ended, and its direction, if wanted
====================================  ========================================================================

Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, sections 3-5;
S. Beamer et al., The GAP benchmark suite, arXiv:1508.03619, for the estimates' origin. The hub is ours.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from .atomics import fetch_add, prefetch
from .bits import LAST, ONE, WORD, bit_of, count_ones, lowest_one, word_of
from .clock import ticks
from .compiled import borrowing, serial
from .sequential import expand
from .team import ready, shared, summon
from .top_down import NEXT_BLOCK, SOURCES, TAIL, expand_by_threads, grows

EDGE, VERTEX = 4, 2  # what an edge of the frontier costs top-down, and a vertex bottom-up besides its probes, in probes
# Portions of work: there are no more threads than portions, and only one for fewer than `FEW` of those for threads that
# must be woken. Threads that are awake begin at once, and take smaller ones.
FEW = 2
EDGES, EDGES_AWAKE = 1 << 12, 1 << 10  # of the frontier, top-down
WORDS, WORDS_AWAKE = 1 << 9, 1 << 6  # of the bitmap, bottom-up
WORDS_READ = 1 << 12  # where bits are only read
LEFT = 1 << 12  # vertices to be found; looking for fewer, threads need not be awake
LEAST_TOP_DOWN = 3 << 9  # words of the bitmap for two threads top-down, as each edge is handled twice
LEAST, LEAST_OF_MANY = FEW * WORDS, FEW * WORDS_AWAKE  # words of the bitmap for two threads, and for more
NO_LIMIT = (1 << 63) - 1
SOON = 1 << 10  # edges of a level that may announce larger ones
WORD_BLOCK = 64  # bitmap words that a thread takes at a time,
WORD_BLOCKS = 64  # or fewer, for so many blocks,
LINE = 8  # but no less than a cache line
BATCH = np.uint64(4)  # in-neighbours that are probed at a time

Search = namedtuple(
    "Search",
    "offsets targets most in_offsets in_targets hub visited frontier found distances predecessors queue pool bins"
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


@njit(inline="always")
def word_block(words, threads):
    """How many words of a bitmap a thread takes at a time: all if there is no other."""
    return max(LINE, min(WORD_BLOCK, words // WORD_BLOCKS)) if threads > 1 else words


@borrowing(shared)
def bottom_up_level(arguments, thread):
    """Let unvisited vertices look for the frontier, a block of words at a time; return how many found it."""
    s, frontier, found, level, block = arguments
    want_predecessors = len(s.predecessors) > 0
    total = 0
    while True:
        start = fetch_add(s.counters, NEXT_BLOCK, block)
        if start >= len(s.visited):
            break
        for word in range(start, min(start + block, len(s.visited))):
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
    s, bitmap, block = arguments
    edges = 0
    while True:
        start = fetch_add(s.counters, NEXT_BLOCK, block)
        if start >= len(bitmap):
            break
        stop = min(start + block, len(bitmap))
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
    s, masked, block = arguments
    want_predecessors = len(s.predecessors) > 0
    while True:
        start = fetch_add(s.counters, NEXT_BLOCK, block)
        if start >= len(s.visited):
            break
        for word in range(start, min(start + block, len(s.visited))):
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
def _bottom_up_pays(s, edges, left, degree):
    """Return True if ``left`` vertices find the frontier in less time than its ``edges`` take top-down.

    Each probes in-edges until one comes from the frontier: all of them, ``degree`` on average, or fewer if the frontier
    has more edges than there are such vertices. A level bottom-up also goes over the whole bitmap.
    """
    weighed = EDGE * (edges - len(s.visited))
    return weighed > 0 and weighed > left * (VERTEX + left * degree / max(left, edges))


@njit(inline="always")
def _edges_from(s, begin, end, left, degree):
    """Out-edges of ``queue[begin:end]``, or a bound of them if even so many are few."""
    edges = (end - begin) * s.most
    if not _are_few(s, edges, left, degree):
        edges = _count_edges(s, begin, end)
    return edges


@njit(inline="always")
def _count_edges(s, begin, end):
    """Out-edges of ``queue[begin:end]``."""
    edges = 0
    for position in range(np.uint64(begin), np.uint64(end)):
        vertex = np.uint64(s.queue[position])
        edges += s.offsets[vertex + ONE] - s.offsets[vertex]
    return edges


@njit(inline="always")
def _are_few(s, edges, left, degree):
    """Does a level with so many out-edges stay with the queue, on the calling thread?"""
    return edges < FEW * EDGES and not _bottom_up_pays(s, edges, left, degree)


@borrowing(serial)
def _threads_for(threads, pieces, portion):
    """How many of ``threads`` do this many pieces of work: one for each ``portion`` of them, or one if they are few."""
    return min(threads, pieces // portion) if pieces >= FEW * portion else 1


@borrowing(serial)
def _expanders(threads, awake, vertices, edges, words):
    """The number of threads for a level top-down of so many vertices and edges, and the same as a team takes it."""
    woken = _threads_for(min(threads, vertices), edges, EDGES)
    there = min(awake, vertices, edges // EDGES_AWAKE) if edges >= FEW * EDGES else 1
    most = max(woken, there)
    if most < 2 or (most == 2 and words < LEAST_TOP_DOWN):
        return 1, 1
    return most, woken if woken == most else -threads


@borrowing(serial)
def _searchers(threads, awake, left, words):
    """The number of threads for a level bottom-up in which so many vertices are left, as a team takes it."""
    woken = _threads_for(threads, words, WORDS)
    there = left >= LEFT and words >= FEW * WORDS_AWAKE
    return -threads if there and (woken < 2 or woken < awake) else woken


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
def _by_queue(s, begin, end, level, left, degree, depth_limit, target, notes, many):
    """Let the textbook queue expand ``queue[begin:end]``, and the levels after it while they have few edges, fewer than
    ``many``.

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
        edges = _edges_from(s, begin, end, left, degree)
        if edges >= many or not _are_few(s, edges, left, degree):
            break
    return level, begin, end, left, edges


@borrowing(serial)
def search(
    offsets, targets, most, in_offsets, in_targets, hub, visited, frontier, found, distances, predecessors, queue,
    pool, bins, counters, sourceless, masked, sources, depth_limit, target, notes, team, threads,
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
        pool, bins, counters,
    )  # fmt: skip
    return _search(s, sourceless, masked, sources, depth_limit, target, notes, team, threads)


@borrowing(serial)
def _search(s, sourceless, masked, sources, depth_limit, target, notes, team, threads):
    words = len(s.visited)
    block = word_block(words, threads)
    readers = _threads_for(threads, words, WORDS_READ)
    findable = left = _start(s, sourceless, masked, sources)
    degree = len(s.targets) / max(left, 1)
    if target >= 0 and s.visited[word_of(target)] & bit_of(target):
        if s.distances[target] == 0:  # a source
            depth_limit = 0
        target = -1  # its bit is always set, and no level can find it
    frontier, found = s.frontier, s.found
    begin, end = 0, len(sources)
    edges = _edges_from(s, begin, end, left, degree)
    size = end  # vertices in the frontier
    level = 0
    bottom_up = False
    summoned, awake = threads < 2, 1
    if len(notes):
        notes[0] = ticks() << 1
    while size > 0 and level < depth_limit and not (target >= 0 and s.visited[word_of(target)] & bit_of(target)):
        if not summoned and edges >= SOON and grows(edges, end):
            edges = _count_edges(s, begin, end)
            if edges >= SOON and grows(edges, end):
                summon(team, threads)
                summoned = True
        if summoned:
            awake = ready(team, threads)
        if not bottom_up and left > 0 and _bottom_up_pays(s, edges, left, degree):
            bottom_up = True
            _mark_reached(s, sourceless, masked, sources, frontier)
        expanders, called = _expanders(threads, awake, end - begin, edges, words)
        if left > 0 and not bottom_up and expanders < 2:
            many = NO_LIMIT if summoned else max(SOON, 2 * end)
            level, begin, end, left, edges = _by_queue(
                s, begin, end, level, left, degree, depth_limit, target, notes, many
            )
            size = end - begin
            continue
        level += 1
        direction = np.int64(bottom_up)
        if left == 0:  # all vertices are found
            size = 0
        elif bottom_up:
            s.counters[NEXT_BLOCK] = 0
            size = bottom_up_level(team, _searchers(threads, awake, left, words), (s, frontier, found, level, block))
            frontier, found = found, frontier
            left -= size
            if not _bottom_up_pays(s, np.int64(size * degree), left, degree):
                bottom_up = False
                s.counters[NEXT_BLOCK] = 0
                s.counters[TAIL] = end
                edges = to_queue(team, readers, (s, frontier, block))
                begin, end = end, s.counters[TAIL]
        else:
            edges = expand_by_threads(s, begin, end, edges, level, team, expanders, called)
            begin, end = end, s.counters[TAIL]
            size = end - begin
            left -= size
        if len(notes):
            notes[level] = ticks() << 1 | direction
    s.counters[NEXT_BLOCK] = 0
    _mark_unreached(team, readers, (s, masked, block))
    return len(sources) + findable - left
