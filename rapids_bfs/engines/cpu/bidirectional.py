"""A shortest path between two vertices of a graph on the CPU, by two searches that meet."""

from __future__ import annotations

import threading

import numpy as np

from ..._core.memory import require_bytes
from ...graph import Graph
from ...kernels.cpu import bidirectional


class Bidirectional:
    """The buffers of `bidirectional.shortest_path` for one graph on the CPU. They serve one search at a time."""

    def __init__(self, graph: Graph) -> None:
        n, into, vertex = graph.num_vertices, graph.reverse, graph.targets.dtype
        require_bytes(n * (1 + 3 * vertex.itemsize), "a search between two vertices")
        self.lock = threading.RLock()
        self.edges = graph.offsets, graph.targets, into.offsets, into.targets
        self.buffers = np.zeros(n, np.uint8), np.empty(n, vertex), np.empty((2, n), vertex)

    def path(self, source: int, target: int, vertices: np.ndarray | None = None) -> np.ndarray:
        """The vertices of a shortest path, including both ends, among those of a mask; empty if there is no path."""
        side, parents, queues = self.buffers
        if vertices is not None:
            side = np.where(vertices, bidirectional.UNSEEN, bidirectional.MASKED).astype(np.uint8)
        with self.lock:
            length = bidirectional.shortest_path(*self.edges, source, target, side, parents, queues)
            return queues[0, :length].copy()
