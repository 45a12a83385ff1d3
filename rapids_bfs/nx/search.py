"""The traversals that all functions share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from .. import betweenness, bfs, bfs_batch
from ..engines import ready
from ..engines.cpu import NO_LIMIT, SMALL
from ..graph import Graph
from ..kernels.cpu import ordered, sequential
from ..kernels.cpu.bits import words
from ..threads import pool
from . import _dicts
from .graph import ConvertedGraph, LeftToNetworkX, addresses_of, levels

VERSION = tuple(map(int, nx.__version__.split(".")[:2]))

BATCH = 512  # sources that are searched side by side
BATCH_ENTRIES = 1 << 24  # of an array [sources, n]
TINY = 1 << 14  # vertices times arcs
# Sources times arcs that keep a core busy for some 30 ms, longer than it takes to put a small graph on a GPU.
GPU_BATCH = 1 << 31
GPU_BETWEENNESS = 1 << 23
FEW_EDGES = 1 << 23  # of a search without an order, which looks at few of them: one thread does it
SERIAL_EDGES = 1 << 20  # with fewer to look at, one thread does it: waking others on a busy machine takes milliseconds


def engine() -> str:
    """The engine that ``nx.config.backends.rapids_bfs`` asks for."""
    return str(nx.config.backends.rapids_bfs.engine)


def batch_engine(edges: Graph, sources: int) -> str:
    """The engine for searches from so many vertices; a tiny graph is searched before other threads are awake."""
    tiny = edges.num_vertices * edges.num_arcs < TINY
    return "cpu:sequential" if tiny and engine() == "auto" else engine_for(sources * edges.num_arcs, GPU_BATCH)


def engine_for(work: int, enough: int) -> str:
    """The engine that is asked for; "auto" takes a GPU only where it has ``enough`` work."""
    return "cpu" if engine() == "auto" and work < enough else engine()


@contextmanager
def many_objects() -> Iterator[None]:
    """Pause the garbage collector while objects are made by the million: it would walk the whole graph again and again.

    None of them is garbage.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@dataclass(frozen=True)
class Search:
    """What a sequential queue finds, in its order.

    Attributes
    ----------
    graph : ConvertedGraph
    order : array
        The vertices reached in the order of discovery, sources first.
    sources : int
        How many of them are sources.
    distances, predecessors : arrays of n
        -1 where there is none.
    """

    graph: ConvertedGraph
    order: np.ndarray
    sources: int
    distances: np.ndarray
    predecessors: np.ndarray

    @cached_property
    def nodes(self) -> list[Any]:
        """The nodes in the order of discovery."""
        return self.graph.nodes_at(self.order)

    @cached_property
    def depths(self) -> np.ndarray:
        """The distances of the vertices in order; they ascend."""
        return self.distances[self.order]

    @property
    def children(self) -> list[Any]:
        """The nodes that have a parent, in order."""
        return self.nodes[self.sources :]

    @property
    def parents(self) -> list[Any]:
        """The parents of `children`."""
        return self.graph.nodes_at(self.parent_vertices)

    @property
    def parent_vertices(self) -> np.ndarray:
        return self.predecessors[self.order[self.sources :]]

    @property
    def lengths(self) -> dict[Any, int]:
        """The distance of each node reached."""
        found: dict[Any, int] = {}
        numbers = list(range(self.depths[-1] + 1))
        filled = _dicts.fill_dict(
            id(found), self.graph.addresses, self.order, addresses_of(numbers), self.depths, _dicts.MEMORY
        )
        return found if filled else dict(zip(self.nodes, self.depths.tolist(), strict=True))

    @property
    def layers(self) -> Iterator[list[Any]]:
        """The nodes of each level."""
        bounds = np.searchsorted(self.depths, np.arange(self.depths[-1] + 2)).tolist()
        return map(self.nodes.__getitem__, map(slice, bounds[:-1], bounds[1:]))

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


def ordered_search(
    graph: ConvertedGraph, sources: np.ndarray, limit: Any = None, *, over: Graph | None = None
) -> Search:
    """Search from distinct vertices as a sequential queue does, ``over`` the forward edges unless others are given.

    "auto" means the CPU even where there is a GPU: to put another engine's tree into the order of the queue takes
    longer than this search does.
    """
    edges = graph.forward if over is None else over
    if engine() in ("auto", "cpu", "cpu:sequential"):
        return _sequential(graph, edges, sources, _depth(limit))
    result = bfs(edges, sources, depth_limit=levels(limit), deterministic=True, engine=engine())
    assert result.predecessors is not None
    order = np.empty(len(graph), edges.targets.dtype)
    reached = ordered.order_along(edges.offsets, edges.targets, sources, result.predecessors, order)
    return Search(graph, order[:reached], len(sources), result.distances, result.predecessors)


