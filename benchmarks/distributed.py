"""Several GPUs: searches in one launch on each, by NCCL, and on a single GPU; Dask frames beside cugraph.dask."""

import gc
import threading
from collections.abc import Iterator
from functools import partial
from statistics import harmonic_mean, median
from typing import Any

import numpy as np

from rapids_bfs import as_graph, bfs, load, validate
from rapids_bfs._core.cuda.arrays import CUDA
from rapids_bfs._core.machine import links, nccl_version
from rapids_bfs.comparison.graph500 import _drawn_degrees, _reached_edges
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.distributed.cuda import DevicePartition, DeviceSearch
from rapids_bfs.distributed.launchers import ordinal
from rapids_bfs.distributed.loading import names_random_graph
from rapids_bfs.distributed.sources import RandomEdges
from rapids_bfs.engines import DEFAULT, search
from rapids_bfs.engines.gpu.cupy import CuPyDevice

from .cases import Case, expect, say
from .record import Record
from .tables import Table, code, middle, span
from .timing import clock, one_by_one

GRAPHS = ("rmat:24", "rmat:28", "rmat:26", "urand:24", "grid:1024", "urand:27")
ROOTS = {"rmat": 64}  # others: 16
WARM_S = 0.1
SLOW_VALIDATION_S = 0.1  # seconds of a validation; after slower ones only MAX_SLOW_VALIDATIONS answers are validated
MAX_SLOW_VALIDATIONS = 8
NCCL = "NCCL"


def several_gpus(graphs=GRAPHS, *, gpus="all", roots=0) -> Iterator[Record]:
    """Searches from the same roots by every transport: back to back and, as `between`, after validations, which evict
    the graph from caches. Rates are harmonic means over edges as Graph500 counts them: those generated, duplicates
    too."""
    devices: Any = [int(each) for each in gpus.split(",")] if "," in gpus else int(gpus) if gpus.isdigit() else gpus
    small = load("rmat:10", devices=devices)  # compiles kernels and starts communicators
    found = []
    for spec in graphs:
        found.append(_row(spec, small.devices, roots or ROOTS.get(spec.partition(":")[0], 16)))
        yield {"devices": small.devices, "graphs": found}
        _release()


def _row(spec, devices, count) -> Record:
    single, expected, roots = _on_one(spec, count)
    _release()
    built, graph = clock(partial(load, spec, devices=[ordinal(device) for device in devices]))
    numbers = graph.partitioning.global_ids(np.asarray(roots, np.int64)).astype(np.int64)
    transports = {"one GPU": single}
    prepared, _ = clock(graph.prepare)
    edges = _edges(graph, spec, numbers)
    for transport in dict.fromkeys((graph.transport, graph.partitions[0].cache["search"].transport, NCCL)):
        say(f"{spec}, {transport}")
        if transport == NCCL:
            graph.launcher.collect(by_nccl, each=[graph.partitions])
        graph.transport = transport
        transports[transport], found = _searched(
            lambda each: search(graph, np.array([each]), DEFAULT, "auto"), graph, numbers
        )
        expect(found == expected, f"{transport} finds what one GPU does")
    for run in transports.values():
        run["median_ms"], run["median_between_ms"] = median(run["ms"]), median(run["between_ms"])
        run["GTEPS"] = harmonic_mean([each / ms / 1e6 for each, ms in zip(edges, run["ms"], strict=True)])
    facts = {"vertices": graph.num_vertices, "arcs": graph.num_arcs, "built_s": built}
    return {
        "graph": graph.name,
        **facts,
        "prepared_s": prepared,
        "roots": roots.tolist(),
        "edges": edges,
        "transports": transports,
    }


def _on_one(spec, count):
    """Searches on one GPU, what they reach, and their roots."""
    say(f"{spec}, one GPU")
    built, graph = clock(partial(load, spec, device=CUDA))
    roots = sample_sources(graph, count)
    run, found = _searched(lambda root: search(graph, np.array([root]), DEFAULT, "auto"), graph, roots)
    return run | {"built_s": built}, found, roots


