"""Engine ``nx-cugraph``: `networkx.bfs_edges` by NetworkX's backend ``cugraph``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...adapters.nx_cugraph import to_nx_cugraph
from ...graph import Graph
from ..base import Options
from ..libraries.base import Tree
from .base import RapidsEngine


class NxCuGraphBFS(Tree):
    """nx-cugraph's graph on the device, and the edges that its `bfs_edges` yields, consumed whole."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.nx_graph = to_nx_cugraph(graph, labels=False)

    def search(self, sources: np.ndarray, options: Options) -> tuple[Any, ...]:
        from nx_cugraph import bfs_edges

        return options, sources, list(bfs_edges(self.nx_graph, int(sources[0]), depth_limit=options.depth_limit))


class NxCuGraph(RapidsEngine):
    name = "nx-cugraph"
    algorithms = ("bfs_edges",)
    package = "nx_cugraph"
    zero_is_no_limit = False
    traversal = NxCuGraphBFS
