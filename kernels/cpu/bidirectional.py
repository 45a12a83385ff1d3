"""A path between two vertices, by two searches towards each other.

The smaller frontier is expanded, a level at a time, until an edge leads from one search into the other. On graphs whose
frontiers grow by a factor each search goes half as deep, and reads about the square root of the edges that one search
would read. One thread; the work, clearing included, is proportional to the vertices and edges visited, not to n.

====================  ==========================================================================
``side[n]``           which search has found a vertex (uint8); `UNSEEN`, or `MASKED`, before and after
``parents[n]``        the previous vertex, in the search that found it; undefined for others
``queues[2, n]``      the vertices found by each search, in the order of discovery
====================  ==========================================================================

Sources: I. Pohl, Bi-directional search, Machine Intelligence 6, 1971; the alternation, and so the choice among several
shortest paths, is that of NetworkX's `bidirectional_shortest_path`.
"""

import numpy as np

from .atomics import prefetch
from .bits import ONE
from .compiled import borrowing, serial
from .sequential import LATER, SOON

UNSEEN, FORWARD, BACKWARD, MASKED = 0, 1, 2, 3


@borrowing(serial)
def shortest_path(offsets, targets, in_offsets, in_targets, source, target, side, parents, queues):
    """Fill ``queues[0]`` with a shortest path from ``source`` to ``target``; return its vertices' number, 0 without."""
    forward, backward = queues[0], queues[1]
    forward[0], backward[0] = source, target
    side[source], side[target] = FORWARD, BACKWARD
    begin, end, in_begin, in_end = 0, 1, 0, 1
    depth = 0  # of the forward search
    first, last = -1, -1  # the edge between the searches
    while first < 0 and source != target and begin < end and in_begin < in_end:
        if end - begin <= in_end - in_begin:
            first, last, tail = _advance(offsets, targets, forward, begin, end, FORWARD, side, parents)
            begin, end = end, tail
            depth += first < 0
        else:
            last, first, tail = _advance(in_offsets, in_targets, backward, in_begin, in_end, BACKWARD, side, parents)
            in_begin, in_end = in_end, tail
    for i in range(end):
        side[forward[i]] = UNSEEN
    for i in range(in_end):
        side[backward[i]] = UNSEEN
    if source == target:
        return 1
    if first < 0:
        return 0
    for place in range(depth, -1, -1):
        forward[place] = first
        first = parents[first]
    length = depth + 1
    forward[length] = last
    while last != target:
        length += 1
        last = parents[last]
        forward[length] = last
    return length + 1


@borrowing(serial)
def _advance(offsets, targets, queue, begin, end, own, side, parents):
    """Expand ``queue[begin:end]``; return the ends of the first edge into the other search, -1 if there is none, and
    the queue's end."""
    tail = np.uint64(end)
    for place in range(np.uint64(begin), np.uint64(end)):
        vertex = np.uint64(queue[place])
        if place + LATER < tail:
            prefetch(offsets, np.uint64(queue[place + LATER]))
            prefetch(targets, offsets[np.uint64(queue[place + SOON])])
        for edge in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + ONE])):
            neighbor = np.uint64(targets[edge])
            found_by = side[neighbor]
            if found_by == UNSEEN:
                side[neighbor] = own
                parents[neighbor] = vertex
                queue[tail] = neighbor
                tail += ONE
            elif found_by != own and found_by != MASKED:
                return np.int64(vertex), np.int64(neighbor), np.int64(tail)
    return np.int64(-1), np.int64(-1), np.int64(tail)
