"""What cuGraph's functions are given, as our graph, with the ids and the types of cuGraph's answers beside it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._core.arguments import index_of, is_of, quoted
from .._core.csr import csr_for
from .._core.cuda.arrays import CUDA, to_host
from ..adapters import cudf as cudf_adapter
from ..adapters import cugraph as cugraph_adapter
from ..algorithms.bfs import checked_depth_limit
from ..errors import InputError
from ..graph import Graph
from ..loading import as_graph

GRAPHS = "cugraph.structure.graph_classes"
MATRICES = ("scipy.sparse", "cupyx.scipy.sparse")
FORMATS = ("coo", "csc", "csr")  # the formats of matrices that cuGraph takes
EXACT_IN_FLOAT64 = 1 << 53  # the largest whole number up to which float64 holds all


def is_graph(obj: Any) -> bool:
    """Is it a `cugraph.Graph`, such as a `cugraph.MultiGraph`?"""
    return is_of(obj, GRAPHS, "Graph")


def is_edges(obj: Any) -> bool:
    """Is it a `cudf.DataFrame`?"""
    return type(obj).__module__.startswith("cudf.") and type(obj).__name__ == "DataFrame"


def is_matrix(obj: Any) -> bool:
    """Is it a sparse matrix of a format that cuGraph takes?"""
    return type(obj).__module__.startswith(MATRICES) and obj.format in FORMATS


def limit_of(depth_limit: Any) -> int | None:
    """The depth limit of a search. Negative numbers mean none, as in cuGraph. Raises `InputError` for anything but a
    number of levels."""
    if depth_limit is None:
        return None
    number = index_of(depth_limit)
    return None if number is not None and number < 0 else checked_depth_limit(depth_limit)


def refuse_with_graph(G: Any, **options: Any) -> None:
    """Raise cuGraph's `TypeError` for an option of matrices, None by default, that is given with a Graph."""
    for name, value in options.items():
        if value is not None and is_graph(G):
            raise TypeError(f"'{name}' cannot be specified for a Graph-type input")


def as_library_of(matrix: Any, array: Any) -> Any:
    """An array of an answer as CuPy's or NumPy's, like the matrix that was searched."""
    return array if type(matrix).__module__.startswith("cupyx") else to_host(array)


