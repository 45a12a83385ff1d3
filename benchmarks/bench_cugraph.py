"""Side by side with cuGraph on one GPU: searches, from the call to the synchronised answer, and graphs from edge lists.

    python3 benchmarks/bench_cugraph.py --json FILE
    python3 benchmarks/bench_cugraph.py --no-pool --json FILE
    python3 benchmarks/bench_cugraph.py rmat:24 --builds

Each graph is a cuDF edge list in random order with both directions of every edge, and the ids that occur in it. Those
of rmat have gaps, as its isolated vertices are in no edge; its graphs are measured a second time, kindly, with all ids
0..n-1. Beside each other, on the same `cugraph.Graph`: `cugraph.bfs`, `pylibcugraph.bfs` both ways, and
`rapids_bfs.cugraph.bfs` with its frame; on ours, `rapids_bfs.bfs` and a prepared search of the engine cupy.

RMM has a pool, as users have it who care for speed; with `--no-pool` it asks the driver for every array, as installed.
A FILE keeps both, the newer of each. `--builds` measures the way from the list to a graph instead, and its peak of
memory.
"""

import argparse
import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from time import perf_counter

import cudf
import cugraph
import cupy
import networkx as nx
import numpy as np
import pylibcugraph
import rmm
import rmm.statistics

from rapids_bfs import as_graph, bfs
from rapids_bfs import cugraph as drop_in
from rapids_bfs._core import machine
from rapids_bfs._core.csr.device import sources_of
from rapids_bfs.engines import DEFAULT, resolve
from rapids_bfs.generators import generate

GRAPHS = ["rmat:20", "rmat:22", "rmat:24", "urand:22", "urand:24", "grid:2048", "grid:4096"]
ALL_IDS = ", ids 0..n-1"  # behind the name of a graph whose isolated vertices are there too
SOURCES = {"grid": 8}  # others: --sources
SOURCES_OF_PEERS = {"grid": 3}  # of cuGraph, where one search takes a second; the first of the same sources
POOL = 0.9  # of the free memory
REPEATS = 3  # of a build
SEED = 1
PEERS = ("cugraph", "pylibcugraph", "pylibcugraph:direction-optimizing")
OURS = ("drop-in", "bfs()", "cupy")
CALLS = 200  # of each on karate
FAR = np.iinfo(np.int32).max


def use_pool():
    size = int(cupy.cuda.Device().mem_info[0] * POOL) // 256 * 256
    rmm.mr.set_current_device_resource(rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=size))


def edge_frame(spec, *, shuffled=True):
    """The number of vertices, isolated ones too, and both directions of every edge; int32."""
    graph = generate(spec, device="cuda")
    columns = {"src": sources_of(graph.offsets, graph.targets), "dst": graph.targets}
    if shuffled:
        cupy.random.seed(SEED)
        order = cupy.random.permutation(graph.num_arcs)
        columns = {name: column[order] for name, column in columns.items()}
    return graph.num_vertices, cudf.DataFrame(columns)


def wait():
    cupy.cuda.Device().synchronize()


def milliseconds(call):
    begin = perf_counter()
    call()
    wait()
    return 1e3 * (perf_counter() - begin)


def cugraph_graph(frame, n=None, **options):
    """With the vertices 0..n-1, or those that occur in the list."""
    graph = cugraph.Graph()
    vertices = None if n is None else cudf.Series(cupy.arange(n, dtype=np.int32))
    graph.from_cudf_edgelist(frame, source="src", destination="dst", vertices=vertices, **options)
    return graph


def pylibcugraph_search(handle, graph, direction_optimizing, source):
    sources = cupy.array([source], np.int32)
    return pylibcugraph.bfs(handle, graph._plc_graph, sources, direction_optimizing, -1, True, False)


def prepared_search(traversal, graph, source):
    return traversal.search(np.array([graph.vertex_of(source)]), DEFAULT)


