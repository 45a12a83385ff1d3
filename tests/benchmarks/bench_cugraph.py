"""Side by side with cuGraph on one GPU: searches, from the call to the synchronised answer, and graphs from edge lists.

    python3 tests/benchmarks/bench_cugraph.py rmat:20 grid:2048 --json FILE

For each graph, symmetric and with the ids 0..n-1: `cugraph.bfs`, `pylibcugraph.bfs` both ways, a prepared search of the
engine cupy, `rapids_bfs.bfs` on the device, and `rapids_bfs.cugraph.bfs` on the same `cugraph.Graph`, its frame too.
Then the way from a cuDF edge list to a graph that is ready to be searched, and its peak of device memory. Last, karate,
where Python is all there is.
`--pool` gives RMM a pool; without it, as out of the box, RMM asks the driver for every array.
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

from rapids_bfs import as_graph, bfs, machine
from rapids_bfs import cugraph as drop_in
from rapids_bfs.device_csr import sources_of
from rapids_bfs.engines import DEFAULT, choose
from rapids_bfs.generators import generate

GRAPHS = ["rmat:20", "rmat:22", "rmat:24", "urand:22", "urand:24", "grid:2048", "grid:4096"]
SOURCES = {"grid": 8}  # others: --sources
SOURCES_OF_PEERS = {"grid": 3}  # of cuGraph, where one search takes a second; the first of the same sources
SHUFFLED = "rmat:24"  # whose edge list is also taken in random order
REPEATS = 3  # of a build
SEED = 1
PEERS = ("cugraph", "pylibcugraph", "pylibcugraph:direction-optimizing")
OURS = ("cupy", "bfs()", "drop-in")
CALLS = 200  # of each on karate


def edge_frame(spec):
    """The number of vertices, and both directions of every edge, in the order of their sources; int32."""
    graph = generate(spec, device="cuda")
    return graph.num_vertices, cudf.DataFrame({"src": sources_of(graph.offsets, graph.targets), "dst": graph.targets})


def wait():
    cupy.cuda.Device().synchronize()


def milliseconds(call):
    begin = perf_counter()
    call()
    wait()
    return 1e3 * (perf_counter() - begin)


def cugraph_graph(frame, n, **options):
    graph = cugraph.Graph()
    vertices = cudf.Series(cupy.arange(n, dtype=np.int32))
    graph.from_cudf_edgelist(frame, source="src", destination="dst", vertices=vertices, **options)
    return graph


def sg_graph(frame, n, renumber):
    return pylibcugraph.SGGraph(
        pylibcugraph.ResourceHandle(),
        pylibcugraph.GraphProperties(is_symmetric=True, is_multigraph=False),
        frame["src"].values,
        frame["dst"].values,
        renumber=renumber,
        vertices_array=cupy.arange(n, dtype=np.int32),
    )


def prepared_search(traversal, source):
    return traversal.search(np.array([source]), DEFAULT)


def ready_graph(frame, n):
    """Ours, ready to be searched."""
    graph = as_graph(frame, vertices=n, directed=False)
    return graph, choose("cupy").engine.prepare(graph, "direction-optimizing")


def builders(frame, n):
    return {
        "rapids_bfs": partial(ready_graph, frame, n),
        "rapids_bfs, CSR alone": partial(as_graph, frame, vertices=n, directed=False),
        "cugraph.Graph": partial(cugraph_graph, frame, n),
        "cugraph.Graph, symmetrize=False": partial(cugraph_graph, frame, n, symmetrize=False),
        "pylibcugraph.SGGraph": partial(sg_graph, frame, n, renumber=True),
        "pylibcugraph.SGGraph, renumber=False": partial(sg_graph, frame, n, renumber=False),
    }


def build_rows(frame, n, label):
    """Times and peaks of every way from the frame to a graph."""
    rows = []
    for name, build in builders(frame, n).items():
        times = [milliseconds(build) for _ in range(1 + REPEATS)][1:]
        with rmm.statistics.statistics():
            build()
            wait()
            peak = rmm.statistics.get_statistics().peak_bytes
        rows.append({"from": label, "what": name, "ms": times, "median_ms": median(times), "peak_bytes": peak})
        print(f"    {label:14}{name:40}{median(times):10.2f} ms {peak / 2**30:8.2f} GiB", flush=True)
    return rows


def pylibcugraph_search(handle, graph, direction_optimizing, source):
    sources = cupy.array([source], np.int32)
    return pylibcugraph.bfs(handle, graph._plc_graph, sources, direction_optimizing, -1, True, False)


def measure(spec, arguments):
    """Everything about one graph."""
    began = perf_counter()
    kind = spec.partition(":")[0]
    n, frame = edge_frame(spec)
    graph = as_graph(frame, vertices=n, directed=False)
    theirs = cugraph_graph(frame, n)
    handle = pylibcugraph.ResourceHandle()
    candidates = cupy.flatnonzero(graph.degrees).get()
    sources = (
        np.random.default_rng(SEED).choice(candidates, SOURCES.get(kind, arguments.sources), replace=False).tolist()
    )
    peers_sources = sources[: SOURCES_OF_PEERS.get(kind, len(sources))]
    searches = {
        "cugraph": partial(cugraph.bfs, theirs),
        "pylibcugraph": partial(pylibcugraph_search, handle, theirs, False),
        "pylibcugraph:direction-optimizing": partial(pylibcugraph_search, handle, theirs, True),
        "cupy": partial(prepared_search, choose("cupy").traversal(graph)),
        "bfs()": partial(bfs, graph, engine="cupy"),
        "drop-in": partial(drop_in.bfs, theirs),
    }
    print(f"{spec}: {n:,} vertices, {graph.num_arcs:,} arcs, ready after {perf_counter() - began:.1f} s", flush=True)
    agree = same_answers({name: search(sources[0]) for name, search in searches.items()})
    times = {
        name: [milliseconds(partial(search, source)) for source in (peers_sources if name in PEERS else sources)]
        for name, search in searches.items()
    }
    medians = {name: median(found) for name, found in times.items()}
    print("    " + ", ".join(f"{name} {ms:.3f} ms" for name, ms in medians.items()) + f"; agree: {agree}", flush=True)
    del searches, theirs, graph
    builds = [] if arguments.searches_only else build_rows(frame, n, "sorted")
    if spec == SHUFFLED and builds:
        cupy.random.seed(SEED)
        order = cupy.random.permutation(len(frame))
        frame = cudf.DataFrame({name: frame[name].values[order] for name in frame.columns})
        del order
        builds += build_rows(frame, n, "shuffled")
    return {
        "graph": spec,
        "vertices": n,
        "arcs": len(frame),
        "sources": sources,
        "sources_of_peers": len(peers_sources),
        "agree": agree,
        "ms": times,
        "median_ms": medians,
        "builds": builds,
    }


def same_answers(found):
    """Do all have the same distances? Each has been searched once, and is warm."""
    expected = found["cugraph"].sort_values("vertex")["distance"].values
    answers = [found["drop-in"]["distance"].values]
    answers.append(cupy.where(found["bfs()"].distances < 0, np.iinfo(np.int32).max, found["bfs()"].distances))
    for name in PEERS[1:]:
        distances, _, vertices = found[name]
        answers.append(distances[cupy.argsort(vertices)])
    return all(bool((answer == expected).all()) for answer in answers)


def karate(arguments):
    """Median microseconds of a call on 34 vertices; `profile_dropin.py` says where they go."""
    edges = np.array(nx.karate_club_graph().edges, np.int32).T
    graph = cugraph.Graph()
    graph.from_cudf_edgelist(cudf.DataFrame({"src": edges[0], "dst": edges[1]}), source="src", destination="dst")
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
        print(f"    karate {name:42}{times[name]:10.1f} us", flush=True)
    return times


def table(graphs):
    """The medians, and how many times as fast ours are as the peers."""
    best = "best pylibcugraph"
    print(f"\n{'graph':12}" + "".join(f"{name[:20]:>22}" for name in (*PEERS, *OURS)))
    ratios = {}
    for each in graphs:
        found = each["median_ms"]
        print(f"{each['graph']:12}" + "".join(f"{found[name]:22.3f}" for name in (*PEERS, *OURS)))
        peers = {"cugraph": found["cugraph"], best: min(found[name] for name in PEERS[1:])}
        for ours in OURS:
            for peer, ms in peers.items():
                ratios.setdefault(f"{ours} over {peer}", []).append(ms / found[ours])
    means = {name: geometric_mean(each) for name, each in ratios.items()}
    for name, mean in means.items():
        print(f"{name}: {mean:.1f}x in the geometric mean; {', '.join(f'{each:.1f}' for each in ratios[name])}")
    return means


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS, metavar="graph")
    parser.add_argument("--sources", type=int, default=32)
    parser.add_argument("--searches-only", action="store_true", help="build no graph twice")
    parser.add_argument("--pool", action="store_true", help="give RMM a pool of the device's memory")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.pool:
        free = cupy.cuda.Device().mem_info[0]
        rmm.mr.set_current_device_resource(
            rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=free * 9 // 10 // 256 * 256)
        )
    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    small = karate(arguments)
    graphs = [measure(spec, arguments) for spec in arguments.graphs]
    print(f"\n{card}, median ms, call to synchronised answer")
    means = table(graphs)
    if arguments.json:
        report = {
            "card": card,
            "date": datetime.now(UTC).date().isoformat(),
            "versions": machine.versions(),
            "pool": arguments.pool,
            "graphs": graphs,
            "geometric_means": means,
            "karate_us": small,
        }
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
