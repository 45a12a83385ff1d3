"""nx-cugraph's graphs, of NetworkX's four classes, on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arguments import name_of
from .._core.cuda.arrays import CUDA
from ..errors import InputError
from ..graph import Graph
from .edges import labelled
from .networkx import class_of
from .pylibcugraph import arcs


def matches(obj: Any) -> bool:
    return type(obj).__module__.startswith("nx_cugraph.")


def from_nx_cugraph(nx_graph: Any, *, directed: bool | None = None, name: str | None = None) -> Graph:
    """A graph on the device from nx-cugraph's, its adjacency order kept; parallel edges stay parallel.

    Directed as the class says, or as ``directed`` says: False adds the reversed edges.
    """
    from .device_edges import from_device_edges

    name = name or name_of(nx_graph, "nx_cugraph")
    cuda_graph = nx_graph if hasattr(nx_graph, "src_indices") else nx_graph._cudagraph
    if cuda_graph is None:
        raise InputError(f"{name}: nx-cugraph cannot put this graph on the device; give it to NetworkX first")
    directed = cuda_graph.is_directed() if directed is None else directed
    graph = from_device_edges(
        cuda_graph.src_indices,
        cuda_graph.dst_indices,
        vertices=len(cuda_graph),
        directed=directed,
        keep_order=True,
        name=name,
        frame="cudf",
    )
    keys = cuda_graph.id_to_key
    return graph if keys is None else labelled(graph, keys)


def to_nx_cugraph(graph: Graph, *, labels: bool = True) -> Any:
    """nx-cugraph's `CudaGraph` or `CudaDiGraph`, `CudaMulti...` if there are parallel edges, with the same order.

    Nodes are ids, or with ``labels=False`` the vertices 0..n-1.
    """
    import nx_cugraph

    here = graph.to(CUDA)
    sources, targets = arcs(here)
    ids = graph.ids_of(np.arange(graph.num_vertices)).tolist() if labels and graph.labels is not None else None
    return getattr(nx_cugraph, f"Cuda{class_of(here)}").from_coo(
        here.num_vertices, sources, targets, id_to_key=ids, name=graph.name
    )
