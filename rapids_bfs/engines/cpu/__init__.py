"""Engine ``cpu``: our kernels for the CPU, compiled by Numba."""

from __future__ import annotations

import numba

from ...graph import Graph
from ..base import OPTIONAL, BatchTraversal, Betweenness, Engine, Traversal
from .search import DirectionOptimizing, Sequential


class CPU(Engine):
    name = "cpu"
    algorithms = ("direction-optimizing", "sequential")
    supports = OPTIONAL
    masks = algorithms

    def unavailable(self) -> str | None:
        if numba.config.DISABLE_JIT:
            return "its kernels only run compiled: unset NUMBA_DISABLE_JIT"
        return None

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        return Sequential(graph) if algorithm == "sequential" else DirectionOptimizing(graph)

    def prepare_batch(self, graph: Graph, algorithm: str) -> BatchTraversal:
        if algorithm == "sequential":
            return super().prepare_batch(graph, algorithm)
        from .batch import ManySources

        return ManySources(graph)

    def prepare_betweenness(self, graph: Graph, algorithm: str) -> Betweenness:
        from .batch import Brandes

        return Brandes(graph)
