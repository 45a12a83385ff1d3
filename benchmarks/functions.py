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
SEEDS = 64  # of ego graphs, and of two-hop neighbours
RUNS = 5  # of each, after one that is not counted


def drop_in_functions(graphs=GRAPHS, *, sources=64, pool=True) -> Iterator[Record]:
    """Median milliseconds. cuGraph has no `multi_source_bfs`: a loop over its `bfs` stands in, without joining frames.
    The weights of 1 that its shortest paths need are made before."""
    if pool:
        start_pool()
    rows = []
    for spec in graphs:
        _, frame = edge_frame(spec)
        graph = cugraph_graph(frame, symmetrize=False)
        weighted = cugraph_graph(frame.assign(weight=np.float32(1)), edge_attr="weight", symmetrize=False)
        for name, (ours, theirs) in _calls(graph, weighted, ids_of(frame, max(sources, SEEDS)), sources).items():
            say(f"{spec}: {name}")
            rows.append({"graph": spec, "function": name} | {"ours": _ms(ours), "cugraph": _ms(theirs)})
            yield {"pool": pool, "rows": rows}


def _calls(graph, weighted, ids, sources):
    """Ours and cuGraph's call by name."""
    import cugraph

    some, seeds, options = ids[:sources], ids[:SEEDS], {"k": ids[:8]}

    def one_after_another():
        for id in some:
            cugraph.bfs(graph, id)

    both = {
        "betweenness_centrality": lambda library: partial(library.betweenness_centrality, graph, **options),
        "edge_betweenness_centrality": lambda library: partial(library.edge_betweenness_centrality, graph, **options),
        "connected_components": lambda library: partial(library.connected_components, graph),
        "ego_graph": lambda library: partial(library.ego_graph, graph, seeds, 1),
    }
    return {
        "multi_source_bfs": (partial(drop_in.multi_source_bfs, graph, some), one_after_another),
        "shortest_path_length": (
            partial(drop_in.shortest_path_length, graph, ids[0]),
            partial(cugraph.shortest_path_length, weighted, ids[0]),
        ),
        **{name: (call(drop_in), call(cugraph)) for name, call in both.items()},
        "get_two_hop_neighbors": (
            partial(drop_in.get_two_hop_neighbors, graph, seeds[:8]),
            partial(graph.get_two_hop_neighbors, seeds[:8]),
        ),
    }


def _ms(call) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return median(one_by_one([call] * (1 + RUNS), wait=device_wait())[1:])


def functions_table(record: Record) -> Table:
    return "graph | function | median ms | cuGraph's | speed-up", (
        [code(row["graph"]), code(row["function"]), row["ours"], row["cugraph"], row["cugraph"] / row["ours"]]
        for row in record["rows"]
    )


CASES = [
    Case("drop-in-functions", "cuGraph's other functions by one import", drop_in_functions, functions_table, WITH),
]
