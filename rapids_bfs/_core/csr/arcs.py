"""The position that each arc of a derived CSR had in the original, to reorder edge data alike.

Arrays are NumPy's or CuPy's. Every function takes the offsets and targets of the original CSR, and needs about four
arrays of its number of arcs besides the result; on a device it sorts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..cuda.arrays import on_device, to_host
from . import csr_for
from .building import Pairs, fill

_NO_LIMIT = np.iinfo(np.int64).max


def grouped(ends: Any, n: int) -> Any:
    """The positions of ``ends``, which are vertices below ``n``, vertex by vertex, and for each in ascending order."""
    if on_device(ends):
        return ends.argsort(kind="stable")
    return fill(np.bincount(ends, minlength=n), [(ends, np.arange(len(ends)))], limit=len(ends))[1]


def placed(degrees: np.ndarray, blocks: Iterable[Pairs], mirror: bool) -> np.ndarray:
    """The row of the edge list that each arc comes from, in a CSR that `building.fill` makes with these arguments."""
    return fill(degrees, _numbered(blocks, mirror), limit=_NO_LIMIT)[1]


def of_edges(sources: Any, targets: Any, n: int, mirror: bool) -> Any:
    """The row of each arc among edges of n vertices, source by source and then by row; with ``mirror`` both ways."""
    rows = csr_for(sources).xp.arange(len(sources))
    ends, rows = _both_ways(sources, targets, rows) if mirror else (sources, rows)
    return rows[grouped(ends, n)]


def _numbered(blocks: Iterable[Pairs], mirror: bool) -> Iterator[Pairs]:
    """The sources of the arcs of some edges, and the rows of these edges."""
    first = 0
    for sources, targets in blocks:
        rows = np.arange(first, first + len(sources))
        first += len(sources)
        yield _both_ways(sources, targets, rows) if mirror else (sources, rows)


def _both_ways(sources: Any, targets: Any, rows: Any) -> Any:
    """The ends of some edges, source before target, a self-loop's once; and the row of each."""
    xp = csr_for(sources).xp
    kept = xp.ones((len(sources), 2), bool)
    kept[:, 1] = sources != targets
    return xp.stack([sources, targets], axis=1)[kept], xp.stack([rows, rows], axis=1)[kept]


def transposed(offsets: Any, targets: Any) -> Any:
    """The original positions for `transpose`, where it keeps the order of arcs."""
    return grouped(targets, len(offsets) - 1)


def mirrored(offsets: Any, targets: Any) -> Any:
    """The original positions for `mirrored`, where it keeps the order of arcs, unless the CSR was symmetric."""
    return of_edges(csr_for(targets).sources_of(offsets, targets), targets, len(offsets) - 1, True)


def ascending(offsets: Any, targets: Any) -> Any:
    """The original positions for `ascending`; duplicates keep their order."""
    by_target = transposed(offsets, targets)
    return by_target[grouped(csr_for(targets).sources_of(offsets, targets)[by_target], len(offsets) - 1)]


def distinct(offsets: Any, targets: Any) -> Any:
    """The original positions for `without_repeats_and_loops` of `ascending`: of duplicates, that of the first."""
    order = ascending(offsets, targets)
    sources, targets = csr_for(targets).sources_of(offsets, targets)[order], targets[order]
    kept = sources != targets
    kept[1:] &= (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    return order[kept]


def twins(offsets: Any, targets: Any) -> Any:
    """For each arc of a symmetric CSR the position of the reverse arc; the k-th of several parallel arcs has the
    k-th."""
    order = csr_for(targets).xp.empty(len(targets), np.int64)
    order[ascending(offsets, targets)] = transposed(offsets, targets)
    return order


def first_one_way(offsets: Any, targets: Any) -> tuple[int, int]:
    """Source and target of an arc that has fewer reverse arcs than parallel ones, in a CSR that is not symmetric."""
    offsets, targets = to_host(offsets), to_host(targets)
    out = targets[ascending(offsets, targets)]
    back, into = csr_for(targets).transpose(offsets, targets)
    wrong_rows, wrong_arcs = np.flatnonzero(offsets != back), np.flatnonzero(out != into)
    row_of_arc = np.searchsorted(offsets, wrong_arcs[:1], side="right") - 1
    vertex = int(min([*wrong_rows[:1] - 1, *row_of_arc]))
    there, again = (
        Counter(ends[begin:end].tolist())
        for ends, (begin, end) in ((out, offsets[vertex : vertex + 2]), (into, back[vertex : vertex + 2]))
    )
    other = min(end for end in there | again if there[end] != again[end])
    return (vertex, other) if there[other] > again[other] else (other, vertex)
