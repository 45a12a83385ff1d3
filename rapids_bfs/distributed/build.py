"""Builds a graph in partitions from edges in partitions: they are counted, exchanged and placed, a block at a time.

Each rank reads some of the edges. What it knows of an edge goes to the owners of its ends twice: first they count,
then, with their offsets made, they place. So no rank ever holds more than its own rows and a block.

Bytes at the peak, while arcs are placed, of all ranks together; an undirected edge is two arcs, and where there are
2**31 numbers or more, each 4 is an 8:

==========================  ====================================================================
targets                     4 an arc
offsets, cursors            16 a vertex; of a directed graph 24
`labels.CompactIds`          4 a vertex and rank, and the ids, where some ids below the highest do not occur
`labels.HashedIds`             8 a vertex, where ids are far apart
a block of each rank        at most 48 for each of its `BLOCK` edges: read, numbered, dealt, received
==========================  ====================================================================

For rmat:26 from a frame on two ranks that is 8 + 1.5 + 0.8 + 1.5 bytes an edge, and 8 or 16 for the frame itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from .._core.csr import host as csr
from .._core.csr.host import Pairs
from .._core.cuda.arrays import CPU, CUDA
from .._core.dtypes import index_dtype
from .._core.formatting import counted
from ..adapters._edge_list import vertex_ids
from ..errors import InputError
from .communicators import Communicator
from .ids import CompactIds, HashedIds
from .partitioning import Partitioning

OWN = {CPU: "cpu", CUDA: "cupy"}  # our engine on this device
MAX_NUMBERS = 2  # for each edge, that all ranks together may hold to renumber ids that occur


@dataclass(frozen=True)
class Source:
    """Edges that a rank reads, as often as needed: pairs of arrays of ids on the device where the rank works."""

    blocks: Callable[[], Iterable[Pairs]]
    columns: tuple[str, str] = ("source", "target")
    name: str = "edges"

    def of_rank(self, rank: int, size: int) -> Iterable[Pairs]:
        """The edges that this rank contributes: here, all edges of the source."""
        return self.blocks()


@dataclass(frozen=True)
class Plan:
    """The options of a build, the same on all ranks."""

    device: str = CPU
    vertices: int | None = None  # ids are below it; None: the vertices are the ids that occur
    directed: bool | None = None  # None: undirected if the edges are symmetric
    simple: bool = False  # without self-loops and duplicates
    edges: int | None = None  # how many will be read, if that is known
    name: str = "edges"


@dataclass
class Partition:
    """The rows of one partition's vertices, indexed by place; targets are vertex numbers, see `partitioning`."""

    partitioning: Partitioning
    rank: int
    directed: bool
    offsets: Any  # int64
    targets: Any
    in_offsets: Any  # the same arrays if undirected
    in_targets: Any
    labels: Any = None  # the ids of its vertices, by place, where they are not dealt
    arcs: tuple[int, ...] = ()  # of each partition
    loops: int = 0  # edges from a vertex to itself, in all partitions
    kept: dict[str, Any] = field(default_factory=dict)  # what searches prepare

    @property
    def own(self) -> int:
        return self.partitioning.counts[self.rank]

    @property
    def base(self) -> int:
        """The first of its vertex numbers."""
        return self.rank * self.partitioning.stride

    @property
    def nbytes(self) -> int:
        arrays = {id(each): each for each in (self.offsets, self.targets, self.in_offsets, self.in_targets)}
        return sum(each.nbytes for each in arrays.values())

    @property
    def ids(self) -> Any:
        """The ids of its vertices, indexed by place."""
        if self.labels is not None:
            return self.labels
        return self.partitioning.ids(self.partitioning.own_numbers(self.rank, tools_of(self.targets).xp))


def tools_for(device: str) -> ModuleType:
    """The module of array functions that a build uses on this device."""
    return import_module(".device_tools" if device == CUDA else ".host_tools", __package__)


def tools_of(array: Any) -> ModuleType:
    return tools_for(CPU if isinstance(array, np.ndarray) else CUDA)


class EdgeStatistics(NamedTuple):
    """What the first pass over all edges finds."""

    rows: int
    highest: int  # id; -1 without edges
    symmetric: bool


