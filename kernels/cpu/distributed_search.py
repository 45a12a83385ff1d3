"""A breadth-first search of a distributed graph: the steps of one rank between two collectives, by a team of threads.

Vertices have a 1D partitioning. The vertex with local id l on rank r has the global id ``g = r * stride + l``. A rank
stores the rows of its own vertices, by local id; targets are global ids.

Top-down, a rank sends an entry, a vertex and its parent, to the owner of each neighbour that it has not seen; owners
settle the entries that they receive. Bottom-up, each unvisited vertex of a rank scans its in-neighbours for a visited
one: since all levels up to the last are complete, that one is in the frontier. It looks at its ``hub`` first, the
in-neighbour with the most out-edges.

====================================  ========================================================================
``offsets[own + 1], targets[m]``      out-edges of the rank's vertices
``in_offsets, in_targets``            in-edges (the same arrays if the graph is symmetric)
``hub[own]``                          global id of the in-neighbour to look at first; its own where there is none
``seen[words of all]``                bitmap over all global ids: visited, or sent to the owner by this rank
``visited[words of own]``             bitmap of the rank's visited vertices, and of those without edges
``fresh[words of own]``               those of the last level, where it was bottom-up
``queue[own]``                        local ids of the rank's vertices in the order in which they were found
``outgoing[ranks, HEAD + 2 * capacity]``
                                      for each owner the number of entries, 1 if an array of this rank has
                                      overflown, then the entries: vertices, with their parents if these are wanted
``buffers[threads, ranks, BATCH]``    entries of a thread on their way into ``outgoing`` or, of rank 0, the queue
``held[threads, ranks or more]``      how many elements these are; rows do not share a cache line
``counters[COUNTERS + ranks * LANE]`` what the threads share: the next block to take, the end of the queue, whether an
                                      array has overflown, and for each owner how many elements of entries there are
====================================  ========================================================================

Work: a bit test per edge of the frontier and an entry per vertex and sender, or at most a bit test per edge into an
unvisited vertex. Threads take blocks of the frontier, of the entries, or of words until none is left, see `team`. A
vertex is won by the thread that sets its bit; bottom-up a word belongs to one thread, so nothing there is atomic.

Sources: A. Buluc, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011 (1D partitioning);
S. Beamer et al., Distributed memory breadth-first search revisited, MTAAP 2013. The hub is ours.
"""

from collections import namedtuple

import numpy as np

from .atomics import fetch_add, fetch_or
from .bits import WORD, bit_of, word_of
from .compiled import borrowing, serial
from .direction_optimizing import NEXT_BLOCK, TAIL, bottom_up_level, to_queue, word_block
from .team import shared

HEAD = 2  # elements before the entries of an owner: how many they are, and whether any array has overflown
COUNT, OVERFLOWN = 0, 1
BATCH = 128  # elements of a thread's buffer for an owner
QUEUE_BLOCK = 64  # frontier vertices that a thread takes at a time
LANE = 8  # int64 of a cache line
FULL, COUNTERS = 16, 24  # elements of `counters`, each a cache line after `TAIL`
ENTRY_BLOCK = 512  # entries that a thread takes at a time

RankSearch = namedtuple(
    "RankSearch",
    "offsets targets in_offsets in_targets hub seen visited fresh queue distances predecessors outgoing buffers held"
    " counters base stride",
)


@serial
def weigh(offsets, weights):
    """Fill ``weights[own]`` (uint8) with the out-degrees in five bits of exponent and three of mantissa, rounded down:
    enough to choose the in-neighbour with the most."""
    for local_id in range(len(offsets) - 1):
        degree = np.int64(offsets[local_id + 1] - offsets[local_id])
        exponent = 0
        while degree >= 16:
            degree >>= 1
            exponent += 1
        weights[local_id] = min(8 * exponent + degree, 255)


@borrowing(shared)
def _find_hubs(arguments, thread):
    in_offsets, in_targets, weights, base, hub, counters = arguments
    while True:
        start = fetch_add(counters, NEXT_BLOCK, QUEUE_BLOCK)
        if start >= len(hub):
            break
        for local_id in range(start, min(start + QUEUE_BLOCK, len(hub))):
            most = -1
            hub[local_id] = base + local_id  # its bit is not set before it is visited
            for edge in range(in_offsets[local_id], in_offsets[local_id + 1]):
                neighbor = in_targets[edge]
                if weights[neighbor] > most:
                    most = weights[neighbor]
                    hub[local_id] = neighbor
    return 0


@borrowing(serial)
def find_hubs(in_offsets, in_targets, weights, base, hub, counters, team, threads):
    """Fill ``hub[own]`` from the `weigh`ed out-degrees of all global ids."""
    counters[NEXT_BLOCK] = 0
    _find_hubs(team, threads, (in_offsets, in_targets, weights, base, hub, counters))


@serial
def exclude(offsets, in_offsets, visited):
    """Set the bits of vertices without edges, and those past the last vertex."""
    own = len(offsets) - 1
    for local_id in range(len(visited) * WORD):
        if local_id >= own or (
            offsets[local_id] == offsets[local_id + 1] and in_offsets[local_id] == in_offsets[local_id + 1]
        ):
            visited[word_of(local_id)] |= bit_of(local_id)


