"""Unweighted shortest paths, all shortest paths, and their lengths."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx

from ...calls import implementation
from ...graph import ConvertedGraph, FallBack
from ...search import VERSION, OrderedBFS, connected_summary, search_from, searches
from .unweighted import (
    all_predecessors,
    bidirectional_shortest_path,
    path_between,
    single_source_shortest_path,
    single_source_shortest_path_length,
    single_target_shortest_path,
)

PATHS_CHANGE = (
    "\n\nshortest_path will return an iterator that yields\n(node, path) pairs instead of a dictionary when source\n"
    "and target are unspecified beginning in version 3.5\n\nTo keep the current behavior, use:\n\n"
    "\tdict(nx.shortest_path(G))"
)
METHODS = ("dijkstra", "bellman-ford")


def has_path(G: ConvertedGraph, source: Any, target: Any) -> bool:
    return len(path_between(G, source, target)) > 0


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
    return _paths_to(target, all_predecessors(search_from(G, source)))


def single_source_all_shortest_paths(
    G: ConvertedGraph, source: Any, weight: None = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    return _all_paths(search_from(G, source))


def all_pairs_all_shortest_paths(
    G: ConvertedGraph, weight: None = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    return ((source, dict(_all_paths(search))) for source, search in searches(G))


def _all_paths(search: OrderedBFS) -> Iterator[tuple[Any, list[list[Any]]]]:
    predecessors = all_predecessors(search)
    nodes: Iterable[Any] = predecessors
    if VERSION < (3, 5):
        nodes = (node for node in search.graph.nodes.tolist() if node in predecessors)
    return ((node, list(_paths_to(node, predecessors))) for node in nodes)


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