def build(source: Any, communicator: Communicator, plan: Plan) -> Partition:
    """This rank's partition of the graph that the edges of all ranks form."""
    builder = Builder(source, communicator, plan)
    with builder.tools.working():
        return _built(builder, communicator, plan)


def _built(builder: Builder, communicator: Communicator, plan: Plan) -> Partition:
    builder.require_room()
    seen = builder.look()
    directed = not seen.symmetric if plan.directed is None else plan.directed
    builder.mirror = not directed and not seen.symmetric
    if plan.vertices is None and seen.highest >= 2 * seen.rows:  # the ids below the highest cannot all occur
        return builder.labelled(directed)
    dealt = Partitioning.of(seen.highest + 1 if plan.vertices is None else plan.vertices, communicator.size)
    degrees = builder.degrees(dealt.numbers, dealt, directed)
    if plan.vertices is not None:
        return builder.place(dealt.numbers, dealt, degrees)
    occurs = degrees[0] > 0
    occurs |= degrees[-1] > 0
    if all(communicator.share(bool(occurs.all()))):
        return builder.place(dealt.numbers, dealt, degrees)
    if dealt.n * communicator.size > MAX_NUMBERS * seen.rows:
        del degrees
        return builder.labelled(directed)
    occurring = CompactIds.of(dealt, occurs, communicator, builder.tools)
    for side in range(len(degrees)):
        degrees[side] = degrees[side][occurs]
    del occurs
    return builder.place(occurring.numbers, occurring.partitioning, degrees, occurring.own)


Numbers = Callable[[Any], Any]  # of ids


