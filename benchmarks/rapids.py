"""Side by side with cuGraph on one GPU: searches, graphs from edge lists, and where the time of a call goes.

Each graph is a cuDF edge list in random order with both directions of every edge; its vertices are the ids in the list.
Those of rmat have gaps, because isolated vertices occur in no edge. RMM has a pool, which users set up for speed; with
`--no-pool` it asks the driver for every array, which is its default.
"""

from collections.abc import Iterator
from functools import partial
from statistics import geometric_mean, median

import networkx as nx
import numpy as np

from rapids_bfs import as_graph, bfs, load
from rapids_bfs import cugraph as drop_in
from rapids_bfs._core.memory import new_arrays
from rapids_bfs.cugraph.searcher import of_graph
from rapids_bfs.engines import DEFAULT, resolve

from .cases import Case, say
from .record import Record
from .tables import Table, code
from .timing import device_wait, one_by_one

GRAPHS = ("rmat:20", "rmat:22", "rmat:24", "urand:22", "urand:24", "grid:2048", "grid:4096")
ALL_IDS = ", ids 0..n-1"  # behind the name of a graph whose isolated vertices are there too
SOURCES = {"grid": 8}  # others: --sources
SOURCES_OF_CUGRAPH = {"grid": 3}  # where one search takes a second; the first of the same sources
POOL = 0.9  # of the free memory
REPEATS = 3  # of a build
SEED = 1
THEIRS = ("cugraph", "pylibcugraph", "pylibcugraph:direction-optimizing")
OURS = ("drop-in", "bfs()", "cupy")
UNREACHED = np.iinfo(np.int32).max


def start_pool():
    import cupy
    import rmm

    size = int(cupy.cuda.Device().mem_info[0] * POOL) // 256 * 256
    rmm.mr.set_current_device_resource(rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=size))


def edge_frame(spec, *, shuffled=True):
    """The number of vertices, isolated ones too, and both directions of every edge; int32."""
    import cudf
    import cupy

    from rapids_bfs._core.csr.device import sources_of

    graph = load(spec, device="cuda")
    columns = {"src": sources_of(graph.offsets, graph.targets), "dst": graph.targets}
    if shuffled:
        cupy.random.seed(SEED)
        order = cupy.random.permutation(graph.num_arcs)
        columns = {name: column[order] for name, column in columns.items()}
    return graph.num_vertices, cudf.DataFrame(columns)


def ids_of(frame, count) -> list[int]:
    """Random ids in the list, to search from."""
    import cupy

    candidates = cupy.unique(frame["src"].values).get()
    return np.random.default_rng(SEED).choice(candidates, count, replace=False).tolist()


def cugraph_graph(frame, n=None, **options):
    """With the vertices 0..n-1, or those that occur in the list."""
    import cudf
    import cugraph
    import cupy

    graph = cugraph.Graph()
    vertices = None if n is None else cudf.Series(cupy.arange(n, dtype="int32"))
    graph.from_cudf_edgelist(frame, source="src", destination="dst", vertices=vertices, **options)
    return graph


def karate_graph(dtype="int32", gap=1):
    """With the ids 0, ``gap``, 2 ``gap``, ..."""
    import cudf

    edges = gap * np.array(nx.karate_club_graph().edges, np.int32).T
    return cugraph_graph(cudf.DataFrame({"src": edges[0], "dst": edges[1]}).astype(dtype))


def cugraph(graphs=GRAPHS, *, sources=32, pool=True) -> Iterator[Record]:
    """On one `cugraph.Graph`, `cugraph.bfs`, both algorithms of `pylibcugraph.bfs`, and `rapids_bfs.cugraph.bfs` with
    its frame; on our graph, `rapids_bfs.bfs` and a prepared search of the engine cupy."""
    if pool:
        start_pool()
    rows = []
    for spec in graphs:
        kind = spec.partition(":")[0]
        count = SOURCES.get(kind, sources)
        counts = count, SOURCES_OF_CUGRAPH.get(kind, count)
        n, frame = edge_frame(spec)
        rows.append(_searches(spec, frame, None, *counts))
        if rows[-1]["vertices"] < n:
            rows.append(_searches(spec + ALL_IDS, frame, n, *counts))
        yield {"section": "pool" if pool else "no pool", "graphs": rows, "geometric_means": _geometric_means(rows)}


