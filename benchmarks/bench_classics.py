"""Each published kernel in Numba-CUDA beside its twin in CUDA C++, on one GPU.

    python3 benchmarks/bench_classics.py [GRAPH] [--sources N] [--json FILE]

Two times a search, medians over the sources: *call*, from the call to the synchronised answer on the device, as
`rapids-bfs compare` measures it; and *device*, the sum over its kernels of the time that each runs. For the latter
every launch waits behind a kernel that only spins, so that both events around it are queued before it starts, and the
time that Python takes to launch does not count.
"""

import argparse
import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

import cupy
import numpy as np

from rapids_bfs import validate
from rapids_bfs.engines import Options, registered
from rapids_bfs.engines.gpu.level_synchronous import ALGORITHMS
from rapids_bfs.generators import generate

SPIN = cupy.RawKernel(
    'extern "C" __global__ void spin(long long cycles) { long long start = clock64();'
    " while (clock64() - start < cycles); }",
    "spin",
)
SPIN_CYCLES = {"cupy": 200_000, "numba-cuda": 1_000_000}  # about 0.1 and 0.5 ms: longer than a launch takes
SEED = 1


class Stopwatch:
    """Replaces a traversal's kernels and adds up how long they run."""

    def __init__(self, traversal, cycles):
        self.milliseconds = 0.0
        self.traversal = traversal
        self.kernels = traversal.kernels
        self.cycles = cycles
        stream = traversal.device.stream
        self.stream = stream if isinstance(stream, cupy.cuda.Stream) else cupy.cuda.ExternalStream(int(stream.handle))

    def __enter__(self):
        self.traversal.kernels = {name: self.timed(kernel) for name, kernel in self.kernels.items()}
        return self

    def __exit__(self, *error):
        self.traversal.kernels = self.kernels

    def timed(self, kernel):
        def launch(blocks, *arguments):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            with self.stream:
                SPIN((1,), (1,), (np.int64(self.cycles),))
                begin.record()
            kernel(blocks, *arguments)
            with self.stream:
                end.record()
            end.synchronize()
            self.milliseconds += cupy.cuda.get_elapsed_time(begin, end)

        return launch


def measure(graph, name, algorithm, sources):
    """Median call and device times of an algorithm, in milliseconds; its answer from the first source is validated."""
    traversal = registered()[name].prepare(graph, algorithm)
    verdict = validate(graph, traversal.run(sources[:1]))
    assert verdict, f"{name}:{algorithm}: {verdict}"
    calls, devices = [], []
    for place in range(len(sources)):
        source = sources[place : place + 1]
        begin = perf_counter()
        traversal.search(source, Options())
        calls.append(1e3 * (perf_counter() - begin))
        with Stopwatch(traversal, SPIN_CYCLES[name]) as stopwatch:
            traversal.search(source, Options())
        devices.append(stopwatch.milliseconds)
    return {"call_ms": median(calls), "device_ms": median(devices)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graph", nargs="?", default="rmat:22")
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    for name in ("cupy", "numba-cuda"):
        if reason := registered()[name].unavailable():
            parser.error(f"engine {name} cannot run here: {reason}")

    graph = generate(arguments.graph)
    rng = np.random.default_rng(SEED)
    sources = rng.choice(np.flatnonzero(graph.degrees), arguments.sources, replace=False)
    rows = {
        f"{name}:{algorithm}": measure(graph, name, algorithm, sources)
        for algorithm in (*ALGORITHMS, "frontier-mask-texture")
        for name in ("cupy", "numba-cuda")
        if algorithm in registered()[name].algorithms
    }

    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{graph.name}, {graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs, {len(sources)} sources, {card}")
    print(f"{'':32}{'call ms':>10}{'device ms':>12}{'to its twin':>14}")
    for name, row in rows.items():
        twin = rows[f"cupy:{name.partition(':')[2]}"]
        row["device_ratio"] = row["device_ms"] / twin["device_ms"]
        print(f"{name:32}{row['call_ms']:10.3f}{row['device_ms']:12.3f}{row['device_ratio']:13.2f}x")
    if arguments.json:
        report = {
            "graph": graph.name,
            "vertices": graph.num_vertices,
            "arcs": graph.num_arcs,
            "sources": sources.tolist(),
            "card": card,
            "date": datetime.now(UTC).date().isoformat(),
            "versions": {name: version(name) for name in ("numba", "numba-cuda", "numpy")} | {"cupy": cupy.__version__},
            "rows": rows,
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
