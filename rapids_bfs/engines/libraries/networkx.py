"""Engine ``networkx``: NetworkX's own Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.memory import require_bytes
from ...adapters.networkx import to_networkx
from ...graph import Graph
from ..base import OPTIONAL, Engine, Options, Traversal
from .base import distances_along, truncate

SEVERAL = -1  # the node from which a search from several sources starts
BYTES_PER_EDGE = 200  # seen with rmat:16, NetworkX 3.7


class NetworkX(Engine):
    name = "networkx"
    algorithms = ("bfs_edges",)
    supports = OPTIONAL

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        return BFSEdges(graph)


class BFSEdges(Traversal):
    """`networkx.bfs_edges`, consumed whole. It does not stop at a target: that cuts the answer, not the work."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        require_bytes(graph.num_arcs * BYTES_PER_EDGE, "NetworkX's dicts")
        self.nx_graph = to_networkx(self.here, labels=False)

    def search(self, sources: np.ndarray, options: Options) -> tuple[Any, ...]:
        import networkx as nx

        if len(sources) == 1:
            edges = nx.bfs_edges(self.nx_graph, int(sources[0]), depth_limit=options.depth_limit)
            return options, sources, list(edges)
        limit = None if options.depth_limit is None else options.depth_limit + 1
        self.nx_graph.add_edges_from((SEVERAL, source) for source in sources.tolist())
        try:
            edges = nx.bfs_edges(self.nx_graph, SEVERAL, depth_limit=limit)
            return options, sources, list(edges)[len(sources) :]
        finally:
            self.nx_graph.remove_node(SEVERAL)

    def answer(self, found: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        options, sources, edges = found
        parents, children = np.array(edges, self.graph.targets.dtype).reshape(-1, 2).T
        predecessors = np.full(self.graph.num_vertices, -1, self.graph.targets.dtype)
        predecessors[children] = parents
        distances = distances_along(np.concatenate([sources, children]), predecessors)
        return truncate(distances, predecessors, options)
