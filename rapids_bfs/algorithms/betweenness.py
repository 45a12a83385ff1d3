"""`betweenness`: the shares of shortest paths through each vertex or arc."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from .. import engines
from .._core.arguments import flag
from ..loading import as_graph
from .batch import vertices_of_sources


def betweenness(
    graph: Any,
    sources: Iterable[Hashable] | None = None,
    *,
    targets: Iterable[Hashable] | None = None,
    endpoints: bool = False,
    edges: bool = False,
    engine: str = "auto",
) -> np.ndarray:
    """The sum over ordered pairs (source, target) of the fraction of shortest paths through each vertex.

    It is not normalised, and an undirected graph counts both directions of a pair.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
        A duplicate arc counts as another path.
    sources, targets : list, set or array of vertex ids, optional
        Default: every vertex. A pair has two different vertices. A source may occur more than once.
    endpoints : bool
        Count the two ends of a path as well as the vertices between them.
    edges : bool
        Return values of arcs instead of vertices.
    engine : str
        "cupy" or "cpu"; "auto" is the first of these that can run.

    Returns
    -------
    float64 array
        One value per vertex; with ``edges``, one per entry of ``graph.targets``.

    Raises
    ------
    InputError
        If the graph cannot be made, a source or target is not a vertex, or the engine is unknown, cannot run here, has
        no betweenness, or lacks the memory.

    Examples
    --------
    >>> betweenness([("a", "b"), ("b", "c"), ("c", "d")])
    array([0., 2., 2., 0.])
    """
    endpoints, edges = flag(endpoints, "endpoints"), flag(edges, "edges")
    graph = as_graph(graph)
    engine_ready = engines.betweenness(graph, engine)
    vertices = vertices_of_sources(graph, sources)
    is_target = np.zeros(graph.num_vertices, bool)
    is_target[vertices_of_sources(graph, targets)] = True
    with engine_ready.lock:
        scores = engine_ready.scores(vertices, is_target, endpoints, edges)
    engine_ready.require_array("scores", scores, graph.num_arcs if edges else graph.num_vertices, "float64")
    return scores
