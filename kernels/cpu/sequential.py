"""The textbook queue.

Take the vertex at the head of the queue, append those of its neighbours that have not been visited yet.
A vertex enters the queue once; its predecessor is the first vertex in queue order that sees it, which is
the tree that NetworkX builds. One thread, O(n + m).

``queue[n]``: vertices in the order of discovery; ``queue[head:tail]`` are discovered and not yet expanded.
``visited[words]``: bitmap of the vertices that have been in the queue, or are masked; it fits a cache where distances
do not.
Adjacencies of vertices soon to be at the head are prefetched.
Source: E. F. Moore, The shortest path through a maze, 1959; Cormen et al., Introduction to Algorithms, 22.2.
"""

import numpy as np
from numba import njit

from .atomics import prefetch
from .bits import ONE, bit_of, word_of
from .compiled import borrowing, serial

NO_TARGET = -1
SOON, LATER = np.uint64(10), np.uint64(20)  # places ahead in the queue, of a vertex whose row or offsets are prefetched


@njit(inline="always")
def prefetch_ahead(offsets, targets, queue, head, end):
    """Prefetch for vertices after ``queue[head]``: the offsets of one, and both ends of the row of a nearer one.

    Near the end of the queue it is the last vertex: a branch would cost more than prefetching it again.
    """
    last = end - ONE
    prefetch(offsets, np.uint64(queue[min(head + LATER, last)]))
    soon = np.uint64(queue[min(head + SOON, last)])
    prefetch(targets, offsets[soon])
    prefetch(targets, offsets[soon + ONE] - 1)


@njit(inline="always")
def row_at(offsets, targets, queue, head, end):
    """The vertex ``queue[head]``, and the begin and end of its row. Prefetches for those before ``end`` that follow."""
    vertex = np.uint64(queue[head])
    prefetch_ahead(offsets, targets, queue, head, end)
    return vertex, np.uint64(offsets[vertex]), np.uint64(offsets[vertex + ONE])


@njit(inline="always")
def expand(offsets, targets, begin, end, level, visited, distances, predecessors, queue):
    """Append the unvisited neighbours of ``queue[begin:end]`` to the queue; return its new end.

    It is compiled into its callers: to pass so many arrays takes longer than a small level. Its indices are unsigned,
    since Numba tests signed ones, which may count from the end.
    """
    want_predecessors = len(predecessors) > 0
    head, stop, tail, full = np.uint64(begin), np.uint64(end), np.uint64(end), np.uint64(len(queue))
    while head < stop and tail < full:  # until all vertices are found
        vertex, edge, last = row_at(offsets, targets, queue, head, tail)
        head += ONE
        while edge < last:
            neighbor = np.uint64(targets[edge])
            edge += ONE
            word, bit = word_of(neighbor), bit_of(neighbor)
            if not visited[word] & bit:
                visited[word] |= bit
                distances[neighbor] = level
                if want_predecessors:
                    predecessors[neighbor] = vertex
                queue[tail] = neighbor
                tail += ONE
    return np.int64(tail)


@borrowing(serial)
def search(offsets, targets, sources, depth_limit, target, distances, predecessors, queue, visited, masked):
    """Fill ``distances[n]`` and, unless its length is 0, ``predecessors[n]``; return the number of reached vertices.

    The search ends below ``depth_limit`` and after the level that reaches ``target`` (-1: none). It does not enter the
    vertices in ``masked[words]``, a bitmap that may have length 0; no source is one of them.
    """
    distances[:] = -1
    predecessors[:] = -1
    visited[:] = 0
    for word in range(len(masked)):
        visited[word] = masked[word]
    begin, end = 0, 0
    for source in sources:
        if distances[source] < 0:
            distances[source] = 0
            visited[word_of(source)] |= bit_of(source)
            queue[end] = source
            end += 1
    level = 0
    while begin < end and level < depth_limit and not (target >= 0 and distances[target] >= 0):
        level += 1
        begin, end = end, expand(offsets, targets, begin, end, level, visited, distances, predecessors, queue)
    return end
