"""`bfs`: one breadth-first search of any graph by any engine; `plot_levels` draws its levels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import elements, flag, whole_number
from .._core.cuda.arrays import CPU, on_device, to_host
from .._core.dtypes import INT32_LIMIT
from ..engines import DEFAULT, Options, search
from ..errors import InputError
from ..graph import Graph, Mask, kept_mask
from ..loading import as_graph
from ..result import BFSResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INT64 = np.dtype(np.int64)
MAX_DRAWN = 600  # vertices of a graph that `plot_levels` draws


def bfs(
    graph: Any,
    source: Hashable | Iterable[Hashable],
    *,
    depth_limit: int | None = None,
    target: Hashable | None = None,
    predecessors: bool = True,
    deterministic: bool = False,
    trace: bool = False,
    check: bool = False,
    engine: str = "auto",
    vertices: Mask | None = None,
    edges: Mask | None = None,
) -> BFSResult:
    """Breadth-first search from one source, or from several; distances are to the nearest.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
        A `Graph` keeps the engine's preparation, so searching it again costs the search alone. The result of a
        distributed graph is distributed too, see ``devices`` of `as_graph`.
    source : vertex id, or list, set or array of ids
        A tuple or a frozenset is one id if the graph has such a vertex.
    depth_limit : int, optional
        The largest distance to search; 0 reaches the sources alone.
    target : vertex id, optional
        Stop after the level that reaches it.
    predecessors : bool
        Return predecessors.
    deterministic : bool
        Return the tree of a sequential queue, as NetworkX does: each vertex's predecessor is its first in-neighbour in
        queue order. Otherwise it is any in-neighbour one level up.
    trace : bool
        Record each level in ``result.trace``.
    check : bool
        Verify the frontier after each level. This is slow, for debugging kernels of the engines cupy and numba-cuda.
    engine : str
        "auto", "cpu", "cpu:sequential", ...: see `rapids-bfs info`.
    vertices : array of bool, or function of the graph that returns one, optional
        One entry for each vertex: False keeps the search out of it. The engines "cpu" and "cupy" skip such vertices and
        build nothing, if the mask is where the graph is; others search `Graph.filter` of the graph.
    edges : array of bool, or function of the graph that returns one, optional
        One entry for each entry of ``graph.targets``: the search follows those that are True. This is a search of
        `Graph.filter`, whose result is on the filtered graph: filter once to search more than once.

    Returns
    -------
    BFSResult
        It owns its arrays.

    Raises
    ------
    InputError
        If the graph cannot be made, a source or target is not a vertex or is masked, a mask is invalid, or the engine
        is unknown or cannot run here.
    TraversalError
        If ``check`` finds an error in a level.

    Examples
    --------
    >>> result = bfs({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, "a")
    >>> result.distances
    array([0, 1, 1, 2], dtype=int32)
    >>> result.path_to("d")[0], result.distance_to("d")
    ('a', 2)
    """
    if not isinstance(graph, Graph):
        graph = as_graph(graph)
    if edges is not None:
        graph = graph.filter(edges=edges)
    options = DEFAULT  # saves a fifth of the time of a search of a tiny graph
    limited = depth_limit is not None or target is not None
    if limited or vertices is not None or predecessors is not True or not (deterministic is trace is check is False):
        options = _checked_options(graph, depth_limit, target, predecessors, deterministic, trace, check, vertices)
    sources = source_vertices(graph, source)
    result: BFSResult = search(graph, sources, options, engine)
    return result


def _checked_options(
    graph: Graph,
    depth_limit: Any,
    target: Any,
    predecessors: Any,
    deterministic: Any,
    trace: Any,
    check: Any,
    vertices: Any,
) -> Options:
    """The options of `bfs`. Raises `InputError` if one is wrong."""
    return Options(
        checked_depth_limit(depth_limit),
        None if target is None else graph.vertex_of(target),
        flag(predecessors, "predecessors"),
        flag(deterministic, "deterministic"),
        flag(trace, "trace"),
        flag(check, "check"),
        kept_mask(graph, vertices),
    )


def plot_levels(graph: Graph, result: BFSResult) -> Figure:
    """A small graph with the sources in the middle and one ring per level; thick lines are tree edges.

    Unreached vertices are in a row below. Both arguments may be on a device; they are copied.

    Raises `InputError` for more than 600 vertices, for a result without predecessors, or of another graph.
    """
    from ..validation import require_kinds, verdict_of  # late: it imports Numba

    require_kinds(graph, result, "plot_levels")
    n = graph.num_vertices
    if n > MAX_DRAWN:
        raise InputError(f"{graph.name} has {n:,} vertices: a picture of more than {MAX_DRAWN} cannot be read")
    graph, result = graph.to(CPU), result.to(CPU)
    if not (verdict := verdict_of(graph, result)):
        raise InputError(f"this is not the result of a search of {graph.name}: {verdict}")
    if result.predecessors is None:
        raise InputError("the search kept no predecessors, along which its levels are drawn: ask for predecessors=True")
    from ..report.search_plot import plot_search

    ids, edges = graph.ids_of(np.arange(n)).tolist(), np.stack(graph.vertex_pairs(), axis=1)
    return plot_search(graph.name, ids, edges, result.distances, result.predecessors)


def as_searchable(graph: Any) -> Graph:
    """`as_graph` of ``graph``, in one piece. Raises `InputError` if it is distributed."""
    made = graph if isinstance(graph, Graph) else as_graph(graph)
    if not isinstance(made, Graph):
        raise InputError(
            f"{made.name} is distributed over {made.num_devices} devices, which do not answer this: use graph.to('cpu')"
        )
    return made


def checked_depth_limit(depth_limit: int | None) -> int | None:
    """``depth_limit`` as an int; None where no distance, an int32, is as large.

    Raises `InputError` if it is negative or no whole number.
    """
    if depth_limit is None:
        return None
    limit = whole_number(depth_limit, "the depth limit")
    return limit if limit < INT32_LIMIT else None


def source_vertices(graph: Graph, source: Any) -> np.ndarray:
    """The vertices (int64, distinct, in the order given) of one id or several."""
    if type(source) is int or type(source) is str:
        vertices = np.empty(1, INT64)  # two thirds of the time of np.array
        vertices[0] = graph.vertex_of(source)
        return vertices
    if on_device(source):
        source = to_host(source)
    if not _several(graph, source):
        return np.array([graph.vertex_of(source)])
    try:
        ids = elements(source)
    except (TypeError, ValueError) as error:
        raise InputError(f"a source is a vertex id, or several in a list or an array ({error})") from None
    found = list(dict.fromkeys(graph.vertices_of(ids).tolist()))
    if not found:
        raise InputError("at least one source is needed")
    return np.array(found)


def _several(graph: Graph, source: Any) -> bool:
    """Does ``source`` hold ids, rather than being one? A tuple or a frozenset may be either."""
    if isinstance(source, tuple | frozenset):
        return source not in graph
    if isinstance(source, np.ndarray):
        return source.ndim > 0
    return isinstance(source, list | set | range) or (hasattr(source, "to_numpy") and hasattr(source, "__len__"))
