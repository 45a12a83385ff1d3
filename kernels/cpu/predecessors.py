"""The predecessors of many searches, from their distances: O(n + m) for each search."""

from numba import prange

from .compiled import parallel


@parallel
def find_predecessors(offsets, sources, distances, predecessors):
    """Fill ``predecessors[rows, n]`` from ``distances[rows, n]``, -1 where a vertex is not reached.

    ``offsets[n + 1]`` and ``sources[m]`` are the in-edges. A reached vertex gets its first in-neighbour one level up; a
    source gets -1, as does a vertex that is not reached.
    """
    rows, n = distances.shape
    for i in prange(rows * n):
        row, vertex = i // n, i % n
        distance = distances[row, vertex]
        predecessors[row, vertex] = -1
        if distance > 0:
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                if distances[row, sources[edge]] == distance - 1:
                    predecessors[row, vertex] = sources[edge]
                    break