def _searched(run, graph, roots):
    """Milliseconds of ``run(root)`` for each root, back to back and then with a validation after each; and the number
    of vertices reached and the depth of each answer."""
    one_by_one([partial(run, roots[-1])], warm_s=WARM_S)
    milliseconds = one_by_one([partial(run, root) for root in roots])
    between, found, validated, took = [], [], 0, 0.0
    for root in roots:
        each, result = clock(partial(run, root))
        between.append(1e3 * each)
        found.append((result.num_reached, result.depth))
        if validated < MAX_SLOW_VALIDATIONS or took < SLOW_VALIDATION_S:
            took, verdict = clock(partial(validate, graph, result))
            expect(verdict, f"from {root}")
            validated += 1
    return {"ms": milliseconds, "between_ms": between, "validated": validated, "validate_s": took}, found


def _edges(graph, spec, numbers) -> list[int]:
    """The number of edges that Graph500 counts as traversed, for a search from each of these global ids."""
    results = (search(graph, np.array([number]), DEFAULT, "auto") for number in numbers)
    if not names_random_graph(spec):
        return [result.num_traversed_edges for result in results]
    degrees = graph.launcher.map(_drawn_degrees, RandomEdges(graph.name, CUDA), each=[graph.partitions])
    return [sum(graph.launcher.collect(_reached_edges, each=[result.answers, degrees])) for result in results]


def by_nccl(partition, communicator):
    """Search the partition by NCCL from now on."""
    del partition.cache["search"]
    partition.cache["search"] = DeviceSearch(DevicePartition(partition, communicator, CuPyDevice()), NCCL)


def _release() -> None:
    """Free the unused blocks of the memory pools of all GPUs."""
    import cupy

    gc.collect()
    for device in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(device):
            cupy.get_default_memory_pool().free_all_blocks()


def several_gpus_table(record: Record) -> Table:
    count = len(record["devices"])
    return "graph | GPUs | roots | median ms | range | between validations | harmonic mean, GTEPS", (
        [
            *(
                code(each["graph"].removesuffix(":16")),
                transport if transport == "one GPU" else f"{count}, {transport}",
                len(run["ms"]),
            ),
            *(run["median_ms"], span(run["ms"]), run["median_between_ms"], run["GTEPS"]),
        ]
        for each in record["graphs"]
        for transport, run in each["transports"].items()
    )


COLUMNS = ("source", "target")
CHECKED = 4  # answers


def dask(graph="rmat:26", *, sources=16) -> Iterator[Record]:
    """Each worker generates its share of the edges as a frame of two columns. The graph is undirected; ours keeps
    duplicate edges, cuGraph's drops them. Each library first builds and searches a small graph, which starts its
    communicator and compiles its kernels. Then it builds the graph twice: once to measure memory, once to measure time.
    The peak is the frame and the most device memory taken during the build, by the driver's count or RMM's."""
    from dask_cuda import LocalCUDACluster
    from distributed import Client

    with LocalCUDACluster(protocol="tcp", dashboard_address=None) as cluster, Client(cluster) as client:
        small, _ = _frame(client, "rmat:10")
        frame, edges = _frame(client, graph)
        frame_bytes = sum(dtype.itemsize for dtype in frame.dtypes)
        rows: Record = {}
        facts = {"workers": len(client.nthreads()), "device": CUDA, "links": links(), "nccl": nccl_version()}
        reached: dict[int, int] = {}
        for name, measure in {"rapids_bfs": _ours, "cugraph.dask": _theirs}.items():
            say(name)
            row = rows[name] = measure(client, frame, small, sources, reached)
            row["peak_bytes_per_edge"] = row["peak_bytes"] / edges + frame_bytes
            yield {"graph": graph, "edges": edges, **facts, "rows": rows}


def _drawn(spec, rank, size) -> Any:
    """A rank's share of the edges, as a cuDF frame."""
    import cudf
    import cupy

    ends = zip(*RandomEdges(spec, CUDA).blocks(rank, size), strict=True)
    return cudf.DataFrame({name: cupy.concatenate(each) for name, each in zip(COLUMNS, ends, strict=True)})


def _frame(client, spec) -> tuple[Any, int]:
    """The edges as a Dask frame with a partition on each worker, and their number."""
    import dask.dataframe as dd
    from distributed import wait

    workers = sorted(client.nthreads())
    shares = [
        client.submit(_drawn, spec, rank, len(workers), workers=[worker], pure=False)
        for rank, worker in enumerate(workers)
    ]
    wait(shares)
    return dd.from_delayed(shares, verify_meta=False).persist(), sum(client.gather(client.map(len, shares)))