def measure(name, frame, n, count, count_of_peers):
    """Every way to search one graph, from so many of its vertices."""
    began = perf_counter()
    graph = as_graph(frame, vertices=n, directed=False)
    theirs = cugraph_graph(frame, n, symmetrize=False)
    handle = pylibcugraph.ResourceHandle()
    candidates = cupy.unique(frame["src"].values).get()
    sources = np.random.default_rng(SEED).choice(candidates, count, replace=False).tolist()
    searches = {
        "cugraph": partial(cugraph.bfs, theirs),
        "pylibcugraph": partial(pylibcugraph_search, handle, theirs, False),
        "pylibcugraph:direction-optimizing": partial(pylibcugraph_search, handle, theirs, True),
        "drop-in": partial(drop_in.bfs, theirs),
        "bfs()": partial(bfs, graph, engine="cupy"),
        "cupy": partial(prepared_search, resolve("cupy").traversal(graph), graph),
    }
    ids = "0..n-1" if graph.labels is None else "with gaps"
    print(f"{name}: {graph.num_vertices:,} vertices, ids {ids}, {graph.num_arcs:,} arcs", end="", flush=True)
    agree = same_answers({way: search(sources[0]) for way, search in searches.items()})
    times = {
        way: [milliseconds(partial(search, source)) for source in sources[: count_of_peers if way in PEERS else None]]
        for way, search in searches.items()
    }
    print(f"; agree: {agree}; {perf_counter() - began:.1f} s", flush=True)
    return {
        "graph": name,
        "ids": ids,
        "vertices": graph.num_vertices,
        "arcs": graph.num_arcs,
        "sources": sources,
        "sources_of_peers": count_of_peers,
        "agree": agree,
        "ms": times,
        "median_ms": {way: median(found) for way, found in times.items()},
    }


def same_answers(found):
    """Do all have the same distances? Each has been searched once, and is warm."""
    expected = found["cugraph"].sort_values("vertex")["distance"].values
    answers = [found["drop-in"]["distance"].values]
    answers.append(cupy.where(found["bfs()"].distances < 0, FAR, found["bfs()"].distances))
    for name in PEERS[1:]:
        distances, _, vertices = found[name]
        answers.append(distances[cupy.argsort(vertices)])
    return all(bool((answer == expected).all()) for answer in answers)


def measured(spec, sources):
    """A row for a graph with the ids of its list, and one with all ids if these are more."""
    kind = spec.partition(":")[0]
    count = SOURCES.get(kind, sources)
    n, frame = edge_frame(spec)
    rows = [measure(spec, frame, None, count, SOURCES_OF_PEERS.get(kind, count))]
    if rows[0]["vertices"] < n:
        rows.append(measure(spec + ALL_IDS, frame, n, count, SOURCES_OF_PEERS.get(kind, count)))
    return rows


def karate():
    """Median microseconds of a call on 34 vertices; `profile_dropin.py` says where they go."""
    edges = np.array(nx.karate_club_graph().edges, np.int32).T
    graph = cugraph_graph(cudf.DataFrame({"src": edges[0], "dst": edges[1]}))
    prepared = as_graph(nx.karate_club_graph()).on("cuda")
    calls = {
        "cugraph.bfs": partial(cugraph.bfs, graph, 0),
        "rapids_bfs.cugraph.bfs": partial(drop_in.bfs, graph, 0),
        "rapids_bfs.bfs": partial(bfs, prepared, 0, engine="cupy"),
    }
    times = {}
    for name, call in calls.items():
        for _ in range(5):
            call()
        times[name] = 1e3 * median(milliseconds(call) for _ in range(CALLS))
    return times


def sg_graph(frame, n, renumber):
    return pylibcugraph.SGGraph(
        pylibcugraph.ResourceHandle(),
        pylibcugraph.GraphProperties(is_symmetric=True, is_multigraph=False),
        frame["src"].values,
        frame["dst"].values,
        renumber=renumber,
        vertices_array=cupy.arange(n, dtype=np.int32),
    )


