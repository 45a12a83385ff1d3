"""python-graphblas's matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arguments import is_of
from .._core.cuda.arrays import CPU
from ..errors import InputError
from ..graph import Graph
from ._edge_list import checked_vertices
from .csr import from_csr


def matches(obj: Any) -> bool:
    return is_of(obj, "graphblas.core.matrix", "Matrix", "TransposedMatrix")


def from_graphblas(matrix: Any, *, directed: bool | None = None, name: str = "matrix") -> Graph:
    """A graph from a square `graphblas.Matrix`, or its transpose ``matrix.T``: an edge from row to column for each
    stored entry, whatever its value. ``directed`` as in `from_csr`.
    """
    if matrix.nrows != matrix.ncols:
        raise InputError(f"{name}: an adjacency matrix must be square, not {matrix.nrows} x {matrix.ncols}")
    checked_vertices(matrix.nrows)  # which may be any number up to 2**60, stored or not
    stored = matrix.new() if is_of(matrix, "graphblas.core.matrix", "TransposedMatrix") else matrix
    offsets, targets, _ = stored.to_csr()
    return from_csr(offsets, targets, directed=directed, name=name)


def to_graphblas(graph: Graph) -> Any:
    """A `graphblas.Matrix` of bools, n x n, that stores True for each edge; parallel edges are one entry."""
    import graphblas

    here, n = graph.to(CPU), graph.num_vertices
    sources = np.repeat(np.arange(n), here.degrees)
    return graphblas.Matrix.from_coo(sources, here.targets, True, nrows=n, ncols=n)
