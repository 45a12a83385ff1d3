"""The host's side of the CPU kernels for many sources: `bit_parallel` and `betweenness`."""

from __future__ import annotations

import numpy as np

from ..graph import CPU, Graph
from ..kernels.cpu import betweenness, bit_parallel
from ..kernels.cpu.bits import WORD
from ..memory import available_bytes, require_bytes
from ..threads import pool
from . import BatchTraversal, Betweenness, Summary
from ._hub_order import numbered_by_degree

NO_LIMIT = np.iinfo(np.int64).max
WIDTHS = (1, 4, 16)  # words a vertex: 64, 256 or 1024 sources at once
Valid = tuple[np.uint64, ...]  # a bit for each source

ROWS = 3  # of a vertex: seen, frontier, upcoming


class BitParallel(BatchTraversal):
    """`bit_parallel`, its buffers as wide as the sources are many and the memory allows."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        n = graph.num_vertices
        self.planes = max(n - 1, 1).bit_length()
        require_bytes(self._bytes(1), "a search from 64 sources at once")
        self.widest = max(width for width in WIDTHS if width == 1 or 2 * self._bytes(width) < available_bytes())
        self.batch_size = WORD * self.widest
        vertex = graph.targets.dtype
        self.numbered = numbered_by_degree(graph.on(CPU))
        self.stamps = np.zeros(n, np.int32)
        self.queues = np.empty((2, n), vertex)
        self.counters = np.zeros(bit_parallel.COUNTERS, np.int64)
        with pool as threads:
            self.threads = threads
        self.buffers = np.empty((threads, bit_parallel.CAPACITY), vertex)
        self.width = 0
        self.levels = 0

    def _bytes(self, width: int) -> int:
        return 8 * self.graph.num_vertices * (width * (ROWS + self.planes) + 1)

    def distances(self, sources: np.ndarray, depth_limit: int | None, distances: np.ndarray) -> None:
        for begin in range(0, len(sources), self.batch_size):
            some = sources[begin : begin + self.batch_size]
            batch, valid = self._batch(len(some), True)
            with pool as threads:
                bit_parallel.clear(batch.planes[: self.levels.bit_length()])
                self.levels = self._search(batch, valid, some, depth_limit, Summary.of(0), threads)
                bit_parallel.write(batch, valid, self.levels, distances[begin : begin + len(some)])

    def summary(self, sources: np.ndarray, depth_limit: int | None) -> Summary:
        whole = Summary.of(len(sources))
        for begin in range(0, len(sources), self.batch_size):
            some = slice(begin, begin + self.batch_size)
            batch, valid = self._batch(len(sources[some]), False)
            with pool as threads:
                part = Summary(*(column[some] for column in whole))
                self._search(batch, valid, sources[some], depth_limit, part, threads)
        return whole

    def _search(
        self,
        batch: bit_parallel.Batch,
        valid: Valid,
        sources: np.ndarray,
        depth_limit: int | None,
        summary: Summary,
        threads: int,
    ) -> int:
        limit = NO_LIMIT if depth_limit is None else depth_limit
        levels: int = bit_parallel.search(
            batch, valid, self.numbered.rank[sources], limit, summary, min(threads, self.threads)
        )
        return levels

    def _batch(self, k: int, distances: bool) -> tuple[bit_parallel.Batch, Valid]:
        """The arrays for ``k`` sources, and the bits that stand for them."""
        width = next(width for width in WIDTHS if width == self.widest or k <= WORD * width)
        if width != self.width:
            self._make_room(width)
        batch = self.for_distances if distances else self.for_summary
        bits = np.arange(WORD * width) < k
        return batch, tuple(np.packbits(bits, bitorder="little").view(np.uint64))

    def _make_room(self, width: int) -> None:
        """Allocate the rows."""
        n = self.graph.num_vertices
        self.width = width
        self.levels = 0
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
            "tallies": np.zeros((self.threads, bit_parallel.TALLIES * width), np.uint64),
            "counters": self.counters,
        }
        self.for_distances = bit_parallel.Batch(**shared, planes=planes, counts=counts[:, :0])
        self.for_summary = bit_parallel.Batch(**shared, planes=planes[:0], counts=counts)


class Brandes(Betweenness):
    """`betweenness`, with sums for each thread."""

    def scores(self, sources: np.ndarray, is_target: np.ndarray, endpoints: bool, edges: bool) -> np.ndarray:
        graph = self.graph.on(CPU)
        length = graph.num_arcs if edges else graph.num_vertices
        with pool as threads:
            threads = max(1, min(threads, len(sources)))
            require_bytes(threads * (8 * length + 28 * graph.num_vertices), "the sums and queues of betweenness")
            sums = np.zeros((threads, length))
            betweenness.betweenness(graph.offsets, graph.targets, sources, is_target, endpoints, edges, sums)
        return sums.sum(axis=0)
