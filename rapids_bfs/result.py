"""The result of a BFS."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ._core import rapids
from ._core.arguments import quoted
from ._core.cuda.arrays import CPU, checked_device, finish, moved, on_device, to_host
from ._core.formatting import counted, html_table
from .adapters import RESULT_COLUMNS
from .adapters.arrow import frame
from .errors import InputError
from .graph import Graph
from .trace import Trace

NO_PREDECESSORS = "the search kept no predecessors: ask for predecessors=True"


def same_answers(one: Any, other: Any, *apart: str) -> bool:
    """Do two results of one class hold the same graph, and equal values in all other fields but the trace and
    ``apart``?"""
    if one.graph is not other.graph:
        return False
    names = [field.name for field in fields(one) if field.name not in ("graph", "trace", *apart)]
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return all(mine is theirs or _equal(mine, theirs) for mine, theirs in pairs)


def _equal(one: Any, other: Any) -> bool:
    if hasattr(one, "shape") and hasattr(other, "shape"):
        return one.shape == other.shape and bool((one == other).all())
    return type(one) is type(other) and bool(one == other)


class Distances:
    """The distances of vertices by their ids, for results on one device and over several."""

    graph: Any
    depth_limit: int | None
    target: int | None
    __iter__: None = None  # otherwise Python would iterate over result[0], result[1], ...

    @abstractmethod
    def _distance_at(self, vertex: int) -> int:
        """The distance of a vertex; that of a distributed graph is its global id."""

    def distance_to(self, id: Hashable) -> int:
        """The distance of the vertex with this id, -1 if it was not reached. Raises `InputError` if none has it."""
        return self._distance_at(self.graph.vertex_of(id))

    @property
    def stopped_at(self) -> int | None:
        """The distance at which the search stopped early (its depth limit, or the target's distance), else None."""
        limits = [] if self.depth_limit is None else [self.depth_limit]
        if self.target is not None and (distance := self._distance_at(self.target)) >= 0:
            limits.append(distance)
        return min(limits, default=None)

    @abstractmethod
    def to(self, device: str) -> BFSResult:
        """The result in one piece on "cpu" or "cuda", its graph too."""

    @abstractmethod
    def distances_on_host(self) -> np.ndarray:
        """The distances of all vertices (int32, n), on the host, in the order of the ids; -1 for unreached vertices."""

    @abstractmethod
    def vertices_to(self, vertex: int) -> np.ndarray:
        """The vertices along a shortest path from a source to this one, including both; none if it was not reached.

        Raises `InputError` if predecessors are missing or have been changed since.
        """

    def path_to(self, id: Hashable) -> list[Any]:
        """Ids along a shortest path from a source to the vertex with this id, including both ends.

        Raises `InputError` if the vertex is unreached, or predecessors are missing or have been changed since.
        """
        path = self.vertices_to(self.graph.vertex_of(id))
        if not len(path):
            raise InputError(f"{quoted(id)} was not reached")
        ids: list[Any] = self.graph.ids_of(path).tolist()
        return ids

    def __contains__(self, id: object) -> bool:
        vertex = self.graph._find(id)
        return vertex >= 0 and self._distance_at(vertex) >= 0

    def __getitem__(self, id: Hashable) -> int:
        vertex = self.graph._find(id)
        distance = self._distance_at(vertex) if vertex >= 0 else -1
        if distance < 0:
            raise KeyError(f"{quoted(id)} is not one of the vertices reached")
        return distance

    def _repr_html_(self: Any) -> str:
        n = counted(self.graph.num_vertices, "vertex", "vertices")
        rows = [(distance, f"{vertices:,}") for distance, vertices in enumerate(self.level_sizes.tolist())]
        return html_table(rows, ("distance", "vertices"), f"{self.graph.name}: {self.num_reached:,} of {n} reached")


@dataclass(frozen=True, eq=False, init=False)
class BFSResult(Distances):
    """Distances from the source and a tree of shortest paths, on the graph's device.

    ``result[id]`` is the distance of the vertex with this id, and ``id in result`` says whether it was reached. For an
    unreached vertex ``result[id]`` raises `KeyError`, as NetworkX's dict does, and `distance_to` gives -1.

    Attributes
    ----------
    graph : Graph
    sources : int64 array, always on the host
        The vertices where the search started, distinct.
    distances : int32 array of n
        Edges on a shortest path from the nearest source; -1 for unreached vertices.
    predecessors : int32 array of n, or None if not requested
        The previous vertex on a shortest path; -1 for sources and unreached vertices.
    depth_limit : int or None
        The largest distance searched.
    target : int or None
        The search stopped after the level that reached this vertex.
    trace : Trace or None
        A record of each level, if requested.
    vertices : bool array of n, or None
        The vertices that the search was allowed to enter, on the graph's device; None for all. On a device this is the
        mask that was given, not a copy.

    Examples
    --------
    >>> from rapids_bfs import bfs
    >>> result = bfs({"a": ["b", "c"], "b": ["d"], "z": []}, "a")
    >>> result["d"], "d" in result, "z" in result
    (2, True, False)
    >>> result.as_dict()
    {'a': 0, 'b': 1, 'c': 1, 'd': 2}
    """

    graph: Graph
    sources: np.ndarray
    distances: np.ndarray
    predecessors: np.ndarray | None
    depth_limit: int | None = None
    target: int | None = None
    trace: Trace | None = None
    vertices: Any = None

    def __init__(
        self,
        graph: Graph,
        sources: np.ndarray,
        distances: np.ndarray,
        predecessors: np.ndarray | None,
        depth_limit: int | None = None,
        target: int | None = None,
        trace: Trace | None = None,
        vertices: Any = None,
    ) -> None:
        fields = self.__dict__  # as a frozen dataclass sets them, it takes a seventh of the time of a tiny search
        fields["graph"] = graph
        fields["sources"] = sources
        fields["distances"] = distances
        fields["predecessors"] = predecessors
        if depth_limit is not None or target is not None or trace is not None or vertices is not None:
            fields.update(depth_limit=depth_limit, target=target, trace=trace, vertices=vertices)  # else the class's

    def __eq__(self, other: object) -> bool:
        """Are these of the same graph (the same object), with equal answers? Traces may differ."""
        return isinstance(other, BFSResult) and same_answers(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<BFSResult on {self.graph.name!r}: {self.num_reached:,} of {self.graph.num_vertices:,} vertices reached,"
            f" depth {self.depth}>"
        )

    @property
    def num_reached(self) -> int:
        """Number of reached vertices, including sources."""
        return int((self.distances >= 0).sum())

    @property
    def depth(self) -> int:
        """The largest distance; -1 if the graph has no vertices."""
        return int(self.distances.max()) if len(self.distances) else -1

    @property
    def level_sizes(self) -> np.ndarray:
        """The number of vertices at each distance (int64, depth + 1), on the host."""
        return to_host(np.bincount(self.distances[self.distances >= 0]))

    @property
    def levels(self) -> Trace:
        """The levels that the search found, without times."""
        return Trace.of(self.graph, self.distances, None, self.stopped_at)

    @property
    def num_traversed_edges(self) -> int:
        """Edges of the traversed component, as Graph500 counts them: an undirected edge once."""
        arcs = int(self.graph.degrees[self.distances >= 0].sum(dtype=np.int64))
        return arcs if self.graph.directed else arcs // 2

    def copy(self) -> BFSResult:
        """A result that owns its arrays."""
        predecessors = None if self.predecessors is None else self.predecessors.copy()
        result = replace(self, distances=self.distances.copy(), predecessors=predecessors)
        if on_device(self.distances):
            finish()
        return result

    def to(self, device: str) -> BFSResult:
        """The result and its graph on "cpu" or "cuda": this result if it is there, else a copy."""
        if checked_device(device) == self.graph.device:
            return self
        predecessors, vertices = (
            None if array is None else moved(array, device) for array in (self.predecessors, self.vertices)
        )
        return replace(
            self,
            graph=self.graph.to(device),
            distances=moved(self.distances, device),
            predecessors=predecessors,
            vertices=vertices,
        )

    def _distance_at(self, vertex: int) -> int:
        return int(self.distances[vertex])

    def distances_on_host(self) -> np.ndarray:
        return to_host(self.distances)

    def as_dict(self) -> dict[Any, int]:
        """The distances of the reached vertices by id, nearest first, as NetworkX returns them."""
        distances = to_host(self.distances)
        vertices = np.argsort(distances, kind="stable")[np.count_nonzero(distances < 0) :]
        ids = self.graph.ids_of(vertices).tolist()
        return dict(zip(ids, distances[vertices].tolist(), strict=True))

    def vertices_to(self, vertex: int) -> np.ndarray:
        if self.predecessors is None:
            raise InputError(NO_PREDECESSORS)
        if self.distances[vertex] < 0:
            return np.empty(0, np.int64)
        distances, predecessors = to_host(self.distances), to_host(self.predecessors)
        path = [vertex]
        while distances[path[-1]] != 0:
            path.append(int(predecessors[path[-1]]))
            if not 0 <= path[-1] < len(predecessors) or len(path) > len(predecessors):
                id = self.graph.ids_of(np.array([vertex])).tolist()[0]
                raise InputError(
                    f"the predecessors lead from {quoted(id)} to no source: `validate` says where they are wrong"
                )
        return np.array(path[::-1])

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with one row per vertex: ``vertex``, ``distance`` and ``predecessor`` (if any), with the user's ids.

        ``kind`` is "pandas", "polars", "arrow", "cudf" or "cudf.pandas"; by default the kind that the graph was made
        from. A vertex without predecessor has -1, or null if ids are not integers. cuDF frames are made on the device.
        """
        kind = kind or self.graph.frame
        if kind in ("cudf", "cudf.pandas"):
            from .adapters.cudf import result_frame

            with rapids.naming_missing_package(f"a frame of kind {kind!r}"):
                return result_frame(self, kind)
        columns = {"vertex": self.graph.ids_of(np.arange(self.graph.num_vertices)), "distance": to_host(self.distances)}
        if self.predecessors is not None:
            columns["predecessor"] = self.graph.ids_of(to_host(self.predecessors))
        return frame(columns, kind)


def from_frame(graph: Graph, table: Any, where: str, depth_limit: int | None = None) -> BFSResult:
    """The result in an Arrow table made by `BFSResult.to_frame`; its sources are the vertices at distance 0.

    Raises `InputError` if a column is missing, distances are not whole numbers, a predecessor is not a vertex, or the
    vertices are not those of the graph, each once.
    """
    names = table.column_names
    for column in RESULT_COLUMNS:
        require_column(table, column, where, optional=column == "predecessor")
    n = graph.num_vertices
    vertices = vertices_in(table, graph, where)
    distances = np.empty(n, np.int32)
    distances[vertices] = _distances_in(table["distance"].to_numpy(), where)
    predecessors = None
    if "predecessor" in names:
        predecessors = np.full(n, -1, graph.targets.dtype)
        ids = table["predecessor"].to_pylist()
        none = (None,) if graph.has_objects else (None, -1)
        known = np.array([id not in none for id in ids], bool)
        predecessors[vertices[known]] = _known(
            graph, [id for id in ids if id not in none], f"{where}, column 'predecessor'"
        )
    sources = np.flatnonzero(distances == 0)
    return BFSResult(graph.to(CPU), sources, distances, predecessors, depth_limit).to(graph.device)


def vertices_in(table: Any, graph: Graph, where: str) -> np.ndarray:
    """The vertex of each row of an Arrow table. Raises `InputError` unless they are those of the graph, each once."""
    vertices = _known(graph, table["vertex"].to_pylist(), f"{where}, column 'vertex'")
    rows = np.bincount(vertices, minlength=graph.num_vertices)
    if (rows != 1).any():
        vertex = int(np.argmax(rows != 1))
        id = graph.ids_of(np.array([vertex])).tolist()[0]
        found = f"occurs {rows[vertex]} times" if rows[vertex] else "is missing"
        raise InputError(f"{where} must hold each vertex of {graph.name} once: vertex {quoted(id)} {found}")
    return vertices


def require_column(table: Any, column: str, where: str, *, optional: bool = False) -> None:
    """Raise `InputError` unless an Arrow table has this column once, without nulls; if ``optional``, at most once."""
    names = table.column_names
    if names.count(column) > 1:
        raise InputError(f"{where} has {names.count(column)} columns {column!r}: leave one")
    if optional:
        return
    if column not in names:
        raise InputError(f"{where} has no column {column!r}: it has {', '.join(names)}")
    if table[column].null_count:
        row = table[column].is_null().index(True).as_py()
        raise InputError(f"{where}, column {column!r}, row {row} (from 0): null is not a {column}")


def _known(graph: Graph, ids: list[Any], where: str) -> np.ndarray:
    """`Graph.vertices_of`, whose `InputError` says where the ids are."""
    try:
        return graph.vertices_of(ids)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _distances_in(column: np.ndarray, where: str) -> np.ndarray:
    """``column``. Raises `InputError` unless it holds whole numbers that fit int32."""
    if column.dtype.kind not in "iu":
        raise InputError(f"{where}, column 'distance': distances are whole numbers, -1 where not reached")
    limits = np.iinfo(np.int32)
    if (outside := (column < limits.min) | (column > limits.max)).any():
        row = int(outside.argmax())
        raise InputError(f"{where}, column 'distance', row {row} (from 0): {column[row]} is not a distance")
    return column
