"""Graphs in parts that rank 0 searches for all.

Where levels are many and small, ranks that search together wait for each other most of the time. If rank 0 has the
memory, it then holds the rows of all, as a graph whose vertices are the numbers, and the others only get their answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.device import CUDA, on_device
from .._core.dtypes import index_dtype
from .._core.memory import available_bytes, available_device_bytes
from ..engines import Options, choose
from ..engines.parts.search import Answer
from ..errors import InputError
from ..graph import Graph
from ..result import BFSResult
from ..search import search
from ..trace import Step
from .build import Part, tools_of
from .partition import Partition
from .peers import Peers

if TYPE_CHECKING:
    from .graph import GraphInParts

ALONE = "by part 0 alone"  # how such a graph is searched
DEEP = 64  # levels, from which on it is,
ARCS_PER_LEVEL = 1 << 23  # and one more for each so many arcs, which take about as long as the waiting at a level
SHARE = 4  # of the memory that is free there, rank 0 takes 1/SHARE at most
PER_VERTEX = 20  # times the bytes of a number is what a search needs, at most, besides edges


def busiest(part: Part, peers: Peers) -> tuple[int, int]:
    """The highest out-degree in the part, and the number of a vertex with it."""
    if not part.own:
        return -1, -1
    degrees = tools_of(part.offsets).xp.diff(part.offsets)
    place = int(degrees.argmax())
    return int(degrees[place]), part.base + place


def gather(part: Part, peers: Peers) -> bool:
    """Bring all rows to rank 0, and prepare it to search them. Returns whether it did; rank 0 knows."""
    if not peers.share(_has_room(part) if peers.rank == 0 else None)[0]:
        return False
    xp, stride = tools_of(part.offsets).xp, part.partition.stride
    degrees = xp.zeros(stride, np.int64)
    degrees[: part.own] = xp.diff(part.offsets)
    try:
        rows = [_at_rank_0(each, peers) for each in (degrees, part.targets)]
        if peers.rank:
            return True
        graph = Graph._trusted(_offsets(rows[0], xp), rows[1], directed=part.directed)
        choose(_engine(graph)).traversal(graph)
    except (MemoryError, InputError):  # it took more than was expected
        return False
    part.kept["whole"] = graph
    return True


def _has_room(part: Part) -> bool:
    """Does what rank 0 needs for all rows fit there easily?"""
    partition = part.partition
    per_arc = 3 if part.directed else 2  # while they are put together
    needed = per_arc * sum(part.arcs) + PER_VERTEX * partition.size * partition.stride
    free = available_device_bytes() if on_device(part.targets) else available_bytes()
    return SHARE * needed * partition.dtype.itemsize <= free


def _at_rank_0(array: Any, peers: Peers) -> Any:
    """On rank 0, the arrays of all ranks in one; elsewhere nothing of use."""
    xp = tools_of(array).xp
    return xp.concatenate(peers.all_to_all([array] + [array[:0]] * (peers.size - 1)))


def _offsets(degrees: Any, xp: Any) -> Any:
    offsets = xp.zeros(len(degrees) + 1, index_dtype(int(degrees.sum())))
    xp.cumsum(degrees, out=offsets[1:])
    return offsets


def _engine(graph: Graph) -> str:
    return "cupy" if graph.device == CUDA else "cpu"


def search_whole(part: Part, peers: Peers, sources: np.ndarray, options: Options) -> BFSResult | None:
    """On rank 0, the result of a search of all rows; None elsewhere. No rank waits for another."""
    if peers.rank:
        return None
    graph = part.kept["whole"]
    result: BFSResult = search(graph, sources, options, _engine(graph))
    return result


def distribute(part: Part, result: BFSResult | None, peers: Peers) -> Answer:
    """What rank 0 has found of this rank's vertices."""
    xp, partition = tools_of(part.targets).xp, part.partition
    distances, predecessors, totals = xp.empty(0, np.int32), xp.empty(0, partition.dtype), None
    if result is not None:
        steps = [Step(level.direction, level.milliseconds) for level in result.trace or ()]
        totals = result.num_reached, result.depth, steps, result.predecessors is not None
        distances, predecessors = result.distances, result.predecessors
    reached, depth, steps, kept = peers.share(totals)[0]
    return Answer(
        _from_rank_0(distances, partition, peers),
        _from_rank_0(predecessors, partition, peers) if kept else None,
        *(reached, depth, steps),
    )


def _from_rank_0(array: Any, partition: Partition, peers: Peers) -> Any:
    """This rank's part of an array by number, which rank 0 has and others have none of."""
    firsts = [rank * partition.stride for rank in range(peers.size)]
    pieces = [array[first : first + count] for first, count in zip(firsts, partition.counts, strict=True)]
    return peers.all_to_all(pieces)[0]


def goes_alone(graph: GraphInParts, find: Callable[[np.ndarray, Options], Any]) -> bool:
    """Let rank 0 prepare to search alone if that is worth it; ``find`` searches as it is now."""
    limit = DEEP + graph.num_arcs // ARCS_PER_LEVEL
    if graph.num_vertices <= limit:
        return False
    degree, number = max(graph.launcher.run(busiest, each=[graph.parts]))
    if degree < 1 or find(np.array([number]), Options(limit, predecessors=False)).depth < limit:
        return False
    prepared: bool = graph.launcher.run(gather, each=[graph.parts])[0]
    return prepared
