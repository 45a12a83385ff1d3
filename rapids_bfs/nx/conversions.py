"""The conversion of a graph as it is now: read from its dicts or, for a view, filtered from that of the graph below.

A view of NetworkX's asks a Python function for each node and edge that it shows. Where that function is one of
NetworkX's own filters, its set of nodes or edges says the same at once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, compress, repeat
from operator import is_not
from typing import Any, NamedTuple

import numpy as np
from networkx.classes import filters
from networkx.classes.coreviews import FilterAdjacency, FilterAtlas, FilterMultiAdjacency

from .._core.csr.building import offsets_of
from .._core.dtypes import index_dtype
from .._core.threads import pool
from ..graph import Graph
from ..kernels.cpu.networkx import views
from .cache import cache_conversion, cached_conversion
from .classes import is_being_written, is_read_as_theirs, state_of
from .graph import ConvertedGraph, FallBack

logger = logging.getLogger(__package__)

TRIES = 3  # conversions of a graph that changes meanwhile
PART = 16  # reading 1/PART of a graph through a view takes as long as reading all of it without
FEW_ARCS = 1 << 20  # to look at; fewer are left to one thread: waking others takes milliseconds if cores are busy
# NetworkX's filters by their code: how many arguments they take, and whether they show what is in their set or hide it.
FILTERS = {
    make(()).__code__: (arguments, make.__name__.startswith("show"))
    for arguments, makers in {
        1: [filters.hide_nodes],
        2: [filters.hide_edges, filters.hide_diedges, filters.show_edges, filters.show_diedges],
        3: [filters.hide_multiedges, filters.hide_multidiedges, filters.show_multiedges, filters.show_multidiedges],
    }.items()
    for make in makers
}


def converted(origin: Any) -> ConvertedGraph:
    """The conversion of a graph as it is now, `unread` if only NetworkX can read it.

    `FallBack` if another thread or a node's own method changes the graph during each of `TRIES` conversions.
    """
    for _ in range(TRIES):
        state = state_of(origin)
        try:
            new = _read(origin)
        except Exception as error:
            logger.debug("%s cannot be converted: %r", type(origin).__name__, error)
            new = ConvertedGraph.unread(origin)
            new.note_state()
        if state == new.state == state_of(origin) and new.shows_the_same:
            return new
    raise FallBack


def as_it_is_now(conversion: ConvertedGraph) -> ConvertedGraph:
    """The conversion, or a new one if the graph may have changed since.

    `FallBack` if it cannot be converted, or is being changed.
    """
    if is_being_written(conversion.origin):
        raise FallBack
    known = (each for each in _known(conversion) if each is not None and each.is_current and each.shows_the_same)
    newest = next(known, None)
    if newest is None:
        newest = conversion.latest = converted(conversion.origin)
        cache_conversion(conversion.origin, newest)
    if not newest.is_read:
        raise FallBack
    return newest


def _known(conversion: ConvertedGraph) -> Iterator[ConvertedGraph | None]:
    yield conversion
    yield conversion.latest
    yield cached_conversion(conversion.origin)


def _read(origin: Any) -> ConvertedGraph:
    """A new conversion, of a view by its filters if they say what it shows."""
    below = getattr(origin, "_graph", None)
    if below is not None and state_of(origin) is not None:
        try:
            return ConvertedView(origin, below)
        except Exception as error:  # a node's own methods may raise anything
            logger.debug("a view of %s is read like a graph: %r", type(below).__name__, error)
    return ConvertedGraph(origin)


class Filter(NamedTuple):
    """A filter of NetworkX's own, which ``shows`` what is ``listed`` or hides it; None lists everything."""

    shows: bool
    listed: set[Any] | None

    @classmethod
    def of(cls, function: Any, arguments: int) -> Filter:
        """`FallBack` if the function is none of NetworkX's, or takes another number of arguments."""
        if function is filters.no_filter:
            return cls(True, None)
        if arguments == 1 and type(function) is filters.show_nodes and not hasattr(function, "length"):
            return cls(True, function.nodes)
        known = FILTERS.get(getattr(function, "__code__", None))
        if known is None or known[0] != arguments:
            raise FallBack
        shows, listed = known[1], function.__closure__[0].cell_contents
        return cls(shows, listed) if shows or listed else cls(True, None)


