"""Engine ``rustworkx``: `rustworkx.bfs_successors` for a tree, `rustworkx.bfs_layers` for distances alone; in Rust."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

import numpy as np

from ...adapters.rustworkx import to_rustworkx
from ...graph import Graph
from ..base import Options, Traversal
from .base import OptionalLibrary, distances_along, truncate


class BFS(Traversal):
    """Neither stops early: a depth limit and a target truncate the answer, not the work."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        import rustworkx

        self.rustworkx = rustworkx
        self.theirs = to_rustworkx(self.here._with(directed=True, labels=None))  # it searches directed graphs alone

    def search(self, sources: np.ndarray, options: Options) -> tuple[Any, ...]:
        if options.predecessors:
            return options, sources, self.rustworkx.bfs_successors(self.theirs, int(sources[0]))
        return options, sources, self.rustworkx.bfs_layers(self.theirs, sources.tolist())

    def answer(self, found: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        options, sources, theirs = found
        predecessors = np.full(self.graph.num_vertices, -1, self.graph.targets.dtype)
        if not options.predecessors:
            distances = np.full(self.graph.num_vertices, -1, np.int32)
            for distance, layer in enumerate(theirs):
                distances[list(layer)] = distance
            return truncate(distances, predecessors, options)
        parents = np.fromiter(chain.from_iterable(repeat(parent, len(row)) for parent, row in theirs), np.int64)
        children = np.fromiter(chain.from_iterable(row for _, row in theirs), np.int64)
        _, first = np.unique(children, return_index=True)  # rows hold all out-neighbours, also those found before
        first = np.sort(first[children[first] != sources[0]])
        predecessors[children[first]] = parents[first]
        return truncate(distances_along(np.append(sources, children[first]), predecessors), predecessors, options)


class RustworkX(OptionalLibrary):
    name = package = "rustworkx"
    supports = (*OptionalLibrary.supports, "several sources")
    traversal = BFS

    def unsupported(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        if sources > 1 and options.predecessors:
            return "rustworkx has distances alone from several sources: leave out the predecessors"
        return super().unsupported(graph, algorithm, options, sources)
