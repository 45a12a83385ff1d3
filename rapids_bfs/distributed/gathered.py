"""Distributed graphs that are also gathered on rank 0, because their searches have many levels.

Ranks synchronize at every level. If levels are many and small, that takes most of the time of a search. Then rank 0, if
it has the memory, gathers the rows of all ranks into a `Graph` whose vertices are the global ids, searches it with the
engine for one device, and scatters the answer. Such a search cannot be aborted.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import on_device
from .._core.dtypes import index_dtype
from .._core.memory import available_bytes, available_device_bytes
from ..engines import Options, resolve, search
from ..errors import InputError
from ..graph import Graph
from ..result import BFSResult
from ..trace import Step
from .build import OWN, Partition
from .communicators import Communicator
from .launchers import Launcher, PerRank
from .level_synchronous import Answer, Totals
from .masks import as_bools

GATHERED = "gathered on one"  # the transport of such a graph
# A graph is gathered after a search of DEEP + arcs / ARCS_PER_LEVEL levels. A level takes 12 us longer on two H200 than
# on one, which expands some ARCS_PER_LEVEL arcs in that time; DEEP levels make up for scattering the answer.
DEEP = 64
ARCS_PER_LEVEL = 1 << 23
FREE_SHARE = 4  # rank 0 takes at most 1/FREE_SHARE of the memory that is free there
PER_VERTEX = 20  # memory of a search for each vertex, at most, in global ids: see `DirectionOptimizing`


def deep_from(arcs: int) -> int:
    """The least number of levels at which a graph with this many arcs is gathered."""
    return DEEP + arcs // ARCS_PER_LEVEL


def gather(partition: Partition, communicator: Communicator) -> bool:
    """Gather all rows on rank 0, and prepare it for searches. Returns True on rank 0 if it succeeded."""
    csr, stride = csr_for(partition.targets), partition.partitioning.stride
    with csr.working():
        degrees: Any = None
        targets: Any = None
        if communicator.rank == 0:
            with suppress(MemoryError):
                degrees, targets = _allocated(partition)
        if not communicator.allgather_object(degrees is not None)[0]:
            return False
        own_degrees = csr.xp.zeros(stride, np.int64)
        own_degrees[: partition.num_vertices] = csr.xp.diff(partition.offsets)
        _to_rank_0(own_degrees, degrees, [stride] * communicator.size, communicator)
        _to_rank_0(partition.targets, targets, partition.arcs, communicator)
        # No collective follows: compiling a kernel may take longer than the timeout.
        if degrees is None:
            return False
        try:
            offsets = csr.xp.zeros(len(degrees) + 1, index_dtype(len(targets)))
            csr.xp.cumsum(degrees, out=offsets[1:])
            graph = Graph._trusted(offsets, targets, directed=partition.directed)
            resolve(OWN[graph.device]).traversal(graph)
        except (MemoryError, InputError):  # it needs more memory than was expected
            return False
        partition.cache["whole"] = graph
        return True


def _allocated(partition: Partition) -> tuple[Any, Any]:
    """New arrays for the degrees (int64) by global id, and the targets, of all ranks. Raises `MemoryError`, also if a
    search of these would take too much memory."""
    partitioning = partition.partitioning
    per_arc = 2 if partition.directed else 1  # a directed graph is searched along its reverse too
    needed = per_arc * sum(partition.arcs) + PER_VERTEX * partitioning.size * partitioning.stride
    if FREE_SHARE * needed * partitioning.dtype.itemsize > _free_bytes(partition):
        raise MemoryError
    empty = csr_for(partition.targets).xp.empty
    return empty(partitioning.size * partitioning.stride, np.int64), empty(sum(partition.arcs), partitioning.dtype)


def _free_bytes(partition: Partition) -> float:
    """Free bytes of the memory that has the partition."""
    return available_device_bytes() if on_device(partition.targets) else available_bytes()


def _to_rank_0(array: Any, whole: Any, lengths: Sequence[int], communicator: Communicator) -> None:
    """Concatenate the arrays of all ranks, of these lengths, into ``whole`` on rank 0; other ranks pass None."""
    nothing = array[:0]
    into = [nothing] * communicator.size
    if whole is not None:
        into = [whole[end - length : end] for length, end in zip(lengths, accumulate(lengths), strict=True)]
    communicator.alltoallv_into([array] + [nothing] * (communicator.size - 1), into)


def search_whole(
    partition: Partition, communicator: Communicator, sources: np.ndarray, options: Options
) -> BFSResult | None:
    """The result of a search of the gathered graph on rank 0; None on other ranks. ``options.vertices`` is a bitmap.

    This SPMD function has no collective, at which the other ranks would run into their timeout.
    """
    if communicator.rank:
        return None
    graph = partition.cache["whole"]
    if options.vertices is not None:
        options = replace(options, vertices=as_bools(options.vertices, graph.num_vertices, graph.device))
    result: BFSResult = search(graph, sources, options, OWN[graph.device])
    return result


def totals_of(result: BFSResult | None) -> Totals | None:
    """The totals of rank 0's result; None on other ranks."""
    if result is None:
        return None
    steps = [Step(level.direction, level.milliseconds) for level in result.trace or ()]
    return Totals(result.num_reached, result.depth, steps)


def scatter(
    partition: Partition, result: BFSResult | None, communicator: Communicator, found: Totals, predecessors: bool
) -> Answer:
    """Scatter rank 0's result: the answer for this rank's vertices, with ``predecessors`` if that is true."""
    distances = None if result is None else result.distances
    tree = None if result is None else result.predecessors
    return Answer(
        _from_rank_0(distances, np.int32, partition, communicator),
        _from_rank_0(tree, partition.partitioning.dtype, partition, communicator) if predecessors else None,
        found,
    )


def _from_rank_0(array: Any, dtype: Any, partition: Partition, communicator: Communicator) -> Any:
    """This rank's slice, by local id, of ``array`` on rank 0, which is indexed by global id; other ranks pass None."""
    xp, partitioning = csr_for(partition.targets).xp, partition.partitioning
    nothing = xp.empty(0, dtype)
    pieces = [nothing] * communicator.size
    if array is not None:
        firsts = range(0, communicator.size * partitioning.stride, partitioning.stride)
        pieces = [array[first : first + count] for first, count in zip(firsts, partitioning.counts, strict=True)]
    into = [xp.empty(partition.num_vertices, dtype)] + [nothing] * (communicator.size - 1)
    return communicator.alltoallv_into(pieces, into)[0]


def search_gathered(
    launcher: Launcher, partitions: PerRank, sources: np.ndarray, options: Options
) -> tuple[PerRank, Totals]:
    """Search the gathered graph on rank 0: the answer of each rank, and the totals."""
    whole, (totals, *_) = launcher.map_and_collect(search_whole, totals_of, sources, options, each=[partitions])
    return launcher.map(scatter, totals, options.predecessors, each=[partitions, whole]), totals
