"""An adjacency given as offsets and targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import on_device, to_device
from ..errors import InputError
from ..graph import Graph, csr_for, index_dtype


def from_csr(offsets: Any, targets: Any, *, directed: bool | None = None, name: str = "csr") -> Graph:
    """A graph from ``offsets[n + 1]`` and ``targets[m]``, without a copy if they are of the graph's dtypes.

    If either is on a CUDA device, in an array of any library, so is the graph; int32 and int64 are taken as they are.

    ``directed``: True keeps the edges as they are, False adds the reversed ones unless they are there, None keeps
    them and calls the graph undirected if they are symmetric.
    """
    convert = to_device if on_device(offsets) or on_device(targets) else np.asarray
    offsets, targets = convert(offsets), convert(targets)
    for array, what in ((offsets, "offsets"), (targets, "targets")):
        if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
            raise InputError(f"{name}: {what} must be a one-dimensional array of integers")
    n, m = len(offsets) - 1, len(targets)
    if n < 0 or offsets[0] != 0 or offsets[-1] != m:
        raise InputError(f"{name}: offsets must start with 0 and end with {m}, the number of targets")
    if (falls := offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{name}: offsets fall after vertex {int(falls.argmax())}: they must never decrease")
    if m and (targets.min() < 0 or targets.max() >= n):
        row = int(((targets < 0) | (targets >= n)).argmax())
        raise InputError(f"{name}: target {targets[row]} of edge {row} is none of the vertices 0..{n - 1}")
    if on_device(targets):
        targets = _kept(targets, index_dtype(n))
        offsets = _kept(offsets, targets.dtype if targets.dtype == np.int64 else index_dtype(m))
    else:
        offsets = np.ascontiguousarray(offsets, index_dtype(m))
        targets = np.ascontiguousarray(targets, index_dtype(n))
    graph = Graph(offsets, targets, directed=True, name=name)
    if directed is None:
        return Graph(offsets, targets, directed=not csr_for(targets).is_symmetric(offsets, targets), name=name)
    return graph if directed else graph.undirected


def from_matrix(matrix: Any, *, directed: bool | None, name: str) -> Graph:
    """A graph from a square sparse matrix of SciPy or CuPy: an edge from row to column for each stored entry."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name}: an adjacency matrix must be square, not {' x '.join(map(str, matrix.shape))}")
    if matrix.format == "csr":
        return from_csr(matrix.indptr, matrix.indices, directed=directed, name=name)
    if matrix.format == "csc":
        columns = from_csr(matrix.indptr, matrix.indices, directed=True, name=name)
        return from_csr(columns.reverse.offsets, columns.reverse.targets, directed=directed, name=name)
    from .edges import from_edges

    entries = matrix.tocoo()
    return from_edges(entries.row, entries.col, vertices=matrix.shape[0], directed=directed, name=name)


def _kept(array: Any, dtype: Any) -> Any:
    """A CuPy array itself if it is contiguous and of this dtype or int64, else a copy of this dtype."""
    import cupy

    return cupy.ascontiguousarray(array, array.dtype if array.dtype == np.int64 else dtype)


def to_csr(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and targets, the graph's own: not to be written to."""
    return graph.offsets, graph.targets
