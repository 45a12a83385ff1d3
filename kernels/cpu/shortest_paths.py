"""All shortest paths: the arcs that lead one level down, and how many paths they make.

An arc lies on a shortest path from the source exactly if it leads from a vertex at some distance to one at the next.
One pass over the arcs of the vertices reached counts them, another writes them. Threads take `ROWS` vertices at a time.

=============================  ===================================================================================
``offsets[n + 1], targets``    the arcs of the graph; of the acyclic graph ``down_offsets, down_targets``
``distances[n]``               from the source; -1 for vertices that are left out
``degrees[n]``                 arcs that lead one level down
``next_row[1]``                the next vertex to take
=============================  ===================================================================================
"""

from .atomics import fetch_add
from .compiled import serial
from .team import shared

ROWS = 1024


@shared
def _count_next(arguments, thread):
    offsets, targets, distances, degrees, next_row = arguments
    while True:
        first = fetch_add(next_row, 0, ROWS)
        if first >= len(distances):
            return 0
        for vertex in range(first, min(first + ROWS, len(distances))):
            count = 0
            if distances[vertex] >= 0:
                for arc in range(offsets[vertex], offsets[vertex + 1]):
                    count += distances[targets[arc]] == distances[vertex] + 1
            degrees[vertex] = count


@serial
def count_arcs(offsets, targets, distances, degrees, next_row, team, threads):
    """Fill ``degrees``; ``next_row`` is 0."""
    _count_next(team, threads, (offsets, targets, distances, degrees, next_row))


@shared
def _write_next(arguments, thread):
    offsets, targets, distances, down_offsets, down_targets, next_row = arguments
    while True:
        first = fetch_add(next_row, 0, ROWS)
        if first >= len(distances):
            return 0
        for vertex in range(first, min(first + ROWS, len(distances))):
            place, end = down_offsets[vertex], down_offsets[vertex + 1]
            for arc in range(offsets[vertex], offsets[vertex + 1]):
                if place == end:
                    break
                neighbor = targets[arc]
                down_targets[place] = neighbor
                place += distances[neighbor] == distances[vertex] + 1


@serial
def write_arcs(offsets, targets, distances, down_offsets, down_targets, next_row, team, threads):
    """Write the targets of the arcs that `count_arcs` counts, in their order; ``next_row`` is 0."""
    _write_next(team, threads, (offsets, targets, distances, down_offsets, down_targets, next_row))


@serial
def count_paths(offsets, targets, source, counts, queue):
    """Fill ``counts[n]`` (float64), 0 before, with the paths from ``source`` along the arcs of an acyclic graph whose
    arcs all lead one level down. ``queue[n]`` is overwritten. One thread, O(n + m)."""
    counts[source] = 1.0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        vertex = queue[head]
        head += 1
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[arc]
            if counts[neighbor] == 0:
                queue[tail] = neighbor
                tail += 1
            counts[neighbor] += counts[vertex]
