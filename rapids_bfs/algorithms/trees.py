"""The trees of many searches at once, computed from their distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.cuda.arrays import CUDA, moved
from .._core.cuda.kernels import launch
from .._core.memory import require_bytes, require_device_bytes
from .._core.threads import pool
from ..graph import Graph
from ..kernels.cpu.predecessors import find_predecessors


def predecessors_of(graph: Graph, distances: Any) -> Any:
    """The predecessors of k searches, whose distances are those of `bfs_batch`, in one pass over the in-edges.

    Parameters
    ----------
    graph : Graph
    distances : int32 array of k x n, on the graph's device
        Of searches without a target, each from one source; -1 where a vertex is not reached.

    Returns
    -------
    array of k x n, of the type of ``graph.targets``, on the graph's device
        The first in-neighbour one level up, in the order of ``graph.reverse``; -1 at sources and where a vertex is not
        reached.

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
    into = graph.reverse
    rows, n = distances.shape
    dtype = into.targets.dtype
    what = f"predecessors of {n:,} vertices in {rows:,} searches"
    if graph.device != CUDA:
        require_bytes(dtype.itemsize * rows * n, what)
        predecessors = np.empty((rows, n), dtype)
        with pool.work_on(rows * n):
            find_predecessors(into.offsets, into.targets, distances, predecessors)
        return predecessors
    import cupy

    require_device_bytes(dtype.itemsize * rows * n, what)
    on_gpu = cupy.empty((rows, n), dtype)
    arrays = into.offsets, into.targets, moved(distances, CUDA)
    launch("predecessors", "find_predecessors", dtype, into.offsets.dtype, rows * n, *arrays, n, rows * n, on_gpu)
    return on_gpu
