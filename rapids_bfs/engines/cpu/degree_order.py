"""A graph numbered by degree, for searches from many sources."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._core.csr.building import offsets_of
from ..._core.memory import require_bytes
from ..._core.threads import pool
from ...graph import Graph
from ...kernels.cpu import degree_order


class Numbered(NamedTuple):
    """The edges by the new numbers. ``rank`` has the number of each vertex; the first ``active`` numbers have
    in-edges."""

    rank: np.ndarray
    active: int
    offsets: np.ndarray
    targets: np.ndarray
    in_offsets: np.ndarray
    in_targets: np.ndarray


def numbered_by_degree(graph: Graph) -> Numbered:
    """Vertices with in-edges first, and among these those with the most out-edges."""
    require_bytes(2 * graph.nbytes, f"{graph.name} with its vertices numbered by degree")
    n, vertex = graph.num_vertices, graph.targets.dtype
    out_degrees = graph.degrees
    in_degrees = np.bincount(graph.targets, minlength=n) if graph.directed else out_degrees
    order = np.lexsort((-out_degrees, in_degrees == 0)).astype(vertex)
    rank = np.empty(n, vertex)
    rank[order] = np.arange(n, dtype=vertex)
    offsets, in_offsets = (
        offsets_of(degrees[order]).astype(graph.offsets.dtype, copy=False) for degrees in (out_degrees, in_degrees)
    )
    targets, in_targets = np.empty((2, graph.num_arcs), vertex)
    with pool.work_on() as threads:
        degree_order.relabel(graph.offsets, graph.targets, rank, order, offsets, targets)
        degree_order.transpose(offsets, targets, in_offsets, in_targets, threads)
    if not graph.directed:
        targets = in_targets  # the same edges, hubs first
    return Numbered(rank, int(np.count_nonzero(in_degrees)), offsets, targets, in_offsets, in_targets)
