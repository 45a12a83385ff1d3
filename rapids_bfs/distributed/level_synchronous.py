"""The level-synchronous search of a distributed graph: an SPMD function that every launcher runs.

Each level goes top-down or bottom-up. All ranks choose the same direction, from counters that they gather once a level.
Before a bottom-up level they replicate the bitmap of visited vertices. If the devices can write into each other's
memory, the whole search is one launch, see `persistent`; otherwise the host drives each step, see
`LevelSynchronousSearch`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
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
CAPACITY_DIVISOR = 8  # a bucket holds a pair for 1/CAPACITY_DIVISOR of the vertices of its owner
MIN_CAPACITY = 256  # pairs of a bucket, at least
ONE_LAUNCH = "one launch"  # a transport: see `persistent`


class LevelCounters(NamedTuple):
    """The counters of all ranks after a level."""

    vertices: int
    edges: tuple[int, ...]  # out-edges, by rank; not known after a bottom-up level
    at_target: bool
    overflown: bool  # did a bucket of some rank overflow? Then no rank settled anything.


class Totals(NamedTuple):
    """Totals of a search over all ranks."""

    reached: int  # vertices
    depth: int  # the largest distance
    steps: list[Step]
    # Bytes that this rank has sent and had to send, before the first level and after each; empty if not traced.
    traffic: Sequence[tuple[int, int]] = ()


@dataclass
class Answer:
    """The answer of a search for the vertices of one partition, by local id."""

    distances: Any  # int32, -1 where not reached
    predecessors: Any | None  # global ids, -1 at sources and where not reached
    totals: Totals


class Request(NamedTuple):
    """The arguments of a search, for all ranks."""

    sources: Sequence[Sequence[int] | np.ndarray]  # local ids of the sources that each rank owns
    target: tuple[int, int] | None  # its owner and its local id there
    depth_limit: int
    predecessors: bool
    trace: bool
    search_id: int  # different for each search
    vertices: np.ndarray | None  # bitmap of the vertices that it may enter; None: all, as always on GPUs

    def target_on(self, rank: int) -> int:
        """The local id of the target; -1 if there is none or another rank owns it."""
        return self.target[1] if self.target and self.target[0] == rank else -1


def bucket_capacity(partition: Partition) -> int:
    """How many pairs each rank can send to another one in a level."""
    return max(partition.partitioning.stride // CAPACITY_DIVISOR, MIN_CAPACITY)


def may_overflow(edges: int, capacity: int, size: int) -> bool:
    """Has the frontier of ``size`` ranks more edges than all buckets have room for pairs?"""
    return edges > capacity * size**2


class LevelSynchronousSearch(ABC):
    """The buffers of one partition, and the steps of a search between two collectives."""

    bytes_needed = 0  # what this rank had to send so far, if the communicator counts what it sends
    transport = ""  # how ranks communicate, if there is a choice

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.capacity = bucket_capacity(partition)

    def search(self, request: Request, communicator: Communicator) -> Answer:
        """Search level by level. Returns the answer for this rank."""
        with self.active():
            self.begin(request)
            communicator.ready()
            traffic = self._traffic(request, communicator)
            frontier = self._frontier(communicator)
            unexplored, reached, depth, bottom_up = sum(self.partition.arcs), frontier.vertices, 0, False
            steps = []
            while frontier.vertices and depth < request.depth_limit and not frontier.at_target:
                begin, before = perf_counter(), frontier.vertices
                if not bottom_up:
                    edges = sum(frontier.edges)
                    bottom_up = edges * ALPHA > unexplored or may_overflow(edges, self.capacity, communicator.size)
                    unexplored -= edges
                    if not bottom_up:
                        self.top_down(depth + 1, frontier.edges, communicator)
                        frontier = self._frontier(communicator)
                        bottom_up = frontier.overflown
                direction = "bottom-up" if bottom_up else "top-down"
                if bottom_up:
                    self.replicate(communicator)
                    self.bottom_up(depth + 1)
                    frontier = self._frontier(communicator)
                    if 0 < frontier.vertices < min(before, self.partition.partitioning.n // BETA):
                        bottom_up = False
                        self.replicate(communicator)
                        self.enqueue()
                        frontier = self._frontier(communicator)
                steps.append(Step(direction, 1e3 * (perf_counter() - begin)))
                traffic += self._traffic(request, communicator)
                reached += frontier.vertices
                depth += frontier.vertices > 0
            return Answer(*self.answer(), Totals(reached, depth, steps, traffic))

    def _frontier(self, communicator: Communicator) -> LevelCounters:
        vertices, edges, at_target, overflown = self.counters(communicator).T.tolist()
        return LevelCounters(sum(vertices), tuple(edges), any(at_target), any(overflown))

    def _traffic(self, request: Request, communicator: Communicator) -> list[tuple[int, int]]:
        """How many bytes this rank has sent so far, and had to send, if the search is traced and they are counted."""
        sent = communicator.bytes_sent() if request.trace else None
        return [] if sent is None else [(sent, self.bytes_needed)]

    def active(self) -> AbstractContextManager[Any]:
        """The context in which the other methods are to be called."""
        return nullcontext()

    @abstractmethod
    def begin(self, request: Request) -> None:
        """Reset the buffers, and enqueue the sources."""

    @abstractmethod
    def counters(self, communicator: Communicator) -> np.ndarray:
        """The counters of all ranks (int64, a row each, with the columns of `LevelCounters`). Waits for earlier
        steps."""

    @abstractmethod
    def replicate(self, communicator: Communicator) -> None:
        """Replicate the bitmap of visited vertices on all ranks."""

    @abstractmethod
    def top_down(self, level: int, edges: tuple[int, ...], communicator: Communicator) -> None:
        """Expand the frontier, and settle the pairs that other ranks sent, unless a bucket has overflown."""

    @abstractmethod
    def bottom_up(self, level: int) -> None:
        """Look for a visited in-neighbour of each unvisited vertex."""

    @abstractmethod
    def enqueue(self) -> None:
        """Put the vertices that the last bottom-up level found into the queue, to continue top-down."""

    @abstractmethod
    def answer(self) -> tuple[Any, Any | None]:
        """Distances and predecessors by local id. The caller owns the arrays."""


def search(
    partition: Partition, communicator: Communicator, sources: np.ndarray, options: Options, search_id: int
) -> Answer:
    """Search from ``sources``, distinct global ids (int64). ``options.target`` is a global id too, and
    ``options.vertices`` a bitmap, see `masks`."""
    request = request_of(partition.partitioning, sources, options, search_id)
    found: Answer = partition.cache["search"].search(request, communicator)
    return found


def request_of(partitioning: Partitioning, sources: np.ndarray, options: Options, search_id: int) -> Request:
    """The request for a search with the arguments of `search`."""
    depth_limit, target = INT32_LIMIT if options.depth_limit is None else options.depth_limit, None
    if options.target is not None:
        target = divmod(options.target, partitioning.stride)
        if options.target in sources:
            depth_limit = 0
    own = _local_ids(partitioning, sources)
    return Request(own, target, depth_limit, options.predecessors, options.trace, search_id, options.vertices)


def _local_ids(partitioning: Partitioning, global_ids: np.ndarray) -> Sequence[Sequence[int] | np.ndarray]:
    """The local ids of these vertices, by owner."""
    if len(global_ids) == 1:  # the usual case, without arrays: these take much of the time of a small search
        owner, local_id = divmod(int(global_ids[0]), partitioning.stride)
        found: list[Sequence[int]] = [()] * partitioning.size
        found[owner] = (local_id,)
        return found
    owners, local_ids = np.divmod(global_ids, partitioning.stride)
    return [local_ids[owners == rank] for rank in range(partitioning.size)]


def prepare(partition: Partition, communicator: Communicator) -> str:
    """Prepare the partition for searches, on all ranks. Returns the transport that these will use."""
    name, make = (".persistent", "prepared") if on_device(partition.targets) else (".cpu", "HostSearch")
    partition.cache.clear()
    partition.cache["search"] = search = getattr(import_module(name, __package__), make)(partition, communicator)
    transport: str = search.transport
    return transport
