"""Through Dask, side by side with cugraph.dask: from a frame to a graph, and searches as the client waits for them.

    python3 benchmarks/bench_dask.py rmat:26 --sources 16 --json FILE  # on all GPUs, with RAPIDS
    python3 benchmarks/bench_dask.py rmat:12 --cpu 2                   # on two workers without a GPU, ours alone

Each worker draws its share of the edges into two columns of a frame. The graph is undirected; ours keeps duplicate
edges, cuGraph's drops them. First either makes and searches a small graph, which starts its communicator and compiles
its kernels. Then a graph is made twice: once with a watch on memory, once timed. The peak is the frame, and what the
GPUs have less of, or RMM gave out, while the graph is made; an edge is a row of the frame.
"""

import argparse
import sys
import threading
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from unittest import mock

import numpy as np
import record
from distributed import Client, LocalCluster, wait

from rapids_bfs import as_graph, bfs, validate
from rapids_bfs._core.machine import links, nccl_version
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.distributed import frames
from rapids_bfs.distributed.dask import DaskLauncher
from rapids_bfs.distributed.frames import from_dask_frame
from rapids_bfs.distributed.sources import Drawn

COLUMNS = ("source", "target")


def drawn(spec, device, rank, size):
    """A rank's share of the edges, as a frame of pandas or cuDF."""
    blocks = list(Drawn(spec, device).of_rank(rank, size))
    if device == "cpu":
        import pandas as pd

        return pd.DataFrame(
            {name: np.concatenate(ends) for name, ends in zip(COLUMNS, zip(*blocks, strict=True), strict=True)}
        )
    import cudf
    import cupy

    return cudf.DataFrame(
        {name: cupy.concatenate(ends) for name, ends in zip(COLUMNS, zip(*blocks, strict=True), strict=True)}
    )


def frame_of(client, spec, device):
    """The edges as a frame of Dask, a partition on each worker, and how many there are."""
    import dask.dataframe as dd

    workers = sorted(client.nthreads())
    parts = [
        client.submit(drawn, spec, device, rank, len(workers), workers=[worker], pure=False)
        for rank, worker in enumerate(workers)
    ]
    wait(parts)
    return dd.from_delayed(parts, verify_meta=False).persist(), sum(client.gather(client.map(len, parts)))


class Watch:
    """On a worker: the most bytes of its GPU that are taken at a time, by RMM's count and looked at every 0.5 ms. A
    pool of CuPy's only grows while a graph is made, but a look may miss what cuGraph takes and gives back."""

    def __init__(self):
        import cupy
        import rmm.statistics

        cupy.get_default_memory_pool().free_all_blocks()
        self.device, self.over = cupy.cuda.Device(), threading.Event()
        self.before = self.least = self.device.mem_info[0]
        self.counted = rmm.statistics.statistics()
        self.counted.__enter__()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.over.wait(0.0005):
            self.least = min(self.least, self.device.mem_info[0])

    def end(self):
        import rmm.statistics

        self.over.set()
        self.thread.join()
        counted = rmm.statistics.get_statistics().peak_bytes
        self.counted.__exit__(None, None, None)
        return max(self.before - min(self.least, self.device.mem_info[0]), counted)


def begin_watching(dask_worker):
    dask_worker.watch = Watch()


def end_watching(dask_worker):
    return dask_worker.watch.end()


def timed(work):
    """What ``work()`` returns, and the seconds that it took."""
    begin = perf_counter()
    outcome = work()
    return outcome, perf_counter() - begin


def built(client, device, make):
    """A graph, the seconds that it took, and the most bytes that one before it took."""
    peak = None
    if device == "cuda":
        client.run(begin_watching)
        graph = make()
        peak = sum(client.run(end_watching).values())
        del graph
    return *timed(make), peak


def searched(search, sources):
    """Milliseconds of each search but a first one."""
    search(sources[0])
    return [1e3 * timed(lambda source=source: search(source))[1] for source in sources]


def ours(client, frame, small, device, count):
    """Our graph and searches: from the client's call until the result is known there, in parts on the workers."""
    make = partial(as_graph, directed=False)
    if device == "cpu":  # as_graph would make a graph in this process
        make = partial(from_dask_frame, columns=COLUMNS, directed=False, device="cpu")
    first, first_seconds = timed(lambda: make(small))  # its communicator serves the next ones too
    bfs(first, int(sample_ids(first, 1)[0]))
    with steps_clocked() as steps:
        graph, seconds, peak = built(client, device, lambda: make(frame))
    _, prepared = timed(graph.prepare)
    sources = sample_ids(graph, count)
    times = searched(lambda source: bfs(graph, source), sources)
    results = [bfs(graph, source) for source in sources[:4]]
    wrong = [str(verdict) for verdict in (validate(graph, result) for result in results) if not verdict]
    reached = [result.num_reached for result in results]
    row = {"first_s": first_seconds, "build_s": seconds, "prepare_s": prepared, "peak_bytes": peak, "ms": times}
    row["way"] = graph.way  # how the parts talked
    print("of which", ", ".join(f"{name} {seconds:.3f} s" for name, seconds in steps.items()), flush=True)
    return sources, reached, row | {"steps_s": steps, "wrong": wrong}


