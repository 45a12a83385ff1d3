"""The NetworkX backend beside NetworkX itself and beside nx-cugraph, answers consumed in full."""

import gc
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import networkx as nx

from rapids_bfs.nx import conversions, routing
from rapids_bfs.nx.graph import ConvertedGraph

from .cases import Case, expect, say
from .record import Record
from .tables import Table, code
from .timing import clock, repeated

FROM_ONE = ("bfs_edges", "bfs_successors", "bfs_layers", "bfs_tree", "descendants", "single_source_shortest_path")
FROM_ONE += ("single_source_shortest_path_length",)
BETWEEN = ("shortest_path", "has_path")
WHOLE = ("connected_components", "is_connected", "is_forest")
PAIRS = ("all_pairs_shortest_path_length", "all_pairs_shortest_path", "betweenness_centrality")
CENTRALITY = ("average_shortest_path_length", "eccentricity", "diameter", "closeness_centrality")
CENTRALITY += ("harmonic_centrality", "global_efficiency")
SECONDS = ("networkx_s", "first_s", "cached_s")


def consume(answer: Any) -> int:
    """Consume an answer; return how many items it has."""
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


def drain(answer: Any) -> None:
    """Consume an iterator."""
    if isinstance(answer, Iterator):
        deque(answer, maxlen=0)


def networkx(*, nodes=200_000, small_nodes=2_000) -> Iterator[Record]:
    """Barabasi-Albert graphs with ten edges a node. The times of NetworkX, of the first call here (with the conversion,
    kernels compiled) and of later calls: the best of a few."""
    nx.config.warnings_to_ignore.add("cache")
    tiny = nx.path_graph(300)
    for name, arguments, _, _ in _calls(300):  # compiles or loads every kernel
        drain(getattr(nx, name)(tiny, *arguments, backend="rapids_bfs"))

    large, small = (nx.barabasi_albert_graph(n, 10, seed=1) for n in (nodes, small_nodes))
    rows = {}
    for name, arguments, is_small, repeat in _calls(nodes):
        say(name)
        row = _beside_networkx(small if is_small else large, name, arguments, repeat)
        rows[f"{name} ({small_nodes})" if is_small else name] = row
        row["first_x"], row["cached_x"] = (row["networkx_s"] / row[each] for each in ("first_s", "cached_s"))
        yield {"nodes": [nodes, small_nodes], "engine": "auto", "rows": rows}


def _calls(nodes: int) -> Iterator[tuple[str, tuple[int, ...], bool, int]]:
    """Each call's name and arguments, whether it uses the small graph, and how often it is made."""
    yield from ((name, (0,), False, 3) for name in (*FROM_ONE, "predecessor"))
    yield from ((name, (), False, 3) for name in (*WHOLE, "girth"))
    yield from ((name, (17, nodes - 1), False, 20) for name in BETWEEN)
    yield "ego_graph", (nodes - 1,), False, 20
    yield from ((name, (), True, 3) for name in (*PAIRS, *CENTRALITY))


