"""`connected_components`: the components of a graph, ignoring directions; and its strong components."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.cuda.arrays import CPU, moved
from ..engines import components
from ..graph import Graph, Mask
from ..kernels.cpu.networkx.components import strong_components as search_in_depth
from ..loading import as_graph


def connected_components(graph: Any, *, vertices: Mask | None = None) -> np.ndarray:
    """The connected component of each vertex; weakly connected components of a directed graph.

    They are found where the graph is, by the algorithm Afforest [1]_, which skips most edges of an undirected graph.
    Over several devices each joins its own edges, and then they merge their components.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
    vertices : array of bool, or function of the graph that returns one, optional
        One entry for each vertex: where it is False the vertex and its edges do not count, and its component is -1.

    Returns
    -------
    array of n, of the type of ``graph.targets``
        Components are numbered 0, 1, ... in the order of their first vertices, so ``max() + 1`` is their number and
        ``bincount`` gives their sizes. The array is on the graph's device; on the host, in the order of the ids, if the
        graph is distributed.

    Raises
    ------
    InputError
        If the graph cannot be made, or the mask is invalid.

    References
    ----------
    .. [1] M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
       IPDPS 2018.

    Examples
    --------
    >>> connected_components([("a", "b"), ("c", "d"), ("b", "e")])
    array([0, 0, 1, 1, 0], dtype=int32)
    """
    graph = as_graph(graph)
    labels: np.ndarray = components(graph, graph.mask(vertices))[0]
    return labels


def strong_components(graph: Graph) -> np.ndarray:
    """The strongly connected component of each vertex, numbered as by `connected_components`.

    The host finds them by Tarjan's depth-first search, on one thread.

    Examples
    --------
    >>> strong_components(as_graph([(0, 1), (1, 2), (2, 1), (3, 0)]))
    array([0, 1, 1, 2], dtype=int32)
    """
    here, n = graph.to(CPU), graph.num_vertices
    members, starts = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    count = search_in_depth(here.offsets, here.targets, members, starts, False)
    found = np.empty(n, here.targets.dtype)
    found[members] = np.repeat(np.arange(count), np.diff(starts[: count + 1]))
    _, firsts = np.unique(found, return_index=True)
    rank = np.empty(count, here.targets.dtype)
    rank[np.argsort(firsts)] = np.arange(count)
    labels: np.ndarray = moved(rank[found], graph.device)
    return labels
