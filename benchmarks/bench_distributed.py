"""Searches over several GPUs of one machine, in one launch each, by NCCL, by one of them alone, and on one GPU.

python3 benchmarks/bench_distributed.py rmat:24 rmat:28 grid:1024 --gpus 2 --json FILE

Times are medians over roots, the same for all ways, of searches right after each other and, in the column `between`,
of those between validations. Rates are the harmonic mean of edges as Graph500 counts them: as drawn, where a graph is
drawn.
"""

import argparse
import gc
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from statistics import harmonic_mean, median
from time import perf_counter

import cupy
import numpy as np
import record

from rapids_bfs import load, validate
from rapids_bfs._core.cuda.arrays import CUDA
from rapids_bfs.algorithms.bfs import search
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.distributed.build import Builder, Plan
from rapids_bfs.distributed.cuda import DevicePartition, DeviceSearch
from rapids_bfs.distributed.launchers import ordinal
from rapids_bfs.distributed.sources import Drawn, is_random
from rapids_bfs.engines import DEFAULT

GRAPHS = ("rmat:24", "rmat:28", "rmat:26", "urand:24", "grid:1024", "urand:27")
WARM_S = 0.1  # of searches before any is timed, since an idle GPU's clock is low
SLOW = 0.1  # seconds of a validation from which on only FEW are done
FEW = 8
NCCL = "NCCL"


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
    try:
        took, outcome = seconds(work)
    finally:
        over.set()
        thread.join()
    return took, outcome, int((before - least[0]).max())


def drawn_degrees(partition, communicator, source):
    """How many edges were drawn from each vertex of the partition."""
    builder = Builder(source, communicator, Plan(source.device, partition.partitioning.n))
    return builder.degrees(partition.partitioning.numbers, partition.partitioning, False)[0]


def drawn_edges(answer, degrees, communicator):
    """The drawn edges with a reached end in the partition, as Graph500 counts them."""
    return int(degrees[answer.distances >= 0].sum())


def by_nccl(partition, communicator):
    """Let the partition be searched by NCCL from now on."""
    del partition.kept["search"]
    partition.kept["search"] = DeviceSearch(DevicePartition(partition, communicator), "to compare")


def searched(run, check, roots):
    """What ``run(root)`` takes in milliseconds for each root: one right after the other, and then again with
    ``check(result)`` after each, which leaves nothing of the graph in caches. Raises if that is not true."""
    warm = perf_counter() + WARM_S
    while perf_counter() < warm:
        run(roots[-1])
    milliseconds = [1e3 * seconds(lambda root=root: run(root))[0] for root in roots]
    between, found, validated, took = [], [], 0, 0.0
    for root in roots:
        each, result = seconds(lambda root=root: run(root))
        between.append(1e3 * each)
        found.append((result.num_reached, result.depth))
        if validated < FEW or took < SLOW:
            took, verdict = seconds(lambda result=result: check(result))
            assert verdict, f"from {root}: {verdict}"
            validated += 1
    return {"ms": milliseconds, "between_ms": between, "validated": validated, "validate_s": took}, found


def on_one(spec, count):
    """How long searches on one GPU take, what they find, and from where they begin."""
    built, graph = seconds(lambda: load(spec, device=CUDA))
    roots = sample_sources(graph, count)
    run, found = searched(
        lambda root: search(graph, np.array([root]), DEFAULT, "auto"), partial(validate, graph), roots
    )
    return run | {"built_s": built}, found, roots


def edges_of(graph, spec, numbers):
    """The edges that a search from each of these numbers counts as traversed."""
    results = (graph.search(np.array([number]), DEFAULT) for number in numbers)
    if not is_random(spec):
        return [result.num_traversed_edges for result in results]
    degrees = graph.launcher.keep(drawn_degrees, Drawn(graph.name, CUDA), each=[graph.partitions])
    return [sum(graph.launcher.run(drawn_edges, each=[result.answers, degrees])) for result in results]


def measured(spec, gpus, count):
    """A row of the table, and all that was measured."""
    alone, expected, roots = on_one(spec, count)
    release()
    devices = sorted({ordinal(device) for device in gpus})
    built, graph, peak = most_taken(devices, lambda: load(spec, devices=[ordinal(device) for device in gpus]))
    numbers = graph.partitioning.numbers(np.asarray(roots, np.int64)).astype(np.int64)
    ways = {"one GPU": alone}
    prepared, _ = seconds(graph.prepare)
    edges = edges_of(graph, spec, numbers)
    for way in dict.fromkeys((graph.way, graph.partitions[0].kept["search"].way, NCCL)):
        if way == NCCL:
            graph.launcher.run(by_nccl, each=[graph.partitions])
        graph.way = way
        ways[way], found = searched(
            lambda number: graph.search(np.array([number]), DEFAULT), partial(validate, graph), numbers
        )
        assert found == expected, f"{way} finds something else than one GPU"
    for run in ways.values():
        run["median_ms"], run["median_between_ms"] = median(run["ms"]), median(run["between_ms"])
        run["GTEPS"] = harmonic_mean([each / ms / 1e6 for each, ms in zip(edges, run["ms"], strict=True)])
    facts = {"vertices": graph.num_vertices, "arcs": graph.num_arcs, "built_s": built, "built_peak_bytes": peak}
    return {"graph": graph.name, **facts, "prepared_s": prepared, "roots": roots.tolist(), "edges": edges, "ways": ways}


def release():
    """Give back what nobody uses."""
    gc.collect()
    for device in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(device):
            cupy.get_default_memory_pool().free_all_blocks()


def too_long(*_):
    raise TimeoutError("it takes too long")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS, metavar="GRAPH")
    parser.add_argument("--gpus", default="all", help="how many, or their ordinals as in 0,0")
    parser.add_argument("--roots", type=int, help="64 on rmat, else 16")
    parser.add_argument("--seconds", type=int, default=120, help="for one graph at most")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    gpus = [int(each) for each in arguments.gpus.split(",")] if "," in arguments.gpus else arguments.gpus
    gpus = int(gpus) if isinstance(gpus, str) and gpus.isdigit() else gpus

    warm, small = seconds(lambda: load("rmat:10", devices=gpus))
    content = {"devices": small.devices, "graphs": []}
    signal.signal(signal.SIGALRM, too_long)
    failed = 0
    print(
        f"first small graph {warm:.1f} s\n"
        f"{'graph':<12}{'way':<17}{'ms':>8}{'from':>8}{'to':>8}{'between':>8}{'GTEPS':>8}  validated"
    )
    for spec in arguments.graphs:
        roots = arguments.roots or (64 if spec.startswith("rmat") else 16)
        signal.alarm(arguments.seconds)
        try:
            took, row = seconds(lambda spec=spec, roots=roots: measured(spec, small.devices, roots))
        except Exception as error:
            failed += 1
            print(f"{spec}: {type(error).__name__}: {error}", flush=True)
        else:
            content["graphs"].append(row)
            for way, run in row["ways"].items():
                print(
                    f"{row['graph']:<12}{way:<17}{run['median_ms']:8.3f}{min(run['ms']):8.3f}{max(run['ms']):8.3f}"
                    f"{run['median_between_ms']:8.3f}{run['GTEPS']:8.1f}  {run['validated']} of {roots}"
                )
            print(f"{'':14}built in {row['built_s']:.1f} s, all in {took:.1f} s", flush=True)
        finally:
            signal.alarm(0)
        release()
        if arguments.json:
            record.write(arguments.json, content)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
