"""Neighbourhoods and ego graphs of many vertices, beside igraph on the CPU and cuGraph on the GPU."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from rapids_bfs import load
from rapids_bfs._core.rapids import package_missing
from rapids_bfs.algorithms.neighborhoods import iter_ego_graphs, neighborhoods

from .cases import Case, expect, say
from .many_sources import SEED, drawn
from .record import Record
from .tables import Table, code, middle
from .timing import clock, device_wait, in_fair_turns

CENTERS, HOPS = 64, 2
DEGREE = 4  # edges of each vertex of a Barabasi-Albert graph
CPU_GRAPHS = ("ba:5000", "ba:20000", "wordnet", "moby", "grid:700")
LONG_S = 2.0


def on_cpu(graphs=CPU_GRAPHS, *, seconds=2.0) -> Iterator[Record]:
    """Milliseconds for the vertices within 2 hops of 64 centres, in turns with igraph, from ids to arrays (igraph: to
    lists)."""
    import igraph  # takes seconds

    found = []
    for spec in graphs:
        graph = drawn(spec, DEGREE)
        theirs = igraph.Graph(graph.num_vertices, np.stack(graph.vertex_pairs(), axis=1), directed=graph.directed)
        centers = graph.sample_sources(CENTERS, SEED).tolist()
        calls = {
            "cpu": partial(neighborhoods, graph, centers, HOPS),
            "igraph": partial(theirs.neighborhood, centers, HOPS, mode="out"),
        }
        near, lists = calls["cpu"](), calls["igraph"]()
        expect([sorted(ids.tolist()) for ids, _ in near] == list(map(sorted, lists)), f"{spec}, igraph's")
        say(spec)
        times = in_fair_turns(calls, seconds, 5, LONG_S, _failed)
        found.append({"graph": spec, "arcs": graph.num_arcs, "reached": len(near.vertices), "times_ms": times})
        yield {"centers": CENTERS, "hops": HOPS, "graphs": found}


def _failed(name: str, error: Exception) -> None:
    raise error


def cpu_table(record: Record) -> Table:
    return "graph | vertices reached | `cpu` | igraph", (
        [code(each["graph"]), each["reached"], *(middle(each["times_ms"][name]) for name in ("cpu", "igraph"))]
        for each in record["graphs"]
    )


def on_gpu(graphs=("rmat:20",), *, centers=10_000, few=100) -> Iterator[Record]:
    """Seconds for the ego graphs of 2 hops of many vertices, batch by batch, each dropped; for cuGraph scaled up from
    ``few`` of them."""
    found = []
    for spec in graphs:
        graph = load(spec, device="cuda")
        wait = device_wait()
        sources = graph.sample_sources(centers, SEED)
        whole = partial(_arcs_around, graph, sources)
        whole()  # compiles
        say(f"{spec}, cupy")
        seconds, (batches, sizes) = clock(whole, wait)
        row = {"graph": spec, "centers": len(sources), "batches": batches, "arcs": int(sizes.sum()), "cupy_s": seconds}
        if package_missing("cugraph") is None:
            say(f"{spec}, cugraph")
            took, theirs = _by_cugraph(graph, sources[:few], wait)
            expect(np.array_equal(theirs, sizes[:few]), f"{spec}, cuGraph's arcs")
            row |= {"cugraph_s": took * len(sources) / len(theirs), "cugraph_centers": len(theirs)}
        found.append(row)
        yield {"hops": HOPS, "graphs": found}


def _arcs_around(graph, sources) -> tuple[int, np.ndarray]:
    """How many batches there are, and the arcs of each ego graph."""
    sizes = [np.diff(batch.offsets) for batch in iter_ego_graphs(graph, sources, HOPS)]
    return len(sizes), np.concatenate(sizes)


def _by_cugraph(graph, sources, wait) -> tuple[float, np.ndarray]:
    """Seconds of a loop over `cugraph.ego_graph`, and the arcs of each."""
    import cugraph

    from rapids_bfs.adapters.cugraph import to_cugraph

    theirs = to_cugraph(graph.simple, labels=False)
    cugraph.ego_graph(theirs, int(sources[0]), radius=HOPS)  # renumbers

    def loop():  # all of them at once do not fit
        return [cugraph.ego_graph(theirs, int(source), radius=HOPS).number_of_edges() for source in sources]

    seconds, edges = clock(loop, wait)
    return seconds, 2 * np.array(edges)


def gpu_table(record: Record) -> Table:
    return "graph | ego graphs | batches | arcs | `cupy`, s | `cugraph.ego_graph` in a loop, s", (
        [code(row["graph"]), *(row.get(key) for key in ("centers", "batches", "arcs", "cupy_s", "cugraph_s"))]
        for row in record["graphs"]
    )


CASES = [
    Case("neighborhoods", "2 hops of 64 vertices on the CPU, beside igraph", on_cpu, cpu_table),
    Case("ego-graphs", "ego graphs of 2 hops on the GPU, beside cuGraph", on_gpu, gpu_table, ("GPU",)),
]
