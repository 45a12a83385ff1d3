"""Shortest paths between vertices of a graph on the CPU, each by two searches that meet."""

from __future__ import annotations

import numpy as np

from ..._core.forks import Turns
from ..._core.memory import require_bytes
from ..._core.threads import pool
from ...graph import Graph
from ...kernels.cpu import bidirectional
from ..base import bounds_of

ROOM = 1 << 17  # vertices of paths that a thread's row holds beyond the n of its last path
ROUND = 1 << 25  # vertices that a thread finds in one call, some tenths of a second: interrupts wait for its end


class Bidirectional(Turns):
    """`kernels.cpu.bidirectional` for one graph on the CPU, with buffers for each thread, of which only what is used
    takes memory.

    Paths include both ends, and no vertices that a mask leaves out; where there is no path it is empty.
    """

    def __init__(self, graph: Graph) -> None:
        n, into, vertex = graph.num_vertices, graph.reverse, graph.targets.dtype
        require_bytes(n * (1 + 3 * vertex.itemsize), "a search between two vertices")
        super().__init__()
        self.threads = pool.fitting(n * (1 + 4 * vertex.itemsize) + ROOM * vertex.itemsize)
        self.edges = graph.offsets, graph.targets, into.offsets, into.targets
        self.searches = bidirectional.Searches(
            *self.edges,
            side=np.zeros((self.threads, n), np.uint8),
            parents=np.empty((self.threads, n), vertex),
            queues=np.empty((self.threads, 2, n), vertex),
            paths=np.empty((self.threads, n + ROOM), vertex),
            ends=np.empty(self.threads, np.int64),
            next_pair=np.empty(1, np.int64),
            pieces=np.empty((0, 3), np.int64),
        )
        self.buffers = self.searches.side[0], self.searches.parents[0], self.searches.queues[0]

    def path(self, source: int, target: int, vertices: np.ndarray | None = None) -> np.ndarray:
        """The vertices of a shortest path, among those of a mask."""
        side, parents, queues = self.buffers
        if vertices is not None:
            side = _sides(vertices)
        with self.lock:
            length, _ = bidirectional.shortest_path(*self.edges, source, target, side, parents, queues)
            found: np.ndarray = queues[0, :length].copy()
        return found

    def paths(
        self, sources: np.ndarray, targets: np.ndarray, vertices: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds and vertices (int64) of shortest paths from each of these sources to the target beside it: path i is
        ``[bounds[i]:bounds[i + 1]]``."""
        side, threads = self.searches.side, max(1, min(self.threads, len(sources)))
        if vertices is not None:
            threads = min(threads, pool.fitting(len(vertices)))
            side = np.tile(_sides(vertices), (threads, 1))
        bounds, path = self.first_paths(sources, targets, side, threads)
        sizes, parts, total = [np.diff(bounds)], [path], path.nbytes
        while (first := sum(map(len, sizes))) < len(sources):
            bounds, path = self.first_paths(sources[first:], targets[first:], side, threads)
            sizes.append(np.diff(bounds))
            parts.append(path)
            total += path.nbytes
            require_bytes(total, "the vertices of the paths")
        return bounds_of(np.concatenate(sizes)), np.concatenate(parts)

    def first_paths(
        self, sources: np.ndarray, targets: np.ndarray, side: np.ndarray, threads: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """`paths` for as many of the first pairs as one call of the kernel answers, at least one."""
        s = self.searches._replace(side=side, pieces=np.empty((len(sources), 3), np.int64))
        with self.lock:
            found = bidirectional.shortest_paths(s, sources, targets, ROUND, *pool.team(most=threads))
            bounds = bounds_of(s.pieces[:found, 2] - s.pieces[:found, 1])
            if bounds[-1] > ROOM:  # a look at the free memory takes as long as dozens of short paths
                require_bytes(int(bounds[-1]) * bounds.itemsize, "the vertices of the paths")
            path = np.empty(bounds[-1], np.int64)
            bidirectional.gather(s, bounds, path)
        return bounds, path


def _sides(mask: np.ndarray) -> np.ndarray:
    sides: np.ndarray = np.where(mask, bidirectional.UNSEEN, bidirectional.MASKED).astype(np.uint8)
    return sides