class Prepared:
    """A graph, and the ids of its vertices in frames like cuGraph's.

    ``dtype`` is the type of cuGraph's vertices and distances. ``names`` has the user's ids of the vertices in columns
    "0", "1", ..., None if they are the graph's own ids. ``made_of`` is the graph of pylibcugraph that was converted:
    when it is replaced, this is out of date.
    """

    def __init__(self, graph: Graph, dtype: np.dtype, names: Any = None, made_of: Any = None) -> None:
        self.graph = graph
        self.dtype = dtype
        self.names = names
        self.made_of = made_of
        self.unreached = int(np.iinfo(dtype).max)
        self.none = -1 if names is None else len(names)  # as a predecessor; in `names_and_none` it is the last row
        self.xp = csr_for(graph.targets).xp

    @classmethod
    def of_graph(cls, cugraph_graph: Any) -> Any:
        graph, dtype = cugraph_adapter.internal(cugraph_graph)
        names = cugraph_adapter.external_ids(cugraph_graph) if cugraph_graph.renumbered else None
        return cls(graph, dtype, names, cugraph_graph._Impl._plc_graph)

    @classmethod
    def of_edges(cls, edges: Any, directed: bool) -> Any:
        graph = cudf_adapter.from_cudf(edges, directed=directed)
        if graph.has_objects:
            names = cudf_adapter.labels_of(graph).to_frame("0")
            return cls(graph._with(labels=None), np.dtype(np.int32), names)
        wide = any(edges[column].dtype.itemsize > 4 for column in graph.columns)
        return cls(graph, np.dtype(np.int64 if wide else np.int32))

    @classmethod
    def of_matrix(cls, matrix: Any, directed: bool) -> Any:
        index = matrix.row if matrix.format == "coo" else matrix.indices
        dtype = np.dtype(np.int64 if index.dtype.itemsize > 4 else np.int32)
        return cls(as_graph(matrix, directed=directed).to(CUDA), dtype)

    @cached_property
    def vertices(self) -> Any:
        """cuGraph's integers of the vertices, in an array of the answer's dtype, which frames share."""
        labels = self.graph.labels
        if labels is None:
            return self.xp.arange(self.graph.num_vertices, dtype=self.dtype)
        return labels.astype(self.dtype)

    def vertices_at(self, start: Any) -> np.ndarray:
        """The vertices (int64, on the host) with these ids, in their order. ``start`` is one id, or several in a list,
        an array, a Series or a DataFrame. Raises `InputError` for an id that is not a vertex, or if there is none."""
        if self.names is not None:
            return self._named_vertices(start)
        if isinstance(start, int | np.integer):
            return np.array([self.graph.vertex_of(start)])
        return self.graph.vertices_of(integer_ids(start).tolist())

    def _named_vertices(self, start: Any) -> np.ndarray:
        import cudf

        if isinstance(start, cudf.DataFrame):
            wanted = start.copy()
        else:
            try:
                wanted = cudf.DataFrame({"0": cudf.Series([start] if _is_one(start) else start)})
            except Exception as error:  # of cuDF, or of the libraries below it
                raise InputError(f"start must be one or more ids, not {quoted(start)} ({error})") from None
        if not len(wanted):
            raise InputError("at least one start is needed")
        columns = list(self.names.columns)
        if len(wanted.columns) != len(columns):
            raise InputError(f"start must have {len(columns)} columns, as the ids have, not {len(wanted.columns)}")
        wanted.columns = columns
        try:
            wanted = wanted.astype(self.names.dtypes.to_dict())
        except (TypeError, ValueError) as error:
            raise InputError(f"start is not of the ids' type ({error})") from None
        which, places = cudf_adapter.places_of(wanted, self.names)
        if len(lost := np.setdiff1d(np.arange(len(wanted)), which)):
            ids = wanted.iloc[lost[:1].tolist()].to_pandas().iloc[0].tolist()
            raise InputError(f"{quoted(ids[0] if len(ids) == 1 else tuple(ids))} is not a vertex of {self.graph.name}")
        return self.graph.vertices_of(places[np.argsort(which, kind="stable")].tolist())

    def ids_at(self, vertices: np.ndarray) -> list[Any]:
        """The user's ids of these vertices, as Python's own objects: tuples if ids have several columns."""
        numbers = to_host(self.vertices)[vertices]
        if self.names is None:
            return list(numbers.tolist())
        rows = self.names.take(numbers).to_pandas()
        return [row[0] if len(row) == 1 else row for row in rows.itertuples(index=False, name=None)]

    def columns_of(self, name: str) -> dict[str, str]:
        """The column of a frame for each column of ``names`` where it has ids in the column, or columns, ``name``."""
        several = self.names is not None and len(self.names.columns) > 1
        parts = ["0"] if self.names is None else list(self.names.columns)
        return {part: f"{part}_{name}" if several else name for part in parts}

    def ids(self, name: str, vertices: Any = None) -> dict[str, Any]:
        """The columns with the ids of these vertices, by default of all."""
        if self.names is None:
            return {name: self.vertices.copy() if vertices is None else self.vertices[vertices]}
        rows = self.rows if vertices is None else cudf_adapter.rows_at(self.names, self.vertices[vertices])
        return {column: rows[part] for part, column in self.columns_of(name).items()}

    def predecessors(self, name: str, vertices: Any) -> dict[str, Any]:
        """The columns with the ids of predecessors, -1 where there is none."""
        numbers = self.xp.where(vertices < 0, self.none, self.vertices[vertices]).astype(self.dtype)
        return {name: numbers} if self.names is None else self.predecessors_at(name, numbers)

    def predecessors_at(self, name: str, places: Any) -> dict[str, Any]:
        """`predecessors` of a graph with names, from their rows in `names_and_none`."""
        before = cudf_adapter.rows_at(self.names_and_none, places)
        return {column: before[part] for part, column in self.columns_of(name).items()}

    def distances(self, distances: Any) -> Any:
        """Distances as in cuGraph's frames: of its type, and its largest integer where a vertex is not reached."""
        converted = distances.astype(self.dtype)
        converted[converted < 0] = self.unreached
        return converted

    @cached_property
    def rows(self) -> Any:
        """The names of the vertices in the order of the rows."""
        return self.names.take(self.vertices).reset_index(drop=True)

    @cached_property
    def names_and_none(self) -> Any:
        """The names of all vertices and, in the last row, -1 for no predecessor, in the predecessors' dtypes."""
        import cudf

        types = {name: _type_of_predecessors(self.names[name]) for name in self.names.columns}
        none = cudf.DataFrame({name: cudf.Series([-1]).astype(dtype) for name, dtype in types.items()})
        return cudf.concat([self.names.astype(types), none], ignore_index=True)


def _type_of_predecessors(names: Any) -> Any:
    """The type of these names of vertices; float64 for integers if float64 holds all of them exactly."""
    integers = names.dtype.kind in "iu" and names.min() >= -EXACT_IN_FLOAT64 and names.max() <= EXACT_IN_FLOAT64
    return np.dtype(np.float64) if integers else names.dtype


def _is_one(start: Any) -> bool:
    """Is it one id, rather than several?"""
    return isinstance(start, str) or not hasattr(start, "__len__")


def integer_ids(start: Any) -> np.ndarray:
    """One id, or several of any array-like type, as a NumPy array of integers. Raises `InputError` if they are not."""
    if hasattr(start, "columns"):
        if not len(start.columns):
            raise InputError("start is a frame without columns")
        start = start[start.columns[0]]
    for convert in ("to_numpy", "get"):  # of cuDF, of CuPy
        if hasattr(start, convert):
            start = getattr(start, convert)()
    number = index_of(start)
    try:
        ids = np.asarray(start).ravel() if number is None else np.array([number])
    except (TypeError, ValueError) as error:
        raise InputError(f"start must be one or more ids, not {quoted(start)} ({error})") from None
    if not len(ids):
        raise InputError("at least one start is needed")
    if ids.dtype.kind not in "iu":
        raise InputError(f"start must be one or more integers, not {ids.dtype}")
    return ids
