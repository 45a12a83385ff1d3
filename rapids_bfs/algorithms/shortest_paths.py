"""`shortest_path`: a path between two vertices."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

import numpy as np

from .._core.arguments import quoted
from .._core.cuda.arrays import CUDA
from .._core.memory import require_bytes
from ..engines import Options, search
from ..errors import NoPathError
from ..graph import Graph
from ..kernels.cpu import bidirectional
from .bfs import as_searchable

KEY = "shortest paths"  # among `Graph.traversals`


def shortest_path(graph: Any, source: Hashable, target: Hashable) -> list[Any]:
    """A shortest path from one vertex to another.

    On the CPU two searches meet in the middle; if frontiers grow quickly they visit a small part of the graph. Only the
    first call on a `Graph` does work for every vertex. On a device one search runs, level by level, until it reaches
    the target.

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
    graph = as_searchable(graph)
    start, end = graph.vertex_of(source), graph.vertex_of(target)
    if graph.device == CUDA:
        found = search(graph, np.array([start], np.int64), Options(target=end), "auto")
        path = found.path_to(target) if found.distance_to(target) >= 0 else []
    else:
        path = graph.ids_of(Bidirectional.of(graph).path(start, end)).tolist()
    if not path:
        raise NoPathError(f"no path leads from {quoted(source)} to {quoted(target)} in {graph.name}")
    return path


class Bidirectional:
    """The buffers of `bidirectional.shortest_path` for one graph on the CPU. They serve one search at a time."""

    def __init__(self, graph: Graph) -> None:
        n, into, vertex = graph.num_vertices, graph.reverse, graph.targets.dtype
        require_bytes(n * (1 + 3 * vertex.itemsize), "a search between two vertices")
        self.lock = threading.RLock()
        self.edges = graph.offsets, graph.targets, into.offsets, into.targets
        self.buffers = np.zeros(n, np.uint8), np.empty(n, vertex), np.empty((2, n), vertex)

    @classmethod
    def of(cls, graph: Graph) -> Bidirectional:
        """The buffers of this graph, the same at every call."""
        traversals = graph.traversals
        found: Bidirectional | None = traversals.get(KEY)
        return traversals.setdefault(KEY, cls(graph)) if found is None else found

    def path(self, source: int, target: int) -> np.ndarray:
        """The vertices of a shortest path, including both ends; empty if there is no path."""
        queues = self.buffers[2]
        with self.lock:
            length = bidirectional.shortest_path(*self.edges, source, target, *self.buffers)
            return queues[0, :length].copy()
