"""An adjacency given as offsets and targets."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .._core.arguments import checked_directed
from .._core.csr import csr_for
from .._core.csr.checks import check_rows
from .._core.cuda.arrays import on_device, to_device
from .._core.dtypes import frozen, index_dtype
from ..errors import InputError
from ..graph import Graph


def from_csr(offsets: Any, targets: Any, *, directed: bool | None = None, name: str = "csr") -> Graph:
    """A graph from ``offsets[n + 1]`` and ``targets[m]``, without a copy if they are of the graph's dtypes.

    If either is on a CUDA device, in an array of any library, so is the graph; int32 and int64 are taken as they are.

    ``directed``: True keeps the edges as they are, False adds the reversed ones unless they are there, None keeps
    them and calls the graph undirected if they are symmetric.
    """
    directed = checked_directed(directed)
    offsets, targets = _arrays(offsets, targets, name)
    check_rows(offsets, targets, name)
    n, m = len(offsets) - 1, len(targets)
    if on_device(targets):
        targets = _kept(targets, index_dtype(n))
        offsets = _kept(offsets, targets.dtype if targets.dtype == np.int64 else index_dtype(m))
    else:
        offsets = np.require(offsets, index_dtype(m), ["C", "ALIGNED"])
        targets = np.require(targets, index_dtype(n), ["C", "ALIGNED"])
    if directed is None:
        directed = not csr_for(targets).is_symmetric(frozen(offsets), frozen(targets))
        return Graph._trusted(offsets, targets, directed=directed, name=name)
    graph = Graph._trusted(offsets, targets, directed=True, name=name)
    return graph if directed else graph.undirected


def _arrays(offsets: Any, targets: Any, name: str) -> list[Any]:
    """Both as one-dimensional arrays of integers, on the device if either is."""
    convert = to_device if on_device(offsets) or on_device(targets) else np.asarray
    arrays = []
    for given, what in ((offsets, "offsets"), (targets, "targets")):
        if np.ma.is_masked(given):
            raise InputError(f"{name}: {what} have masked elements: leave these edges out")
        try:
            array = convert(given)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}: {what} are not an array ({error})") from None
        if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
            raise InputError(f"{name}: {what} must be a one-dimensional array of integers")
        arrays.append(array)
    return arrays


def from_matrix(matrix: Any, *, directed: bool | None, name: str) -> Graph:
    """A graph from a square sparse matrix of SciPy or CuPy: an edge from row to column for each stored entry."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name}: an adjacency matrix must be square, not {' x '.join(map(str, matrix.shape))}")
    if not _has_a_value_for_each_place(matrix):
        raise InputError(f"{name}: this {matrix.format} matrix is damaged: its data do not match its indices")
    if matrix.format in ("csr", "lil"):
        return from_csr(*_stored(matrix, name), directed=directed, name=name)
    if matrix.format == "csc":
        columns = from_csr(*_stored(matrix, name), directed=True, name=name)
        return from_csr(columns.reverse.offsets, columns.reverse.targets, directed=directed, name=name)
    from .edges import from_edges

    try:
        entries = matrix.tocoo()
    except (IndexError, MemoryError, TypeError, ValueError) as error:
        raise InputError(f"{name}: this {matrix.format} matrix is damaged ({error})") from None
    rows, columns = entries.row, entries.col
    if matrix.format == "bsr":  # a block is full of zeros where there is no edge
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
    offsets, targets = _arrays(offsets, targets, name)
    if len(offsets) != matrix.shape[0] + 1:
        raise InputError(f"{name}: it must have {matrix.shape[0] + 1} offsets, not {len(offsets)}")
    end = int(offsets[-1])  # SciPy's arrays may be longer than what the matrix holds
    return offsets, targets[:end] if 0 <= end < len(targets) else targets


def _kept(array: Any, dtype: Any) -> Any:
    """A CuPy array itself if it is contiguous and of this dtype or int64, else a copy of this dtype."""
    import cupy

    return cupy.ascontiguousarray(array, array.dtype if array.dtype == np.int64 else dtype)


def to_csr(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and targets, the graph's own: not to be written to."""
    return graph.offsets, graph.targets
