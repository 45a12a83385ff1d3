"""A breadth-first search over several partitions of a graph: what one partition does between two collectives.

The vertices of all partitions are numbered through, ``stride`` numbers for each partition: number ``g`` is the vertex at place
``g % stride`` of partition ``g // stride``. A partition holds the rows of its own vertices, by place; targets are numbers.

Top-down, a partition sends a pair (vertex, parent) to the owner of each neighbour that it has not seen, and owners settle
what they receive. Bottom-up, the unvisited vertices of a partition look for a visited in-neighbour: since all levels up to
the last are complete, it is in the frontier.

====================================  ========================================================================
``offsets[own + 1], targets[m]``      out-edges of the partition's vertices
``in_offsets, in_targets``            in-edges (the same arrays if the graph is symmetric)
``seen[words of all]``                bitmap over all numbers: visited, or sent to the owner by this partition
``visited[words of own]``             bitmap of the partition's visited vertices, and of those without edges
``fresh[words of own]``               those of the last level, where it was bottom-up
``queue[own]``                        places of the partition's vertices in the order in which they were found
``pairs[partitions, 1 + capacity, 2]``     vertices and parents for each owner. In place of the first: how many they are,
                                      and 1 if this partition had no room for more, for any owner
====================================  ========================================================================

Work: a bit test per edge of the frontier and a pair per vertex and sender, or at most a bit test per edge into an
unvisited vertex. One thread runs a partition, so nothing is atomic.

Sources: A. Buluc, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011 (1D partitioning);
S. Beamer et al., Distributed memory breadth-first search revisited, MTAAP 2013.
"""

import numpy as np
from numba import njit

from .bits import ONE, WORD, bit_of, count_ones, lowest_one, word_of
from .compiled import serial

# The scramble: an odd multiplier and a summand a round, and the multipliers' inverses modulo 2**64.
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
SUMMANDS = (0x94D049BB133111EB, 0xD6E8FEB86659FD93)
INVERSES = tuple(pow(multiplier, -1, 1 << 64) for multiplier in MULTIPLIERS)
_MULTIPLIERS, _SUMMANDS, _INVERSES = (np.array(numbers, np.uint64) for numbers in (MULTIPLIERS, SUMMANDS, INVERSES))


@njit(inline="always")
def _mask_of(n):
    """Ones, as many as the numbers below ``n`` have bits."""
    mask = ONE
    while mask < n - ONE:
        mask = mask << ONE | ONE
    return mask


@njit(inline="always")
def _scrambled(x, n, mask, half):
    """One to one over 0..n-1: a permutation of a power of two, repeated until it is below ``n``. An ``x`` that is not
    might never come there."""
    while True:
        for k in range(len(_MULTIPLIERS)):
            x = (x * _MULTIPLIERS[k] + _SUMMANDS[k]) & mask
            x ^= x >> half
        if x < n:
            return x


@njit(inline="always")
def _unscrambled(x, n, mask, half):
    while True:
        for k in range(len(_INVERSES) - 1, -1, -1):
            x ^= x >> half
            x = ((x - _SUMMANDS[k]) * _INVERSES[k]) & mask
        if x < n:
            return x


