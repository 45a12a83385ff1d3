"""Searches from one source or several by the CPU kernels: the textbook queue and `direction_optimizing`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..._core.csr.host_filter import bitmap
from ..._core.cuda.arrays import CPU, to_host
from ..._core.dtypes import index_dtype
from ..._core.memory import require_bytes
from ..._core.threads import pool
from ...graph import Graph
from ...kernels.cpu import direction_optimizing, sequential, top_down
from ...kernels.cpu.bits import words
from ...kernels.cpu.clock import TICKS_PER_MS
from ...result import BFSResult
from ...trace import steps_noted
from ..base import DEFAULT, NO_LIMIT, Options, Traversal, kernel_limit

TINY = 1 << 12  # edges; the textbook queue searches a smaller graph before the parallel kernel begins
SMALL = 1 << 16  # edges; a smaller graph is searched before other threads are awake
NEAR = 1 << 12  # edges; probing fewer takes less time than the passes of the parallel kernel over all vertices
NONE = -1
NO_NOTES = np.empty(0, np.int64)
NO_VERTICES = np.empty(0, np.uint64)


@cache
def keep_freed_memory() -> None:
    """Let the C library keep the memory of freed answers: returned to the system, it costs 5000 page faults a call.

    The library keeps blocks up to the size of the largest that was freed: mallopt(3), M_MMAP_THRESHOLD, at most 32 MiB.
    """
    np.empty(30 << 20, np.uint8)


def in_one_block(n: int, *dtypes: Any) -> list[np.ndarray]:
    """Arrays of ``n`` items, the widest types first, in one allocation: NumPy asks for large pages from 4 MiB on."""
    ends = np.cumsum([n * np.dtype(dtype).itemsize for dtype in dtypes])
    block = np.empty(ends[-1], np.uint8)
    return [part.view(dtype) for part, dtype in zip(np.split(block, ends[:-1]), dtypes, strict=True)]


def masked(vertices: Any) -> np.ndarray:
    """The bitmap of the vertices that a mask leaves out; of length 0 if there is none."""
    return NO_VERTICES if vertices is None else bitmap(~to_host(vertices))


class Sequential(Traversal):
    """The textbook queue; its tree and order are always those of a deterministic search."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        keep_freed_memory()
        n = graph.num_vertices
        vertex = np.dtype(index_dtype(n))
        require_bytes((4 + 2 * vertex.itemsize) * n, "a sequential search")
        self.offsets, self.targets = self.here.offsets, self.here.targets
        self.queue, self.predecessors, self.distances = in_one_block(n, vertex, vertex, np.int32)
        self.predecessors.fill(-1)
        self.distances.fill(-1)
        self.visited = np.empty(words(n), np.uint64)

    def search(self, sources: np.ndarray, options: Options) -> bool:
        limit, target, predecessors, mask = NO_LIMIT, NONE, self.predecessors, NO_VERTICES
        if options is not DEFAULT:  # saves a twentieth of the time of a tiny search
            limit, target = kernel_limit(options.depth_limit), NONE if options.target is None else options.target
            predecessors = predecessors if options.predecessors else predecessors[:0]
            mask = masked(options.vertices)
        sequential.search(
            self.offsets,
            self.targets,
            np.array(sources, np.int64),  # another type would compile the kernel again
            limit,
            target,
            self.distances,
            predecessors,
            self.queue,
            self.visited,
            mask,
        )
        return options.predecessors

    def result(self, found: bool, sources: np.ndarray, options: Options, *, own: bool = False) -> BFSResult:
        if options is not DEFAULT or not own or self.graph.device != CPU:
            return super().result(found, sources, options, own=own)
        distances, predecessors = self.answer(found)  # `super` takes a tenth of a tiny search to do the same
        tree = None if predecessors is None else predecessors.copy()
        return BFSResult(self.graph.owner, sources, distances.copy(), tree)

    def answer(self, found: bool) -> tuple[np.ndarray, np.ndarray | None]:
        return self.distances, self.predecessors if found else None