def _beside_networkx(graph: nx.Graph, name: str, arguments: tuple[int, ...], repeat: int) -> Record:
    function = getattr(nx, name)

    def called(**options: str) -> None:
        drain(function(graph, *arguments, **options))

    theirs, firsts = [], []
    for _ in range(max(1, repeat // 5)):  # first calls that take long are made once
        graph.__networkx_cache__.clear()
        gc.collect()  # which leaves the caches cold for both
        theirs.append(clock(lambda: called(backend="networkx"))[0])
        gc.collect()
        with nx.config(backend_priority=["rapids_bfs"]):
            firsts.append(clock(called)[0])
    called(backend="rapids_bfs")  # converts, if the first call has not
    cached, _ = repeated(lambda: called(backend="rapids_bfs"), repeat)
    return dict(zip(SECONDS, map(min, (theirs, firsts, cached)), strict=True))


def networkx_views(*, nodes=200_000) -> Iterator[Record]:
    """Views of such a graph: read from NetworkX's dicts, and filtered from the graph's conversion; then `descendants`
    of a node of each, by NetworkX, by the first call here, and by later ones. Seconds, the best of a few."""
    nx.config.warnings_to_ignore.add("cache")
    graph = nx.barabasi_albert_graph(nodes, 10, seed=1)
    rows: dict[str, Record] = {}
    for name in VIEWS:
        say(name)
        view = VIEWS[name](graph, Random(1))
        source = next(iter(view))
        nx.descendants(graph, 0, backend="rapids_bfs")
        conversions.converted(view)  # compiles
        filtered, found = repeated(lambda view=view: conversions.converted(view), 5)
        expect(isinstance(found, conversions.ConvertedView), "a view is filtered")
        read, other = clock(lambda view=view: ConvertedGraph(view))
        expect((found.forward.targets == other.forward.targets).all(), "the same arcs")
        theirs, answer = clock(lambda view=view, source=source: nx.descendants(view, source, backend="networkx"))

        def ours(view: nx.Graph = view, source: Any = source) -> Any:
            return nx.descendants(view, source, backend="rapids_bfs")

        ours()  # compiles
        view.__networkx_cache__.clear()
        first, _ = clock(ours)
        cached, ours_answer = repeated(ours, 5)
        expect(ours_answer == answer, "the same descendants")
        times = dict(zip(SECONDS, (theirs, first, min(cached)), strict=True))
        arcs = found.forward.num_arcs
        rows[name] = {"nodes": len(found), "arcs": arcs, "read_s": read, "filtered_s": min(filtered)} | times
        yield {"nodes": nodes, "engine": "auto", "rows": rows}


def _some(items: Any, share: float, random: Random) -> list[Any]:
    return [each for each in items if random.random() < share]


VIEWS: dict[str, Callable[[nx.Graph, Random], nx.Graph]] = {
    "`restricted_view`, 100 nodes and 2 edges hidden": lambda graph, _: nx.restricted_view(
        graph, range(100, 200), [(0, 5), (11, 0)]
    ),
    "`G.subgraph`, 90 % of the nodes": lambda graph, random: graph.subgraph(_some(graph, 0.9, random)),
    "`G.subgraph`, 30 %": lambda graph, random: graph.subgraph(_some(graph, 0.3, random)),
    "`G.subgraph`, 200 nodes": lambda graph, _: graph.subgraph(range(200)),
    "`G.edge_subgraph`, half of the edges": lambda graph, random: graph.edge_subgraph(_some(graph.edges, 0.5, random)),
}


def networkx_views_table(record: Record) -> Table:
    head = "view | read ms | filtered | `descendants`: NetworkX ms | first call here | later calls"
    return head, (
        [name, *(1e3 * row[key] for key in ("read_s", "filtered_s", *SECONDS))] for name, row in record["rows"].items()
    )


def networkx_table(record: Record) -> Table:
    return "call | NetworkX ms | first call here | later calls | speed-up", (
        [code(name.partition(" ")[0]), *(1e3 * row[key] for key in SECONDS), row["cached_x"]]
        for name, row in record["rows"].items()
    )


OURS, THEIRS = "rapids_bfs", "cugraph"
ENOUGH_S, MAX_RUNS = 0.5, 5  # no run of a call starts after so long, or so many
AT_LEAST_S, LEAST_RUNS = 3.0, 3  # so long where there are fewer runs: the garbage collector may slow one of them
MORE_FROM_ONE = ("bfs_predecessors", "generic_bfs_edges", "single_target_shortest_path", "ego_graph", "shortest_path")
MORE_FROM_ONE += ("single_target_shortest_path_length", "shortest_path_length", "ancestors", "node_connected_component")
MORE_BETWEEN = ("bidirectional_shortest_path", "shortest_path_length")
MORE_WHOLE = ("number_connected_components", "is_tree")
DIRECTED = ("weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected")
DIRECTED += ("is_arborescence", "is_branching")
BY_TREE = {"bfs_successors"}  # have an item for each vertex that has children, and trees differ


def nx_cugraph(*, nodes=200_000, small_nodes=2_000, side=400) -> Iterator[Record]:
    """Every function that both backends have; seconds with the conversion cached, the best of a few runs. nx-cugraph
    has an order of its own, so only the number of items of an answer is compared."""
    nx.config.warnings_to_ignore.add("cache")
    warnings.simplefilter("ignore", DeprecationWarning)
    routing.GPU_PREPARATION = 0  # as if the graph had been searched for some time
    rows: list[Record] = []
    for name, graph, arguments in _common_calls(nodes, small_nodes, side):
        say(f"{name}{arguments} of {len(graph):,}")
        row = {"call": name, "nodes": len(graph), "edges": graph.number_of_edges(), "arguments": arguments}
        rows.append(row | _beside_nx_cugraph(name, graph, arguments))
        yield {"rows": rows}


def _common_calls(nodes: int, small_nodes: int, side: int) -> Iterator[tuple[str, nx.Graph, tuple[int, ...]]]:
    """All pairs come first: the garbage collector walks what is in memory while their paths are made."""
    small = nx.barabasi_albert_graph(small_nodes, 10, seed=1)
    yield from ((name, small, ()) for name in (*PAIRS, "edge_betweenness_centrality"))
    large = nx.barabasi_albert_graph(nodes, 10, seed=1)
    yield from ((name, large, (0,)) for name in (*FROM_ONE, *MORE_FROM_ONE))
    yield "descendants_at_distance", large, (0, 3)
    yield from ((name, large, (17, nodes - 1)) for name in (*BETWEEN, *MORE_BETWEEN))
    yield from ((name, large, ()) for name in (*WHOLE, *MORE_WHOLE))
    oriented = nx.DiGraph(large.edges)
    yield from ((name, oriented, ()) for name in DIRECTED)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    yield from ((name, grid, (0,)) for name in ("bfs_edges", "single_source_shortest_path_length"))


def _beside_nx_cugraph(name: str, graph: nx.Graph, arguments: tuple[int, ...]) -> Record:
    """Seconds by column, and the numbers of items."""
    function, seconds, items = getattr(nx, name), {}, {}
    for column, backend in (("auto", OURS), (THEIRS, THEIRS)):

        def call(backend: str = backend) -> int:
            return consume(function(graph, *arguments, backend=backend))

        # The first converts; the next prepares a search on the GPU, and compiles. All pairs are paid for once.
        for _ in range(2 if backend == OURS else name not in (*PAIRS, "edge_betweenness_centrality")):
            call()
        times, items[column] = repeated(call, MAX_RUNS, enough_s=ENOUGH_S, least=LEAST_RUNS, least_s=AT_LEAST_S)
        seconds[column] = min(times)
    return {"seconds": seconds, "items": items, "same": name in BY_TREE or len(set(items.values())) == 1}


def nx_cugraph_table(record: Record) -> Table:
    return "call | nodes | ms | nx-cugraph | speed-up", (
        [code(f"{row['call']}({', '.join(map(str, row['arguments']))})"), row["nodes"], ours, theirs, theirs / ours]
        for row in record["rows"]
        for ours, theirs in [[1e3 * row["seconds"][each] for each in ("auto", THEIRS)]]
    )


CASES = [
    Case("networkx", "the NetworkX backend against NetworkX itself", networkx, networkx_table),
    Case("networkx-views", "views of a converted graph", networkx_views, networkx_views_table),
    Case(
        "nx-cugraph", "the backend beside nx-cugraph", nx_cugraph, nx_cugraph_table, ("GPU", "nx-cugraph"), "networkx"
    ),
]
