"""A level of a search top-down, by a team of threads.

Threads take blocks of the frontier. Most edges lead to visited vertices, unless levels grow fast. The thread that
sets a neighbour's bit in the bitmap wins it. It goes to that thread's own buffer, and from there its distance,
predecessor and place in the queue are written many at a time: an atomic waits for the writes before it.

Where levels grow fast, threads would wait for cache lines that others have just written, and two would take longer
than one. So they first put edges to unvisited vertices into bins, one of each thread for each of some ranges of
vertices; then they take ranges. Only one thread enters the vertices of a range, and it has the bitmap, the distances
and the predecessors there for itself, in its cache.

A bin is a chain of chunks of the ``pool``; the first place of a chunk is the number of the chunk before it, the others
are edges. When no chunk is left, threads enter the edges of a full one, by atomic operations.

========================  =============================================================================================
``pool[2, places]``       the vertices that edges lead to, and those that they come from
``bins[threads, RANGES]`` the next free place of each thread's bins; between levels, the first of a chunk that the bin
                          always has
========================  =============================================================================================

Source: J. Chhugani, N. Satish, C. Kim, J. Sewall, P. Dubey, Fast and efficient graph traversal algorithm for CPUs:
maximizing single-node efficiency, IPDPS 2012, for the ranges. The chunks are ours.
"""

import numpy as np
from numba import njit

from .atomics import fetch_add, fetch_or
from .bits import LAST, ONE, WORD, bit_of, word_of
from .compiled import borrowing, serial
from .sequential import row_at
from .team import shared

RANGES = 64
LEAST_RANGE = 9  # bits of a vertex; a cache line of the bitmap belongs to one range
CHUNK_BITS = np.uint64(7)
CHUNK = ONE << CHUNK_BITS  # places
QUEUE_BLOCK = 256  # frontier vertices that a thread takes at a time
CAPACITY = np.uint64(1024)  # vertices in a thread's buffer, in the chunks of its bins
BLOCKS = 8  # of a level for each thread, if that makes blocks smaller

NEXT_BLOCK, TAIL, SOURCES, NEXT_CHUNK, COUNTERS = 0, 8, 16, 24, 32  # elements of `counters`, a cache line apart


