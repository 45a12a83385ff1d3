"""Builds a graph in parts from edges in parts: they are counted, exchanged and placed, a block at a time.

Each rank reads some of the edges and sends each edge to the owners of its ends, twice: the owners first count it and,
once they have their offsets, place it. No rank ever holds more than its own rows and one block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from .._core import csr
from .._core.csr import Pairs
from .._core.device import CPU, CUDA
from .._core.units import counted
from ..adapters._edge_list import vertex_ids
from ..errors import InputError
from .labels import Labels
from .partition import Partition
from .peers import Peers

SPREAD = 8  # ids up to this many times the number of edges are dealt; larger ones get labels


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
    name: str = "edges"


@dataclass
class Part:
    """The rows of one part's vertices, indexed by place; targets are vertex numbers, see `partition`."""

    partition: Partition
    rank: int
    directed: bool
    offsets: Any  # int64
    targets: Any
    in_offsets: Any  # the same arrays if undirected
    in_targets: Any
    labels: Any = None  # the ids of its vertices, ascending, unless ids are dealt
    arcs: tuple[int, ...] = ()  # of each part
    loops: int = 0  # edges from a vertex to itself, in all parts
    kept: dict[str, Any] = field(default_factory=dict)  # what searches prepare

    @property
    def own(self) -> int:
        return self.partition.counts[self.rank]

    @property
    def base(self) -> int:
        """The first of its vertex numbers."""
        return self.rank * self.partition.stride

    @property
    def nbytes(self) -> int:
        arrays = {id(each): each for each in (self.offsets, self.targets, self.in_offsets, self.in_targets)}
        return sum(each.nbytes for each in arrays.values())

    @property
    def ids(self) -> Any:
        """The ids of its vertices, indexed by place."""
        if self.labels is not None:
            return self.labels
        return self.partition.ids(self.partition.own_numbers(self.rank, tools_of(self.targets).xp))


def tools_for(device: str) -> ModuleType:
    """The module of array functions that a build uses on this device."""
    return import_module(".device_tools" if device == CUDA else ".host_tools", __package__)


def tools_of(array: Any) -> ModuleType:
    return tools_for(CPU if isinstance(array, np.ndarray) else CUDA)


class Seen(NamedTuple):
    """What the first pass over all edges finds."""

    rows: int
    highest: int  # id; -1 without edges
    symmetric: bool


def build(source: Any, peers: Peers, plan: Plan) -> Part:
    """This rank's part of the graph that the edges of all ranks form."""
    builder = Builder(source, peers, plan)
    seen = builder.look()
    directed = not seen.symmetric if plan.directed is None else plan.directed
    builder.mirror = not directed and not seen.symmetric
    n = seen.highest + 1 if plan.vertices is None else plan.vertices
    if plan.vertices is not None or seen.highest < SPREAD * seen.rows + 1024:
        partition = Partition.of(n, peers.size)
        out, into = builder.degrees(partition, partition.numbers, directed)
        if plan.vertices is not None or not builder.any_absent(out, into):
            return builder.place(partition, partition.numbers, out, into if directed else None)
        del out, into
    labels = Labels.of(builder.in_step(), peers, builder.tools)
    out, into = builder.degrees(labels.partition, labels.numbers, directed)
    part = builder.place(labels.partition, labels.numbers, out, into if directed else None)
    part.labels = labels.own
    return part


