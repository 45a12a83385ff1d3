"""Engine ``igraph``: `igraph.Graph.bfs`, in C."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...adapters.igraph import to_igraph
from ...graph import Graph
from ..base import Options, Traversal
from .base import OptionalLibrary, truncate


class BFS(Traversal):
    """`Graph.bfs` does not stop early: a depth limit and a target truncate the answer, not the work."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.theirs = to_igraph(self.here, labels=False)

    def search(self, sources: np.ndarray, options: Options) -> tuple[Any, ...]:
        return options, *self.theirs.bfs(int(sources[0]), mode="out")

    def answer(self, found: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        options, vertices, begins, parents = found
        distances = np.full(self.graph.num_vertices, -1, np.int32)
        distances[vertices] = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
        predecessors = np.array(parents, self.graph.targets.dtype)
        predecessors[distances <= 0] = -1
        return truncate(distances, predecessors, options)


class IGraph(OptionalLibrary):
    name = package = "igraph"
    traversal = BFS
