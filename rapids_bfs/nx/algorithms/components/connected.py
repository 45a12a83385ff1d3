"""Connected components of undirected graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ....graph import Graph
from ....kernels.cpu import components
from ...graph import ConvertedGraph
from ...search import reaches_all, search_from


def connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    return sets_of(G, G.forward, components.components)


def number_connected_components(G: ConvertedGraph) -> int:
    return 1 if is_connected(G) else count_of(G.forward, components.components)


def is_connected(G: ConvertedGraph) -> bool:
    return reaches_all(G)


def node_connected_component(G: ConvertedGraph, n: Any) -> set[Any]:
    return set(search_from(G, n).nodes)


def sets_of(G: ConvertedGraph, edges: Graph, find: Callable[..., int]) -> Iterator[set[Any]]:
    """The components that ``find`` finds, as sets of nodes."""
    members, starts = _found(edges, find)
    nodes, bounds = G.nodes_at(members), starts.tolist()
    return (set(nodes[begin:end]) for begin, end in pairwise(bounds))


def count_of(edges: Graph, find: Callable[..., int]) -> int:
    """How many components ``find`` finds."""
    return len(_found(edges, find)[1]) - 1


def _found(edges: Graph, find: Callable[..., int]) -> tuple[np.ndarray, np.ndarray]:
    n = edges.num_vertices
    members, starts = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    count = find(edges.offsets, edges.targets, members, starts)
    return members, starts[: count + 1]
