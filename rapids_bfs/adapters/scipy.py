"""SciPy's sparse arrays and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Graph
from .csr import from_matrix


def matches(obj: Any) -> bool:
    return type(obj).__module__.startswith("scipy.sparse")


def from_scipy(matrix: Any, *, directed: bool | None = None, name: str = "matrix") -> Graph:
    """A graph from a square sparse array or matrix: an edge from row to column for each stored entry.

    CSR is taken without a copy of its indices if these are of the graph's dtypes: do not change the matrix in place
    while the graph is in use, as its ``sum_duplicates`` does, or give a copy. ``directed`` as in `from_csr`.
    """
    return from_matrix(matrix, directed=directed, name=name)


def to_scipy(graph: Graph, dtype: Any = np.int8, *, copy: bool = True) -> Any:
    """A `scipy.sparse.csr_array` with a 1 for each edge.

    With ``copy=False`` it shares the graph's arrays; being read-only, these fail in some of SciPy's methods.
    """
    import scipy.sparse

    shape = (graph.num_vertices, graph.num_vertices)
    matrix = scipy.sparse.csr_array(shape, dtype=dtype)
    matrix.data = np.ones(graph.num_arcs, dtype)
    matrix.indices, matrix.indptr = (a.copy() if copy else a for a in (graph.targets, graph.offsets))
    return matrix
