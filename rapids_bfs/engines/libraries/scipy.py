"""Engine ``scipy``: `scipy.sparse.csgraph`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.memory import require_bytes
from ...adapters.scipy import to_scipy
from ...graph import Graph
from ..base import OPTIONAL, Options, Traversal
from .base import Library, distances_along, truncate


class CSGraph(Traversal):
    """`breadth_first_order`, whose tree is that of a sequential queue; from several sources `dijkstra` on unit weights.

    Neither stops early: a depth limit and a target truncate the answer, not the work.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        require_bytes(graph.num_arcs * np.dtype(np.float64).itemsize, "SciPy's matrix of weights")
        self.matrix = to_scipy(self.here, np.float64, copy=False)

    def search(self, sources: np.ndarray, options: Options) -> tuple[Any, ...]:
        from scipy.sparse.csgraph import breadth_first_order, dijkstra

        if len(sources) == 1:
            order, predecessors = breadth_first_order(self.matrix, int(sources[0]), return_predecessors=True)
            return options, order, predecessors
        distances, predecessors, _ = dijkstra(
            self.matrix, indices=sources, return_predecessors=True, unweighted=True, min_only=True
        )
        return options, distances, predecessors

    def answer(self, found: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        options, first, predecessors = found
        predecessors = np.where(predecessors < 0, -1, predecessors).astype(self.graph.targets.dtype)
        if first.dtype.kind == "f":
            distances = np.where(np.isfinite(first), first, -1).astype(np.int32)
        else:
            distances = distances_along(first, predecessors)
        return truncate(distances, predecessors, options)


class SciPy(Library):
    name = "scipy"
    algorithms = ("csgraph",)
    supports = OPTIONAL
    traversal = CSGraph

    def unsupported(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        if options.deterministic and options.predecessors and sources > 1:
            return "scipy cannot search deterministically from several sources: use the engine 'cpu'"
        return super().unsupported(graph, algorithm, options, sources)
