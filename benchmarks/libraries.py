"""The workloads of the case `cpu`, for our engine, SciPy and, if installed, igraph, NetworKit, rustworkx, GraphBLAS and
GAPBS.

`QUESTIONS` maps each graph's name to its questions. A question is a function of the graph that returns a call for each
engine, by name. GAPBS and the other programs measure their own time, of one run or of many.
"""

import subprocess
import sys
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from time import time

import numba
import numpy as np
from scipy.sparse.csgraph import breadth_first_order

import rapids_bfs
from rapids_bfs.engines import Options, resolve

from .timing import Seconds, run_gapbs

igraph = networkit = rustworkx = None
with suppress(ImportError):
    import igraph
with suppress(ImportError):
    import networkit
with suppress(ImportError):
    import rustworkx

SOURCES = 16  # of searches, in turn
ASKED = 64  # vertices or pairs in a question about several
CALLS_PER_RUN = 100  # times that a question about a tiny graph is asked in a run
MAX_ARCS = 1 << 22  # building other libraries' graphs takes seconds for more
SPINNING = "GAPBS, spinning"  # its threads, where they wait
DISTANCES = {"networkit": "networkit, distances", "rustworkx": "rustworkx, distances"}
DISTANCES |= {"GAPBS": "GAPBS, parents", SPINNING: "GAPBS, parents, spinning"}


class Others:
    """A graph in the forms of the installed libraries; their files are in ``folder``."""

    def __init__(self, graph, folder, gapbs):
        self.folder, self.gapbs, self.graphs = folder, gapbs, {}
        if gapbs:
            graph.save(folder / "graph.sg")
        if graph.num_arcs > MAX_ARCS:
            return
        n, ends = graph.num_vertices, graph.vertex_pairs()
        if igraph:
            self.graphs["igraph"] = igraph.Graph(n=n, edges=np.stack(ends, axis=1))
        if networkit:
            pairs = tuple(each.astype(np.uint64) for each in ends)
            self.graphs["networkit"] = networkit.GraphFromCoo((np.ones(len(pairs[0])), pairs), n=n)
        if rustworkx:
            theirs = self.graphs["rustworkx"] = rustworkx.PyGraph(multigraph=False)
            theirs.add_nodes_from(range(n))
            theirs.add_edges_from_no_data(list(zip(*(each.tolist() for each in ends), strict=True)))

    def __call__(self, gapbs="", names=(), **asked):
        """The call of each installed library by name: a function of its graph; for GAPBS, a program and its options."""
        runs = {name: partial(ask, self.graphs[name]) for name, ask in asked.items() if name in self.graphs}
        if gapbs and self.gapbs:
            runs["GAPBS"] = partial(self.run_gapbs, *gapbs.split())
            runs[SPINNING] = partial(self.run_gapbs, *gapbs.split(), spin=True)
        return {dict(names).get(name, name): run for name, run in runs.items()}

    def run_gapbs(self, program, *options, spin=False) -> Seconds:
        return run_gapbs(f"{self.gapbs}/{program}", "-f", str(self.folder / "graph.sg"), *options, spin=spin)[0]


def with_threads(run):
    """The call on all threads, and on one."""

    def limited():
        allowed = numba.get_num_threads()
        numba.set_num_threads(1)
        try:
            run()
        finally:
            numba.set_num_threads(allowed)

    return {"cpu": run, "cpu, one thread": limited}


def some_vertices(graph, count=ASKED):
    return np.random.default_rng(1).choice(np.flatnonzero(graph.degrees), count)


def search(graph, others):
    """Searches from one vertex after another, with engines prepared."""
    sources = cycle(some_vertices(graph, SOURCES).reshape(-1, 1))

    def by(name):
        traversal, options = resolve(name).traversal(graph), Options()
        return lambda: traversal.search(next(sources), options)

    names = ["cpu:sequential", "scipy", *(["graphblas"] if find_spec("graphblas") else [])]
    return (
        with_threads(by("cpu"))
        | {name: by(name) for name in names}
        | others(
            igraph=lambda theirs: theirs.bfs(int(next(sources)[0])),
            networkit=lambda theirs: networkit.distance.BFS(theirs, int(next(sources)[0]), storePaths=False).run(),
            rustworkx=lambda theirs: rustworkx.bfs_layers(theirs, [int(next(sources)[0])]),
            gapbs="bfs -n 20",
            names=DISTANCES,
        )
    )


