"""A graph with its vertices renumbered: those with the most out-edges first, those without in-edges last.

On skewed graphs most edges lead to few vertices. With neighbouring numbers these share cache lines and pages; and a
bottom-up search finds a reached neighbour early in an adjacency that lists them first.

``rank[n]`` is a vertex's new number and ``order[n]`` the vertex that has it.
"""

import numpy as np
from numba import prange

from .atomics import fetch_add
from .compiled import parallel, serial

BLOCK = 64  # vertices that a thread takes at a time


@parallel
def relabel(offsets, targets, rank, order, new_offsets, new_targets):
    """The same edges by the new numbers; ``new_offsets`` are given, an adjacency keeps its order."""
    for vertex in prange(len(order)):
        first = offsets[order[vertex]]
        place = new_offsets[vertex]
        for edge in range(first, offsets[order[vertex] + 1]):
            new_targets[place + edge - first] = rank[targets[edge]]


@serial
def _place(offsets, targets, cursors, in_targets, counter):
    n = len(offsets) - 1
    while True:
        start = fetch_add(counter, 0, BLOCK)
        if start >= n:
            break
        for vertex in range(start, min(start + BLOCK, n)):
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                in_targets[fetch_add(cursors, targets[edge], 1)] = vertex


@parallel
def transpose(offsets, targets, in_offsets, in_targets, threads):
    """Fill ``in_targets`` with the in-neighbours of each vertex, about in ascending order: the threads go in step."""
    cursors = in_offsets[:-1].copy()
    counter = np.zeros(1, np.int64)
    for _ in prange(threads):
        _place(offsets, targets, cursors, in_targets, counter)
