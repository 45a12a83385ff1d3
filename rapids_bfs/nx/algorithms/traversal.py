"""Searches returned as edges, trees, layers, labelled edges, or the sets of nodes that they reach."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.traversal.breadth_first_search import FORWARD_EDGE, LEVEL_EDGE, REVERSE_EDGE, TREE_EDGE

from ...kernels.cpu.networkx import ordered
from ..graph import ConvertedGraph, FallBack, arcs_from, levels, many_objects
from ..policy import direction
from ..search import VERSION, OrderedBFS, ordered_bfs, reach, search_from, searches

type_of = np.array([TREE_EDGE, LEVEL_EDGE, FORWARD_EDGE, REVERSE_EDGE], object)
TREE, LEVEL, FORWARD, REVERSE, SEEN_BEFORE = range(5)
DEPRECATED_PREDECESSORS = (
    "\n\nbfs_predecessors is deprecated and will be removed in NetworkX 3.9\n"
    "Use ``(t, s) for (s, t) in bfs_edges`` instead"
)


def generic_bfs_edges(
    G: ConvertedGraph, source: Any, neighbors: Any = None, depth_limit: Any = None
) -> Iterator[tuple[Any, Any]]:
    return bfs_edges(G, source, neighbors is not None and direction(G.origin, neighbors) == "backward", depth_limit)


def bfs_edges(
    G: ConvertedGraph, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: None = None
) -> Iterator[tuple[Any, Any]]:
    search = search_from(G, source, depth_limit, over=G.backward if reverse else G.forward)
    return zip(search.parents, search.children, strict=True)


@many_objects()
def bfs_tree(
    G: ConvertedGraph, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: None = None
) -> nx.DiGraph:
    edges = bfs_edges(G, source, reverse, depth_limit)
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(edges)
    return tree


def bfs_predecessors(
    G: ConvertedGraph, source: Any, depth_limit: Any = None, sort_neighbors: None = None
) -> Iterator[tuple[Any, Any]]:
    if VERSION >= (3, 7):
        warnings.warn(DEPRECATED_PREDECESSORS, category=DeprecationWarning, stacklevel=3)
    search = search_from(G, source, depth_limit)
    return zip(search.children, search.parents, strict=True)


def bfs_successors(
    G: ConvertedGraph, source: Any, depth_limit: Any = None, sort_neighbors: None = None
) -> Iterator[tuple[Any, list[Any]]]:
    search = search_from(G, source, depth_limit)
    parents, children = search.parent_vertices, search.children
    if not children:
        return iter([(source, children)])
    starts = np.flatnonzero(np.diff(parents, prepend=-1))
    bounds = [*starts.tolist(), len(children)]
    families = map(children.__getitem__, map(slice, bounds[:-1], bounds[1:]))
    return zip(search.named(parents[starts]), families, strict=True)


def bfs_layers(G: ConvertedGraph, sources: Any) -> Iterator[list[Any]]:
    sources = [sources] if G.find(sources) is not None else sources
    first = list(set(sources) if VERSION >= (3, 5) else sources)
    search = _search(G, list(dict.fromkeys(first)))
    return chain([first], islice(search.layers, 1, None)) if first else iter(())


def bfs_labeled_edges(G: ConvertedGraph, sources: Any) -> Iterator[tuple[Any, Any, str]]:
    search = _search(G, list(dict.fromkeys([sources] if G.find(sources) is not None else sources)))
    tails, heads = arcs_from(G.forward, search.order)
    labels = _labels(search, tails, heads)
    kept = labels != SEEN_BEFORE
    return zip(search.named(tails[kept]), G.nodes_at(heads[kept]), type_of[labels[kept]].tolist(), strict=True)


def _search(G: ConvertedGraph, sources: list[Any]) -> OrderedBFS:
    return ordered_bfs(G, G.vertices(sources), given=sources)


def _labels(search: OrderedBFS, tails: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """TREE, LEVEL, FORWARD, REVERSE or SEEN_BEFORE for each edge, in the order in which a search sees them."""
    directed = search.graph.is_directed()
    place = np.empty_like(search.predecessors)
    place[search.order] = np.arange(len(search.order))
    above, below = search.distances[tails], search.distances[heads]
    level = above == below
    return np.select(
        [
            (search.predecessors[heads] == tails) & ~level,
            level & (directed | (place[heads] >= place[tails])),
            above < below,
            np.full(len(tails), directed) & ~level,
        ],
        [TREE, LEVEL, FORWARD, REVERSE],
        SEEN_BEFORE,
    )


def descendants_at_distance(G: ConvertedGraph, source: Any, distance: Any) -> set[Any]:
    vertex, depth = G.vertex(source), levels(distance)
    if depth is None or depth != distance:
        return set()
    return reach(G, vertex, depth).at(depth) if depth else {source}


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
