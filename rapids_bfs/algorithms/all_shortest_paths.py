"""`shortest_path_dag` and `all_shortest_paths`: every shortest path from a vertex, or between two."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .._core.arguments import quoted
from .._core.csr import csr_for
from .._core.csr.building import offsets_of
from .._core.cuda.arrays import CPU, CUDA, to_host
from .._core.dtypes import index_dtype
from .._core.threads import pool
from ..engines import Options, search
from ..errors import NoPathError
from ..graph import Graph
from ..kernels.cpu import shortest_paths
from .bfs import as_searchable

FEW_ARCS = 1 << 14  # that one thread has looked at before others are awake
EXACT = 2.0**53  # up to which every count is a float64


@dataclass(frozen=True, eq=False)
class ShortestPathDAG:
    """All shortest paths from a vertex, or between two, as a directed acyclic graph.

    Attributes
    ----------
    graph : Graph
        Directed, with the vertices and ids of the graph that was searched, and of its arcs those on a shortest path, in
        their order, with their edge data. A duplicate arc is on another path; self-loops are on none.
    source : int
        The vertex at which the paths begin.
    target : int or None
        The vertex at which they end; None if they end anywhere.
    distances : int32 array of n, on the graph's device
        Distance from the source; -1 for vertices on no path.

    Examples
    --------
    >>> from rapids_bfs import shortest_path_dag
    >>> edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "a")]
    >>> dag = shortest_path_dag(edges, "a")
    >>> dag.graph.neighbors("a"), dag.graph.neighbors("d")
    (['b', 'c'], [])
    >>> dag.path_counts
    array([1, 1, 1, 2])
    """

    graph: Graph
    source: int
    target: int | None
    distances: np.ndarray = field(repr=False)

    @cached_property
    def path_counts(self) -> np.ndarray:
        """How many shortest paths lead from the source to each vertex on one; 0 for the others. On the graph's device.

        int64 while all counts are below 2**53. Otherwise they are float64: rounded, and infinite from 2**1024 on.
        """
        graph = self.graph
        if graph.device == CUDA:
            counts: np.ndarray = _count_by_levels(graph, self.distances, self.source)
        else:
            counts, queue = np.zeros(len(graph)), np.empty(len(graph), graph.targets.dtype)
            shortest_paths.count_paths(graph.offsets, graph.targets, self.source, counts, queue)
        return counts.astype(np.int64) if counts.max() < EXACT else counts


def shortest_path_dag(graph: Any, source: Hashable, target: Hashable | None = None) -> ShortestPathDAG:
    """The arcs on shortest paths from the source: to all vertices, or to the target alone.

    This takes a search, with a target a second one backward, and a pass over the arcs of the vertices reached.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
    source : vertex id
    target : vertex id, optional

    Returns
    -------
    ShortestPathDAG

    Raises
    ------
    NoPathError
        If no path leads from the source to the target. It is an `InputError`.
    InputError
        If the graph cannot be made, or the source or the target is not a vertex.

    Examples
    --------
    >>> shortest_path_dag("karate", 0, 33).graph
    <Graph 'karate': 34 vertices, 8 directed edges>
    """
    graph = as_searchable(graph)
    start = graph.vertex_of(source)
    end = None if target is None else graph.vertex_of(target)
    distances = _distances(graph, start, end)
    if end is not None:
        length = int(distances[end])
        if length < 0:
            raise NoPathError(f"no path leads from {quoted(source)} to {quoted(target)} in {graph.name}")
        distances[distances + _distances(graph.reverse, end, start) != length] = -1
    return ShortestPathDAG(_leading_down(graph, distances), start, end, distances)


def all_shortest_paths(graph: Any, source: Hashable, target: Hashable) -> Iterator[list[Any]]:
    """Every shortest path from one vertex to another, as an iterator over lists of ids, both ends included.

    The arcs on the paths are found at once, see `shortest_path_dag`; each path is then made when it is asked for, in
    time proportional to its length. There may be very many: `ShortestPathDAG.path_counts` says how many.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
    source, target : vertex ids

    Returns
    -------
    iterator of lists of vertex ids
        In the order of the arcs: paths by their second vertex, those with the same by their third, and so on. A path
        along a duplicate arc comes again for each.

    Raises
    ------
    NoPathError
        If no path leads from the source to the target. It is an `InputError`.
    InputError
        If the graph cannot be made, or the source or the target is not a vertex.

    Examples
    --------
    >>> list(all_shortest_paths({"a": ["b", "c"], "b": ["d"], "c": ["d"]}, "a", "d"))
    [['a', 'b', 'd'], ['a', 'c', 'd']]
    """
    graph = as_searchable(graph)
    if target is None:  # which means all vertices to `shortest_path_dag`
        graph.vertex_of(target)
    return _paths(shortest_path_dag(graph, source, target))


def _distances(graph: Graph, source: int, target: int | None) -> Any:
    """From the source, as far as the target."""
    options = Options(target=target, predecessors=False)
    return search(graph, np.array([source], np.int64), options, "auto").distances


def _leading_down(graph: Graph, distances: np.ndarray) -> Graph:
    """The graph of the arcs that lead from a vertex to one at the next distance."""
    data = graph.edge_data
    if data:
        arcs = _arcs_down(graph, distances)
        data = data.changed(lambda column: column[arcs])
    if graph.device == CUDA:
        offsets, targets = _by_arrays(graph, _arcs_down(graph, distances))
    else:
        degrees = np.empty(graph.num_vertices, np.int64)
        team = pool.team(graph.num_arcs, FEW_ARCS)
        first = np.zeros(2, np.int64)
        shortest_paths.count_arcs(graph.offsets, graph.targets, distances, degrees, first[:1], *team)
        offsets = offsets_of(degrees)
        targets = np.empty(offsets[-1], graph.targets.dtype)
        shortest_paths.write_arcs(graph.offsets, graph.targets, distances, offsets, targets, first[1:], *team)
    return graph._with(offsets=offsets, targets=targets, directed=True, edge_data=data)


def _arcs_down(graph: Graph, distances: Any) -> Any:
    """Which arcs these are, by operations on whole arrays."""
    csr = csr_for(graph.targets)
    above = distances[csr.sources_of(graph.offsets, graph.targets)]
    return csr.xp.flatnonzero((above >= 0) & (distances[graph.targets] == above + 1))


def _by_arrays(graph: Graph, arcs: Any) -> tuple[Any, Any]:
    """Offsets and targets of these arcs, which ascend."""
    fewer = csr_for(arcs).xp.searchsorted(arcs, graph.offsets)
    return fewer.astype(index_dtype(len(arcs))), graph.targets[arcs]


def _count_by_levels(graph: Graph, distances: Any, source: int) -> Any:
    """The paths to each vertex, float64: one operation on whole arrays for the arcs of each level."""
    csr = csr_for(graph.targets)
    xp = csr.xp
    tails = csr.sources_of(graph.offsets, graph.targets)
    levels = distances[tails]
    order = xp.argsort(levels)
    bounds = to_host(xp.searchsorted(levels[order], xp.arange(int(distances.max()) + 2)))
    counts = xp.zeros(graph.num_vertices)
    counts[source] = 1
    for level in range(len(bounds) - 1):
        arcs = order[bounds[level] : bounds[level + 1]]
        xp.add.at(counts, graph.targets[arcs], counts[tails[arcs]])
    return counts


def _paths(dag: ShortestPathDAG) -> Iterator[list[Any]]:
    """Every path, depth first: each arc leads to the target."""
    graph, end = dag.graph.to(CPU), dag.target
    path, stack = [dag.source], [iter(graph._targets_of(dag.source).tolist())]
    if dag.source == end:
        yield graph.ids_of(np.array(path)).tolist()
    while stack:
        vertex = next(stack[-1], None)
        if vertex is None:
            stack.pop()
            path.pop()
            continue
        path.append(vertex)
        stack.append(iter(graph._targets_of(vertex).tolist()))
        if vertex == end:
            yield graph.ids_of(np.array(path)).tolist()
