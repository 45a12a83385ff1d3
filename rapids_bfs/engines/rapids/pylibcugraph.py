"""Engine ``pylibcugraph``: cuGraph without its frames, top-down or direction-optimizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...adapters.pylibcugraph import to_pylibcugraph
from ...graph import Graph
from ..base import Options, Traversal
from .base import RapidsEngine, RapidsTraversal, wait

NO_LIMIT = -1
DIRECTION_OPTIMIZING = "direction-optimizing"


class PyLibCuGraph(RapidsEngine):
    name = "pylibcugraph"
    algorithms = ("top-down", DIRECTION_OPTIMIZING)
    package = "pylibcugraph"

    def unsupported(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        if algorithm == DIRECTION_OPTIMIZING and graph.directed:
            return "cuGraph is direction-optimizing only on undirected graphs: use 'pylibcugraph'"
        return super().unsupported(graph, algorithm, options, sources)

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        return PyLibCuGraphBFS(graph, algorithm)


class PyLibCuGraphBFS(RapidsTraversal):
    """An `SGGraph`, which both algorithms search."""

    def __init__(self, graph: Graph, algorithm: str) -> None:
        from pylibcugraph import ResourceHandle

        super().__init__(graph)
        self.direction_optimizing = algorithm == DIRECTION_OPTIMIZING
        self.handle = ResourceHandle()
        self.sg_graph = to_pylibcugraph(self.here)
        wait()

    def search(self, sources: np.ndarray, options: Options) -> Any:
        return search(self.handle, self.sg_graph, sources, self.graph.targets.dtype, self.direction_optimizing, options)


def search(
    handle: Any, graph: Any, sources: Any, dtype: Any, direction_optimizing: bool, options: Options
) -> tuple[Any, Any, Any]:
    """Distances, predecessors (None if not asked for) and the vertex of each row, from `pylibcugraph.bfs`."""
    import cupy
    from pylibcugraph import bfs

    distances, predecessors, vertices = bfs(
        handle,
        graph,
        cupy.asarray(sources, dtype),
        direction_optimizing,
        NO_LIMIT if options.depth_limit is None else options.depth_limit,
        options.predecessors,
        False,
    )
    wait()
    return distances, predecessors if options.predecessors else None, vertices
