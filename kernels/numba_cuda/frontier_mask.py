"""Frontier mask: one thread per vertex, one launch per level.

Every vertex has a thread at every level. The thread of a vertex in the frontier looks along the adjacency, and
each neighbour that was not visited gets its cost and a flag in the frontier of the next level. The search ends
with the level that flags no vertex.

====================  ========================================================================================
``frontier[n]``       F: the vertices to expand at this level; all False when the level is over
``upcoming[n]``       F of the next level; the host swaps the two
``visited[n]``        X: the vertices reached so far, sources included
``distances[n]``      C: the level that reached the vertex, 0 at a source, -1 while there is none
``predecessors[n]``   the vertex that reached it, -1 while there is none; of length 0 if not wanted
``announced[1]``      the last level of which the host knows that it reached a vertex
``status[2]``         in the host's memory, see `rapids_bfs.kernels`
====================  ========================================================================================

Work: every level touches all n flags, however small the frontier is, so a graph of D levels costs O(n D + m). The
adjacency of a hub is one thread's work while the other 31 of its warp wait.
Synchronisation: one launch and one wait of the host a level.

Races. The paper keeps one frontier mask and computes a cost as C[neighbour] = C[vertex] + 1, marking X only when a
vertex is expanded. A thread may then find its flag set during the launch in which it runs, expand its vertex one
level early, and hand on costs that are too high; and two adjacent vertices of one frontier raise each other's cost.
Here the flags of the next level go to a mask of their own, the cost is the number of the level, and X is set
with the cost. What is left is harmless: several threads may see one neighbour unvisited, and then all of them store
the same cost and the same flags; the predecessors they store differ, and any of them is one level up.

Source: P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, HiPC 2007: the
adjacency list in section 3, the search in section 4.1. The second mask is ours.
"""

import numpy as np
from numba import cuda

from .. import TARGET_LEVEL
from .levels import announce


@cuda.jit
def reset(n, frontier, upcoming, visited, distances, predecessors, announced):
    """Forget the last search."""
    vertex = cuda.grid(1)
    if vertex == 0:
        announced[0] = 0
    if vertex < n:
        frontier[vertex] = False
        upcoming[vertex] = False
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
def expand(
    offsets, targets, n, level, target, frontier, upcoming, visited, distances, predecessors, announced, status
):  # fmt: skip
    """Reach the unvisited neighbours of the frontier."""
    vertex = cuda.grid(1)
    reached = np.int32(0)
    if vertex < n and frontier[vertex]:
        frontier[vertex] = False
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            if visited[neighbor]:
                continue
            visited[neighbor] = True
            upcoming[neighbor] = True
            distances[neighbor] = level
            if predecessors.size > 0:
                predecessors[neighbor] = vertex
            if neighbor == target:
                status[TARGET_LEVEL] = level
            reached = np.int32(1)
    if cuda.syncthreads_or(reached) and cuda.threadIdx.x == 0:
        announce(level, announced, status)
