"""Engine ``cpu``: our kernels for the CPU, compiled by Numba, which is imported when they are first needed."""

from __future__ import annotations

from ..._core.environment import compiling_is_off
from ..._core.without_numba import numpy_will_do
from ...graph import Graph
from ..base import OPTIONAL, BatchTraversal, Betweenness, Engine, Traversal


class CPU(Engine):
    name = "cpu"
    algorithms = ("direction-optimizing", "sequential")
    supports = OPTIONAL
    masks = algorithms

    def unavailable(self) -> str | None:
        if compiling_is_off():
            return "its kernels only run compiled: unset NUMBA_DISABLE_JIT"
        return None

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        def compiled() -> Traversal:
            from .search import DirectionOptimizing, Sequential

            return Sequential(graph) if algorithm == "sequential" else DirectionOptimizing(graph)

        if numpy_will_do(graph.num_arcs + graph.num_vertices):
            from .first import First

            return First(graph, compiled)
        return compiled()

    def prepare_batch(self, graph: Graph, algorithm: str) -> BatchTraversal:
        if algorithm == "sequential":
            return super().prepare_batch(graph, algorithm)
        from .batch import ManySources

        return ManySources(graph)

    def prepare_betweenness(self, graph: Graph, algorithm: str) -> Betweenness:
        from .batch import Brandes

        return Brandes(graph)