@serial
def seed(local_ids, offsets, visited, queue, distances, predecessors):
    """Enqueue the sources. Returns the number of their out-edges."""
    edges = 0
    for i in range(len(local_ids)):
        local_id = local_ids[i]
        queue[i] = local_id
        visited[word_of(local_id)] |= bit_of(local_id)
        distances[local_id] = 0
        if len(predecessors):
            predecessors[local_id] = -1
        edges += offsets[local_id + 1] - offsets[local_id]
    return edges


@borrowing(serial)
def _flush(s, owner, buffer, held):
    """Move a thread's entries to those of their owner, unless there is no room."""
    slot = fetch_add(s.counters, COUNTERS + owner * LANE, held)
    if HEAD + slot + held > s.outgoing.shape[1]:
        s.counters[FULL] = 1
        return
    for i in range(held):
        s.outgoing[owner, HEAD + slot + i] = buffer[i]


@borrowing(shared)
def _expand(arguments, thread):
    s, end, width = arguments
    buffers, held = s.buffers[thread], s.held[thread]
    held[:] = 0
    while not s.counters[FULL]:
        start = fetch_add(s.counters, NEXT_BLOCK, QUEUE_BLOCK)
        if start >= end:
            break
        for position in range(start, min(start + QUEUE_BLOCK, end)):
            local_id = s.queue[position]
            for edge in range(s.offsets[local_id], s.offsets[local_id + 1]):
                neighbor = s.targets[edge]
                word, bit = word_of(neighbor), bit_of(neighbor)
                if s.seen[word] & bit or fetch_or(s.seen, word, bit) & bit:
                    continue
                owner = neighbor // s.stride
                place = held[owner]
                if place == BATCH:
                    _flush(s, owner, buffers[owner], place)
                    place = 0
                buffers[owner, place] = neighbor
                if width == 2:
                    buffers[owner, place + 1] = s.base + local_id
                held[owner] = place + width
    for owner in range(len(buffers)):
        _flush(s, owner, buffers[owner], held[owner])
    return 0


@borrowing(serial)
def expand(s, begin, end, width, team, threads):
    """Write the unseen neighbours of the frontier ``queue[begin:end]`` into the entries of their owners, ``width``
    elements each."""
    s.counters[:] = 0
    s.counters[NEXT_BLOCK] = begin
    _expand(team, threads, (s, end, width))
    for owner in range(len(s.outgoing)):
        s.outgoing[owner, COUNT] = 0 if s.counters[FULL] else s.counters[COUNTERS + owner * LANE] // width
        s.outgoing[owner, OVERFLOWN] = s.counters[FULL]


@borrowing(serial)
def _enqueue(s, found, held):
    """Enqueue local ids; return the number of their out-edges."""
    tail = fetch_add(s.counters, TAIL, held)
    edges = 0
    for i in range(held):
        local_id = found[i]
        s.queue[tail + i] = local_id
        edges += s.offsets[local_id + 1] - s.offsets[local_id]
    return edges


@borrowing(shared)
def _settle(arguments, thread):
    s, entries, count, width, level = arguments
    found = s.buffers[thread, 0]
    held = 0
    edges = 0
    while True:
        start = fetch_add(s.counters, NEXT_BLOCK, ENTRY_BLOCK)
        if start >= count:
            break
        for i in range(start, min(start + ENTRY_BLOCK, count)):
            local_id = entries[HEAD + width * i] - s.base
            word, bit = word_of(local_id), bit_of(local_id)
            if s.visited[word] & bit or fetch_or(s.visited, word, bit) & bit:
                continue
            s.distances[local_id] = level
            if width == 2:
                s.predecessors[local_id] = entries[HEAD + width * i + 1]
            if held == BATCH:
                edges += _enqueue(s, found, held)
                held = 0
            found[held] = local_id
            held += 1
    return edges + _enqueue(s, found, held)


@borrowing(serial)
def settle(s, entries, width, level, end, team, threads):
    """Settle the vertices of the entries that one rank sent, unless they are visited. Returns the new end of the queue,
    and the number of out-edges of the vertices settled."""
    s.counters[NEXT_BLOCK] = 0
    s.counters[TAIL] = end
    edges = _settle(team, threads, (s, entries, entries[COUNT], width, level))
    return s.counters[TAIL], edges


@borrowing(serial)
def sweep(s, level, team, threads):
    """Look for a visited in-neighbour of each unvisited vertex. Returns how many vertices have one."""
    s.counters[NEXT_BLOCK] = 0
    return bottom_up_level(team, threads, (s, s.seen, s.fresh, level, word_block(len(s.visited), threads)))


@borrowing(serial)
def enqueue(s, team, threads):
    """Put the fresh vertices into the queue. Returns their number, and that of their out-edges."""
    s.counters[NEXT_BLOCK] = s.counters[TAIL] = 0
    edges = to_queue(team, threads, (s, s.fresh, word_block(len(s.fresh), threads)))
    return s.counters[TAIL], edges
