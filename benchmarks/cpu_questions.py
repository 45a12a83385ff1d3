"""What `bench_cpu.py` asks the CPU engine, SciPy, and igraph, NetworKit, rustworkx, GraphBLAS and GAPBS where they are.

`QUESTIONS` has the graphs by name and what is asked of each: a function of the graph that returns how each answers, by
name. GAPBS and other programs take their own time, of one run or many, and return it as `Seconds`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from time import time
from typing import Any

import networkx as nx
import numba
import numpy as np

import rapids_bfs
from rapids_bfs import as_graph, load
from rapids_bfs.engines import Options, resolve

SEED = 1
SOURCES = 16  # of searches, in turn
ASKED = 64  # vertices or pairs in a question about several
OFTEN = 100  # times that a question about a tiny graph is asked in a run
FEW_ARCS = 1 << 22  # building other libraries' graphs takes seconds for more
GAPBS_RUNS = 20
SERIALIZED = "graph.sg"
GATHERED = ", one thread"
Run = Callable[[], Any]


class Seconds(list[float]):
    """Of each of the runs that somebody else has timed."""


def one_thread(run: Run) -> Run:
    def limited() -> None:
        allowed = numba.get_num_threads()
        numba.set_num_threads(1)
        try:
            run()
        finally:
            numba.set_num_threads(allowed)

    return limited


def with_threads(run: Run) -> dict[str, Run]:
    return {"cpu": run, "cpu" + GATHERED: one_thread(run)}


def graph_of(spec: str) -> Any:
    """A graph by name; ba:N is NetworkX's Barabasi-Albert graph with four edges for each new vertex."""
    size = spec.partition("ba:")[2]
    return as_graph(nx.barabasi_albert_graph(int(size), 4, seed=SEED)) if size else load(spec).replace(labels=None)


class Communicator:
    """A graph as other libraries have it, as far as they are installed; their files lie in ``folder``."""

    def __init__(self, graph: Any, folder: Path, gapbs: Path | None) -> None:
        self.folder, self.gapbs = folder, gapbs
        self.igraph = self.networkit = self.rustworkx = None
        if gapbs:
            graph.save(folder / SERIALIZED)
        if graph.num_arcs > FEW_ARCS:
            return
        ends = graph.vertex_pairs()
        if find_spec("igraph"):
            import igraph

            self.igraph = igraph.Graph(n=graph.num_vertices, edges=np.stack(ends, axis=1))
        if find_spec("networkit"):
            import networkit

            pairs = tuple(each.astype(np.uint64) for each in ends)
            self.networkit = networkit.GraphFromCoo((np.ones(len(pairs[0])), pairs), n=graph.num_vertices)
        if find_spec("rustworkx"):
            import rustworkx

            self.rustworkx = rustworkx.PyGraph(multigraph=False)
            self.rustworkx.add_nodes_from(range(graph.num_vertices))
            self.rustworkx.add_edges_from_no_data(list(zip(*(each.tolist() for each in ends), strict=True)))

    def gap(self, program: str, *options: str) -> Run:
        def run() -> Seconds:
            command = [str(self.gapbs / program), "-f", str(self.folder / SERIALIZED), *options]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            return Seconds(float(each) for each in re.findall(r"Trial Time: +([\d.]+)", said))

        return run


Ask = Callable[[Any, Communicator], dict[str, Run]]


def search(graph: Any, peers: Communicator) -> dict[str, Run]:
    """Searches from one vertex after the other, engines prepared."""
    rng = np.random.default_rng(SEED)
    sources = cycle(rng.choice(np.flatnonzero(graph.degrees), SOURCES).reshape(-1, 1))

    def by(name: str) -> Run:
        traversal, options = resolve(name).traversal(graph), Options()
        return lambda: traversal.search(next(sources), options)

    runs = with_threads(by("cpu")) | {"cpu:sequential": by("cpu:sequential"), "scipy": by("scipy")}
    if find_spec("graphblas"):
        runs["graphblas"] = by("graphblas")
    if peers.igraph:
        runs["igraph"] = lambda: peers.igraph.bfs(int(next(sources)[0]))
    if peers.networkit:
        from networkit.distance import BFS

        runs["networkit, distances"] = lambda: BFS(peers.networkit, int(next(sources)[0]), storePaths=False).run()
    if peers.rustworkx:
        runs["rustworkx, distances"] = lambda: _layers(peers.rustworkx, int(next(sources)[0]))
    if peers.gapbs:
        runs["GAPBS, parents"] = peers.gap("bfs", "-n", str(GAPBS_RUNS))
    return runs


def _layers(graph: Any, source: int) -> Any:
    import rustworkx

    return rustworkx.bfs_layers(graph, [source])


