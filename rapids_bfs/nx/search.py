"""The traversals that all functions share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import to_host
from .._core.threads import pool
from ..algorithms.batch import bfs_batch
from ..algorithms.betweenness import betweenness
from ..algorithms.bfs import bfs
from ..engines import kernel_limit, require
from ..engines.cpu.search import SMALL
from ..graph import Graph
from ..kernels.cpu import sequential
from ..kernels.cpu.bits import words
from ..kernels.cpu.networkx import ordered
from .conversions import as_it_is_now
from .graph import ConvertedGraph, FallBack, levels, many_objects
from .routing import GPU_BETWEENNESS, batch_engine, ends_soon, engine_for, is_wide, note_search, search_engine

VERSION = tuple(map(int, nx.__version__.split(".")[:2]))

BATCH = 512  # sources of a batch
BATCH_ENTRIES = 1 << 24  # of an array [sources, n]
FEW_EDGES = 1 << 23  # of a graph; an unordered search of a smaller one probes few of them, on one thread
SERIAL_EDGES = 1 << 20  # probed by a search; fewer are left to one thread: waking others takes milliseconds if busy


@dataclass(frozen=True)
class OrderedBFS:
    """A search's answer in NetworkX's order, that of a sequential queue.

    Attributes
    ----------
    graph : ConvertedGraph
    order : array
        The vertices reached in the order of discovery, sources first.
    sources : int
        How many of them are sources.
    distances, predecessors : arrays of n
        -1 where there is none.
    given : list or None
        The sources as the caller gave them, if these objects are not the graph's own. Answers contain them.
    """

    graph: ConvertedGraph
    order: np.ndarray
    sources: int
    distances: np.ndarray
    predecessors: np.ndarray
    given: list[Any] | None = None

    def reached(self, *, sources: bool = True) -> set[Any]:
        """The nodes reached, with or without the sources."""
        return self.graph.set_at(self.order if sources else self.order[self.sources :])

    def at(self, distance: float) -> set[Any]:
        """The nodes at a distance."""
        return self.graph.set_at(self.order[self.depths == distance])

    @cached_property
    def nodes(self) -> list[Any]:
        """The nodes in the order of discovery."""
        return self.named(self.order)

    @cached_property
    def depths(self) -> np.ndarray:
        """The distances of the vertices in order; they ascend."""
        depths: np.ndarray = self.distances[self.order]
        return depths

    @property
    def children(self) -> list[Any]:
        """The nodes that have a parent, in order."""
        return self.nodes[self.sources :]

    @property
    def parents(self) -> list[Any]:
        """The parents of `children`."""
        return self.named(self.parent_vertices)

    def named(self, vertices: np.ndarray) -> list[Any]:
        """The nodes of vertices, sources as they were given."""
        nodes = self.graph.nodes_at(vertices)
        if self.given is not None:
            place = np.full(len(self.graph), -1)
            place[self.order[: self.sources]] = np.arange(self.sources)
            sources = place[vertices]
            for each in np.flatnonzero(sources >= 0).tolist():
                nodes[each] = self.given[sources[each]]
        return nodes

    @property
    def parent_vertices(self) -> np.ndarray:
        parents: np.ndarray = self.predecessors[self.order[self.sources :]]
        return parents

    def towards(self, vertex: int) -> OrderedBFS:
        """The same from one source, of what lies on a shortest path to a vertex reached."""
        edges, marks = self.graph.forward, np.zeros(len(self.graph), bool)
        ordered.mark_towards(edges.offsets, edges.targets, self.order, self.distances, vertex, marks)
        return replace(self, order=self.order[marks[self.order]], distances=np.where(marks, self.distances, -1))

    @property
    def lengths(self) -> dict[Any, int]:
        """The distance of each node reached."""
        found: dict[Any, int] = dict.fromkeys(self.given or (), 0)
        nodes = self.graph.nodes[self.order] if self.graph.index else self.order.tolist()
        found.update(zip(nodes, self.depths.tolist(), strict=True))
        return found

    @property
    def layers(self) -> Iterator[list[Any]]:
        """The nodes of each level."""
        bounds = np.searchsorted(self.depths, np.arange(self.depths[-1] + 2)).tolist()
        return (self.graph.nodes_at(self.order[begin:end]) for begin, end in pairwise(bounds))

    @many_objects()
    def paths(self, *, towards: bool = False) -> dict[Any, list[Any]]:
        """A list of nodes for each node reached: the path from the source, or ``towards`` it."""
        paths = {node: [node] for node in self.nodes[: self.sources]}
        if towards:
            for child, parent in zip(self.children, self.parents, strict=True):
                paths[child] = [child, *paths[parent]]
        else:
            for child, parent in zip(self.children, self.parents, strict=True):
                paths[child] = [*paths[parent], child]
        return paths


def ordered_bfs(
    graph: ConvertedGraph,
    sources: np.ndarray,
    limit: Any = None,
    *,
    over: Graph | None = None,
    given: list[Any] | None = None,
) -> OrderedBFS:
    """Search from distinct vertices in the order of a sequential queue, ``over`` the forward edges by default.
    ``given`` are the nodes of the sources as the caller gave them.

    The CPU has that queue. Any other engine finds the queue's tree, but not its order. Going over all edges to find
    the order takes longer than the queue itself. So the tree's edges are gathered where the engine left the tree, in
    microseconds on a GPU, and the host walks along these alone.
    """
    edges = graph.forward if over is None else over
    limit = levels(limit)
    name = search_engine(edges, limit)
    if name in ("cpu", "cpu:sequential") or not len(sources):
        found = _sequential(graph, edges, sources, kernel_limit(limit))
    else:
        found = _along_tree(graph, edges, sources, limit, name)
    if len(sources):
        note_search(edges, int(found.distances[found.order[-1]]), len(found.order))
    if given is None or all(map(graph.is_own, given)):
        return found
    return replace(found, given=given)


def _along_tree(graph: ConvertedGraph, edges: Graph, sources: np.ndarray, limit: int | None, name: str) -> OrderedBFS:
    here = edges.to(require(name, deterministic=True).engine.searches_on)
    result = bfs(here, sources, depth_limit=limit, deterministic=True, engine=name)
    bounds, children = tree_of(here, result.predecessors)
    predecessors = to_host(result.predecessors)
    order = np.empty(len(graph), predecessors.dtype)
    reached = ordered.order_along(to_host(bounds), to_host(children), sources, order)
    return OrderedBFS(graph, order[:reached], len(sources), to_host(result.distances), predecessors)


def tree_of(edges: Graph, predecessors: Any) -> tuple[Any, Any]:
    """Offsets (n + 1) and targets of the edges of a tree, in the order of the adjacencies; where the graph lives."""
    owners = csr_for(edges.targets).sources_of(edges.offsets, edges.targets)
    places = np.flatnonzero(predecessors[edges.targets] == owners)
    if len(places) > int((predecessors >= 0).sum()):  # of parallel edges the first is the tree's
        places = places[np.sort(np.unique(edges.targets[places], return_index=True)[1])]
    return np.searchsorted(places, edges.offsets).astype(edges.offsets.dtype), edges.targets[places]


def _sequential(graph: ConvertedGraph, edges: Graph, sources: np.ndarray, depth: int) -> OrderedBFS:
    n = len(graph)
    distances = np.empty(n, np.int32)
    predecessors, order = np.empty((2, n), edges.targets.dtype)
    visited = np.empty(words(n), np.uint64)
    reached = sequential.search(
        edges.offsets,
        edges.targets,
        sources,
        depth,
        sequential.NO_TARGET,
        distances,
        predecessors,
        order,
        visited,
        visited[:0],
    )
    return OrderedBFS(graph, order[:reached], len(sources), distances, predecessors)


@dataclass(frozen=True)
class UnorderedBFS:
    """The distances of a search from one vertex, without an order: such a search may skip most edges.

    Attributes
    ----------
    graph : ConvertedGraph
    edges : Graph
    vertex : int
    distances : array of n, where the engine searched
    """

    graph: ConvertedGraph
    edges: Graph
    vertex: int
    distances: Any

    def reached(self, *, sources: bool = True) -> set[Any]:
        """The nodes reached, with or without the source. A few are in the order of a search that has one."""
        chosen = self.distances >= (0 if sources else 1)
        return self._where(chosen, lambda search: search.reached(sources=sources))

    def at(self, distance: float) -> set[Any]:
        """The nodes at a distance."""
        return self._where(self.distances == distance, lambda search: search.at(distance))

    def _where(self, chosen: Any, ask: Callable[[OrderedBFS], set[Any]]) -> set[Any]:
        """The nodes that are ``chosen``; if their order counts, the answer of an ordered search."""
        chosen = to_host(chosen)
        if self.graph.ascends(int(np.count_nonzero(chosen))):
            return self.graph.set_where(chosen)
        return ask(ordered_bfs(self.graph, np.array([self.vertex]), over=self.edges))


def reach(
    graph: ConvertedGraph, vertex: int, limit: Any = None, *, over: Graph | None = None
) -> OrderedBFS | UnorderedBFS:
    """Search from one vertex, up to ``limit`` at least, by the faster kind of search. For sets of nodes."""
    edges = graph.forward if over is None else over
    if graph.ascends(len(graph)) and is_wide(edges) and not ends_soon(edges, levels(limit)):
        return unordered_bfs(graph, vertex, over=edges)
    return ordered_bfs(graph, np.array([vertex]), limit, over=edges)


def unordered_bfs(graph: ConvertedGraph, vertex: int, *, over: Graph | None = None) -> UnorderedBFS:
    """Search from one vertex, ``over`` the forward edges by default."""
    edges = graph.forward if over is None else over
    name = search_engine(edges)
    if name == "cpu":
        one = edges.num_arcs < SMALL or not is_wide(edges, if_unknown=True)
        with pool.work_on(edges.num_arcs, FEW_EDGES):
            found = bfs(edges, vertex, predecessors=False, engine="cpu:sequential" if one else "cpu")
    else:
        found = bfs(edges.to(require(name).engine.searches_on), vertex, predecessors=False, engine=name)
    note_search(edges, found.depth, found.num_reached, looks=8)
    return UnorderedBFS(graph, edges, vertex, found.distances)


def reaches_all(graph: ConvertedGraph, *, over: Graph | None = None) -> bool:
    """Does a search from the first node reach every node?"""
    return bool((unordered_bfs(graph, 0, over=over).distances >= 0).all())


def search_from(graph: ConvertedGraph, node: Any, limit: Any = None, *, over: Graph | None = None) -> OrderedBFS:
    """`ordered_bfs` from one node."""
    return ordered_bfs(graph, np.array([graph.vertex(node)]), limit, over=over, given=[node])


def searches(graph: ConvertedGraph, limit: Any = None) -> Iterator[tuple[Any, OrderedBFS]]:
    """Each node and the search from it, in the graph as it is at that moment; nodes may not come or go.

    Searches run in batches: small at first, then larger and larger, and small again after a change of the graph.
    """
    n = len(graph)
    most = max(1, min(BATCH, BATCH_ENTRIES // max(n, 1)))
    depth = kernel_limit(levels(limit))
    first, size = 0, 1
    while first < n:
        sources = np.arange(first, min(first + size, n))
        size = min(2 * size, most)
        for vertex, search in zip(sources, _batch(graph, sources, depth), strict=True):
            yield graph.nodes[vertex], search
            first += 1
            if not graph.is_current:
                graph, size = changed(graph, first), 1
                break


def changed(graph: ConvertedGraph, visited: int) -> ConvertedGraph:
    """The conversion of a graph that changed after ``visited`` of its nodes were visited.

    If nodes were added or removed, raises the `RuntimeError` of the dict iterator that NetworkX would hold.
    """
    new = as_it_is_now(graph)
    if len(new) != len(graph):
        raise RuntimeError("dictionary changed size during iteration")
    if new.nodes[:visited].tolist() != graph.nodes[:visited].tolist():
        raise RuntimeError("dictionary keys changed during iteration")
    return new


def _batch(graph: ConvertedGraph, sources: np.ndarray, depth: int) -> list[OrderedBFS]:
    edges, k, n = graph.forward, len(sources), len(graph)
    if k * edges.num_arcs < SERIAL_EDGES:
        return [_sequential(graph, edges, sources[i : i + 1], depth) for i in range(k)]
    distances = np.empty((k, n), np.int32)
    predecessors, orders = np.empty((2, k, n), edges.targets.dtype)
    reached = np.empty(k, np.int64)
    ordered.search_each(
        edges.offsets, edges.targets, sources, depth, distances, predecessors, orders, reached, *pool.team()
    )
    return [OrderedBFS(graph, orders[i, : reached[i]], 1, distances[i], predecessors[i]) for i in range(k)]


def summary(graph: ConvertedGraph, nodes: Any = None, *, over: Graph | None = None) -> Any:
    """The summaries of searches from these nodes (all, if None)."""
    sources = None if nodes is None else graph.vertices(nodes)
    edges = graph.forward if over is None else over
    count = len(graph) if sources is None else len(sources)
    return bfs_batch(edges, sources, keep="summary", engine=batch_engine(edges, count))


def shares_of_paths(graph: ConvertedGraph, sources: np.ndarray | None, **options: Any) -> np.ndarray:
    """`betweenness` of the forward edges; on the CPU if the configured engine has no betweenness."""
    edges = graph.forward
    count = len(graph) if sources is None else len(sources)
    name = engine_for(count * edges.num_arcs, GPU_BETWEENNESS)
    if name != "auto" and require(name).betweenness(edges) is None:
        name = "cpu"
    return betweenness(edges, sources, engine=name, **options)


def connected_summary(graph: ConvertedGraph, nodes: Any = None) -> Any:
    """`summary`, if every search reaches every vertex; otherwise NetworkX raises its error."""
    found = summary(graph, nodes)
    if (found.reached < len(graph)).any():
        raise FallBack
    return found
