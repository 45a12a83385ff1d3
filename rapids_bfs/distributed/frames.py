"""Distributed graphs from Dask frames, made on the workers that have the partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any

from .._core.csr.building import Pairs
from .._core.cuda.arrays import CPU, CUDA
from .._core.formatting import counted, size
from ..adapters._dask_partitions import checked_edges, column_of
from ..adapters.dask import FRAME, client_here, edge_columns
from ..errors import InputError, TraversalError
from .build import Plan, build
from .communicators import TIMEOUT
from .dask import TICK, DaskLauncher, ask_scheduler
from .graph import DistributedGraph
from .sources import EdgeSource, LocalEdges, StringEdges
from .workers import Stored

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_TICK = 0.05  # seconds to the first check that a computation progresses, then twice as long, up to `TICK`
NUMBERS = "iuf"  # kinds of dtypes that vertex ids may have
START = "client = distributed.Client(dask_cuda.LocalCUDACluster())"


def from_dask_pandas(
    obj: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str = "frame",
    edge_data: Any = None,
) -> DistributedGraph:
    """A graph with a rank on each worker of the current cluster, from a frame of edges with partitions of pandas, whose
    ids are integers or strings.

    ``source`` and ``target`` name its columns, by default a pair with usual names, or the only two.
    """
    if edge_data is not None:
        raise InputError(f"{name}: edges on the workers of a cluster carry no data: give devices='local' too")
    frame, columns = edge_columns(obj, source, target, name)
    return _distributed(frame, columns, CPU, Plan(CPU, vertices, directed, name=name), _computed_tables)


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
    if client_here() is None:
        raise InputError(f"{name}: a frame of dask_cudf becomes a graph on the workers of a cluster: first {START}")
    return _distributed(frame, columns, device, Plan(device, vertices, directed, name=name), _persisted)


Held = tuple[list[Any], Callable[..., EdgeSource]]  # futures, and the function of their values that makes a source


def _distributed(
    frame: Any, columns: tuple[str, str], device: str, plan: Plan, compute: Callable[..., Held]
) -> DistributedGraph:
    _require_free_worker(plan.name)
    client = client_here()
    # Workers that cannot be ranks are named before anything is computed.
    if workers := ask_scheduler(client, client.nthreads):
        launcher = DaskLauncher.shared(client, sorted(workers), device)
    futures, make_source = compute(client, frame, columns, plan)
    workers = ask_scheduler(client, client.nthreads)  # others may have come meanwhile
    launcher = DaskLauncher.shared(client, sorted(workers), device)
    edges = launcher.hold(make_source, _by_worker(client, futures, launcher.workers))
    partitions = launcher.map(build, plan, each=[edges])
    return DistributedGraph(partitions, launcher, name=plan.name, columns=columns, frame=FRAME)


def _require_free_worker(name: str) -> None:
    """Raise `InputError` in a task that holds its worker's only thread: those of the graph would wait for it."""
    from distributed import get_worker
    from distributed.threadpoolexecutor import thread_state

    if getattr(thread_state, "proceed", False):  # false once a task has left its thread to others
        worker = get_worker()
        if worker.state.nthreads == 1:
            raise InputError(
                f"{name}: this task holds the only thread of worker {worker.address}, which its graph needs: make it "
                "within distributed.worker_client()"
            )


def _persisted(client: Any, frame: Any, columns: tuple[str, str], plan: Plan) -> Held:
    """The frame's partitions as they are, computed if necessary."""
    from distributed import futures_of

    return _wait_for(client, futures_of(client.persist(frame)), plan.name), partial(source_of, columns, plan.name)


def _computed_tables(client: Any, frame: Any, columns: tuple[str, str], plan: Plan) -> Held:
    """The frame's partitions as tables of edges, see `checked_edges`."""
    from dask import delayed

    name = plan.name
    tables = [
        delayed(checked_edges)(part, columns, f"{name}, partition {index}")
        for index, part in enumerate(frame.to_delayed())
    ]
    futures = _wait_for(client, client.compute(tables), name)
    found = client.submit(_kinds, client.map(_kind, futures, pure=False), pure=False)
    _wait_for(client, [found], name)
    kinds = found.result(TIMEOUT)
    if len(kinds) > 1:
        raise InputError(
            f"{name}: its partitions hold ids of several types, {' and '.join(sorted(kinds))}: cast them to one"
        )
    if kinds != {STRINGS}:
        return futures, partial(_numbers_of, columns)
    if plan.vertices is not None:
        raise InputError(f"{name}: a number of vertices can only be given with integer ids")
    return futures, partial(_strings_of, columns)


INTEGERS, STRINGS = "integers", "strings"


def _kind(table: pa.Table) -> str | None:
    """The kind of a table's ids; None if it is empty."""
    if not table.num_rows:
        return None
    return INTEGERS if table.schema.types[0] in ("int32", "int64") else STRINGS


