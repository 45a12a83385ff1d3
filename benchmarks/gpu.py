"""One GPU: single searches, the published kernels, graphs made from edges, and adjacency on the host."""

import gc
from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from rapids_bfs import load, validate
from rapids_bfs._core.cuda.arrays import CPU, CUDA, to_host
from rapids_bfs._core.memory import PeakDeviceBytes
from rapids_bfs.adapters.pinned import with_pinned_adjacency
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.engines import DEFAULT, Options, registered, resolve
from rapids_bfs.engines.gpu.published import ALGORITHMS

from .cases import Case, expect, say
from .record import Record
from .tables import Table, code, figure, middle, span
from .timing import clock, device_wait, one_by_one, summary

GRAPHS = ("rmat:20", "rmat:22", "rmat:24", "urand:22", "urand:24", "grid:2048", "grid:4096", "path:1000000")
GRAPHS += ("star:10000000", "karate")
SOURCES = {"grid": 8, "path": 2}  # at most; others: --sources
WARM_S = 0.1
ALGORITHM = "direction-optimizing"


def free_pool():
    import cupy

    gc.collect()
    cupy.get_default_memory_pool().free_all_blocks()


def searches(traversal, sources, options):
    """One search from each source."""
    return [partial(traversal.search, source, options) for source in sources.reshape(-1, 1)]


def fast(graphs=GRAPHS, *, sources=32, engines=("cupy", "numba-cuda"), deterministic=False) -> Iterator[Record]:
    """Searches without other engines in between: with predecessors, without, and deterministic ones."""
    found = []
    for spec in graphs:
        graph = load(spec, device=CUDA).to(CPU).replace(name=spec)
        some = sample_sources(graph, min(sources, SOURCES.get(spec.partition(":")[0], sources)))
        say(f"{spec}: {graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs, {len(some)} sources")
        rows = [_searched(engine, graph, some, deterministic) for engine in engines]
        facts = {"vertices": graph.num_vertices, "arcs": graph.num_arcs, "sources": some.tolist()}
        found.append({"graph": spec, **facts, "rows": rows})
        yield {"graphs": found}
        free_pool()


def _searched(engine, graph, sources, deterministic) -> Record:
    """Answers from the first source are validated or compared; a deterministic tree is compared with the CPU's."""
    traversal = registered()[engine].prepare(graph, ALGORITHM)
    first = traversal.run(sources[:1])
    verdict = validate(graph, first)
    expect(verdict, f"{engine} on {graph.name}")
    row: Record = {"graph": graph.name, "engine": engine, "verdict": str(verdict)}
    for name, options in (("tree", Options()), ("distances", Options(predecessors=False))):
        row[name] = summary(one_by_one(searches(traversal, sources, options), warm_s=WARM_S))
        result = traversal.run(sources[:1], options)
        expect(np.array_equal(result.distances, first.distances), f"{engine} on {graph.name}, the last {name}")
    if deterministic:
        expected = resolve("cpu:sequential").traversal(graph).run(sources[:1])
        options = Options(deterministic=True)
        each = summary(one_by_one(searches(traversal, sources, options), warm_s=WARM_S))
        row["deterministic"] = [{"engine": engine, **each, "ratio": each["median"] / row["tree"]["median"]}]
        result = traversal.run(sources[:1], options)
        for name in ("distances", "predecessors"):
            same = np.array_equal(getattr(result, name), getattr(expected, name))
            expect(same, f"{engine} on {graph.name}, deterministic {name}")
    return row


def fast_table(record: Record) -> Table:
    others = [code(row["engine"]) for row in record["graphs"][0]["rows"][1:]]
    head = " | ".join(["graph | vertices | directed edges | median ms | range | distances only", *others])
    return head, (
        [
            *(code(each["graph"]), each["vertices"], each["arcs"], tree["median"], span([tree["min"], tree["max"]])),
            *(first["distances"]["median"], *(row["tree"]["median"] for row in others)),
        ]
        for each in record["graphs"]
        for first, *others in [each["rows"]]
        for tree in [first["tree"]]
    )


def deterministic_table(record: Record) -> Table:
    return "graph | any tree, ms | deterministic, ms | factor", (
        [code(each["graph"]), row["tree"]["median"], slower["median"], slower["ratio"]]
        for each in record["graphs"]
        for row in each["rows"][:1]
        for slower in row["deterministic"]
    )


SPIN = """extern "C" __global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles);
}"""
SPIN_CYCLES = {"cupy": 200_000, "numba-cuda": 1_000_000}  # about 0.1 and 0.5 ms: longer than a launch takes


