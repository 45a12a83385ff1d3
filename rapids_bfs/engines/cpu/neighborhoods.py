"""The host's side of the CPU kernels for neighbourhoods."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..._core.cuda.arrays import CPU
from ..._core.dtypes import frozen
from ..._core.memory import require_bytes
from ..._core.threads import pool
from ...graph import Graph
from ...kernels.cpu import neighborhoods
from ...kernels.cpu.bits import words
from ..base import NeighborhoodSearch, bounds_of
from .search import keep_freed_memory

PIECES = 1 << 17  # vertices that a thread's row holds beyond the n of its last piece
MOST_ARCS = 1 << 24
FEW_EDGES = 1 << 14  # that one thread has looked at before others are awake
FEW_VERTICES = 1 << 17  # that one thread has copied before others are awake


class Neighborhoods(NeighborhoodSearch):
    """`kernels.cpu.neighborhoods`, with a row and a bitmap for each thread, of which only what is used takes memory."""

    def __init__(self, graph: Graph, direction: str) -> None:
        super().__init__(graph, direction)
        keep_freed_memory()
        self.here = here = graph.to(CPU)
        n, vertex = here.num_vertices, here.targets.dtype
        room = n + PIECES
        each = room * (vertex.itemsize + np.dtype(np.int32).itemsize)
        require_bytes(each, "a search of neighbourhoods")
        self.threads = pool.fitting(each)
        edges, *more = (each.to(CPU) for each in self.followed)
        none = frozen(np.empty(0, here.offsets.dtype)), frozen(np.empty(0, vertex))
        self.searches = neighborhoods.Searches(
            edges.offsets,
            edges.targets,
            *((more[0].offsets, more[0].targets) if more else none),
            vertices=np.empty((self.threads, room), vertex),
            distances=np.empty((self.threads, room), np.int32),
            visited=np.zeros((self.threads, words(n)), np.uint64),
        )

    @property
    def most_arcs(self) -> int:
        return MOST_ARCS

    def search(self, centers: np.ndarray, hops: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k, s = len(centers), self.searches
        pieces, bounds = np.empty((k, 3), np.int64), np.empty(k + 1, np.int64)
        edges = self._estimated_edges(k, hops)
        found = neighborhoods.search(pieces, bounds, centers, hops, *self._team(edges, FEW_EDGES), *s)
        bounds = bounds[: found + 1]
        vertices, distances = np.empty(bounds[-1], s.vertices.dtype), np.empty(bounds[-1], np.int32)
        team = self._team(len(vertices), FEW_VERTICES)
        neighborhoods.gather(s.vertices, s.distances, pieces, bounds, vertices, distances, *team)
        return bounds, vertices, distances

    def count_arcs(self, bounds: np.ndarray, vertices: np.ndarray) -> np.ndarray:
        counts = np.empty(len(bounds) - 1, np.int64)
        graph, visited = self.here, self.searches.visited
        team = self._team(int(len(vertices) * self._degree), FEW_EDGES)
        neighborhoods.count_arcs(graph.offsets, graph.targets, visited, bounds, vertices, counts, *team)
        return bounds_of(counts)

    def write_arcs(
        self, bounds: np.ndarray, vertices: np.ndarray, arc_bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        tails, heads = np.empty((2, int(arc_bounds[-1])), vertices.dtype)
        graph, visited = self.here, self.searches.visited
        team = self._team(int(len(vertices) * self._degree), FEW_EDGES)
        neighborhoods.write_arcs(
            graph.offsets, graph.targets, visited, bounds, vertices, arc_bounds, tails, heads, *team
        )
        return tails, heads

    @cached_property
    def _degree(self) -> float:
        return self.here.num_arcs / max(self.here.num_vertices, 1)

    def _estimated_edges(self, k: int, hops: int) -> int:
        """About how many edges the searches from k centres read."""
        edges = 1.0
        for _ in range(min(hops, 64)):
            edges = min(edges * max(self._degree, 1.0), float(self.here.num_arcs))
        return int(k * edges)

    def _team(self, things: int, few: int) -> tuple[np.ndarray, int]:
        return pool.team(things, few, self.threads)
