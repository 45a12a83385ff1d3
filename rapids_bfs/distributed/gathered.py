"""Graphs in partitions whose searches have many levels: rank 0 searches them for all.

Ranks that search together wait for each other at every level. Where levels are many and small, they hardly do anything
else. If rank 0 has the memory, it then holds the rows of all, as a graph whose vertices are the numbers, and the other
ranks only get their partition of what it finds. Such a search is one of an engine for one device: it cannot be stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from .._core.cuda.arrays import on_device
from .._core.dtypes import index_dtype
from .._core.memory import available_bytes, available_device_bytes
from ..engines import Options, resolve, search
from ..errors import InputError
from ..graph import Graph
from ..result import BFSResult
from ..trace import Step
from .build import OWN, Partition, tools_of
from .communicators import Communicator
from .launchers import Kept, Launcher
from .level_synchronous import Answer

GATHERED = "by partition 0 alone"  # how such a graph is searched
# Rank 0 searches alone after a search of DEEP + arcs / ARCS_PER_LEVEL levels. A level takes 12 us longer on two H200
# than on one, which expands some ARCS_PER_LEVEL arcs in that time; DEEP levels make up for handing out the answer.
DEEP = 64
ARCS_PER_LEVEL = 1 << 23
FREE_SHARE = 4  # rank 0 takes at most 1/FREE_SHARE of the memory that is free there
PER_VERTEX = 20  # numbers' worth of memory that a search needs for a vertex, at most: see `DirectionOptimizing`


def deep_from(arcs: int) -> int:
    """From how many levels on rank 0 searches a graph alone."""
    return DEEP + arcs // ARCS_PER_LEVEL


class Rows(NamedTuple):
    """What is to hold the rows of all partitions, on their device."""

    degrees: Any  # int64, by number
    targets: Any  # numbers


def gather(partition: Partition, communicator: Communicator) -> bool:
    """Bring all rows to rank 0, and prepare it to search them. True on rank 0 if it can; elsewhere it means nothing."""
    with tools_of(partition.targets).working():
        rows = _rows(partition) if communicator.rank == 0 else None
        if not communicator.share(rows is not None)[0]:
            return False
        xp, partitioning = tools_of(partition.targets).xp, partition.partitioning
        degrees = xp.zeros(partitioning.stride, np.int64)
        degrees[: partition.own] = xp.diff(partition.offsets)
        _to_rank_0(degrees, rows and rows.degrees, [partitioning.stride] * communicator.size, communicator)
        _to_rank_0(partition.targets, rows and rows.targets, partition.arcs, communicator)
        # Nobody waits for what follows, since compiling a kernel may take longer than ranks wait.
        if rows is None:
            return False
        try:
            offsets = xp.zeros(len(rows.degrees) + 1, index_dtype(len(rows.targets)))
            xp.cumsum(rows.degrees, out=offsets[1:])
            graph = Graph._trusted(offsets, rows.targets, directed=partition.directed)
            resolve(OWN[graph.device]).traversal(graph)
        except (MemoryError, InputError):  # it takes more than was expected
            return False
        partition.kept["whole"] = graph
        return True


def _rows(partition: Partition) -> Rows | None:
    """Room for all rows, unless a search of them would take too much memory."""
    partitioning = partition.partitioning
    per_arc = 2 if partition.directed else 1  # a directed graph is searched along its reverse too
    needed = per_arc * sum(partition.arcs) + PER_VERTEX * partitioning.size * partitioning.stride
    if FREE_SHARE * needed * partitioning.dtype.itemsize > _free_bytes(partition):
        return None
    xp = tools_of(partition.targets).xp
    try:
        return Rows(
            xp.empty(partitioning.size * partitioning.stride, np.int64),
            xp.empty(sum(partition.arcs), partitioning.dtype),
        )
    except MemoryError:
        return None


def _free_bytes(partition: Partition) -> float:
    """Of the memory that the partition is in; all of the device's if a pool of RMM's does not say what it has left."""
    if not on_device(partition.targets):
        return available_bytes()
    import cupy

    return float(min(available_device_bytes(), cupy.cuda.Device().mem_info[1]))


def _to_rank_0(array: Any, whole: Any, lengths: Sequence[int], communicator: Communicator) -> None:
    """Put the ranks' arrays, of these lengths, one after the other into ``whole``, which rank 0 has."""
    nothing = array[:0]
    into = [nothing] * communicator.size
    if whole is not None:
        into = [whole[end - length : end] for length, end in zip(lengths, accumulate(lengths), strict=True)]
    communicator.exchanged([array] + [nothing] * (communicator.size - 1), into)


class Totals(NamedTuple):
    """What a search found in all partitions."""

    reached: int
    depth: int
    steps: list[Step]


def search_whole(
    partition: Partition, communicator: Communicator, sources: np.ndarray, options: Options
) -> BFSResult | None:
    """On rank 0, the result of a search of all rows; None elsewhere.

    It is a call of its own, since in a collective the other ranks would wait no longer than their limit.
    """
    if communicator.rank:
        return None
    graph = partition.kept["whole"]
    result: BFSResult = search(graph, sources, options, OWN[graph.device])
    return result


def totals_of(result: BFSResult | None) -> Totals | None:
    """What all ranks are to know of a result, where there is one."""
    if result is None:
        return None
    steps = [Step(level.direction, level.milliseconds) for level in result.trace or ()]
    return Totals(result.num_reached, result.depth, steps)


def distribute(
    partition: Partition, result: BFSResult | None, communicator: Communicator, found: Totals, predecessors: bool
) -> Answer:
    """What rank 0 has found of this rank's vertices; ``predecessors``: these too."""
    distances = None if result is None else result.distances
    tree = None if result is None else result.predecessors
    return Answer(
        _from_rank_0(distances, np.int32, partition, communicator),
        _from_rank_0(tree, partition.partitioning.dtype, partition, communicator) if predecessors else None,
        *found,
    )


def _from_rank_0(array: Any, dtype: Any, partition: Partition, communicator: Communicator) -> Any:
    """The values of this rank's vertices, by place, in an array by number of this type, which rank 0 has."""
    xp, partitioning = tools_of(partition.targets).xp, partition.partitioning
    nothing = xp.empty(0, dtype)
    pieces = [nothing] * communicator.size
    if array is not None:
        firsts = range(0, communicator.size * partitioning.stride, partitioning.stride)
        pieces = [array[first : first + count] for first, count in zip(firsts, partitioning.counts, strict=True)]
    return communicator.exchanged(pieces, [xp.empty(partition.own, dtype)] + [nothing] * (communicator.size - 1))[0]


def search_gathered(launcher: Launcher, partitions: Kept, sources: np.ndarray, options: Options) -> tuple[Kept, Totals]:
    """The answers of a search by rank 0 alone, one on each rank, and what they add up to."""
    whole, (totals, *_) = launcher.map_and_report(search_whole, totals_of, sources, options, each=[partitions])
    return launcher.keep(distribute, totals, options.predecessors, each=[partitions, whole]), totals
