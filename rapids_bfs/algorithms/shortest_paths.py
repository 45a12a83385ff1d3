"""`shortest_path`: a path between two vertices."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from .._core.arguments import quoted
from ..engines import path_between
from ..errors import NoPathError
from ..loading import as_graph


def shortest_path(graph: Any, source: Hashable, target: Hashable) -> list[Any]:
    """A shortest path from one vertex to another.

    On the CPU two searches meet in the middle; if frontiers grow quickly they visit a small part of the graph. Only the
    first call on a `Graph` does work for every vertex. On a device, and over several, one search runs, level by level,
    until it reaches the target.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
        Searching a `Graph` again costs the search alone. Edges of a directed graph are followed forward.
    source, target : vertex ids

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
        If the graph cannot be made, or the source or the target is not a vertex.

    Examples
    --------
    >>> shortest_path([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")], "a", "c")
    ['a', 'b', 'c']
    """
    graph = as_graph(graph)
    path = path_between(graph, graph.vertex_of(source), graph.vertex_of(target))
    if not len(path):
        raise NoPathError(f"no path leads from {quoted(source)} to {quoted(target)} in {graph.name}")
    ids: list[Any] = graph.ids_of(path).tolist()
    return ids
