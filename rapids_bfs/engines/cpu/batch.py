"""Hosts of the CPU kernels for many sources: `bit_parallel`, `parallel_over_sources` and `betweenness`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..._core.cuda.arrays import CPU, to_host
from ..._core.memory import available_bytes, require_bytes
from ..._core.threads import pool
from ...graph import Graph
from ...kernels.cpu import betweenness, bit_parallel, parallel_over_sources
from ...kernels.cpu.bits import WORD, words
from ..base import BatchTraversal, Betweenness, OneByOne, Options, Summary, kernel_limit
from .degree_order import numbered_by_degree
from .search import NO_VERTICES, DirectionOptimizing, Sequential, masked

WIDTHS = (1, 4, 16)  # words per vertex: 64, 256 or 1024 sources at once
Valid = tuple[np.uint64, ...]  # a bit for each source

ROWS = 3  # of a vertex: seen, frontier, upcoming
APART = 16  # words between the counters of two threads, so that they share no cache line

# Measured by `python -m benchmarks batch-cpu`.
SHARING = 3.0  # mean number of searches that reach a vertex on one level, from which rows of bits pay
# Words that a level may touch with one thread, by the words in a row; see docs/decisions/cpu-threads.md.
FEW_WORDS = {1: 1 << 21, 4: 1 << 23, 16: 1 << 23}
FEW_OF_TWO = 1 << 23  # of any width, where there are two threads at most
FEW_EDGES = 1 << 20  # probed by single searches
ROWS_EACH = 4  # rows of sums for each thread, so that others do the work of a thread that comes late
MUCH = 1 << 26  # bytes of these rows; with more, each thread has one row


class ManySources(BatchTraversal):
    """All sources at once if their searches share enough of the work; else one per thread, or one after the other.

    The shared work is estimated from the distribution of the distances from the vertex of highest degree: if
    ``shares[d]`` of the vertices are d away from a source, then ``1 - (1 - shares[d]) ** k`` of them are d away from
    any of k sources.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.bit_parallel = BitParallel(graph)
        self.batch_size = self.bit_parallel.batch_size
        self.shares = np.ones(1)
        if graph.num_vertices:
            here = graph.to(CPU)
            hub = np.argmax(here.degrees, keepdims=True)
            distances = Sequential(here).run(hub, Options(predecessors=False)).distances
            self.shares = np.bincount(distances[distances >= 0]) / here.num_vertices

    @cached_property
    def one_by_one(self) -> OneByOne:
        return OneByOne(self.graph, DirectionOptimizing(self.graph))

    @cached_property
    def parallel_over_sources(self) -> ParallelOverSources:
        return ParallelOverSources(self.graph)

    def distances(
        self, sources: np.ndarray, depth_limit: int | None, distances: np.ndarray, vertices: Any = None
    ) -> None:
        self.chosen(len(sources), depth_limit).distances(sources, depth_limit, distances, vertices)

    def summary(self, sources: np.ndarray, depth_limit: int | None, vertices: Any = None) -> Summary:
        return self.chosen(len(sources), depth_limit).summary(sources, depth_limit, vertices)

    def chosen(self, k: int, depth_limit: int | None = None) -> OneByOne | ParallelOverSources | BitParallel:
        """The traversal that searches from k sources."""
        if self.sharing(min(k, self.batch_size), depth_limit) >= SHARING:
            return self.bit_parallel
        return self.one_by_one if self.sharing(WORD, depth_limit) >= SHARING else self.parallel_over_sources

    def sharing(self, k: int, depth_limit: int | None = None) -> float:
        """The mean number of k searches that reach a vertex on the same level: from 1 to k."""
        shares = self.shares if depth_limit is None else self.shares[: depth_limit + 1]
        return float(k * shares.sum() / (1 - (1 - shares) ** k).sum())


class ParallelOverSources(BatchTraversal):
    """`parallel_over_sources`, with a queue for each thread."""

    batch_size = WORD

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        here, n = graph.to(CPU), graph.num_vertices
        vertex = here.targets.dtype
        each = n * (np.dtype(np.int32).itemsize + vertex.itemsize + np.dtype(np.int64).itemsize)
        require_bytes(each, "a search on a thread")
        self.threads = pool.fitting(each)
        self.rows = np.empty((self.threads, n), np.int32)
        self.searches = parallel_over_sources.Searches(
            here.offsets,
            here.targets,
            queues=np.empty((self.threads, n), vertex),
            visited=np.empty((self.threads, words(n)), np.uint64),
            masked=NO_VERTICES,
            counts=np.zeros((self.threads, n), np.int64),
            next_source=np.zeros(1, np.int64),
        )

    def distances(
        self, sources: np.ndarray, depth_limit: int | None, distances: np.ndarray, vertices: Any = None
    ) -> None:
        limit, searches = kernel_limit(depth_limit), self.searches._replace(masked=masked(vertices))
        parallel_over_sources.search(searches, sources, limit, distances, *self._team(len(sources)))

    def summary(self, sources: np.ndarray, depth_limit: int | None, vertices: Any = None) -> Summary:
        limit, searches = kernel_limit(depth_limit), self.searches._replace(masked=masked(vertices))
        summary = Summary.of(len(sources))
        parallel_over_sources.summarize(searches, sources, limit, self.rows, summary, *self._team(len(sources)))
        return summary

    def _team(self, k: int) -> tuple[np.ndarray, int]:
        return pool.team(k * self.graph.num_arcs, FEW_EDGES, self.threads)


