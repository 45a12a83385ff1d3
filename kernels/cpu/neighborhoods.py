"""Neighbourhoods: from each of many centres what lies within some hops, and the arcs in between.

A thread takes the next centre and searches from it with a queue, which it leaves as a piece of its row of ``vertices``.
It takes no more once its row may not hold another piece, so that the centres that have been taken are always the first
ones, each with its whole neighbourhood. Then the pieces are gathered in the order of the centres.

Work: for each centre, the edges of what lies within fewer hops; nothing for the rest of the graph, since a thread
resets its bitmap by its queue.

=============================  ================================================================================
``offsets[n + 1], targets``    the edges to follow; ``more_offsets, more_targets`` others, of length 0 if there are none
``vertices[threads, room]``    pieces, each in the order of discovery; room >= n
``distances[threads, room]``   of these vertices from their centres
``visited[threads, words]``    bitmaps over vertices. 0 before and after
``pieces[k, 3]``               thread, begin and end of each centre's piece
=============================  ================================================================================

A piece of an answer for k centres is ``[bounds[i]:bounds[i + 1]]`` of its arrays, ``bounds[k + 1]``.

Python passes the arrays one by one: Numba examines a named tuple in Python, which takes as long as a small search.
"""

from collections import namedtuple

import numpy as np

from .atomics import fetch_add, prefetch
from .bits import bit_of, word_of
from .compiled import serial
from .sequential import LATER, SOON
from .team import shared

Searches = namedtuple("Searches", "offsets targets more_offsets more_targets vertices distances visited")


@serial
def _append_neighbors(offsets, targets, queue, begin, end, tail, visited):
    """Append the unvisited neighbours of ``queue[begin:end]`` at ``tail``; return the new end."""
    for head in range(begin, end):
        vertex = queue[head]
        if head + LATER < tail:
            prefetch(offsets, queue[head + LATER])
            prefetch(targets, offsets[queue[head + SOON]])
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            word, bit = word_of(neighbor), bit_of(neighbor)
            if not visited[word] & bit:
                visited[word] |= bit
                queue[tail] = neighbor
                tail += 1
    return tail


@serial
def _mark(vertices, visited):
    for vertex in vertices:
        visited[word_of(vertex)] |= bit_of(vertex)


@serial
def _unmark(vertices, visited):
    for vertex in vertices:
        visited[word_of(vertex)] = 0


@serial
def _search(s, center, hops, queue, distances, visited, first):
    """Search from ``center`` into ``queue[first:]``; return where its piece ends."""
    queue[first] = center
    distances[first] = 0
    visited[word_of(center)] |= bit_of(center)
    begin, end, level = first, first + 1, 0
    while begin < end and level < hops:
        level += 1
        tail = _append_neighbors(s.offsets, s.targets, queue, begin, end, end, visited)
        if len(s.more_offsets) > 0:
            tail = _append_neighbors(s.more_offsets, s.more_targets, queue, begin, end, tail, visited)
        for place in range(end, tail):
            distances[place] = level
        begin, end = end, tail
    _unmark(queue[first:end], visited)
    return end


@shared
def _search_next(arguments, thread):
    s, next_center, pieces, centers, hops = arguments
    queue, distances, visited = s.vertices[thread], s.distances[thread], s.visited[thread]
    end = 0
    while len(queue) - end >= len(s.offsets) - 1:
        i = fetch_add(next_center, 0, 1)
        if i >= len(centers):
            return 0
        begin, end = end, _search(s, centers[i], hops, queue, distances, visited, end)
        pieces[i, 0], pieces[i, 1], pieces[i, 2] = thread, begin, end
    return 0


@serial
def search(pieces, bounds, centers, hops, team, threads, *arrays):
    """Find the neighbourhoods of the first centres, at least one, and fill their ``pieces`` and ``bounds``; return how
    many. ``arrays`` are those of `Searches`."""
    s = Searches(*arrays)
    next_center = np.zeros(1, np.int64)
    _search_next(team, threads, (s, next_center, pieces, centers, hops))
    found = min(next_center[0], len(centers))
    bounds[0] = 0
    for i in range(found):
        bounds[i + 1] = bounds[i] + pieces[i, 2] - pieces[i, 1]
    return found


@shared
def _gather_next(arguments, thread):
    rows, rows_of_distances, next_piece, pieces, bounds, vertices, distances = arguments
    while True:
        i = fetch_add(next_piece, 0, 1)
        if i >= len(bounds) - 1:
            return 0
        row, begin, size = pieces[i, 0], pieces[i, 1], bounds[i + 1] - bounds[i]
        for place in range(size):
            vertices[bounds[i] + place] = rows[row, begin + place]
            distances[bounds[i] + place] = rows_of_distances[row, begin + place]


@serial
def gather(rows, rows_of_distances, pieces, bounds, vertices, distances, team, threads):
    """Copy the pieces, which are in the ``rows``, to ``vertices`` and ``distances``."""
    next_piece = np.zeros(1, np.int64)
    _gather_next(team, threads, (rows, rows_of_distances, next_piece, pieces, bounds, vertices, distances))


@shared
def _count_next(arguments, thread):
    offsets, targets, visited, next_piece, bounds, vertices, counts = arguments
    inside = visited[thread]
    while True:
        i = fetch_add(next_piece, 0, 1)
        if i >= len(bounds) - 1:
            return 0
        _mark(vertices[bounds[i] : bounds[i + 1]], inside)
        count = 0
        for place in range(bounds[i], bounds[i + 1]):
            vertex = vertices[place]
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                neighbor = targets[edge]
                count += (inside[word_of(neighbor)] & bit_of(neighbor)) != 0
        counts[i] = count
        _unmark(vertices[bounds[i] : bounds[i + 1]], inside)


@serial
def count_arcs(offsets, targets, visited, bounds, vertices, counts, team, threads):
    """Fill ``counts[k]``: how many arcs lead from a vertex of a piece to another of the same piece."""
    next_piece = np.zeros(1, np.int64)
    _count_next(team, threads, (offsets, targets, visited, next_piece, bounds, vertices, counts))


@shared
def _write_next(arguments, thread):
    offsets, targets, visited, next_piece, bounds, vertices, arc_bounds, tails, heads = arguments
    inside = visited[thread]
    while True:
        i = fetch_add(next_piece, 0, 1)
        if i >= len(bounds) - 1:
            return 0
        _mark(vertices[bounds[i] : bounds[i + 1]], inside)
        arc, end = arc_bounds[i], arc_bounds[i + 1]
        for place in range(bounds[i], bounds[i + 1]):
            vertex = vertices[place]
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                if arc == end:
                    break
                neighbor = targets[edge]
                tails[arc], heads[arc] = vertex, neighbor  # the next overwrites one that leads outside, without a
                arc += (inside[word_of(neighbor)] & bit_of(neighbor)) != 0  # branch that is hard to predict
        _unmark(vertices[bounds[i] : bounds[i + 1]], inside)


@serial
def write_arcs(offsets, targets, visited, bounds, vertices, arc_bounds, tails, heads, team, threads):
    """Write the arcs that `count_arcs` counts, those of piece i from ``arc_bounds[i]`` on."""
    next_piece = np.zeros(1, np.int64)
    _write_next(team, threads, (offsets, targets, visited, next_piece, bounds, vertices, arc_bounds, tails, heads))
