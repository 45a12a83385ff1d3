"""Graphs prepared for searches whose answers are frames like cuGraph's."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .._core.arguments import index_of, quoted
from .._core.cuda.arrays import CUDA
from .._core.cuda.kernels import THREADS, blocks_for, kernel_of
from .._core.memory import NextArrays
from ..engines import DEFAULT, Options, resolve
from ..engines.gpu.direction_optimizing import UNREACHED
from ..engines.gpu.launch import CompiledKernel
from ..errors import InputError
from ..graph import Graph

KIND = "cupy:direction-optimizing"
EXACT_IN_FLOAT64 = 1 << 53  # the largest whole number up to which float64 holds all

_searchers: WeakKeyDictionary[Any, Searcher] = WeakKeyDictionary()


def of_graph(cugraph_graph: Any) -> Searcher:
    """The searcher that was prepared for this graph; a new one if the graph was cleared and rebuilt since."""
    searcher = _searchers.get(cugraph_graph)
    if searcher is None or searcher.made_of is not getattr(cugraph_graph._Impl, "_plc_graph", None):
        searcher = _searchers[cugraph_graph] = Searcher.of_graph(cugraph_graph)
    return searcher


def of_matrix(matrix: Any, start: Any, depth_limit: int | None, directed: bool, return_predecessors: bool) -> Any:
    """The distances and predecessors of a search of a matrix, as CuPy or NumPy arrays like the matrix."""
    from ..loading import as_graph

    graph = as_graph(matrix, directed=directed).to(CUDA)
    index = matrix.row if matrix.format == "coo" else matrix.indices
    searcher = Searcher(graph, np.dtype(np.int64 if index.dtype.itemsize > 4 else np.int32))
    with searcher.traversal.lock, searcher.search(start, depth_limit, return_predecessors) as found:
        pass
    return tuple(found if type(matrix).__module__.startswith("cupyx") else (array.get() for array in found))


class Searcher:
    """A graph prepared for searches whose answers are frames like cuGraph's.

    ``dtype`` is the type of cuGraph's vertices and distances. ``names`` has the user's ids of the vertices in columns
    "0", "1", ..., None if they are the graph's own ids. ``made_of`` is the graph of pylibcugraph that was converted:
    when cuGraph replaces it, this searcher is stale.
    """

    def __init__(self, graph: Graph, dtype: np.dtype, names: Any = None, made_of: Any = None) -> None:
        self.graph = graph
        self.dtype = dtype
        self.names = names
        self.made_of = made_of
        self.unreached = int(np.iinfo(dtype).max)
        self.none = -1 if names is None else len(names)  # as a predecessor; in `_names_and_none` it is the last row
        self.narrow = dtype == graph.targets.dtype == np.int32  # can the search write straight into the answer?
        self.has_ids = graph.labels is not None or names is not None  # other than the vertices that a search knows
        self.traversal: Any = resolve(KIND).traversal(graph)

    @classmethod
    def of_graph(cls, cugraph_graph: Any) -> Searcher:
        from ..adapters.cugraph import external_ids, internal

        graph, dtype = internal(cugraph_graph)
        names = external_ids(cugraph_graph) if cugraph_graph.renumbered else None
        return cls(graph, dtype, names, cugraph_graph._Impl._plc_graph)

    @classmethod
    def of_edges(cls, edges: Any, directed: bool) -> Searcher:
        from ..adapters.cudf import from_cudf, labels_of

        graph = from_cudf(edges, directed=directed)
        if graph.has_objects:
            names = labels_of(graph).to_frame("0")
            return cls(graph._with(labels=None), np.dtype(np.int32), names)
        wide = any(edges[column].dtype.itemsize > 4 for column in graph.columns)
        return cls(graph, np.dtype(np.int64 if wide else np.int32))

    def frame(self, start: Any, depth_limit: int | None, return_predecessors: bool) -> Any:
        """The frame of a search, made during the search if ids are integers."""
        with self.traversal.lock, self.search(start, depth_limit, return_predecessors) as found:
            if self.names is None:
                return self._frame_of(*found)
        return self._named(*found)

    @contextmanager
    def search(self, start: Any, depth_limit: int | None, return_predecessors: bool) -> Iterator[list[Any]]:
        """Distances and predecessors of all vertices, as integers, in new CuPy arrays, which are complete when the body
        of the ``with`` ends. The caller holds the traversal's lock.

        A search writes straight into them if they have its dtypes, otherwise into the traversal's own arrays. Then one
        kernel in the search's stream translates vertices into ids, and both into the answer's dtype.
        """
        sources = self._sources(start)
        options = DEFAULT if depth_limit is None or depth_limit < 0 else Options(depth_limit)
        traversal = self.traversal
        unreached = self.unreached if self.narrow else UNREACHED
        followed = not self.narrow or (self.has_ids and return_predecessors)
        with traversal.device.current():
            ids = None if self.graph.labels is None else self.vertices  # the search waits for CuPy's stream
            found = self.next_arrays.take()
            distances, predecessors = found if self.narrow else (traversal.distances, traversal.predecessors)
            if not return_predecessors:
                found[1].fill(self.none)
                predecessors = None
            with traversal.search_into(distances, predecessors, unreached, sources, options, followed=followed):
                if followed:
                    self._translate(None if self.narrow else distances, predecessors, ids, *found)
                self.next_arrays.allocate_ahead()
                yield found

    @cached_property
    def next_arrays(self) -> NextArrays:
        """The distances and predecessors of answers."""
        return NextArrays(self.graph.num_vertices, self.dtype, self.dtype)

    @cached_property
    def _translate(self) -> Callable[..., None]:
        """A function that enqueues the translation of distances, predecessors and ids (each may be None) into the
        arrays of the answer, behind the search in its stream. Call it where the device is current."""
        n, pointer, number = self.graph.num_vertices, ctypes.c_void_p, ctypes.c_longlong
        given, answer = [pointer(), pointer(), pointer()], [pointer(), pointer()]
        numbers = [number(n), number(self.unreached), number(self.none)]
        function = kernel_of("answer", "translate", self.graph.targets.dtype, self.dtype)
        kernel = CompiledKernel(function.kernel.ptr, function)
        stream = self.traversal.device.stream_handle
        launch = kernel.launcher(blocks_for(n), THREADS, 0, stream, *given, *numbers, *answer)

        def translate(*arrays: Any) -> None:
            for place, array in zip((*given, *answer), arrays, strict=True):
                place.value = None if array is None else array.data.ptr
            launch()

        return translate

    @cached_property
    def vertices(self) -> Any:
        """The integers by which cuGraph numbers the vertices, in a CuPy array of the answer's dtype, which frames
        share."""
        import cupy

        labels = self.graph.labels
        return cupy.arange(self.graph.num_vertices, dtype=self.dtype) if labels is None else labels.astype(self.dtype)

    @cached_property
    def _frame_of(self) -> Callable[[Any, Any], Any]:
        """A function that makes a frame of integer distances and predecessors."""
        from ..adapters.cudf import frames_of

        return frames_of(self.vertices)

    def _sources(self, start: Any) -> np.ndarray:
        """The vertices to start from. Raises `InputError` for a start that is not a vertex."""
        if self.names is not None:
            return self._named_sources(start)
        if isinstance(start, int | np.integer):
            return np.array([self.graph.vertex_of(start)])
        ids = _on_host(start)
        if not len(ids):
            raise InputError("at least one start is needed")
        if ids.dtype.kind not in "iu":
            raise InputError(f"start must be one or more integers, not {ids.dtype}")
        return np.unique(self.graph.vertices_of(ids.tolist()))

    def _named_sources(self, start: Any) -> np.ndarray:
        import cudf

        from ..adapters.cudf import places_of

        if isinstance(start, cudf.DataFrame):
            wanted = start.copy()
        else:
            wanted = cudf.DataFrame({"0": cudf.Series([start] if _is_one(start) else start)})
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
        which, places = places_of(wanted, self.names)
        if len(lost := np.setdiff1d(np.arange(len(wanted)), which)):
            ids = wanted.iloc[lost[:1].tolist()].to_pandas().iloc[0].tolist()
            raise InputError(f"{quoted(ids[0] if len(ids) == 1 else tuple(ids))} is not a vertex of {self.graph.name}")
        return np.unique(self.graph.vertices_of(places.tolist()))

    def _named(self, distances: Any, places: Any) -> Any:
        """The frame of a renumbered graph, with its columns in cuGraph's order. ``places`` are the predecessors' rows
        in `_names_and_none`."""
        from ..adapters.cudf import frame_of, rows_at

        before = rows_at(self._names_and_none, places)
        many = len(self.names.columns) > 1
        columns = {f"{name}_predecessor" if many else "predecessor": before[name] for name in self.names.columns}
        vertices = self._rows
        columns |= {f"{name}_vertex" if many else "vertex": vertices[name] for name in self.names.columns}
        return frame_of({**columns, "distance": distances})

    @cached_property
    def _rows(self) -> Any:
        """The names of the vertices in the order of the rows."""
        return self.names.take(self.vertices).reset_index(drop=True)

    @cached_property
    def _names_and_none(self) -> Any:
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


def _on_host(start: Any) -> np.ndarray:
    """One id, or several of any array-like type, as a NumPy array."""
    if hasattr(start, "columns"):
        start = start[start.columns[0]]
    for convert in ("to_numpy", "get"):  # methods of cuDF and CuPy
        if hasattr(start, convert):
            start = getattr(start, convert)()
    number = index_of(start)
    return np.asarray(start).ravel() if number is None else np.array([number])
