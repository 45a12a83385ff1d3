"""What people ask a BFS library all day, beside igraph, NetworKit and rustworkx where these are installed.

A search of a tiny graph; paths between two vertices; everything within two hops; connected components; the exact
diameter; and from every vertex to every other, of graphs that are not large, closeness, eccentricity and betweenness.
Each question is asked often, in turns: first by us, then by each peer, and again. For each there are the
median, the quartiles and the best, of the time that passes and of the time that cores work. On a machine that others
use the second is the one to compare.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import networkx as nx
import numpy as np

import rapids_bfs
from rapids_bfs import as_graph, load
from rapids_bfs._core.machine import describe, usable_cores

ASKED = 64  # pairs, or vertices, in a question
MOST_FOR_ALL = 6_000  # vertices; igraph searches from each for the diameter
ALL_PAIRS = ("closeness", "eccentricity", "betweenness")
PEERS = ("igraph", "networkit", "rustworkx")
Question = Callable[[], Any]


def ours(graph: Any, pairs: list[list[int]]) -> dict[str, Question]:
    def paths() -> None:
        for pair in pairs:
            with suppress(rapids_bfs.NoPathError):
                rapids_bfs.shortest_path(graph, *pair)

    return {
        "bfs": lambda: rapids_bfs.bfs(graph, 0, engine="cpu"),
        "paths": paths,
        "hops": lambda: [rapids_bfs.bfs(graph, source, depth_limit=2, engine="cpu") for source, _ in pairs],
        "components": lambda: rapids_bfs.connected_components(graph),
        "diameter": lambda: rapids_bfs.diameter(graph, engine="cpu"),
        "closeness": lambda: closeness(rapids_bfs.bfs_batch(graph, keep="summary", engine="cpu")),
        "eccentricity": lambda: rapids_bfs.eccentricity(graph, engine="cpu"),
        "betweenness": lambda: rapids_bfs.betweenness(graph, engine="cpu"),
    }


def closeness(found: rapids_bfs.BatchResult) -> Any:
    return np.divide(found.reached - 1, found.total, out=np.zeros(len(found.total)), where=found.total > 0)


def igraph(graph: Any, pairs: list[list[int]]) -> dict[str, Question]:
    import igraph

    theirs = igraph.Graph(n=graph.num_vertices, edges=np.stack(graph.vertex_pairs(), axis=1))
    return {
        "bfs": lambda: theirs.bfs(0),
        "paths": lambda: [theirs.get_shortest_path(*pair) for pair in pairs],
        "hops": lambda: theirs.neighborhood([source for source, _ in pairs], 2),
        "components": lambda: theirs.connected_components(),
        "diameter": lambda: theirs.diameter(),
        "closeness": lambda: theirs.closeness(),
        "eccentricity": lambda: theirs.eccentricity(),
        "betweenness": lambda: theirs.betweenness(),
    }


def networkit(graph: Any, pairs: list[list[int]]) -> dict[str, Question]:
    import networkit

    networkit.setNumberOfThreads(usable_cores())
    ends = [each.astype(np.uint64) for each in graph.vertex_pairs()]
    theirs = networkit.GraphFromCoo((np.ones(len(ends[0])), tuple(ends)), n=graph.num_vertices)
    largest = networkit.components.ConnectedComponents.extractLargestConnectedComponent(theirs, True)

    def run(algorithm: Any) -> Any:
        return algorithm.run()

    return {
        "bfs": lambda: run(networkit.distance.BFS(theirs, 0, storePaths=False)).getDistances(),
        "paths": lambda: [run(networkit.distance.BidirectionalBFS(theirs, *pair)).getPath() for pair in pairs],
        "components": lambda: run(networkit.components.ConnectedComponents(theirs)).getPartition(),
        "diameter": lambda: run(
            networkit.distance.Diameter(largest, networkit.distance.DiameterAlgo.EXACT)
        ).getDiameter(),
        "closeness": lambda: run(
            networkit.centrality.Closeness(theirs, False, networkit.centrality.ClosenessVariant.GENERALIZED)
        ).scores(),
        "eccentricity": lambda: [networkit.distance.Eccentricity.getValue(theirs, v) for v in theirs.iterNodes()],
        "betweenness": lambda: run(networkit.centrality.Betweenness(theirs)).scores(),
    }


def rustworkx(graph: Any, pairs: list[list[int]]) -> dict[str, Question]:
    import rustworkx

    theirs = rustworkx.PyGraph(multigraph=False)
    theirs.add_nodes_from(range(graph.num_vertices))
    theirs.add_edges_from_no_data(list(zip(*(each.tolist() for each in graph.vertex_pairs()), strict=True)))
    return {
        "bfs": lambda: rustworkx.bfs_layers(theirs, [0]),
        "paths": lambda: [rustworkx.dijkstra_shortest_paths(theirs, *pair) for pair in pairs],
        "components": lambda: rustworkx.connected_components(theirs),
        "closeness": lambda: rustworkx.closeness_centrality(theirs),
        "betweenness": lambda: rustworkx.betweenness_centrality(theirs),
    }


def measured(askers: dict[str, Question], seconds: float) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of each run, by asker: on the clock and of cores. Turns last about so many seconds in all."""
    times: dict[str, dict[str, list[float]]] = {name: {"wall": [], "cores": []} for name in askers}
    for ask in askers.values():
        ask()  # compiles, prepares, and fills caches
    begin = perf_counter()
    while perf_counter() - begin < seconds or len(next(iter(times.values()))["wall"]) < 3:
        for name, ask in askers.items():
            wall, cores = perf_counter(), process_time()
            ask()
            times[name]["cores"].append(1e3 * (process_time() - cores))
            times[name]["wall"].append(1e3 * (perf_counter() - wall))
    return times


