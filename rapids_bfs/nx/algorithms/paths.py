"""Shortest paths and their lengths: from one node, to one node, between two, and between all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from ...engines import path_between
from ...kernels.cpu.networkx import ordered
from ..calls import implementation
from ..graph import ConvertedGraph, FallBack, levels, many_objects
from ..search import VERSION, OrderedBFS, connected_summary, search_from, searches


def single_source_shortest_path_length(G: ConvertedGraph, source: Any, cutoff: Any = None) -> dict[Any, int]:
    return search_from(G, source, cutoff).lengths


def single_target_shortest_path_length(G: ConvertedGraph, target: Any, cutoff: Any = None) -> dict[Any, int]:
    if VERSION < (3, 5):  # it returns a generator
        raise FallBack
    return search_from(G, target, cutoff, over=G.backward).lengths


def all_pairs_shortest_path_length(G: ConvertedGraph, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    return ((node, search.lengths) for node, search in searches(G, cutoff))


def bidirectional_shortest_path(G: ConvertedGraph, source: Any, target: Any) -> list[Any]:
    path = _path_between(G, source, target)
    if not len(path):
        raise FallBack
    if not G.is_own(source) or not G.is_own(target):  # NetworkX's path holds those on the side that finds the middle
        raise FallBack
    return G.nodes_at(path)


def _path_between(G: ConvertedGraph, source: Any, target: Any) -> np.ndarray:
    """The vertices of NetworkX's shortest path; empty if there is none."""
    start, end = G.vertex(source), G.vertex(target)
    _ = G.backward  # sets the reverse of `forward`, in NetworkX's order
    return path_between(G.forward, start, end, None)


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
    found, seen = _all_predecessors(search), search.lengths
    if target is None:
        return (found, seen) if return_seen else found
    return (found.get(target, []), seen.get(target, -1)) if return_seen else found.get(target, [])


@many_objects()
def _all_predecessors(search: OrderedBFS) -> dict[Any, list[Any]]:
    """All predecessors of each node reached: its neighbours one level up."""
    graph = search.graph
    edges = graph.forward
    starts, vertices = np.empty(len(search.order) + 1, np.int64), np.empty(edges.num_arcs, edges.targets.dtype)
    ordered.all_predecessors(edges.offsets, edges.targets, search.order, search.distances, starts, vertices)
    bounds, nodes = starts.tolist(), search.named(vertices[: starts[-1]])
    return dict(zip(search.nodes, map(nodes.__getitem__, map(slice, bounds[:-1], bounds[1:])), strict=True))


PATHS_CHANGE = (
    "\n\nshortest_path will return an iterator that yields\n(node, path) pairs instead of a dictionary when source\n"
    "and target are unspecified beginning in version 3.5\n\nTo keep the current behavior, use:\n\n"
    "\tdict(nx.shortest_path(G))"
)
AT_ONCE = 1 << 10  # paths that are made while the garbage collector pauses
METHODS = ("dijkstra", "bellman-ford")


def has_path(G: ConvertedGraph, source: Any, target: Any) -> bool:
    return len(_path_between(G, source, target)) > 0


def shortest_path(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: None = None, method: str = "dijkstra"
) -> Any:
    _check(method, METHODS)
    if source is not None and target is not None:
        return bidirectional_shortest_path(G, source, target)
    if source is not None:
        return single_source_shortest_path(G, source)
    if target is not None:
        return single_target_shortest_path(G, target)
    paths = implementation("all_pairs_shortest_path")(G)
    if VERSION >= (3, 5):
        return paths
    warnings.warn(PATHS_CHANGE, FutureWarning, stacklevel=4)
    return dict(paths)


def shortest_path_length(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: None = None, method: str = "dijkstra"
) -> Any:
    _check(method, METHODS)
    if source is not None and target is not None:
        return len(bidirectional_shortest_path(G, source, target)) - 1
    if source is not None:
        return single_source_shortest_path_length(G, source)
    if target is not None:
        return search_from(G, target, over=G.backward).lengths
    return implementation("all_pairs_shortest_path_length")(G)


def average_shortest_path_length(G: ConvertedGraph, weight: None = None, method: str | None = None) -> float:
    _check(method, (None, "unweighted"))
    n = len(G)
    if n == 1:
        return 0
    return int(connected_summary(G).total.sum()) / (n * (n - 1))


def all_shortest_paths(
    G: ConvertedGraph, source: Any, target: Any, weight: None = None, method: str = "dijkstra"
) -> Iterator[list[Any]]:
    search, end = search_from(G, source), G.find(target)
    if end is None or search.distances[end] < 0:
        return _paths_to(target, {})
    return _paths_to(target, _all_predecessors(search.towards(end)))


def single_source_all_shortest_paths(
    G: ConvertedGraph, source: Any, weight: None = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    return _all_paths(search_from(G, source))


def all_pairs_all_shortest_paths(
    G: ConvertedGraph, weight: None = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    return ((source, dict(_all_paths(search))) for source, search in searches(G))


def _all_paths(search: OrderedBFS) -> Iterator[tuple[Any, list[list[Any]]]]:
    predecessors = _all_predecessors(search)
    if VERSION >= (3, 5):
        return _paths_by_levels(search, predecessors)
    nodes = (node for node in search.graph.nodes.tolist() if node in predecessors)
    return ((node, list(_paths_to(node, predecessors))) for node in nodes)


def _paths_by_levels(search: OrderedBFS, predecessors: dict[Any, list[Any]]) -> Iterator[tuple[Any, list[list[Any]]]]:
    """Each node reached and all paths to it, made of those to the level above; the caller may change what it gets."""
    above: dict[Any, list[list[Any]]] = {}
    paths, level = above, 0
    rows = zip(predecessors.items(), search.depths.tolist(), strict=True)
    while True:
        answers, made = [], 0
        with many_objects():
            for (node, parents), depth in rows:
                if depth > level:
                    above, paths, level = paths, {}, depth
                paths[node] = [[*path, node] for parent in parents for path in above[parent]] if depth else [[node]]
                answers.append((node, list(map(list, paths[node]))))
                made += len(paths[node])
                if made >= AT_ONCE:
                    break
        if not answers:
            return
        yield from answers


def _paths_to(target: Any, predecessors: dict[Any, list[Any]]) -> Iterator[list[Any]]:
    """Every path to ``target`` along ``predecessors``, depth first."""
    if target not in predecessors:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    path, stack = [target], [iter(predecessors[target])]
    if not predecessors[target]:
        yield [target]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            path.pop()
            continue
        path.append(node)
        stack.append(iter(predecessors[node]))
        if not predecessors[node]:
            yield path[::-1]


def _check(method: str | None, known: tuple[str | None, ...]) -> None:
    if method not in known:
        raise FallBack