def _kinds(found: Sequence[str | None]) -> set[str]:
    return {kind for kind in found if kind}


def _numbers_of(columns: tuple[str, str], *tables: Stored) -> LocalEdges:
    def blocks() -> Iterator[Pairs]:
        for stored in tables:
            table = stored()
            if table.num_rows:
                source, target = (column.to_numpy() for column in table.columns)
                yield source, target

    return LocalEdges(blocks, columns)


def _strings_of(columns: tuple[str, str], *tables: Stored) -> StringEdges:
    return StringEdges(lambda: (table for table in (stored() for stored in tables) if table.num_rows), columns)


def _wait_for(client: Any, futures: list[Any], name: str) -> list[Any]:
    """Wait for the futures, and return them. Raises what computing one of them raised.

    Raises `InputError` when Dask has made no progress for `TIMEOUT` seconds: it starts no tasks on workers whose memory
    is full, and waits for memory that nothing may ever free.
    """
    from distributed import CancelledError, wait

    tick, since, before = FIRST_TICK, 0.0, None
    while True:
        try:
            with client.as_current(), suppress(TimeoutError):
                wait(futures, timeout=tick)
        except CancelledError:
            raise TraversalError(f"{name}: Dask has cancelled its partitions: make the graph again") from None
        if failed := next((future for future in futures if future.status == "error"), None):
            raise copy(failed.exception())  # Dask keeps the error itself: its traceback would keep futures and callers
        if all(future.done() for future in futures):
            return futures
        workers = ask_scheduler(client, partial(client.scheduler.identity, n_workers=-1))["workers"]
        now = sum(future.done() for future in futures), {each: _activity_of(workers[each]) for each in workers}
        heard = min((worker["last_seen"] for worker in workers.values()), default=time())  # of all of them
        if now != before or any(map(_is_busy, workers.values())):
            since = heard
        elif heard > since + TIMEOUT:
            raise InputError(
                f"{name}: for {TIMEOUT:g} s Dask has made no progress with its partitions: {_reason_for_stall(workers)}"
            )
        tick, before = min(2 * tick, TICK), now


def _activity_of(worker: Any) -> Any:
    """What the scheduler knows of a worker that changes while it makes progress."""
    return worker["status"], *(
        worker["metrics"].get(each) for each in ("task_counts", "managed_bytes", "spilled_bytes")
    )


def _is_busy(worker: Any) -> bool:
    counts = worker["metrics"].get("task_counts", {})
    return any(counts.get(state) for state in ("executing", "long-running", "flight"))


def _reason_for_stall(workers: Mapping[str, Any]) -> str:
    """Why no worker makes progress, and what to do."""
    paused = {each: worker for each, worker in workers.items() if worker["status"] == "paused"}
    if paused:
        address, worker = max(paused.items(), key=lambda each: each[1]["metrics"].get("memory", 0))
        used = f"{size(worker['metrics'].get('memory', 0))} of {size(worker['memory_limit'])}"
        return (
            f"it has paused {len(paused)} of {counted(len(workers), 'worker')}, whose memory is full (worker "
            f"{address}: {used}): give workers more memory, or take more of them"
        )
    return "no worker takes its tasks: see what they wait for" if workers else "the cluster has no workers"


def _by_worker(client: Any, futures: Sequence[Any], workers: Sequence[str]) -> list[list[Any]]:
    """The futures whose values each worker has."""
    held: dict[str, list[Any]] = {worker: [] for worker in workers}
    where = ask_scheduler(client, partial(client.who_has, futures))
    for future in futures:
        if not (holders := held.keys() & where[future.key]):
            raise TraversalError("workers have come or gone meanwhile: make the graph again")
        held[min(sorted(holders), key=lambda worker: len(held[worker]))].append(future)
    return list(held.values())


def source_of(columns: tuple[str, str], name: str, *partitions: Stored) -> LocalEdges:
    """The edges in a worker's partitions of a frame of cuDF, which are not copied."""

    def blocks() -> Iterable[Pairs]:
        for index, stored in enumerate(partitions):
            partition = stored()
            where = f"partition {index} of this worker"
            source, target = (
                _numbers(column_of(partition, column, f"{name}, {where}"), f"{name}, column {column!r}, {where}")
                for column in columns
            )
            yield source, target

    return LocalEdges(blocks, columns)


def _numbers(ids: Any, where: str) -> Any:
    if ids.dtype.kind not in NUMBERS:
        raise InputError(
            f"{where}: over several GPUs ids are integers, not {ids.dtype}: number them, or search frame.compute()"
        )
    if ids.isnull().any():
        raise InputError(f"{where}: null is not a vertex id: drop the rows without one")
    return ids.values