class Builder:
    """The steps of a build, on one rank."""

    mirror = False  # place each edge in both directions?

    def __init__(self, source: Any, communicator: Communicator, plan: Plan) -> None:
        self.source = source
        self.communicator = communicator
        self.plan = plan
        self.tools = tools_for(plan.device)
        self.highest = (1 << 63 if plan.vertices is None else plan.vertices) - 1  # id that `look` saw, or may see

    def require_room(self) -> None:
        """Raise `InputError` if the graph will not fit, as far as that is known before the edges are read, which may
        take long. On the CPU all partitions share its memory."""
        n, edges = self.plan.vertices or 0, self.plan.edges or 0
        needed = 16 * n + 2 * edges * np.dtype(index_dtype(n)).itemsize
        sharing = 1 if self.plan.device == CPU else self.communicator.size
        self.tools.require(needed // sharing, f"{self.plan.name} in {counted(self.communicator.size, 'partition')}")

    def blocks(self) -> Iterator[Pairs]:
        """The edges of this rank as they are read, at most so many at a time."""
        for sources, targets in self.source.of_rank(self.communicator.rank, self.communicator.size):
            for first in range(0, len(sources), self.tools.BLOCK):
                block = slice(first, first + self.tools.BLOCK)
                yield sources[block], targets[block]

    def integers(self, pair: Pairs) -> Pairs:
        """The ids of a block as integers of 64 or 32 bits."""
        dtype = np.int32 if all(ids.dtype == np.int32 for ids in pair) else np.int64
        xp = self.tools.xp  # CuPy's ascontiguousarray takes no array of NumPy
        sources, targets = (xp.ascontiguousarray(xp.asarray(ids, dtype)) for ids in pair)
        return sources, targets

    def in_step(self) -> Iterator[Pairs]:
        """This rank's blocks, then empty ones until every rank has run out."""
        nothing = self.tools.xp.empty(0, np.int32)
        blocks = self.blocks()
        while True:
            block = next(blocks, None)
            if not any(self.communicator.share(block is not None)):
                return
            yield (nothing, nothing) if block is None else self._seen(self.integers(block))

    def _seen(self, pair: Pairs) -> Pairs:
        """The same. Raises `InputError` if there is an id that `look` cannot have seen."""
        for ids in pair:
            if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) <= self.highest:
                raise InputError(csr.CHANGED)
        return pair

    def look(self) -> EdgeStatistics:
        """What the edges of all ranks are like. Raises `InputError` at the first id that is none."""
        key = self.communicator.share(csr.KEY)[0]
        columns = getattr(self.source, "columns", ("source", "target"))
        rows, highest, asymmetry = 0, -1, 0
        for pair in self.blocks():
            for ids, column in zip(pair, columns, strict=True):
                vertex_ids(ids, f"{self.plan.name}, column {column!r}", rows)
            if len(pair[0]):
                high, hashes = self.tools.summary(*self.integers(pair), key)
                rows, highest, asymmetry = rows + len(pair[0]), max(highest, high), asymmetry + hashes
        limit = self.plan.vertices
        if limit is not None and highest >= limit:
            raise InputError(f"{self.plan.name}: the id {highest} is past the last of {limit} vertices, {limit - 1}")
        counts, highests, asymmetries = zip(*self.communicator.share((rows, highest, asymmetry)), strict=True)
        self.highest = max(highests)
        return EdgeStatistics(sum(counts), self.highest, sum(asymmetries) % 2**64 == 0)

    def arcs(self, numbers: Numbers, partitioning: Partitioning, *, turned: bool = False) -> Iterator[Any]:
        """The arcs that this rank owns, some at a time: places and targets; ``turned``: by their targets."""
        for block in self.in_step():
            yield from self.communicator.all_to_all(
                self._dealt(block[::-1] if turned else block, numbers, partitioning)
            )

    def _dealt(self, block: Pairs, numbers: Numbers, partitioning: Partitioning) -> list[Any]:
        """The arcs of each rank in this block."""
        sources, targets = (numbers(ids) for ids in block)
        loops = not self.plan.simple
        dealt: list[Any] = self.tools.deal(
            (sources, targets), partitioning.size, partitioning.stride, mirror=self.mirror, loops=loops
        )
        return dealt

    def degrees(self, numbers: Numbers, partitioning: Partitioning, directed: bool) -> list[Any]:
        """The out-degrees of this rank's vertices, and where the graph is directed the in-degrees."""
        own = partitioning.counts[self.communicator.rank]
        self.tools.require(16 * own, f"a partition of {counted(own, 'vertex', 'vertices')}")
        degrees = []
        for turned in (False, True) if directed else (False,):
            counts = self.tools.xp.zeros(own, np.int64)
            for places, _ in self.arcs(numbers, partitioning, turned=turned):
                self.tools.count(places, counts)
                del places  # before others are dealt
            degrees.append(counts)
        return degrees

    def labelled(self, directed: bool) -> Partition:
        """The partition, where ids are far apart."""
        labels = HashedIds.of(self.in_step(), self.communicator, self.tools)
        degrees = self.degrees(labels.numbers, labels.partitioning, directed)
        return self.place(labels.numbers, labels.partitioning, degrees, labels.own)

    def place(self, numbers: Numbers, partitioning: Partitioning, degrees: list[Any], labels: Any = None) -> Partition:
        """The partition with these degrees, of which nothing remains."""
        directed = len(degrees) == 2
        offsets, targets = in_offsets, in_targets = self._rows(numbers, partitioning, degrees.pop(0), turned=False)
        if directed:
            in_offsets, in_targets = self._rows(numbers, partitioning, degrees.pop(), turned=True)
        arcs = tuple(self.communicator.share(len(targets)))
        rows = offsets, targets, in_offsets, in_targets
        partition = Partition(partitioning, self.communicator.rank, directed, *rows, labels, arcs)
        partition.loops = sum(self.communicator.share(self.tools.count_loops(offsets, targets, partition.base)))
        return partition

    def _rows(self, numbers: Numbers, partitioning: Partitioning, degrees: Any, *, turned: bool) -> Pairs:
        xp = self.tools.xp
        offsets = xp.zeros(len(degrees) + 1, np.int64)
        xp.cumsum(degrees, out=offsets[1:])
        arcs = int(offsets[-1])
        self.tools.require(arcs * partitioning.dtype.itemsize, f"a partition of {counted(arcs, 'edge')}")
        targets = xp.empty(arcs, partitioning.dtype)
        cursors = degrees
        cursors[:] = offsets[:-1]
        for places, some in self.arcs(numbers, partitioning, turned=turned):
            self.tools.put(places, some, cursors, targets)
            del places, some
        if not bool((cursors == offsets[1:]).all()):
            raise InputError(csr.CHANGED)
        if self.plan.simple:
            offsets, targets = self.tools.simplified(offsets, targets, partitioning.size * partitioning.stride)
        return offsets, targets
