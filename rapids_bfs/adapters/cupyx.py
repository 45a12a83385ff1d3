"""CuPy's arrays, and its sparse matrices."""

from __future__ import annotations

from typing import Any

from .._core.cuda.arrays import CUDA
from ..errors import InputError
from ..graph import Graph
from .csr import from_matrix


def matches(obj: Any) -> bool:
    return type(obj).__module__.startswith("cupyx.scipy.sparse")


def from_cupyx(matrix: Any, *, directed: bool | None = None, name: str = "matrix") -> Graph:
    """A graph on the device from a square sparse matrix: an edge from row to column for each stored entry.

    CSR is taken without a copy of its indices. ``directed`` as in `rapids_bfs.adapters.csr.from_csr`.
    """
    return from_matrix(matrix, directed=directed, name=name)


def to_cupyx(graph: Graph) -> Any:
    """A `cupyx.scipy.sparse.csr_matrix` with a 1 for each edge, which shares the graph's arrays."""
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    here = graph.to(CUDA)
    ones = cupy.ones(here.num_arcs, cupy.float32)
    return csr_matrix((ones, here.targets, here.offsets), shape=(here.num_vertices, here.num_vertices), copy=False)


def to_cupy(graph: Graph) -> tuple[Any, Any]:
    """Source and target ids of every edge as CuPy arrays, an undirected edge once.

    Raises `InputError` if ids are not integers.
    """
    if graph.has_objects:
        raise InputError("CuPy's arrays hold numbers, not ids like these: use cudf, or rename the vertices")
    here = graph.to(CUDA)
    sources, targets = here.vertex_pairs()
    return here.ids_of(sources), here.ids_of(targets)
