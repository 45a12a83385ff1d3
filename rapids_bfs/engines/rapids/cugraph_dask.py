"""Engine ``cugraph-dask``: `cugraph.dask.bfs` over several GPUs, whose cluster and communicator are started here."""

from __future__ import annotations

import atexit
from typing import Any

import numpy as np

from ..._core.cuda.arrays import CPU
from ..._core.cuda.driver import driver
from ..._core.forks import in_each_child
from ..._core.rapids import package_missing
from ...graph import Graph
from ..base import Options, Traversal
from .base import RapidsEngine, RapidsTraversal

PACKAGES = ("cugraph", "dask_cuda", "dask_cudf", "cugraph.dask")
COLUMNS = ("source", "destination")
START_LIMIT = 120  # seconds for the workers to come up


class CuGraphDask(RapidsEngine):
    name = "cugraph-dask"
    algorithms = ("bfs",)
    package = "cugraph"
    searches_on = CPU  # its workers have the devices

    def unavailable(self) -> str | None:
        if reason := next(filter(None, map(package_missing, PACKAGES)), None):
            return reason
        if len(driver().devices) < 2:
            return "cugraph.dask is for several GPUs, and there is one here: use 'cugraph'"
        return None

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        return CuGraphDaskBFS(graph, len(driver().devices))

    def prepare_over(self, graph: Graph, algorithm: str, gpus: int) -> Traversal:
        return CuGraphDaskBFS(graph, gpus)


class CuGraphDaskBFS(RapidsTraversal):
    """A `cugraph.Graph` of the vertices 0..n-1, distributed over the workers, and the frames that a search returns."""

    searches_on = CPU

    def __init__(self, graph: Graph, gpus: int) -> None:
        super().__init__(graph)
        here = graph.to(CPU)
        frame = scatter(started(gpus), here.vertex_pairs())
        self.cugraph_graph = graph_of(frame, COLUMNS, directed=graph.directed)
        self.has_out_edges = here.degrees > 0

    def search(self, sources: np.ndarray, options: Options) -> Any:
        from cugraph.dask import bfs
        from distributed import wait

        source = int(sources[0])
        if not self.has_out_edges[source]:  # cuGraph drops vertices without edges
            return source, options.predecessors
        frame = bfs(self.cugraph_graph, source, depth_limit=options.depth_limit).persist()
        wait(frame)
        return frame, options.predecessors

    def answer(self, found: Any) -> tuple[Any, Any]:
        import cupy

        frame, predecessors = found
        if isinstance(frame, int):
            rows = cupy.zeros(1, np.int32), cupy.full(1, -1, np.int32), cupy.full(1, frame)
        else:
            frame = frame.compute()
            rows = tuple(frame[name].values for name in ("distance", "predecessor", "vertex"))
        return super().answer(rows if predecessors else (rows[0], None, rows[2]))


def scatter(client: Any, columns: tuple[np.ndarray, np.ndarray]) -> Any:
    """Two columns as a frame of dask_cudf, an equal slice on each worker."""
    import cudf
    import dask_cudf

    workers = sorted(client.nthreads())
    slices = zip(*(np.array_split(column, len(workers)) for column in columns), strict=True)
    parts = []
    for worker, ids in zip(workers, slices, strict=True):
        (sent,) = client.scatter([dict(zip(COLUMNS, ids, strict=True))], workers=[worker], hash=False)
        parts.append(client.submit(cudf.DataFrame, sent, workers=[worker], pure=False))
    return dask_cudf.from_delayed(parts)


def graph_of(frame: Any, columns: tuple[str, str], *, directed: bool) -> Any:
    """A `cugraph.Graph` as its users make it from a frame of dask_cudf."""
    import cugraph

    graph = cugraph.Graph(directed=directed)
    graph.from_dask_cudf_edgelist(frame, source=columns[0], destination=columns[1])
    return graph


def started(gpus: int) -> Any:
    """The Dask client that cuGraph will use, with its communicator: the user's own if there is one, else that of a
    cluster on ``gpus`` GPUs, which lasts until another number is requested or this process ends."""
    from cugraph.dask.comms import comms
    from distributed import default_client

    if _own and _own[0].gpus != gpus:
        _close()
    try:
        client = default_client()
    except ValueError:  # there is none
        _own.append(_Cluster(gpus))
        atexit.register(_close)  # runs before the handlers of `distributed`, which were registered earlier
        client = _own[0].client
    if not comms.is_initialized():
        comms.initialize(p2p=False)
    return client


class _Cluster:
    """A worker on each of the first ``gpus`` devices, connected by TCP, and the client of this process."""

    def __init__(self, gpus: int) -> None:
        from dask_cuda import LocalCUDACluster
        from distributed import Client

        self.gpus = gpus
        self.cluster = LocalCUDACluster(n_workers=gpus, protocol="tcp", dashboard_address=None)
        self.client = Client(self.cluster)
        self.client.wait_for_workers(gpus, timeout=START_LIMIT)

    def close(self) -> None:
        from cugraph.dask.comms import comms

        comms.destroy()
        self.client.close()
        self.cluster.close()


_own: list[_Cluster] = []  # the running cluster, if there is one
in_each_child(_own.clear)


def _close() -> None:
    while _own:
        _own.pop().close()