class BitParallel(BatchTraversal):
    """`bit_parallel`, with a bit for each source in rows as wide as the number of sources asks and the memory
    allows."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        n = graph.num_vertices
        self.planes = max(n - 1, 1).bit_length()
        require_bytes(self._bytes(1), "a search from 64 sources at once")
        self.widest = max(width for width in WIDTHS if width == 1 or 2 * self._bytes(width) < available_bytes())
        self.batch_size = WORD * self.widest
        vertex = graph.targets.dtype
        self.numbered = numbered_by_degree(graph.to(CPU))
        self.stamps = np.zeros(n, np.int32)
        self.queues = np.empty((2, n), vertex)
        self.counters = np.zeros(bit_parallel.COUNTERS, np.int64)
        self.threads = pool.most
        self.buffers = np.empty((self.threads, bit_parallel.CAPACITY), vertex)
        self.width = 0  # words of an allocated row
        self.levels = 0  # the planes of these levels may hold bits

    def _bytes(self, width: int) -> int:
        return 8 * self.graph.num_vertices * (width * (ROWS + self.planes) + 1)

    def distances(
        self, sources: np.ndarray, depth_limit: int | None, distances: np.ndarray, vertices: Any = None
    ) -> None:
        ranks = self._masked(vertices)
        for begin in range(0, len(sources), self.batch_size):
            some = sources[begin : begin + self.batch_size]
            batch, valid = self._batch(len(some), True)
            team = self._team()
            bit_parallel.clear(batch.planes[: self.levels.bit_length()], self.counters, *team)
            self.levels = self.graph.num_vertices  # an interrupted search may leave any plane filled
            self.levels = self._search(batch, valid, some, ranks, depth_limit, Summary.of(0))
            bit_parallel.write(batch, self.levels, distances[begin : begin + len(some)], *team)

    def summary(self, sources: np.ndarray, depth_limit: int | None, vertices: Any = None) -> Summary:
        whole, ranks = Summary.of(len(sources)), self._masked(vertices)
        for begin in range(0, len(sources), self.batch_size):
            some = slice(begin, begin + self.batch_size)
            batch, valid = self._batch(len(sources[some]), False)
            part = Summary(*(column[some] for column in whole))
            self._search(batch, valid, sources[some], ranks, depth_limit, part)
        return whole

    def _team(self) -> tuple[np.ndarray, int]:
        """The team, and one thread for a small graph, where more would take longer, else all."""
        lanes = self.graph.num_vertices + self.graph.num_arcs
        few = FEW_WORDS[self.width] if self.threads > 2 else FEW_OF_TWO
        return pool.team(lanes * (self.width + WIDTHS[1]), few, self.threads)

    def _masked(self, vertices: Any) -> np.ndarray:
        """The vertices that a mask leaves out, by their numbers here."""
        left_out = np.empty(0, np.int64) if vertices is None else np.flatnonzero(~to_host(vertices))
        return self.numbered.rank[left_out]

    def _search(
        self,
        batch: bit_parallel.Batch,
        valid: Valid,
        sources: np.ndarray,
        ranks: np.ndarray,
        depth_limit: int | None,
        summary: Summary,
    ) -> int:
        limit, rank = kernel_limit(depth_limit), self.numbered.rank
        levels: int = bit_parallel.search(batch, valid, rank[sources], ranks, limit, summary, *self._team())
        return levels

    def _batch(self, k: int, distances: bool) -> tuple[bit_parallel.Batch, Valid]:
        """The arrays for ``k`` sources, and a mask of their bits."""
        width = next(width for width in WIDTHS if width == self.widest or k <= WORD * width)
        if width != self.width:
            self._allocate(width)
        batch = self.for_distances if distances else self.for_summary
        bits = np.arange(WORD * width) < k
        return batch, tuple(np.packbits(bits, bitorder="little").view(np.uint64))

    def _allocate(self, width: int) -> None:
        """Allocate rows of ``width`` words."""
        n = self.graph.num_vertices
        self.width = 0  # if an interrupt comes, there are no rows
        rows = np.zeros((ROWS, n * width), np.uint64)
        planes = np.zeros((self.planes, n * width), np.uint64)
        counts = np.zeros((self.threads, WORD * width), np.int64)
        shared = {
            **self.numbered._asdict(),
            "seen": rows[0],
            "frontier": rows[1],
            "upcoming": rows[2],
            "stamps": self.stamps,
            "queues": self.queues,
            "buffers": self.buffers,
            "under_way": np.zeros(self.threads * width, np.uint64),
            "wanted": np.zeros(width, np.uint64),
            "tallies": np.zeros((self.threads, bit_parallel.TALLIES * width + APART), np.uint64),
            "counters": self.counters,
        }
        self.for_distances = bit_parallel.Batch(**shared, planes=planes, counts=counts[:, :0])
        self.for_summary = bit_parallel.Batch(**shared, planes=planes[:0], counts=counts)
        self.levels = 0
        self.width = width


class Brandes(Betweenness):
    """`betweenness`: threads take sources one by one, and add to a few rows of sums each."""

    def scores(self, sources: np.ndarray, is_target: np.ndarray, endpoints: bool, edges: bool) -> np.ndarray:
        graph = self.graph.to(CPU)
        length = graph.num_arcs if edges else graph.num_vertices
        team, threads = pool.team(most=max(1, len(sources)))
        scratch = threads * (12 * graph.num_vertices + graph.num_arcs // 8)
        require_bytes(8 * threads * length + scratch, "the sums and queues of betweenness")
        rows = threads * ROWS_EACH if 8 * threads * ROWS_EACH * length < MUCH else threads
        sums = np.zeros((min(rows, len(sources)), length))
        betweenness.betweenness(graph.offsets, graph.targets, sources, is_target, endpoints, edges, sums, team, threads)
        summed: np.ndarray = sums.sum(axis=0)
        return summed