def pool_and_bins(n, threads, vertex):
    """A pool that will do for n edges, in which each bin of so many threads has a chunk."""
    bins = np.arange(threads * RANGES, dtype=np.uint64).reshape(threads, RANGES) * CHUNK + ONE
    return np.empty((2, (bins.size + n // int(CHUNK)) * int(CHUNK)), vertex), bins


@njit(inline="always")
def grows(edges, end):
    """Do levels grow fast: are there many more edges out of a level than vertices found so far, which are ``end``?"""
    return edges >= 2 * end


@njit(inline="always")
def _range_bits(words):
    """How many of the lower bits of a vertex do not tell its range."""
    bits = np.uint64(LEAST_RANGE)
    while np.uint64(words * WORD - 1) >> bits >= np.uint64(RANGES):
        bits += ONE
    return bits


@njit(inline="always")
def _next_block(s, end, block):
    """The begin and end of the next block of ``queue[:end]``; the begin is not below the end if none is left."""
    start = fetch_add(s.counters, NEXT_BLOCK, block)
    return np.uint64(start), np.uint64(min(start + block, end))


@borrowing(shared)
def _enter_at_once(arguments, thread):
    """Expand ``queue[:end]`` from the next block on, by atomic operations; return the out-edges of what is found."""
    s, end, level, block = arguments
    buffer = np.uint64(thread * RANGES) * CHUNK  # the chunks of the thread's empty bins
    held = buffer
    edges = 0
    while True:
        head, stop = _next_block(s, end, block)
        if head >= stop:
            break
        while head < stop:
            vertex, edge, last = row_at(s.offsets, s.targets, s.queue, head, np.uint64(end))
            head += ONE
            while edge < last:
                neighbor = np.uint64(s.targets[edge])
                edge += ONE
                word, bit = word_of(neighbor), bit_of(neighbor)
                if s.visited[word] & bit or fetch_or(s.visited, word, bit) & bit:
                    continue
                if held == buffer + CAPACITY:
                    edges += _write(s, level, buffer, held)
                    held = buffer
                s.pool[0, held], s.pool[1, held] = neighbor, vertex
                held += ONE
    return edges + _write(s, level, buffer, held)


@borrowing(shared)
def _sort_edges(arguments, thread):
    """Put edges of ``queue[:end]`` from the next block on into the thread's bins; return the out-edges of the vertices
    that are entered for want of chunks."""
    s, end, level, block = arguments
    bins = s.bins[thread]
    bits = _range_bits(len(s.visited))
    chunks = s.pool.shape[1] >> CHUNK_BITS
    edges = 0
    while True:
        head, stop = _next_block(s, end, block)
        if head >= stop:
            break
        while head < stop:
            vertex, edge, last = row_at(s.offsets, s.targets, s.queue, head, np.uint64(end))
            head += ONE
            while edge < last:
                neighbor = np.uint64(s.targets[edge])
                edge += ONE
                place = bins[neighbor >> bits]
                s.pool[0, place], s.pool[1, place] = neighbor, vertex
                place += ~s.visited[word_of(neighbor)] >> (neighbor & LAST) & ONE
                if not place & (CHUNK - ONE):
                    full = place - CHUNK
                    chunk = np.uint64(fetch_add(s.counters, NEXT_CHUNK, 1))
                    if chunk < chunks:
                        place = chunk << CHUNK_BITS
                        s.pool[0, place] = full >> CHUNK_BITS
                    else:
                        edges += _enter(s, level, full + ONE, place, True)
                        place = full
                    place += ONE
                bins[neighbor >> bits] = place
    return edges


@borrowing(shared)
def _enter_ranges(arguments, thread):
    """Empty the bins of so many threads, a range at a time; return the out-edges of the vertices found."""
    s, level, threads = arguments
    of_bins = np.uint64(s.bins.size)  # chunks
    edges = 0
    while True:
        of = fetch_add(s.counters, NEXT_BLOCK, 1)
        if of >= RANGES:
            break
        for owner in range(threads):
            end = s.bins[owner, of]
            chunk = end >> CHUNK_BITS
            while chunk >= of_bins:
                begin = chunk << CHUNK_BITS
                edges += _enter(s, level, begin + ONE, end, False)
                chunk = np.uint64(s.pool[0, begin])
                end = (chunk << CHUNK_BITS) + CHUNK
            begin = chunk << CHUNK_BITS
            edges += _enter(s, level, begin + ONE, end, False)
            s.bins[owner, of] = begin + ONE
    return edges


@borrowing(serial)
def _enter(s, level, begin, end, at_once):
    """Enter the unvisited vertices of ``pool[:, begin:end]``; return their out-edges. ``at_once``: may other threads
    enter the same?"""
    held = begin
    for place in range(begin, end):
        neighbor, parent = np.uint64(s.pool[0, place]), s.pool[1, place]
        word, bit = word_of(neighbor), bit_of(neighbor)
        if at_once:
            old = fetch_or(s.visited, word, bit)
        else:
            old = s.visited[word]
            s.visited[word] = old | bit
        s.pool[0, held], s.pool[1, held] = neighbor, parent
        held += ~old >> (neighbor & LAST) & ONE
    return _write(s, level, begin, held)


@borrowing(serial)
def _write(s, level, begin, end):
    """Write and enqueue the vertices ``pool[0, begin:end]``, found from those in row 1; return their out-edges."""
    tail = np.uint64(fetch_add(s.counters, TAIL, np.int64(end - begin)))
    edges = 0
    for place in range(begin, end):
        vertex = np.uint64(s.pool[0, place])
        s.queue[tail] = vertex
        tail += ONE
        s.distances[vertex] = level
        edges += s.offsets[vertex + ONE] - s.offsets[vertex]
    if len(s.predecessors):
        for place in range(begin, end):
            s.predecessors[np.uint64(s.pool[0, place])] = s.pool[1, place]
    return edges


@borrowing(serial)
def expand_by_threads(s, begin, end, edges, level, team, threads, called):
    """Let a number of threads, ``called`` as a team is called, expand ``queue[begin:end]``, which has so many
    out-edges; return those of what they found, which is behind it."""
    s.counters[NEXT_BLOCK], s.counters[TAIL], s.counters[NEXT_CHUNK] = begin, end, s.bins.size
    block = max(1, min(QUEUE_BLOCK, (end - begin) // (BLOCKS * threads)))
    if not grows(edges, end):
        return _enter_at_once(team, called, (s, end, level, block))
    found = _sort_edges(team, called, (s, end, level, block))
    s.counters[NEXT_BLOCK] = 0
    return found + _enter_ranges(team, called, (s, level, abs(called)))
