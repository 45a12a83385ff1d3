"""Engine ``nx-cugraph``: `networkx.bfs_edges` by NetworkX's backend ``cugraph``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...adapters.nx_cugraph import to_nx_cugraph
from ...graph import Graph
from ..base import Options, Traversal
from ..libraries.base import distances_along
from .base import RapidsEngine


class NxCuGraph(RapidsEngine):
    name = "nx-cugraph"
    algorithms = ("bfs_edges",)
    package = "nx_cugraph"

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        return NxCuGraphBFS(graph)


class NxCuGraphBFS(Traversal):
    """nx-cugraph's graph on the device, and the edges that its `bfs_edges` yields, consumed whole."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.nx_graph = to_nx_cugraph(graph, labels=False)

    def search(self, sources: np.ndarray, options: Options) -> Any:
        from nx_cugraph import bfs_edges

        return sources, list(bfs_edges(self.nx_graph, int(sources[0]), depth_limit=options.depth_limit)), options

    def answer(self, found: Any) -> tuple[np.ndarray, np.ndarray | None]:
        sources, edges, options = found
        vertex = self.graph.targets.dtype
        parents, children = np.array(edges, vertex).reshape(-1, 2).T
        predecessors = np.full(self.graph.num_vertices, -1, vertex)
        predecessors[children] = parents
        distances = distances_along(np.concatenate([sources, children]), predecessors)
        return distances, predecessors if options.predecessors else None
