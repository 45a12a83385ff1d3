"""`connected_components`: the components of a graph, directions ignored."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.cuda.arrays import moved
from ..engines import components
from ..loading import as_graph


def connected_components(graph: Any) -> np.ndarray:
    """The connected component of each vertex; weakly connected components of a directed graph.

    The host finds them in one pass, which skips most edges of an undirected graph. Over several devices each joins the
    edges that it has, and they merge what they found.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes

    Returns
    -------
    array of n, of the type of ``graph.targets``
        Components are numbered 0, 1, ... in the order of their first vertices, so ``max() + 1`` is their number and
        ``bincount`` gives their sizes. The array is on the graph's device; on the host, in the order of the ids, if the
        graph is distributed.

    Raises
    ------
    InputError
        If the graph cannot be made.

    Examples
    --------
    >>> connected_components([("a", "b"), ("c", "d"), ("b", "e")])
    array([0, 0, 1, 1, 0], dtype=int32)
    """
    graph = as_graph(graph)
    labels: np.ndarray = moved(components(graph)[0], graph.answers_on)
    return labels