def tiny(graph, others):
    """The same search as users call it, many times."""
    ours = {"cpu": lambda: rapids_bfs.bfs(graph, 0, engine="cpu")}
    once = (
        ours
        | {"scipy": partial(breadth_first_order, graph.to("scipy"), 0)}
        | others(
            igraph=lambda theirs: theirs.bfs(0),
            networkit=lambda theirs: networkit.distance.BFS(theirs, 0, storePaths=False).run(),
            rustworkx=lambda theirs: rustworkx.bfs_layers(theirs, [0]),
            names=DISTANCES,
        )
    )
    return {name: lambda run=run: [run() for _ in range(CALLS_PER_RUN)] for name, run in once.items()}


def paths(graph, others):
    """Paths as lists of vertices: in one call here; the other libraries have calls for one pair."""
    pairs = np.random.default_rng(3).integers(0, graph.num_vertices, (ASKED, 2)).tolist()
    ends = tuple(map(list, zip(*pairs, strict=True)))
    return with_threads(lambda: list(rapids_bfs.shortest_paths(graph, *ends))) | others(
        igraph=lambda theirs: [theirs.get_shortest_path(*pair) for pair in pairs],
        networkit=lambda theirs: [networkit.distance.BidirectionalBFS(theirs, *pair).run().getPath() for pair in pairs],
    )


def hops(graph, others):
    sources = np.random.default_rng(3).integers(0, graph.num_vertices, ASKED).tolist()
    return with_threads(lambda: rapids_bfs.neighborhoods(graph, sources, 2)) | others(
        igraph=lambda theirs: theirs.neighborhood(sources, 2)
    )


def components(graph, others):
    return with_threads(lambda: rapids_bfs.connected_components(graph)) | others(
        igraph=lambda theirs: theirs.connected_components(),
        networkit=lambda theirs: networkit.components.ConnectedComponents(theirs).run().getPartition(),
        rustworkx=lambda theirs: rustworkx.connected_components(theirs),
        gapbs="cc -n 20",
    )


def diameter(graph, others):
    if theirs := others.graphs.get("networkit"):
        largest = networkit.components.ConnectedComponents.extractLargestConnectedComponent(theirs, True)
        exact = networkit.distance.DiameterAlgo.EXACT
    return with_threads(lambda: rapids_bfs.diameter(graph, engine="cpu")) | others(
        networkit=lambda _: networkit.distance.Diameter(largest, exact).run().getDiameter()
    )


def betweenness(graph, others):
    """Betweenness from some vertices."""
    sources = some_vertices(graph).tolist()
    return with_threads(lambda: rapids_bfs.betweenness(graph, sources, engine="cpu")) | others(
        networkit=lambda theirs: networkit.centrality.EstimateBetweenness(theirs, ASKED, parallel=True).run().scores(),
        gapbs=f"bc -i {ASKED} -n 1",
    )


# Programs for a process of its own, which print the seconds since its start.
HEAD = "import sys, time, numpy as np; pairs = np.load(sys.argv[1])\n"
TAIL = "\nprint(time.time() - float(sys.argv[2]))"
PROGRAMS = {
    "cpu": "import rapids_bfs; rapids_bfs.bfs(tuple(pairs), 0)",
    "cpu, by name": "import rapids_bfs; rapids_bfs.bfs('wordnet', 'dog.n.01')",
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


def process(graph, others):
    """From the start of a process to its answer, with bytecode on disk and kernels compiled."""
    edges = others.folder / "edges.npy"
    np.save(edges, np.stack(graph.vertex_pairs()))

    def run(program) -> Seconds:
        command = [sys.executable, "-c", HEAD + program + TAIL, str(edges), str(time())]
        return Seconds([float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)])

    here = (name for name in PROGRAMS if name.startswith("cpu") or find_spec(name))
    return {name: partial(run, PROGRAMS[name]) for name in here}


FEW = {f"{ASKED} paths": paths, f"2 hops of {ASKED}": hops, "components": components}
WHOLE = {"components": components, "diameter": diameter}
SOME = {f"betweenness from {ASKED}": betweenness}
QUESTIONS = [
    ("karate", {f"{CALLS_PER_RUN} searches by bfs()": tiny}),
    ("moby", {"search": search}),
    ("rmat:20", {"search": search}),
    ("urand:20", {"search": search}),
    ("grid:1000", {"search": search}),
    ("wordnet", {"process to answer": process, "search": search, f"{ASKED} paths": paths} | WHOLE | SOME),
    ("ba:5000", FEW),
    ("ba:20000", FEW),
    ("rmat:18", {"search": search} | SOME),
    ("urand:18", {"search": search, "components": components}),
    ("delaunay:16", {"search": search}),
]
