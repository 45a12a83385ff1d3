"""`betweenness_centrality` and `edge_betweenness_centrality` of `rapids_bfs.cugraph`."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .._core.arguments import flag, index_of, quoted
from .._core.csr import csr_for
from .._core.cuda.arrays import moved
from .._core.formatting import counted
from ..adapters import cudf as cudf_adapter
from ..algorithms.betweenness import betweenness
from ..errors import InputError
from .prepared import Prepared
from .searcher import searcher_of

SEED = "This parameter is deprecated and will be remove in the next release. Use 'random_state' instead."


def betweenness_centrality(
    G: Any,
    k: Any = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: int | None = None,
    random_state: int | None = None,
    result_dtype: Any = np.float64,
) -> Any:
    """The betweenness of each vertex, as `cugraph.betweenness_centrality` of RAPIDS 26.10 returns it.

    Parameters
    ----------
    G : cugraph.Graph, cudf.DataFrame, CuPy or SciPy sparse matrix
    k : int, or list, Series or DataFrame of vertex ids, optional
        Search from this many vertices at random, or from these. Default: from all.
    normalized : bool
        Divide by the number of pairs, (n - 1)(n - 2), or n(n - 1) with ``endpoints``. Otherwise an undirected graph
        counts each pair once.
    weight
        Must be None.
    endpoints : bool
        Count the two ends of a path, too.
    seed, random_state : int, optional
        Which vertices are drawn; ``seed`` is deprecated.
    result_dtype : {numpy.float64, numpy.float32}

    Returns
    -------
    cudf.DataFrame
        With the columns ``vertex`` and ``betweenness_centrality``.

    Raises
    ------
    NotImplementedError
        If ``weight`` is given.
    TypeError
        If ``G`` or ``result_dtype`` is of another type.
    ValueError
        If an id in ``k`` is not a vertex, or a number of vertices is not from 1 to n.

    Notes
    -----
    Betweenness from k vertices is scaled as in NetworkX 3.5 and later, and as in cuGraph with two exceptions: with k of
    n - 1, cuGraph scales the k vertices as all others; and with n at most 2, where no vertex can be between two others,
    cuGraph divides by 0. If a list of ids does not ascend, cuGraph 26.10 may leave sources out of the sums. For the
    same seed, other vertices are drawn than in cuGraph.
    """
    if seed is not None:
        warnings.warn(SEED, UserWarning, stacklevel=2)
    if weight is not None:
        raise NotImplementedError("weighted implementation of betweenness centrality not currently supported")
    dtype = _checked(result_dtype)
    prepared = searcher_of(G)
    sources = _sources(prepared, k, seed if random_state is None else random_state)
    normalized, endpoints = flag(normalized, "normalized"), flag(endpoints, "endpoints")
    values = _values(prepared, sources, endpoints=endpoints) * _scale(prepared, sources, normalized, endpoints)
    return cudf_adapter.frame_of({**prepared.ids("vertex"), "betweenness_centrality": values.astype(dtype)})


def edge_betweenness_centrality(
    G: Any,
    k: Any = None,
    normalized: bool = True,
    weight: Any = None,
    seed: int | None = None,
    result_dtype: Any = np.float64,
) -> Any:
    """The betweenness of each edge, as `cugraph.edge_betweenness_centrality` of RAPIDS 26.10 returns it.

    Parameters
    ----------
    G, k, weight, seed, result_dtype
        As in `betweenness_centrality`.
    normalized : bool
        Divide by the number of pairs, n(n - 1). Otherwise an undirected graph counts each pair once.

    Returns
    -------
    cudf.DataFrame
        With the columns ``src``, ``dst`` and ``betweenness_centrality``: a row for each edge, of an undirected graph
        with ``src`` the smaller id. ``dst`` comes first if cuGraph has renumbered a directed graph.

    Raises
    ------
    NotImplementedError, TypeError, ValueError
        As `betweenness_centrality` does.

    Notes
    -----
    There is no column ``edge_id``. Undirected graphs whose ids have several columns are taken, too: of an edge the end
    that cuGraph has numbered first is ``src``. Other vertices are drawn than in cuGraph for the same seed.
    """
    if weight is not None:
        raise NotImplementedError("weighted implementation of edge betweenness centrality not currently supported")
    dtype = _checked(result_dtype)
    prepared = searcher_of(G)
    sources, normalized = _sources(prepared, k, seed), flag(normalized, "normalized")
    graph, n = prepared.graph, prepared.graph.num_vertices
    scale = 1 / (n * (n - 1)) if normalized and n > 1 else 1.0 if graph.directed or normalized else 0.5
    if sources is not None and (normalized or not graph.directed):  # the others are not scaled in cuGraph
        scale *= n / len(sources)
    values = _values(prepared, sources, edges=True) * scale
    sources_of_arcs, targets = csr_for(graph.targets).sources_of(graph.offsets, graph.targets), graph.targets
    if not graph.directed:
        sources_of_arcs, targets, values = _both_directions_added(prepared, sources_of_arcs, targets, values)
    source, target = prepared.ids("src", sources_of_arcs), prepared.ids("dst", targets)
    renumbered = prepared.names is not None and graph.directed
    columns = target | source if renumbered else source | target
    return cudf_adapter.frame_of({**columns, "betweenness_centrality": values.astype(dtype)})


def _checked(result_dtype: Any) -> np.dtype[Any]:
    """The type of the results. Raises what cuGraph raises for another."""
    if not isinstance(result_dtype, type | np.dtype | str) or result_dtype not in (np.float32, np.float64):
        raise TypeError("result type can only be np.float32 or np.float64")
    dtype: np.dtype[Any] = np.dtype(result_dtype)
    return dtype


def _sources(prepared: Prepared, k: Any, seed: Any) -> np.ndarray | None:
    """The vertices to search from: those in ``k``, or k at random; None for all."""
    if k is None:
        return None
    n, count = prepared.graph.num_vertices, index_of(k)
    if count is None:
        if isinstance(k, str | bytes | bool) or not hasattr(k, "__len__"):
            raise InputError(f"k must be a number of vertices, or their ids, not {quoted(k)}")
        return prepared.vertices_at(k)
    if not 1 <= count <= n:
        raise InputError(f"k must be from 1 to {n}, for {counted(n, 'vertex', 'vertices')}, not {count}")
    try:
        random = np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"random_state must be a whole number from 0 on, not {quoted(seed)} ({error})") from None
    return random.choice(n, count, replace=False)


def _values(prepared: Prepared, sources: np.ndarray | None, *, endpoints: bool = False, edges: bool = False) -> Any:
    """Unscaled values (float64), on the graph's device."""
    graph = prepared.graph
    ids = None if sources is None else graph.ids_of(sources)
    return moved(betweenness(graph, ids, endpoints=endpoints, edges=edges), graph.device)