def _searches(name, frame, n, count, count_of_theirs) -> Record:
    """Time every way to search one graph, from ``count`` sources; the answers from the first source are compared."""
    import cugraph
    import cupy
    import pylibcugraph

    graph = as_graph(frame, vertices=n, directed=False)
    theirs = cugraph_graph(frame, n, symmetrize=False)
    handle, traversal = pylibcugraph.ResourceHandle(), resolve("cupy").traversal(graph)
    sources = ids_of(frame, count)

    def pylibcugraph_search(direction_optimizing, source):
        start = cupy.array([source], np.int32)
        return pylibcugraph.bfs(handle, theirs._plc_graph, start, direction_optimizing, -1, True, False)

    def prepared_search(source):
        return traversal.search(np.array([graph.vertex_of(source)]), DEFAULT)

    ways = {
        "cugraph": partial(cugraph.bfs, theirs),
        "pylibcugraph": partial(pylibcugraph_search, False),
        "pylibcugraph:direction-optimizing": partial(pylibcugraph_search, True),
        "drop-in": partial(drop_in.bfs, theirs),
        "bfs()": partial(bfs, graph, engine="cupy"),
        "cupy": prepared_search,
    }
    agree = _same_answers({way: search(sources[0]) for way, search in ways.items()})
    ids, wait, times = "0..n-1" if graph.labels is None else "with gaps", device_wait(), {}
    say(f"{name}: {graph.num_vertices:,} vertices, ids {ids}, {graph.num_arcs:,} arcs; agree: {agree}")
    for way, search in ways.items():
        chosen = sources[: count_of_theirs if way in THEIRS else None]
        times[way] = one_by_one([partial(search, source) for source in chosen], wait=wait)
    row = {"graph": name, "ids": ids, "vertices": graph.num_vertices, "arcs": graph.num_arcs, "sources": sources}
    row |= {"sources_of_peers": count_of_theirs, "agree": agree, "ms": times}
    return row | {"median_ms": {way: median(found) for way, found in times.items()}}


def _same_answers(found) -> bool:
    """Return True if all answers have the same distances."""
    import cupy

    expected = found["cugraph"].sort_values("vertex")["distance"].values
    answers = [found["drop-in"]["distance"].values]
    answers.append(cupy.where(found["bfs()"].distances < 0, UNREACHED, found["bfs()"].distances))
    for name in THEIRS[1:]:
        distances, _, vertices = found[name]
        answers.append(distances[cupy.argsort(vertices)])
    return all(bool((answer == expected).all()) for answer in answers)


def _geometric_means(rows) -> Record:
    """Speed-ups of our searches over cuGraph's, with the ids in the lists, and with all ids 0..n-1."""
    kind = {row["graph"].removesuffix(ALL_IDS) for row in rows if row["graph"].endswith(ALL_IDS)}
    sets = {
        "ids as in the lists": [row["median_ms"] for row in rows if not row["graph"].endswith(ALL_IDS)],
        "all ids": [row["median_ms"] for row in rows if row["graph"] not in kind],
    }
    return {
        name: {
            f"{ours} over {other}": geometric_mean(min(found[way] for way in ways) / found[ours] for found in medians)
            for ours in OURS
            for other, ways in {"cugraph": THEIRS[:1], "best pylibcugraph": THEIRS[1:]}.items()
        }
        for name, medians in sets.items()
    }


def place(kept: Record, new: Record) -> Record:
    """Put the new section into the file's record: searches or builds, with a pool or without."""
    return kept | {new["section"]: {key: value for key, value in new.items() if key != "section"}}


def _section(record: Record, beginning: str) -> Record:
    """The section of searches or builds, measured with a pool if there is one."""
    found = (record.get(f"{beginning}{pool}") for pool in ("pool", "no pool"))
    return next(filter(None, found), {"graphs": [], "geometric_means": {}})


def _best_of_pylibcugraph(found) -> float:
    return min(found[way] for way in THEIRS[1:])


