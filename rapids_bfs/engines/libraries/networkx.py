"""Engine ``networkx``: NetworkX's own Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.memory import require_bytes
from ...adapters.networkx import to_networkx
from ...graph import Graph
from ...graph.edge_data import NO_EDGE_DATA
from ..base import OPTIONAL, Options
from .base import Library, Tree

SEVERAL = -1  # the node from which a search from several sources starts
BYTES_PER_EDGE = 200  # seen with rmat:16, NetworkX 3.7


class BFSEdges(Tree):
    """`networkx.bfs_edges`, consumed whole. It does not stop at a target, which truncates the answer, not the work."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        require_bytes(graph.num_arcs * BYTES_PER_EDGE, "NetworkX's dicts")
        self.nx_graph = to_networkx(self.here._with(edge_data=NO_EDGE_DATA), labels=False)

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


class NetworkX(Library):
    name = "networkx"
    algorithms = ("bfs_edges",)
    supports = OPTIONAL
    traversal = BFSEdges
