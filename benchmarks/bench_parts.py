"""Graph500's searches over several GPUs: drawn, built, searched and validated in parts.

python3 benchmarks/bench_parts.py rmat:28 --gpus 4 --roots 64 --json FILE
"""

import argparse
import json
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from statistics import harmonic_mean, median
from time import perf_counter

import cupy
import numpy as np

from rapids_bfs import load, validate
from rapids_bfs._core.machine import describe, versions
from rapids_bfs.engines import DEFAULT, Options
from rapids_bfs.engines.parts import search
from rapids_bfs.parts.build import Builder, Plan
from rapids_bfs.parts.launch import ordinal
from rapids_bfs.parts.users import Drawn


def seconds(work):
    """How long ``work()`` takes, and its outcome."""
    begin = perf_counter()
    outcome = work()
    return perf_counter() - begin, outcome


def most_taken(devices, work):
    """How long ``work()`` takes, its outcome, and the most bytes of one of these devices that it takes at a time,
    looked at every millisecond."""

    def free():
        return np.array([cupy.cuda.Device(device).mem_info[0] for device in devices])

    def look():
        while not over.wait(0.001):
            least.append(np.minimum(least.pop(), free()))

    before, over = free(), threading.Event()
    least = [before]
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    took, outcome = seconds(work)
    over.set()
    thread.join()
    return took, outcome, int((before - least[0]).max())


def drawn_degrees(part, peers, source):
    """How many edges were drawn from each vertex of the part."""
    builder = Builder(source, peers, Plan(source.device, part.partition.n))
    return builder.degrees(part.partition.numbers, part.partition, False)[0]


def drawn_edges(answer, degrees, peers):
    """The drawn edges with a reached end in the part, as Graph500 counts them."""
    return int(degrees[answer.distances >= 0].sum())


def roots_of(graph, count, seed=1):
    """Distinct vertices with an edge, by number."""
    found = graph.launcher.run(some_with_edges, count, seed, each=[graph.parts])
    numbers = np.concatenate(found)
    return np.random.default_rng(seed).choice(numbers, min(count, len(numbers)), replace=False)


def some_with_edges(part, peers, count, seed):
    places = np.random.default_rng([seed, peers.rank]).integers(0, part.own, 4 * count)
    degrees = part.offsets[cupy.asarray(places + 1)] - part.offsets[cupy.asarray(places)]
    return part.base + np.unique(places[(degrees > 0).get()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graph", nargs="?", default="rmat:26")
    parser.add_argument("--gpus", default="all", help="how many, or their ordinals as in 0,0")
    parser.add_argument("--roots", type=int, default=64)
    parser.add_argument("--alpha", type=int, default=search.ALPHA, help="see rapids_bfs/engines/parts/search.py")
    parser.add_argument("--beta", type=int, default=search.BETA)
    parser.add_argument("--trace", action="store_true", help="print the levels of one more search")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    search.ALPHA, search.BETA = arguments.alpha, arguments.beta
    gpus = [int(each) for each in arguments.gpus.split(",")] if "," in arguments.gpus else arguments.gpus
    gpus = int(gpus) if isinstance(gpus, str) and gpus.isdigit() else gpus

    warm, small = seconds(lambda: load("rmat:10", devices=gpus))
    validate(small, small.search(roots_of(small, 1), DEFAULT))
    ordinals = sorted({ordinal(device) for device in small.devices})
    generated, graph, peak = most_taken(ordinals, lambda: load(arguments.graph, devices=gpus))
    prepared, _ = seconds(graph.prepare)
    print(
        f"{graph}\nfirst small graph {warm:.1f} s, drawn and built in {generated:.1f} s, prepared in {prepared:.1f} s; "
        f"{peak / 1e9:.1f} GB of a device's memory at most while building",
        flush=True,
    )
    source = Drawn(graph.name, "cuda")
    degrees = graph.launcher.keep(drawn_degrees, source, each=[graph.parts])
    roots = roots_of(graph, arguments.roots)
    graph.search(roots[:1], DEFAULT)
    print(f"{'root':>12}{'ms':>9}{'GTEPS':>9}{'reached':>14}{'depth':>7}{'validated in s':>16}")
    rows = []
    for root in roots:
        took, result = seconds(lambda root=root: graph.search(np.array([root]), DEFAULT))
        checked, verdict = seconds(lambda result=result: validate(graph, result))
        edges = sum(graph.launcher.run(drawn_edges, each=[result.answers, degrees]))
        row = {"root": int(root), "ms": 1e3 * took, "edges": edges, "reached": result.num_reached}
        rows.append(row | {"depth": result.depth, "validate_s": checked, "verdict": str(verdict)})
        print(
            f"{root:12}{1e3 * took:9.2f}{edges / took / 1e9:9.1f}{result.num_reached:14,}{result.depth:7}"
            f"{checked:16.2f}  {verdict}",
            flush=True,
        )
    teps = harmonic_mean([row["edges"] / row["ms"] * 1e3 for row in rows])
    print(f"median {median(row['ms'] for row in rows):.2f} ms, harmonic mean {teps / 1e9:.1f} GTEPS")
    if arguments.trace:
        for level in graph.search(roots[:1], Options(trace=True)).trace:
            print(*level)
    if arguments.json:
        content = {
            "machine": describe(),
            "versions": versions(),
            "date": datetime.now(UTC).date().isoformat(),
            "graph": graph.name,
            "devices": graph.devices,
            "alpha": search.ALPHA,
            "beta": search.BETA,
            "vertices": graph.num_vertices,
            "arcs": graph.num_arcs,
            "built_s": generated,
            "built_peak_bytes": peak,
            "prepared_s": prepared,
            "harmonic_mean_TEPS": teps,
            "runs": rows,
        }
        arguments.json.write_text(json.dumps(content, indent=1) + "\n")
    return int(any(row["verdict"] != "valid" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
