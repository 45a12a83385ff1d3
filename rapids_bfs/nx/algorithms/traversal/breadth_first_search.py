"""Searches as edges, trees, layers and labelled edges."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.traversal.breadth_first_search import FORWARD_EDGE, LEVEL_EDGE, REVERSE_EDGE, TREE_EDGE

from ...graph import ConvertedGraph, LeftToNetworkX, arcs_from
from ...policy import direction
from ...search import VERSION, Search, many_objects, ordered_search, reach, search_from

type_of = np.array([TREE_EDGE, LEVEL_EDGE, FORWARD_EDGE, REVERSE_EDGE], object)
TREE, LEVEL, FORWARD, REVERSE, SEEN_BEFORE = range(5)
DEPRECATED_PREDECESSORS = (
    "\n\nbfs_predecessors is deprecated and will be removed in NetworkX 3.9\n"
    "Use ``(t, s) for (s, t) in bfs_edges`` instead"
)

Sorter = Callable[[Iterable[Any]], Iterable[Any]]


def generic_bfs_edges(
    G: ConvertedGraph, source: Any, neighbors: Any = None, depth_limit: Any = None
) -> Iterator[tuple[Any, Any]]:
    walked = "forward" if neighbors is None else direction(G.origin, neighbors)
    if walked is None:
        raise LeftToNetworkX
    return bfs_edges(G, source, walked == "backward", depth_limit)


def bfs_edges(
    G: ConvertedGraph,
    source: Any,
    reverse: bool = False,
    depth_limit: Any = None,
    sort_neighbors: Sorter | None = None,
) -> Iterator[tuple[Any, Any]]:
    search = _search(G, source, depth_limit, sort_neighbors, reverse)
    return zip(search.parents, search.children, strict=True)


@many_objects()
def bfs_tree(
    G: ConvertedGraph,
    source: Any,
    reverse: bool = False,
    depth_limit: Any = None,
    sort_neighbors: Sorter | None = None,
) -> nx.DiGraph:
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, reverse, depth_limit, sort_neighbors))
    return tree


def bfs_predecessors(
    G: ConvertedGraph, source: Any, depth_limit: Any = None, sort_neighbors: Sorter | None = None
) -> Iterator[tuple[Any, Any]]:
    search = _search(G, source, depth_limit, sort_neighbors)
    pairs = zip(search.children, search.parents, strict=True)
    return pairs if VERSION < (3, 7) else chain.from_iterable(_with_warning(pairs))


def _with_warning(pairs: Iterator[tuple[Any, Any]]) -> Iterator[Iterator[tuple[Any, Any]]]:
    """Warn when the first pair is asked for; the others come without a step in Python."""
    warnings.warn(DEPRECATED_PREDECESSORS, category=DeprecationWarning, stacklevel=2)
    yield pairs


def bfs_successors(
    G: ConvertedGraph, source: Any, depth_limit: Any = None, sort_neighbors: Sorter | None = None
) -> Iterator[tuple[Any, list[Any]]]:
    search = _search(G, source, depth_limit, sort_neighbors)
    parents, children = search.parent_vertices, search.children
    if not children:
        return iter([(source, children)])
    starts = np.flatnonzero(np.diff(parents, prepend=-1))
    bounds = [*starts.tolist(), len(children)]
    families = map(children.__getitem__, map(slice, bounds[:-1], bounds[1:]))
    return zip(G.nodes_at(parents[starts]), families, strict=True)


def bfs_layers(G: ConvertedGraph, sources: Any) -> Iterator[list[Any]]:
    first = _sources(G, sources)
    vertices = _vertices(G, first)
    if VERSION >= (3, 5):
        first = list(set(first))
        vertices = G.vertices(first)
    search = ordered_search(G, vertices)
    return chain([first], list(search.layers)[1:]) if first else iter(())


def bfs_labeled_edges(G: ConvertedGraph, sources: Any) -> Iterator[tuple[Any, Any, str]]:
    nodes = _sources(G, sources)
    search = ordered_search(G, _vertices(G, nodes))
    tails, heads = arcs_from(G.forward, search.order)
    labels = _labels(search, tails, heads)
    kept = labels != SEEN_BEFORE
    return zip(G.nodes_at(tails[kept]), G.nodes_at(heads[kept]), type_of[labels[kept]].tolist(), strict=True)


def _labels(search: Search, tails: np.ndarray, heads: np.ndarray) -> np.ndarray:
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
    if not isinstance(distance, int | float):
        raise LeftToNetworkX
    return reach(G, G.vertex(source), distance).at(distance)


def _search(G: ConvertedGraph, source: Any, limit: Any, sort_neighbors: Sorter | None, reverse: bool = False) -> Search:
    edges = G.backward if reverse else G.forward
    if sort_neighbors is None:
        return search_from(G, source, limit, over=edges)
    reached = search_from(G, source, limit, over=edges)
    try:
        edges = G.sorted(edges, reached.order, sort_neighbors)
    except Exception:  # at the first edge, not now
        raise LeftToNetworkX from None
    if (reached.distances[edges.targets] < 0).any() and limit is None:
        raise LeftToNetworkX  # not only sorted
    return search_from(G, source, limit, over=edges)


def _sources(G: ConvertedGraph, sources: Any) -> list[Any]:
    """One node or several, as a list."""
    if G.find(sources) is not None:
        return [sources]
    try:
        return list(sources)
    except TypeError:
        raise LeftToNetworkX from None


def _vertices(G: ConvertedGraph, sources: list[Any]) -> np.ndarray:
    """The vertices of the sources, each once."""
    try:
        return G.vertices(dict.fromkeys(sources))
    except (LeftToNetworkX, TypeError):
        raise LeftToNetworkX(sources=sources) from None
