"""Engine ``networkit``: `networkit.distance.BFS`, in C++."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...adapters.networkit import to_networkit
from ...graph import Graph
from ..base import Options, Traversal
from .base import OptionalLibrary, truncate


class BFS(Traversal):
    """`BFS` does not stop early: a depth limit and a target truncate the answer, not the work. With predecessors it
    keeps all of them for each vertex; this takes the first."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        import networkit

        self.bfs = networkit.distance.BFS
        self.theirs = to_networkit(self.here)

    def search(self, sources: np.ndarray, options: Options) -> tuple[Any, ...]:
        return options, self.bfs(self.theirs, int(sources[0]), storePaths=options.predecessors).run()

    def answer(self, found: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        options, search = found
        theirs = np.array(search.getDistances())
        distances = np.where(theirs < len(theirs), theirs, -1).astype(np.int32)
        predecessors = np.full(len(theirs), -1, self.graph.targets.dtype)
        if options.predecessors:
            below = np.flatnonzero(distances > 0)
            predecessors[below] = [search.getPredecessors(vertex)[0] for vertex in below.tolist()]
        return truncate(distances, predecessors, options)


class NetworKit(OptionalLibrary):
    name = "networkit"
    package = "NetworKit"
    traversal = BFS
