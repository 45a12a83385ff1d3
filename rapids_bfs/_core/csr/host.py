"""CSR by counting: edge lists in, offsets and targets out, in parallel and in the order given.

Each thread owns a range of vertices and reads every edge, in chunks that fit its cache: first it picks the edges of its
own vertices, without a branch, then it counts or places them. There are no atomics and no sorting, an adjacency keeps
the order of the edge list, and no memory is needed besides the result.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import nullcontext

import numpy as np
from numba import njit, prange

from ...errors import InputError
from ...kernels.cpu import distributed as kernels
from ...kernels.cpu.compiled import parallel, serial
from ...kernels.cpu.splitmix import INCREMENT, mixed
from ..dtypes import frozen, index_dtype
from ..memory import require_bytes as require
from ..threads import pool
from .host_filter import Kept as Kept

CHUNK = 4096  # edges that a thread reads before it counts or places those that it picked
BLOCK = 1 << 20  # edges that are handed to the threads at a time
EXCHANGE_BLOCK = BLOCK

xp = np
working = nullcontext

Pairs = tuple[np.ndarray, np.ndarray]  # sources and targets, of one length
CSR = tuple[np.ndarray, np.ndarray]  # offsets and targets

CHANGED = "the edges changed while they were read: try again"

# For the hashes of edges, odd; drawn by each process, so that nobody can construct edges whose hashes cancel out.
KEY = np.frombuffer(secrets.token_bytes(16), np.uint64) | np.uint64(1)


@njit(inline="always")
def _signed_hash(u, v, key):
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
                out_degrees[sources[i]] += 1
            for i in range(into):
                in_degrees[targets[i]] += 1
    asymmetry = np.uint64(0)
    for i in prange(len(source)):
        asymmetry += _signed_hash(source[i], target[i], key)
    return asymmetry


@parallel
def _asymmetry(offsets, targets, key):
    """The asymmetry of a whole CSR, see `_count`."""
    asymmetry = np.uint64(0)
    for u in prange(len(offsets) - 1):
        for edge in range(offsets[u], offsets[u + 1]):
            asymmetry += _signed_hash(np.int64(u), np.int64(targets[edge]), key)
    return asymmetry


@serial
def _asymmetry_of_block(source, target, key):
    asymmetry = np.uint64(0)
    for i in range(len(source)):
        asymmetry += _signed_hash(source[i], target[i], key)
    return asymmetry


@parallel
def _place(source, target, mirror, limit, cursors, targets, threads):
    """Write a block of edges to ``targets[cursors[u]]`` and move ``cursors[n]`` on; with ``mirror`` in
    both directions, self-loops once. Nothing is written beyond ``targets``; vertices of ``limit`` or more are skipped.
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
                u = picked[i, 0]
                if cursors[u] < len(targets):
                    targets[cursors[u]] = picked[i, 1]
                    cursors[u] += 1


@parallel
def _gather(values, indices, gathered):
    for i in prange(len(indices)):
        index = indices[i]
        gathered[i] = values[index] if 0 <= index < len(values) else -1


@serial
def _sources(offsets, first, vertex, sources):
    """Fill ``sources`` with the sources of the edges from ``first`` on; ``vertex`` is at most the first of them."""
    for i in range(len(sources)):
        while first + i >= offsets[vertex + 1]:
            vertex += 1
        sources[i] = vertex


@parallel
def _count_loops(offsets, targets):
    loops = 0
    for u in prange(len(offsets) - 1):
        for edge in range(offsets[u], offsets[u + 1]):
            loops += targets[edge] == u
    return loops


@parallel
def _count_descents(offsets, targets):
    descents = 0
    for u in prange(len(offsets) - 1):
        for edge in range(offsets[u] + 1, offsets[u + 1]):
            descents += targets[edge] < targets[edge - 1]
    return descents


@parallel
def _count_distinct(offsets, targets, loops, degrees):
    """Fill ``degrees[n]`` with the distinct targets of each ascending adjacency, self-loops counted if ``loops``."""
    for u in prange(len(degrees)):
        distinct = 0
        for edge in range(offsets[u], offsets[u + 1]):
            distinct += (edge == offsets[u] or targets[edge] != targets[edge - 1]) and (loops or targets[edge] != u)
        degrees[u] = distinct


@parallel
def _copy_distinct(offsets, targets, new_offsets, new_targets):
    for u in prange(len(offsets) - 1):
        place = new_offsets[u]
        for edge in range(offsets[u], offsets[u + 1]):
            if (edge == offsets[u] or targets[edge] != targets[edge - 1]) and targets[edge] != u:
                new_targets[place] = targets[edge]
                place += 1


