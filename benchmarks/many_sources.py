"""Many sources at once: batches beside single searches, and betweenness."""

from collections.abc import Iterator
from functools import partial

import networkx as nx
import numpy as np

from rapids_bfs import as_graph, bfs_batch, load
from rapids_bfs._core.cuda.arrays import CUDA, to_host
from rapids_bfs._core.rapids import package_missing
from rapids_bfs.engines import Options, resolve

from .cases import Case, expect, say
from .record import Record
from .tables import Table, code, middle
from .timing import clock, device_wait, one_by_one, repeated

SEED = 1
WORD = 64
SIZES = (64, 256, 1024)  # of batches
MAX_DISTANCES = 1 << 32  # of a batch
ROUNDS = 5
DISTANCES = Options(predecessors=False)


def drawn(spec: str, degree: int):
    """The package's own graph with ids 0..n-1, or "ba:N": a Barabasi-Albert graph, ``degree`` edges for each vertex."""
    kind, _, size = spec.partition(":")
    graph = as_graph(nx.barabasi_albert_graph(int(size), degree, seed=SEED)) if kind == "ba" else load(spec)
    return graph.replace(labels=None)


def batch(graphs=("rmat:20", "rmat:26"), *, engines=("cupy",)) -> Iterator[Record]:
    """Milliseconds for 64 sources. A batch writes its distances to memory that has been written before, on the engine's
    device, or keeps the summary. Single searches take turns over the same sources, for distances only."""
    found = []
    for spec in graphs:
        graph, rows = load(spec, device=resolve(engines[0]).engine.searches_on), []
        found.append({"graph": spec, "vertices": graph.num_vertices, "arcs": graph.num_arcs, "rows": rows})
        for name in engines:
            for row in _batches(graph, name):
                rows.append(row)
                yield {"graphs": found}


def _batches(graph, name) -> Iterator[Record]:
    choice = resolve(name)
    single = choice.traversal(graph)
    prepared, several = clock(partial(choice.batch_traversal, graph))
    sources = np.random.default_rng(SEED).choice(np.flatnonzero(to_host(graph.degrees)), max(SIZES))
    for k in SIZES:
        if k * graph.num_vertices > MAX_DISTANCES:
            break
        say(f"{graph.name}, {name}, {k} sources")
        some = sources[:k]
        distances = _room(several, k, graph.num_vertices)
        several.distances(some, None, distances)
        sums = several.summary(some, None)
        single.search(some[:1], DISTANCES)  # compiles
        singles = one_by_one([partial(single.search, sources[at : at + 1], DISTANCES) for at in range(WORD)])
        whole = one_by_one([partial(several.distances, some, None, distances)] * ROUNDS)
        summary = one_by_one([partial(several.summary, some, None)] * ROUNDS)
        expected = to_host(single.run(some[-1:], DISTANCES).distances)
        expect(np.array_equal(to_host(distances[-1]), expected), f"{name}, distances from {k}")
        expect(sums.total[-1] == expected[expected > 0].sum(dtype=np.int64), f"{name}, sums from {k}")
        row = {"engine": name, "sources": k, "prepared_s": prepared, "single_ms": sum(singles), "right": True}
        yield row | {key: [ms * WORD / k for ms in times] for key, times in zip(BATCHED, (whole, summary), strict=True)}


BATCHED = ("distances_ms", "summary_ms")


def _room(traversal, k, n):
    """Memory for distances, written once beforehand."""
    if traversal.searches_on != CUDA:
        return np.zeros((k, n), np.int32)
    import cupy

    distances = cupy.zeros((k, n), np.int32)
    cupy.cuda.Device().synchronize()
    return distances


def batch_table(record: Record) -> Table:
    return "engine | graph | sources at once | single searches | all distances | sums", (
        [code(row["engine"]), code(each["graph"]), row["sources"], row["single_ms"], *map(middle, both)]
        for each in record["graphs"]
        for row in each["rows"]
        for both in [[row[key] for key in BATCHED]]
    )


