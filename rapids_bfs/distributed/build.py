"""Build a distributed graph from distributed edges, one block of edges at a time.

Each rank reads some of the edges, in two passes. In each pass it sends every arc to the rank that owns the arc's
source. In the first pass the owners count degrees; in the second they scatter targets into their CSR rows. So no rank
holds more than its own rows and a block.

Peak memory in bytes, reached in the second pass, of all ranks together. An undirected edge is two arcs. From 2**31
global ids on, each 4 is an 8:

==========================  ====================================================================
targets                     4 an arc
offsets, cursors            16 a vertex; of a directed graph 24
`ids.CompactIds`            4 a vertex and rank, and the ids, where some ids below the highest do not occur
`ids.HashedIds`             8 a vertex, where ids are far apart
a block of each rank        at most 48 for each of its `EXCHANGE_BLOCK` edges: read, translated, bucketed, received
==========================  ====================================================================

For rmat:26 from a frame on two ranks that is 8 + 1.5 + 0.8 + 1.5 bytes an edge, and 8 or 16 for the frame itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._core.csr import csr_for, csr_on
from .._core.csr.building import CHANGED, KEY, Pairs
from .._core.cuda.arrays import CPU, CUDA, device_of, to_host
from .._core.dtypes import index_dtype
from .._core.formatting import counted
from ..adapters._edge_list import vertex_ids
from ..errors import InputError
from .communicators import Communicator
from .ids import CompactIds, CyclicIds, HashedIds, StringIds, VertexIds
from .partitioning import Partitioning
from .sources import EdgeSource

OWN = {CPU: "cpu", CUDA: "cupy"}  # our engine on this device
FEW = 8  # ids; each pass over the labels looks for one of them, and sooner than for all
MAX_GLOBAL_IDS = 2  # entries for each edge that the tables of `CompactIds` may have, on all ranks together


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
    """The CSR rows of one rank's vertices, indexed by local id; targets are global ids, see `partitioning`."""

    partitioning: Partitioning
    rank: int
    directed: bool
    offsets: Any  # int64
    targets: Any
    in_offsets: Any  # the same arrays if undirected
    in_targets: Any
    labels: Any = None  # the ids of its vertices by local id; None if the distribution is cyclic
    arcs: tuple[int, ...] = ()  # the number of arcs of each partition
    loops: int = 0  # self-loops of all partitions together
    cache: dict[str, Any] = field(default_factory=dict)  # buffers and handles that searches prepare

    @property
    def num_vertices(self) -> int:
        return self.partitioning.counts[self.rank]

    @property
    def device(self) -> str:
        """Where its rows are: "cpu" or "cuda"."""
        return device_of(self.targets)

    @property
    def base(self) -> int:
        """The global id of its first vertex."""
        return self.rank * self.partitioning.stride

    @property
    def nbytes(self) -> int:
        arrays = {id(each): each for each in (self.offsets, self.targets, self.in_offsets, self.in_targets)}
        return sum(each.nbytes for each in arrays.values())

    def vertices_of(self, ids: Iterable[int | str]) -> dict[int | str, int]:
        """The global ids of those of these labels, distinct integers (int64) and strings, that this rank has."""
        strings = self.labels.dtype == object
        wanted = sorted(id for id in ids if isinstance(id, str) == strings)
        if not (wanted and self.num_vertices):
            return {}
        if strings:  # which ascend
            places = np.minimum(np.searchsorted(self.labels, np.array(wanted, object)), self.num_vertices - 1)
            return {
                id: self.base + place
                for id, place in zip(wanted, places.tolist(), strict=True)
                if self.labels[place] == id
            }
        xp = csr_for(self.labels).xp
        if len(wanted) <= FEW:
            by_id = {id: to_host(xp.flatnonzero(self.labels == id)) for id in wanted}
            return {id: self.base + int(own[0]) for id, own in by_id.items() if len(own)}
        keys = xp.asarray(np.array(wanted, np.int64))
        places = xp.minimum(xp.searchsorted(keys, self.labels), len(wanted) - 1)
        local_ids = xp.flatnonzero(keys[places] == self.labels)
        found = zip(to_host(places[local_ids]).tolist(), to_host(local_ids).tolist(), strict=True)
        return {wanted[place]: self.base + local_id for place, local_id in found}

    def owned(self, global_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The positions of those of these global ids (int64, on the host) that this rank owns, and their local ids."""
        owners, local_ids = np.divmod(global_ids, self.partitioning.stride)
        own = np.flatnonzero(owners == self.rank)
        return own, local_ids[own]

    @property
    def ids(self) -> Any:
        """The ids of its vertices, indexed by local id."""
        if self.labels is not None:
            return self.labels
        return self.partitioning.ids(self.partitioning.own_global_ids(self.rank, csr_for(self.targets).xp))


def build(source: EdgeSource, communicator: Communicator, plan: Plan) -> Partition:
    """This rank's partition of the graph that the edges of all ranks form."""
    with csr_on(plan.device).working():
        source, strings = source.numbered(communicator)
        builder = Builder(source, communicator, plan)
        return builder.partition_of_integers() if strings is None else builder.partition_of_strings(strings)


class Builder:
    """The steps of a build, on one rank."""

    mirror = False  # place each edge in both directions?

    def __init__(self, source: EdgeSource, communicator: Communicator, plan: Plan) -> None:
        self.source = source
        self.communicator = communicator
        self.plan = plan
        self.csr = csr_on(plan.device)
        self.highest = (1 << 63 if plan.vertices is None else plan.vertices) - 1  # valid id; `scan` lowers it

    def require_memory(self) -> None:
        """Raise `InputError` if the graph cannot fit, judging by its numbers of vertices and edges where the plan has
        them."""
        self._require(2 * (self.plan.edges or 0), self.plan.vertices or 0)

    def require_rows(self, rows: int, n: int, directed: bool) -> None:
        """Raise `InputError` if the graph of these edges cannot fit; ids below ``n`` may all occur."""
        n = min(n, 2 * rows) if self.plan.vertices is None else n
        self._require(rows * (2 if directed or self.mirror else 1), n)

    def _require(self, arcs: int, n: int) -> None:
        """Raise `InputError` unless there is memory for this many arcs and vertices of all ranks. On the host, ranks in
        one process share it."""
        needed = 16 * n + arcs * np.dtype(index_dtype(n)).itemsize
        name, over = self.plan.name, counted(self.communicator.size, "device")
        if self.plan.device == CPU and self.communicator.one_process:
            self.csr.require(needed, f"{name} distributed over {over}")
        else:
            rank = self.communicator.names[self.communicator.rank]
            self.csr.require(needed // self.communicator.size, f"{name} distributed over {over}: {rank}")

    def decide_directed(self, symmetric: bool) -> bool:
        """Decide whether the graph is directed, and `mirror`."""
        directed = not symmetric if self.plan.directed is None else self.plan.directed
        self.mirror = not directed and not symmetric
        return directed

    def blocks(self) -> Iterator[Pairs]:
        """The edges of this rank, at most `EXCHANGE_BLOCK` at a time."""
        for sources, targets in self.source.blocks(self.communicator.rank, self.communicator.size):
            for first in range(0, len(sources), self.csr.EXCHANGE_BLOCK):
                block = slice(first, first + self.csr.EXCHANGE_BLOCK)
                yield sources[block], targets[block]

    def integers(self, pair: Pairs) -> Pairs:
        """The ids of a block as int32 if both arrays are, else as int64."""
        dtype = np.int32 if all(ids.dtype == np.int32 for ids in pair) else np.int64
        xp = self.csr.xp  # CuPy's ascontiguousarray takes no array of NumPy
        sources, targets = (xp.ascontiguousarray(xp.asarray(ids, dtype)) for ids in pair)
        return sources, targets

    def in_step(self) -> Iterator[Pairs]:
        """This rank's blocks, then empty blocks until every rank has read all of its own.

        Raises `InputError` if one has an id that `scan` did not see.
        """
        nothing = self.csr.xp.empty(0, np.int32)
        blocks = self.blocks()
        while True:
            block = next(blocks, None)
            if not any(self.communicator.allgather_object(block is not None)):
                return
            pair = (nothing, nothing) if block is None else self.integers(block)
            if any(len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) <= self.highest for ids in pair):
                raise InputError(CHANGED)
            yield pair

    def scan(self) -> tuple[int, int, bool]:
        """The number of edges of all ranks, their largest id (-1 without edges), and whether they are symmetric.

        Raises `InputError` at the first value that is not a vertex id.
        """
        key = self.communicator.allgather_object(KEY)[0]
        rows, highest, asymmetry = 0, -1, 0
        for pair in self.blocks():
            for ids, column in zip(pair, self.source.columns, strict=True):
                vertex_ids(ids, f"{self.plan.name}, column {column!r}", rows)
            if len(pair[0]):
                high, hashes = self.csr.summary(*self.integers(pair), key)
                rows, highest, asymmetry = rows + len(pair[0]), max(highest, high), asymmetry + hashes
        limit = self.plan.vertices
        if limit is not None and highest >= limit:
            raise InputError(f"{self.plan.name}: the id {highest} is past the last of {limit} vertices, {limit - 1}")
        counts, highests, asymmetries = zip(
            *self.communicator.allgather_object((rows, highest, asymmetry)), strict=True
        )
        self.highest = max(highests)
        return sum(counts), self.highest, sum(asymmetries) % 2**64 == 0

    def arcs(self, ids: VertexIds, *, turned: bool) -> Iterator[Any]:
        """Blocks of this rank's arcs: local ids of sources, global ids of targets. ``turned`` reverses arcs."""
        for block in self.in_step():
            yield from self.communicator.alltoallv_new(self._bucketed(block[::-1] if turned else block, ids))

    def _bucketed(self, block: Pairs, ids: VertexIds) -> list[Any]:
        """The arcs of this block, bucketed by the rank that owns their sources."""
        sources, targets = map(ids.global_ids, block)
        layout = ids.partitioning.size, ids.partitioning.stride
        buckets: list[Any] = self.csr.bucket_by_owner(
            (sources, targets), *layout, mirror=self.mirror, loops=not self.plan.simple
        )
        return buckets

    def degrees(self, ids: VertexIds, directed: bool) -> list[Any]:
        """The out-degrees of this rank's vertices and, if the graph is directed, their in-degrees (int64)."""
        own = ids.partitioning.counts[self.communicator.rank]
        self.csr.require(16 * own, f"a partition of {counted(own, 'vertex', 'vertices')}")
        degrees = []
        for turned in (False, True) if directed else (False,):
            counts = self.csr.xp.zeros(own, np.int64)
            for block in self.in_step():
                arcs = self._bucketed(block[::-1] if turned else block, ids)
                for local_ids in self.communicator.alltoallv_new([local_ids for local_ids, _ in arcs]):
                    self.csr.count_local_ids(local_ids, counts)
                del arcs, local_ids  # before the next block is bucketed
            degrees.append(counts)
        return degrees

    def partition_of_integers(self) -> Partition:
        """This rank's partition if ids are integers."""
        self.require_memory()
        rows, highest, symmetric = self.scan()
        directed = self.decide_directed(symmetric)
        n = highest + 1 if self.plan.vertices is None else self.plan.vertices
        self.require_rows(rows, n, directed)
        if self.plan.vertices is None and highest >= 2 * rows:  # the ids below the highest cannot all occur
            return self._partition_of_far_ids(directed)
        cyclic = CyclicIds(Partitioning.of(n, self.communicator.size))
        degrees = self.degrees(cyclic, directed)
        if self.plan.vertices is not None:
            return self.assemble(cyclic, degrees)
        occurs = degrees[0] > 0
        occurs |= degrees[-1] > 0
        if all(self.communicator.allgather_object(bool(occurs.all()))):
            return self.assemble(cyclic, degrees)
        if n * self.communicator.size > MAX_GLOBAL_IDS * rows:
            del degrees
            return self._partition_of_far_ids(directed)
        compact = CompactIds.of(cyclic.partitioning, occurs, self.communicator, self.csr)
        for side in range(len(degrees)):
            degrees[side] = degrees[side][occurs]
        del occurs
        return self.assemble(compact, degrees)

    def _partition_of_far_ids(self, directed: bool) -> Partition:
        """This rank's partition if ids are integers far apart."""
        ids = HashedIds.of(self.in_step(), self.communicator, self.csr)
        return self.assemble(ids, self.degrees(ids, directed))

    def partition_of_strings(self, strings: StringIds) -> Partition:
        """This rank's partition if ids are strings, which the source has as global ids."""
        self.highest = self.communicator.size * strings.partitioning.stride - 1
        rows, _, symmetric = self.scan()
        directed = self.decide_directed(symmetric)
        self.require_rows(rows, strings.partitioning.n, directed)
        return self.assemble(strings, self.degrees(strings, directed))

    def assemble(self, ids: VertexIds, degrees: list[Any]) -> Partition:
        """This rank's partition, with these degrees. The arrays of ``degrees`` are overwritten."""
        directed = len(degrees) == 2
        offsets, targets = in_offsets, in_targets = self._rows(ids, degrees.pop(0), turned=False)
        if directed:
            in_offsets, in_targets = self._rows(ids, degrees.pop(), turned=True)
        arcs = tuple(self.communicator.allgather_object(len(targets)))
        rows = offsets, targets, in_offsets, in_targets
        partition = Partition(ids.partitioning, self.communicator.rank, directed, *rows, ids.own_ids, arcs)
        partition.loops = sum(
            self.communicator.allgather_object(self.csr.count_own_loops(offsets, targets, partition.base))
        )
        return partition

    def _rows(self, ids: VertexIds, degrees: Any, *, turned: bool) -> Pairs:
        """Offsets (int64) and targets of this rank's rows, which have these degrees."""
        xp = self.csr.xp
        offsets = xp.zeros(len(degrees) + 1, np.int64)
        xp.cumsum(degrees, out=offsets[1:])
        arcs = int(offsets[-1])
        self.csr.require(arcs * ids.partitioning.dtype.itemsize, f"a partition of {counted(arcs, 'edge')}")
        targets = xp.empty(arcs, ids.partitioning.dtype)
        cursors = degrees
        cursors[:] = offsets[:-1]
        for local_ids, block in self.arcs(ids, turned=turned):
            self.csr.scatter_targets(local_ids, block, cursors, targets)
            del local_ids, block
        if not bool((cursors == offsets[1:]).all()):
            raise InputError(CHANGED)
        if self.plan.simple:
            bound = ids.partitioning.size * ids.partitioning.stride
            offsets, targets = self.csr.simplified(offsets, targets, bound)
        return offsets, targets
