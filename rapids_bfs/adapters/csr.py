"""An adjacency given as offsets and targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import csr
from ..errors import InputError
from ..graph import Graph, index_dtype


def from_csr(offsets: Any, targets: Any, *, directed: bool | None = None, name: str = "csr") -> Graph:
    """A graph from ``offsets[n + 1]`` and ``targets[m]``, without a copy if they are of the graph's dtypes.

    ``directed``: True keeps the edges as they are, False adds the reversed ones unless they are there, None keeps
    them and calls the graph undirected if they are symmetric.
    """
    offsets, targets = np.asarray(offsets), np.asarray(targets)
    for array, what in ((offsets, "offsets"), (targets, "targets")):
        if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
            raise InputError(f"{name}: {what} must be a one-dimensional array of integers")
    n, m = len(offsets) - 1, len(targets)
    if n < 0 or offsets[0] != 0 or offsets[-1] != m:
        raise InputError(f"{name}: offsets must start with 0 and end with {m}, the number of targets")
    if (falls := offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{name}: offsets fall after vertex {int(np.argmax(falls))}: they must never decrease")
    if m and (targets.min() < 0 or targets.max() >= n):
        row = int(np.argmax((targets < 0) | (targets >= n)))
        raise InputError(f"{name}: target {targets[row]} of edge {row} is none of the vertices 0..{n - 1}")
    offsets = np.ascontiguousarray(offsets, index_dtype(m))
    targets = np.ascontiguousarray(targets, index_dtype(n))
    graph = Graph(offsets, targets, directed=True, name=name)
    if directed is None:
        return Graph(offsets, targets, directed=not csr.is_symmetric(offsets, targets), name=name)
    return graph if directed else graph.undirected


def to_csr(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and targets, read-only."""
    return graph.offsets, graph.targets