def edge_blocks(offsets: np.ndarray, targets: np.ndarray, first: int = 0, last: int | None = None) -> Iterator[Pairs]:
    """The arcs ``first`` up to ``last`` of a CSR, in order, in blocks of at most `BLOCK`."""
    last = len(targets) if last is None else last
    for begin in range(first, last, BLOCK):
        block = targets[begin : min(begin + BLOCK, last)]
        sources = np.empty_like(block)
        _sources(offsets, begin, int(np.searchsorted(offsets, begin, side="right")) - 1, sources)
        yield sources, block


def _turned(offsets: np.ndarray, targets: np.ndarray) -> Iterator[Pairs]:
    """`edge_blocks` of the reversed edges, in the order of the edges."""
    return ((target, source) for source, target in edge_blocks(offsets, targets))


def as_block(ids: np.ndarray) -> np.ndarray:
    """``ids`` in the layout that kernels take: contiguous, read-only, int32 or int64."""
    dtype = ids.dtype if ids.dtype in (np.int32, np.int64) else np.int64
    return frozen(np.ascontiguousarray(ids, dtype))


def asymmetry(source: np.ndarray, target: np.ndarray, key: np.ndarray) -> int:
    """The sum of the signed hashes of some edges, by one thread. Edges are symmetric if it is 0 modulo 2**64."""
    return int(_asymmetry_of_block(as_block(source), as_block(target), key))