def tiny(graph: Any, peers: Communicator) -> dict[str, Run]:
    """The same search as the user calls it, many times."""
    matrix = graph.to("scipy")
    from scipy.sparse.csgraph import breadth_first_order

    once: dict[str, Run] = {
        "cpu": lambda: rapids_bfs.bfs(graph, 0, engine="cpu"),
        "scipy": lambda: breadth_first_order(matrix, 0),
    }
    if peers.igraph:
        once["igraph"] = lambda: peers.igraph.bfs(0)
    if peers.networkit:
        from networkit.distance import BFS

        once["networkit, distances"] = lambda: BFS(peers.networkit, 0, storePaths=False).run()
    if peers.rustworkx:
        once["rustworkx, distances"] = lambda: _layers(peers.rustworkx, 0)
    return {name: lambda run=run: [run() for _ in range(OFTEN)] for name, run in once.items()}


def paths(graph: Any, peers: Communicator) -> dict[str, Run]:
    pairs = np.random.default_rng(3).integers(0, graph.num_vertices, (ASKED, 2)).tolist()

    def ours() -> None:
        for pair in pairs:
            with suppress(rapids_bfs.NoPathError):
                rapids_bfs.shortest_path(graph, *pair)

    runs: dict[str, Run] = {"cpu": ours}
    if peers.igraph:
        runs["igraph"] = lambda: [peers.igraph.get_shortest_path(*pair) for pair in pairs]
    if peers.networkit:
        from networkit.distance import BidirectionalBFS

        runs["networkit"] = lambda: [BidirectionalBFS(peers.networkit, *pair).run().getPath() for pair in pairs]
    return runs


def hops(graph: Any, peers: Communicator) -> dict[str, Run]:
    sources = np.random.default_rng(3).integers(0, graph.num_vertices, ASKED).tolist()
    runs: dict[str, Run] = {
        "cpu": lambda: [rapids_bfs.bfs(graph, source, depth_limit=2, engine="cpu") for source in sources]
    }
    if peers.igraph:
        runs["igraph"] = lambda: peers.igraph.neighborhood(sources, 2)
    return runs


def components(graph: Any, peers: Communicator) -> dict[str, Run]:
    runs = with_threads(lambda: rapids_bfs.connected_components(graph))
    if peers.igraph:
        runs["igraph"] = lambda: peers.igraph.connected_components()
    if peers.networkit:
        from networkit.components import ConnectedComponents

        runs["networkit"] = lambda: ConnectedComponents(peers.networkit).run().getPartition()
    if peers.rustworkx:
        import rustworkx

        runs["rustworkx"] = lambda: rustworkx.connected_components(peers.rustworkx)
    if peers.gapbs:
        runs["GAPBS"] = peers.gap("cc", "-n", str(GAPBS_RUNS))
    return runs


def diameter(graph: Any, peers: Communicator) -> dict[str, Run]:
    runs = with_threads(lambda: rapids_bfs.diameter(graph, engine="cpu"))
    if peers.networkit:
        from networkit.components import ConnectedComponents
        from networkit.distance import Diameter, DiameterAlgo

        largest = ConnectedComponents.extractLargestConnectedComponent(peers.networkit, True)
        runs["networkit"] = lambda: Diameter(largest, DiameterAlgo.EXACT).run().getDiameter()
    return runs


def closeness(graph: Any, peers: Communicator) -> dict[str, Run]:
    def ours() -> Any:
        found = rapids_bfs.bfs_batch(graph, keep="summary", engine="cpu")
        return np.divide(found.reached - 1, found.total, out=np.zeros(len(found.total)), where=found.total > 0)

    runs = with_threads(ours)
    if peers.igraph:
        runs["igraph"] = lambda: peers.igraph.closeness()
    if peers.networkit:
        from networkit.centrality import Closeness, ClosenessVariant

        runs["networkit"] = lambda: Closeness(peers.networkit, False, ClosenessVariant.GENERALIZED).run().scores()
    if peers.rustworkx:
        import rustworkx

        runs["rustworkx"] = lambda: rustworkx.closeness_centrality(peers.rustworkx)
    return runs


def eccentricity(graph: Any, peers: Communicator) -> dict[str, Run]:
    runs = with_threads(lambda: rapids_bfs.eccentricity(graph, engine="cpu"))
    if peers.igraph:
        runs["igraph"] = lambda: peers.igraph.eccentricity()
    return runs


def betweenness(graph: Any, peers: Communicator) -> dict[str, Run]:
    runs = with_threads(lambda: rapids_bfs.betweenness(graph, engine="cpu"))
    if peers.igraph:
        runs["igraph"] = lambda: peers.igraph.betweenness()
    if peers.networkit:
        from networkit.centrality import Betweenness

        runs["networkit"] = lambda: Betweenness(peers.networkit).run().scores()
    if peers.rustworkx:
        import rustworkx

        runs["rustworkx"] = lambda: rustworkx.betweenness_centrality(peers.rustworkx)
    return runs


