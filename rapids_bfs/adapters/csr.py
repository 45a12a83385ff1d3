"""An adjacency given as offsets and targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arguments import checked_directed
from .._core.csr import is_symmetric
from .._core.csr.checks import check_rows
from .._core.cuda.arrays import device_of, on_device, to_device
from .._core.dtypes import frozen, index_dtype
from ..errors import InputError
from ..graph import Graph
from ._edge_data import Asked, given_columns
from ._edge_list import COLUMNS


def from_csr(
    offsets: Any, targets: Any, *, directed: bool | None = None, name: str = "csr", edge_data: Asked | None = None
) -> Graph:
    """A graph from ``offsets[n + 1]`` and ``targets[m]``, without a copy if they are of the graph's dtypes.

    If either is on a CUDA device, in an array of any library, so is the graph; int32 and int64 are taken as they are.

    ``directed``: True keeps the edges as they are, False adds the reversed ones unless they are there, None keeps
    them and calls the graph undirected if they are symmetric and carry nothing. ``edge_data`` is a dict of columns with
    an entry for each of ``targets``.
    """
    directed = checked_directed(directed)
    offsets, targets = arrays_of(offsets, targets, name)
    check_rows(offsets, targets, name)
    n, m = len(offsets) - 1, len(targets)
    if on_device(targets):
        targets = _kept(targets, index_dtype(n))
        offsets = _kept(offsets, targets.dtype if targets.dtype == np.int64 else index_dtype(m))
    else:
        offsets = np.require(offsets, index_dtype(m), ["C", "ALIGNED"])
        targets = np.require(targets, index_dtype(n), ["C", "ALIGNED"])
    data = given_columns(edge_data, m, COLUMNS, name, device_of(targets))
    if directed is None:
        directed = bool(data) or not is_symmetric(frozen(offsets), frozen(targets))
        return Graph._trusted(offsets, targets, directed=directed, name=name, edge_data=data)
    graph = Graph._trusted(offsets, targets, directed=True, name=name, edge_data=data)
    return graph if directed else graph.undirected


def arrays_of(offsets: Any, targets: Any, name: str) -> list[Any]:
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


def _kept(array: Any, dtype: Any) -> Any:
    """A CuPy array itself if it is contiguous and of this dtype or int64, else a copy of this dtype."""
    import cupy

    return cupy.ascontiguousarray(array, array.dtype if array.dtype == np.int64 else dtype)


def to_csr(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and targets, which are the graph's own arrays: do not write to them."""
    return graph.offsets, graph.targets