CUGRAPH_SOURCES = 32  # sources of cuGraph, whose time is scaled up


def closeness(graphs=("wordnet", "rmat:20"), *, engine="cupy") -> Iterator[Record]:
    """Seconds for the sum of the distances from every vertex, from which closeness is computed, with the graph
    prepared. cuGraph has no closeness, so it searches from one vertex after another."""
    rows: list[Record] = []
    for spec in graphs:
        say(spec)
        graph = load(spec, device=resolve(engine).engine.searches_on).replace(labels=None)
        n = graph.num_vertices
        bfs_batch(graph, range(min(n, max(SIZES))), keep="summary", engine=engine)  # compiles
        seconds, found = clock(partial(bfs_batch, graph, keep="summary", engine=engine))
        row: Record = {"graph": spec, "vertices": n, "arcs": graph.num_arcs, "seconds": seconds}
        if package_missing("cugraph") is None:
            sources = np.sort(np.random.default_rng(SEED).choice(n, CUGRAPH_SOURCES, replace=False))
            row["cugraph_s"], totals = _totals_by_cugraph(graph, sources)
            row["cugraph_s"] *= n / CUGRAPH_SOURCES
            expect(totals == found.total[sources].tolist(), f"the sums of {spec}")
        rows.append(row)
        yield {"graphs": rows}


def _totals_by_cugraph(graph, sources):
    """Seconds that `cugraph.bfs` takes from all of these, and the sums of the distances."""
    import cugraph

    from rapids_bfs.adapters.cugraph import to_cugraph

    theirs = to_cugraph(graph, labels=False)

    def total(source):
        distances = cugraph.bfs(theirs, source)["distance"]
        return int(distances[distances < graph.num_vertices].sum())

    total(int(sources[0]))
    return clock(lambda: [total(source) for source in sources.tolist()])


def closeness_table(record: Record) -> Table:
    return "graph | vertices | `bfs_batch`, s | `cugraph.bfs` from each, s | factor", (
        [code(row["graph"]), row["vertices"], row["seconds"], theirs, theirs and theirs / row["seconds"]]
        for row in record["graphs"]
        for theirs in [row.get("cugraph_s")]
    )


MAX_REPEATED_S = 5.0  # after which nothing is run again
SPECS = ("karate,0", "ba:2000,0", "ba:20000,0", "rmat:20,64", "rmat:20,256", "grid:400,64", "grid:400,1024")
ARCS_ON_CPU = 1 << 30  # times sources, at most; the CPU's time is scaled up
OF_CUGRAPH = {"ba": 100, "rmat": 16, "grid": 4}  # sources, at most


def betweenness(graphs=SPECS, *, engines=("cpu", "cupy")) -> Iterator[Record]:
    """From this many sources (0: all vertices): the best of some runs, each from the call to the sums on the host, with
    the graph prepared (for cuGraph in its own form). The CPU and cuGraph get fewer sources where they take long, and
    their times are scaled up."""
    found = []
    for each in graphs:
        spec, _, k = each.partition(",")
        graph, rows = drawn(spec, 10), []
        sources = np.arange(graph.num_vertices)
        if int(k or 0):
            sources = np.sort(np.random.default_rng(SEED).choice(np.flatnonzero(graph.degrees), int(k)))
        facts = {"vertices": graph.num_vertices, "arcs": graph.num_arcs, "k": len(sources)}
        found.append({"graph": spec, **facts, "rows": rows})
        for name, seconds, taken, right in _scores(spec, graph, sources, engines):
            say(f"{each}, {name}")
            row = {"engine": name, "seconds": seconds, "sources": taken, "right": right}
            rows.append(row | {"scaled_seconds": seconds * len(sources) / taken})
            yield {"graphs": found}


