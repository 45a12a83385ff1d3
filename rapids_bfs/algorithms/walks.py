"""The vertices at the ends of walks of a given number of edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import moved
from ..graph import Graph

MANY_WALKS = 1 << 26  # that are extended at a time, unless those from a single vertex are more
WALK_BYTES = 8 * 8  # of a walk that is extended: its start, its end and the keys that are sorted
SPREAD = 16  # keys below this many times their number are marked in an array, others are sorted


def walk_ends(graph: Graph, vertices: np.ndarray, hops: int) -> tuple[Any, Any]:
    """The distinct vertices at the ends of the walks of exactly ``hops`` edges from each of k vertices.

    Unlike a path, a walk may come back: two edges lead from a vertex of an undirected graph to itself.

    Parameters
    ----------
    graph : Graph
    vertices : int64 array of k, on the host
        A vertex may occur more than once.
    hops : int
        At least 1.

    Returns
    -------
    position, end : int64 arrays of one length, on the graph's device
        For each start its position in ``vertices`` and an end, both ascending.

    Raises
    ------
    InputError
        If they do not fit in the memory.

    Examples
    --------
    >>> from rapids_bfs import as_graph
    >>> walk_ends(as_graph([(0, 1), (1, 2), (2, 0)]), np.array([0, 1]), 2)
    (array([0, 1]), array([2, 0]))
    """
    csr = csr_for(graph.targets)
    starts = moved(np.asarray(vertices, np.int64), graph.device)
    found: list[tuple[Any, Any]] = []
    waiting = [(0, starts)]  # the position of the first, and some starts
    held = 0
    while waiting:
        first, some = waiting.pop()
        ends = _ends(graph, csr, some, hops, held)
        if ends is None:  # too many walks at once
            half = len(some) // 2
            waiting += [(first + half, some[half:]), (first, some[:half])]
            continue
        found.append((first + ends[0], ends[1]))
        held += 16 * len(ends[0])
    position, end = (csr.xp.concatenate(arrays) for arrays in zip(*found, strict=True))
    return position, end


def _ends(graph: Graph, csr: Any, starts: Any, hops: int, held: int) -> tuple[Any, Any] | None:
    """`walk_ends` from a few vertices; None if there are several, and more than `MANY_WALKS` walks from them.

    ``held`` is the number of bytes of earlier results. However large ``hops`` is, the sets of ends recur after some
    steps: such a cycle is found as in R. Brent, An improved Monte Carlo factorization algorithm, BIT 20, 1980, and
    skipped.
    """
    ends = csr.xp.arange(len(starts), dtype=np.int64), starts
    earlier, since, until = ends, 0, 1
    while hops:
        longer = _extended(graph, csr, *ends, held, bounded=len(starts) > 1)
        if longer is None:
            return None
        ends = longer
        hops, since = hops - 1, since + 1
        if hops and _equal(ends, earlier):
            hops %= since
        elif since == until:
            earlier, since, until = ends, 0, 2 * until
    return ends


def _extended(graph: Graph, csr: Any, position: Any, at: Any, held: int, *, bounded: bool) -> tuple[Any, Any] | None:
    """The positions and ends of walks that are one edge longer; None if they are too many and to be ``bounded``."""
    xp, n = csr.xp, max(graph.num_vertices, 1)
    begins = graph.offsets[at].astype(np.int64)
    bounds = xp.zeros(len(at) + 1, np.int64)
    xp.cumsum(graph.offsets[at + 1] - begins, out=bounds[1:])
    walks = int(bounds[-1])
    if walks > MANY_WALKS and bounded:
        return None
    csr.require(WALK_BYTES * walks + held, f"{walks:,} walks of {graph.name}")
    row = csr.sources_of(bounds, xp.empty(walks, np.int64))
    targets = graph.targets[(begins - bounds[:-1])[row] + xp.arange(walks)]
    keys = _distinct(xp, position[row] * n + targets, (int(position[-1]) + 1) * n if walks else 0)
    return keys // n, keys % n


def _distinct(xp: Any, keys: Any, limit: int) -> Any:
    """The distinct keys, which are below ``limit``, in ascending order."""
    if limit > SPREAD * len(keys):
        return xp.unique(keys)
    there = xp.zeros(limit, bool)  # to mark them is faster than to sort them
    there[keys] = True
    return xp.flatnonzero(there)


def _equal(some: tuple[Any, Any], others: tuple[Any, Any]) -> bool:
    return all(len(one) == len(other) and bool((one == other).all()) for one, other in zip(some, others, strict=True))
