"""Betweenness: shortest paths through each vertex or arc, the sources shared out over the cores.

A thread takes a source, counts the shortest paths to every vertex in the order of a search, and goes back in that
order: a vertex gets from each neighbour one level below its share of that neighbour's dependency. Both passes go over
out-edges, so that no lists of predecessors are kept.

Work: two passes over the edges that a source reaches. Nothing is shared between threads: each has sums of its own,
and which sources it takes depends on the number of threads alone, so that the same number gives the same bits.

===========================  =================================================================================
``offsets[n + 1], targets``  out-edges; an arc that is there twice counts as two paths
``is_target[n]``             vertices to which paths are counted
``distances[n]``             of the thread's source; -1 before and after
``paths[n]``                 shortest paths from the source
``dependencies[n]``          what the vertex passes on: (dependency + 1 if it is a target) / paths
``queue[n]``                 vertices in the order in which they were found
``sums[n]`` or ``sums[m]``   of the thread
===========================  =================================================================================

Source: U. Brandes, A faster algorithm for betweenness centrality, J. Mathematical Sociology 25(2), 2001; for arcs and
subsets U. Brandes, On variants of shortest-path betweenness centrality, Social Networks 30(2), 2008.
"""

import numpy as np
from numba import prange

from .compiled import parallel, serial


@serial
def _count_paths(offsets, targets, source, distances, paths, queue):
    """Search from ``source``; return how many vertices it reaches."""
    distances[source] = 0
    paths[source] = 1.0
    queue[0] = source
    end = 1
    position = 0
    while position < end:
        vertex = queue[position]
        position += 1
        below = distances[vertex] + 1
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if distances[neighbor] < 0:
                distances[neighbor] = below
                paths[neighbor] = 0.0
                queue[end] = neighbor
                end += 1
            if distances[neighbor] == below:
                paths[neighbor] += paths[vertex]
    return end


@serial
def _go_back(offsets, targets, is_target, distances, paths, dependencies, queue, end, endpoints, edges, sums):
    """Add the dependencies of the source ``queue[0]`` to ``sums``, and reset ``distances``."""
    source = queue[0]
    counted = 0
    for position in range(end - 1, -1, -1):
        vertex = queue[position]
        below = distances[vertex] + 1
        dependency = 0.0
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if distances[neighbor] == below:
                share = paths[vertex] * dependencies[neighbor]
                dependency += share
                if edges:
                    sums[edge] += share
        target = is_target[vertex] and vertex != source
        counted += target
        dependencies[vertex] = (dependency + target) / paths[vertex]
        if not edges and vertex != source:
            sums[vertex] += dependency + (endpoints and target)
    if endpoints and not edges:
        sums[source] += counted
    for position in range(end):
        distances[queue[position]] = -1


@parallel
def betweenness(offsets, targets, sources, is_target, endpoints, edges, sums):
    """Add to ``sums[threads, n]`` (``[threads, m]`` if ``edges``) what the sources contribute."""
    threads = len(sums)
    n = len(is_target)
    for thread in prange(threads):
        distances = np.full(n, -1, np.int32)
        paths = np.empty(n)
        dependencies = np.empty(n)
        queue = np.empty(n, targets.dtype)
        for i in range(thread, len(sources), threads):
            end = _count_paths(offsets, targets, sources[i], distances, paths, queue)
            _go_back(
                offsets, targets, is_target, distances, paths, dependencies, queue, end, endpoints, edges, sums[thread]
            )