def _sequential(graph: ConvertedGraph, edges: Graph, sources: np.ndarray, depth: int) -> Search:
    n = len(graph)
    distances = np.empty(n, np.int32)
    predecessors, order = np.empty((2, n), edges.targets.dtype)
    reached = sequential.search(
        edges.offsets,
        edges.targets,
        sources,
        depth,
        ordered.NO_TARGET,
        distances,
        predecessors,
        order,
        np.empty(words(n), np.uint64),
    )
    return Search(graph, order[:reached], len(sources), distances, predecessors)


def _depth(limit: Any) -> int:
    depth = levels(limit)
    return NO_LIMIT if depth is None else depth


def reaches_all(graph: ConvertedGraph, *, over: Graph | None = None) -> bool:
    """Does a search from the first node reach every node? It has no order, so that it may skip most edges."""
    edges = graph.forward if over is None else over
    if engine() in ("auto", "cpu"):
        with pool.work_on(edges.num_arcs, FEW_EDGES):
            found = bfs(edges, 0, predecessors=False, engine="cpu" if edges.num_arcs >= SMALL else "cpu:sequential")
    else:
        found = bfs(edges, 0, predecessors=False, engine=engine())
    return found.num_reached == len(graph)


def search_from(graph: ConvertedGraph, node: Any, limit: Any = None, *, over: Graph | None = None) -> Search:
    """`ordered_search` from one node."""
    return ordered_search(graph, np.array([graph.vertex(node)]), limit, over=over)


def searches(graph: ConvertedGraph, limit: Any = None) -> Iterator[tuple[Any, Search]]:
    """Every node and the search from it. They are made some at a time: few at first, more and more later."""
    n = len(graph)
    most = max(1, min(BATCH, BATCH_ENTRIES // max(n, 1)))
    depth = _depth(limit)
    first, size = 0, 1
    while first < n:
        sources = np.arange(first, min(first + size, n))
        for vertex, search in zip(sources, _batch(graph, sources, depth), strict=True):
            yield graph.nodes[vertex], search
        first, size = first + size, min(2 * size, most)


def _batch(graph: ConvertedGraph, sources: np.ndarray, depth: int) -> list[Search]:
    edges, k, n = graph.forward, len(sources), len(graph)
    if k * edges.num_arcs < SERIAL_EDGES:
        return [_sequential(graph, edges, sources[i : i + 1], depth) for i in range(k)]
    distances = np.empty((k, n), np.int32)
    predecessors, orders = np.empty((2, k, n), edges.targets.dtype)
    reached = np.empty(k, np.int64)
    with pool as threads:
        ordered.search_each(
            edges.offsets, edges.targets, sources, depth, distances, predecessors, orders, reached, threads
        )
    return [Search(graph, orders[i, : reached[i]], 1, distances[i], predecessors[i]) for i in range(k)]


def summary(graph: ConvertedGraph, nodes: Any = None, *, over: Graph | None = None) -> Any:
    """How many vertices the search from each of these nodes (all, if None) reaches, how far, and the sums of that."""
    sources = None if nodes is None else graph.vertices(nodes)
    edges = graph.forward if over is None else over
    count = len(graph) if sources is None else len(sources)
    return bfs_batch(edges, sources, keep="summary", engine=batch_engine(edges, count))


def shares_of_paths(graph: ConvertedGraph, sources: np.ndarray | None, **options: Any) -> np.ndarray:
    """`betweenness` of the forward edges, by the CPU if the engine that is asked for has none."""
    edges = graph.forward
    count = len(graph) if sources is None else len(sources)
    name = engine_for(count * edges.num_arcs, GPU_BETWEENNESS)
    if name != "auto" and ready(name).betweenness(edges) is None:
        name = "cpu"
    return betweenness(edges, sources, engine=name, **options)


def connected_summary(graph: ConvertedGraph, nodes: Any = None) -> Any:
    """`summary`, if every search reaches every vertex; else NetworkX says that the graph is not connected."""
    found = summary(graph, nodes)
    if (found.reached < len(graph)).any():
        raise LeftToNetworkX
    return found
