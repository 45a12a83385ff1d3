"""Trees of searches from their distances: each predecessor is the smallest in-neighbour one level up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._core.cuda.arrays import CUDA, finish, moved
from .._core.memory import require_bytes, require_device_bytes
from .._core.threads import pool
from ..graph import Graph
from ..kernels.cpu.predecessors import find_predecessors
from ..result import BFSResult


def predecessors_of(graph: Graph, distances: Any) -> Any:
    """The predecessors of k searches, whose distances are those of `bfs_batch`, in one pass over the in-edges.

    They depend neither on the engine nor on the order of edges.

    Parameters
    ----------
    graph : Graph
    distances : int32 array of k x n, on the graph's device
        Of searches without a target, each from one source; -1 where a vertex is not reached.

    Returns
    -------
    array of k x n, of the type of ``graph.targets``, on the graph's device
        The smallest in-neighbour one level up; -1 at sources and where a vertex is not reached.

    Raises
    ------
    InputError
        If there is too little memory.

    Examples
    --------
    >>> from rapids_bfs import as_graph, bfs_batch
    >>> graph = as_graph([(0, 1), (1, 2)], directed=False)
    >>> predecessors_of(graph, bfs_batch(graph, [0, 2]).distances)
    array([[-1,  0,  1],
           [ 1,  2, -1]], dtype=int32)
    """
    offsets, into = graph._ascending_in_edges
    rows, n = distances.shape
    dtype = into.dtype
    what = f"predecessors of {n:,} vertices in {rows:,} searches"
    if graph.device != CUDA:
        require_bytes(dtype.itemsize * rows * n, what)
        predecessors = np.empty((rows, n), dtype)
        with pool.work_on(rows * n):
            find_predecessors(offsets, into, distances, predecessors)
        return predecessors
    import cupy

    from .._core.cuda.kernels import launch

    require_device_bytes(dtype.itemsize * rows * n, what)
    on_gpu = cupy.empty((rows, n), dtype)
    arrays = offsets, into, moved(distances, CUDA)
    launch("predecessors", "find_predecessors", dtype, offsets.dtype, rows * n, *arrays, n, rows * n, on_gpu)
    return on_gpu


def with_smallest_predecessors(result: BFSResult) -> BFSResult:
    """The result with the predecessors of `predecessors_of`."""
    predecessors = predecessors_of(result.graph, result.distances[None])[0]
    if result.graph.device == CUDA:
        finish()
    return replace(result, predecessors=predecessors)
