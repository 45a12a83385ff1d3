"""Searches of a distributed graph from up to 64 sources at once, a bit each: the steps of one rank between two
collectives.

Vertices have local and global ids, see `distributed`. Top-down throughout: a rank sends a pair (sources that reach the
vertex, vertex) to the owner of each neighbour of its frontier, with the sources that it has not sent there before.

====================================  ========================================================================
``offsets[own + 1], targets[m]``      out-edges of the rank's vertices; targets are global ids
``reached[own], fresh[own]``          words of the sources that have reached each vertex, and of those that did in
                                      the last level
``queue[own]``                        local ids of the vertices whose word in ``fresh`` is not 0
``sent[slots], upcoming[slots]``      words for all global ids: what this rank has sent, and what it sends next
``touched[partitions, stride]``       the vertices of each owner whose word in ``upcoming`` is not 0, by local id there
``distances[sources, own]``           -1 where not reached; no rows if they are not kept
====================================  ========================================================================

Work: a word for each edge of the frontier; each bit of a word is sent at most once by each rank. One thread.

Source: M. Then et al., The more the merrier: efficient multi-source graph traversal, PVLDB 8(4), 2014.
"""

import numpy as np

from .bits import ONE, lowest_one
from .compiled import serial


@serial
def expand(offsets, targets, queue, held, fresh, stride, sent, upcoming, touched, counts):
    """Add the sources of the frontier ``queue[:held]`` to the words that its neighbours' owners get."""
    for i in range(held):
        vertex = queue[i]
        word = fresh[vertex]
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            new = word & ~sent[neighbor]
            if new == 0:
                continue
            if upcoming[neighbor] == 0:
                owner = neighbor // stride
                touched[owner, counts[owner]] = neighbor % stride
                counts[owner] += 1
            sent[neighbor] |= new
            upcoming[neighbor] |= new


@serial
def settle(words, local_ids, reached, fresh, queue, held):
    """Settle the pairs that one rank sent. Returns how many vertices the queue then holds."""
    for i in range(len(local_ids)):
        local_id = local_ids[i]
        new = words[i] & ~reached[local_id]
        if new == 0:
            continue
        if fresh[local_id] == 0:
            queue[held] = local_id
            held += 1
        fresh[local_id] |= new
        reached[local_id] |= new
    return held


@serial
def note(queue, held, fresh, level, distances, counts):
    """Add to ``counts[64]`` how many vertices each source has reached in this level, and write their distances."""
    for i in range(held):
        left = fresh[queue[i]]
        while left:
            bit = np.int64(lowest_one(left))
            left &= left - ONE
            counts[bit] += 1
            if len(distances):
                distances[bit, queue[i]] = level
