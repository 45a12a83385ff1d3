"""Compiled kernels that count and place the edges of a CSR, see `building`.

The vertices are divided into as many ranges as there are threads, of equal work. The thread that takes a range reads
every edge, in chunks that fit its cache: first it picks the edges of these vertices, without a branch, then it counts
or places them. There are no atomics besides those that hand out the ranges, and no memory is needed besides the result.

`next_` counts what has been handed out. Indices are unsigned: Numba tests signed ones, which may count from the end.
"""

from __future__ import annotations

import numpy as np

from ...kernels.by_numpy.hashing import INCREMENT
from ...kernels.cpu.atomics import fetch_add, prefetch
from ...kernels.cpu.bits import ONE
from ...kernels.cpu.compiled import borrowing, serial
from ...kernels.cpu.rows import row_of
from ...kernels.cpu.splitmix import mixed
from ...kernels.cpu.team import shared
from ...kernels.cpu.vectors import SUMS, add_up
from ..threads import pool

PIECE, ARCS = 1 << 16, 1024  # arcs that a thread takes at a time, and that have their sources at a time
CHUNK = 4096  # edges that a thread reads before it counts or places those that it picked
FAR, NEAR = 32, 16  # picked edges ahead whose counter or cursor, and place at that, are prefetched
SAMPLE = 512  # of a block's edges, by which the vertices are divided
ROWS, ITEMS = 256, 4096  # vertices, or items, that a thread takes at a time


@borrowing(serial)
def sum_of_hashes(sources, targets, key):
    """The sum modulo 2**64 of a hash of each edge {u, v}, negative if u > v, 0 if they are equal.

    Without the increment the hash of twice a number would be twice its hash for one key in 64. The signs come by
    arithmetic alone, so this is compiled to vectors.
    """
    total = np.uint64(0)
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        x = np.uint64(min(u, v)) * key[0] + np.uint64(max(u, v)) * key[1] + np.uint64(INCREMENT)
        backwards = np.uint64(0) - np.uint64(u > v)
        total += ((mixed(x) ^ backwards) - backwards) * np.uint64(u != v)
    return total


@borrowing(shared)
def _count_parts(arguments, thread):
    source, target, out_degrees, in_degrees, key, bounds, picked, next_ = arguments
    parts = len(picked)
    asymmetry = np.uint64(0)
    while True:
        part = fetch_add(next_, 0, 1)
        if part >= parts:
            return asymmetry
        first, width = np.uint64(bounds[part]), np.uint64(bounds[part + 1] - bounds[part])
        sources, targets = picked[part, 0], picked[part, 1]
        for start in range(0, len(source), CHUNK):
            end = min(start + CHUNK, len(source))
            out = into = np.uint64(0)
            for i in range(np.uint64(start), np.uint64(end)):
                u, v = np.uint64(np.int64(source[i])), np.uint64(np.int64(target[i]))
                sources[out] = u
                out += np.uint64(u - first < width)
                targets[into] = v
                into += np.uint64((u != v) & (v - first < width))
            for i in range(out):
                prefetch(out_degrees, sources[min(i + np.uint64(FAR), out - ONE)])
                out_degrees[sources[i]] += 1
            for i in range(into):
                prefetch(in_degrees, targets[min(i + np.uint64(FAR), into - ONE)])
                in_degrees[targets[i]] += 1
            if start // CHUNK % parts == part:
                asymmetry += sum_of_hashes(source[start:end], target[start:end], key)


@borrowing(serial)
def _count(arguments, team, threads):
    return _count_parts(team, threads, arguments)


@borrowing(shared)
def _asymmetry_of_arcs(arguments, thread):
    """The sum over pieces of the arcs. Sources come without a branch that depends on degrees: each row adds 1 where it
    begins, and the sum up to an arc is its source."""
    offsets, targets, key, buffers, next_ = arguments
    sources = buffers[thread]
    asymmetry = np.uint64(0)
    while True:
        first = fetch_add(next_, 0, PIECE)
        if first >= len(targets):
            return asymmetry
        last = min(first + PIECE, len(targets))
        vertex = row_of(offsets, first)
        for start in range(first, last, ARCS):
            count, before = min(ARCS, last - start), targets.dtype.type(vertex)
            sources[:] = 0
            while offsets[vertex + 1] < start + count:
                vertex += 1
                sources[(offsets[vertex] - start) & (ARCS - 1)] += 1
            for place in range(0, count, SUMS):
                before = add_up(sources, place, before)
            asymmetry += sum_of_hashes(sources[:count], targets[start : start + count], key)


@borrowing(serial)
def _asymmetry(arguments, team, threads):
    return _asymmetry_of_arcs(team, threads, arguments)


