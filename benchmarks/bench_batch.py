"""Many sources at once against as many single searches, in the same run.

    python3 benchmarks/bench_batch.py rmat:20 --engines cupy,cpu --json FILE

Milliseconds are for 64 sources. A batch writes its distances to memory that was written before, where the engine
searches, or keeps the summary; single searches take turns over the same sources, distances only. One row of each
batch's distances and of its summary is compared with a single search.
"""

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import record

from rapids_bfs._core.cuda.arrays import CUDA, to_host
from rapids_bfs.engines import Options, resolve
from rapids_bfs.generators import generate

SEED = 1
WORD = 64
GATHERED = Options(predecessors=False)


def milliseconds(action, *arguments):
    began = perf_counter()
    action(*arguments)
    return 1e3 * (perf_counter() - began)


def room(traversal, k, n):
    """Memory for distances, written once."""
    if traversal.searches_on != CUDA:
        return np.zeros((k, n), np.int32)
    import cupy

    distances = cupy.zeros((k, n), np.int32)
    cupy.cuda.Device().synchronize()
    return distances


def measure(graph, name, sizes, runs):
    """A row for each size of batch."""
    choice = resolve(name)
    single = choice.traversal(graph)
    began = perf_counter()
    batch = choice.batch_traversal(graph)
    prepared = perf_counter() - began
    rng = np.random.default_rng(SEED)
    sources = rng.choice(np.flatnonzero(graph.degrees), max(sizes))
    rows = []
    for k in sizes:
        some = sources[:k]
        distances = room(batch, k, graph.num_vertices)
        batch.distances(some, None, distances)
        summary = batch.summary(some, None)
        singles = [milliseconds(single.search, sources[at : at + 1], GATHERED) for at in range(WORD)]
        whole = [milliseconds(batch.distances, some, None, distances) for _ in range(runs)]
        sums = [milliseconds(batch.summary, some, None) for _ in range(runs)]
        expected = to_host(single.run(some[-1:], GATHERED).distances)
        row = {
            "engine": name,
            "sources": k,
            "prepared_s": prepared,
            "single_ms": sum(singles),
            "distances_ms": [each * WORD / k for each in whole],
            "summary_ms": [each * WORD / k for each in sums],
            "right": bool(
                np.array_equal(to_host(distances[-1]), expected)
                and summary.total[-1] == expected[expected > 0].sum(dtype=np.int64)
            ),
        }
        rows.append(row)
        print(line(row), flush=True)
    return rows


HEAD = f"{'engine':12}{'sources':>8}{'64 single ms':>14}{'distances':>11}{'x':>7}{'summary':>10}{'x':>7}  right"


def line(row):
    single, distances, summary = row["single_ms"], median(row["distances_ms"]), median(row["summary_ms"])
    return (
        f"{row['engine']:12}{row['sources']:8}{single:14.3f}{distances:11.3f}{single / distances:7.1f}"
        f"{summary:10.3f}{single / summary:7.1f}  {'yes' if row['right'] else 'NO'}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=["rmat:20"], metavar="graph")
    parser.add_argument("--engines", default="cpu")
    parser.add_argument("--sources", default="64,256,1024", help="sizes of batches")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    names = arguments.engines.split(",")
    for name in names:
        if reason := resolve(name).engine.unavailable():
            parser.error(f"engine {name} cannot run here: {reason}")
    sizes = [int(size) for size in arguments.sources.split(",")]
    graphs = []
    for spec in arguments.graphs:
        graph = generate(spec)
        print(f"{spec}: {graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs; ms for 64 sources\n{HEAD}")
        rows = [row for name in names for row in measure(graph, name, sizes, arguments.runs)]
        graphs.append({"graph": spec, "vertices": graph.num_vertices, "arcs": graph.num_arcs, "rows": rows})
    if arguments.json:
        record.write(arguments.json, {"graphs": graphs})


if __name__ == "__main__":
    main()