def ready_graph(frame, n):
    """Ours, ready to be searched."""
    graph = as_graph(frame, vertices=n, directed=False)
    return graph, resolve("cupy").engine.prepare(graph, "direction-optimizing")


def builds(spec):
    """Times and peaks of every way from an edge list to a graph, the list sorted and in random order."""
    rows = []
    for order in ("sorted", "random"):
        n, frame = edge_frame(spec, shuffled=order == "random")
        ways = {
            "rapids_bfs": partial(ready_graph, frame, n),
            "rapids_bfs, CSR alone": partial(as_graph, frame, vertices=n, directed=False),
            "cugraph.Graph": partial(cugraph_graph, frame, n),
            "cugraph.Graph, symmetrize=False": partial(cugraph_graph, frame, n, symmetrize=False),
            "pylibcugraph.SGGraph": partial(sg_graph, frame, n, renumber=True),
            "pylibcugraph.SGGraph, renumber=False": partial(sg_graph, frame, n, renumber=False),
        }
        for name, build in ways.items():
            times = [milliseconds(build) for _ in range(1 + REPEATS)][1:]
            with rmm.statistics.statistics():
                build()
                wait()
                peak = rmm.statistics.get_statistics().peak_bytes
            rows.append({"edges": order, "what": name, "ms": times, "median_ms": median(times), "peak_bytes": peak})
            print(f"    {order:8}{name:40}{median(times):10.2f} ms {peak / 2**30:8.2f} GiB", flush=True)
    return {"graph": spec, "builds": rows}


def geometric_means(rows):
    """How many times as fast each of our ways is as cuGraph's, with the ids of the lists, and with all ids."""
    kind = {row["graph"].removesuffix(ALL_IDS) for row in rows if row["graph"].endswith(ALL_IDS)}
    sets = {
        "ids as in the lists": [row for row in rows if not row["graph"].endswith(ALL_IDS)],
        "all ids": [row for row in rows if row["graph"] not in kind],
    }
    means = {}
    for name, chosen in sets.items():
        medians = [row["median_ms"] for row in chosen]
        means[name] = {
            f"{ours} over {peer}": geometric_mean(min(found[way] for way in ways) / found[ours] for found in medians)
            for ours in OURS
            for peer, ways in {"cugraph": PEERS[:1], "best pylibcugraph": PEERS[1:]}.items()
        }
    return means


def show(rows, means, small):
    """The medians, and how many times as fast ours are as the peers."""
    print(
        f"\n{'median ms':24}" + "".join(f"{way.replace('direction-optimizing', 'do'):>16}" for way in (*PEERS, *OURS))
    )
    for row in rows:
        print(f"{row['graph']:24}" + "".join(f"{row['median_ms'][way]:16.3f}" for way in (*PEERS, *OURS)))
    for name, found in means.items():
        print(f"{name}: " + ", ".join(f"{ratio} {mean:.1f}x" for ratio, mean in found.items()))
    print("karate: " + ", ".join(f"{name} {us:.1f} us" for name, us in small.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS, metavar="graph")
    parser.add_argument("--sources", type=int, default=32)
    parser.add_argument("--no-pool", action="store_true", help="let RMM ask the driver for every array")
    parser.add_argument("--builds", action="store_true", help="measure the building of graphs instead")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if not arguments.no_pool:
        use_pool()
    about = {
        "card": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": machine.versions(),
    }
    if arguments.builds:
        found = about | {"graphs": [builds(spec) for spec in arguments.graphs]}
    else:
        small = karate()
        rows = [row for spec in arguments.graphs for row in measured(spec, arguments.sources)]
        means = geometric_means(rows)
        show(rows, means, small)
        found = about | {"graphs": rows, "geometric_means": means, "karate_us": small}
    if arguments.json:
        kept = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
        kept = {key: each for key, each in kept.items() if "graphs" in (each if isinstance(each, dict) else {})}
        key = ("builds, " if arguments.builds else "") + ("no pool" if arguments.no_pool else "pool")
        arguments.json.write_text(json.dumps(kept | {key: found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
