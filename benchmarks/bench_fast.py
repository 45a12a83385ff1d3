"""The fast kernel on one GPU: from the call to the synchronised answer, over random sources.

    python3 benchmarks/bench_fast.py rmat:20 grid:2048 --alpha 5,15,50 --threads 512,1024 --json FILE
    python3 benchmarks/bench_fast.py rmat:20 --engines cupy,numba-cuda
    python3 benchmarks/bench_fast.py --deterministic
    python3 benchmarks/bench_fast.py rmat:24 --deterministic share=4,8,16 wide=65536,262144

With several engines, each is timed with the same graph and sources, one after the other. Options of the kernel that are
lists are swept, each combination with each graph. The first answer of each engine for each graph is validated, and each
combination's compared with it. `--deterministic` times deterministic searches beside the default ones, its own options
swept too, and holds their tree against the CPU's. `--levels` shows where the time of one search goes.
"""

import argparse
import json
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import product
from pathlib import Path
from statistics import mean, median
from time import perf_counter

import cupy
import numpy as np

from rapids_bfs import load, validate
from rapids_bfs._core.cuda.arrays import CPU, CUDA
from rapids_bfs.engines import Options, registered, resolve
from rapids_bfs.engines.gpu import deterministic
from rapids_bfs.engines.gpu.direction_optimizing import DEFAULT, Tuning

GRAPHS = ["rmat:20", "rmat:22", "rmat:24", "urand:22", "urand:24", "grid:2048", "grid:4096", "path:1000000"]
GRAPHS += ["star:10000000", "karate"]
SOURCES = {"grid": 8, "path": 2}  # others: --sources
SEED = 1
WARM_S = 0.1  # searched before the first is timed: the clock of a GPU that had nothing to do is low
MAX_LEVELS = 20  # that `--levels` shows one by one
ALGORITHM = "direction-optimizing"
SWEPT = [field.name for field in fields(Tuning) if field.name != "spin"]


def generate(spec):
    """The graph, drawn on the GPU if it is random, kept on the host."""
    return load(spec, device=CUDA).on(CPU).replace(name=spec)


def times(traversal, sources, options):
    """Milliseconds of a search from each source, once warm."""
    warm = perf_counter() + WARM_S
    while perf_counter() < warm:
        traversal.search(sources[:1], options)
    found = []
    for place in range(len(sources)):
        source = sources[place : place + 1]
        begin = perf_counter()
        traversal.search(source, options)
        found.append(1e3 * (perf_counter() - begin))
    return found


def summary(milliseconds):
    return {"median": median(milliseconds), "min": min(milliseconds), "max": max(milliseconds)}


def show_levels(traversal, source, options):
    """The levels of one search, or their mean time if they are many."""
    options = replace(options, trace=True)
    traversal.run(source, options)
    levels = traversal.run(source, options).trace
    if len(levels) > MAX_LEVELS:
        print(f"    {len(levels)} levels, {1e3 * mean(level.milliseconds for level in levels):.2f} us each")
        return
    for level in levels:
        print(
            f"    {level.level:3} {level.direction:9} {1e3 * level.milliseconds:8.1f} us"
            f" {level.frontier_vertices:12,} {level.frontier_edges:14,} {level.newly_reached:12,}"
        )


def show_phases(phases):
    """What a deterministic search did between its barriers, or the sums if that is much."""
    if len(phases) <= 2 * MAX_LEVELS:
        print("    " + ", ".join(f"{name} {1e3 * milliseconds:.1f}" for name, milliseconds in phases) + " us")
        return
    for name in dict.fromkeys(name for name, _ in phases):
        those = [milliseconds for each, milliseconds in phases if each == name]
        print(f"    {name:12}{len(those):7} times{1e3 * mean(those):9.2f} us each{sum(those):9.3f} ms")


def measure(spec, tunings, arguments):
    """A row for each engine and tuning."""
    began = perf_counter()
    graph = generate(spec)
    rng = np.random.default_rng(SEED)
    candidates = np.flatnonzero(graph.degrees)
    count = min(SOURCES.get(spec.partition(":")[0], arguments.sources), len(candidates))
    sources = rng.choice(candidates, count, replace=False)
    print(
        f"{spec}: {graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs, {count} sources;"
        f" generated in {perf_counter() - began:.1f} s",
        flush=True,
    )
    rows = [row for engine in arguments.engines for row in measure_engine(engine, graph, sources, tunings, arguments)]
    return {
        "graph": spec,
        "vertices": graph.num_vertices,
        "arcs": graph.num_arcs,
        "sources": sources.tolist(),
        "rows": rows,
    }


