"""Connected components of a distributed graph: each rank joins its own arcs, then the ranks merge their components.

Each rank has an array of pointers over all global ids, see `kernels.cpu.afforest`, and joins the ends of its arcs in
it. Then ranks merge in pairs: in round i every 2**(i+1)-th rank gets the pointers of the rank 2**i above, and joins
each vertex with the one that it points to there. After log2(ranks) rounds, rank 0 has the components. So neither the
rounds nor the bytes depend on the graph's diameter: a rank sends its pointers at most once, an integer for each global
id.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import on_device, to_host
from .._core.cuda.kernels import launch
from .._core.dtypes import index_dtype
from .._core.formatting import counted
from .._core.memory import require_bytes
from ..kernels.cpu import afforest
from .build import Partition
from .communicators import Communicator

FILE = "components"


def components_of(graph: Any, vertices: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """`rapids_bfs.engines.components` of a distributed graph. With a mask of ``vertices`` the ranks filter their rows
    first."""
    n, partitioning = graph.num_vertices, graph.partitioning
    dtype, slots = np.dtype(index_dtype(n)), partitioning.size * partitioning.stride
    require_bytes(
        2 * slots * partitioning.dtype.itemsize + n * (8 + dtype.itemsize),
        f"components of {counted(n, 'vertex', 'vertices')} in one piece",
    )
    partitions = graph.filter(vertices=vertices).partitions
    roots = graph.launcher.collect(roots_on_rank_0, each=[partitions])[0]
    places = np.arange(n) if vertices is None else np.flatnonzero(vertices)
    numbers, labels = np.empty(len(places), dtype), np.full(n, -1, dtype)
    count = afforest.number(roots, graph.at_places(places), np.full(slots, -1, dtype), numbers)
    labels[places] = numbers
    return labels, count


def roots_on_rank_0(partition: Partition, communicator: Communicator) -> np.ndarray | None:
    """The smallest global id in the component of each global id, on the host of rank 0; None on other ranks."""
    rank, size = communicator.rank, communicator.size
    slots, dtype = size * partition.partitioning.stride, partition.partitioning.dtype
    csr = csr_for(partition.targets)
    with csr.working():
        csr.require((1 + (size > 1)) * slots * dtype.itemsize, f"components of {counted(slots, 'global id')}")
        pointers = csr.xp.arange(slots, dtype=dtype)
        _join_rows(partition, pointers)
        step = 1
        while step < size:
            sends, receives = rank % (2 * step) == step, rank % (2 * step) == 0 and rank + step < size
            nothing = pointers[:0]
            pieces, into = [nothing] * size, [nothing] * size
            if sends:
                pieces[rank - step] = pointers
            if receives:
                into[rank + step] = csr.xp.empty_like(pointers)
            communicator.alltoallv_into(pieces, into)
            if receives:
                _join_pointers(into[rank + step], pointers)
            step *= 2
        return None if rank else to_host(pointers)


def _join_rows(partition: Partition, pointers: Any) -> None:
    """Join the ends of this rank's arcs; of an undirected graph, only from the larger to the smaller one."""
    rows, symmetric = (partition.offsets, partition.targets), not partition.directed
    if on_device(pointers):
        arcs, slots, dtype = len(partition.targets), len(pointers), pointers.dtype
        given = *rows, partition.num_vertices, arcs, partition.base, int(symmetric), pointers
        launch(FILE, "join_rows", dtype, np.int64, arcs, *given)
        launch(FILE, "flatten", dtype, np.int64, slots, slots, pointers)
    else:
        afforest.join_rows(*rows, partition.base, symmetric, pointers)


def _join_pointers(theirs: Any, pointers: Any) -> None:
    """Join each vertex with the one that it points to in ``theirs``."""
    if on_device(pointers):
        slots, dtype = len(pointers), pointers.dtype
        launch(FILE, "join_pointers", dtype, np.int64, slots, theirs, slots, pointers)
        launch(FILE, "flatten", dtype, np.int64, slots, slots, pointers)
    else:
        afforest.join_pointers(theirs, pointers)
