"""Graphs in parts whose searches have many levels: rank 0 searches them for all.

Ranks that search together wait for each other at every level. Where levels are many and small, they hardly do anything
else. If rank 0 has the memory, it then holds the rows of all, as a graph whose vertices are the numbers, and the other
ranks only get their part of what it finds. Such a search is one of an engine for one device: it cannot be stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from .._core.cuda.arrays import on_device
from .._core.dtypes import index_dtype
from .._core.memory import available_bytes, available_device_bytes
from ..algorithms.bfs import search
from ..engines import Options, choose
from ..errors import InputError
from ..graph import Graph
from ..result import BFSResult
from ..trace import Step
from .build import OWN, Part, tools_of
from .communicators import Peers
from .launchers import Kept, Launcher
from .level_synchronous import Answer

ALONE = "by part 0 alone"  # how such a graph is searched
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
    """What is to hold the rows of all parts, on their device."""

    degrees: Any  # int64, by number
    targets: Any  # numbers


def gather(part: Part, peers: Peers) -> bool:
    """Bring all rows to rank 0, and prepare it to search them. True on rank 0 if it can; elsewhere it means nothing."""
    with tools_of(part.targets).working():
        rows = _rows(part) if peers.rank == 0 else None
        if not peers.share(rows is not None)[0]:
            return False
        xp, partition = tools_of(part.targets).xp, part.partition
        degrees = xp.zeros(partition.stride, np.int64)
        degrees[: part.own] = xp.diff(part.offsets)
        _to_rank_0(degrees, rows and rows.degrees, [partition.stride] * peers.size, peers)
        _to_rank_0(part.targets, rows and rows.targets, part.arcs, peers)
        # Nobody waits for what follows, since compiling a kernel may take longer than ranks wait.
        if rows is None:
            return False
        try:
            offsets = xp.zeros(len(rows.degrees) + 1, index_dtype(len(rows.targets)))
            xp.cumsum(rows.degrees, out=offsets[1:])
            graph = Graph._trusted(offsets, rows.targets, directed=part.directed)
            choose(OWN[graph.device]).traversal(graph)
        except (MemoryError, InputError):  # it takes more than was expected
            return False
        part.kept["whole"] = graph
        return True


def _rows(part: Part) -> Rows | None:
    """Room for all rows, unless a search of them would take too much memory."""
    partition = part.partition
    per_arc = 2 if part.directed else 1  # a directed graph is searched along its reverse too
    needed = per_arc * sum(part.arcs) + PER_VERTEX * partition.size * partition.stride
    if FREE_SHARE * needed * partition.dtype.itemsize > _free_bytes(part):
        return None
    xp = tools_of(part.targets).xp
    try:
        return Rows(xp.empty(partition.size * partition.stride, np.int64), xp.empty(sum(part.arcs), partition.dtype))
    except MemoryError:
        return None


def _free_bytes(part: Part) -> float:
    """Of the memory that the part is in; all of the device's if a pool of RMM's does not say what it has left."""
    if not on_device(part.targets):
        return available_bytes()
    import cupy

    return float(min(available_device_bytes(), cupy.cuda.Device().mem_info[1]))


def _to_rank_0(array: Any, whole: Any, lengths: Sequence[int], peers: Peers) -> None:
    """Put the ranks' arrays, of these lengths, one after the other into ``whole``, which rank 0 has."""
    nothing = array[:0]
    into = [nothing] * peers.size
    if whole is not None:
        into = [whole[end - length : end] for length, end in zip(lengths, accumulate(lengths), strict=True)]
    peers.exchanged([array] + [nothing] * (peers.size - 1), into)


class Totals(NamedTuple):
    """What a search found in all parts."""

    reached: int
    depth: int
    steps: list[Step]


def search_whole(part: Part, peers: Peers, sources: np.ndarray, options: Options) -> BFSResult | None:
    """On rank 0, the result of a search of all rows; None elsewhere.

    It is a call of its own, since in a collective the other ranks would wait no longer than their limit.
    """
    if peers.rank:
        return None
    graph = part.kept["whole"]
    result: BFSResult = search(graph, sources, options, OWN[graph.device])
    return result


def totals_of(result: BFSResult | None) -> Totals | None:
    """What all ranks are to know of a result, where there is one."""
    if result is None:
        return None
    steps = [Step(level.direction, level.milliseconds) for level in result.trace or ()]
    return Totals(result.num_reached, result.depth, steps)


def distribute(part: Part, result: BFSResult | None, peers: Peers, found: Totals, predecessors: bool) -> Answer:
    """What rank 0 has found of this rank's vertices; ``predecessors``: these too."""
    distances = None if result is None else result.distances
    tree = None if result is None else result.predecessors
    return Answer(
        _from_rank_0(distances, np.int32, part, peers),
        _from_rank_0(tree, part.partition.dtype, part, peers) if predecessors else None,
        *found,
    )


def _from_rank_0(array: Any, dtype: Any, part: Part, peers: Peers) -> Any:
    """The values of this rank's vertices, by place, in an array by number of this type, which rank 0 has."""
    xp, partition = tools_of(part.targets).xp, part.partition
    nothing = xp.empty(0, dtype)
    pieces = [nothing] * peers.size
    if array is not None:
        firsts = range(0, peers.size * partition.stride, partition.stride)
        pieces = [array[first : first + count] for first, count in zip(firsts, partition.counts, strict=True)]
    return peers.exchanged(pieces, [xp.empty(part.own, dtype)] + [nothing] * (peers.size - 1))[0]


def searched_alone(launcher: Launcher, parts: Kept, sources: np.ndarray, options: Options) -> tuple[Kept, Totals]:
    """The answers of a search by rank 0 alone, one on each rank, and what they add up to."""
    whole, (totals, *_) = launcher.keep_and_report(search_whole, totals_of, sources, options, each=[parts])
    return launcher.keep(distribute, totals, options.predecessors, each=[parts, whole]), totals