@borrowing(shared)
def _place_parts(arguments, thread):
    source, target, mirror, limit, cursors, targets, bounds, picked, next_ = arguments
    parts, room, limit = len(picked), len(targets), np.uint64(limit)
    while True:
        part = fetch_add(next_, 0, 1)
        if part >= parts:
            return 0
        first, width = np.uint64(bounds[part]), np.uint64(bounds[part + 1] - bounds[part])
        rows, ends = picked[part, 0], picked[part, 1]
        for start in range(0, len(source), CHUNK):
            held = np.uint64(0)
            for i in range(np.uint64(start), np.uint64(min(start + CHUNK, len(source)))):
                u, v = np.uint64(np.int64(source[i])), np.uint64(np.int64(target[i]))
                rows[held] = u
                ends[held] = v
                held += np.uint64((u - first < width) & (v < limit))
                if mirror:
                    rows[held] = v
                    ends[held] = u
                    held += np.uint64((u != v) & (v - first < width) & (u < limit))
            for i in range(held):
                prefetch(cursors, rows[min(i + np.uint64(FAR), held - ONE)])
                prefetch(targets, cursors[rows[min(i + np.uint64(NEAR), held - ONE)]])
                place = cursors[rows[i]]
                if place < room:
                    targets[np.uint64(place)] = ends[i]
                    cursors[rows[i]] = place + 1


@borrowing(serial)
def _place(arguments, team, threads):
    _place_parts(team, threads, arguments)


@borrowing(shared)
def _gather_items(arguments, thread):
    values, indices, gathered, next_ = arguments
    while True:
        first = fetch_add(next_, 0, ITEMS)
        if first >= len(indices):
            return 0
        for i in range(np.uint64(first), np.uint64(min(first + ITEMS, len(indices)))):
            index = np.uint64(np.int64(indices[i]))
            gathered[i] = values[index] if index < np.uint64(len(values)) else -1


@borrowing(serial)
def _gather(arguments, team, threads):
    _gather_items(team, threads, arguments)


def count(
    source: np.ndarray, target: np.ndarray, out_degrees: np.ndarray, in_degrees: np.ndarray, key: np.ndarray
) -> int:
    """Add a block of edges to the degrees (each n) and return its asymmetry.

    A self-loop counts as an out-edge only. The asymmetry is the sum of the signed hashes modulo 2**64.
    """
    team, threads = pool.team(len(source))
    bounds = _bounds((source, target), threads, len(out_degrees))
    picked = np.empty((threads, 2, CHUNK), np.uint64)
    return int(_count((source, target, out_degrees, in_degrees, key, bounds, picked, none_yet()), team, threads))


def asymmetry(offsets: np.ndarray, targets: np.ndarray, key: np.ndarray) -> int:
    """The asymmetry of a whole CSR, see `count`."""
    team, threads = pool.team(len(targets))
    buffers = np.empty((threads, ARCS), targets.dtype)
    return int(_asymmetry((offsets, targets, key, buffers, none_yet()), team, threads))


def place(
    source: np.ndarray, target: np.ndarray, mirror: bool, limit: int, cursors: np.ndarray, targets: np.ndarray
) -> None:
    """Write a block of edges to ``targets[cursors[u]]`` and move ``cursors[n]`` on; with ``mirror`` in both directions,
    self-loops once. Nothing is written beyond ``targets``; edges to a vertex of ``limit`` or more are skipped.
    """
    team, threads = pool.team(len(source))
    bounds = _bounds((source, target) if mirror else (source,), threads, len(cursors))
    picked = np.empty((threads, 2, 2 * CHUNK), np.uint64)
    _place((source, target, mirror, limit, cursors, targets, bounds, picked, none_yet()), team, threads)


def gather(values: np.ndarray, indices: np.ndarray, gathered: np.ndarray) -> None:
    """Fill ``gathered`` with ``values[indices]``, -1 where there is no such index."""
    _gather((values, indices, gathered, none_yet()), *pool.team(len(indices)))


def _bounds(ends: tuple[np.ndarray, ...], threads: int, n: int) -> np.ndarray:
    """The bounds (threads + 1, ascending from 0 to n) of ranges of vertices that have about equally many of these ends:
    in a block of edges that are sorted, or beside hubs, ranges of equally many vertices do not."""
    if threads == 1:
        return np.array([0, n])
    sample = np.sort(np.concatenate([each[:: len(each) // SAMPLE + 1] for each in ends]).astype(np.int64))
    inner = sample[np.arange(1, threads) * len(sample) // threads].clip(0, n)
    return np.concatenate([[0], inner, [n]])


def none_yet() -> np.ndarray:
    """A counter of what has been handed out to threads."""
    return np.zeros(1, np.int64)