def cugraph_table(record: Record) -> Table:
    head = "graph | ids | median ms | `bfs` | prepared | `cugraph.bfs` | `pylibcugraph.bfs` | direction-optimizing"
    return head + " | speed-up over cugraph | over pylibcugraph", (
        [code(each["graph"]), each["ids"], *(found[way] for way in (*OURS, *THEIRS)), *(ms / ours for ms in theirs)]
        for each in _section(record, "")["graphs"]
        for found in [each["median_ms"]]
        for ours, theirs in [(found["drop-in"], (found["cugraph"], _best_of_pylibcugraph(found)))]
    )


def cugraph_short_table(record: Record) -> Table:
    return "graph | median ms | `cugraph.bfs` | best pylibcugraph", (
        [code(each["graph"]), found["drop-in"], found["cugraph"], _best_of_pylibcugraph(found)]
        for each in _section(record, "")["graphs"]
        for found in [each["median_ms"]]
    )


def cugraph_means_table(record: Record) -> Table:
    names = {"ids as in the lists": "ids with gaps", "all ids": "ids 0..n-1"}
    ratios = [f"{ours} over {other}" for ours in OURS for other in ("cugraph", "best pylibcugraph")]
    return " | ".join(["geometric means", *ratios]), (
        [names[name], *(each[ratio] for ratio in ratios)]
        for name, each in _section(record, "")["geometric_means"].items()
    )


def builds(graphs=GRAPHS, *, pool=False) -> Iterator[Record]:
    """Times and peak memory of every way to build a graph from an edge list, sorted and in random order."""
    if pool:
        start_pool()
    found = []
    for spec in graphs:
        found.append({"graph": spec, "builds": []})
        for order in ("sorted", "random"):
            found[-1]["builds"] += _builds(spec, order)
            yield {"section": f"builds, {'pool' if pool else 'no pool'}", "graphs": found}


def _builds(spec, order) -> Iterator[Record]:
    import cupy
    import pylibcugraph
    import rmm.statistics

    n, frame = edge_frame(spec, shuffled=order == "random")
    wait = device_wait()

    def ready():
        graph = as_graph(frame, vertices=n, directed=False)
        return graph, resolve("cupy").engine.prepare(graph, "direction-optimizing")

    def sg_graph(renumber):
        properties = pylibcugraph.GraphProperties(is_symmetric=True, is_multigraph=False)
        ends = frame["src"].values, frame["dst"].values
        options = {"renumber": renumber, "vertices_array": cupy.arange(n, dtype=np.int32)}
        return pylibcugraph.SGGraph(pylibcugraph.ResourceHandle(), properties, *ends, **options)

    ways = {
        "rapids_bfs": ready,
        "rapids_bfs, CSR alone": partial(as_graph, frame, vertices=n, directed=False),
        "cugraph.Graph": partial(cugraph_graph, frame, n),
        "cugraph.Graph, symmetrize=False": partial(cugraph_graph, frame, n, symmetrize=False),
        "pylibcugraph.SGGraph": partial(sg_graph, renumber=True),
        "pylibcugraph.SGGraph, renumber=False": partial(sg_graph, renumber=False),
    }
    for name, build in ways.items():
        say(f"{spec}, {order}, {name}")
        times = one_by_one([build] * (1 + REPEATS), wait=wait)[1:]
        with rmm.statistics.statistics():
            build()
            wait()
            peak = rmm.statistics.get_statistics().peak_bytes
        yield {"edges": order, "what": name, "ms": times, "median_ms": median(times), "peak_bytes": peak}


def builds_table(record: Record) -> Table:
    def line(graph, rows):
        ordered, random = rows["sorted"], rows.get("random", {})
        times = ordered["median_ms"], random.get("median_ms")
        return [code(graph), ordered["what"], *times, ordered["peak_bytes"] / 2**30]

    return "graph | made | sorted list, ms | random order, ms | peak of the sorted list, GiB", (
        line(each["graph"], {row["edges"]: row for row in each["builds"] if row["what"] == what})
        for each in _section(record, "builds, ")["graphs"]
        for what in dict.fromkeys(row["what"] for row in each["builds"])
    )


WARM_UP, SLOW = 20, 50  # calls; those of cuGraph


