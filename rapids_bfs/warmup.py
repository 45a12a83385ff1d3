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

import rapids_bfs as api

from ._core.arguments import quoted
from .engines import require
from .errors import InputError, NoPathError
from .generators import DRAWN, MODELS
from .graph import Graph
from .kernels.cpu.disk_cache import folder as folder
from .kernels.cpu.disk_cache import keeps_code as keeps_code

CPU, DEVICES = "cpu", "cpu:2"
GAPS = ((np.int32, 2), (np.int64, 2), (np.int64, 1 << 40))  # between ids, the last ones scattered
GRAPHS = ("karate", "moby", "grid:120")  # tiny; with levels that threads share; of many levels; each directed, too
APART = {"validate", "distributed", "generators"}  # parts that the backend's functions do not call


def warmup(only: str | Iterable[str] = ()) -> Iterator[tuple[str, float]]:
    """Compile what is not compiled yet; yield the name of each part and the seconds that its calls took.

    ``only`` names the `PARTS` to compile; by default all are. "networkx" stands for all that the backend's functions
    call. Raises `InputError` if there is no such part, or if nothing can be compiled here.
    """
    chosen = {only} if isinstance(only, str) else set(only)
    for part in chosen - CALLS.keys():
        raise InputError(f"{quoted(part)} is not one of the parts compiled ahead: {', '.join(PARTS)}")
    if "networkx" in chosen:
        chosen |= {*PARTS} - APART
    require(CPU)
    begin = perf_counter()
    undirected = [api.load(name).replace(labels=None) for name in GRAPHS]
    directed = [api.as_graph(graph.vertex_pairs(), vertices=graph.num_vertices, directed=True) for graph in undirected]
    graphs = [graph for both in zip(undirected, directed, strict=True) for graph in both]
    for (dtype, gap), graph in product(GAPS, graphs):
        api.as_graph(tuple(gap * ends.astype(dtype) for ends in graph.vertex_pairs()))
    yield "read and build graphs", perf_counter() - begin
    for part in [part for part in PARTS if not chosen or part in chosen]:
        begin = perf_counter()
        for graph in _graphs_of(part, graphs):
            with suppress(NoPathError):
                CALLS[part](graph)
        yield part, perf_counter() - begin


def _graphs_of(part: str, graphs: list[Graph]) -> list[Graph]:
    """The graphs on which a part is called: one where it does not matter, small ones where calls take long."""
    if part == "generators":
        return graphs[:1]
    return [*graphs[:2], api.load("smallworld:8")] if part == "networkx" else graphs


def _filter(graph: Graph) -> None:
    """Filter columns of every size: all edges, and none."""
    columns = {str(size): np.zeros(graph.num_arcs, f"i{size}") for size in (1, 2, 4, 8)}
    for edges in (np.ones(graph.num_arcs, bool), np.zeros(graph.num_arcs, bool)):
        graph.replace(edge_data=columns).filter(edges=edges, vertices=np.ones(graph.num_vertices, bool))


def _distributed(graph: Graph) -> None:
    there, everywhere = api.as_graph(graph, devices=DEVICES), np.ones(graph.num_vertices, bool)
    for mask in (None, everywhere):
        api.validate(there, api.bfs(there, 0, vertices=mask))
        for keep in ("distances", "summary"):
            api.bfs_batch(there, [0], keep=keep, vertices=mask)
        api.connected_components(there, vertices=mask)
    there.filter(vertices=everywhere).to(CPU)
    api.eccentricity(there, [0])
    api.diameter(api.load("grid:12", devices=DEVICES))  # with enough vertices to bound the eccentricities of all


def _networkx(graph: Graph) -> None:
    """Call each function of the backend on a graph of numbers, and on one of strings."""
    import networkx as nx

    from .nx import convert_from_nx
    from .nx.calls import implementation
    from .nx.conversions import converted
    from .nx.functions import FUNCTIONS
    from .nx.policy import is_ours

    numbers, last = graph.to("networkx"), graph.num_vertices - 1
    for origin, name in ((numbers, int), (nx.relabel_nodes(numbers, str), str)):
        values = {"target": name(last), "sources": [name(0)], "targets": [name(last)], "distance": 1}
        for function in filter(is_ours, FUNCTIONS):
            ours = implementation(function)
            parameters = list(inspect.signature(ours).parameters.values())[1:]
            given = {each.name: values.get(each.name, name(0)) for each in parameters if each.default is each.empty}
            with suppress(nx.NetworkXException):
                answer = ours(convert_from_nx(origin), **given)
                deque(answer if isinstance(answer, Iterator) else (), maxlen=0)
        converted(nx.restricted_view(origin, [name(last)], list(islice(origin.edges, 2)))).backward  # noqa: B018


CALLS: dict[str, Callable[[Graph], Any]] = {
    "bfs": lambda graph: [
        api.bfs(graph, 0, deterministic=deterministic, trace=trace, engine=CPU)
        for deterministic, trace in ((False, False), (True, False), (False, True))
    ],
    "validate": lambda graph: api.validate(graph, api.bfs(graph, 0, engine=CPU)),
    "shortest_path": lambda graph: (
        api.shortest_paths(graph, [0, 0], [0, 0]),
        api.shortest_path(graph, 0, graph.num_vertices - 1),
    ),
    "shortest_path_dag": lambda graph: api.shortest_path_dag(graph, 0).path_counts,
    "filter": _filter,
    "neighborhoods": lambda graph: api.ego_graphs(graph, [0], 1),
    "connected_components": api.connected_components,
    "eccentricity": lambda graph: (api.eccentricity(graph, [0], engine=CPU), api.diameter(graph, engine=CPU)),
    "betweenness": lambda graph: [api.betweenness(graph, [0], edges=edges, engine=CPU) for edges in (False, True)],
    "bfs_batch": lambda graph: [
        api.bfs_batch(graph, np.arange(64) % graph.num_vertices, keep=keep, engine=CPU)
        for keep in ("distances", "summary")
    ],
    "distributed": _distributed,
    "generators": lambda _: [
        api.load(f"{kind}:8", devices=devices) for kind in (*DRAWN, *MODELS) for devices in (None, DEVICES)
    ],
    "networkx": _networkx,
}
PARTS = tuple(CALLS)
