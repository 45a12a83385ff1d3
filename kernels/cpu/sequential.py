"""The textbook queue.

Take the vertex at the head of the queue, append those of its neighbours that have not been visited yet.
A vertex enters the queue once; its predecessor is the first vertex in queue order that sees it, which is
the tree that NetworkX builds. One thread, O(n + m).

``queue[n]``: vertices in the order of discovery; ``queue[head:tail]`` are discovered and not yet expanded.
``visited[words]``: bitmap of the vertices that have been in the queue; it fits a cache where distances do not.
Adjacencies of vertices soon to be at the head are asked for in advance.
Source: E. F. Moore, The shortest path through a maze, 1959; Cormen et al., Introduction to Algorithms, 22.2.
"""

from .atomics import prefetch
from .bits import bit_of, word_of
from .compiled import serial

SOON, LATER = 4, 12  # places in the queue: whose edges, and whose bounds of edges, are asked for


@serial
def search(offsets, targets, sources, depth_limit, target, distances, predecessors, queue, visited):
    """Fill ``distances[n]`` and, unless its length is 0, ``predecessors[n]``; return the number of reached vertices.

    The search ends below ``depth_limit`` and after the level that reaches ``target`` (-1: none).
    """
    want_predecessors = len(predecessors) > 0
    distances[:] = -1
    predecessors[:] = -1
    visited[:] = 0
    tail = 0
    for source in sources:
        if distances[source] < 0:
            distances[source] = 0
            visited[word_of(source)] |= bit_of(source)
            queue[tail] = source
            tail += 1

    head = 0
    while head < tail < len(distances):  # once all are found no edge tells anything new
        vertex = queue[head]
        head += 1
        if head + LATER < tail:
            prefetch(offsets, queue[head + LATER])
            prefetch(targets, offsets[queue[head + SOON]])
        distance = distances[vertex] + 1
        if distance > depth_limit or (target >= 0 and 0 <= distances[target] < distance):
            break
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            word, bit = word_of(neighbor), bit_of(neighbor)
            if not visited[word] & bit:
                visited[word] |= bit
                distances[neighbor] = distance
                if want_predecessors:
                    predecessors[neighbor] = vertex
                queue[tail] = neighbor
                tail += 1
    return tail