def _best(call, rounds):
    """Seconds of the fastest run after the first, and the result."""
    times, found = repeated(call, 1 + rounds, enough_s=MAX_REPEATED_S)
    return min(times[1:] or times), found


def _ours(prepared, graph, sources, rounds, *, edges=False):
    is_target = np.ones(graph.num_vertices, bool)
    return _best(lambda: prepared.scores(sources, is_target, False, edges), rounds)


def _scores(spec, graph, sources, engines):
    """Which engine, how many seconds, how many sources, and whether the scores are right."""
    few, reference = sources[: max(1, ARCS_ON_CPU // graph.num_arcs)], None
    for name in sorted(engines, key=lambda name: name != "cpu"):
        prepared = resolve(name).betweenness(graph)
        if name == "cpu":
            seconds, reference = _ours(prepared, graph, few, 1)
            yield name, seconds, len(few), "-"
            continue
        if reference is not None:
            found = _ours(prepared, graph, few, 0)[1]
            expect(np.allclose(found, reference, rtol=1e-9, atol=1e-9), f"{name} on {spec}")
        right = "unchecked" if reference is None else "right"
        yield name, _ours(prepared, graph, sources, ROUNDS)[0], len(sources), right
        yield f"{name}, arcs", _ours(prepared, graph, sources, ROUNDS, edges=True)[0], len(sources), ""
        if name == "cupy" and package_missing("cugraph") is None:
            some = sources[: OF_CUGRAPH.get(spec.partition(":")[0], len(sources))]
            wanted = _ours(prepared, graph, some, 0)[1]
            seconds, values = _cugraph(graph, some)
            yield "cugraph", seconds, len(some), _agreement(values, wanted, some)


def _cugraph(graph, sources):
    """Seconds of `cugraph.betweenness_centrality`, and the sums."""
    import cudf
    import cugraph

    from rapids_bfs.adapters.cugraph import to_cugraph

    theirs, wait = to_cugraph(graph, labels=False), device_wait()
    k = cudf.Series(sources.astype(graph.targets.dtype))

    def whole():
        frame = cugraph.betweenness_centrality(theirs, k=k, normalized=False)
        wait()
        return frame

    seconds, frame = _best(whole, 1)
    values = np.zeros(graph.num_vertices)
    values[frame["vertex"].to_numpy()] = frame["betweenness_centrality"].to_numpy()
    return seconds, values


def _agreement(theirs, wanted, sources) -> str:
    """Whether the scores are equal up to a factor. cuGraph scales the scores of sampled sources in another way: only
    the other vertices are compared, or all if every vertex was a source."""
    others = np.setdiff1d(np.arange(len(wanted)), sources)
    theirs, wanted = (each[others] if len(others) else each for each in (theirs, wanted))
    return "agrees" if np.allclose(theirs / theirs.sum(), wanted / wanted.sum(), rtol=1e-4, atol=1e-12) else "differs"


def betweenness_table(record: Record) -> Table:
    """In milliseconds."""
    ways = list(dict.fromkeys(row["engine"] for each in record["graphs"] for row in each["rows"]))

    def line(each):
        found = {row["engine"]: 1e3 * row["scaled_seconds"] for row in each["rows"]}
        return [code(each["graph"]), each["k"], *map(found.get, ways)]

    return " | ".join(["graph", "k", *map(code, ways)]), map(line, record["graphs"])


ON_CPU = partial(batch, graphs=("rmat:20", "grid:512"), engines=("cpu",))
BETWEENNESS = "betweenness on the GPU, on the CPU and, where it is installed, by cuGraph"
CASES = [
    Case("batch", "many sources at once against as many single searches", batch, batch_table, ("GPU",)),
    Case("batch-cpu", "the same on the CPU", ON_CPU, batch_table, file="batch"),
    Case("closeness", "sums of the distances from every vertex, beside cuGraph", closeness, closeness_table, ("GPU",)),
    Case("betweenness", BETWEENNESS, betweenness, betweenness_table, ("GPU",)),
]
