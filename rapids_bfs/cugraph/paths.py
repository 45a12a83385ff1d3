"""`shortest_path`, `shortest_path_length` and `filter_unreachable` of `rapids_bfs.cugraph`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..adapters import cudf as cudf_adapter
from ..algorithms.bfs import bfs
from ..errors import InputError
from ..result import BFSResult
from .prepared import Prepared, as_library_of, is_graph, is_matrix, refuse_with_graph
from .searcher import searcher_of

FAR = float(np.finfo(np.float64).max)  # the distance of a vertex that is not reached, as in `cugraph.sssp`
WEIGHTS = "has weights, and a breadth-first search counts edges: use cugraph.sssp, or make the graph without weights"
SOURCE = "source"


def shortest_path(
    G: Any,
    source: Any = None,
    method: str | None = None,
    directed: bool | None = None,
    return_predecessors: bool | None = None,
    unweighted: bool | None = None,
    overwrite: bool | None = None,
    indices: Any = None,
) -> Any:
    """Distances and predecessors on shortest paths from a source, of graphs without weights.

    `cugraph.shortest_path`, deprecated since 25.10, takes graphs with weights alone; this takes those without.

    Parameters
    ----------
    G : cugraph.Graph, CuPy or SciPy sparse matrix
        The stored values of a matrix must be 1.
    source, indices : vertex id
        Give one of them.
    method : {"auto"}, optional
    directed, return_predecessors, unweighted, overwrite : bool, optional
        For matrices alone. ``directed``: False adds the reversed edges; default: True.

    Returns
    -------
    cudf.DataFrame
        With the columns ``distance`` (float64, its largest number for unreached vertices), ``vertex`` and
        ``predecessor``. If cuGraph has renumbered the graph, the columns are ordered as those of
        `rapids_bfs.cugraph.bfs`.
    pair of arrays, if ``G`` is a matrix
        Distances and predecessors, or distances alone with ``return_predecessors=False``, as CuPy or NumPy arrays like
        the matrix.

    Raises
    ------
    TypeError, ValueError
        As `cugraph.shortest_path` does; also a ValueError if the graph has weights.
    """
    warnings.warn("deprecated as of 25.10: use `bfs()` instead", DeprecationWarning, stacklevel=2)
    source = _checked(G, source, method, directed, return_predecessors, unweighted, overwrite, indices)
    prepared = _unweighted(G, directed)
    found = _search(prepared, source)
    if not is_matrix(G):
        return _frame(prepared, found)
    distances = as_library_of(G, _as_floats(prepared, found))
    if return_predecessors is False:
        return distances
    predecessors: Any = found.predecessors
    return distances, as_library_of(G, predecessors.astype(prepared.dtype))


def shortest_path_length(G: Any, source: Any, target: Any = None) -> Any:
    """The length of a shortest path from a source to a target, or to every vertex, of graphs without weights.

    `cugraph.shortest_path_length` takes graphs with weights alone.

    Parameters
    ----------
    G : cugraph.Graph, CuPy or SciPy sparse matrix
        The stored values of a matrix must be 1.
    source, target : vertex id
        Without a target, the lengths to all vertices.

    Returns
    -------
    float
        The number of edges to ``target``; the largest float64 if no path leads there.
    cudf.DataFrame, without a target
        With the columns ``vertex`` and ``distance`` (float64).

    Raises
    ------
    TypeError
        If ``G`` has another type.
    ValueError
        If the source or the target is not a vertex, or the graph has weights.

    Notes
    -----
    The target may be vertex 0, for which cuGraph returns a frame. Every vertex of a matrix is one, also without edges.
    """
    prepared = _unweighted(G, None)
    end = None if target is None else _vertex(prepared, target, "target")
    found = _search(prepared, source)
    if end is not None:
        length = int(found.distances[end])
        return FAR if length < 0 else float(length)
    vertex = {"vertex": prepared.vertices.astype(np.int64)} if is_matrix(G) else prepared.ids("vertex")
    return cudf_adapter.frame_of({**vertex, "distance": _as_floats(prepared, found)})


def filter_unreachable(df: Any) -> Any:
    """The rows of a frame of `bfs` or `shortest_path` whose vertices are reached.

    Raises `KeyError` if there is no column ``distance``, and `TypeError` if it does not hold numbers.
    """
    if "distance" not in df:
        raise KeyError("No distance column found in input data frame")
    dtype = df["distance"].dtype
    kind = getattr(dtype, "kind", None)
    if kind not in ("i", "u", "f"):
        raise TypeError("distance type unsupported")
    largest = np.iinfo(dtype).max if kind in "iu" else np.finfo(dtype).max
    return df[df["distance"] != largest]


def _checked(
    G: Any,
    source: Any,
    method: Any,
    directed: Any,
    return_predecessors: Any,
    unweighted: Any,
    overwrite: Any,
    indices: Any,
) -> Any:
    """The source. Raises what `cugraph.shortest_path` raises for arguments that do not go together."""
    if method is not None and not (isinstance(method, str) and method == "auto"):
        raise ValueError("only 'auto' is currently accepted for method")
    if isinstance(indices, list):
        raise ValueError("indices currently cannot be a list-like type")
    if indices is not None and source is not None:
        raise TypeError("cannot specify both 'source' and 'indices'")
    if indices is None and source is None:
        raise TypeError("must specify 'source' or 'indices', but not both")
    options = {
        "directed": directed,
        "return_predecessors": return_predecessors,
        "unweighted": unweighted,
        "overwrite": overwrite,
    }
    refuse_with_graph(G, **options)
    for name, value in options.items():
        if value is not None and type(value) is not bool:
            raise ValueError(f"'{name}' must be a bool")
    if unweighted is False:
        raise ValueError("'unweighted' currently must be True if specified")
    if overwrite is True:
        raise ValueError("'overwrite' currently must be False if specified")
    return indices if source is None else source


def _unweighted(G: Any, directed: bool | None) -> Prepared:
    """The prepared graph. Raises `InputError` if it has weights."""
    if is_graph(G) and G.is_weighted():
        raise InputError(f"the graph {WEIGHTS}")
    if is_matrix(G) and not (G.data == 1).all():
        raise InputError(f"the matrix {WEIGHTS}, with 1 for each edge")
    return searcher_of(G, directed)


def _vertex(prepared: Prepared, id: Any, what: str) -> int:
    """The vertex with this id. Raises `InputError` in cuGraph's words if there is none, or several are given."""
    try:
        vertices = prepared.vertices_at(id)
    except InputError as error:
        raise InputError(f"Graph does not contain {what} vertex: {error}") from None
    if len(vertices) != 1:
        raise InputError(f"a shortest path has one {what}, not {len(vertices)}")
    return int(vertices[0])


def _search(prepared: Prepared, source: Any) -> BFSResult:
    graph = prepared.graph
    start = graph.ids_of(np.array([_vertex(prepared, source, SOURCE)]))
    return bfs(graph, start)


def _as_floats(prepared: Prepared, found: BFSResult) -> Any:
    """The distances (float64), the largest number where a vertex is not reached."""
    return prepared.xp.where(found.distances < 0, FAR, found.distances.astype(np.float64))


def _frame(prepared: Prepared, found: BFSResult) -> Any:
    distance = {"distance": _as_floats(prepared, found)}
    vertex = prepared.ids("vertex")
    predecessor = prepared.predecessors("predecessor", found.predecessors)
    return cudf_adapter.frame_of(
        {**distance, **vertex, **predecessor} if prepared.names is None else {**predecessor, **vertex, **distance}
    )