def measure_engine(engine, graph, sources, tunings, arguments):
    """A row for each tuning."""
    began = perf_counter()
    traversal = registered()[engine].prepare(graph, ALGORITHM)
    prepared = perf_counter()
    first = traversal.run(sources[:1])
    verdict = validate(graph, first)
    print(f"  {engine}: prepared in {prepared - began:.1f} s, depth {first.depth}; {verdict}", flush=True)
    rows = []
    for tuning in tunings:
        traversal.tune(tuning)
        row = {"graph": graph.name, "engine": engine, **asdict(tuning), "verdict": str(verdict)}
        for name, options in (("tree", Options()), ("distances", Options(predecessors=False))):
            row[name] = summary(times(traversal, sources, options))
            result = traversal.run(sources[:1], options)
            if arguments.levels:
                show_levels(traversal, sources[:1], options)
            row[f"{name}_right"] = bool(verdict) and np.array_equal(result.distances, first.distances)
        rows.append(row)
        print(line(row), flush=True)
        if arguments.deterministic is not None:
            measure_deterministic(traversal, sources, row, arguments)
    return rows


def measure_deterministic(traversal, sources, row, arguments):
    """Add to ``row`` what deterministic searches take with each of their tunings, and print it."""
    expected = resolve("cpu:sequential").traversal(traversal.graph).run(sources[:1])
    options = Options(deterministic=True)
    row["deterministic"] = []
    for tuning in sweep(deterministic.DEFAULT, arguments.deterministic):
        traversal.deterministic.tune(tuning)
        each = {"engine": row["engine"], **asdict(tuning), **summary(times(traversal, sources, options))}
        result = traversal.run(sources[:1], options)
        each["right"] = all(
            np.array_equal(getattr(result, name), getattr(expected, name)) for name in ("distances", "predecessors")
        )
        each["ratio"] = each["median"] / row["tree"]["median"]
        row["deterministic"].append(each)
        print(deterministic_line(each), flush=True)
        if arguments.levels:
            show_levels(traversal, sources[:1], options)
            show_phases(traversal.deterministic.phases())


def sweep(default, chosen):
    """``default`` with each combination of what ``chosen`` lists, as in "share=4,8"."""
    lists = {name: [int(each) for each in values.split(",")] for name, values in (text.split("=") for text in chosen)}
    return [replace(default, **dict(zip(lists, values, strict=True))) for values in product(*lists.values())]


def changes(row, default):
    """What differs from the default tuning."""
    return " ".join(f"{name}={row[name]}" for name, value in asdict(default).items() if row[name] != value)


def deterministic_line(row):
    return (
        f"  deterministic{row['median']:9.4f}{row['min']:9.4f}{row['max']:9.4f}{row['ratio']:8.2f}x"
        f"  {'yes' if row['right'] else 'NO '} {changes(row, deterministic.DEFAULT)}"
    )


HEAD = f"{'graph':15}{'engine':11}{'tree ms':>9}{'min':>9}{'max':>9}{'dist ms':>9}  ok "


def line(row):
    """A row of the table: times, and what differs from the default tuning."""
    tree, distances = row["tree"], row["distances"]
    right = row["tree_right"] and row["distances_right"]
    return (
        f"{row['graph']:15}{row['engine']:11}{tree['median']:9.4f}{tree['min']:9.4f}{tree['max']:9.4f}{distances['median']:9.4f}"
        f"  {'yes' if right else 'NO '} {changes(row, DEFAULT)}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS, metavar="graph")
    parser.add_argument("--sources", type=int, default=32)
    parser.add_argument("--levels", action="store_true", help="show the levels of one search with each tuning")
    parser.add_argument("--deterministic", nargs="*", metavar="NAME=VALUE,...", help="time deterministic searches too")
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--engines", type=lambda text: text.split(","), default=["cupy"], help="such as cupy,numba-cuda"
    )
    for name in SWEPT:
        parser.add_argument(f"--{name}", help="a value, or several separated by commas")
    arguments = parser.parse_args()
    for engine in {"cupy", *arguments.engines}:  # cupy makes the graphs
        if reason := registered()[engine].unavailable():
            parser.error(f"engine {engine} cannot run here: {reason}")
        if arguments.deterministic is not None and not registered()[engine].deterministic:
            parser.error(f"engine {engine} cannot search deterministically")

    chosen = {name: getattr(arguments, name) for name in SWEPT}
    tunings = sweep(DEFAULT, [f"{name}={text}" for name, text in chosen.items() if text])
    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    graphs = []
    for spec in arguments.graphs:
        graphs.append(measure(spec, tunings, arguments))
        cupy.get_default_memory_pool().free_all_blocks()
    print(f"\n{card}, call to synchronised answer\n{HEAD}")
    for row in (row for graph in graphs for row in graph["rows"]):
        print("\n".join([line(row), *map(deterministic_line, row.get("deterministic", []))]))
    if arguments.json:
        report = {
            "card": card,
            "date": datetime.now(UTC).date().isoformat(),
            "versions": {"numpy": version("numpy"), "cupy": cupy.__version__},
            "graphs": graphs,
        }
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
