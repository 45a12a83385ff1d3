"""Sparse matrices: SciPy's, and CuPy's on the device."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .._core.cuda.arrays import CUDA
from ..errors import InputError
from ..graph import Graph
from .csr import arrays_of, from_csr
from .edges import from_edges


def matches(obj: Any) -> bool:
    libraries = ("scipy.sparse.", "cupyx.scipy.sparse.")
    return hasattr(obj, "format") and any(kind.__module__.startswith(libraries) for kind in type(obj).__mro__)


def from_scipy(matrix: Any, *, directed: bool | None = None, name: str = "matrix") -> Graph:
    """A graph from a square sparse array or matrix: an edge from row to column for each stored entry.

    CSR is taken without a copy of its indices if these are of the graph's dtypes: do not change the matrix in place
    while the graph is in use, as its ``sum_duplicates`` does, or give a copy. ``directed`` as in `from_csr`.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name}: an adjacency matrix must be square, not {' x '.join(map(str, matrix.shape))}")
    if not _has_a_value_for_each_place(matrix):
        raise InputError(f"{name}: this {matrix.format} matrix is damaged: its data do not match its indices")
    if matrix.format in ("csr", "lil"):
        return from_csr(*_stored(matrix, name), directed=directed, name=name)
    if matrix.format == "csc":
        columns = from_csr(*_stored(matrix, name), directed=True, name=name)
        return from_csr(columns.reverse.offsets, columns.reverse.targets, directed=directed, name=name)
    try:
        entries = matrix.tocoo()
    except (IndexError, MemoryError, TypeError, ValueError) as error:
        raise InputError(f"{name}: this {matrix.format} matrix is damaged ({error})") from None
    rows, columns = entries.row, entries.col
    if matrix.format == "bsr":  # blocks hold zeros where there is no edge
        rows, columns = rows[entries.data != 0], columns[entries.data != 0]
    return from_edges(rows, columns, vertices=matrix.shape[0], directed=directed, name=name)


def _has_a_value_for_each_place(matrix: Any) -> bool:
    """Are there as many values as places? In DIA and LIL SciPy does not check it, and reads past the end of arrays."""
    if matrix.format == "dia":
        return len(matrix.offsets) == len(matrix.data)
    try:
        return matrix.format != "lil" or [*map(len, matrix.rows)] == [*map(len, matrix.data)]
    except TypeError:  # a row is no list
        return False


def _stored(matrix: Any, name: str) -> tuple[Any, Any]:
    """Offsets and indices of a CSR, CSC or LIL matrix."""
    if matrix.format == "lil":
        offsets, targets = np.cumsum([0, *map(len, matrix.rows)]), list(chain.from_iterable(matrix.rows))
    else:
        offsets, targets = matrix.indptr, matrix.indices
    offsets, targets = arrays_of(offsets, targets, name)
    if len(offsets) != matrix.shape[0] + 1:
        raise InputError(f"{name}: it must have {matrix.shape[0] + 1} offsets, not {len(offsets)}")
    end = int(offsets[-1])  # SciPy's arrays may be longer than the matrix needs
    return offsets, targets[:end] if 0 <= end < len(targets) else targets


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


def to_cupyx(graph: Graph) -> Any:
    """A `cupyx.scipy.sparse.csr_matrix` with a 1 for each edge, which shares the graph's arrays."""
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    here = graph.to(CUDA)
    ones = cupy.ones(here.num_arcs, cupy.float32)
    return csr_matrix((ones, here.targets, here.offsets), shape=(here.num_vertices, here.num_vertices), copy=False)
