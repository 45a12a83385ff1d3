"""Graphs that are read as NetworkX's own classes are: a conversion of these alone shows what NetworkX would see.

NetworkX answers for a graph that overrides how it is read, in its class or on the object: it may read anything, and
differently each time. New methods, and overridden ways of writing, do not matter.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

import networkx as nx

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