class Builder:
    """The steps of a build, on one rank."""

    mirror = False  # place each edge in both directions?

    def __init__(self, source: Any, peers: Peers, plan: Plan) -> None:
        self.source = source
        self.peers = peers
        self.plan = plan
        self.tools = tools_for(plan.device)

    def checked(self) -> Iterator[Pairs]:
        """This rank's blocks as int32 or int64. Raises `InputError` at the first id that is not an integer."""
        row = 0
        columns = getattr(self.source, "columns", ("source", "target"))
        for pair in self.source.of_rank(self.peers.rank, self.peers.size):
            for first in range(0, len(pair[0]), self.tools.BLOCK):
                block = [
                    vertex_ids(
                        ids[first : first + self.tools.BLOCK], f"{self.plan.name}, column {column!r}", row + first
                    )
                    for ids, column in zip(pair, columns, strict=True)
                ]
                dtype = np.int32 if all(ids.dtype == np.int32 for ids in block) else np.int64
                xp = self.tools.xp  # CuPy's ascontiguousarray takes no array of NumPy
                sources, targets = (xp.ascontiguousarray(xp.asarray(ids, dtype)) for ids in block)
                yield sources, targets
            row += len(pair[0])

    def in_step(self) -> Iterator[Pairs]:
        """This rank's blocks, then empty ones until every rank has run out."""
        nothing = self.tools.xp.empty(0, np.int32)
        blocks = self.checked()
        while True:
            block = next(blocks, None)
            if not any(self.peers.share(block is not None)):
                return
            yield (nothing, nothing) if block is None else block

    def look(self) -> Seen:
        """The first pass over the edges of all ranks."""
        key = self.peers.share(csr.KEY)[0]
        rows, highest, asymmetry = 0, -1, 0
        for sources, targets in self.checked():
            if len(sources):
                high, hashes = self.tools.summary(sources, targets, key)
                rows, highest, asymmetry = rows + len(sources), max(highest, high), asymmetry + hashes
        limit = self.plan.vertices
        if limit is not None and highest >= limit:
            raise InputError(f"{self.plan.name}: the id {highest} is past the last of {limit} vertices, {limit - 1}")
        counts, highests, asymmetries = zip(*self.peers.share((rows, highest, asymmetry)), strict=True)
        return Seen(sum(counts), max(highests), sum(asymmetries) % 2**64 == 0)

    def arcs(self, partition: Partition, numbers: Callable[[Any], Any], *, turned: bool = False) -> Iterator[Any]:
        """The arcs that this rank owns, a batch at a time: places and targets. ``turned``: the reversed arcs."""
        for block in self.in_step():
            sources, targets = (numbers(ids) for ids in block)
            edges = (targets, sources) if turned else (sources, targets)
            pieces = self.tools.deal(
                edges, partition.size, partition.stride, mirror=self.mirror, loops=not self.plan.simple
            )
            yield from self.peers.all_to_all(pieces)

    def degrees(self, partition: Partition, numbers: Callable[[Any], Any], directed: bool) -> tuple[Any, Any]:
        """Out- and in-degrees of this rank's vertices: one array for both if the graph is undirected."""
        own = partition.counts[self.peers.rank]
        self.tools.require(16 * own, f"a part of {counted(own, 'vertex', 'vertices')}")
        degrees = []
        for turned in (False, True) if directed else (False,):
            counts = self.tools.xp.zeros(own, np.int64)
            for places, _ in self.arcs(partition, numbers, turned=turned):
                self.tools.count(places, counts)
            degrees.append(counts)
        return degrees[0], degrees[-1]

    def any_absent(self, out: Any, into: Any) -> bool:
        """Is there an id below the highest that does not occur?"""
        return any(self.peers.share(bool(((out == 0) & (into == 0)).any())))

    def place(self, partition: Partition, numbers: Callable[[Any], Any], out: Any, into: Any | None) -> Part:
        """The part with these out-degrees and, if it is directed, in-degrees."""
        offsets, targets = self._rows(partition, numbers, out, turned=False)
        in_offsets, in_targets = offsets, targets
        if into is not None:
            in_offsets, in_targets = self._rows(partition, numbers, into, turned=True)
        arcs = tuple(self.peers.share(len(targets)))
        part = Part(partition, self.peers.rank, into is not None, offsets, targets, in_offsets, in_targets, arcs=arcs)
        part.loops = sum(self.peers.share(self.tools.count_loops(offsets, targets, part.base)))
        return part

    def _rows(self, partition: Partition, numbers: Callable[[Any], Any], degrees: Any, *, turned: bool) -> Pairs:
        offsets = self.tools.xp.zeros(len(degrees) + 1, np.int64)
        offsets[1:] = self.tools.xp.cumsum(degrees)
        arcs = int(offsets[-1])
        copies = 2 if self.plan.simple else 1
        self.tools.require(copies * arcs * partition.dtype.itemsize, f"a part of {counted(arcs, 'edge')}")
        placed = self.tools.xp.empty(arcs, partition.dtype)
        cursors = offsets[:-1].copy()
        for places, targets in self.arcs(partition, numbers, turned=turned):
            self.tools.put(places, targets, cursors, placed)
        if not bool((cursors == offsets[1:]).all()):
            raise InputError("the edges changed while they were read: try again")
        if self.plan.simple:
            offsets, placed = self.tools.simplified(offsets, placed, partition.size * partition.stride)
        return offsets, placed