@serial
def number(ids, n, partitions, stride, numbers):
    """Write the numbers of the vertices ``ids``, 0..n-1: scrambled, then dealt to the partitions in turn. -1 for others."""
    n, partitions, stride = np.uint64(n), np.uint64(partitions), np.uint64(stride)
    mask = _mask_of(n)
    half = np.uint64((count_ones(mask) + 1) // 2)
    for i in range(len(ids)):
        x = np.uint64(ids[i])
        if x < n:
            x = _scrambled(x, n, mask, half)
            numbers[i] = x % partitions * stride + x // partitions
        else:
            numbers[i] = -1


@serial
def name(numbers, n, partitions, stride, ids):
    """The inverse of `number`; -1 for what is no number."""
    n, partitions, stride = np.uint64(n), np.uint64(partitions), np.uint64(stride)
    mask = _mask_of(n)
    half = np.uint64((count_ones(mask) + 1) // 2)
    for i in range(len(numbers)):
        g = np.uint64(numbers[i])
        owner, x = g // stride, g % stride * partitions + g // stride
        if owner < partitions and x < n:
            ids[i] = _unscrambled(x, n, mask, half)
        else:
            ids[i] = -1


@serial
def count_owners(sources, targets, stride, mirror, loops, counts):
    """Add to ``counts[partitions]`` how many arcs belong to each partition, by their sources; with ``mirror`` in both directions,
    self-loops once, and unless ``loops`` not at all."""
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u != v or loops:
            counts[u // stride] += 1
        if mirror and u != v:
            counts[v // stride] += 1


@serial
def deal(sources, targets, stride, mirror, loops, cursors, arcs):
    """Write the arcs (place of the source, target) where the cursors of their owners stand, which move on."""
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u != v or loops:
            place = cursors[u // stride]
            cursors[u // stride] += 1
            arcs[0, place] = u % stride
            arcs[1, place] = v
        if mirror and u != v:
            place = cursors[v // stride]
            cursors[v // stride] += 1
            arcs[0, place] = v % stride
            arcs[1, place] = u


@serial
def count(places, counts):
    """Count arcs at their sources; those at no place of this partition are left out."""
    for i in range(len(places)):
        if places[i] < len(counts):
            counts[places[i]] += 1


@serial
def put(places, targets, cursors, placed):
    """Write targets where the cursors of their sources stand, which move on; nothing beyond the arrays."""
    for i in range(len(places)):
        if places[i] < len(cursors) and cursors[places[i]] < len(placed):
            placed[cursors[places[i]]] = targets[i]
            cursors[places[i]] += 1


@serial
def sort_distinct(offsets, targets, kept):
    """Sort each row, move its distinct targets to its front, and note in ``kept`` how many they are."""
    for row in range(len(kept)):
        adjacency = targets[offsets[row] : offsets[row + 1]]
        adjacency.sort()
        held = 0
        for i in range(len(adjacency)):
            if i == 0 or adjacency[i] != adjacency[i - 1]:
                adjacency[held] = adjacency[i]
                held += 1
        kept[row] = held


@serial
def compact(offsets, targets, new_offsets):
    """Move the front of each row to where it begins from now on, which is no later."""
    for row in range(len(offsets) - 1):
        size = new_offsets[row + 1] - new_offsets[row]
        for i in range(size):
            targets[new_offsets[row] + i] = targets[offsets[row] + i]


@serial
def count_loops(offsets, targets, base):
    """Count the arcs from a vertex to itself."""
    loops = 0
    for row in range(len(offsets) - 1):
        for edge in range(offsets[row], offsets[row + 1]):
            loops += targets[edge] == base + row
    return loops


@serial
def exclude(offsets, in_offsets, visited):
    """Set the bits of vertices without edges, and those past the last vertex."""
    own = len(offsets) - 1
    for place in range(len(visited) * WORD):
        if place >= own or (offsets[place] == offsets[place + 1] and in_offsets[place] == in_offsets[place + 1]):
            visited[word_of(place)] |= bit_of(place)


@serial
def seed(places, offsets, visited, queue, distances, predecessors):
    """Begin at these sources. Returns the edges that leave them."""
    edges = 0
    for i in range(len(places)):
        place = places[i]
        queue[i] = place
        visited[word_of(place)] |= bit_of(place)
        distances[place] = 0
        if len(predecessors):
            predecessors[place] = -1
        edges += offsets[place + 1] - offsets[place]
    return edges


@serial
def expand(offsets, targets, queue, begin, end, base, stride, seen, pairs):
    """Send the unseen neighbours of the frontier ``queue[begin:end]`` to their owners."""
    partitions, capacity = pairs.shape[0], pairs.shape[1] - 1
    pairs[:, 0] = 0
    for i in range(begin, end):
        place = queue[i]
        for edge in range(offsets[place], offsets[place + 1]):
            neighbor = targets[edge]
            word, bit = word_of(neighbor), bit_of(neighbor)
            if seen[word] & bit:
                continue
            seen[word] |= bit
            owner = neighbor // stride
            held = pairs[owner, 0, 0]
            if held == capacity:
                for partition in range(partitions):
                    pairs[partition, 0, 1] = 1
                return
            pairs[owner, 0, 0] = held + 1
            pairs[owner, held + 1, 0] = neighbor
            pairs[owner, held + 1, 1] = base + place


@serial
def settle(pairs, offsets, stride, level, visited, queue, end, distances, predecessors):
    """Settle what a partition has sent here, unless it was settled before. Returns the end of the queue, and the edges that
    leave the vertices settled."""
    edges = 0
    for i in range(len(pairs)):
        place = pairs[i, 0] % stride
        word, bit = word_of(place), bit_of(place)
        if visited[word] & bit:
            continue
        visited[word] |= bit
        distances[place] = level
        if len(predecessors):
            predecessors[place] = pairs[i, 1]
        queue[end] = place
        end += 1
        edges += offsets[place + 1] - offsets[place]
    return end, edges


@serial
def sweep(in_offsets, in_targets, seen, level, visited, fresh, distances, predecessors):
    """Let unvisited vertices look for a visited in-neighbour. Returns how many found one."""
    total = 0
    for word in range(len(visited)):
        left = ~visited[word]
        hits = np.uint64(0)
        while left:
            bit = lowest_one(left)
            left &= left - ONE
            place = np.uint64(word * WORD) + bit
            for edge in range(in_offsets[place], in_offsets[place + ONE]):
                neighbor = in_targets[edge]
                if seen[word_of(neighbor)] & bit_of(neighbor):
                    hits |= ONE << bit
                    distances[place] = level
                    if len(predecessors):
                        predecessors[place] = neighbor
                    break
        fresh[word] = hits
        visited[word] |= hits
        total += count_ones(hits)
    return total


@serial
def enqueue(offsets, fresh, queue):
    """List the fresh vertices. Returns how many they are, and the edges that leave them."""
    end = 0
    edges = 0
    for word in range(len(fresh)):
        left = fresh[word]
        while left:
            place = np.uint64(word * WORD) + lowest_one(left)
            left &= left - ONE
            queue[end] = place
            end += 1
            edges += offsets[place + ONE] - offsets[place]
    return end, edges


@serial
def check(in_offsets, in_targets, base, distances, predecessors, stopped_at, confirmed, above):
    """Check the rules of Graph500 on the edges that lead to this partition's vertices; ``distances`` are those of all.

    ``confirmed`` is set where an edge comes from the predecessor, or without predecessors from one level up. ``above``
    becomes the smallest distance that an edge must not come from.
    """
    for place in range(len(confirmed)):
        level = distances[base + place]
        for edge in range(in_offsets[place], in_offsets[place + 1]):
            neighbor = in_targets[edge]
            up = distances[neighbor]
            if up < 0:
                continue
            if (level > up + 1 or (level < 0 and up < stopped_at)) and (above[place] < 0 or up < above[place]):
                above[place] = up
            if (predecessors[place] == neighbor) if len(predecessors) else (level == up + 1):
                confirmed[place] = True
