"""How `compare` runs each engine: its algorithms, the graphs it skips, and its run from an edge list end to end."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._core.cuda.driver import driver
from ..adapters import importer_of
from ..engines import EngineSpec, Options, prepare
from ..engines.gpu.simulator import simulated
from ..graph import Graph
from ..loading import as_graph

TABLES = ("cudf", "pylibcudf", "arrow")  # the adapters whose input is a table of edges


@dataclass(frozen=True)
class EdgeInput:
    """An edge list in memory, from which each engine builds its own kind of graph: the edges as they were given, their
    options of `as_graph`, and the graph made of both."""

    given: Any  # a table, or a pair of arrays
    options: dict[str, Any]
    graph: Any

    @classmethod
    def of(cls, given: Any, **options: Any) -> EdgeInput | None:
        """The edges, if ``given`` is an edge list: a table, or a pair of arrays. Otherwise None."""
        is_list = importer_of(given) in TABLES or (isinstance(given, tuple) and len(given) == 2)
        return cls(given, options, as_graph(given, **options)) if is_list else None

    def as_graph(self) -> Any:
        """A new graph of the edges, distributed if the options say so."""
        return as_graph(self.given, **self.options)

    def making(self, graph: Any) -> EdgeInput:
        """These edges, with the options that make ``graph``: their own graph, or a copy of it on one device."""
        if graph is self.graph:
            return self
        return replace(self, options=self.options | {"devices": None}, graph=graph)

    def on_device(self) -> Any:
        """The two columns as a `cudf.DataFrame`, which are its own if they are cuDF's, else uploaded."""
        from ..adapters.cudf_edges import edge_columns

        return edge_columns(self.given, self.graph.columns)


class Baseline:
    """The default for an engine: one algorithm, any graph, and a `Graph` built from the edges."""

    algorithms: tuple[str, ...] = ()  # the algorithms that `compare` runs by default; empty: the engine's default

    def skip_reason(self, graph: Graph) -> str | None:
        """None, or one line on why it skips this graph unless the user names the engine."""
        return None

    def end_to_end(self, spec: EngineSpec, edges: EdgeInput, source: Hashable, options: Options) -> Callable[[], int]:
        """Build the engine's own kind of graph from an edge list, as its users do, and search it from the vertex with
        this id. Returns a function that counts the vertices reached."""
        graph = edges.as_graph()
        sources = np.array([graph.vertex_of(source)])
        traversal = prepare(graph, spec)
        found = traversal.search(sources, options)
        return lambda: traversal.result(found, sources, options).num_reached


class _CuGraph(Baseline):
    def end_to_end(self, spec: EngineSpec, edges: EdgeInput, source: Hashable, options: Options) -> Callable[[], int]:
        import cugraph

        from ..engines.rapids.base import reached, wait

        graph = cugraph.Graph(directed=edges.graph.directed)
        source_column, target_column = edges.graph.columns
        graph.from_cudf_edgelist(edges.on_device(), source=source_column, destination=target_column)
        frame = cugraph.bfs(graph, source, depth_limit=options.depth_limit)
        wait()
        return lambda: reached(frame["distance"].values)


class _PyLibCuGraph(Baseline):
    algorithms = ("top-down", "direction-optimizing")

    def end_to_end(self, spec: EngineSpec, edges: EdgeInput, source: Hashable, options: Options) -> Callable[[], int]:
        frame = edges.on_device()
        arrays = [frame[column] for column in edges.graph.columns]
        if any(array.dtype not in (np.int32, np.int64) for array in arrays):
            return super().end_to_end(spec, edges, source, options)  # pylibcugraph takes only integers
        from pylibcugraph import GraphProperties, ResourceHandle, SGGraph

        from ..engines.rapids.base import reached
        from ..engines.rapids.pylibcugraph import DIRECTION_OPTIMIZING, search

        handle = ResourceHandle()
        graph = SGGraph(
            handle,
            GraphProperties(is_symmetric=not edges.graph.directed, is_multigraph=False),
            *(array.values for array in arrays),
            renumber=True,
            drop_multi_edges=True,
            symmetrize=not edges.graph.directed,
        )
        dtype = max(array.dtype for array in arrays)
        found = search(handle, graph, [source], dtype, spec.algorithm == DIRECTION_OPTIMIZING, options)
        return lambda: reached(found[0])


class _CuGraphDask(Baseline):
    def skip_reason(self, graph: Graph) -> str | None:
        if graph.num_devices == 1:
            return "cugraph.dask is for several GPUs: compare with --gpus, or name this engine"
        return None

    def end_to_end(self, spec: EngineSpec, edges: EdgeInput, source: Hashable, options: Options) -> Callable[[], int]:
        import dask_cudf
        from cugraph.dask import bfs
        from distributed import wait

        from ..engines.rapids.base import reached
        from ..engines.rapids.cugraph_dask import graph_of, started

        workers = len(started(len(driver().devices)).nthreads())
        frame = dask_cudf.from_cudf(edges.on_device(), npartitions=workers)
        graph = graph_of(frame, edges.graph.columns, directed=edges.graph.directed)
        found = bfs(graph, source, depth_limit=options.depth_limit).persist()
        wait(found)
        return lambda: reached(found["distance"].compute().values)


@dataclass(frozen=True)
class _Limited(Baseline):
    """An engine that skips graphs with more than ``largest`` of the ``counted``, "arcs" or "vertices"."""

    counted: str
    largest: int
    why: str

    def skip_reason(self, graph: Graph) -> str | None:
        if getattr(graph, f"num_{self.counted}") <= self.largest:
            return None
        return f"more than {self.largest:,} {self.counted} {self.why}: ask for this engine by name to wait for it"


class _NumbaCUDA(Baseline):
    SIMULATED = 5_000  # vertices of the largest graph that the simulator searches in bearable time

    def skip_reason(self, graph: Graph) -> str | None:
        if simulated() and graph.num_vertices > self.SIMULATED:
            return f"the simulator takes too long for more than {self.SIMULATED:,} vertices"
        return None


UNKNOWN = Baseline()
KNOWN = {
    "cugraph": _CuGraph(),
    "cugraph-dask": _CuGraphDask(),
    "networkx": _Limited("arcs", 5_000_000, "take minutes to build"),
    "numba-cuda": _NumbaCUDA(),
    "nx-cugraph": _Limited("vertices", 1_000_000, "take seconds a search"),
    "pylibcugraph": _PyLibCuGraph(),
    "rustworkx": _Limited("arcs", 5_000_000, "become as many Python objects"),
}


def baseline_of(engine: str) -> Baseline:
    """How the engine of this name is compared."""
    return KNOWN.get(engine, UNKNOWN)
