"""The functions of `rapids_bfs.cugraph` beside cuGraph's, on the same `cugraph.Graph` with gaps in its ids."""

import warnings
from collections.abc import Iterator
from functools import partial
from statistics import median

import numpy as np

from rapids_bfs import cugraph as drop_in

from .cases import Case, say
from .rapids import WITH, cugraph_graph, edge_frame, ids_of, start_pool
from .record import Record
from .tables import Table, code
from .timing import device_wait, one_by_one

GRAPHS = ("rmat:16", "rmat:20")
SEEDS = 16  # of ego graphs, of few edges: those of hubs do not fit into cuGraph
TWO_HOP_SEEDS = 4  # of two-hop neighbours, whose number cuGraph counts in 32 bits
RUNS = 5  # of each, after one that is not counted


def drop_in_functions(graphs=GRAPHS, *, sources=64, pool=True) -> Iterator[Record]:
    """Median milliseconds. cuGraph has no `multi_source_bfs`: a loop over its `bfs` stands in, without joining frames.
    The unit weights that its shortest paths need are made beforehand. Calls that fail in cuGraph have no time."""
    if pool:
        start_pool()
    rows = []
    for spec in graphs:
        _, frame = edge_frame(spec)
        graph = cugraph_graph(frame, symmetrize=False)
        weighted = cugraph_graph(frame.assign(weight=np.float32(1)), edge_attr="weight", symmetrize=False)
        for name, (ours, theirs) in _calls(
            graph, weighted, ids_of(frame, sources), _of_few_edges(frame, SEEDS)
        ).items():
            say(f"{spec}: {name}")
            rows.append({"graph": spec, "function": name, "ours": _ms(ours)} | _if_it_can(theirs))
            yield {"pool": pool, "rows": rows}


def _calls(graph, weighted, ids, seeds):
    """Our call and cuGraph's, by the function's name."""
    import cugraph

    options = {"k": ids[:8]}

    def one_after_another():
        for id in ids:
            cugraph.bfs(graph, id)

    both = {
        "betweenness_centrality": lambda library: partial(library.betweenness_centrality, graph, **options),
        "edge_betweenness_centrality": lambda library: partial(library.edge_betweenness_centrality, graph, **options),
        "connected_components": lambda library: partial(library.connected_components, graph),
        "ego_graph": lambda library: partial(library.ego_graph, graph, seeds, 1),
    }
    return {
        "multi_source_bfs": (partial(drop_in.multi_source_bfs, graph, ids), one_after_another),
        "shortest_path_length": (
            partial(drop_in.shortest_path_length, graph, ids[0]),
            partial(cugraph.shortest_path_length, weighted, ids[0]),
        ),
        **{name: (call(drop_in), call(cugraph)) for name, call in both.items()},
        "get_two_hop_neighbors": (
            partial(drop_in.get_two_hop_neighbors, graph, seeds[:TWO_HOP_SEEDS]),
            partial(graph.get_two_hop_neighbors, seeds[:TWO_HOP_SEEDS]),
        ),
    }


def _of_few_edges(frame, count: int) -> list[int]:
    """The ids of the ``count`` vertices with the fewest edges; isolated ones are not in the frame."""
    import cupy

    ids, degrees = cupy.unique(frame["src"].values, return_counts=True)
    ids = ids[cupy.argsort(degrees)[:count]]
    return ids.tolist()


def _if_it_can(theirs) -> Record:
    """cuGraph's time, or why there is none: it may run out of memory, or overflow 32 bits."""
    try:
        return {"cugraph": _ms(theirs)}
    except (RuntimeError, MemoryError) as error:
        return {"cugraph": None, "failed": str(error).partition("\n")[0][:200]}


def _ms(call) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return median(one_by_one([call] * (1 + RUNS), wait=device_wait())[1:])


def functions_table(record: Record) -> Table:
    return "graph | function | median ms | cuGraph's | speed-up", (
        [code(row["graph"]), code(row["function"]), row["ours"], theirs, theirs and theirs / row["ours"]]
        for row in record["rows"]
        for theirs in [row["cugraph"]]
    )


CASES = [
    Case("drop-in-functions", "cuGraph's other functions by one import", drop_in_functions, functions_table, WITH),
]
