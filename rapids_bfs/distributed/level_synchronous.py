"""The search over partitions of a graph: one SPMD function, which every launcher of `rapids_bfs.distributed` runs.

Levels go top-down or bottom-up; all ranks decide it from the same counters, which they exchange once a level. Before a
level that goes bottom-up, the bitmap of visited vertices is replicated. Where the partitions' devices can write into each
other's memory, all that happens in one launch, see `one_launch`; else a `LevelSynchronousSearch` goes back to the host after each step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .._core.cuda.arrays import on_device
from .._core.dtypes import INT32_LIMIT
from ..engines.base import Options
from ..trace import Step
from .build import Partition
from .communicators import Communicator
from .partitioning import Partitioning

ALPHA = 15  # bottom-up when the frontier has more than 1/ALPHA of the unexplored edges
BETA = 24  # top-down again when the frontier shrinks below 1/BETA of the vertices
SHARE = 8  # a partition has room to send pairs to 1/SHARE of the vertices of each partition
LEAST_ROOM = 256  # pairs per partition
NO_PLACES = np.empty(0, np.int64)
ONE_LAUNCH = "one launch"  # how partitions talk: see `one_launch`


class Frontier(NamedTuple):
    """The counters of all ranks after a level."""

    vertices: int
    edges: tuple[int, ...]  # out-edges, by rank; not known after a bottom-up level
    at_target: bool
    overflown: bool  # did some rank run out of room for its pairs? Then nothing was settled.


@dataclass
class Answer:
    """What a search found for the vertices of one partition, by place."""

    distances: Any  # int32, -1 where not reached
    predecessors: Any | None  # numbers
    reached: int  # vertices of all partitions
    depth: int  # the largest distance in all partitions
    steps: list[Step]


class Request(NamedTuple):
    """What a search asks of one rank."""

    sources: np.ndarray  # those of its vertices, by place
    target: int  # a place; -1 where there is none or it is another rank's
    limit: int  # of levels
    predecessors: bool
    trace: bool
    number: int  # of the search: the same on all ranks and unlike that of any other


def room_of(partition: Partition) -> int:
    """How many pairs each other partition may send to this one in a level."""
    return max(partition.partitioning.stride // SHARE, LEAST_ROOM)


class LevelSynchronousSearch(ABC):
    """What a partition prepares for searches, and its work between collectives."""

    way = ""  # how the partitions talk, where there are several ways

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.room = room_of(partition)

    @abstractmethod
    def active(self) -> AbstractContextManager[Any]:
        """The context in which the other methods are to be called."""

    @abstractmethod
    def begin(self, sources: np.ndarray, target: int, predecessors: bool) -> None:
        """Reset, and start from these sources. They and the target are places in this partition; -1 is no target."""

    @abstractmethod
    def counters(self, communicator: Communicator) -> np.ndarray:
        """The `COUNTERS` of all ranks, a row each. Waits for earlier steps."""

    @abstractmethod
    def replicate(self, communicator: Communicator) -> None:
        """Replicate the bitmap of visited vertices on all ranks."""

    @abstractmethod
    def top_down(self, level: int, edges: tuple[int, ...], communicator: Communicator) -> None:
        """Expand the frontier and settle what other ranks sent; nothing if some rank ran out of room."""

    @abstractmethod
    def bottom_up(self, level: int) -> None:
        """Look for a visited in-neighbour of each unvisited vertex."""

    @abstractmethod
    def enqueue(self) -> None:
        """Put what the last, bottom-up, level found into the queue, to continue top-down."""

    @abstractmethod
    def answer(self) -> tuple[Any, Any | None]:
        """Distances and predecessors, which the caller then owns."""


COUNTERS = ("vertices", "edges", "at_target", "overflown")


def search(
    partition: Partition, communicator: Communicator, sources: np.ndarray, options: Options, number: int
) -> Answer:
    """Search from these numbers (int64, distinct); ``options.target`` is a number too."""
    request, search = (
        requests_of_all(partition.partitioning, sources, options, number)[partition.rank],
        partition.kept["search"],
    )
    found: Answer = (
        level_synchronous(search, request, communicator)
        if isinstance(search, LevelSynchronousSearch)
        else search.search(request, communicator)
    )
    return found


def requests_of_all(partitioning: Partitioning, sources: np.ndarray, options: Options, number: int) -> list[Request]:
    """What such a search asks of each rank."""
    stride = partitioning.stride
    limit = INT32_LIMIT if options.depth_limit is None else options.depth_limit
    target_owner, target = -1, -1
    if options.target is not None:
        target_owner, target = divmod(options.target, stride)
        if options.target in sources:
            limit = 0
    rest = limit, options.predecessors, options.trace, number
    return [
        Request(own, target if rank == target_owner else -1, *rest)
        for rank, own in enumerate(_places(partitioning, sources))
    ]


def _places(partitioning: Partitioning, numbers: np.ndarray) -> list[np.ndarray]:
    """The places of these numbers, by owner."""
    if len(numbers) == 1:  # the usual case; the general one takes a good partition of a small search's time
        owner, place = divmod(int(numbers[0]), partitioning.stride)
        places = [NO_PLACES] * partitioning.size
        places[owner] = np.array((place,))
        return places
    owners, within = np.divmod(numbers, partitioning.stride)
    return [within[owners == rank] for rank in range(partitioning.size)]


def level_synchronous(walk: LevelSynchronousSearch, request: Request, communicator: Communicator) -> Answer:
    """What a walk finds."""
    partition = walk.partition
    with walk.active():
        walk.begin(request.sources, request.target, request.predecessors)
        communicator.ready()
        frontier = _frontier(walk, communicator)
        unexplored, reached, depth, bottom_up = sum(partition.arcs), frontier.vertices, 0, False
        steps = []
        while frontier.vertices and depth < request.limit and not frontier.at_target:
            begin, before = perf_counter(), frontier.vertices
            if not bottom_up:
                bottom_up = sum(frontier.edges) * ALPHA > unexplored
                unexplored -= sum(frontier.edges)
                if not bottom_up:
                    walk.top_down(depth + 1, frontier.edges, communicator)
                    frontier = _frontier(walk, communicator)
                    bottom_up = frontier.overflown
            went = "bottom-up" if bottom_up else "top-down"
            if bottom_up:
                walk.replicate(communicator)
                walk.bottom_up(depth + 1)
                frontier = _frontier(walk, communicator)
                if 0 < frontier.vertices < min(before, partition.partitioning.n // BETA):
                    bottom_up = False
                    walk.replicate(communicator)
                    walk.enqueue()
                    frontier = _frontier(walk, communicator)
            steps.append(Step(went, 1e3 * (perf_counter() - begin)))
            reached += frontier.vertices
            depth += frontier.vertices > 0
        return Answer(*walk.answer(), reached, depth, steps)


def _frontier(walk: LevelSynchronousSearch, communicator: Communicator) -> Frontier:
    vertices, edges, at_target, overflown = walk.counters(communicator).T.tolist()
    return Frontier(sum(vertices), tuple(edges), any(at_target), any(overflown))


def prepare(partition: Partition, communicator: Communicator) -> str:
    """Make what the partition's searches need; all ranks do it, and then search. Returns how they will."""
    name, make = (".persistent", "prepared") if on_device(partition.targets) else (".cpu", "HostSearch")
    partition.kept.clear()
    partition.kept["search"] = search = getattr(import_module(name, __package__), make)(partition, communicator)
    way: str = search.way
    return way
