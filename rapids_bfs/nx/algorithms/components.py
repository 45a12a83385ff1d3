"""Connected components, strong and weak ones, and answers from them: trees, forests and two-colourings.

Of a directed graph, the functions for connected components find the weakly connected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ... import engines
from ..._core.cuda.arrays import to_host
from ...graph import Graph
from ...kernels.cpu.networkx import components
from ..graph import ConvertedGraph, FallBack, induced
from ..search import VERSION, reach, reaches_all, search_from

FEW = 16  # 1/FEW of the nodes are few


def connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    edges = G.symmetrized
    if G.ascends(len(G)):
        first = reach(G, 0, over=edges)
        others = to_host(np.flatnonzero(first.distances < 0))
        if FEW * len(others) <= len(G):  # the first node's component was found by a search that looks at few edges
            members, starts = _found(induced(edges, others), components.components)
            return chain([first.reached()], _sets(G, others[members], starts))
    return _sets_of(G, edges, components.components)


def number_connected_components(G: ConvertedGraph) -> int:
    return engines.components(G.backward)[1]


def is_connected(G: ConvertedGraph) -> bool:
    return number_connected_components(G) == 1


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


def node_connected_component(G: ConvertedGraph, n: Any) -> set[Any]:
    if G.is_own(n):
        return reach(G, G.vertex(n)).reached()
    return set(search_from(G, n).nodes)


def _strong(offsets: np.ndarray, targets: np.ndarray, members: np.ndarray, starts: np.ndarray) -> int:
    return int(components.strong_components(offsets, targets, members, starts, VERSION >= (3, 7)))


def strongly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    return _sets_of(G, G.forward, _strong)


def number_strongly_connected_components(G: ConvertedGraph) -> int:
    return 1 if is_strongly_connected(G) else len(_found(G.forward, _strong)[1]) - 1


def is_strongly_connected(G: ConvertedGraph) -> bool:
    return reaches_all(G) and reaches_all(G, over=G.backward)


def _sets_of(G: ConvertedGraph, edges: Graph, find: Callable[..., int]) -> Iterator[set[Any]]:
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


def _found(edges: Graph, find: Callable[..., int]) -> tuple[np.ndarray, np.ndarray]:
    n = edges.num_vertices
    members, starts = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    count = find(edges.offsets, edges.targets, members, starts)
    return members, starts[: count + 1]


def is_tree(G: ConvertedGraph) -> bool:
    return G.num_edges == len(G) - 1 and is_connected(G)


def is_forest(G: ConvertedGraph) -> bool:
    return G.num_edges < len(G) and G.num_edges == len(G) - number_connected_components(G)


def is_arborescence(G: ConvertedGraph) -> bool:
    return is_tree(G) and int(G.backward.degrees.max()) <= 1


def is_branching(G: ConvertedGraph) -> bool:
    return is_forest(G) and int(G.backward.degrees.max()) <= 1


def color(G: ConvertedGraph) -> dict[Any, int]:
    colored = _colors(G)
    if colored is None:
        raise FallBack
    order, colors = colored
    isolated = G.nodes_at(np.flatnonzero(G.symmetrized.degrees == 0))
    return dict(zip(G.nodes_at(order), colors[order].tolist(), strict=True)) | dict.fromkeys(isolated, 0)


def is_bipartite(G: ConvertedGraph) -> bool:
    return _colors(G) is not None


def sets(G: ConvertedGraph, top_nodes: Iterable[Any] | None = None) -> tuple[set[Any], set[Any]]:
    if top_nodes is not None:
        top = set(top_nodes)
        return top, G.everything - top
    if not is_connected(G):
        raise FallBack
    colored = color(G)
    return {node for node, top in colored.items() if top}, {node for node, top in colored.items() if not top}


def _colors(G: ConvertedGraph) -> tuple[np.ndarray, np.ndarray] | None:
    """The coloured vertices in NetworkX's order, and the colours of all; None if there is an odd cycle."""
    edges = G.symmetrized_in_first
    lengths = G.forward.degrees
    if G.is_multigraph():  # a view also counts neighbours whose edges it hides
        lengths = np.fromiter(map(len, G.origin._adj.values()), np.int64)
    order, colors = np.empty((2, len(G)), np.int64)
    tail = components.two_colors(edges.offsets, edges.targets, lengths > 0, order, colors)
    return None if tail < 0 else (order[:tail], colors)
