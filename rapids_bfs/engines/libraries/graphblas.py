"""Engine ``graphblas``: BFS in the language of linear algebra, by python-graphblas and SuiteSparse:GraphBLAS.

LAGraph's search: a level multiplies the frontier, a sparse vector, by the adjacency matrix (push, top-down), or the
transposed matrix by the frontier, a bitmap, for the vertices that are not visited (pull, bottom-up).

Source: GraphBLAS/LAGraph, src/algorithm/template/LG_BreadthFirstSearch_SSGrB_template.c, for when to do which.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...adapters.graphblas import to_graphblas
from ...graph import Graph
from ..base import Options, Traversal
from .base import OptionalLibrary

ALPHA = 8  # pull when the frontier has more than 1/ALPHA of the unexplored edges
BETA = 512  # push again when the frontier shrinks below 1/BETA of the vertices


class PushPull(Traversal):
    """Products over the semiring ``any_secondi``: each product is the index of a neighbour, and any one is kept."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        import graphblas

        self.graphblas = graphblas
        self.matrix = to_graphblas(self.here)
        self.transposed = self.matrix.T.new() if graph.directed else self.matrix
        self.degrees = graphblas.Vector.from_dense(self.here.degrees.astype(np.int64))

    def search(self, sources: np.ndarray, options: Options) -> tuple[Any, ...]:
        gb, n = self.graphblas, self.graph.num_vertices
        parent_of = gb.semiring.ss.any_secondi
        frontier = gb.Vector.from_coo(sources, sources, size=n)
        parents = frontier.dup()
        distances = gb.Vector.from_coo(sources, 0, dtype=np.int32, size=n)
        unexplored, size, level, push = self.graph.num_arcs, len(sources), 0, True
        while size and level != options.depth_limit and (options.target is None or options.target not in parents):
            level += 1
            before = size
            if push:
                edges = int(self._edges(frontier))
                unexplored -= edges
                push = edges * ALPHA <= unexplored
            frontier.ss.config["sparsity_control"] = "sparse" if push else "bitmap"
            product = parent_of(frontier @ self.matrix) if push else parent_of(self.transposed @ frontier)
            frontier(~parents.S, replace=True) << product
            parents(frontier.S) << frontier
            distances(frontier.S) << level
            size = frontier.nvals
            push = push or (size < before and size <= n // BETA)
        return options, sources, distances, parents

    def _edges(self, frontier: Any) -> int:
        """Out-edges of the frontier."""
        gb = self.graphblas
        edges = frontier.ewise_mult(self.degrees, gb.binary.second).reduce(gb.monoid.plus)
        return int(edges.new().get(0))

    def answer(self, found: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        options, sources, distances, parents = found
        if not options.predecessors:
            return distances.to_dense(-1, np.int32), None
        predecessors = parents.to_dense(-1, np.int64).astype(self.graph.targets.dtype)
        predecessors[sources] = -1
        return distances.to_dense(-1, np.int32), predecessors


class GraphBLAS(OptionalLibrary):
    name = "graphblas"
    package = "python-graphblas"
    supports = (*OptionalLibrary.supports, "several sources")
    traversal = PushPull
