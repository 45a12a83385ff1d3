"""CSR on the host: transposed, mirrored, sorted, without duplicates, and the rows of one rank of a distributed graph.

Each thread owns a range of vertices, or of the arcs of a CSR. `building` makes the CSR of an edge list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np

from ...kernels.cpu import afforest
from ...kernels.cpu import distributed as kernels
from ...kernels.cpu.atomics import fetch_add
from ...kernels.cpu.bits import ONE
from ...kernels.cpu.compiled import borrowing, serial
from ...kernels.cpu.team import shared
from ..memory import require_bytes
from ..threads import pool
from .building import BLOCK, CSR, Pairs, as_block, degrees_of, fill, offsets_of
from .counting import ROWS, none_yet, sum_of_hashes
from .host_filter import KeptArcs as KeptArcs

EXCHANGE_BLOCK = BLOCK

xp = np
require = require_bytes
working = nullcontext


@serial
def _sources(offsets, first, vertex, sources):
    """Fill ``sources`` with the sources of the edges from ``first`` on; ``vertex`` is at most the first of them."""
    for i in range(len(sources)):
        while first + i >= offsets[vertex + 1]:
            vertex += 1
        sources[i] = vertex


@borrowing(shared)
def _loops_in_rows(arguments, thread):
    offsets, targets, next_ = arguments
    n = len(offsets) - 1
    loops = 0
    while True:
        first = fetch_add(next_, 0, ROWS)
        if first >= n:
            return loops
        for u in range(np.uint64(first), np.uint64(min(first + ROWS, n))):
            for edge in range(np.uint64(offsets[u]), np.uint64(offsets[u + ONE])):
                loops += np.uint64(targets[edge]) == u


@borrowing(serial)
def _count_loops(arguments, team, threads):
    return _loops_in_rows(team, threads, arguments)


@borrowing(shared)
def _descents_in_rows(arguments, thread):
    offsets, targets, next_ = arguments
    n = len(offsets) - 1
    descents = 0
    while True:
        first = fetch_add(next_, 0, ROWS)
        if first >= n:
            return descents
        for u in range(np.uint64(first), np.uint64(min(first + ROWS, n))):
            for edge in range(np.uint64(offsets[u]) + ONE, np.uint64(offsets[u + ONE])):
                descents += targets[edge] < targets[edge - ONE]


@borrowing(serial)
def _count_descents(arguments, team, threads):
    return _descents_in_rows(team, threads, arguments)


@borrowing(shared)
def _distinct_in_rows(arguments, thread):
    offsets, targets, loops, degrees, next_ = arguments
    n = len(degrees)
    while True:
        first = fetch_add(next_, 0, ROWS)
        if first >= n:
            return 0
        for u in range(np.uint64(first), np.uint64(min(first + ROWS, n))):
            distinct = 0
            begin = np.uint64(offsets[u])
            for edge in range(begin, np.uint64(offsets[u + ONE])):
                new = edge == begin or targets[edge] != targets[edge - ONE]
                distinct += new and (loops or np.uint64(targets[edge]) != u)
            degrees[u] = distinct


@borrowing(serial)
def _count_distinct(arguments, team, threads):
    """Fill ``degrees[n]`` with the distinct targets of each ascending adjacency, self-loops counted if ``loops``."""
    _distinct_in_rows(team, threads, arguments)


@borrowing(shared)
def _distinct_of_rows(arguments, thread):
    offsets, targets, new_offsets, new_targets, next_ = arguments
    n = len(offsets) - 1
    while True:
        first = fetch_add(next_, 0, ROWS)
        if first >= n:
            return 0
        for u in range(np.uint64(first), np.uint64(min(first + ROWS, n))):
            place, begin = np.uint64(new_offsets[u]), np.uint64(offsets[u])
            for edge in range(begin, np.uint64(offsets[u + ONE])):
                if (edge == begin or targets[edge] != targets[edge - ONE]) and np.uint64(targets[edge]) != u:
                    new_targets[place] = targets[edge]
                    place += ONE


@borrowing(serial)
def _copy_distinct(arguments, team, threads):
    _distinct_of_rows(team, threads, arguments)


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


def asymmetry_of_edges(source: np.ndarray, target: np.ndarray, key: np.ndarray) -> int:
    """The sum of the signed hashes of some edges, by one thread. Edges are symmetric if it is 0 modulo 2**64."""
    return int(sum_of_hashes(as_block(source), as_block(target), key))


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
    return int(_count_descents((offsets, targets, none_yet()), *pool.team(len(targets)))) == 0


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


def count_loops(offsets: np.ndarray, targets: np.ndarray) -> int:
    """Number of edges from a vertex to itself."""
    return int(_count_loops((offsets, targets, none_yet()), *pool.team(len(targets))))


def components(
    offsets: np.ndarray, targets: np.ndarray, symmetric: bool, allowed: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """The connected component of each vertex, directions aside, and how many there are.

    They are numbered from 0 in the order of their first vertices. ``symmetric``: is each edge there in both directions?
    Vertices that the mask ``allowed`` leaves out have -1, and their edges do not count.
    """
    labels = np.empty(len(offsets) - 1, targets.dtype)
    mask = np.empty(0, bool) if allowed is None else np.array(allowed)
    return labels, afforest.label(offsets, targets, symmetric, mask, labels)


def count_repeats(offsets: np.ndarray, targets: np.ndarray) -> int:
    """Number of entries that equal the one before them in their adjacency, which must ascend."""
    degrees = np.empty(len(offsets) - 1, np.int64)
    _count_distinct((offsets, targets, True, degrees, none_yet()), *pool.team(len(targets)))
    return len(targets) - int(degrees.sum())


def without_repeats_and_loops(offsets: np.ndarray, targets: np.ndarray) -> CSR:
    """The CSR of the distinct edges other than self-loops. Each adjacency must ascend."""
    degrees = np.empty(len(offsets) - 1, np.int64)
    team, threads = pool.team(len(targets))
    _count_distinct((offsets, targets, False, degrees, none_yet()), team, threads)
    new_offsets = offsets_of(degrees)
    new_targets = np.empty(int(new_offsets[-1]), targets.dtype)
    _copy_distinct((offsets, targets, new_offsets, new_targets, none_yet()), team, threads)
    return new_offsets, new_targets


# The rows of one rank of a distributed graph, by one thread.


def summary(sources: np.ndarray, targets: np.ndarray, key: np.ndarray) -> tuple[int, int]:
    """The largest id and the asymmetry of a block that is not empty."""
    return int(max(sources.max(), targets.max())), asymmetry_of_edges(sources, targets, key)


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