def dropin(*, calls=500, pool=True) -> Iterator[Record]:
    """Median times of calls: on karate, where nearly all of it is Python's, and on rmat:20, where most of Python's work
    overlaps the search on the device."""
    if pool:
        start_pool()
    found = {}
    sections = {"whole calls": _whole_calls, "ways to search rmat:20": _ways_to_search}
    for title, ways in sections.items():
        found[title] = {}
        for name, call in ways().items():
            say(f"{title}: {name}")
            times = one_by_one([call] * (WARM_UP + (SLOW if name.startswith("cugraph.bfs") else calls)))
            device_wait()()
            found[title][name] = 1e3 * median(times[WARM_UP:])
        yield {"pool": pool, "microseconds": found}


def _whole_calls():
    import cudf
    import cugraph
    import cupy

    from rapids_bfs.adapters.cudf import frame_of

    graph, host, device = karate_graph(), load("karate"), load("karate").to("cuda")
    prepared, columns = resolve("cupy").traversal(device), {name: cupy.arange(34, dtype=np.int32) for name in "abc"}
    return {
        "cugraph.bfs": partial(cugraph.bfs, graph, 0),
        "rapids_bfs.cugraph.bfs": partial(drop_in.bfs, graph, 0),
        "rapids_bfs.cugraph.bfs, distances alone": partial(drop_in.bfs, graph, 0, return_predecessors=False),
        "rapids_bfs.cugraph.bfs, ids with gaps": partial(drop_in.bfs, karate_graph(gap=3), 0),
        "rapids_bfs.cugraph.bfs, int64": partial(drop_in.bfs, karate_graph("int64"), 0),
        "rapids_bfs.cugraph.bfs, strings": partial(drop_in.bfs, karate_graph("str"), "0"),
        "prepared search": partial(prepared.search, np.array([0]), DEFAULT),
        "bfs of a graph on the device": partial(bfs, device, 0, engine="cupy"),
        "bfs of a graph on the host, engine cpu": partial(bfs, host, 0, engine="cpu"),
        "a frame by cuDF's constructor": partial(cudf.DataFrame, columns),
        "a frame by frame_of": partial(frame_of, columns),
    }


def _ways_to_search():
    """Larger and larger parts of a call, from a prepared search to the drop-in with its frame; ids have gaps."""
    _, frame = edge_frame("rmat:20")
    graph, theirs = as_graph(frame, directed=False), cugraph_graph(frame, symmetrize=False)
    id = int(frame["src"].iloc[0])
    traversal, sources, n = resolve("cupy").traversal(graph), np.array([graph.vertex_of(id)]), graph.num_vertices
    once = new_arrays(n, np.int32, np.int32)
    drop_in.bfs(theirs, id)
    searcher, kept = of_graph(theirs), []

    def into(distances, predecessors):
        with traversal.device.current(), traversal.search_into(distances, predecessors, -1, sources, DEFAULT):
            pass

    def arrays_of_drop_in():
        with searcher.traversal.lock, searcher.search(id, None, True):
            pass

    return {
        "prepared search": partial(traversal.search, sources, DEFAULT),
        "into the same new arrays each time": partial(into, *once),
        "run, arrays are the caller's": partial(traversal.run, sources, own=True),
        "run, and all answers are kept": lambda: kept.append(traversal.run(sources, own=True)),
        "bfs": partial(bfs, graph, id, engine="cupy"),
        "drop-in, arrays alone": arrays_of_drop_in,
        "drop-in": partial(drop_in.bfs, theirs, id),
        "make and free two arrays": lambda: new_arrays(n, np.int32, np.int32),
    }


def dropin_table(record: Record) -> Table:
    return "calls | up to here, or of what | µs", (
        [title, name, us] for title, each in record["microseconds"].items() for name, us in each.items()
    )


WITH = ("GPU", "cuGraph")
SHORT = {"cugraph-short": cugraph_short_table, "cugraph-means": cugraph_means_table}
CASES = [
    Case("cugraph", "searches side by side with cuGraph", cugraph, cugraph_table, WITH, "cugraph", SHORT, place),
    Case("cugraph-builds", "graphs from edge lists, and their peaks", builds, builds_table, WITH, "cugraph", {}, place),
    Case("dropin", "where the time of rapids_bfs.cugraph.bfs goes", dropin, dropin_table, WITH),
]
