"""The CPU engine on quiet and on busy machines, by numbers of threads, beside SciPy, igraph and NetworKit.

    python benchmarks/bench_cpu.py --threads 1,16 --seconds 2 --json FILE

Single searches of graphs, and many sources of one of them. On a busy machine every core has a process that does
nothing but count. All that is measured in a state takes turns, a run at a time and each for as long, until the time is
up: a disturbance from outside meets all alike. Each row has the median, the quartiles and the best, of the time that
passes and of the time that cores work. Searches start from the same vertices; those of tiny graphs are counted a
hundred at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

import numba
import numpy as np

from rapids_bfs import as_graph, betweenness, bfs, bfs_batch
from rapids_bfs._core.machine import describe, usable_cores, versions
from rapids_bfs.engines import Options, choose
from rapids_bfs.generators import generate

SEED = 1
SOURCES = 16  # of single searches, in turn
BATCH = 64
TINY = 1 << 10  # vertices; such graphs are searched a hundred times a run, by `bfs`
OFTEN = 100
MOST_FOR_PEERS = 1 << 24  # arcs; building igraph's graph takes a second for each million
COUNT = "import os\nwhile os.getppid() == {}: pass"  # ends with its parent, whatever ends that
Run = Callable[[], Any]


@contextmanager
def busy_cores(processes: int) -> Iterator[None]:
    """So many processes that each would like a core for itself."""
    program = COUNT.format(os.getpid())
    running: list[subprocess.Popen[bytes]] = []
    try:
        running.extend(subprocess.Popen([sys.executable, "-c", program]) for _ in range(processes))
        sleep(0.3 if running else 0)  # until they have begun
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()


def on_threads(threads: int, run: Run) -> Run:
    def limited() -> None:
        numba.set_num_threads(threads)
        run()

    return limited


def searches(graph: Any, threads: list[int]) -> dict[str, Run]:
    """Ways to search the graph from the next of some vertices, by name."""
    rng = np.random.default_rng(SEED)
    sources = cycle(rng.choice(np.flatnonzero(graph.degrees), SOURCES).reshape(-1, 1))
    if graph.num_vertices < TINY:
        return {"bfs x 100": lambda: [bfs(graph, 0, engine="cpu") for _ in range(OFTEN)]}
    ours, sequential = (choose(name).traversal(graph) for name in ("cpu", "cpu:sequential"))
    options = Options()
    runs = {f"cpu, {k} threads": on_threads(k, lambda: ours.search(next(sources), options)) for k in threads}
    runs["cpu:sequential"] = lambda: sequential.search(next(sources), options)
    scipy = choose("scipy").traversal(graph)
    runs["scipy"] = lambda: scipy.search(next(sources), options)
    if graph.num_arcs < MOST_FOR_PEERS:
        runs |= peers(graph, sources, max(threads))
    return runs


def peers(graph: Any, sources: Iterator[np.ndarray], threads: int) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    if find_spec("igraph"):
        import igraph

        of_igraph = igraph.Graph(n=graph.num_vertices, edges=np.stack(graph.vertex_pairs(), axis=1))
        runs["igraph"] = lambda: of_igraph.bfs(int(next(sources)[0]))
    if find_spec("networkit"):
        import networkit

        networkit.setNumberOfThreads(threads)
        ends = tuple(each.astype(np.uint64) for each in graph.vertex_pairs())
        of_networkit = networkit.GraphFromCoo((np.ones(len(ends[0])), ends), n=graph.num_vertices)
        runs["networkit, distances"] = lambda: networkit.distance.BFS(of_networkit, int(next(sources)[0]), False).run()
    return runs


def batches(graph: Any, threads: list[int]) -> dict[str, Run]:
    """Questions about many sources, by name."""
    rng = np.random.default_rng(SEED)
    some = rng.choice(np.flatnonzero(graph.degrees), BATCH).tolist()
    asked: dict[str, Run] = {
        "distances": lambda: bfs_batch(graph, some, engine="cpu"),
        "summary": lambda: bfs_batch(graph, some, keep="summary", engine="cpu"),
        "betweenness": lambda: betweenness(graph, some, engine="cpu"),
    }
    return {f"{name} of {BATCH}, {k} threads": on_threads(k, run) for name, run in asked.items() for k in threads}


def measured(runs: dict[str, Run], seconds: float) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of each run, on the clock and of cores, in so many seconds; three of each at least.

    Next is what has had the least time so far.
    """
    times: dict[str, dict[str, list[float]]] = {name: {"wall": [], "cores": []} for name in runs}
    spent = dict.fromkeys(runs, 0.0)
    end = perf_counter() + seconds
    while waiting := [name for name in runs if perf_counter() < end or len(times[name]["wall"]) < 3]:
        name = min(waiting, key=spent.__getitem__)
        wall, cores = perf_counter(), process_time()
        runs[name]()
        times[name]["cores"].append(1e3 * (process_time() - cores))
        times[name]["wall"].append(1e3 * (perf_counter() - wall))
        spent[name] += times[name]["wall"][-1]
    return times


def summarized(times: list[float]) -> dict[str, float]:
    low, median, high = np.quantile(times, (0.25, 0.5, 0.75)).tolist()
    return {"best_ms": min(times), "low_ms": low, "median_ms": median, "high_ms": high, "runs": len(times)}


def rows(subject: str, runs: dict[str, Run], states: list[str], seconds: float) -> Iterator[dict[str, Any]]:
    for run in runs.values():
        run()  # compiles, prepares, and fills caches
    for state in states:
        with busy_cores(usable_cores() if state == "busy" else 0):
            times = measured(runs, seconds)
        for name, of in times.items():
            row = {"graph": subject, "state": state, "what": name, **{how: summarized(of[how]) for how in of}}
            wall, cores = row["wall"], row["cores"]
            print(
                f"{subject:11}{state:6} {name:28}{wall['median_ms']:10.3f}{wall['low_ms']:10.3f}{wall['high_ms']:10.3f}"
                f"{wall['best_ms']:10.3f}{cores['median_ms']:10.3f}{wall['runs']:6}",
                flush=True,
            )
            yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--graphs", nargs="*", default=["karate", "wordnet", "rmat:18", "rmat:20", "urand:20", "grid:1000"]
    )
    parser.add_argument("--many", default="rmat:16", help="the graph for many sources; none: leave them out")
    parser.add_argument("--threads", default=f"1,{usable_cores()}")
    parser.add_argument("--states", default="quiet,busy")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each graph and state")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    threads = [int(each) for each in arguments.threads.split(",")]
    states = arguments.states.split(",")
    print(f"{'graph':11}{'state':6} {'ms':28}{'median':>10}{'low':>10}{'high':>10}{'best':>10}{'cores':>10}{'runs':>6}")
    found = []
    for spec in arguments.graphs:
        graph = generate(spec) if ":" in spec else as_graph(spec)
        found += rows(spec, searches(graph, threads), states, arguments.seconds)
    if arguments.many != "none":
        found += rows(arguments.many, batches(generate(arguments.many), threads), states, arguments.seconds)
    if arguments.json:
        report = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": describe(),
            "versions": versions(),
            "threads": threads,
            "rows": found,
        }
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
