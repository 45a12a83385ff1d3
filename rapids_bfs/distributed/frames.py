"""Distributed graphs from Dask frames, made on the workers that have the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .._core.cuda.arrays import CUDA
from ..adapters.dask import FRAME, client_here, edge_columns
from ..errors import InputError
from .build import Plan, build
from .dask import DaskLauncher
from .graph import DistributedGraph
from .sources import LocalEdges

NUMBERS = "iuf"  # kinds of dtypes that vertex ids may have
START = "client = distributed.Client(dask_cuda.LocalCUDACluster())"


def from_dask_cudf(
    obj: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str = "frame",
    device: str = CUDA,
) -> DistributedGraph:
    """A graph with a rank on each worker of a cluster, from a frame of edges of dask_cudf, whose ids are integers.

    ``source`` and ``target`` name its columns, by default a pair with usual names, or the only two.
    """
    frame, columns = edge_columns(obj, source, target, name)
    client = client_here()
    if client is None:
        raise InputError(f"{name}: a frame of dask_cudf becomes a graph on the workers of a cluster: first {START}")
    launcher = DaskLauncher.shared(client, sorted(client.nthreads()), device)
    edges = launcher.hold(partial(source_of, columns, name), _by_worker(client, frame, launcher.workers))
    plan = Plan(device, vertices, directed, name=name)
    partitions = launcher.map(build, plan, each=[edges])
    return DistributedGraph(partitions, launcher, name=name, columns=columns, frame=FRAME)


def _by_worker(client: Any, frame: Any, workers: Sequence[str]) -> list[list[Any]]:
    """Each worker's partitions of a frame, as futures, computed if necessary. Raises what computing one raised."""
    from distributed import futures_of, wait

    futures = futures_of(client.persist(frame))
    wait(futures)
    for future in futures:
        if future.status == "error":
            raise future.exception()
    held: dict[str, list[Any]] = {worker: [] for worker in workers}
    where = client.who_has(futures)
    for future in futures:
        held[min(where[future.key], key=lambda worker: len(held[worker]))].append(future)
    return list(held.values())


def source_of(columns: tuple[str, str], name: str, *partitions: Any) -> LocalEdges:
    """The edges in a worker's partitions of the frame, which are not copied."""
    blocks = []
    for index, partition in enumerate(partitions):
        where = (f"{name}, column {column!r}, partition {index} of this worker" for column in columns)
        source, target = (_numbers(partition.iloc[:, side], each) for side, each in enumerate(where))
        blocks.append((source, target))
    return LocalEdges(lambda: blocks, columns)


def _numbers(ids: Any, where: str) -> Any:
    if ids.dtype.kind not in NUMBERS:
        raise InputError(
            f"{where}: over several GPUs ids are integers, not {ids.dtype}: number them, or search frame.compute()"
        )
    if ids.isnull().any():
        raise InputError(f"{where}: null is not a vertex id: drop the rows without one")
    return ids.values
