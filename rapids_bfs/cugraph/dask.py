"""`cugraph.dask.bfs` with our kernels, over the GPUs of a Dask cluster: the same arguments, results and errors.

    from rapids_bfs.cugraph.dask import bfs      # instead of: from cugraph.dask import bfs

The first call makes a distributed graph of the `cugraph.Graph`, which stays with it (by a weak reference), on the same
workers.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..algorithms.bfs import bfs as search
from ..distributed.build import Partition
from ..distributed.communicators import Communicator
from ..distributed.level_synchronous import Answer
from ..distributed.result import frame_of_partition
from ..errors import InputError
from ..loading import as_graph
from .prepared import integer_ids, is_graph, limit_of

INTEGERS = (np.dtype(np.int32), np.dtype(np.int64))  # the types of cuGraph's vertices


class Conversion(NamedTuple):
    """A distributed graph, the type of cuGraph's vertices, and the graphs of pylibcugraph that were converted: when
    these are replaced, it is out of date."""

    graph: Any
    dtype: np.dtype
    made_of: Any


_conversions: WeakKeyDictionary[Any, Conversion] = WeakKeyDictionary()


def bfs(
    input_graph: Any,
    start: Any,
    depth_limit: int | None = None,
    return_distances: bool = True,
    check_start: bool = True,
) -> Any:
    """Distances and predecessors of a breadth-first search, as `cugraph.dask.bfs` of RAPIDS 26.10 returns them.

    Parameters
    ----------
    input_graph : cugraph.Graph
        Made by ``from_dask_cudf_edgelist``, with integers as ids.
    start : int, or list, array, or Series or DataFrame of cuDF or dask_cudf
        The ids to start from.
    depth_limit : int, optional
        The largest distance to search. None and negative numbers mean no limit.
    return_distances : bool
        Otherwise there is no column ``distance``.
    check_start : bool
        Ignored: starts are always checked.

    Returns
    -------
    dask_cudf.DataFrame
        With the columns ``vertex``, ``distance`` and ``predecessor``, of the type of the ids, and a partition on each
        worker. For unreached vertices the distance is the largest integer of its type and the predecessor is -1.

    Raises
    ------
    TypeError
        If ``input_graph`` is no `cugraph.Graph`.
    ValueError
        If it is on one GPU, its ids are not integers of one column, there is no cluster, or a start is not a vertex.

    Notes
    -----
    Differences from `cugraph.dask.bfs`:

    - Several starts may be in one component: distances are to the nearest.
    - ``depth_limit=0`` reaches the starts alone; in cuGraph it means no limit.
    - The error for a start that is not a vertex names it. Ids of starts may be of any type of integers.
    - Without distances there is still a predecessor.
    """
    conversion = _of_graph(input_graph)
    limit = limit_of(depth_limit)
    ids = integer_ids(start.compute() if hasattr(start, "compute") else start)
    result: Any = search(conversion.graph, ids.tolist(), depth_limit=limit)
    make = partial(_frame, dtype=conversion.dtype, distances=return_distances)
    graph = result.graph
    return graph.launcher.dask_frame(make, [graph.partitions, result.answers])


def _of_graph(cugraph_graph: Any) -> Conversion:
    """The conversion of this graph, which is renewed if the graph was cleared and rebuilt since."""
    if not is_graph(cugraph_graph):
        raise TypeError(f"obj of type {type(cugraph_graph)} is not supported.")
    made_of = getattr(cugraph_graph._Impl, "_plc_graph", None)
    conversion = _conversions.get(cugraph_graph)
    if conversion is None or conversion.made_of is not made_of:
        conversion = _conversions[cugraph_graph] = _converted(cugraph_graph, made_of)
    return conversion


def _converted(cugraph_graph: Any, made_of: Any) -> Conversion:
    if made_of is None:
        raise InputError("the graph has no edges yet: call from_dask_cudf_edgelist first")
    if not cugraph_graph.is_multi_gpu():
        raise InputError("the graph is on one GPU: use rapids_bfs.cugraph.bfs")
    if cugraph_graph.renumbered:
        raise InputError("over several GPUs ids are integers of one column: number them, or use cugraph.dask.bfs")
    edges = cugraph_graph.decompress_to_edgelist(return_unrenumbered_edgelist=True)
    source, target = edges.columns[:2]  # weights follow
    dtype = np.dtype(edges.dtypes[source])
    if dtype not in INTEGERS:
        raise InputError(f"over several GPUs ids are int32 or int64, not {dtype}")
    directed = cugraph_graph.is_directed()
    graph = as_graph(edges, source=str(source), target=str(target), directed=directed, name="cugraph")
    return Conversion(graph, dtype, made_of)


def _frame(
    partition: Partition, answer: Answer, communicator: Communicator, *, dtype: np.dtype, distances: bool
) -> Any:
    """The rows of this rank's vertices, as cuGraph makes them."""
    frame = frame_of_partition(partition, answer, communicator).astype(dtype)
    if not distances:
        return frame[["vertex", "predecessor"]]
    frame["distance"] = frame["distance"].where(frame["distance"] >= 0, np.iinfo(dtype).max)
    return frame[["vertex", "distance", "predecessor"]]
