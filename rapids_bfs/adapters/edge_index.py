"""PyTorch Geometric's `Data`, and tensors of its kind: an ``edge_index`` of shape (2, m)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arguments import index_of, is_of, quoted
from .._core.cuda.arrays import on_device, to_device
from ..errors import InputError
from ..graph import Graph
from .edges import from_edges

CONTAINERS = (("data", "Data"), ("hetero_data", "HeteroData"), ("temporal", "TemporalData"))  # modules and classes


def matches(obj: Any) -> bool:
    return _is_geometric(obj) or _is_tensor(obj)


def _is_geometric(obj: Any) -> bool:
    """Is it one of PyTorch Geometric's containers of a graph?"""
    return any(is_of(obj, f"torch_geometric.data.{module}", container) for module, container in CONTAINERS)


def _is_tensor(obj: Any) -> bool:
    """Is it a tensor that speaks DLPack and has a shape, but neither NumPy's nor CuPy's?"""
    library = type(obj).__module__.partition(".")[0]
    return hasattr(type(obj), "__dlpack__") and hasattr(obj, "shape") and library not in ("numpy", "cupy")


def from_edge_index(
    data: Any, *, vertices: int | None = None, directed: bool | None = None, name: str = "edge_index"
) -> Graph:
    """A graph from an ``edge_index``, a tensor of integers of shape (2, m) with the sources in its first row, or from a
    `torch_geometric.data.Data`, whose vertices are 0..num_nodes-1.

    Tensors are read by DLPack, without importing PyTorch; the graph is on the device of the tensor. ``vertices`` and
    ``directed`` as in `rapids_bfs.adapters.edges.from_edges`. Raises `InputError` for a tensor of another shape or
    type, and for data of several kinds of edges.
    """
    if _is_geometric(data):
        edges = _edge_index_of(data, name)
        vertices = index_of(data.num_nodes) if vertices is None else vertices
    else:
        edges = data
    shape = tuple(edges.shape)
    if len(shape) != 2 or shape[0] != 2:
        transposed = ": transpose it by .T" if len(shape) == 2 and shape[1] == 2 else ""
        raise InputError(f"{name}: an edge_index has shape (2, m), not {shape}{transposed}")
    there = on_device(edges)
    try:
        sources, targets = to_device(edges) if there else np.from_dlpack(edges)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{name}: DLPack cannot read this {type(edges).__name__} ({error})") from None
    return from_edges(sources, targets, vertices=vertices, directed=directed, name=name)


def _edge_index_of(data: Any, name: str) -> Any:
    """The ``edge_index`` of a `Data`. Raises `InputError` if there is none, or one for each kind of edge."""
    if kinds := getattr(data, "edge_types", None):
        raise InputError(
            f"{name}: this {type(data).__name__} has edges of {len(kinds)} kinds, the first {quoted(kinds[0])}: give "
            "the edge_index of a kind whose edges join vertices of one kind, or data.to_homogeneous()"
        )
    edges = getattr(data, "edge_index", None)
    if edges is None:
        raise InputError(f"{name}: this {type(data).__name__} has no edge_index")
    return edges
