"""The partitions of a distributed graph: which rank owns a vertex, building rows, and Graph500's rules.

The vertex with local id l on rank r has the global id ``g = r * stride + l``. A rank stores the rows of its own
vertices, by local id; targets are global ids. Each kernel runs on one thread.
"""

import numpy as np
from numba import njit

from ..by_numpy import hashing
from .atomics import prefetch
from .bits import ONE, count_ones
from .compiled import serial

FAR, NEAR = 32, 16  # arcs ahead whose cursor, and place at that, are prefetched
# The scramble: an odd multiplier and a summand a round, and the multipliers' inverses modulo 2**64.
MULTIPLIERS = (hashing.INCREMENT, hashing.MULTIPLIERS[0])
SUMMANDS = (hashing.MULTIPLIERS[1], 0xD6E8FEB86659FD93)
INVERSES = tuple(pow(multiplier, -1, 1 << 64) for multiplier in MULTIPLIERS)
_MULTIPLIERS, _SUMMANDS, _INVERSES = (np.array(numbers, np.uint64) for numbers in (MULTIPLIERS, SUMMANDS, INVERSES))


@njit(inline="always")
def _mask_of(n):
    """A mask of the bits of integers below ``n``."""
    mask = ONE
    while mask < n - ONE:
        mask = mask << ONE | ONE
    return mask


@njit(inline="always")
def _scrambled(x, n, mask, half):
    """The image of ``x`` under a permutation of 0..n-1: one of 0..2**k-1, repeated until it is below ``n``. From an
    ``x`` that is not below ``n``, the loop might not end."""
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
def to_global_ids(ids, n, partitions, stride, global_ids):
    """Write the global ids of ``ids``, 0..n-1: scrambled, then distributed cyclically; -1 for other values."""
    n, partitions, stride = np.uint64(n), np.uint64(partitions), np.uint64(stride)
    mask = _mask_of(n)
    half = np.uint64((count_ones(mask) + 1) // 2)
    for i in range(len(ids)):
        x = np.uint64(ids[i])
        if x < n:
            x = _scrambled(x, n, mask, half)
            global_ids[i] = x % partitions * stride + x // partitions
        else:
            global_ids[i] = -1


@serial
def to_ids(global_ids, n, partitions, stride, ids):
    """The inverse of `to_global_ids`; -1 for unused global ids."""
    n, partitions, stride = np.uint64(n), np.uint64(partitions), np.uint64(stride)
    mask = _mask_of(n)
    half = np.uint64((count_ones(mask) + 1) // 2)
    for i in range(len(global_ids)):
        g = np.uint64(global_ids[i])
        owner, x = g // stride, g % stride * partitions + g // stride
        if owner < partitions and x < n:
            ids[i] = _unscrambled(x, n, mask, half)
        else:
            ids[i] = -1


@njit(inline="always")
def _owner(vertex, stride, counts):
    """The rank that owns a global id. Unsigned division takes half of the time of signed."""
    return min(np.uint64(vertex) // np.uint64(stride), np.uint64(len(counts) - 1))


@serial
def count_owners(sources, targets, stride, mirror, loops, counts):
    """Add to ``counts[partitions]`` the number of arcs that each rank owns, by their sources. ``mirror`` counts edges
    in both directions, self-loops once. Without ``loops`` self-loops are dropped."""
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u != v or loops:
            counts[_owner(u, stride, counts)] += 1
        if mirror and u != v:
            counts[_owner(v, stride, counts)] += 1


@serial
def bucket_by_owner(sources, targets, stride, mirror, loops, cursors, arcs):
    """Write the arcs (slot of the source, target) where the cursors of their owners stand, which move on."""
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u != v or loops:
            owner = _owner(u, stride, cursors)
            slot = cursors[owner]
            cursors[owner] = slot + 1
            arcs[0, slot] = np.uint64(u) - owner * np.uint64(stride)
            arcs[1, slot] = v
        if mirror and u != v:
            owner = _owner(v, stride, cursors)
            slot = cursors[owner]
            cursors[owner] = slot + 1
            arcs[0, slot] = np.uint64(v) - owner * np.uint64(stride)
            arcs[1, slot] = u


@serial
def count(local_ids, counts):
    """Count arcs at their sources; local ids that this rank does not have are skipped."""
    for i in range(len(local_ids)):
        if local_ids[i] < len(counts):
            counts[local_ids[i]] += 1


@serial
def scatter_targets(local_ids, targets, cursors, rows):
    """Write targets at the cursors of their sources, and advance these; nothing is written beyond the arrays."""
    for i in range(len(local_ids)):
        if i + FAR < len(local_ids):
            prefetch(cursors, local_ids[i + FAR])
            if local_ids[i + NEAR] < len(cursors):
                prefetch(rows, cursors[local_ids[i + NEAR]])
        local_id = local_ids[i]
        if local_id < len(cursors) and cursors[local_id] < len(rows):
            rows[cursors[local_id]] = targets[i]
            cursors[local_id] += 1


@serial
def sort_distinct(offsets, targets, kept):
    """Sort each row, move its distinct targets to its front, and write their number to ``kept``."""
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
    """Move the front of each row to its new offset, which is not larger."""
    for row in range(len(offsets) - 1):
        size = new_offsets[row + 1] - new_offsets[row]
        for i in range(size):
            targets[new_offsets[row] + i] = targets[offsets[row] + i]


@serial
def count_loops(offsets, targets, base):
    """Count self-loops; ``base`` is the global id of local id 0."""
    loops = 0
    for row in range(len(offsets) - 1):
        for edge in range(offsets[row], offsets[row + 1]):
            loops += targets[edge] == base + row
    return loops


@serial
def hash_strings(offsets, content, hashes):
    """A hash of each string ``content[offsets[i]:offsets[i + 1]]``, the same in every process: FNV-1a, 64 bits."""
    for i in range(len(hashes)):
        hash = np.uint64(0xCBF29CE484222325)
        for place in range(offsets[i], offsets[i + 1]):
            hash = (hash ^ np.uint64(content[place])) * np.uint64(0x100000001B3)
        hashes[i] = np.int64(hash)


@serial
def check(in_offsets, in_targets, base, distances, predecessors, stopped_at, confirmed, above):
    """Check the rules of Graph500 on the in-edges of this rank's vertices; ``distances`` has those of all global ids.

    ``confirmed`` is set where an edge comes from the predecessor, or without predecessors from one level up. ``above``
    becomes the smallest distance from which an edge must not come.
    """
    for local_id in range(len(confirmed)):
        level = distances[base + local_id]
        for edge in range(in_offsets[local_id], in_offsets[local_id + 1]):
            neighbor = in_targets[edge]
            up = distances[neighbor]
            if up < 0:
                continue
            if (level > up + 1 or (level < 0 and up < stopped_at)) and (above[local_id] < 0 or up < above[local_id]):
                above[local_id] = up
            if (predecessors[local_id] == neighbor) if len(predecessors) else (level == up + 1):
                confirmed[local_id] = True
