"""Shortest paths from one node, to one node, between two, and between all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....algorithms.shortest_paths import Bidirectional
from ....kernels.cpu.networkx import ordered
from ...graph import ConvertedGraph, FallBack, levels, many_objects
from ...search import VERSION, OrderedBFS, search_from, searches


def single_source_shortest_path_length(G: ConvertedGraph, source: Any, cutoff: Any = None) -> dict[Any, int]:
    return search_from(G, source, cutoff).lengths


def single_target_shortest_path_length(G: ConvertedGraph, target: Any, cutoff: Any = None) -> dict[Any, int]:
    if VERSION < (3, 5):  # it returns a generator
        raise FallBack
    return search_from(G, target, cutoff, over=G.backward).lengths


def all_pairs_shortest_path_length(G: ConvertedGraph, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    return ((node, search.lengths) for node, search in searches(G, cutoff))


def bidirectional_shortest_path(G: ConvertedGraph, source: Any, target: Any) -> list[Any]:
    path = path_between(G, source, target)
    if not len(path):
        raise FallBack
    if not G.is_own(source) or not G.is_own(target):  # NetworkX's path holds those on the side that finds the middle
        raise FallBack
    return G.nodes_at(path)


def path_between(G: ConvertedGraph, source: Any, target: Any) -> np.ndarray:
    """The vertices of NetworkX's shortest path; empty if there is none."""
    start, end = G.vertex(source), G.vertex(target)
    _ = G.backward  # sets the reverse of `forward`, in NetworkX's order
    return Bidirectional.of(G.forward).path(start, end)


def single_source_shortest_path(G: ConvertedGraph, source: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    return search_from(G, source, cutoff).paths()


def single_target_shortest_path(G: ConvertedGraph, target: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    return search_from(G, target, cutoff, over=G.backward).paths(towards=True)


def all_pairs_shortest_path(G: ConvertedGraph, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    return ((node, search.paths()) for node, search in searches(G, cutoff))


def predecessor(G: ConvertedGraph, source: Any, target: Any = None, cutoff: Any = None, return_seen: Any = None) -> Any:
    limit = levels(cutoff)
    if not cutoff or cutoff != cutoff:  # NetworkX ignores 0 and NaN, and goes one level at least
        limit = None
    elif limit is not None:
        limit = max(limit, 1)
    search = search_from(G, source, limit)
    found, seen = all_predecessors(search), search.lengths
    if target is None:
        return (found, seen) if return_seen else found
    return (found.get(target, []), seen.get(target, -1)) if return_seen else found.get(target, [])


@many_objects()
def all_predecessors(search: OrderedBFS) -> dict[Any, list[Any]]:
    """All predecessors of each node reached: its neighbours one level up."""
    graph = search.graph
    edges = graph.forward
    starts, vertices = np.empty(len(search.order) + 1, np.int64), np.empty(edges.num_arcs, edges.targets.dtype)
    ordered.all_predecessors(edges.offsets, edges.targets, search.order, search.distances, starts, vertices)
    bounds, nodes = starts.tolist(), search.named(vertices[: starts[-1]])
    return dict(zip(search.nodes, map(nodes.__getitem__, map(slice, bounds[:-1], bounds[1:])), strict=True))