def some_betweenness(graph: Any, peers: Communicator) -> dict[str, Run]:
    sources = np.random.default_rng(SEED).choice(np.flatnonzero(graph.degrees), ASKED).tolist()
    runs = with_threads(lambda: rapids_bfs.betweenness(graph, sources, engine="cpu"))
    if peers.networkit:
        from networkit.centrality import EstimateBetweenness

        runs["networkit"] = lambda: EstimateBetweenness(peers.networkit, ASKED, parallel=True).run().scores()
    if peers.gapbs:
        runs["GAPBS"] = peers.gap("bc", "-i", str(ASKED), "-n", "1")
    return runs


def many(keep: str) -> Ask:
    def batch(graph: Any, peers: Communicator) -> dict[str, Run]:
        sources = np.random.default_rng(SEED).choice(np.flatnonzero(graph.degrees), ASKED).tolist()
        return with_threads(lambda: rapids_bfs.bfs_batch(graph, sources, keep=keep, engine="cpu"))

    return batch


# Programs for a process of its own, which print the seconds that they took: from its start, or once they have `pairs`.
HEAD = """import sys
from time import time
import numpy as np
pairs, began = np.load(sys.argv[1]), float(sys.argv[2]) or time()
"""
TAIL = "\nprint(time() - began)"
TO_GRAPH = {
    "cpu": "import rapids_bfs; rapids_bfs.as_graph(tuple(pairs))",
    "scipy": """from scipy.sparse import coo_array
ends, n = (np.concatenate(pairs), np.concatenate(pairs[::-1])), pairs.max() + 1
coo_array((np.ones(len(ends[0])), ends), (n, n)).tocsr()""",
    "graphblas": """from graphblas import Matrix
Matrix.from_coo(np.concatenate(pairs), np.concatenate(pairs[::-1]), True)""",
}
TO_ANSWER = {
    "cpu": "import rapids_bfs; rapids_bfs.bfs(tuple(pairs), 0)",
    "cpu, by name": "import rapids_bfs; rapids_bfs.bfs('wordnet', 'entity.n.01')",
    "scipy": """from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order
n = pairs.max() + 1
breadth_first_order(coo_array((np.ones(len(pairs[0])), tuple(pairs)), (n, n)).tocsr(), 0, directed=False)""",
    "igraph": "import igraph; igraph.Graph(edges=pairs.T).bfs(0)",
    "networkit": """import networkit
graph = networkit.GraphFromCoo((np.ones(len(pairs[0])), tuple(pairs.astype(np.uint64))), n=pairs.max() + 1)
networkit.distance.BFS(graph, 0).run()""",
    "rustworkx": """import rustworkx
graph = rustworkx.PyGraph()
graph.extend_from_edge_list(list(zip(*pairs.tolist())))
rustworkx.bfs_layers(graph, [0])""",
}


def in_processes(programs: dict[str, str], *, from_start: bool) -> Ask:
    """Each program in a process of its own, its modules' code on disk and kernels compiled."""

    def ask(graph: Any, peers: Communicator) -> dict[str, Run]:
        edges = peers.folder / "edges.npy"
        np.save(edges, np.stack(graph.vertex_pairs()))

        def run(program: str) -> Seconds:
            command = [sys.executable, "-c", HEAD + program + TAIL, str(edges), str(time() if from_start else 0)]
            return Seconds([float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)])

        return {
            name: partial(run, program)
            for name, program in programs.items()
            if name.startswith("cpu") or find_spec(name)
        }

    return ask


QUESTIONS: list[tuple[str, dict[str, Ask]]] = [
    ("karate", {f"{OFTEN} searches by bfs()": tiny}),
    ("moby", {"search": search}),
    ("rmat:20", {"search": search, "edges to graph": in_processes(TO_GRAPH, from_start=False)}),
    ("urand:20", {"search": search}),
    ("grid:1000", {"search": search}),
    (
        "wordnet",
        {
            "process to answer": in_processes(TO_ANSWER, from_start=True),
            "search": search,
            f"{ASKED} paths": paths,
            "components": components,
            "diameter": diameter,
            f"betweenness from {ASKED}": some_betweenness,
        },
    ),
    (
        "ba:5000",
        {
            f"{ASKED} paths": paths,
            f"2 hops of {ASKED}": hops,
            "components": components,
            "closeness": closeness,
            "eccentricity": eccentricity,
        },
    ),
    ("ba:20000", {f"{ASKED} paths": paths, f"2 hops of {ASKED}": hops, "components": components}),
    ("rmat:16", {f"distances from {ASKED}": many("distances"), f"sums from {ASKED}": many("summary")}),
    ("rmat:18", {f"betweenness from {ASKED}": some_betweenness}),
    ("ba:5000", {"betweenness": betweenness}),  # takes others seconds
]
