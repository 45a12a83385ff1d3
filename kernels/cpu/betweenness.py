"""Betweenness: shortest paths through each vertex or arc, with the sources distributed over the cores.

A thread takes a source, counts the shortest paths to every vertex in the order of a search, and goes back in that
order: a vertex gets from each neighbour one level below its share of that neighbour's dependency. Both passes go over
out-edges; the first marks those that lead a level down, and the second reads only the marked ones.

Work: two passes over the edges that a source reaches. Threads share nothing. The sources are distributed over the
rows of ``sums``, which threads take: the same number of rows gives the same bits, whichever threads take them.

===========================  =================================================================================
``offsets[n + 1], targets``  out-edges; a duplicate arc counts as another path
``is_target[n]``             vertices to which paths are counted
``values[n]``                shortest paths from the source; once the vertex is done on the way back,
                             what it passes on: (dependency + 1 if it is a target) / paths. 0 before and after
``above[words]``             bitmap of the vertices at the level being expanded and above. 0 before and after
``down[words]``              bitmap of the edges that lead a level down. 0 before and after
``queue[n + 1]``             vertices in the order in which they were found
``sums[rows, n]``            the contributions of a row's sources; ``[rows, m]`` for arcs
===========================  =================================================================================

Source: U. Brandes, A faster algorithm for betweenness centrality, J. Mathematical Sociology 25(2), 2001; for arcs and
subsets U. Brandes, On variants of shortest-path betweenness centrality, Social Networks 30(2), 2008.
"""

import numpy as np

from .atomics import fetch_add, prefetch
from .bits import LAST, ONE, WORD, bit_of, lowest_one, word_of
from .compiled import borrowing, serial
from .sequential import LATER, SOON, prefetch_ahead
from .team import shared


@borrowing(serial)
def _count_paths(offsets, targets, source, values, above, down, queue):
    """Search from ``source``; return how many vertices it reaches."""
    values[source] = 1.0
    above[word_of(source)] |= bit_of(source)
    queue[0] = source
    begin, end = np.uint64(0), ONE
    while begin < end:
        tail = end
        for position in range(begin, end):
            vertex = np.uint64(queue[position])
            prefetch_ahead(offsets, targets, queue, position, tail)
            paths = values[vertex]
            for edge in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + ONE])):
                neighbor = np.uint64(targets[edge])
                if above[word_of(neighbor)] & bit_of(neighbor):
                    continue
                down[word_of(edge)] |= bit_of(edge)
                known = values[neighbor]
                queue[tail] = neighbor
                tail += np.uint64(known == 0)
                values[neighbor] = known + paths
        for position in range(end, tail):
            above[word_of(queue[position])] |= bit_of(queue[position])
        begin, end = end, tail
    return np.int64(end)


@borrowing(serial)
def _gather(first, last, targets, paths, values, down, edges, sums):
    """The dependency of a vertex with so many ``paths`` and these edges; resets their marks."""
    dependency = 0.0
    if first == last:
        return dependency
    first_word, last_word = word_of(first), word_of(last - ONE)
    for word in range(first_word, last_word + ONE):
        bits = down[word]
        if word == first_word:
            bits &= ~np.uint64(0) << (first & LAST)
        if word == last_word:
            bits &= ~np.uint64(0) >> (~(last - ONE) & LAST)
        down[word] ^= bits
        while bits:
            edge = word * np.uint64(WORD) + lowest_one(bits)
            bits &= bits - ONE
            share = paths * values[np.uint64(targets[edge])]
            dependency += share
            if edges:
                sums[edge] += share
    return dependency


@borrowing(serial)
def _go_back(offsets, targets, is_target, values, above, down, queue, end, endpoints, edges, sums):
    """Add the dependencies of the source ``queue[0]`` to ``sums``, and reset what the search has filled."""
    source = np.uint64(queue[0])
    counted = 0
    for place in range(end):
        position = np.uint64(end - 1 - place)
        vertex = np.uint64(queue[position])
        if position >= LATER:
            prefetch(offsets, queue[position - LATER])
            prefetch(targets, offsets[np.uint64(queue[position - SOON])])
            prefetch(sums, queue[position - SOON])
        paths = values[vertex]
        first, last = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + ONE])
        dependency = _gather(first, last, targets, paths, values, down, edges, sums)
        target = is_target[vertex] and vertex != source
        counted += target
        values[vertex] = (dependency + target) / paths
        if not edges and vertex != source:
            sums[vertex] += dependency + (endpoints and target)
    if endpoints and not edges:
        sums[source] += counted
    for position in range(np.uint64(end)):
        values[np.uint64(queue[position])] = 0
        above[word_of(queue[position])] = 0


@shared
def _fill_rows(arguments, thread):
    offsets, targets, sources, is_target, endpoints, edges, sums, next_row = arguments
    n = len(is_target)
    values = np.zeros(n)
    above = np.zeros(n // WORD + 1, np.uint64)
    down = np.zeros(len(targets) // WORD + 1, np.uint64)
    queue = np.empty(n + 1, targets.dtype)  # one more: what is not new is written behind the last
    while True:
        row = fetch_add(next_row, 0, 1)
        if row >= len(sums):
            break
        for i in range(row, len(sources), len(sums)):
            end = _count_paths(offsets, targets, sources[i], values, above, down, queue)
            _go_back(
                offsets, targets, is_target, values, above, down, queue, end, endpoints, edges, sums[row]
            )  # fmt: skip
    return 0


@serial
def betweenness(offsets, targets, sources, is_target, endpoints, edges, sums, team, threads):
    """Add the contributions of the sources to ``sums[rows, n]`` (``[rows, m]`` if ``edges``)."""
    next_row = np.zeros(1, np.int64)
    _fill_rows(team, threads, (offsets, targets, sources, is_target, endpoints, edges, sums, next_row))
