"""A NetworkX graph's conversion: CSR in its own adjacency order, and its nodes."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from operator import is_not, ne
from typing import Any

import numpy as np

from .._core.arguments import name_of
from .._core.csr.building import Degrees, offsets_of
from .._core.csr.host import edge_blocks, sources_of
from .._core.dtypes import index_dtype
from ..errors import InputError
from ..graph import Graph
from .classes import is_dict, sets_shown, state_of
from .functions import BACKEND

MAX_LEVELS = np.iinfo(np.int32).max  # a distance is an int32
FEW = 5  # 1/FEW of the nodes are few: removing them from a copy of all is faster than making a set of the others


@contextmanager
def many_objects() -> Iterator[None]:
    """Pause the garbage collector while millions of objects are made: none is garbage, and it would walk the whole
    graph again and again."""
    running = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if running:
            gc.enable()


class FallBack(Exception):
    """NetworkX is to answer this call, mostly with an exception of its own. Only `calls` catches it."""


class ConvertedGraph:
    """A NetworkX graph as the backend searches it. Parallel edges count once, as they do in an adjacency.

    Attributes
    ----------
    origin : networkx.Graph
        The graph that was converted; it has the attributes. NetworkX drops the conversion when it changes.
    nodes : object array of n
        The nodes in NetworkX's order; vertex v is ``nodes[v]``.
    forward : Graph
        Its adjacencies are in the order of ``G.adj``, those of its reverse in that of ``G.pred``. What engines
        prepare is kept with it.
    """

    __networkx_backend__ = BACKEND

    state: tuple[object, ...] | None = None
    shown: tuple[object, ...] = ()
    latest: ConvertedGraph | None = None  # the conversion that replaced it after a change of the graph

    def __init__(self, origin: Any) -> None:
        self.origin = origin
        self.note_state()
        rows = origin._adj
        nodes = list(rows)
        if nodes != list(origin._node):
            raise FallBack
        self._take_nodes(nodes)
        offsets, targets = self._compressed(rows)
        directed, name = bool(origin.is_directed()), name_of(origin, "networkx")
        try:
            self.forward = Graph(offsets, targets, directed=directed, name=name)
        except InputError:  # it says that it is undirected, and has an edge in one direction only
            raise FallBack from None

    @classmethod
    def unread(cls, origin: Any) -> ConvertedGraph:
        """A conversion that has not been read yet; once its state is noted, one that cannot be read in that state."""
        new = cls.__new__(cls)
        new.origin = origin
        return new

    def note_state(self) -> None:
        """Note what `is_current` and `shows_the_same` compare with."""
        self.state = state_of(self.origin)
        self.shown = tuple(map(frozenset, sets_shown(self.origin)))

    def _take_nodes(self, nodes: list[Any]) -> None:
        self.nodes = np.fromiter(nodes, object, len(nodes))
        self.index = None if _are_numbers(nodes) else dict(zip(nodes, range(len(nodes)), strict=True))
        if self.index is not None and not set(map(type, nodes)) <= {int, str} and any(map(ne, nodes, nodes)):
            raise FallBack  # NetworkX's functions compare nodes, and NaN is not even equal to itself

    def __getstate__(self) -> dict[str, Any]:
        """A pickle or copy has another graph and other nodes: it is `unread`."""
        return {"origin": self.origin}

    @property
    def is_read(self) -> bool:
        return "forward" in self.__dict__

    @property
    def is_current(self) -> bool:
        """Return True if the graph is as it was when it was converted; False, too, if `state_of` cannot tell."""
        return self.state is not None and self.state == state_of(self.origin)

    @property
    def shows_the_same(self) -> bool:
        """Return True if the sets of nodes that views show, which anybody may write to, are as they were."""
        return self.shown == tuple(sets_shown(self.origin))

    def is_directed(self) -> bool:
        return bool(self.origin.is_directed())

    def is_multigraph(self) -> bool:
        return bool(self.origin.is_multigraph())

    def __len__(self) -> int:
        return len(self.nodes)

    def _compressed(self, rows: Mapping[Any, Mapping[Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and targets of a dict from nodes to the dicts of their neighbours.

        `FallBack` if a neighbour is no node, a dict is read in its own way, or another thread changes one.
        """
        try:
            containers = {type(rows), *map(type, rows.values())}
            if not all(map(is_dict, containers)):
                raise FallBack
            degrees = np.fromiter(map(len, rows.values()), np.int64)
            if len(degrees) != len(self):
                raise FallBack
            targets = np.empty(degrees.sum(), index_dtype(len(self)))
            if not (containers <= {dict} and self._read_directly(rows, degrees, targets)):
                degrees, targets = self._read_plainly(rows)
        except Exception as error:  # a node's own methods may raise anything
            raise FallBack from error
        return offsets_of(degrees), targets

    def _read_directly(self, rows: Any, degrees: np.ndarray, targets: np.ndarray) -> bool:
        """Fill degrees and targets; False if that is impossible."""
        from . import _dicts

        exact = self.index is None or set(map(type, self.index)) <= {int, str}
        return exact and _dicts.AVAILABLE and _dicts.read(rows, self.index, degrees, targets)

    def _read_plainly(self, rows: Mapping[Any, Mapping[Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
        """Degrees and targets of rows of any kind."""
        with many_objects():
            neighbors = list(map(tuple, rows.values()))
        degrees = np.fromiter(map(len, neighbors), np.int64, len(self))
        flat = list(chain.from_iterable(neighbors))
        if self.index is None and set(map(type, flat)) <= {int}:
            targets = np.fromiter(flat, index_dtype(len(self)), len(flat))
            if ((targets < 0) | (targets >= len(self))).any():
                raise FallBack
        else:
            targets = np.fromiter(map(self.lookup.__getitem__, flat), index_dtype(len(self)), len(flat))
            self._check_types(flat, targets)
        return degrees, targets

    def _check_types(self, neighbors: list[Any], targets: np.ndarray) -> None:
        """`FallBack` if a neighbour's type differs from that of the equal node, such as 1.0 and 1.

        The edge decides which of the two appears in an answer.
        """
        if {*map(type, neighbors), *map(type, self.nodes)} == {type(self.nodes[0])}:
            return
        types = np.fromiter(map(type, self.nodes), object, len(self))
        if any(map(is_not, map(type, neighbors), types[targets])):
            raise FallBack

    @cached_property
    def backward(self) -> Graph:
        """The graph of the in-edges, in the order of ``G.pred``."""
        if not self.is_directed():
            return self.forward
        offsets, targets = self._compressed(self.origin._pred)
        if not _are_mirrored((self.forward.offsets, self.forward.targets), (offsets, targets)):
            raise FallBack
        return self._reversed(Graph(offsets, targets, name=self.forward.name))

    def _reversed(self, backward: Graph) -> Graph:
        """``backward``, as the reverse of the forward graph."""
        self.forward._reverse, backward._reverse = backward, self.forward
        return backward

    @cached_property
    def symmetrized(self) -> Graph:
        """The graph with each edge in both directions; a vertex's out-edges come before its in-edges."""
        return _joined(self.forward, self.backward) if self.is_directed() else self.forward

    @cached_property
    def symmetrized_in_first(self) -> Graph:
        """`symmetrized`, but a vertex's in-edges come first."""
        return _joined(self.backward, self.forward) if self.is_directed() else self.forward

    @cached_property
    def undirected(self) -> Graph:
        """The graph in the order of ``G.to_undirected()``, which adds each edge to both ends in turn."""
        heads = self.forward.targets
        tails = sources_of(self.forward.offsets, heads)
        ends = np.stack([tails, heads], axis=1)
        targets = ends[:, ::-1].ravel()[np.argsort(ends.ravel(), kind="stable")]
        offsets = offsets_of(np.bincount(ends.ravel(), minlength=len(self)))
        return Graph(offsets, targets, directed=False, name=self.forward.name)

    @cached_property
    def num_edges(self) -> int:
        """Edges as NetworkX counts them, parallel ones too; of a directed graph from both ends."""
        if self.is_multigraph():
            return int(self.origin.number_of_edges())
        edges = self.forward.num_edges
        return (edges + sum(map(len, self.origin._pred.values()))) // 2 if self.is_directed() else edges

    def vertex(self, node: Any) -> int:
        """The vertex of a node; `FallBack` if it is not in the graph."""
        found = self.find(node)
        if found is None:
            raise FallBack
        return found

    def find(self, node: Any) -> int | None:
        """The vertex of a node; None if it is not in the graph; `FallBack` if its hash or comparison raises."""
        if self.index is None and type(node) is int:
            return node if 0 <= node < len(self.nodes) else None
        try:
            return self.lookup.get(node)
        except TypeError:  # it has no hash
            return None
        except Exception as error:
            raise FallBack from error

    @cached_property
    def lookup(self) -> dict[Any, int]:
        """The vertex of each node."""
        return self.index or dict(zip(self.nodes.tolist(), range(len(self)), strict=True))

    def is_own(self, node: Any) -> bool:
        """Return True if this is the graph's own object for the node, rather than an equal one."""
        own = self.nodes[self.vertex(node)]
        return own is node or (type(own) is type(node) and type(own) in (int, str))

    def vertices(self, nodes: Iterable[Any]) -> np.ndarray:
        """The vertices (int64) of several nodes."""
        return np.fromiter(map(self.vertex, nodes), np.int64)

    def known(self, nodes: Iterable[Any]) -> np.ndarray:
        """The vertices of several nodes, all of them known to be in the graph."""
        vertices = map(int if self.index is None else self.index.__getitem__, nodes)
        return np.fromiter(vertices, index_dtype(len(self)))

    def nodes_at(self, vertices: np.ndarray) -> list[Any]:
        """The nodes of vertices."""
        nodes: list[Any] = (vertices if self.index is None else self.nodes[vertices]).tolist()  # new ints come faster
        return nodes

    @cached_property
    def everything(self) -> set[Any]:
        """All nodes. Copying a set takes a tenth of the time of making one."""
        return set(self.nodes.tolist())

    def set_at(self, vertices: np.ndarray) -> set[Any]:
        """The set that results from adding the nodes of these distinct vertices in this order."""
        if not self.ascends(len(vertices)):
            return set(self.nodes_at(vertices))
        chosen = np.zeros(len(self), bool)
        chosen[vertices] = True
        return self.set_where(chosen)

    def set_where(self, chosen: np.ndarray) -> set[Any]:
        """The ``chosen`` nodes (bool[n]), if such a set `ascends`."""
        others = np.flatnonzero(~chosen)
        if FEW * len(others) < len(self):
            return self.everything.difference(self.nodes_at(others))
        return set(self.nodes_at(np.flatnonzero(chosen)))

    def ascends(self, count: int) -> bool:
        """Return True if any set of ``count`` nodes iterates in ascending order, however it was made.

        The size of a set's hash table is a power of two, more than 5/3 per element. An int is in the slot of its own
        number if the table is large enough.
        """
        return self.bound <= 1 << (5 * count // 3 + 1).bit_length()

    @cached_property
    def bound(self) -> float:
        """One more than the highest node, if all are whole numbers from 0 on; else infinity."""
        if self.index is None:
            return len(self)
        nodes = self.nodes.tolist()
        return max(nodes) + 1 if set(map(type, nodes)) == {int} and min(nodes) >= 0 else math.inf


def arcs_from(edges: Graph, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets of the arcs out of these vertices, one vertex after the other."""
    begins = edges.offsets[vertices]
    degrees = edges.offsets[1:][vertices] - begins
    ends = np.cumsum(degrees, dtype=np.int64)
    first = begins - (ends - degrees)
    return np.repeat(vertices, degrees), edges.targets[np.arange(degrees.sum()) + np.repeat(first, degrees)]


def induced(edges: Graph, vertices: np.ndarray) -> Graph:
    """The graph of these vertices, renumbered in their order; no edge may lead out of them."""
    rank = np.empty(edges.num_vertices, edges.targets.dtype)
    rank[vertices] = np.arange(len(vertices))
    _, targets = arcs_from(edges, vertices)
    return Graph(offsets_of(edges.degrees[vertices]), rank[targets], directed=edges.directed, name=edges.name)


def _joined(first: Graph, second: Graph) -> Graph:
    """The edges of both graphs; each adjacency holds those of ``first`` before those of ``second``."""
    before = second.offsets[:-1].astype(np.int64)
    after = first.offsets[1:].astype(np.int64)
    targets = np.empty(first.num_arcs + second.num_arcs, first.targets.dtype)
    targets[np.arange(first.num_arcs) + np.repeat(before, first.degrees)] = first.targets
    targets[np.arange(second.num_arcs) + np.repeat(after, second.degrees)] = second.targets
    offsets = first.offsets.astype(np.int64) + second.offsets
    return Graph(offsets.astype(index_dtype(len(targets))), targets, directed=False, name=first.name)


def _are_mirrored(forward: tuple[np.ndarray, np.ndarray], backward: tuple[np.ndarray, np.ndarray]) -> bool:
    """Return True if each CSR holds the edges of the other, reversed.

    They do if all of them, taken as edges between two copies of the n vertices, are symmetric.
    """
    n = len(forward[0]) - 1
    both = Degrees(2 * n)
    for source, target in edge_blocks(*forward):
        both.add(source, target + n)
    for source, target in edge_blocks(*backward):
        both.add(source + n, target)
    return both.symmetric


def _are_numbers(nodes: list[Any]) -> bool:
    """Return True if the nodes are 0..n-1, in this order."""
    return set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes)))


def levels(limit: Any) -> int | None:
    """How many levels NetworkX goes down with this ``cutoff`` or ``depth_limit``; None for all."""
    if limit is None:
        return None
    if isinstance(limit, np.generic):
        limit = limit.item()
    if type(limit) not in (bool, int, float):
        raise FallBack  # NetworkX compares it with numbers in its own way, or cannot
    if not limit > 0:  # or not a number
        return 0
    return None if limit > MAX_LEVELS else math.ceil(limit)
