"""Dask frames whose partitions are on GPUs: graphs are made of them there, and results are returned as such frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._core.csr.host import Pairs
from .._core.cuda.arrays import CUDA
from ..errors import InputError
from .build import Partition, Plan, Source, build
from .communicators import Communicator
from .dask import DaskLauncher
from .graph import DistributedGraph
from .level_synchronous import Answer
from .result import DistributedResult, rows

NUMBERS = "iuf"  # kinds of dtypes that vertex ids may have
START = "client = distributed.Client(dask_cuda.LocalCUDACluster())"


def from_dask_frame(
    frame: Any,
    columns: tuple[str, str],
    *,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str = "frame",
    device: str = CUDA,
) -> DistributedGraph:
    """A graph with one partition on each worker of the cluster, from a frame with two columns of integers."""
    from ..adapters.dask import FRAME, client_here

    client = client_here()
    if client is None:
        raise InputError(f"{name}: a frame of dask_cudf becomes a graph on the workers of a cluster: first {START}")
    launcher = DaskLauncher.shared(client, sorted(client.nthreads()), device)
    edges = launcher.hold(partial(source_of, columns, name), _by_worker(client, frame, launcher.workers))
    plan = Plan(device, vertices, directed, name=name)
    partitions = launcher.keep(build, plan, each=[edges])
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


def source_of(columns: tuple[str, str], name: str, *partitions: Any) -> Source:
    """The edges of a rank's partitions, which are not copied."""
    arrays = [
        tuple(
            _numbers(partition.iloc[:, side], f"{name}, column {columns[side]!r}, partitioning {place} of this worker")
            for side in range(2)
        )
        for place, partition in enumerate(partitions)
    ]

    def blocks() -> Iterator[Pairs]:
        yield from arrays

    return Source(blocks, columns, name)


def _numbers(ids: Any, where: str) -> Any:
    if ids.dtype.kind not in NUMBERS:
        raise InputError(
            f"{where}: over several GPUs ids are integers, not {ids.dtype}: number them, or search frame.compute()"
        )
    if ids.isnull().any():
        raise InputError(f"{where}: null is not a vertex id: drop the rows without one")
    return ids.values


def frame_of_result(launcher: DaskLauncher, result: DistributedResult) -> Any:
    """A result as a frame with one partitioning on each worker; see `DistributedResult.to_frame`."""
    import dask.dataframe as dd

    kept = launcher.keep(frame_of_partition, each=[result.graph.partitions, result.answers])
    return dd.from_delayed(launcher.taken(kept), verify_meta=False)


def frame_of_partition(partition: Partition, answer: Answer, communicator: Communicator) -> Any:
    """The rows of this partition's vertices, as a pandas frame or, on a GPU, a cuDF frame."""
    ids, distances, predecessors = rows(partition, answer, communicator)
    columns = {"vertex": ids, "distance": distances}
    if predecessors is not None:
        columns["predecessor"] = predecessors
    if isinstance(distances, np.ndarray):
        import pandas as pd

        return pd.DataFrame(columns)
    from ..adapters.cudf import frame_of

    return frame_of({name: column.copy() for name, column in columns.items()})