def summarized(times: list[float]) -> dict[str, float]:
    low, median, high = np.quantile(times, (0.25, 0.5, 0.75)).tolist()
    return {"best_ms": min(times), "low_ms": low, "median_ms": median, "high_ms": high, "runs": len(times)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--graphs", nargs="*", default=["karate", "ba:5000", "ba:20000", "wordnet"])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each question, at least")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    report: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": describe(),
        "versions": {},
        "rows": [],
    }
    askers = [ours]
    for name in PEERS:
        with suppress(ImportError):
            import_module(name)
            report["versions"][name] = version(name)
            askers.append(globals()[name])

    for spec in arguments.graphs:
        size = spec.partition("ba:")[2]
        graph = as_graph(nx.barabasi_albert_graph(int(size), 4, seed=1)) if size else load(spec)
        pairs = np.random.default_rng(3).integers(0, graph.num_vertices, (ASKED, 2)).tolist()
        by_asker = {each.__name__: each(graph, pairs) for each in askers}
        print(f"{spec}: {graph.num_vertices:,} vertices, {graph.num_edges:,} edges; ms, median (quartiles) of cores")
        for question in by_asker["ours"]:
            if question in ALL_PAIRS and graph.num_vertices > MOST_FOR_ALL:
                continue
            asked = {name: questions[question] for name, questions in by_asker.items() if question in questions}
            if question == "diameter" and graph.num_vertices > MOST_FOR_ALL:
                asked.pop("igraph", None)
            for name, times in measured(asked, arguments.seconds).items():
                row = {kind: summarized(each) for kind, each in times.items()}
                report["rows"].append({"graph": spec, "question": question, "asked": name} | row)
                cores = row["cores"]
                print(
                    f"  {question:13}{name:12}{cores['median_ms']:10.3f}"
                    f" ({cores['low_ms']:.3f} to {cores['high_ms']:.3f}); clock {row['wall']['median_ms']:.3f}",
                    flush=True,
                )
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
