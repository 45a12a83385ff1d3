"""From an edge list on the device to a graph that is ready to be searched: times, and the most memory taken.

    python3 benchmarks/bench_construct.py rmat:20 rmat:24 --json FILE

The list holds every edge in both directions, in the order of `--order`. `csr` is the CSR, the kind of graph found out
and the ids checked; `prepare` what the engine does with it; a time is the median of `--times`, synchronised.
"""

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter

import cupy
import numpy as np
import record

from rapids_bfs import load
from rapids_bfs._core.csr import device as device_csr
from rapids_bfs._core.memory import PeakDeviceBytes
from rapids_bfs.adapters.device_edges import from_device_edges
from rapids_bfs.engines import registered

GRAPHS = ["rmat:20", "rmat:22", "rmat:24", "urand:24"]
ORDERS = ["random", "sorted"]
VARIANTS = {
    "int32": ({}, np.int32),
    "int64": ({}, np.int64),
    "int32, gaps": ({"vertices": None}, np.int32),
    "int32, in order": ({"keep_order": True}, np.int32),
}


def edge_list(spec, order):
    """Sources and targets of every arc, int32, and the number of vertices."""
    graph = load(spec, device="cuda")
    sources, targets = device_csr.sources_of(graph.offsets, graph.targets), graph.targets.copy()
    if order == "random":
        shuffled = cupy.random.permutation(len(sources))
        sources, targets = sources[shuffled], targets[shuffled]
    return sources, targets, graph.num_vertices


def timed(work, times):
    """Median milliseconds, once warm, the most bytes taken, and the last outcome."""
    work()
    milliseconds = []
    for _ in range(times):
        cupy.cuda.Device().synchronize()
        begin = perf_counter()
        outcome = work()
        cupy.cuda.Device().synchronize()
        milliseconds.append(1e3 * (perf_counter() - begin))
        del outcome
    with PeakDeviceBytes() as peak:
        outcome = work()
    return median(milliseconds), peak.bytes, outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS, metavar="graph")
    parser.add_argument("--order", choices=ORDERS, default="random")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    rows = []
    print(f"{'graph':10}{'ids':17}{'arcs':>14}{'csr ms':>9}{'peak MB':>9}{'prepare ms':>12}{'both ms':>9}")
    for spec in arguments.graphs:
        sources, targets, vertices = edge_list(spec, arguments.order)
        for name, (options, dtype) in VARIANTS.items():
            given = sources.astype(dtype, copy=False), targets.astype(dtype, copy=False)
            chosen = {"vertices": vertices, "name": spec} | options
            csr, peak, graph = timed(
                lambda given=given, chosen=chosen: from_device_edges(*given, **chosen), arguments.times
            )
            assert graph.num_arcs == len(sources)
            assert not graph.directed
            prepare, _, _ = timed(
                lambda graph=graph: registered()["cupy"].prepare(graph, "direction-optimizing"), arguments.times
            )
            row = {"graph": spec, "ids": name, "order": arguments.order, "arcs": len(sources)}
            rows.append(row | {"csr_ms": csr, "peak_bytes": peak, "prepare_ms": prepare})
            print(
                f"{spec:10}{name:17}{len(sources):14,}{csr:9.2f}{peak / 1e6:9,.0f}{prepare:12.2f}{csr + prepare:9.2f}",
                flush=True,
            )
            del graph, given
        del sources, targets
        cupy.get_default_memory_pool().free_all_blocks()
    if arguments.json:
        record.write(arguments.json, {"rows": rows})


if __name__ == "__main__":
    main()
