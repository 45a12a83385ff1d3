"""`multi_source_bfs` and `concurrent_bfs` of `rapids_bfs.cugraph`, which cuGraph declares and does not have yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arguments import flag, quoted
from .._core.csr import csr_for
from .._core.formatting import counted
from ..adapters import cudf as cudf_adapter
from ..algorithms.batch import bfs_batch
from ..algorithms.trees import predecessors_of
from ..errors import InputError
from .prepared import Prepared, limit_of
from .searcher import searcher_of


def multi_source_bfs(
    G: Any, sources: Any, components: Any = None, depth_limit: int | None = None, offload: bool = False
) -> Any:
    """Distances and predecessors of a search from each of many sources, in one frame.

    cuGraph has the arguments and the documentation of this function; it raises `NotImplementedError`.

    Parameters
    ----------
    G : cugraph.Graph, cudf.DataFrame, CuPy or SciPy sparse matrix
        As in `rapids_bfs.cugraph.bfs`.
    sources : cudf.Series, list or array of distinct vertex ids
        Or a DataFrame for ids of several columns.
    components
        Must be None.
    depth_limit : int, optional
        The largest distance to search. None and negative numbers mean no limit.
    offload : bool
        Must be False: the frame stays on the device.

    Returns
    -------
    cudf.DataFrame
        With the column ``vertex``, and for each source ``distance_<source>`` and ``predecessor_<source>``, whose values
        and types are those of `rapids_bfs.cugraph.bfs`. The name of a source of several columns joins them by "_".

    Raises
    ------
    TypeError
        If ``G`` has another type.
    ValueError
        If there is no source, one is not a vertex or is given twice, ``depth_limit`` is not a whole number, or the
        frame does not fit in the memory.
    NotImplementedError
        If ``components`` or ``offload`` is given.
    """
    if components is not None:
        raise NotImplementedError("components= is not supported: multi_source_bfs searches all components")
    if flag(offload, "offload"):
        raise NotImplementedError("offload=True is not supported: take fewer sources at a time, and write each frame")
    prepared = searcher_of(G)
    vertices = prepared.vertices_at(sources)
    named = ["_".join(map(str, id)) if isinstance(id, tuple) else str(id) for id in prepared.ids_at(vertices)]
    _refuse_repeated(named)
    _require_memory(prepared, len(vertices))
    limit = limit_of(depth_limit)
    graph = prepared.graph
    distances = bfs_batch(graph, graph.ids_of(vertices), depth_limit=limit).distances
    predecessors = predecessors_of(graph, distances)
    assert distances is not None
    columns = prepared.ids("vertex")
    for row, name in enumerate(named):
        columns[f"distance_{name}"] = prepared.distances(distances[row])
        columns |= prepared.predecessors(f"predecessor_{name}", predecessors[row])
    return cudf_adapter.frame_of(columns)


def concurrent_bfs(Graphs: Any, sources: Any, depth_limit: int | None = None, offload: bool = False) -> list[Any]:
    """`multi_source_bfs` of several graphs: a list with the frame of each.

    Parameters
    ----------
    Graphs : list of cugraph.Graph
        Or of anything that `multi_source_bfs` takes.
    sources : list of cudf.Series
        The sources in each of the graphs.
    depth_limit, offload
        As in `multi_source_bfs`.

    Raises
    ------
    TypeError
        If ``Graphs`` or ``sources`` is not a list.
    ValueError
        If the lists differ in length, and as `multi_source_bfs` does.
    """
    if not isinstance(Graphs, list):
        raise TypeError("Graphs should be a list of cugraph.Graph")
    if not isinstance(sources, list):
        raise TypeError("sources should be a list of cudf.Series")
    if len(Graphs) != len(sources):
        raise InputError("The size of the sources list must match the size of the graph list.")
    return [
        multi_source_bfs(graph, starts, depth_limit=depth_limit, offload=offload)
        for graph, starts in zip(Graphs, sources, strict=True)
    ]


def _refuse_repeated(names: list[str]) -> None:
    """Raise `InputError` if two sources would share their columns."""
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"the source {quoted(twice)} is given twice: each has its own columns")


def _require_memory(prepared: Prepared, sources: int) -> None:
    """Raise `InputError` if the distances and predecessors of this many sources, twice, are more than is free."""
    bytes_per_vertex = np.dtype(np.int32).itemsize + prepared.graph.targets.dtype.itemsize + 2 * prepared.dtype.itemsize
    what = f"a frame of {prepared.graph.num_vertices:,} vertices and {counted(sources, 'source')}"
    csr_for(prepared.graph.targets).require(prepared.graph.num_vertices * sources * bytes_per_vertex, what)
