"""Descendants, ancestors and the transitive closure."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.cpu.networkx import ordered
from ..graph import ConvertedGraph, FallBack
from ..search import reach, searches


def descendants(G: ConvertedGraph, source: Any) -> set[Any]:
    return reach(G, G.vertex(source)).reached(sources=False)


def ancestors(G: ConvertedGraph, source: Any) -> set[Any]:
    return reach(G, G.vertex(source), over=G.backward).reached(sources=False)


def transitive_closure(G: ConvertedGraph, reflexive: bool | None = False) -> Any:
    if reflexive is not None and reflexive is not True and reflexive is not False:
        raise FallBack
    closure = G.origin.copy()
    if reflexive is False:
        for node, found in zip(G.nodes.tolist(), _heads(G), strict=True):
            closure.add_edges_from((node, each) for each in found if each not in closure[node])
        return closure
    for node, search in searches(G):
        found = set(search.children)
        if reflexive:
            found = found | {node}  # |= would give another order
        closure.add_edges_from((node, each) for each in found if each not in closure[node])
    return closure


def _heads(G: ConvertedGraph) -> Any:
    """For each node the heads of all edges that its search looks at, each once, in that order."""
    edges, n = G.forward, len(G)
    found, queue = np.zeros(n, bool), np.empty(n, edges.targets.dtype)
    for vertex in range(n):
        tail = ordered.heads(edges.offsets, edges.targets, vertex, G.is_directed(), found, queue)
        yield G.nodes_at(queue[:tail])
