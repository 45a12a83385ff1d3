"""The NetworkX backend beside nx-cugraph, on a machine with a GPU and RAPIDS: every function that both have.

    python3 benchmarks/bench_nx_cugraph.py --json FILE

Seconds with the conversion cached and the answer consumed in full, the best of a few runs: ours by each engine of
``--engines``, nx-cugraph's, and with ``--networkx`` NetworkX's own. nx-cugraph has an order of its own, so that only
the number of an answer's items is compared.
"""

import argparse
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

import networkx as nx
import record

from rapids_bfs.nx import routing

OURS, THEIRS = "rapids_bfs", "cugraph"
ENOUGH_S, MAX_RUNS = 0.5, 5  # of one call, but
AT_LEAST_S, LEAST_RUNS = 3.0, 3  # so many of one that takes less: the garbage collector may come by in one of them
VERSIONS = ("networkx", "nx-cugraph-cu13", "nx-cugraph-cu12", "pylibcugraph-cu13", "pylibcugraph-cu12", "cupy-cuda13x")

FROM_ONE = (
    *("bfs_edges", "bfs_tree", "bfs_predecessors", "bfs_successors", "bfs_layers", "generic_bfs_edges"),
    *("single_source_shortest_path", "single_source_shortest_path_length"),
    *("single_target_shortest_path", "single_target_shortest_path_length"),
    *("shortest_path", "shortest_path_length", "descendants", "ancestors", "node_connected_component", "ego_graph"),
)
BETWEEN = ("bidirectional_shortest_path", "has_path", "shortest_path", "shortest_path_length")
WHOLE = ("connected_components", "number_connected_components", "is_connected", "is_tree", "is_forest")
DIRECTED = ("weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected")
DIRECTED += ("is_arborescence", "is_branching")
PAIRS = ("all_pairs_shortest_path_length", "all_pairs_shortest_path")
PAIRS += ("betweenness_centrality", "edge_betweenness_centrality")
BY_TREE = {"bfs_successors"}  # have an item for each vertex that has children, and trees differ


def cases(nodes, small_nodes, side):
    """Name, graph and arguments of each call, graph after graph.

    All pairs come first: the garbage collector walks what is in memory again and again while their paths are made.
    """
    small = nx.barabasi_albert_graph(small_nodes, 10, seed=1)
    yield from ((name, small, ()) for name in PAIRS)
    large = nx.barabasi_albert_graph(nodes, 10, seed=1)
    yield from ((name, large, (0,)) for name in FROM_ONE)
    yield "descendants_at_distance", large, (0, 3)
    yield from ((name, large, (17, nodes - 1)) for name in BETWEEN)
    yield from ((name, large, ()) for name in WHOLE)
    oriented = nx.DiGraph(large.edges)
    yield from ((name, oriented, ()) for name in DIRECTED)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    yield from ((name, grid, (0,)) for name in ("bfs_edges", "single_source_shortest_path_length"))


def consume(answer):
    """Look at all of an answer; return how many items that is."""
    if isinstance(answer, nx.Graph):
        return consume(iter(answer.edges))
    if isinstance(answer, Mapping):
        deque(answer.values(), maxlen=0)  # paths are made when they are looked at
        return len(answer)
    if not isinstance(answer, Iterator):
        return len(answer) if hasattr(answer, "__len__") else 1
    first = next(answer, None)
    if isinstance(first, tuple) and isinstance(first[1], Mapping):  # all pairs
        return consume(first[1]) + sum(consume(found) for _, found in answer)
    return sum(1 for _ in answer) + (first is not None)


def measured(call):
    """The best time of a few runs, and how many items the answer has."""
    times = []
    while len(times) < MAX_RUNS and sum(times) < (ENOUGH_S if len(times) >= LEAST_RUNS else AT_LEAST_S):
        began = perf_counter()
        items = consume(call())
        times.append(perf_counter() - began)
    return min(times), items


@contextmanager
def engine(name):
    with nx.config.backends.rapids_bfs(engine=name):
        yield


def measure(name, graph, arguments, engines, backends):
    """A row: seconds by column, and the number of items, which must be the same."""
    function = getattr(nx, name)
    seconds, items = {}, {}
    for each in engines:
        with engine(each):
            for _ in range(2):  # the first converts; the next prepares a search on the GPU, and compiles
                consume(function(graph, *arguments, backend=OURS))
            seconds[each], items[each] = measured(lambda: function(graph, *arguments, backend=OURS))
    for each in backends:
        if each == THEIRS and name not in PAIRS:
            consume(function(graph, *arguments, backend=each))  # the same; all pairs are paid for once
        seconds[each], items[each] = measured(lambda each=each: function(graph, *arguments, backend=each))
    return {"seconds": seconds, "items": items, "same": name in BY_TREE or len(set(items.values())) == 1}


def versions():
    found = {}
    for name in VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--small-nodes", type=int, default=2_000)
    parser.add_argument("--side", type=int, default=400, help="of the grid")
    parser.add_argument("--engines", default="auto,cpu,cupy")
    parser.add_argument("--networkx", action="store_true", help="time NetworkX too, which takes a minute")
    parser.add_argument("--without-cugraph", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    engines = arguments.engines.split(",")
    backends = ["networkx"] * arguments.networkx + [THEIRS] * (not arguments.without_cugraph)
    nx.config.warnings_to_ignore.add("cache")
    warnings.simplefilter("ignore", DeprecationWarning)

    routing.GPU_PREPARATION = 0  # as if the graph had been searched for some time
    columns = [*engines, *backends]
    print(f"{'seconds':52}" + "".join(f"{column:>11}" for column in columns) + f"{'x':>8}")
    rows = []
    for name, graph, args in cases(arguments.nodes, arguments.small_nodes, arguments.side):
        row = {"call": name, "nodes": len(graph), "edges": graph.number_of_edges(), "arguments": args}
        row |= measure(name, graph, args, engines, backends)
        rows.append(row)
        seconds = row["seconds"]
        times = seconds[backends[-1]] / seconds[engines[0]] if backends else 1.0
        call = f"{name}({', '.join(map(str, args))}) of {len(graph):,}"
        print(
            f"{call:52}"
            + "".join(f"{seconds[column]:11.5f}" for column in columns)
            + f"{times:8.1f}"
            + ("" if row["same"] else f"  NOT THE SAME: {row['items']}"),
            flush=True,
        )
        if arguments.json:  # at every row: the run may be cut off
            record.write(arguments.json, {"rows": rows}, versions=versions())


if __name__ == "__main__":
    main()
