"""`bfs` and `bfs_edges` of `rapids_bfs.cugraph`."""

from __future__ import annotations

from typing import Any

from .._core.arguments import flag
from .prepared import as_library_of, is_matrix, refuse_with_graph
from .searcher import searcher_of


def bfs(
    G: Any,
    start: Any = None,
    depth_limit: int | None = None,
    i_start: Any = None,
    directed: bool | None = None,
    return_predecessors: bool = True,
) -> Any:
    """Distances and predecessors of a breadth-first search, as `cugraph.bfs` of RAPIDS 26.10 returns them.

    Parameters
    ----------
    G : cugraph.Graph, cudf.DataFrame, CuPy or SciPy sparse matrix
        A DataFrame is an edge list, which `cugraph.bfs` does not take: a pair of columns with common names, or the only
        two.
    start : vertex id, or list, array, Series or DataFrame of ids
        Use a DataFrame for ids of several columns.
    depth_limit : int, optional
        The largest distance to search. None and negative numbers mean no limit.
    i_start
        The same as ``start``.
    directed : bool, optional
        For a matrix or an edge list: False adds the reversed edges. Default: True.
    return_predecessors : bool
        Otherwise all predecessors are -1.

    Returns
    -------
    cudf.DataFrame
        With the columns ``vertex``, ``distance`` and ``predecessor``. For unreached vertices the distance is the
        largest integer of its type and the predecessor is -1, or "-1" if ids are strings. As in cuGraph, all are int32
        if ids are, else int64. If cuGraph has renumbered the graph because ids are not integers of one column, the
        columns are ``predecessor``, ``vertex`` and ``distance``, or ``0_predecessor``, ``1_predecessor``, ...,
        ``0_vertex``, ..., and integers among predecessors are float64.
    pair of arrays, if ``G`` is a matrix
        Distances and predecessors, as CuPy or NumPy arrays like the matrix.

    Raises
    ------
    TypeError
        If both or neither of ``start`` and ``i_start`` are given, ``directed`` is given with a Graph, or ``G`` has
        another type.
    ValueError
        If a start is not a vertex, or there is none; if ``depth_limit`` is not a whole number, or ``directed`` or
        ``return_predecessors`` not a bool.

    Notes
    -----
    Differences from `cugraph.bfs`:

    - Rows are in the order of integer ids; cuGraph promises no order.
    - Several starts may be in one component: distances are to the nearest.
    - ``depth_limit=0`` reaches the starts alone; in cuGraph it means no limit.
    - The error for a start that is not a vertex names it, for ids of any type.
    - Predecessors with ids beyond 2**53, which float64 does not hold exactly, keep the type of the ids; cuGraph rounds
      them.
    - Every vertex of a matrix has an element, even without edges.
    - Without predecessors the column holds -1, as cuGraph's documentation says.
    - A MultiGraph and a Graph made by ``from_cudf_adjlist`` work too.
    """
    if start is not None and i_start is not None:
        raise TypeError("cannot specify both 'start' and 'i_start'")
    if start is None and i_start is None:
        raise TypeError("must specify 'start' or 'i_start', but not both")
    start = i_start if start is None else start
    refuse_with_graph(G, directed=directed)
    return_predecessors = flag(return_predecessors, "return_predecessors")
    searcher = searcher_of(G, directed)
    if not is_matrix(G):
        return searcher.frame(start, depth_limit, return_predecessors)
    with searcher.traversal.lock, searcher.search(start, depth_limit, return_predecessors) as found:
        pass
    return tuple(as_library_of(G, array) for array in found)


def bfs_edges(
    G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Any:
    """`bfs` under NetworkX's name, as in cuGraph: ``sort_neighbors`` is ignored.

    Raises NotImplementedError for ``reverse=True``, as cuGraph does.
    """
    if flag(reverse, "reverse"):
        raise NotImplementedError("reverse processing of graph is currently not supported")
    return bfs(G, source, depth_limit)
