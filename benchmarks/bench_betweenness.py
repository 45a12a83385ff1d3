"""Betweenness on the GPU against the CPU's and, where RAPIDS is installed, against cuGraph's from the same sources.

    python3 benchmarks/bench_betweenness.py --engines cupy,cpu --json FILE

From the call to the sums on the host, the graph prepared (of cuGraph: in its own form), the best of some runs.
nx-cugraph calls what is timed as pylibcugraph. The CPU and cuGraph get fewer sources where they take long, and their
times are scaled up. ``--sweep`` times the engine cupy with other tunings.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import networkx as nx
import numpy as np
import record

from rapids_bfs import as_graph
from rapids_bfs._core.rapids import package_missing
from rapids_bfs.engines import resolve
from rapids_bfs.engines.gpu.betweenness import DEFAULT
from rapids_bfs.generators import generate

SEED = 1
ENOUGH = 5.0  # seconds after which nothing is run again
CASES = [
    ("karate", 0),
    ("ba:2000", 0),
    ("ba:20000", 0),
    ("rmat:20", 64),
    ("rmat:20", 256),
    ("grid:400", 64),
    ("grid:400", 1024),
]
ARCS_ON_CPU = 1 << 30  # times sources, at most; the CPU's time is scaled up
OF_CUGRAPH = {"ba": 100, "rmat": 16, "grid": 4}  # sources, at most
SWEEP = {
    "default": DEFAULT,
    **{
        f"{threads} x {blocks}": replace(DEFAULT, threads=threads, blocks=blocks)
        for threads, blocks in ((256, 2), (256, 4), (128, 5), (512, 1), (512, 2))
    },
    **{f"alpha {alpha}": replace(DEFAULT, alpha=alpha) for alpha in (0, 1, 2, 5, 10, 1 << 30)},
    **{f"places 2^{bits}": replace(DEFAULT, places=1 << bits) for bits in (16, 17, 18, 19, 21, 22)},
}


def graph_of(spec):
    """A graph of the package's own, or by Barabasi and Albert with ten edges a vertex."""
    kind, _, size = spec.partition(":")
    if kind != "ba":
        return as_graph("karate") if spec == "karate" else generate(spec)
    return as_graph(nx.barabasi_albert_graph(int(size), 10, seed=SEED))


def best(call, runs):
    """Seconds of the fastest run after the first, and what it returned."""
    began = perf_counter()
    found = call()
    times = [perf_counter() - began]
    while len(times) <= runs and sum(times) < ENOUGH:
        began = perf_counter()
        found = call()
        times.append(perf_counter() - began)
    return min(times[1:] or times), found


def ours(prepared, graph, sources, runs, edges=False):
    is_target = np.ones(graph.num_vertices, bool)
    return best(lambda: prepared.scores(sources, is_target, False, edges), runs)


def cugraph_rows(graph, sources, runs):
    """Seconds of `cugraph.betweenness_centrality` and of pylibcugraph's, and the sums of the former."""
    import cudf
    import cugraph
    import cupy
    import pylibcugraph

    from rapids_bfs.adapters.cugraph import to_cugraph

    theirs = to_cugraph(graph, labels=False)
    k = cudf.Series(sources.astype(graph.targets.dtype))

    def whole():
        frame = cugraph.betweenness_centrality(theirs, k=k, normalized=False)
        cupy.cuda.Device().synchronize()
        return frame

    def inner():
        handle = pylibcugraph.ResourceHandle()
        options = {"random_state": None, "normalized": False, "include_endpoints": False, "do_expensive_check": False}
        found = pylibcugraph.betweenness_centrality(handle, theirs._plc_graph, cupy.asarray(k), **options)
        cupy.cuda.Device().synchronize()
        return found

    seconds, frame = best(whole, runs)
    values = np.zeros(graph.num_vertices)
    values[frame["vertex"].to_numpy()] = frame["betweenness_centrality"].to_numpy()
    yield "cugraph", seconds, values
    yield "pylibcugraph", best(inner, runs)[0], values


def row(engine, seconds, taken, sources, right):
    scaled = seconds * len(sources) / taken
    print(
        f"  {engine:24}{1e3 * scaled:12.3f} ms{'' if taken == len(sources) else f' (from {taken})':12}  {right}",
        flush=True,
    )
    return {"engine": engine, "seconds": seconds, "sources": taken, "scaled_seconds": scaled, "right": right}


def measure(spec, k, arguments):
    graph = graph_of(spec)
    rng = np.random.default_rng(SEED)
    everyone = np.arange(graph.num_vertices)
    sources = np.sort(rng.choice(np.flatnonzero(graph.degrees), k)) if k else everyone
    print(f"{spec}: {graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs, {len(sources):,} sources", flush=True)
    few = sources[: max(1, ARCS_ON_CPU // graph.num_arcs)]
    reference, rows = None, []
    if "cpu" in arguments.engines:
        prepared = resolve("cpu").betweenness(graph)
        seconds, reference = ours(prepared, graph, few, 1)
        rows.append(row("cpu", seconds, len(few), sources, "-"))
    for name in arguments.engines:
        if name == "cpu":
            continue
        prepared = resolve(name).betweenness(graph)
        right = "unchecked"
        if reference is not None:
            found = ours(prepared, graph, few, 0)[1]
            right = "right" if np.allclose(found, reference, rtol=1e-9, atol=1e-9) else "WRONG"
        seconds, sums = ours(prepared, graph, sources, arguments.runs)
        rows.append(row(name, seconds, len(sources), sources, right))
        seconds, _ = ours(prepared, graph, sources, arguments.runs, edges=True)
        rows.append(row(f"{name}, arcs", seconds, len(sources), sources, ""))
        if arguments.sweep and name == "cupy":
            for label, tuning in SWEEP.items():
                prepared.tune(tuning)
                seconds, found = ours(prepared, graph, sources, arguments.runs)
                same = "right" if np.allclose(found, sums, rtol=1e-9, atol=1e-9) else "WRONG"
                rows.append(row(f"{name} {label}", seconds, len(sources), sources, same))
            prepared.tune(DEFAULT)
        if name == "cupy" and package_missing("cugraph") is None:
            some = sources[: OF_CUGRAPH.get(spec.partition(":")[0], len(sources))]
            wanted = ours(prepared, graph, some, 0)[1]
            others = np.setdiff1d(everyone, some)  # cuGraph scales a sample's own sums in another way
            for peer, seconds, values in cugraph_rows(graph, some, 1):
                rows.append(row(peer, seconds, len(some), sources, agreement(values, wanted, others)))
    return {"graph": spec, "vertices": graph.num_vertices, "arcs": graph.num_arcs, "k": len(sources), "rows": rows}


def agreement(theirs, wanted, vertices):
    """Are the sums the same but for a factor? All vertices are looked at if every one was a source."""
    vertices = vertices if len(vertices) else slice(None)
    theirs, wanted = theirs[vertices], wanted[vertices]
    return "agrees" if np.allclose(theirs / theirs.sum(), wanted / wanted.sum(), rtol=1e-4, atol=1e-12) else "differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="graph,sources", help="0 sources: all vertices")
    parser.add_argument("--engines", default="cupy,cpu")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.engines = arguments.engines.split(",")
    for name in arguments.engines:
        if reason := resolve(name).engine.unavailable():
            parser.error(f"engine {name} cannot run here: {reason}")
    pairs = [each.split(",") for each in arguments.cases] or CASES
    graphs = [measure(spec, int(k), arguments) for spec, k in pairs]
    if arguments.json:
        record.write(arguments.json, {"graphs": graphs})


if __name__ == "__main__":
    main()