class Watch:
    """The peak memory of a worker's GPU, by RMM's count and by the driver's, sampled every 0.5 ms. CuPy's pool only
    grows during a build, but samples may miss what cuGraph allocates and frees."""

    def __init__(self):
        import cupy
        import rmm.statistics

        cupy.get_default_memory_pool().free_all_blocks()
        self.device, self.over, self.rmm = cupy.cuda.Device(), threading.Event(), rmm.statistics
        self.before = self.least = self.device.mem_info[0]
        self.counted = rmm.statistics.statistics()
        self.counted.__enter__()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.over.wait(0.0005):
            self.least = min(self.least, self.device.mem_info[0])

    def end(self) -> int:
        self.over.set()
        self.thread.join()
        counted = self.rmm.get_statistics().peak_bytes
        self.counted.__exit__(None, None, None)
        return max(self.before - min(self.least, self.device.mem_info[0]), counted)


def _built(client, make) -> tuple[Any, Record]:
    """The graph of ``make()`` and the time of its build, with the peak memory of an earlier build."""
    client.run(lambda dask_worker: setattr(dask_worker, "watch", Watch()))
    graph = make()
    peak = sum(client.run(lambda dask_worker: dask_worker.watch.end()).values())
    del graph
    seconds, graph = clock(make)
    return graph, {"build_s": seconds, "peak_bytes": peak}


def _ours(client, frame, small, count, reached) -> Record:
    """Time our build and searches, from the client's call until the client has the result, which stays on the workers.
    ``reached`` gets the number of vertices that each of the first sources reaches."""
    make = partial(as_graph, directed=False)
    first_seconds, first = clock(partial(make, small))  # later graphs use its communicator
    bfs(first, int(_ids(first, 1)[0]))
    graph, row = _built(client, partial(make, frame))
    prepared, _ = clock(graph.prepare)
    sources = _ids(graph, count)
    bfs(graph, sources[0])
    times = one_by_one([partial(bfs, graph, source) for source in sources])
    reached.update(dict.fromkeys(sources, 0))
    for source in sources[:CHECKED]:
        result = bfs(graph, source)
        expect(validate(graph, result), f"from {source}")
        reached[source] = result.num_reached
    return {
        "first_s": first_seconds,
        **row,
        "prepare_s": prepared,
        "ms": times,
        "transport": graph.transport,
    }


def _ids(graph, count) -> list[int]:
    return graph.ids_of(sample_sources(graph, count)).tolist()


def _theirs(client, frame, small, count, reached) -> Record:
    """Time cuGraph's build and searches, which end with a frame on the workers."""
    import cugraph.dask
    from cugraph.dask.comms import comms
    from distributed import wait

    from rapids_bfs.engines.rapids.cugraph_dask import graph_of

    def search(graph, source):
        found = cugraph.dask.bfs(graph, source).persist()
        wait(found)
        return found

    def first():
        comms.initialize(p2p=False)
        return graph_of(small, COLUMNS, directed=False)

    first_seconds, _ = clock(first)
    graph, row = _built(client, partial(graph_of, frame, COLUMNS, directed=False))
    sources = list(reached)
    search(graph, sources[0])
    times = one_by_one([partial(search, graph, source) for source in sources])
    far = np.iinfo(np.int32).max
    for source in sources[:CHECKED]:
        found = int((search(graph, source)["distance"] != far).sum().compute())
        expect(found == reached[source], f"cugraph.dask reaches {found} from {source}")
    comms.destroy()
    return {"first_s": first_seconds, **row, "ms": times}


def dask_table(record: Record) -> Table:
    head = "made by | frame to graph, s | device memory at the peak, bytes an edge | search, median ms | most ms"
    return head, (
        [code(name), row["build_s"], row["peak_bytes_per_edge"], middle(row["ms"]), max(row["ms"])]
        for name, row in record["rows"].items()
    )


BY_DASK = ("GPU", "two GPUs", "cuGraph", "dask-cuda")
CASES = [
    Case(
        "several-gpus",
        "searches over several GPUs beside those on one",
        several_gpus,
        several_gpus_table,
        ("GPU", "two GPUs"),
        "distributed",
    ),
    Case("dask", "graphs of Dask frames, side by side with cugraph.dask", dask, dask_table, BY_DASK, "dask_rmat26"),
]
