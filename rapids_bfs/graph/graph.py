"""The graph that every engine runs on: CSR, immutable, with the user's vertex ids beside it."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property, partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import numpy as np

from .._core.arguments import checked_name
from .._core.csr import arcs, csr_for
from .._core.csr.checks import check_columns, check_graph
from .._core.cuda.arrays import CPU, CUDA, DEVICES, device_of, moved, to_host
from .._core.dtypes import frozen
from .._core.environment import check_environment
from .._core.forks import generation
from .._core.formatting import graph_size, html_table, size
from .._core.memory import require_bytes, require_device_bytes
from ..errors import InputError
from .edge_data import NO_EDGE_DATA, EdgeData, checked_edge_data
from .ids import Ids, Labelled
from .masks import Mask, checked_mask, one_way_error

if TYPE_CHECKING:
    from os import PathLike

check_environment()  # before any module that imports Numba

CHECKED = ("offsets", "targets", "labels", "directed", "edge_data")  # against each other, by the constructor
DERIVED = ("device", "num_vertices", "num_loops", "num_duplicates")  # from these, and kept
NOT_NETWORKX = "a graph of rapids_bfs is not a NetworkX graph: use graph.to('networkx')"


def _adapters(module: str = "") -> ModuleType:
    """The package of the adapters, or a module of it, imported by name and late: adapters import this module."""
    return import_module(f"..adapters{module}", __package__)


class Vertices(Ids):
    """A graph's vertices, for graphs on one device and over several."""

    __slots__ = ()

    @property
    @abstractmethod
    def num_vertices(self) -> int: ...

    @property
    def num_edges(self: Any) -> int:
        """Number of edges; an undirected edge counts once."""
        return int(self.num_arcs if self.directed else (self.num_arcs + self.num_loops) // 2)

    @property
    def num_devices(self) -> int:
        """How many devices the graph is distributed over."""
        return 1

    @property
    @abstractmethod
    def device(self) -> str:
        """The kind of the device that has the edges, or of the devices: "cpu" or "cuda"."""

    @property
    def answers_on(self) -> str:
        """Where arrays with an element for each vertex are returned: "cpu" or "cuda"."""
        return self.device

    def at_places(self, places: np.ndarray) -> np.ndarray:
        """The vertices at these places, 0..n-1, in the order of the ids, as arrays with an element for each vertex are.
        A distributed graph's vertices have other numbers."""
        return places

    def places_of(self, vertices: np.ndarray) -> np.ndarray:
        """The inverse of `at_places`; -1 stays -1."""
        return vertices

    def mask(self, vertices: Mask | None) -> Any:
        """A mask of the vertices as an array where answers are, or None. Raises `InputError` if it is not a mask."""
        return None if vertices is None else checked_mask(vertices, self, self.num_vertices, "vertices")

    @abstractmethod
    def sample_sources(self, count: int, seed: int) -> np.ndarray:
        """``count`` distinct vertices with an out-edge (int64), at random, or all of them if there are fewer."""

    def __len__(self) -> int:
        return self.num_vertices

    def neighbors(self, id: Hashable) -> list[Any]:
        """The ids of the targets of this vertex's out-edges, in the order of the edges.

        The sources of its in-edges are ``graph.reverse.neighbors(id)``. Raises `InputError` if no vertex has the id.
        """
        ids: list[Any] = self.ids_of(self._targets_of(self.vertex_of(id))).tolist()
        return ids

    @property
    def adj(self) -> NoReturn:
        """Raises `InputError`: NetworkX takes an object without ``adj`` for a list of edges."""
        raise InputError(NOT_NETWORKX)

    @property
    def is_directed(self) -> NoReturn:
        """Raises `AttributeError`, which says what to do: NetworkX's functions ask it first. See ``directed``."""
        raise AttributeError(NOT_NETWORKX)

    is_multigraph = is_directed

    @overload
    def to(self, kind: Literal["cpu", "cuda"]) -> Graph: ...
    @overload
    def to(self, kind: str) -> Any: ...
    def to(self, kind: str) -> Any:
        """The graph in one piece on a device, or as another type.

        "cpu" and "cuda" give a `Graph`: this one if it is there, else a copy, made once. "networkx", "igraph",
        "networkit", "rustworkx", "graphblas", "scipy", "pandas", "polars", "arrow", "edges", "csr" and "dict" convert
        the graph, and on a device "cudf", "pylibcudf", "arrow-device", "cupy", "cupyx", "cugraph", "pylibcugraph" and
        "nx-cugraph".

        Raises `InputError` if there is no such kind or device, or the graph does not fit.
        """
        if isinstance(kind, str) and kind in DEVICES:
            return self.whole._on(kind)
        return _adapters().export(self, kind)

    @property
    @abstractmethod
    def whole(self) -> Graph:
        """The graph in one piece: this one, or a copy on the host of one that is distributed, made once."""

    @abstractmethod
    def _targets_of(self, vertex: int) -> np.ndarray:
        """The targets of a vertex's out-edges, on the host."""


class Graph(Labelled, Vertices):
    """A graph in compressed sparse rows. Make one with `rapids_bfs.as_graph` or `rapids_bfs.read`.

    The out-edges of vertex v lead to ``targets[offsets[v]:offsets[v + 1]]``, in the given order. Vertices are 0..n-1.
    An undirected graph has each edge in both directions (a self-loop once).

    As in NetworkX, ``len(graph)`` is the number of vertices, ``id in graph`` looks one up, and ``for id in graph`` goes
    through the ids, here in the order of the vertices.

    The arrays are NumPy arrays on the host or CuPy arrays on a CUDA device; results and derived graphs are on the same
    side. `to` copies a graph to the other side.

    Attributes
    ----------
    offsets : array of n + 1, int32 while there are fewer than 2**31 edges, else int64
    targets : array of ``num_edges``, int32 while n < 2**31, else int64
        A CSR from a device may have int64 for fewer.
    labels : array of n or None
        The user's id of each vertex; None if ids are 0..n-1. Integer labels ascend. Other labels are on the host.
    directed : bool
        False only if every edge exists in both directions.
    name : str
    columns : pair of str
        Names of the columns of the edges, to export to a frame.
    frame : str
        The kind of frame that the graph was made from, and the default for frames of results ("pandas", ...).
    edge_data : EdgeData
        Named columns with an entry for each entry of ``targets``, by default none. ``edge_data["time"]`` is an array,
        of datetime64 for dates; strings are `Categories`. Derived graphs keep them, see `filter`.

    The constructor checks all of this, in time proportional to the edges, so kernels can rely on the arrays of a
    `Graph`, and an undirected graph has each edge in both directions. (A sum of keyed 64-bit hashes decides the latter:
    it errs for one graph in 2**64, which nobody can construct without this process's key.) It uses the arrays without a
    copy. Do not write to them afterwards: searching a graph whose arrays have changed is undefined, and may crash.

    Raises
    ------
    InputError
        If the arrays are no CSR, have other types, or contradict ``directed`` or ``labels``.

    Examples
    --------
    >>> from rapids_bfs import as_graph
    >>> graph = as_graph({"a": ["c", "b"], "b": [], "c": ["a"]})
    >>> len(graph), list(graph), "b" in graph, "z" in graph
    (3, ['a', 'b', 'c'], True, False)
    >>> graph.neighbors("a"), graph.reverse.neighbors("a")
    (['c', 'b'], ['c'])
    """

    __slots__ = ("__dict__", "__weakref__", "_traversals")  # everything but `_traversals` is shared with `for_engines`

    def __init__(
        self,
        offsets: np.ndarray,
        targets: np.ndarray,
        *,
        labels: np.ndarray | None = None,
        directed: bool = True,
        name: str = "graph",
        columns: tuple[str, str] = ("source", "target"),
        frame: str = "pandas",
        edge_data: Mapping[str, Any] | None = None,
    ) -> None:
        check_graph(offsets, targets, labels, directed, checked_name(name) or "graph")
        check_columns(columns, edge_data if isinstance(edge_data, Mapping) else (), name)
        checked = checked_edge_data(edge_data, len(targets), device_of(targets), name)
        self._take(offsets, targets, labels, directed, name, columns, frame, checked)

    @classmethod
    def _trusted(cls, *arrays: Any, **options: Any) -> Graph:
        """The constructor without its checks, for arrays just made by this package."""
        graph = cls.__new__(cls)
        graph._take(*arrays, **options)
        return graph

    def _take(
        self,
        offsets: np.ndarray,
        targets: np.ndarray,
        labels: np.ndarray | None = None,
        directed: bool = True,
        name: str = "graph",
        columns: tuple[str, str] = ("source", "target"),
        frame: str = "pandas",
        edge_data: EdgeData = NO_EDGE_DATA,
    ) -> None:
        self.offsets = frozen(offsets)
        self.targets = frozen(targets)
        self.labels = None if labels is None else frozen(labels)
        self.directed = bool(directed)
        self.name = name
        self.columns = columns
        self.frame = frame
        self.edge_data = edge_data
        self._owner = weakref.ref(self)
        self._original: Callable[[], Graph | None] = lambda: None  # of a copy on the other side, while it exists
        self._traversals: dict[int, dict[str, Any]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in DERIVED or (name in CHECKED and name in self.__dict__):
            way = "it follows from the arrays" if name in DERIVED else f"graph.replace({name}=...) makes another graph"
            raise AttributeError(f"a graph's {name} cannot be set: {way}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in CHECKED:
            raise AttributeError(f"a graph's {name} cannot be deleted")
        super().__delattr__(name)

    def check(self) -> None:
        """Repeat the constructor's checks, in case the arrays have changed. Raises `InputError`."""
        check_graph(self.offsets, self.targets, self.labels, self.directed, self.name)

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {graph_size(self.num_vertices, self.num_edges, self.directed)}>"

    def _repr_html_(self) -> str:
        rows = [
            ("vertices", f"{self.num_vertices:,}"),
            ("edges", f"{self.num_edges:,} {'directed' if self.directed else 'undirected'}"),
            ("ids", self._shown_ids()),
            ("device", self.device),
            ("memory", size(self.nbytes)),
        ]
        return html_table(rows, caption=self.name)

    def __iter__(self) -> Iterator[Any]:
        if self.labels is None:
            return iter(range(self.num_vertices))
        return map(self._host_labels.item, range(self.num_vertices))

    def __getstate__(self) -> dict[str, Any]:
        names = ("offsets", "targets", "labels", "directed", "name", "columns", "frame", "edge_data")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore and check a pickle. Arrays sent out of band, as by Dask, may be unaligned and are copied."""
        aligned = {name: np.require(a, requirements="A") for name, a in state.items() if isinstance(a, np.ndarray)}
        self.__init__(**state | aligned)  # type: ignore[misc]

    def replace(self, **changes: Any) -> Graph:
        """A copy of this graph with these constructor arguments replaced and checked."""
        return Graph(**self.__getstate__() | changes)

    def _with(self, **changes: Any) -> Graph:
        """`replace` without the checks, for arrays just made by this package."""
        return Graph._trusted(**self.__getstate__() | changes)

    @property
    def traversals(self) -> dict[str, Any]:
        """The traversals that engines have prepared for this graph in this process.

        A forked child prepares its own: in the copies of its parent's, a thread that the child lacks may hold a lock,
        and a buffer may be half written.
        """
        known, process = self._traversals, generation()
        return known[process] if process in known else known.setdefault(process, {})

    @property
    def for_engines(self) -> Graph:
        """A twin that shares everything but `traversals`, for engines to keep.

        If they kept this graph, it and its traversals would be a reference cycle, and its device memory would wait for
        the garbage collector.
        """
        twin = Graph.__new__(Graph)
        twin.__dict__ = self.__dict__
        twin._traversals = {}
        return twin

    @property
    def owner(self) -> Graph:
        """The graph of which this is the `for_engines` twin, while it exists; otherwise this one."""
        owner = self._owner()
        return self if owner is None else owner

    @cached_property
    def device(self) -> str:
        """Where the arrays are: "cpu" or "cuda"."""
        return device_of(self.targets)

    @property
    def whole(self) -> Graph:
        return self

    def _on(self, device: str) -> Graph:
        if device == self.device:
            return self
        original = self._original()
        return self._copy if original is None else original

    def is_on(self, device: str) -> bool:
        """Return True if `to` would copy nothing."""
        return device == self.device or "_copy" in self.__dict__ or self._original() is not None

    @cached_property
    def _copy(self) -> Graph:
        device, require = (CPU, require_bytes) if self.device == CUDA else (CUDA, require_device_bytes)
        require(self.nbytes + self.edge_data.nbytes, f"{self.name} on {device}")
        copy = self._with(
            offsets=moved(self.offsets, device),
            targets=moved(self.targets, device),
            labels=self.labels if self.labels is None or self.has_objects else moved(self.labels, device),
            edge_data=self.edge_data.on(device),
        )
        copy._original = self._owner
        return copy

    @property
    def _csr(self) -> ModuleType:
        return csr_for(self.targets)

    @cached_property
    def num_vertices(self) -> int:
        return len(self.offsets) - 1

    @property
    def num_arcs(self) -> int:
        """Entries of ``targets``: an undirected edge counts twice, a self-loop once."""
        return len(self.targets)

    @cached_property
    def num_loops(self) -> int:
        """Edges from a vertex to itself."""
        return int(self._csr.count_loops(self.offsets, self.targets))

    @cached_property
    def num_duplicates(self) -> int:
        """Entries of ``targets`` that repeat an earlier target of the same vertex."""
        return int(self._csr.count_repeats(*self._ascending()))

    @property
    def degrees(self) -> np.ndarray:
        """The out-degree of each vertex (of the type of ``offsets``, n), where the graph is."""
        return np.diff(self.offsets)

    def sample_sources(self, count: int, seed: int) -> np.ndarray:
        candidates: Any = np.flatnonzero(self.degrees)
        if not len(candidates):
            raise InputError(f"{self.name} has no edges: name a source")
        picked = np.random.default_rng(seed).choice(len(candidates), min(count, len(candidates)), replace=False)
        return to_host(candidates[moved(picked, self.device)])

    @property
    def nbytes(self) -> int:
        """Bytes of the CSR arrays."""
        return self.offsets.nbytes + self.targets.nbytes

    @property
    def reverse(self) -> Graph:
        """The graph with every edge reversed, built once, with the same types; an undirected graph itself.

        Edge data come along; they are put into the new order when they are first read.
        """
        return self._reverse if self.directed else self

    @cached_property
    def _reverse(self) -> Graph:
        offsets, targets = self._csr.transpose(self.offsets, self.targets, in_order=bool(self.edge_data))
        return self._with(
            offsets=offsets.astype(self.offsets.dtype, copy=False),
            targets=targets.astype(self.targets.dtype, copy=False),
            edge_data=self.edge_data.taken(self._arcs("transposed")),
        )

    @property
    def undirected(self) -> Graph:
        """The graph with every edge in both directions; this graph itself if it is undirected already.

        The edge data of an edge are those of both its arcs. If every edge is there in both directions already, each
        arc keeps its own.
        """
        if not self.directed:
            return self
        offsets, targets = self._csr.mirrored(self.offsets, self.targets, in_order=bool(self.edge_data))
        data = self.edge_data if targets is self.targets else self.edge_data.taken(self._arcs("mirrored"))
        return self._with(offsets=offsets, targets=targets, directed=False, edge_data=data)

    @property
    def simple(self) -> Graph:
        """The graph without self-loops and duplicate edges, each adjacency ascending.

        Of duplicate edges, the edge data of the first remain.
        """
        offsets, targets = self._csr.without_repeats_and_loops(*self._ascending())
        return self._with(offsets=offsets, targets=targets, edge_data=self.edge_data.taken(self._arcs("distinct")))

    def _arcs(self, change: str) -> Callable[[], np.ndarray]:
        """The position here of each arc of a derived graph, see `rapids_bfs._core.csr.arcs`."""
        return partial(getattr(arcs, change), self.offsets, self.targets)

    def filter(self, *, edges: Mask | None = None, vertices: Mask | None = None) -> Graph:
        """The graph with the same vertices and ids and with those edges that pass both masks.

        Parameters
        ----------
        edges : array of bool, or function of the graph that returns one
            One entry for each entry of ``targets``: True keeps the arc. An undirected graph wants one that treats both
            arcs of an edge alike, as a comparison of its edge data does. It may be on the host or on a device.
        vertices : array of bool, or function of the graph that returns one
            One entry for each vertex: True keeps it. The others lose all of their edges.

        Returns
        -------
        Graph
            Its arcs are in the same order, and have their `edge_data`. It takes about as long as a copy, and half as
            long again for the check that a mask of an undirected graph is symmetric.

        Raises
        ------
        InputError
            If a mask has another type or length, or tells the two arcs of an edge apart.

        Examples
        --------
        >>> from rapids_bfs import as_graph
        >>> edges = [0, 0, 1, 2], [1, 2, 2, 3]
        >>> graph = as_graph(edges, edge_data={"time": [1, 5, 2, 9]})
        >>> graph.filter(edges=graph.edge_data["time"] <= 2).neighbors(0)
        [1]
        >>> graph.filter(vertices=lambda graph: graph.degrees > 0).num_edges
        3
        """
        if edges is not None:
            edges = checked_mask(edges, self, self.num_arcs, "arcs")
        kept = self._csr.KeptArcs(self.offsets, self.targets, edges, self.mask(vertices))
        filtered = self._with(
            offsets=kept.offsets(self.offsets),
            targets=kept.compacted(self.targets),
            edge_data=self.edge_data.changed(kept.compacted),
        )
        if not self.directed and edges is not None:
            rows = filtered.offsets, filtered.targets
            if not kept.symmetric(self.offsets, self.targets, rows):
                raise one_way_error(filtered)
        return filtered

    def _ascending(self) -> Any:
        """Offsets and targets with each adjacency in ascending order."""
        return self._csr.ascending(self.offsets, self.targets, symmetric=not self.directed)

    def _targets_of(self, vertex: int) -> np.ndarray:
        begin, end = to_host(self.offsets[vertex : vertex + 2]).tolist()
        return to_host(self.targets[begin:end])

    def vertex_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and target vertices of every edge (of the type of ``targets``), where the graph is, in the order of
        the adjacencies; an undirected edge once, from its smaller end."""
        sources = self._csr.sources_of(self.offsets, self.targets)
        if self.directed:
            return sources, self.targets
        once = sources <= self.targets
        return sources[once], self.targets[once]

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the graph to ``path`` in the format of its suffix, see `rapids_bfs.read`."""
        _adapters(".files").save(self, path, force=force)
