"""Matrix Market files: an edge from row to column for each stored entry, vertices numbered from 0."""

from __future__ import annotations

from inspect import signature
from types import SimpleNamespace
from typing import IO

from ..graph import Graph
from ..memory import require_bytes
from .files import File
from .scipy import from_scipy, to_scipy


def read_matrix_market(file: File, *, directed: bool | None = None) -> Graph:
    """The graph in ``file``; a header that says symmetric, skew-symmetric or Hermitian makes it undirected.

    In coordinate format an entry is an edge whatever its value; in array format, which stores all, unless it is 0.
    """
    import scipy.sparse
    from scipy.io import mminfo, mmread

    with file.open() as stream:
        _, _, entries, *_ = mminfo(_only_read(stream))
    require_bytes(16 * entries, f"a matrix of {entries:,} entries")
    sparse_arrays = {"spmatrix": False} if "spmatrix" in signature(mmread).parameters else {}
    with file.open() as stream:
        matrix = scipy.sparse.coo_array(mmread(_only_read(stream), **sparse_arrays))
    return from_scipy(matrix, directed=directed, name=str(file))


def _only_read(stream: IO[bytes]) -> SimpleNamespace:
    """``stream`` without ``seek``: at the end of a short file SciPy seeks in vain and ends the process."""
    return SimpleNamespace(read=stream.read)


def write_matrix_market(graph: Graph, stream: IO[bytes]) -> None:
    from scipy.io import mmwrite

    mmwrite(stream, to_scipy(graph), field="pattern", symmetry="general" if graph.directed else "symmetric")
