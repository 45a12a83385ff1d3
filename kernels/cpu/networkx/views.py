"""What a view shows: some vertices of a graph, renumbered in the view's order, and some arcs between them.

============================  ===================================================================================
``offsets[n + 1], targets``   the adjacency of the graph that is viewed
``vertices[k]``               the vertices that the view shows, in its order
``place[n]``                  their inverse; -1 for a vertex that is not shown
``passing[m]``                bool, the arcs that pass the view's filter of edges; of length 0 if it has none
============================  ===================================================================================
"""

import numpy as np
from numba import prange

from ..compiled import parallel, serial


@serial
def mark_arcs(offsets, targets, tails, heads, marked):
    """Set ``marked[m]`` of each arc from ``tails[i]`` to ``heads[i]``. ``tails`` ascend. O(n + arcs out of them)."""
    tail_to = np.full(len(offsets) - 1, -1, np.int64)  # the last tail from which each vertex is wanted as a head
    begin = 0
    while begin < len(tails):
        tail, end = tails[begin], begin
        while end < len(tails) and tails[end] == tail:
            tail_to[heads[end]] = tail
            end += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            marked[arc] |= tail_to[targets[arc]] == tail
        begin = end


@parallel
def count_shown(offsets, targets, vertices, place, passing, degrees):
    """Fill ``degrees[k]``: how many arcs out of each vertex the view shows."""
    for i in prange(len(vertices)):
        degree = 0
        for arc in range(offsets[vertices[i]], offsets[vertices[i] + 1]):
            degree += place[targets[arc]] >= 0 and (len(passing) == 0 or passing[arc])
        degrees[i] = degree


@parallel
def write_shown(offsets, targets, vertices, place, passing, bounds, shown):
    """Write the heads of these arcs, those out of vertex i from ``shown[bounds[i]]`` on."""
    for i in prange(len(vertices)):
        end = bounds[i]
        for arc in range(offsets[vertices[i]], offsets[vertices[i] + 1]):
            head = place[targets[arc]]
            if head >= 0 and (len(passing) == 0 or passing[arc]):
                shown[end] = head
                end += 1