class ConvertedView(ConvertedGraph):
    """A view of a graph through NetworkX's own filters, from the conversion of that graph.

    `FallBack` if the filters are others, or if reading the view takes less time.

    Attributes
    ----------
    below : ConvertedGraph
        The graph that it shows a part of.
    chosen : array of n
        Its vertices in ``below``.
    """

    def __init__(self, origin: Any, below: Any) -> None:
        self.origin = origin
        self.note_state()
        self._nodes = Filter.of(origin._NODE_OK, 1)
        self._edges = Filter.of(origin._EDGE_OK, 3 if origin.is_multigraph() else 2)
        if not is_read_as_theirs(below) or not _is_shown(below, origin) or not self._pays(below):
            raise FallBack
        self.below = as_it_is_now(ConvertedGraph.unread(below))
        self._choose()
        tails, heads = self._ends
        self.forward = self._part(self.below.forward, tails, heads)

    def _pays(self, below: Any) -> bool:
        """Return True if this takes less time than reading the view."""
        shows, listed = self._nodes
        return (
            cached_conversion(below) is not None
            or not shows
            or listed is None
            or PART * len(listed) >= len(below._node)
        )

    def _choose(self) -> None:
        """Set the nodes, in the view's order, and their vertices in the graph below."""
        shows, listed = self._nodes
        if listed is None:
            self.nodes, self.index = self.below.nodes, self.below.index
            self.chosen = np.arange(len(self.below))
            return
        nodes = list(listed)
        places = self._places(nodes)
        if self._is_in_the_sets_order(len(self.below)):
            self.chosen = places[places >= 0]
            self._take_nodes(list(compress(nodes, places >= 0)))
            if any(map(is_not, map(type, self.nodes), map(type, self.below.nodes[self.chosen]))):
                raise FallBack
        else:
            shown = np.full(len(self.below), not shows)
            shown[places[places >= 0]] = shows
            self.chosen = np.flatnonzero(shown)
            self._take_nodes(self.below.nodes[self.chosen].tolist())

    def _is_in_the_sets_order(self, length: Any) -> Any:
        """Return True if NetworkX iterates over the set of nodes to show, rather than over a dict of this length."""
        shows, listed = self._nodes
        return shows and listed is not None and 2 * len(listed) < length

    def _places(self, nodes: list[Any]) -> np.ndarray:
        """The vertices of these nodes in the graph below, -1 if they are not in it."""
        n = len(self.below)
        if self.below.index is None and set(map(type, nodes)) <= {int}:
            numbers = np.fromiter(nodes, np.int64, len(nodes))
            return np.where((numbers >= 0) & (numbers < n), numbers, -1)
        return np.fromiter(map(self.below.lookup.get, nodes, repeat(-1)), np.int64, len(nodes))

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Tails and heads, in the graph below, of the edges that the filter of edges lists."""
        pairs: Iterable[Any] = self._edges.listed or ()
        if not set(map(type, pairs)) <= {tuple}:  # such as "ab", which NetworkX sometimes reads as an edge
            raise FallBack
        if self.is_multigraph():
            pairs = [pair for pair in dict.fromkeys((tail, head) for tail, head, _ in pairs) if self._lists(*pair)]
        ends = self._places(list(chain.from_iterable(pairs))).reshape(-1, 2)
        tails, heads = ends[(ends >= 0).all(axis=1)].T
        return tails, heads

    def _lists(self, tail: Any, head: Any) -> bool:
        """Return True if the filter lists one of these parallel edges to show their arc, or all to hide it."""
        shows, listed = self._edges
        keys = self.below.origin._adj.get(tail, {}).get(head, ())
        return (any if shows else all)((tail, head, key) in (listed or ()) for key in keys)

    def _part(self, edges: Graph, tails: np.ndarray, heads: np.ndarray) -> Graph:
        """What the view shows of a graph with the vertices below, if its filter lists these edges of it."""
        n, looks = len(self), edges.offsets[self.chosen + 1] - edges.offsets[self.chosen]
        place = np.full(len(self.below), -1, edges.targets.dtype)
        place[self.chosen] = np.arange(n)
        passing, degrees = self._passing(edges, tails, heads), np.empty(n, np.int64)
        with pool.work_on(int(looks.sum()), FEW_ARCS):
            views.count_shown(edges.offsets, edges.targets, self.chosen, place, passing, degrees)
            offsets = offsets_of(degrees)
            targets = np.empty(offsets[-1], index_dtype(n))
            views.write_shown(edges.offsets, edges.targets, self.chosen, place, passing, offsets, targets)
        if self.is_multigraph():
            for row in np.flatnonzero(self._is_in_the_sets_order(looks) & (degrees > 1)).tolist():
                targets[offsets[row] : offsets[row + 1]].sort()
        return Graph(offsets, targets, directed=edges.directed, name=edges.name)

    def _passing(self, edges: Graph, tails: np.ndarray, heads: np.ndarray) -> np.ndarray:
        """A mask of the arcs that the filter of edges lets through, of length 0 if there is none."""
        if self._edges.listed is None:
            return np.empty(0, bool)
        marked, order = np.zeros(edges.num_arcs, bool), np.argsort(tails, kind="stable")
        views.mark_arcs(edges.offsets, edges.targets, tails[order], heads[order], marked)
        return marked if self._edges.shows else ~marked

    @cached_property
    def backward(self) -> Graph:
        if not self.is_directed():
            return self.forward
        tails, heads = self._ends
        return self._reversed(self._part(self.below.backward, heads, tails))

    @cached_property
    def num_edges(self) -> int:
        return super().num_edges if self.is_multigraph() else self.backward.num_edges


def _is_shown(below: Any, view: Any) -> bool:
    """Return True for a view of `networkx.subgraph_view`, with rows in the order that `ConvertedView` gives them."""
    adjacency = FilterMultiAdjacency if view.is_multigraph() else FilterAdjacency
    shown = [(FilterAtlas, view._node, below._node), (adjacency, view._adj, below._adj)]
    if view.is_directed():
        shown.append((adjacency, view._pred, below._pred))
    if any(
        type(part) is not cls or part._atlas is not whole or part.NODE_OK is not view._NODE_OK
        for cls, part, whole in shown
    ):
        return False
    sets = view.is_multigraph() and type(view._NODE_OK) is filters.show_nodes
    return view._adj.EDGE_OK is view._EDGE_OK and not (sets and _filters_edges(below))


def _filters_edges(graph: Any) -> bool:
    """Return True if this view, or one below it, filters edges, and so decides how long NetworkX finds its rows."""
    while graph is not None:
        if getattr(graph, "_EDGE_OK", filters.no_filter) is not filters.no_filter:
            return True
        graph = getattr(graph, "_graph", None)
    return False
