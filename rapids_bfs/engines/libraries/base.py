"""The common base of other libraries' engines: requirements, supported options, and the conversion of answers."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from ...graph import Graph
from ...kernels.cpu.compiled import serial
from ..base import Engine, Options, Traversal


class Library(Engine):
    """An engine with one kind of traversal, which holds the library's own graph."""

    traversal: ClassVar[type[Traversal]]

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        return self.traversal(graph)


class OptionalLibrary(Library):
    """An engine of a library that the extra ``peers`` installs and that is imported by the engine's name."""

    package: ClassVar[str]
    algorithms = ("bfs",)
    supports: ClassVar[tuple[str, ...]] = ("depth_limit", "target")  # none of them keeps the order of neighbours

    def unavailable(self) -> str | None:
        if find_spec(self.name) is None:
            return f"{self.package} is not installed: pip install 'rapids-bfs[peers]'"
        return None


class Tree(Traversal):
    """A traversal whose `search` gives the options, the sources, and the edges of a tree in NetworkX's order."""

    def answer(self, found: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        options, sources, edges = found
        parents, children = np.array(edges, self.graph.targets.dtype).reshape(-1, 2).T
        predecessors = np.full(self.graph.num_vertices, -1, self.graph.targets.dtype)
        predecessors[children] = parents
        distances = distances_along(np.concatenate([sources, children]), predecessors)
        return truncate(distances, predecessors, options)


@serial
def distances_along(order, predecessors):
    """Distances (int32, n) from vertices in the order of discovery and the predecessors (-1: none) of all."""
    distances = np.full(len(predecessors), -1, np.int32)
    for vertex in order:
        predecessor = predecessors[vertex]
        distances[vertex] = 0 if predecessor < 0 else distances[predecessor] + 1
    return distances


def truncate(distances: np.ndarray, predecessors: np.ndarray, options: Options) -> tuple[np.ndarray, np.ndarray | None]:
    """The answer of a complete search, cut to the depth limit and target of ``options``."""
    limit = options.depth_limit
    if options.target is not None and distances[options.target] >= 0:
        reached = int(distances[options.target])
        limit = reached if limit is None else min(limit, reached)
    if limit is not None:
        past = distances > limit
        distances[past] = -1
        predecessors[past] = -1
    return distances, predecessors if options.predecessors else None