def gather(values: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """``values[indices]``, in parallel; -1 where there is no such index."""
    gathered = np.empty(len(indices), values.dtype)
    with pool.work_on(len(indices)):
        _gather(values, as_block(indices), gathered)
    return gathered


def _lengthened(degrees: np.ndarray, length: int) -> np.ndarray:
    """``degrees`` followed by zeros, whose pages take no memory until they are written."""
    longer = np.zeros(length, degrees.dtype)
    longer[: len(degrees)] = degrees
    return longer


class Degrees:
    """Out- and in-degrees of the edges added so far, and whether the edges are symmetric.

    ``out`` and ``into`` (int64) grow with the largest vertex; a self-loop counts in ``out`` only.
    """

    def __init__(self, vertices: int = 0) -> None:
        self.out = np.zeros(vertices, np.int64)
        self.into = np.zeros(vertices, np.int64)
        self._asymmetry = 0

    def add(self, source: np.ndarray, target: np.ndarray) -> None:
        """Count the edges of a block, all of them between vertices below ``len(self.out)``."""
        with pool.work_on(len(source)) as threads:
            self._asymmetry += int(_count(as_block(source), as_block(target), self.out, self.into, KEY, threads))

    def grow(self, vertices: int) -> None:
        """Make room for vertices up to ``vertices - 1``."""
        room = max(vertices, 2 * len(self.out))
        self.out, self.into = (_lengthened(degrees, room) for degrees in (self.out, self.into))

    @property
    def symmetric(self) -> bool:
        """Was every edge added in both directions, equally often? By keyed hashes: wrong for one graph in 2**64."""
        return self._asymmetry % 2**64 == 0


def fill(
    degrees: np.ndarray, blocks: Iterable[Pairs], *, mirror: bool = False, limit: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and targets of the edges in ``blocks``, whose ``degrees[n]`` were counted before.

    With ``mirror`` each edge is placed in both directions, a self-loop once. Targets are below ``limit``, by default n.
    Raises `InputError` if these are not the edges that were counted, as in a file that changes while it is read.
    """
    edges = int(degrees.sum())
    limit = len(degrees) if limit is None else limit
    dtype = np.dtype(index_dtype(limit))
    require(edges * dtype.itemsize, f"a graph of {edges:,} edges")
    offsets = offsets_of(degrees)
    targets = np.empty(edges, dtype)
    cursors = offsets[:-1].copy()
    for source, target in blocks:
        with pool.work_on(len(source)) as threads:
            _place(as_block(source), as_block(target), mirror, limit, cursors, targets, threads)
    if not np.array_equal(cursors, offsets[1:]):
        raise InputError(CHANGED)
    return offsets, targets


def offsets_of(degrees: np.ndarray) -> np.ndarray:
    """Exclusive prefix sum of ``degrees[n]``: the offsets (n + 1) of adjacencies with these degrees."""
    offsets = np.zeros(len(degrees) + 1, index_dtype(int(degrees.sum())))
    np.cumsum(degrees, out=offsets[1:])
    return offsets


def degrees_of(n: int, blocks: Iterable[Pairs]) -> Degrees:
    """The degrees of these edges of n vertices."""
    degrees = Degrees(n)
    for source, target in blocks:
        degrees.add(source, target)
    return degrees


def transpose(offsets: np.ndarray, targets: np.ndarray, *, in_order: bool = True) -> CSR:
    """The CSR of the reversed edges, of the same types, always ``in_order``. Each adjacency ascends, so transposing
    twice sorts."""
    degrees = degrees_of(len(offsets) - 1, _turned(offsets, targets))
    reversed_ = fill(degrees.out, _turned(offsets, targets))
    return reversed_[0].astype(offsets.dtype, copy=False), reversed_[1].astype(targets.dtype, copy=False)


def transposed_positions(offsets: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """For each edge of `transpose`, the position that it had in the adjacency of its source, typed as ``targets``."""

    def blocks() -> Iterator[Pairs]:
        first = 0
        for source, target in edge_blocks(offsets, targets):
            numbers = np.arange(first, first + len(target))
            yield target, numbers - offsets[source]
            first += len(target)

    degrees = degrees_of(len(offsets) - 1, _turned(offsets, targets))
    return fill(degrees.out, blocks(), limit=len(targets))[1].astype(targets.dtype, copy=False)


def ascends(offsets: np.ndarray, targets: np.ndarray) -> bool:
    """Does every adjacency ascend? Entries may repeat."""
    with pool.work_on(len(targets)):
        return int(_count_descents(offsets, targets)) == 0


def ascending(offsets: np.ndarray, targets: np.ndarray, *, symmetric: bool = False) -> CSR:
    """The CSR with each adjacency in ascending order."""
    transposed = transpose(offsets, targets)
    return transposed if symmetric else transpose(*transposed)


def sources_of(offsets: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The source of every arc."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=targets.dtype), np.diff(offsets))


def mirrored(offsets: np.ndarray, targets: np.ndarray, *, in_order: bool = True) -> CSR:
    """The CSR of the edges in both directions, self-loops once, always ``in_order``; the same arrays if they are
    symmetric."""
    degrees = degrees_of(len(offsets) - 1, edge_blocks(offsets, targets))
    if degrees.symmetric:
        return offsets, targets
    return fill(degrees.out + degrees.into, edge_blocks(offsets, targets), mirror=True)


def is_symmetric(offsets: np.ndarray, targets: np.ndarray) -> bool:
    """Does every edge exist in both directions, equally often? See `Degrees.symmetric`."""
    with pool.work_on(len(targets)):
        return int(_asymmetry(offsets, targets, KEY)) == 0


def count_loops(offsets: np.ndarray, targets: np.ndarray) -> int:
    """Number of edges from a vertex to itself."""
    with pool.work_on(len(targets)):
        return int(_count_loops(offsets, targets))


def count_repeats(offsets: np.ndarray, targets: np.ndarray) -> int:
    """Number of entries that equal the one before them in their adjacency, which must ascend."""
    degrees = np.empty(len(offsets) - 1, np.int64)
    with pool.work_on(len(targets)):
        _count_distinct(offsets, targets, True, degrees)
    return len(targets) - int(degrees.sum())


def without_repeats_and_loops(offsets: np.ndarray, targets: np.ndarray) -> CSR:
    """The CSR of the distinct edges other than self-loops. Each adjacency must ascend."""
    degrees = np.empty(len(offsets) - 1, np.int64)
    with pool.work_on(len(targets)):
        _count_distinct(offsets, targets, False, degrees)
        new_offsets = offsets_of(degrees)
        new_targets = np.empty(int(new_offsets[-1]), targets.dtype)
        _copy_distinct(offsets, targets, new_offsets, new_targets)
    return new_offsets, new_targets


# The rows of one rank of a distributed graph, by one thread.


def summary(sources: np.ndarray, targets: np.ndarray, key: np.ndarray) -> tuple[int, int]:
    """The largest id and the asymmetry of a block that is not empty."""
    return int(max(sources.max(), targets.max())), asymmetry(sources, targets, key)


def bucket_by_owner(edges: Pairs, size: int, stride: int, *, mirror: bool, loops: bool) -> list[np.ndarray]:
    """The arcs of a block of edges, one array for each owner: a row of local ids of sources, and one of targets."""
    sources, targets = edges
    counts = np.zeros(size, np.int64)
    kernels.count_owners(sources, targets, stride, mirror, loops, counts)
    ends = np.cumsum(counts)
    arcs = np.empty((2, int(counts.sum())), sources.dtype)
    kernels.bucket_by_owner(sources, targets, stride, mirror, loops, ends - counts, arcs)
    return np.split(arcs, ends[:-1], axis=1)


count_local_ids, scatter_targets, count_own_loops = kernels.count, kernels.scatter_targets, kernels.count_loops


def simplified(offsets: np.ndarray, targets: np.ndarray, bound: int) -> CSR:
    """The rows without duplicates, ascending. ``targets``, all below ``bound``, are overwritten."""
    kept = np.zeros(len(offsets), np.int64)
    kernels.sort_distinct(offsets, targets, kept[1:])
    new_offsets = np.cumsum(kept)
    kernels.compact(offsets, targets, new_offsets)
    return new_offsets, targets[: int(new_offsets[-1])]
