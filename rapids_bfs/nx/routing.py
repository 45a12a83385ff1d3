"""The engine for each call, chosen by the amount of work and by what earlier searches of the graph have shown."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import networkx as nx

from ..engines import resolve
from ..graph import Graph

TINY = 1 << 14  # vertices times arcs
# Sources times arcs that keep a core busy for some 30 ms, longer than it takes to put a small graph on a GPU.
GPU_BATCH = 1 << 31
GPU_BETWEENNESS = 1 << 23
GPU_SEARCH = 1 << 18  # arcs of a sequential search of 0.7 ms, the time of a search on a GPU and its copies back
GPU_PREPARATION = 1 << 26  # arcs of sequential searches of 0.2 s, the time to put a graph on a GPU for the first time
WIDE = 1 << 14  # arcs per level, on average, from which a level takes longer than waking the threads for it


def engine() -> str:
    """The engine configured in ``nx.config.backends.rapids_bfs``."""
    return str(nx.config.backends.rapids_bfs.engine)


def batch_engine(edges: Graph, sources: int) -> str:
    """The engine for searches from this many vertices; a tiny graph is searched before other threads are awake."""
    tiny = edges.num_vertices * edges.num_arcs < TINY
    return "cpu:sequential" if tiny and engine() == "auto" else engine_for(sources * edges.num_arcs, GPU_BATCH)


def engine_for(work: int, enough: int) -> str:
    """The configured engine; "auto" takes a GPU only for ``enough`` work."""
    return "cpu" if engine() == "auto" and work < enough else engine()


_depths: WeakKeyDictionary[Graph, int] = WeakKeyDictionary()  # of the deepest search that reached much of a graph
_walked: WeakKeyDictionary[Graph, int] = WeakKeyDictionary()  # arcs that all searches of a graph have looked at


def note_search(edges: Graph, depth: int, reached: int, looks: int = 1) -> None:
    """Record a search of this ``depth`` that ``reached`` this many vertices and looked at one in ``looks`` arcs."""
    if 4 * reached >= edges.num_vertices:
        _depths[edges] = max(depth, _depths.get(edges, 0))
    _walked[edges] = _walked.get(edges, 0) + edges.num_arcs * reached // (looks * max(edges.num_vertices, 1))


def is_wide(edges: Graph, *, if_unknown: bool = False) -> bool:
    """Are the levels large enough for more than one thread? Unknown before a search has reached much of the graph."""
    depth = _depths.get(edges)
    return if_unknown if depth is None else edges.num_arcs >= WIDE * (depth + 1)


def ends_soon(edges: Graph, limit: int | None) -> bool:
    """Is the limit at most half of the known depth?"""
    return limit is not None and 2 * limit <= _depths.get(edges, 0)


def search_engine(edges: Graph, limit: int | None = None) -> str:
    """The engine for one search of these edges.

    "auto" takes a GPU for a large, wide graph, once its searches have taken as long as it takes to put it there: all
    searches together cost at most twice what they need. A search that ends half way stays on the CPU. Only engines
    that search deterministically are taken.
    """
    if engine() != "auto":
        return engine()
    pays = edges.num_arcs >= GPU_SEARCH and _walked.get(edges, 0) >= GPU_PREPARATION
    if not pays or ends_soon(edges, limit) or not is_wide(edges):
        return "cpu"
    return resolve("auto", deterministic=True).name
