"""Which graphs are read as NetworkX's own classes are, and whether one has changed.

Only for these graphs does a conversion show what NetworkX would see. A graph that overrides how it is read, in its
class or on the object, is left to NetworkX: it may answer anything, and differently each time. New methods, and
overridden ways of writing, do not matter.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from types import FrameType
from typing import Any

import networkx as nx
from networkx.classes.filters import show_nodes

THEIRS = frozenset([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph, object])
DICTS = frozenset([dict, OrderedDict, defaultdict, object])
DATA = {"_adj", "_node", "_succ", "_pred"}
VIEWS = {"adj", "succ", "pred", "nodes", "edges", "in_edges", "out_edges", "degree", "in_degree", "out_degree"}
METHODS = {"neighbors", "successors", "predecessors", "adjacency", "nbunch_iter", "is_directed", "is_multigraph"}
COUNTS = {"order", "size", "number_of_nodes", "number_of_edges"}
COPIES = {"reverse", "to_undirected"}
SPECIAL = {"__iter__", "__len__", "__contains__", "__getitem__", "__getattribute__"}
READ_BY = frozenset(DATA | VIEWS | METHODS | COUNTS | COPIES | SPECIAL)
DICT_READ_BY = frozenset(SPECIAL | {"__missing__", "keys", "values", "items", "get"})
FILTERS = "networkx.classes.filters"
MARK = "rapids_bfs: unchanged"  # a key of NetworkX's cache, which a change empties
# The code of NetworkX's methods that empty it only after their last change. Before that, an iterator that the user
# passed to them may call this backend.
WRITERS = frozenset(
    getattr(getattr(cls, f"{change}_from"), "__code__", None)
    for cls in (nx.Graph, nx.DiGraph)
    for change in ("add_nodes", "add_edges", "remove_nodes", "remove_edges")
)


def is_read_as_theirs(graph: Any) -> bool:
    """Is the graph read as one of NetworkX's own classes, or as a view of one?

    The conversion checks the dicts of nodes and rows.
    """
    if not isinstance(graph, nx.Graph) or not _defines_none(type(graph), READ_BY, THEIRS):
        return False
    own = vars(graph).copy()  # another thread may use the graph's views, which adds them
    return all(is_dict(type(own[name])) for name in own.keys() & READ_BY)


def is_dict(cls: type) -> bool:
    """Are this class's objects read as a dict is, or as one of NetworkX's views of dicts?"""
    if cls.__module__.startswith("networkx.classes."):
        return True
    return issubclass(cls, dict) and _defines_none(cls, DICT_READ_BY, DICTS)


def _defines_none(cls: type, names: frozenset[str], theirs: frozenset[type]) -> bool:
    return all(names.isdisjoint(vars(each)) for each in cls.__mro__ if each not in theirs)


def state_of(graph: Any) -> tuple[object, ...] | None:
    """A value that equals an earlier one only if neither the graph nor, for a view, the graphs that it shows have
    changed, and the sets of nodes that views show have as many nodes (see `sets_shown`).

    When a graph changes, NetworkX empties the cache that it keeps with it, but not the caches of its views, which show
    the graph without a copy. If a change raises half way, NetworkX empties none, so the number of nodes counts too: it
    finds most of these. None if the state is unknown: the graph has no cache, or a function of the user's decides what
    the view shows.
    """
    marks: list[object] = []
    view = graph
    while graph is not None:
        chosen_by = (getattr(graph, name, None) for name in ("_NODE_OK", "_EDGE_OK"))
        if any(each is not None and each.__module__ != FILTERS for each in chosen_by):
            return None
        cache = getattr(graph, "__networkx_cache__", None)
        if cache is None:
            return None
        marks.append(cache.setdefault(MARK, object()))
        shown, graph = graph, getattr(graph, "_graph", None)
    return (*marks, len(shown._node), *map(len, sets_shown(view)))


def sets_shown(graph: Any) -> Iterator[set[Any]]:
    """The sets of nodes that this view and those below it show, as they are now: users can reach them and write to
    them, unlike what NetworkX's other filters have."""
    while graph is not None:
        chosen_by = getattr(graph, "_NODE_OK", None)
        if isinstance(chosen_by, show_nodes):
            yield chosen_by.nodes
        graph = getattr(graph, "_graph", None)


def is_being_written(graph: Any) -> bool:
    """Is this thread inside one of the `WRITERS`, on the graph or one that it shows?"""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code in WRITERS and _shows(graph, frame.f_locals["self"]):
            return True
        frame = frame.f_back
    return False


def _shows(view: Any, graph: Any) -> bool:
    """Is ``view`` the graph, or a view of it, or of a view of it?"""
    while view is not None and view is not graph:
        view = getattr(view, "_graph", None)
    return view is graph
