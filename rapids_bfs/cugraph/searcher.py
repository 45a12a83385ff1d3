"""Graphs prepared for searches whose answers are frames like cuGraph's."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .._core.arguments import checked_directed
from .._core.cuda.kernels import THREADS, blocks_for, kernel_of
from .._core.memory import NextArrays
from ..adapters import cudf as cudf_adapter
from ..engines import DEFAULT, Options, resolve
from ..engines.gpu.direction_optimizing import UNREACHED
from ..engines.gpu.launch import CompiledKernel
from ..graph import Graph
from .prepared import Prepared, is_edges, is_graph, is_matrix, limit_of

KIND = "cupy:direction-optimizing"

_searchers: WeakKeyDictionary[Any, Searcher] = WeakKeyDictionary()


def of_graph(cugraph_graph: Any) -> Searcher:
    """The searcher that was prepared for this graph; a new one if the graph was cleared and rebuilt since."""
    searcher = _searchers.get(cugraph_graph)
    if searcher is None or searcher.made_of is not getattr(cugraph_graph._Impl, "_plc_graph", None):
        searcher = _searchers[cugraph_graph] = Searcher.of_graph(cugraph_graph)
    return searcher


def searcher_of(obj: Any, directed: bool | None = None) -> Searcher:
    """The searcher of anything that cuGraph's functions take, or of a `cudf.DataFrame` of edges.

    ``directed`` is for matrices and edges: False adds the reversed edges. Raises `TypeError` for another type, and
    `InputError` if ``directed`` is neither bool nor None.
    """
    directed = checked_directed(directed)
    if is_graph(obj):
        return of_graph(obj)
    if is_edges(obj) or is_matrix(obj):
        make = Searcher.of_edges if is_edges(obj) else Searcher.of_matrix
        made: Searcher = make(obj, directed is not False)
        return made
    raise TypeError(f"obj of type {type(obj)} is not supported.")


class Searcher(Prepared):
    """A graph prepared for searches whose answers are frames like cuGraph's."""

    def __init__(self, graph: Graph, dtype: np.dtype, names: Any = None, made_of: Any = None) -> None:
        super().__init__(graph, dtype, names, made_of)
        self.narrow = dtype == graph.targets.dtype == np.int32  # can the search write straight into the answer?
        self.has_ids = graph.labels is not None or names is not None  # other than the vertices that a search knows

    @cached_property
    def traversal(self) -> Any:
        return resolve(KIND).traversal(self.graph)

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
        sources = self.vertices_at(start)
        if len(sources) > 1:  # for one it would take as long as the look-up
            sources = np.unique(sources)
        limit = limit_of(depth_limit)
        options = DEFAULT if limit is None else Options(limit)
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
            cleared, into = self.next_arrays.last_is_clear, (distances, predecessors)
            with traversal.search_into(*into, unreached, sources, options, cleared=cleared, followed=followed):
                if followed:
                    self._translate(None if self.narrow else distances, predecessors, ids, *found)
                self.next_arrays.allocate_ahead()
                yield found

    @cached_property
    def next_arrays(self) -> NextArrays:
        """The distances and predecessors of answers."""
        return NextArrays(self.graph.num_vertices, self.dtype, self.dtype, clears_last=self.narrow)

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
    def _frame_of(self) -> Callable[[Any, Any], Any]:
        """A function that makes a frame of integer distances and predecessors."""
        return cudf_adapter.frames_of(self.vertices)

    def _named(self, distances: Any, places: Any) -> Any:
        """The frame of a renumbered graph, with its columns in cuGraph's order. ``places`` are the predecessors' rows
        in `names_and_none`."""
        columns = self.predecessors_at("predecessor", places) | self.ids("vertex")
        return cudf_adapter.frame_of({**columns, "distance": distances})
