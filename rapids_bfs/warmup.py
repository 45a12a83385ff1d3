"""Compiling ahead: each CPU kernel runs once on small graphs of every kind, in one piece and distributed."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice, product
from time import perf_counter
from typing import Any

import numpy as np

from ._core.arguments import quoted
from .algorithms.all_shortest_paths import shortest_path_dag
from .algorithms.batch import bfs_batch
from .algorithms.betweenness import betweenness
from .algorithms.bfs import bfs
from .algorithms.components import connected_components
from .algorithms.distances import diameter, eccentricity
from .algorithms.neighborhoods import ego_graphs
from .algorithms.shortest_paths import shortest_path, shortest_paths
from .engines import require
from .errors import InputError, NoPathError
from .generators import DRAWN, MODELS
from .graph import Graph
from .kernels.cpu.disk_cache import folder as folder
from .kernels.cpu.disk_cache import keeps_code as keeps_code
from .loading import as_graph, load
from .validation import verdict_of

ENGINE = "cpu"
GAPS = ((np.int32, 2), (np.int64, 2), (np.int64, 1 << 40))  # between ids, the last ones scattered
GRAPHS = ("karate", "moby", "grid:120")  # tiny; with levels that threads share; of many levels; each directed, too
FIRST = {"generators": 1, "networkx": 3}  # the number of these graphs that compile all of a part; by default all graphs
FEW = 100  # vertices of the graphs on which NetworkX's slow functions run
LAZY = "all_pairs_shortest_path_length"  # lazy: it searches from a few vertices, then from many at once
MANY_PATHS = "single_source_all_shortest_paths"  # of which a grid has millions
APART = {"validate", "distributed", "generators"}  # parts that the backend's functions do not call
DEVICES = "cpu:2"
CONNECTED = "grid:12"  # with enough vertices for the kernels that bound the eccentricities of all
SCALE = 8  # of the random graphs
SOURCES = 64  # of a batch


def warmup(only: str | Iterable[str] = ()) -> Iterator[tuple[str, float]]:
    """Compile what is not compiled yet; yields what was called, and the seconds that this took with compiling.

    ``only`` names the `PARTS` to compile; by default all are. "networkx" stands for all that the backend's functions
    call. Raises `InputError` if there is no such part, or if nothing can be compiled here.
    """
    chosen = {only} if isinstance(only, str) else set(only)
    for part in chosen - set(PARTS):
        raise InputError(f"{quoted(part)} is not one of the parts compiled ahead: {', '.join(PARTS)}")
    if "networkx" in chosen:
        chosen |= {*PARTS} - APART
    require(ENGINE)
    begin = perf_counter()
    undirected = [load(name).replace(labels=None) for name in GRAPHS]
    directed = [as_graph(graph.vertex_pairs(), vertices=graph.num_vertices, directed=True) for graph in undirected]
    graphs = [graph for both in zip(undirected, directed, strict=True) for graph in both]
    for (dtype, gap), graph in product(GAPS, graphs):
        as_graph(tuple(gap * ends.astype(dtype) for ends in graph.vertex_pairs()))
    yield "read and build graphs", perf_counter() - begin
    for name, call in CALLS.items():
        if chosen and _part(name) not in chosen:
            continue
        begin = perf_counter()
        for graph in graphs[: FIRST.get(name)]:
            call(graph)
        yield name, perf_counter() - begin


def _search(graph: Graph) -> None:
    for deterministic in (False, True):
        bfs(graph, 0, deterministic=deterministic, engine=ENGINE)
    bfs(graph, 0, trace=True, engine=ENGINE)


def _path(graph: Graph) -> None:
    with suppress(NoPathError):
        shortest_path(graph, 0, graph.num_vertices - 1)
    shortest_paths(graph, [0, 0], [0, 0])


def _batches(graph: Graph) -> None:
    sources = [vertex % graph.num_vertices for vertex in range(SOURCES)]
    for keep in ("distances", "summary"):
        bfs_batch(graph, sources, keep=keep, engine=ENGINE)


def _filter(graph: Graph) -> None:
    """With columns of every size; of many arcs, and of few."""
    columns = {str(size): np.zeros(graph.num_arcs, f"i{size}") for size in (1, 2, 4, 8)}
    for edges in (np.ones(graph.num_arcs, bool), np.zeros(graph.num_arcs, bool)):
        graph.replace(edge_data=columns).filter(edges=edges, vertices=np.ones(graph.num_vertices, bool))


def _generators(graph: Graph) -> None:
    """Whatever the graph."""
    for kind in (*DRAWN, *MODELS):
        load(f"{kind}:{SCALE}")
        load(f"{kind}:{SCALE}", devices=DEVICES)


def _distributed(graph: Graph) -> None:
    """Search without a mask and with one, from one vertex and from many; components, eccentricities."""
    over_devices = as_graph(graph, devices=DEVICES)
    for mask in (None, np.ones(graph.num_vertices, bool)):
        verdict_of(over_devices, bfs(over_devices, 0, vertices=mask))
        for keep in ("distances", "summary"):
            bfs_batch(over_devices, [0], keep=keep, vertices=mask)
        connected_components(over_devices, vertices=mask)
    over_devices.filter(vertices=np.ones(graph.num_vertices, bool)).to("cpu")
    eccentricity(over_devices, [0])
    diameter(load(CONNECTED, devices=DEVICES))


def _networkx(graph: Graph) -> None:
    """Call each function of the backend on a graph of numbers and, if it is small, on one of strings."""
    import networkx as nx

    from .nx import convert_from_nx
    from .nx.calls import implementation
    from .nx.conversions import converted
    from .nx.functions import FUNCTIONS
    from .nx.policy import is_ours

    numbers = graph.to("networkx")
    last = graph.num_vertices - 1
    origins: list[tuple[Any, type]] = [(numbers, int)]
    if graph.num_vertices <= FEW:
        origins.append((nx.relabel_nodes(numbers, str), str))
    for origin, name in origins:
        values = {"target": name(last), "sources": [name(0)], "targets": [name(last)], "distance": 1}
        for function in filter(is_ours, FUNCTIONS):
            slow = (FUNCTIONS[function].per_vertex and function != LAZY) or function == MANY_PATHS
            if slow and graph.num_vertices > FEW:
                continue
            ours = implementation(function)
            parameters = list(inspect.signature(ours).parameters.values())[1:]
            given = {each.name: values.get(each.name, name(0)) for each in parameters if each.default is each.empty}
            with suppress(nx.NetworkXException):
                answer = ours(convert_from_nx(origin), **given)
                deque(islice(answer, 3) if isinstance(answer, Iterator) else (), maxlen=0)
        hidden = [edge for edge, _ in zip(origin.edges, range(2), strict=False)]
        converted(nx.restricted_view(origin, [name(last)], hidden)).backward  # noqa: B018


def _part(name: str) -> str:
    """The part of `PARTS` to which one of `CALLS` belongs."""
    return name.partition(",")[0]


CALLS: dict[str, Callable[[Graph], Any]] = {
    "bfs": _search,
    "validate": lambda graph: verdict_of(graph, bfs(graph, 0, engine=ENGINE)),
    "shortest_path": _path,
    "shortest_path_dag": lambda graph: shortest_path_dag(graph, 0).path_counts,
    "filter": _filter,
    "neighborhoods, ego_graphs": lambda graph: ego_graphs(graph, [0], 1),
    "connected_components": connected_components,
    "eccentricity, diameter, ...": lambda graph: (
        eccentricity(graph, [0], engine=ENGINE),
        diameter(graph, engine=ENGINE),
    ),
    "betweenness": lambda graph: [betweenness(graph, [0], edges=edges, engine=ENGINE) for edges in (False, True)],
    "bfs_batch": _batches,
    "distributed": _distributed,
    "generators": _generators,
    "networkx": _networkx,
}
PARTS = tuple(dict.fromkeys(map(_part, CALLS)))