@contextmanager
def steps_clocked():
    """Within it, the seconds that the steps from a frame to a graph take, by name."""
    seconds = {}

    def clocked(name, step):
        def call(*given, **options):
            outcome, seconds[name] = timed(lambda: step(*given, **options))
            return outcome

        return call

    with ExitStack() as patches:
        for owner, name in ((frames, "_by_worker"), (DaskLauncher, "hold"), (DaskLauncher, "keep")):
            patches.enter_context(mock.patch.object(owner, name, clocked(name.strip("_"), getattr(owner, name))))
        yield seconds


def sample_ids(graph, count):
    return graph.ids_of(sample_sources(graph, count)).tolist()


def theirs(client, frame, small, device, sources, reached):
    """cuGraph's graph and searches, which end with a frame on the workers."""
    import cugraph.dask
    from cugraph.dask.comms import comms

    from rapids_bfs.engines.rapids.cugraph_dask import graph_of

    def search(graph, source):
        found = cugraph.dask.bfs(graph, source).persist()
        wait(found)
        return found

    def first():
        comms.initialize(p2p=False)
        return graph_of(small, COLUMNS, directed=False)

    _, first_seconds = timed(first)
    graph, seconds, peak = built(client, device, lambda: graph_of(frame, COLUMNS, directed=False))
    times = searched(partial(search, graph), sources)
    far = np.iinfo(np.int32).max
    counts = [int((search(graph, source)["distance"] != far).sum().compute()) for source in sources[: len(reached)]]
    wrong = [
        f"{source}: {each} reached"
        for source, each, ours in zip(sources, counts, reached, strict=False)
        if each != ours
    ]
    comms.destroy()
    return {"first_s": first_seconds, "build_s": seconds, "peak_bytes": peak, "ms": times, "wrong": wrong}


def cluster_of(arguments):
    if arguments.cpu:
        return LocalCluster(n_workers=arguments.cpu, threads_per_worker=1, dashboard_address=None)
    from dask_cuda import LocalCUDACluster

    return LocalCUDACluster(protocol="tcp", dashboard_address=None)


def summary(name, row, edges, frame_bytes):
    """The row, with its peak for each edge; printed."""
    peak = row["peak_bytes"]
    row["peak_bytes_per_edge"] = None if peak is None else peak / edges + frame_bytes
    each = "" if peak is None else f"{row['peak_bytes_per_edge']:.1f}"
    ms, right = row["ms"], "no" if row["wrong"] else "yes"
    line = f"{name:14}{row['first_s']:9.3f}{row['build_s']:9.3f}{each:>15}{median(ms):11.2f}{max(ms):9.2f}  {right}"
    print(line, flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graph", nargs="?", default="rmat:26")
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--cpu", type=int, default=0, metavar="N", help="N workers without a GPU, ours alone")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    device = "cpu" if arguments.cpu else "cuda"
    with cluster_of(arguments) as cluster, Client(cluster) as client:
        small, _ = frame_of(client, "rmat:10", device)
        frame, edges = frame_of(client, arguments.graph, device)
        workers = len(client.nthreads())
        frame_bytes = sum(dtype.itemsize for dtype in frame.dtypes)
        print(f"{arguments.graph}, {edges:,} edges on {workers} workers ({device}), {frame_bytes} bytes each")
        print(f"{'':14}{'first s':>9}{'graph s':>9}{'bytes an edge':>15}{'median ms':>11}{'most ms':>9}  valid")
        sources, reached, mine = ours(client, frame, small, device, arguments.sources)
        rows = {"rapids_bfs": summary("rapids_bfs", mine, edges, frame_bytes)}
        if device == "cuda":
            row = theirs(client, frame, small, device, sources, reached)
            rows["cugraph.dask"] = summary("cugraph.dask", row, edges, frame_bytes)
    if arguments.json:
        content = {"graph": arguments.graph, "edges": edges, "workers": workers, "device": device}
        content |= {"links": links() if device == "cuda" else None, "nccl": nccl_version(), "rows": rows}
        record.write(arguments.json, content)
    return int(any(row["wrong"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
