"""Two kernels: expand the frontier into an updating mask, then commit it. One thread per vertex.

`expand` gives a cost and an updating flag to each unvisited neighbour of the frontier. `commit` makes the flagged
vertices visited and the frontier of the next level, and tells the host whether there were any.

====================  ========================================================================================
``frontier[n]``       the vertices to expand at this level; all False between `expand` and `commit`
``updating[n]``       the vertices that this level reached; all False after `commit`
``visited[n]``        the vertices reached before this level; after `commit`, those that it reached too
``distances[n]``      the level that reached the vertex, 0 at a source, -1 while there is none
``predecessors[n]``   the vertex that reached it, -1 while there is none; of length 0 if not wanted
``announced[1]``      the last level of which the host knows that it reached a vertex
``status[2]``         in the host's memory, see `rapids_bfs.kernels`; its PROGRESS is the stop flag
====================  ========================================================================================

Work: both kernels touch all n flags at every level, so a graph of D levels costs O(n D + m). The adjacency of a hub
is one thread's work.
Synchronisation: two launches and one wait of the host a level.

Races: `expand` reads ``visited``, which only `commit` writes, and the end of a launch stands between the two: whether
a vertex is visited cannot change under a level. Several threads may reach one neighbour. They store the same flag
and the same cost, and predecessors that differ; any of those is one level up. In `commit` a thread touches its own
vertex alone.

Source: S. Che et al., Rodinia: a benchmark suite for heterogeneous computing, IISWC 2009, its program ``bfs``. Its
stop flag is copied from the device at each level; this one is stored in the host's memory.
"""

import numpy as np
from numba import cuda

from .. import TARGET_LEVEL
from .levels import announce


@cuda.jit
def reset(n, frontier, updating, visited, distances, predecessors, announced):
    """Forget the last search."""
    vertex = cuda.grid(1)
    if vertex == 0:
        announced[0] = 0
    if vertex < n:
        frontier[vertex] = False
        updating[vertex] = False
        visited[vertex] = False
        distances[vertex] = -1
        if predecessors.size > 0:
            predecessors[vertex] = -1


@cuda.jit
def seed(count, sources, frontier, visited, distances):
    """Make the first ``count`` of ``sources`` the frontier, beside those that are there."""
    i = cuda.grid(1)
    if i < count:
        source = sources[i]
        frontier[source] = True
        visited[source] = True
        distances[source] = 0


@cuda.jit
def expand(offsets, targets, n, level, frontier, updating, visited, distances, predecessors):
    """Flag the unvisited neighbours of the frontier, and empty the frontier."""
    vertex = cuda.grid(1)
    if vertex < n and frontier[vertex]:
        frontier[vertex] = False
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if visited[neighbor]:
                continue
            updating[neighbor] = True
            distances[neighbor] = level
            if predecessors.size > 0:
                predecessors[neighbor] = vertex


@cuda.jit
def commit(n, level, target, frontier, updating, visited, announced, status):
    """Make the flagged vertices visited and the frontier, and tell the host if there are any."""
    vertex = cuda.grid(1)
    reached = np.int32(0)
    if vertex < n and updating[vertex]:
        updating[vertex] = False
        frontier[vertex] = True
        visited[vertex] = True
        if vertex == target:
            status[TARGET_LEVEL] = level
        reached = np.int32(1)
    if cuda.syncthreads_or(reached) and cuda.threadIdx.x == 0:
        announce(level, announced, status)