class DirectionOptimizing(Sequential):
    """The parallel kernel; the textbook queue where that is faster, unless the search is traced, and for a
    deterministic search."""

    traces = True

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        least = direction_optimizing.LEAST if pool.most < 3 else direction_optimizing.LEAST_OF_MANY
        small = pool.most < 2 or graph.num_arcs < SMALL or len(self.visited) < least
        self.alone = pool.team(0) if small else None
        self.left_by_queue = False  # are the distances those of a search by the queue?
        self.prepared = False
        if graph.num_arcs >= TINY:
            self._prepare()

    def _prepare(self) -> None:
        """Allocate the arrays of the parallel kernel that the queue does not need."""
        graph, n = self.graph, self.graph.num_vertices
        vertex = self.queue.dtype
        entries = 1 if self.alone else 3  # of a vertex in the hubs and the pool, beside its bits in four bitmaps
        require_bytes((entries * vertex.itemsize + 1) * n, "a direction-optimizing search")
        reverse = self.here.reverse
        sourceless, visited, frontier, found = np.zeros((4, words(n)), np.uint64)
        self.sourceless = sourceless
        places, bins = top_down.pool_and_bins(*((0, 1) if self.alone else (n, pool.most)), vertex)
        self.arrays = direction_optimizing.Search(
            self.offsets,
            self.targets,
            int(self.here.degrees.max(initial=0)),
            reverse.offsets,
            reverse.targets,
            hub=np.zeros(n, vertex),
            visited=visited,
            frontier=frontier,
            found=found,
            distances=self.distances,
            predecessors=self.predecessors,
            queue=self.queue,
            pool=places,
            bins=bins,
            counters=np.zeros(top_down.COUNTERS, np.int64),
        )
        s = self.arrays
        direction_optimizing.prepare(
            s.offsets, s.in_offsets, s.in_targets, s.hub, sourceless, s.counters, *pool.team(graph.num_arcs, SMALL)
        )  # fmt: skip
        self.without_tree = s._replace(predecessors=s.predecessors[:0])
        self.prepared = True

    def _is_near(self, sources: np.ndarray, depth_limit: int | None) -> bool:
        """Return True for a search from one vertex that ends after two levels and probes few edges."""
        if depth_limit is None or depth_limit > 2 or len(sources) > 1:
            return False
        offsets = self.offsets
        begin, end = offsets[sources[0] : sources[0] + 2].tolist()
        edges: int = end - begin
        if depth_limit == 2 and edges < NEAR:
            neighbors = self.targets[begin:end]
            edges += int((offsets[1:][neighbors] - offsets[neighbors]).sum())
        return edges < NEAR

    def search(self, sources: np.ndarray, options: Options) -> bool:
        if not (self.prepared or options.trace):  # tiny: before what only others need
            self.left_by_queue = True
            return Sequential.search(self, sources, options)
        self.steps = None
        noted = options.trace and not options.deterministic
        if noted and not self.prepared:
            self._prepare()
        if not noted and (options.deterministic or self._is_near(sources, options.depth_limit)):
            self.left_by_queue = True
            return super().search(sources, options)
        if self.left_by_queue:
            self.distances.fill(-1)  # the kernel resets no vertices without in-edges but its own last sources
            self.left_by_queue = False
        notes = np.zeros(len(self.queue) + 1, np.int64) if options.trace else NO_NOTES
        direction_optimizing.search(
            *(self.arrays if options.predecessors else self.without_tree),
            self.sourceless,
            masked(options.vertices),
            np.array(sources, np.int64),
            kernel_limit(options.depth_limit),
            NONE if options.target is None else options.target,
            notes,
            *(self.alone or pool.team()),
        )
        if options.trace:
            self.steps = steps_noted(notes[notes > 0], TICKS_PER_MS)
        return options.predecessors