class Stopwatch:
    """Replaces a traversal's kernels, and adds up how long they run. A kernel that only spins precedes each launch, so
    that both events around the launch are queued before it starts: the time that Python takes to launch does not
    count."""

    def __init__(self, traversal, cycles):
        import cupy

        self.milliseconds, self.spin = 0.0, cupy.RawKernel(SPIN, "spin")
        self.traversal, self.kernels, self.cycles, self.cuda = traversal, traversal.kernels, cycles, cupy.cuda
        stream = traversal.device.stream
        self.stream = stream if isinstance(stream, cupy.cuda.Stream) else cupy.cuda.ExternalStream(int(stream.handle))

    def __enter__(self):
        self.traversal.kernels = {name: self.timed(kernel) for name, kernel in self.kernels.items()}
        return self

    def __exit__(self, *error):
        self.traversal.kernels = self.kernels

    def timed(self, kernel):
        def launch(blocks, *arguments):
            begin, end = self.cuda.Event(), self.cuda.Event()
            with self.stream:
                self.spin((1,), (1,), (np.int64(self.cycles),))
                begin.record()
            kernel(blocks, *arguments)
            with self.stream:
                end.record()
            end.synchronize()
            self.milliseconds += self.cuda.get_elapsed_time(begin, end)

        return launch


def classics(graph="rmat:22", *, sources=8) -> Iterator[Record]:
    """Two times a search: *call*, from the call to the synchronised answer, and *device*, the sum over its kernels."""
    drawn = load(graph)
    some = sample_sources(drawn, sources)
    rows: Record = {}
    facts = {"vertices": drawn.num_vertices, "arcs": drawn.num_arcs, "sources": some.tolist()}
    for algorithm in (*ALGORITHMS, "frontier-mask-texture"):
        for name in ("cupy", "numba-cuda"):
            if algorithm in registered()[name].algorithms:
                say(f"{name}:{algorithm}")
                row = rows[f"{name}:{algorithm}"] = _published(drawn, name, algorithm, some)
                row["device_ratio"] = row["device_ms"] / rows[f"cupy:{algorithm}"]["device_ms"]
        yield {"graph": drawn.name, **facts, "rows": rows}


def _published(graph, name, algorithm, sources) -> Record:
    traversal = registered()[name].prepare(graph, algorithm)
    expect(validate(graph, traversal.run(sources[:1])), f"{name}:{algorithm}")
    calls, devices = [], []
    for search in searches(traversal, sources, Options()):
        calls += one_by_one([search])
        with Stopwatch(traversal, SPIN_CYCLES[name]) as stopwatch:
            search()
        devices.append(stopwatch.milliseconds)
    return {"call_ms": median(calls), "device_ms": median(devices)}


def classics_table(record: Record) -> Table:
    def line(algorithm):
        rows = (record["rows"].get(f"{name}:{algorithm}", {}) for name in ("cupy", "numba-cuda"))
        return [code(algorithm), *(row.get(time) for row in rows for time in ("call_ms", "device_ms"))]

    algorithms = dict.fromkeys(name.partition(":")[2] for name in record["rows"])
    return "kernel | CUDA C++, call | device | Numba-CUDA, call | device", map(line, algorithms)


IDS: dict[str, tuple[dict[str, Any], type]] = {
    "int32": ({}, np.int32),
    "int64": ({}, np.int64),
    "int32, gaps": ({"vertices": None}, np.int32),
    "int32, in order": ({"keep_order": True}, np.int32),
}


def construct(graphs=("rmat:20", "rmat:22", "rmat:24", "urand:24")) -> Iterator[Record]:
    """From both directions of every edge in random order, on the device. `csr` builds the CSR, finds the kind of graph
    and checks the ids; `prepare` is the engine's preparation. Both are synchronised."""
    import cupy

    from rapids_bfs._core.csr import device as device_csr
    from rapids_bfs.adapters.device_edges import from_device_edges

    rows = []
    for spec in graphs:
        drawn = load(spec, device=CUDA)
        order = cupy.random.permutation(drawn.num_arcs)
        ends = [each[order] for each in (device_csr.sources_of(drawn.offsets, drawn.targets), drawn.targets)]
        n = drawn.num_vertices
        del drawn, order
        for ids, (options, dtype) in IDS.items():
            say(f"{spec}, {ids}")
            given = [each.astype(dtype, copy=False) for each in ends]
            build = partial(from_device_edges, *given, **({"vertices": n, "name": spec} | options))
            csr_ms, peak, graph = _median_and_peak(build)
            expect(graph.num_arcs == len(given[0]) and not graph.directed, f"{spec}, {ids}")
            prepare_ms, _, _ = _median_and_peak(partial(registered()["cupy"].prepare, graph, ALGORITHM))
            row = {"graph": spec, "ids": ids, "order": "random", "arcs": len(given[0])}
            rows.append(row | {"csr_ms": csr_ms, "peak_bytes": peak, "prepare_ms": prepare_ms})
            yield {"rows": rows}
            del graph, given, build
        del ends
        free_pool()


