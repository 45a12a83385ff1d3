"""cuGraph's `Graph` and `MultiGraph`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.cuda.arrays import CUDA
from ..errors import InputError
from ..graph import Graph
from .cudf import frame_of, ids_on_device
from .edges import labelled
from .pylibcugraph import arcs, read


def matches(obj: Any) -> bool:
    return type(obj).__module__ == "cugraph.structure.graph_classes"


def from_cugraph(cugraph_graph: Any, *, name: str = "cugraph") -> Graph:
    """A graph on the device from a `cugraph.Graph`, renumbered or not, with the edges that cuGraph searches: parallel
    ones once, unless it is a `MultiGraph`.

    Ids of one column become labels. Raises `InputError` if there are no edges yet, ids have several columns, or
    the graph is distributed over several GPUs.
    """
    graph, _ = internal(cugraph_graph, name)
    if not cugraph_graph.renumbered:
        return graph
    names = external_ids(cugraph_graph)
    if len(names.columns) > 1:
        raise InputError(f"{name}: its ids have {len(names.columns)} columns; join them into one first")
    ids = names.iloc[:, 0]
    if graph.labels is not None:
        ids = ids.take(graph.labels).reset_index(drop=True)
    return labelled(graph, ids.to_arrow().to_pylist())


def internal(cugraph_graph: Any, name: str = "cugraph") -> tuple[Graph, np.dtype]:
    """The graph with cuGraph's own integers as ids, and their type. These are the user's ids unless cuGraph has
    renumbered the vertices."""
    if cugraph_graph.is_multi_gpu():
        raise InputError(
            f"{name}: the graph is distributed over several GPUs: give a graph on one, or use cugraph.dask"
        )
    sg_graph = getattr(cugraph_graph._Impl, "_plc_graph", None)
    if sg_graph is None:
        raise InputError(f"{name}: the graph has no edges yet: call from_cudf_edgelist first")
    return read(sg_graph, cugraph_graph.is_directed(), name)


def external_ids(cugraph_graph: Any) -> Any:
    """The user's ids of a renumbered graph, in the order of cuGraph's: a `cudf.DataFrame` with the columns "0", ..."""
    numbers = cugraph_graph.renumber_map.implementation
    frame = numbers.df.sort_values("id", ignore_index=True)[numbers.col_names]
    return cugraph_graph.renumber_map.normalize_string_dtype(frame, numbers.col_names)


def to_cugraph(graph: Graph, *, labels: bool = True) -> Any:
    """A `cugraph.Graph`, built as its users do, from a cuDF edge list with the columns ``source`` and ``destination``.

    Vertices are ids, or with ``labels=False`` 0..n-1.
    """
    import cudf
    import cugraph
    import cupy

    from ._tables import isolated  # late: it imports Arrow

    here = graph.to(CUDA)
    every = cupy.arange(here.num_vertices, dtype=here.targets.dtype)
    columns = (*arcs(here), every)
    sources, targets, vertices = (ids_on_device(here, each) for each in columns) if labels else columns
    if isinstance(sources, cudf.Series):  # cuGraph's own renumbering would drop vertices without edges
        if len(alone := isolated(here)):
            first = here.ids_of(alone[:1])[0]
            raise InputError(
                f"cuGraph would lose vertices without edges whose ids are not integers: the first is {first!s}"
            )
        vertices = None
    else:
        vertices = cudf.Series(vertices)
    result = cugraph.Graph(directed=graph.directed)
    result.from_cudf_edgelist(
        frame_of({"source": sources, "destination": targets}),
        source="source",
        destination="destination",
        symmetrize=False,  # the edges are symmetric already
        vertices=vertices,
    )
    return result
