"""Edge lists in the memory of a CUDA device: they become a graph without leaving it."""

from __future__ import annotations

from functools import partial
from typing import Any

import cupy
import numpy as np

from .._core.arguments import checked_directed
from .._core.csr import arcs
from .._core.csr import device as device_csr
from .._core.cuda.arrays import CUDA, to_device
from .._core.dtypes import index_dtype
from .._core.memory import require_device_bytes
from ..errors import InputError
from ..graph import Graph
from ._edge_data import Asked, given_columns
from ._edge_list import EdgeList, are_scattered, is_directed, refuse_past, require_columns, vertex_ids


def from_device_edges(
    source: Any,
    target: Any,
    *,
    vertices: int | None = None,
    directed: bool | None = None,
    keep_order: bool = False,
    columns: tuple[str, str] = ("source", "target"),
    name: str = "edges",
    frame: str = "pandas",
    edge_data: Asked | None = None,
) -> Graph:
    """A graph on the device from two arrays of equally many numeric ids, one edge per row.

    The arrays may be of any library with ``__cuda_array_interface__`` or DLPack; int32 and int64 are not converted.
    Ids, ``vertices``, ``directed`` and ``edge_data`` as in `rapids_bfs.adapters.edges.from_edges`; labels are on the
    device. With ``keep_order``, or edge data, each adjacency has the order of the rows; without it, which is faster,
    each ascends.
    """
    if vertices is not None and vertices < 0:
        raise InputError(f"the number of vertices must be at least 0, not {vertices}")
    directed = checked_directed(directed)
    arrays = [to_device(ids) for ids in (source, target)]
    require_columns(arrays[0], arrays[1], name)
    sources, targets = _integers(arrays, columns, name)
    rows = len(sources)
    data = given_columns(edge_data, rows, columns, name, CUDA)
    keep_order = keep_order or bool(data)
    statistics = device_csr.scan([(sources, targets)])
    if statistics.lowest < 0:
        _integers((sources, targets), columns, name, refuse_negative=True)
    if vertices is not None and statistics.highest >= vertices:
        refuse_past(EdgeList(rows, lambda: [], columns, name), 0, sources, targets, vertices)
    mirror = directed is False and not statistics.symmetric

    labels = rank = None
    n = statistics.highest + 1 if vertices is None else vertices
    if vertices is None and are_scattered(statistics.highest, rows):
        labels = cupy.unique(cupy.concatenate([cupy.unique(sources), cupy.unique(targets)]))
        n = len(labels)
        sources, targets = (cupy.searchsorted(labels, ids).astype(index_dtype(n)) for ids in (sources, targets))
    require_device_bytes(3 * 8 * n, f"a graph of {n:,} vertices")
    edges = [(sources, targets)]
    counts = device_csr.count(edges, n, rows, mirror=mirror)
    if vertices is None and labels is None:
        present = counts[2:] > 0
        if not (mirror or statistics.symmetric):  # a vertex may be a target alone
            device_csr.mark(targets, present)
        if not present.all():
            labels = cupy.flatnonzero(present)
            vertex = index_dtype(len(labels))
            places = cupy.cumsum(present.astype(vertex), dtype=vertex) - 1
            rank = cupy.where(present, places, -1).astype(vertex, copy=False)
    if data:
        data = data.taken(partial(arcs.of_edges, sources, targets, n, mirror)).now()
    if keep_order:
        offsets, placed = device_csr.place_in_order(sources, targets, counts, mirror=mirror, rank=rank)
    else:
        offsets, placed = device_csr.place(edges, counts, mirror=mirror, rank=rank)
    if rank is not None:
        offsets = cupy.concatenate([offsets[labels], offsets[-1:]])
    if not keep_order:
        device_csr.ascending(offsets, placed, result=placed)  # or each build would give another order
    return Graph._trusted(
        offsets,
        placed,
        labels=None if labels is None else labels.astype(np.int64, copy=False),  # as each look-up would convert
        directed=is_directed(directed, statistics.symmetric, data),
        name=name,
        columns=columns,
        frame=frame,
        edge_data=data,
    )


def _integers(arrays: Any, columns: tuple[str, str], name: str, *, refuse_negative: bool = False) -> tuple[Any, Any]:
    """Contiguous arrays of one type, int32 or int64. Raises `InputError` at the first value that is no id.

    Negative values are searched for among floats, or if asked: the kernel that scans all ids finds them.
    """
    integers = []
    for ids, column in zip(arrays, columns, strict=True):
        if refuse_negative or ids.dtype not in (np.int32, np.int64):
            ids = vertex_ids(ids, f"{name}, column {column!r}")
        integers.append(ids if ids.dtype in (np.int32, np.int64) else ids.astype(np.int64))
    dtype = np.int32 if all(ids.dtype == np.int32 for ids in integers) else np.int64
    sources, targets = (cupy.ascontiguousarray(ids, dtype) for ids in integers)
    return sources, targets
