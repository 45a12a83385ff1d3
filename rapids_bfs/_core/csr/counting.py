"""Compiled kernels that count and place the edges of a CSR, see `building`.

Each thread owns a range of vertices and reads every edge, in chunks that fit its cache: first it picks the edges of its
own vertices, without a branch, then it counts or places them. There are no atomics, and no memory is needed besides the
result.
"""

from __future__ import annotations

import numpy as np

from ...kernels.by_numpy.hashing import INCREMENT
from ...kernels.cpu import njit, prange
from ...kernels.cpu.atomics import prefetch
from ...kernels.cpu.compiled import parallel
from ...kernels.cpu.splitmix import mixed
from ..threads import pool

CHUNK = 4096  # edges that a thread reads before it counts or places those that it picked
FAR, NEAR = 32, 16  # picked edges ahead whose counter or cursor, and place at that, are prefetched


@njit(inline="always")
def signed_hash(u, v, key):
    """A 64-bit hash of the edge {u, v}, negative if u > v, 0 if they are equal.

    Without the increment the hash of twice a number would be twice its hash for one key in 64.
    """
    x = np.uint64(min(u, v)) * key[0] + np.uint64(max(u, v)) * key[1] + np.uint64(INCREMENT)
    return mixed(x) * np.uint64(np.int64(u < v) - np.int64(u > v))


@parallel
def _count(source, target, out_degrees, in_degrees, key, threads):
    """Add a block of edges to the degrees (each n) and return its asymmetry.

    A self-loop counts as an out-edge only. The asymmetry is the sum of the signed hashes modulo 2**64.
    """
    n = len(out_degrees)
    for thread in prange(threads):
        low, high = thread * n // threads, (thread + 1) * n // threads
        sources, targets = np.empty(CHUNK, np.int64), np.empty(CHUNK, np.int64)
        for start in range(0, len(source), CHUNK):
            out = into = 0
            for i in range(start, min(start + CHUNK, len(source))):
                u, v = source[i], target[i]
                sources[out] = u
                out += (u >= low) & (u < high)
                targets[into] = v
                into += (u != v) & (v >= low) & (v < high)
            for i in range(out):
                prefetch(out_degrees, sources[min(i + FAR, out - 1)])
                out_degrees[sources[i]] += 1
            for i in range(into):
                prefetch(in_degrees, targets[min(i + FAR, into - 1)])
                in_degrees[targets[i]] += 1
    asymmetry = np.uint64(0)
    for i in prange(len(source)):
        asymmetry += signed_hash(source[i], target[i], key)
    return asymmetry


@parallel
def _asymmetry(offsets, targets, key):
    """The asymmetry of a whole CSR, see `_count`."""
    asymmetry = np.uint64(0)
    for u in prange(len(offsets) - 1):
        for edge in range(offsets[u], offsets[u + 1]):
            asymmetry += signed_hash(np.int64(u), np.int64(targets[edge]), key)
    return asymmetry


@parallel
def _place(source, target, mirror, limit, cursors, targets, threads):
    """Write a block of edges to ``targets[cursors[u]]`` and move ``cursors[n]`` on; with ``mirror`` in both directions,
    self-loops once. Nothing is written beyond ``targets``; edges to a vertex of ``limit`` or more are skipped.
    """
    n = len(cursors)
    for thread in prange(threads):
        low, high = thread * n // threads, (thread + 1) * n // threads
        picked = np.empty((2 * CHUNK, 2), np.int64)
        for start in range(0, len(source), CHUNK):
            held = 0
            for i in range(start, min(start + CHUNK, len(source))):
                u, v = source[i], target[i]
                picked[held, 0] = u
                picked[held, 1] = v
                held += (u >= low) & (u < high) & (np.uint64(v) < np.uint64(limit))
                if mirror:
                    picked[held, 0] = v
                    picked[held, 1] = u
                    held += (u != v) & (v >= low) & (v < high) & (np.uint64(u) < np.uint64(limit))
            for i in range(held):
                prefetch(cursors, picked[min(i + FAR, held - 1), 0])
                prefetch(targets, cursors[picked[min(i + NEAR, held - 1), 0]])
                u = picked[i, 0]
                if cursors[u] < len(targets):
                    targets[cursors[u]] = picked[i, 1]
                    cursors[u] += 1


@parallel
def _gather(values, indices, gathered):
    for i in prange(len(indices)):
        index = indices[i]
        gathered[i] = values[index] if 0 <= index < len(values) else -1


def count(
    source: np.ndarray, target: np.ndarray, out_degrees: np.ndarray, in_degrees: np.ndarray, key: np.ndarray
) -> int:
    """Add a block of edges to the degrees (each n) and return its asymmetry, see `_count`."""
    with pool.work_on(len(source)) as threads:
        return int(_count(source, target, out_degrees, in_degrees, key, threads))


def asymmetry(offsets: np.ndarray, targets: np.ndarray, key: np.ndarray) -> int:
    """The asymmetry of a whole CSR, see `_count`."""
    with pool.work_on(len(targets)):
        return int(_asymmetry(offsets, targets, key))


def place(
    source: np.ndarray, target: np.ndarray, mirror: bool, limit: int, cursors: np.ndarray, targets: np.ndarray
) -> None:
    """Write a block of edges to ``targets[cursors[u]]``, see `_place`."""
    with pool.work_on(len(source)) as threads:
        _place(source, target, mirror, limit, cursors, targets, threads)


def gather(values: np.ndarray, indices: np.ndarray, gathered: np.ndarray) -> None:
    """Fill ``gathered`` with ``values[indices]``, -1 where there is no such index."""
    with pool.work_on(len(indices)):
        _gather(values, indices, gathered)
