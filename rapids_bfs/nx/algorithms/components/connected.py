"""Connected components of undirected graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ...._core.cuda.arrays import to_host
from ....algorithms.components import labelled
from ....graph import Graph
from ....kernels.cpu.networkx import components
from ...graph import ConvertedGraph, induced
from ...search import reach, search_from

FEW = 16  # 1/FEW of the nodes are few


def connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    return components_of(G, G.forward)


def number_connected_components(G: ConvertedGraph) -> int:
    return labelled(G.forward)[1]


def is_connected(G: ConvertedGraph) -> bool:
    return labelled(G.forward)[1] == 1


def node_connected_component(G: ConvertedGraph, n: Any) -> set[Any]:
    if G.is_own(n):
        return reach(G, G.vertex(n)).reached()
    return set(search_from(G, n).nodes)


def components_of(G: ConvertedGraph, edges: Graph) -> Iterator[set[Any]]:
    """The components of symmetric edges, as sets of nodes. If the first node's holds nearly all nodes, it is found by
    a search that looks at few edges."""
    if G.ascends(len(G)):
        first = reach(G, 0, over=edges)
        others = to_host(np.flatnonzero(first.distances < 0))
        if FEW * len(others) <= len(G):
            members, starts = _found(induced(edges, others), components.components)
            return chain([first.reached()], _sets(G, others[members], starts))
    return sets_of(G, edges, components.components)


def sets_of(G: ConvertedGraph, edges: Graph, find: Callable[..., int]) -> Iterator[set[Any]]:
    """The components that ``find`` finds, as sets of nodes."""
    members, starts = _found(edges, find)
    largest = int(np.argmax(np.diff(starts)))
    begin, end = starts[largest : largest + 2].tolist()
    if not G.ascends(end - begin):
        return _sets(G, members, starts)
    before = _sets(G, members[:begin], starts[: largest + 1])
    after = _sets(G, members[end:], starts[largest + 1 :] - end)
    return chain(before, [G.set_at(members[begin:end])], after)


def _sets(G: ConvertedGraph, members: np.ndarray, starts: np.ndarray) -> Iterator[set[Any]]:
    nodes = G.nodes_at(members)
    return (set(nodes[begin:end]) for begin, end in pairwise(starts.tolist()))


def count_of(edges: Graph, find: Callable[..., int]) -> int:
    """The number of components that ``find`` finds."""
    return len(_found(edges, find)[1]) - 1


def _found(edges: Graph, find: Callable[..., int]) -> tuple[np.ndarray, np.ndarray]:
    n = edges.num_vertices
    members, starts = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    count = find(edges.offsets, edges.targets, members, starts)
    return members, starts[: count + 1]
