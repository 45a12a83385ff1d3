"""Compiling ahead: the questions that the CPU answers, each asked once of small graphs of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any

from .algorithms.batch import bfs_batch
from .algorithms.betweenness import betweenness
from .algorithms.bfs import bfs
from .algorithms.components import connected_components
from .algorithms.distances import eccentricity
from .algorithms.shortest_paths import shortest_path
from .engines import ready
from .errors import NoPathError
from .graph import Graph
from .kernels.cpu.disk_cache import folder as folder
from .loading import as_graph, load
from .validation import verdict_of

ENGINE = "cpu"
GRAPHS = ("karate", "moby", "grid:100")  # tiny; with levels that threads share; of many levels
WIDTHS = (64, 256, 1024)  # sources, for so many of which there is a kernel


def warmup() -> Iterator[tuple[str, float]]:
    """Compile what is not compiled yet: yields what was asked, and the seconds that compiling and answering took.

    Raises `InputError` if nothing can be compiled here.
    """
    ready(ENGINE)
    begin = perf_counter()
    graphs = [load(name) for name in GRAPHS]
    graphs += [as_graph(graph.vertex_pairs(), vertices=graph.num_vertices, directed=True) for graph in graphs]
    yield "read and build graphs", perf_counter() - begin
    for name, ask in QUESTIONS.items():
        begin = perf_counter()
        for graph in graphs:
            ask(graph)
        yield name, perf_counter() - begin


def _search(graph: Graph) -> None:
    for deterministic in (False, True):
        bfs(graph, 0, deterministic=deterministic, engine=ENGINE)
    bfs(graph, 0, trace=True, engine=ENGINE)


def _path(graph: Graph) -> None:
    with suppress(NoPathError):
        shortest_path(graph, 0, graph.num_vertices - 1)


def _batches(graph: Graph, width: int) -> None:
    sources = [vertex % graph.num_vertices for vertex in range(width)]
    for keep in ("distances", "summary"):
        bfs_batch(graph, sources, keep=keep, engine=ENGINE)


QUESTIONS: dict[str, Callable[[Graph], Any]] = {
    "bfs": _search,
    "validate": lambda graph: verdict_of(graph, bfs(graph, 0, engine=ENGINE)),
    "shortest_path": _path,
    "connected_components": connected_components,
    "eccentricity, diameter, ...": lambda graph: eccentricity(graph, [0], engine=ENGINE),
    "betweenness": lambda graph: [betweenness(graph, [0], edges=edges, engine=ENGINE) for edges in (False, True)],
    **{f"bfs_batch, {width:,} sources": partial(_batches, width=width) for width in WIDTHS},
}
