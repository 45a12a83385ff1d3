"""`shortest_path`: a path between two vertices."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from .._core.arguments import quoted
from ..engines import path_between
from ..errors import NoPathError
from ..graph import Graph, Mask, require_unmasked
from ..loading import as_graph


def shortest_path(graph: Any, source: Hashable, target: Hashable, *, vertices: Mask | None = None) -> list[Any]:
    """A shortest path from one vertex to another.

    On the CPU two searches meet in the middle; if frontiers grow quickly they visit a small part of the graph. Only the
    first call on a `Graph` does work for every vertex. On a device, and over several, one search runs, level by level,
    until it reaches the target.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
        Searching a `Graph` again costs the search alone. Edges of a directed graph are followed forward.
    source, target : vertex ids
    vertices : array of bool, or function of the graph that returns one, optional
        One entry for each vertex: False keeps the path off it.

    Returns
    -------
    list of vertex ids
        Includes both ends; one id if they are the same vertex. Of several shortest paths it is, on the CPU, the one
        that NetworkX's `bidirectional_shortest_path` returns for ``graph.to("networkx")``. A directed NetworkX graph
        whose edges were not added in the order of their sources may have another path there; the NetworkX backend
        returns that one.

    Raises
    ------
    NoPathError
        If no path leads from the source to the target. It is an `InputError`.
    InputError
        If the graph cannot be made, the source or the target is not a vertex or is masked, or the mask is none.

    Examples
    --------
    >>> shortest_path([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")], "a", "c")
    ['a', 'b', 'c']
    """
    if not isinstance(graph, Graph):
        graph = as_graph(graph)
    ends = graph.vertex_of(source), graph.vertex_of(target)
    mask = None
    if vertices is not None:
        mask = graph.mask(vertices)
        require_unmasked(graph, mask, ends)
    path = path_between(graph, *ends, mask)
    if not len(path):
        raise NoPathError(f"no path leads from {quoted(source)} to {quoted(target)} in {graph.name}")
    ids: list[Any] = graph.ids_of(path).tolist()
    return ids
