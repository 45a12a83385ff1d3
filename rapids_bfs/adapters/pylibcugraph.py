"""pylibcugraph's `SGGraph`, the graph inside of a `cugraph.Graph`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.cuda.arrays import CUDA
from .._core.dtypes import index_dtype
from ..errors import InputError
from ..graph import Graph


def matches(obj: Any) -> bool:
    return type(obj).__module__ == "pylibcugraph.graphs"


def from_pylibcugraph(sg_graph: Any, *, directed: bool | None = None, name: str = "pylibcugraph") -> Graph:
    """A graph on the device from an `SGGraph`; vertex ids other than 0..n-1 become labels.

    It does not say whether it is symmetric; ``directed`` as in `rapids_bfs.adapters.edges.from_edges`.
    """
    return read(sg_graph, directed, name)[0]


def read(sg_graph: Any, directed: bool | None, name: str) -> tuple[Graph, np.dtype]:
    """The graph of an `SGGraph`, and the type of its vertices: int32 or int64."""
    import cupy
    from pylibcugraph import ResourceHandle, decompress_to_edgelist, extract_vertex_list

    from .device_edges import from_device_edges

    if type(sg_graph).__name__ != "SGGraph":
        raise InputError(f"{name}: a {type(sg_graph).__name__} is distributed over several GPUs: give a graph on one")
    handle = ResourceHandle()
    ids = extract_vertex_list(handle, sg_graph, False)
    sources, targets, *_ = decompress_to_edgelist(handle, sg_graph, False)
    n = len(ids)
    labels = None
    if n and int(ids.max()) >= n:
        labels = cupy.sort(ids)
        sources, targets = (cupy.searchsorted(labels, each).astype(index_dtype(n)) for each in (sources, targets))
    graph = from_device_edges(sources, targets, vertices=n, directed=directed, name=name, frame="cudf")
    if labels is not None:
        graph = graph._with(labels=labels.astype(np.int64))
    return graph, ids.dtype


def to_pylibcugraph(graph: Graph) -> Any:
    """An `SGGraph` of the vertices 0..n-1, without labels, renumbered inside by degree as cuGraph does by default."""
    import cupy
    from pylibcugraph import GraphProperties, ResourceHandle, SGGraph

    here = graph.to(CUDA)
    sources, targets = arcs(here)
    return SGGraph(
        ResourceHandle(),
        GraphProperties(is_symmetric=not graph.directed, is_multigraph=True),
        sources,
        targets,
        store_transposed=False,
        renumber=True,
        do_expensive_check=False,
        vertices_array=cupy.arange(graph.num_vertices, dtype=targets.dtype),
    )


def arcs(graph: Graph) -> tuple[Any, Any]:
    """Sources and targets of the arcs of a graph on the device, of one type."""
    from .._core.csr import device as device_csr

    return device_csr.sources_of(graph.offsets, graph.targets), graph.targets
