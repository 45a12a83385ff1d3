"""A path between two vertices, by two searches towards each other.

The smaller frontier is expanded, a level at a time, until an edge leads from one search into the other. On graphs whose
frontiers grow by a factor each search goes half as deep, and reads about the square root of the edges that one search
would read. One thread; the work, clearing included, is proportional to the vertices and edges visited, not to n.

Of many pairs, a thread takes the next one and leaves its path as a piece of its row of ``paths``. It takes no more once
its row may not hold another path, so that the pairs that have been taken are always the first ones. Then the pieces are
gathered in the order of the pairs. One thread begins; where frontiers stay small it has answered dozens of pairs before
another would be awake.

=========================  ==========================================================================================
``side[n]``                which search has found a vertex (uint8); `UNSEEN`, or `MASKED`, before and after
``parents[n]``             the previous vertex, in the search that found it; undefined for others
``queues[2, n]``           the vertices found by each search, in the order of discovery
``paths[threads, room]``   pieces, each a path; room >= n. Of the arrays above, too, there is a row for each thread
``ends[threads]``          where the last piece of a thread ends
``next_pair[1]``           the next pair to take
``pieces[k, 3]``           thread, begin and end of each pair's piece
=========================  ==========================================================================================

Sources: I. Pohl, Bi-directional search, Machine Intelligence 6, 1971; the alternation, and so the choice among several
shortest paths, is that of NetworkX's `bidirectional_shortest_path`.
"""

from collections import namedtuple

import numpy as np

from .atomics import fetch_add, prefetch
from .bits import ONE
from .compiled import borrowing, serial
from .sequential import LATER, SOON
from .team import shared

UNSEEN, FORWARD, BACKWARD, MASKED = 0, 1, 2, 3
ALONE = 1 << 14  # vertices that one thread finds before it asks others for help: about 30 microseconds

Searches = namedtuple(
    "Searches", "offsets targets in_offsets in_targets side parents queues paths ends next_pair pieces"
)


@borrowing(serial)
def shortest_path(offsets, targets, in_offsets, in_targets, source, target, side, parents, queues):
    """Fill ``queues[0]`` with a shortest path from ``source`` to ``target``; return its vertices' number, 0 without,
    and how many vertices both searches have found."""
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
    found = end + in_end
    if source == target:
        return 1, found
    if first < 0:
        return 0, found
    for place in range(depth, -1, -1):
        forward[place] = first
        first = parents[first]
    length = depth + 1
    forward[length] = last
    while last != target:
        length += 1
        last = parents[last]
        forward[length] = last
    return length + 1, found


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


@shared
def _answer_next(arguments, thread):
    """Answer pairs until this thread has found ``limit`` vertices."""
    s, sources, targets, limit = arguments
    side, parents, queues, paths = s.side[thread], s.parents[thread], s.queues[thread], s.paths[thread]
    end, found = s.ends[thread], 0
    while len(paths) - end >= len(s.offsets) - 1 and found < limit:
        i = fetch_add(s.next_pair, 0, 1)
        if i >= len(sources):
            break
        size, visited = shortest_path(
            s.offsets, s.targets, s.in_offsets, s.in_targets, sources[i], targets[i], side, parents, queues
        )
        for place in range(size):
            paths[end + place] = queues[0, place]
        s.pieces[i, 0], s.pieces[i, 1], s.pieces[i, 2] = thread, end, end + size
        end += size
        found += visited
    s.ends[thread] = end
    return 0


@serial
def shortest_paths(s, sources, targets, limit, team, threads):
    """Find a shortest path for each of the first pairs, at least one, and fill their ``pieces``; return how many. The
    piece of a pair without a path is empty. A thread that has found ``limit`` vertices takes no more pairs."""
    s.next_pair[0] = 0
    s.ends[:] = 0
    _answer_next(team, 1, (s, sources, targets, min(ALONE, limit)))
    if s.next_pair[0] < len(sources):
        _answer_next(team, threads, (s, sources, targets, limit))
    return min(s.next_pair[0], len(sources))


@serial
def gather(s, bounds, vertices):
    """Copy the pieces to ``vertices``, that of pair i to ``[bounds[i]:bounds[i + 1]]``."""
    for i in range(len(bounds) - 1):
        row, begin = s.pieces[i, 0], s.pieces[i, 1]
        for place in range(bounds[i + 1] - bounds[i]):
            vertices[bounds[i] + place] = s.paths[row, begin + place]