def _median_and_peak(work) -> tuple[float, int, Any]:
    """Median milliseconds once warm, peak bytes, and the last result."""
    wait = device_wait()
    work()
    wait()
    milliseconds = median(one_by_one([work] * 5, wait=wait))
    with PeakDeviceBytes() as peak:
        outcome = work()
    return milliseconds, peak.bytes, outcome


def construct_table(record: Record) -> Table:
    return "graph | ids | directed edges | CSR, ms | peak, MB | preparation, ms", (
        [code(row["graph"]), row["ids"], row["arcs"], row["csr_ms"], row["peak_bytes"] / 1e6, row["prepare_ms"]]
        for row in record["rows"]
    )


WAYS = DEVICE, PINNED, PROCESSOR = "adjacency on the device", "adjacency on the host", "engine cpu"
CPU_SOURCES = 4  # the first of the same


def pinned_adjacency(graphs=("rmat:24", "rmat:25", "rmat:26"), *, sources=8, too_large=False) -> Iterator[Record]:
    """The CPU engine has all cores. The distances of every search are compared with those of the first way."""
    found = []
    for spec in graphs:
        found.append(_ways_to_hold(spec, sources, too_large))
        yield {"graphs": found}
        free_pool()


def _made(spec, too_large, wait):
    """For each way to search: its engine, the graph, and the seconds to make that from the graph before."""
    if too_large:
        moved, host = clock(partial(load, spec), wait)
    else:
        made, graph = clock(partial(load, spec, device=CUDA), wait)
        yield DEVICE, "cupy", graph, made
        moved, host = clock(partial(graph.to, CPU), wait)
    yield PROCESSOR, "cpu", host, moved
    pinned, there = clock(partial(with_pinned_adjacency, host), wait)
    yield PINNED, "cupy", there, pinned


def _ways_to_hold(spec, count, too_large) -> Record:
    rows, expected, sources, wait = [], None, None, device_wait()
    for way, engine, graph, made in _made(spec, too_large, wait):
        say(f"{spec}, {way}")
        if sources is None:
            sources = sample_sources(graph, count)
        prepared, traversal = clock(partial(resolve(engine).traversal, graph), wait)
        traversal.search(sources[:1], DEFAULT)
        times, distances = [], []
        for search in searches(traversal, sources[: CPU_SOURCES if engine == "cpu" else None], DEFAULT):
            took, found = clock(search, wait)
            times.append(1e3 * took)
            distances.append(to_host(traversal.answer(found)[0]).copy())
        expected = expected or distances
        expect(all(map(np.array_equal, distances, expected)), f"{spec}, {way}")
        rows.append({"way": way, "made_s": made, "prepared_s": prepared, "ms": times, "same": True})
        del traversal
    return {"graph": spec, "bytes": graph.nbytes, "sources": sources.tolist(), "rows": rows}


def pinned_adjacency_table(record: Record) -> Table:
    def line(each):
        times = {row["way"]: row["ms"] for row in each["rows"]}
        found = {way: middle(ms) for way, ms in times.items()}
        shown = (f"{figure(found[way])} ({span(times[way])})" if way in times else "" for way in WAYS)
        slower = found[PINNED] / found[DEVICE] if DEVICE in found else None
        return [code(each["graph"]), *shown, found[PROCESSOR] / found[PINNED], slower]

    head = "graph | adjacency on the device | on the host | engine `cpu` | times as fast as `cpu` | times the device's"
    return head, map(line, record["graphs"])


GPU, BOTH = ("GPU",), ("GPU", "Numba-CUDA")
DETERMINISTIC = partial(fast, engines=("cupy",), deterministic=True)
CASES = [
    Case("fast", "the default search, from the call to the answer, graph after graph", fast, fast_table, BOTH),
    Case("deterministic", "deterministic searches beside the default ones", DETERMINISTIC, deterministic_table, GPU),
    Case("classics", "each published kernel in CUDA C++ and in Numba-CUDA", classics, classics_table, BOTH),
    Case("construct", "from edges on the device to a graph ready to be searched", construct, construct_table, GPU),
    Case("pinned-adjacency", "adjacency on the device and on the host", pinned_adjacency, pinned_adjacency_table, GPU),
]
