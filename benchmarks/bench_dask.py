"""Through Dask, side by side with cugraph.dask: from a frame to a graph, and searches as the client waits for them.

    python3 benchmarks/bench_dask.py rmat:26 --sources 16 --json FILE  # on all GPUs, with RAPIDS
    python3 benchmarks/bench_dask.py rmat:12 --cpu 2                   # on two workers without a GPU, ours alone

Each worker draws its share of the edges into two columns of a frame. The graph is undirected; ours keeps duplicate
edges, cuGraph's drops them. The peak is what the GPUs have less of while the graph is made, and the frame; an edge is
a row of the frame.
"""

import argparse
import json
import sys
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from distributed import Client, LocalCluster, wait

from rapids_bfs import as_graph, bfs, validate
from rapids_bfs._core.machine import describe, links, nccl_version, versions
from rapids_bfs.comparison import sample_sources
from rapids_bfs.parts.frames import from_dask_frame
from rapids_bfs.parts.users import Drawn

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
    """On a worker: the most bytes of its GPU that are taken at a time, looked at every 0.5 ms."""

    def __init__(self):
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
        self.device, self.over = cupy.cuda.Device(), threading.Event()
        self.before = self.least = self.device.mem_info[0]
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.over.wait(0.0005):
            self.least = min(self.least, self.device.mem_info[0])

    def end(self):
        self.over.set()
        self.thread.join()
        return self.before - min(self.least, self.device.mem_info[0])


def begin_watching(dask_worker):
    dask_worker.watch = Watch()


def end_watching(dask_worker):
    return dask_worker.watch.end()


def built(client, device, make):
    """A graph, the seconds that it took the second time, when all is compiled, and the most bytes that it took."""
    make()
    begin = perf_counter()
    make()
    seconds = perf_counter() - begin
    if device == "cpu":
        return make(), seconds, None
    client.run(begin_watching)
    graph = make()
    return graph, seconds, sum(client.run(end_watching).values())


def searched(search, sources):
    """Milliseconds of each search but a first one."""
    search(sources[0])
    times = []
    for source in sources:
        begin = perf_counter()
        search(source)
        times.append(1e3 * (perf_counter() - begin))
    return times


def ours(client, frame, device, count):
    """Our graph and searches: from the client's call until the result is known there, in parts on the workers."""
    make = partial(as_graph, frame, directed=False)
    if device == "cpu":  # as_graph would make a graph in this process
        make = partial(from_dask_frame, frame, COLUMNS, directed=False, device="cpu")
    graph, seconds, peak = built(client, device, make)
    sources = graph.ids_of(sample_sources(graph, count)).tolist()
    times = searched(lambda source: bfs(graph, source), sources)
    wrong = [str(verdict) for verdict in (validate(graph, bfs(graph, source)) for source in sources) if not verdict]
    reached = [bfs(graph, source).num_reached for source in sources]
    return sources, reached, {"build_s": seconds, "peak_bytes": peak, "ms": times, "wrong": wrong}


def theirs(client, frame, device, sources, reached):
    """cuGraph's graph and searches, which end with a frame on the workers."""
    import cugraph.dask
    from cugraph.dask.comms import comms

    from rapids_bfs.engines.rapids.cugraph_dask import graph_of

    comms.initialize(p2p=False)
    graph, seconds, peak = built(client, device, lambda: graph_of(frame, COLUMNS, directed=False))
    times = searched(lambda source: wait(cugraph.dask.bfs(graph, source).persist()), sources)
    far = np.iinfo(np.int32).max
    counts = [int((cugraph.dask.bfs(graph, source)["distance"] != far).sum().compute()) for source in sources]
    wrong = [
        f"{source}: {each} reached" for source, each, ours in zip(sources, counts, reached, strict=True) if each != ours
    ]
    comms.destroy()
    return {"build_s": seconds, "peak_bytes": peak, "ms": times, "wrong": wrong}


def cluster_of(arguments):
    if arguments.cpu:
        return LocalCluster(n_workers=arguments.cpu, threads_per_worker=1, dashboard_address=None)
    from dask_cuda import LocalCUDACluster

    return LocalCUDACluster(protocol="tcp", dashboard_address=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graph", nargs="?", default="rmat:26")
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--cpu", type=int, default=0, metavar="N", help="N workers without a GPU, ours alone")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    device = "cpu" if arguments.cpu else "cuda"
    with cluster_of(arguments) as cluster, Client(cluster) as client:
        frame, edges = frame_of(client, arguments.graph, device)
        workers = len(client.nthreads())
        frame_bytes = sum(dtype.itemsize for dtype in frame.dtypes)
        print(f"{arguments.graph}, {edges:,} edges on {workers} workers ({device})")
        sources, reached, mine = ours(client, frame, device, arguments.sources)
        rows = {"rapids_bfs": mine}
        if device == "cuda":
            rows["cugraph.dask"] = theirs(client, frame, device, sources, reached)
    print(f"{'':14}{'graph s':>9}{'bytes an edge':>15}{'median ms':>11}{'most ms':>9}  valid")
    for name, row in rows.items():
        row["peak_bytes_per_edge"] = None if row["peak_bytes"] is None else row["peak_bytes"] / edges + frame_bytes
        each = "" if row["peak_bytes"] is None else f"{row['peak_bytes_per_edge']:.1f}"
        ms, right = row["ms"], "no" if row["wrong"] else "yes"
        print(f"{name:14}{row['build_s']:9.3f}{each:>15}{median(ms):11.2f}{max(ms):9.2f}  {right}")
    if arguments.json:
        content = {"machine": describe(), "versions": versions(), "date": datetime.now(UTC).date().isoformat()}
        content |= {"graph": arguments.graph, "edges": edges, "workers": workers, "device": device}
        content |= {"links": links() if device == "cuda" else None, "nccl": nccl_version(), "rows": rows}
        arguments.json.write_text(json.dumps(content, indent=1) + "\n")
    return int(any(row["wrong"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
