"""Searches whose order counts: the order in which a sequential queue discovers vertices, and results that depend on it.

``offsets[n + 1], targets[m]``: out-edges. A ``queue`` holds vertices in the order of discovery. Nothing here is atomic:
a search belongs to one thread, and several run side by side.
"""

import numpy as np

from .. import sequential
from ..atomics import fetch_add
from ..bits import WORD
from ..compiled import serial
from ..team import shared


@shared
def _search_next(arguments, thread):
    offsets, targets, sources, depth_limit, distances, predecessors, queues, reached, next_source = arguments
    visited = np.empty(distances.shape[1] // WORD + 1, np.uint64)
    masked = visited[:0]
    while True:
        i = fetch_add(next_source, 0, 1)
        if i >= len(sources):
            return 0
        reached[i] = sequential.search(
            offsets, targets, sources[i : i + 1], depth_limit, sequential.NO_TARGET,
            distances[i], predecessors[i], queues[i], visited, masked,
        )  # fmt: skip


@serial
def search_each(offsets, targets, sources, depth_limit, distances, predecessors, queues, reached, team, threads):
    """Search from each of ``sources[k]`` alone, as `sequential.search`: row i of the arrays [k, n] is that of source i.

    ``reached[k]`` is the number of vertices in a queue. O(k (n + m)).
    """
    next_source = np.zeros(1, np.int64)
    _search_next(
        team, threads,
        (offsets, targets, sources, depth_limit, distances, predecessors, queues, reached, next_source),
    )  # fmt: skip


@serial
def all_predecessors(offsets, targets, queue, distances, bounds, predecessors):
    """Every vertex one level up of each vertex in the queue, in queue order.

    Fills ``bounds[len(queue) + 1]`` and ``predecessors[m]``: those of ``queue[i]`` are
    ``predecessors[bounds[i]:bounds[i + 1]]``. O(n + m).
    """
    place = np.empty(len(distances), np.int64)
    for i in range(len(queue)):
        place[queue[i]] = i
    bounds[:] = 0
    for vertex in queue:
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if distances[neighbor] == distances[vertex] + 1:
                bounds[place[neighbor] + 1] += 1
    for i in range(len(queue)):
        bounds[i + 1] += bounds[i]
    cursors = bounds[:-1].copy()
    for vertex in queue:
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if distances[neighbor] == distances[vertex] + 1:
                predecessors[cursors[place[neighbor]]] = vertex
                cursors[place[neighbor]] += 1


@serial
def mark_towards(offsets, targets, queue, distances, target, marks):
    """Mark in ``marks[n]``, False before, the vertices of the queue on shortest paths to ``target``, which is in it.
    O(n + m)."""
    marks[target] = True
    for i in range(len(queue) - 1, -1, -1):
        vertex = queue[i]
        if distances[vertex] < distances[target]:
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                neighbor = targets[edge]
                if marks[neighbor] and distances[neighbor] == distances[vertex] + 1:
                    marks[vertex] = True
                    break


@serial
def heads(offsets, targets, source, directed, found, queue):
    """The ends of the edges that a search from ``source`` walks, each once, in the order met; return how many.

    The source is among them if an edge leads back to it; an undirected edge is walked once, so there only a
    self-loop does. ``found[n]`` is False before and after.
    """
    tail = 0
    vertex = source
    head = -1
    while head < tail:
        if head >= 0:
            vertex = queue[head]
        head += 1
        if vertex == source and head > 0:
            continue
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if found[neighbor] or (neighbor == source and vertex != source and not directed):
                continue
            found[neighbor] = True
            queue[tail] = neighbor
            tail += 1
    for i in range(tail):
        found[queue[i]] = False
    return tail


@serial
def order_along(offsets, children, sources, queue):
    """Fill ``queue[n]`` as a sequential queue does that searches trees, given as CSR; return its end."""
    tail = len(sources)
    for i in range(tail):
        queue[i] = sources[i]
    head = 0
    while head < tail:
        vertex = queue[head]
        head += 1
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            queue[tail] = children[edge]
            tail += 1
    return tail


@serial
def add_to_edges(offsets, targets, queue, distances, wanted, sums):
    """Add to ``sums[m]`` what the paths from ``queue[0]`` to the ``wanted[n]`` vertices owe to each edge.

    As NetworkX has it in `edge_betweenness_centrality_subset`: a wanted vertex divides what depends on it among its
    predecessors by their number of paths, another one evenly.
    """
    n = len(distances)
    paths, dependency, parents = np.zeros(n), np.zeros(n), np.zeros(n)
    paths[queue[0]] = 1
    for vertex in queue:
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if distances[neighbor] == distances[vertex] + 1:
                paths[neighbor] += paths[vertex]
                parents[neighbor] += 1
    for i in range(len(queue) - 1, -1, -1):
        vertex = queue[i]
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if distances[neighbor] == distances[vertex] + 1:
                if wanted[neighbor]:
                    share = paths[vertex] / paths[neighbor] * (1 + dependency[neighbor])
                else:
                    share = dependency[neighbor] / parents[neighbor]
                sums[edge] += share
                dependency[vertex] += share
