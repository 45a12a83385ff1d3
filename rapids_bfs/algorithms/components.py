"""`connected_components`: the components of a graph, directions ignored."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.cuda.arrays import CPU, moved
from ..graph import Graph
from ..kernels.cpu import afforest
from .bfs import as_searchable


def connected_components(graph: Any) -> np.ndarray:
    """The connected component of each vertex; weakly connected components of a directed graph.

    The host finds them in one pass, which skips most edges of an undirected graph.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes

    Returns
    -------
    array of n, of the type of ``graph.targets``
        Components are numbered 0, 1, ... in the order of their first vertices, so ``max() + 1`` is their number and
        ``bincount`` gives their sizes. The array is on the graph's device.

    Raises
    ------
    InputError
        If the graph cannot be made.

    Examples
    --------
    >>> connected_components([("a", "b"), ("c", "d"), ("b", "e")])
    array([0, 0, 1, 1, 0], dtype=int32)
    """
    graph = as_searchable(graph)
    labels: np.ndarray = moved(labelled(graph.to(CPU))[0], graph.device)
    return labels


def labelled(graph: Graph) -> tuple[np.ndarray, int]:
    """The component of each vertex of a graph on the CPU, and the number of components."""
    labels = np.empty(graph.num_vertices, graph.targets.dtype)
    return labels, afforest.label(graph.offsets, graph.targets, not graph.directed, labels)