def _scale(prepared: Prepared, sources: np.ndarray | None, normalized: bool, endpoints: bool) -> Any:
    """The factor of the values of vertices: a number, or an array of n if sources are scaled apart.

    Without endpoints, no path from a source counts for the source itself: it has a pair less than other vertices.
    """
    others = prepared.graph.num_vertices - (not endpoints)  # ends of paths that may count for a vertex
    if others < 2:
        return 1.0
    pairs = others - 1 if normalized else (1 if prepared.graph.directed else 2) / others
    if sources is None:
        return 1 / (others * pairs)
    if endpoints:
        return 1 / (len(sources) * pairs)
    scale = prepared.xp.full(prepared.graph.num_vertices, 1 / (len(sources) * pairs))
    scale[moved(np.unique(sources), prepared.graph.device)] = (
        1 / ((len(sources) - 1) * pairs) if len(sources) > 1 else math.nan
    )
    return scale


def _both_directions_added(prepared: Prepared, sources: Any, targets: Any, values: Any) -> tuple[Any, Any, Any]:
    """The edges of an undirected graph once, the smaller id first, with the sums of the values of their arcs."""
    xp, n = prepared.xp, prepared.graph.num_vertices
    turned = sources > targets
    if prepared.names is not None and len(prepared.names.columns) == 1:
        first, second = (prepared.ids("end", end)["end"] for end in (sources, targets))
        turned = (first > second).values
    low = xp.where(turned, targets, sources).astype(np.int64)
    high = xp.where(turned, sources, targets)
    keys, edge = xp.unique(low * n + high, return_inverse=True)
    return keys // n, keys % n, xp.bincount(edge, weights=values, minlength=len(keys))
