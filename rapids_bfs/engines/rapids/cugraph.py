"""Engine ``cugraph``: `cugraph.bfs`, as its users call it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...adapters.cugraph import to_cugraph
from ...graph import Graph
from ..base import Options
from .base import RapidsEngine, RapidsTraversal, wait


class CuGraphBFS(RapidsTraversal):
    """A `cugraph.Graph` of the vertices 0..n-1 and the frames that `cugraph.bfs` returns for it."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.cugraph_graph = to_cugraph(self.here, labels=False)
        wait()

    def search(self, sources: np.ndarray, options: Options) -> Any:
        import cugraph

        frame = cugraph.bfs(
            self.cugraph_graph,
            int(sources[0]),
            depth_limit=options.depth_limit,
            return_predecessors=options.predecessors,
        )
        wait()
        return frame, options.predecessors

    def answer(self, found: Any) -> tuple[Any, Any]:
        frame, predecessors = found
        tree = frame["predecessor"].values if predecessors else None
        return super().answer((frame["distance"].values, tree, frame["vertex"].values))


class CuGraph(RapidsEngine):
    name = "cugraph"
    algorithms = ("bfs",)
    package = "cugraph"
    traversal = CuGraphBFS
