"""The same searches with the adjacency in the device's memory, in pinned memory of the host, and by the CPU engine.

    python3 benchmarks/bench_host_adjacency.py rmat:24 rmat:26 --json FILE
    python3 benchmarks/bench_host_adjacency.py rmat:28 --too-large

`--too-large`: the graph is made on the host, and never put into the device's memory. The CPU engine has all cores. The
distances of every search are compared with those of the first way.
"""

import argparse
import gc
import sys
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import cupy
import numpy as np
import record

from rapids_bfs import load
from rapids_bfs._core.cuda.arrays import CPU, CUDA, to_host
from rapids_bfs._core.formatting import size
from rapids_bfs.adapters.pinned import with_adjacency_on_host
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.engines import DEFAULT, resolve

GRAPHS = ["rmat:24", "rmat:25", "rmat:26"]
DEVICE, PINNED, PROCESSOR = "adjacency on the device", "adjacency on the host", "engine cpu"
CPU_SOURCES = 4  # the first of the same


def seconds(work):
    """How long ``work()`` takes, until the device is done, and its outcome."""
    begin = perf_counter()
    outcome = work()
    cupy.cuda.Device().synchronize()
    return perf_counter() - begin, outcome


def measure(traversal, sources):
    """Milliseconds of a search from each source, once warm, and the distances of each."""
    traversal.search(sources[:1], DEFAULT)
    times, distances = [], []
    for source in sources.reshape(-1, 1):
        took, found = seconds(lambda source=source: traversal.search(source, DEFAULT))
        times.append(1e3 * took)
        distances.append(to_host(traversal.answer(found)[0]).copy())
    return times, distances


def ways(spec, too_large):
    """Each way to search: the graph, and seconds to make it from the one before."""
    if not too_large:
        made, graph = seconds(lambda: load(spec, device=CUDA))
        yield DEVICE, "cupy", graph, made
        moved, host = seconds(lambda: graph.on(CPU))
    else:
        moved, host = seconds(lambda: load(spec))
    yield PROCESSOR, "cpu", host, moved
    pinned, there = seconds(lambda: with_adjacency_on_host(host))
    yield PINNED, "cupy", there, pinned


def rows_of(spec, arguments):
    """A row for each way."""
    rows, expected, sources = [], None, None
    for name, engine, graph, made in ways(spec, arguments.too_large):
        if sources is None:
            sources = sample_sources(graph, arguments.sources)
            arcs = f"{graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs, {size(graph.nbytes)}"
            print(f"{spec}: {arcs}\n    {'':26}{'made s':>10}{'prepared s':>12}{'median ms':>12}  same", flush=True)
        prepared, traversal = seconds(partial(resolve(engine).traversal, graph))
        times, distances = measure(traversal, sources[:CPU_SOURCES] if engine == "cpu" else sources)
        expected = expected or distances
        same = all(map(np.array_equal, distances, expected))
        rows.append({"way": name, "made_s": made, "prepared_s": prepared, "ms": times, "same": same})
        print(f"    {name:26}{made:10.2f}{prepared:12.2f}{median(times):12.3f}  {same}", flush=True)
        del traversal
    found = {row["way"]: median(row["ms"]) for row in rows}
    ratios = [f"{found[PROCESSOR] / found[PINNED]:.1f} times as fast as {PROCESSOR}"]
    if DEVICE in found:
        ratios.append(f"{found[PINNED] / found[DEVICE]:.1f} times the time on the device")
    print(f"    {PINNED}: {', '.join(ratios)}", flush=True)
    return {"graph": spec, "bytes": graph.nbytes, "sources": sources.tolist(), "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS, metavar="graph")
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--too-large", action="store_true", help="never put the whole graph on the device")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    graphs = []
    for spec in arguments.graphs:
        graphs.append(rows_of(spec, arguments))
        gc.collect()
        cupy.get_default_memory_pool().free_all_blocks()
    if arguments.json:
        record.write(arguments.json, {"graphs": graphs})
    return int(not all(row["same"] for each in graphs for row in each["rows"]))


if __name__ == "__main__":
    sys.exit(main())
