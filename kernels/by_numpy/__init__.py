"""By NumPy alone: what a first search needs, for a process that has not imported Numba.

`count`, `asymmetry`, `place` and `gather` are those of `rapids_bfs._core.csr.counting`. `search` is the textbook queue,
a level at a time, with the tree and the order of `kernels.cpu.sequential`: in a level, the first edge to a vertex, in
the order of the queue, is that of its predecessor. O(n + m), and about 30 µs a level.

Ids that another thread may change are copied, so that those which are checked are those which are used.
"""

import numpy as np

from .hashing import INCREMENT, mixed

LEVEL_OVERHEAD = 1 << 10  # of a level, in edges: NumPy goes over so many in that time


def count(source, target, out_degrees, in_degrees, key):
    """Add a block of edges to the degrees (each n) and return its asymmetry.

    A self-loop counts as an out-edge only. The asymmetry is the sum of the signed hashes modulo 2**64.
    """
    source, target = np.array(source), np.array(target)
    for ends, degrees in (source, out_degrees), (target[source != target], in_degrees):
        degrees += np.bincount(ends[(ends >= 0) & (ends < len(degrees))], minlength=len(degrees))
    return _asymmetry(source, target, key)


def asymmetry(offsets, targets, key):
    """The asymmetry of a whole CSR, see `count`."""
    return _asymmetry(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), targets, key)


def _asymmetry(source, target, key):
    low, high = np.minimum(source, target).astype(np.uint64), np.maximum(source, target).astype(np.uint64)
    sign = (source < target).astype(np.int64) - (source > target)
    hashes = mixed(low * key[0] + high * key[1] + np.uint64(INCREMENT)) * sign.astype(np.uint64)
    return int(hashes.sum(dtype=np.uint64))


def place(source, target, mirror, limit, cursors, targets):
    """Write a block of edges to ``targets[cursors[u]]`` and move ``cursors[n]`` on; with ``mirror`` in both directions,
    self-loops once. Nothing is written beyond ``targets``; edges to a vertex of ``limit`` or more are skipped.
    """
    source, target = np.array(source), np.array(target)
    if mirror:
        kept = np.ones((len(source), 2), bool)
        kept[:, 1] = source != target
        source, target = (np.stack(ends, axis=1)[kept] for ends in ((source, target), (target, source)))
    kept = (source >= 0) & (source < len(cursors)) & (target >= 0) & (target < limit)
    source, target = source[kept], target[kept]
    order = source.argsort(kind="stable")
    source, target = source[order], target[order]
    degrees = np.bincount(source, minlength=len(cursors))
    places = np.arange(len(source)) + (cursors - (degrees.cumsum() - degrees))[source]
    fits = places < len(targets)
    targets[places[fits]] = target[fits]
    cursors += np.bincount(source[fits], minlength=len(cursors))


def gather(values, indices, gathered):
    """Fill ``gathered`` with ``values[indices]``, -1 where there is no such index."""
    indices = np.array(indices)
    known = (indices >= 0) & (indices < len(values))
    gathered[:] = -1
    gathered[known] = values[indices[known]]


def search(offsets, targets, sources, depth_limit, target, masked, may_expand):
    """Distances (int32) and predecessors (typed as ``targets``) of n vertices.

    ``sources`` are distinct, and none is in the mask ``masked[n]``, of bool, of the vertices that the search does not
    enter. The search ends below ``depth_limit`` and after the level that reaches ``target`` (-1: none). Before each
    level ``may_expand(edges)`` is asked, where `LEVEL_OVERHEAD` is added to the edges of the level; the search returns
    None once the answer is no.
    """
    n = len(offsets) - 1
    distances, predecessors = np.full(n, -1, np.int32), np.full(n, -1, targets.dtype)
    unseen = ~masked
    position = np.empty(n, np.int64)  # of a vertex among those found in a level
    frontier, level = sources, 0
    distances[frontier] = 0
    unseen[frontier] = False
    while len(frontier) and level < depth_limit and (target < 0 or unseen[target]):
        begins = offsets[frontier]
        degrees = offsets[frontier + 1] - begins
        ends = degrees.cumsum(dtype=np.int64)
        if not may_expand(int(ends[-1]) + LEVEL_OVERHEAD):
            return None
        level += 1
        edges = np.arange(ends[-1]) + np.repeat(begins - (ends - degrees), degrees)
        found, parents = targets[edges], np.repeat(frontier, degrees)
        new = unseen[found]
        found, parents = found[new], parents[new]
        order = np.arange(len(found))
        position[found[::-1]] = order[::-1]  # of several values the last is kept
        first = position[found] == order
        frontier = found[first]
        distances[frontier], predecessors[frontier] = level, parents[first]
        unseen[frontier] = False
    return distances, predecessors
