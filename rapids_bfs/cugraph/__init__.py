"""cuGraph's functions that breadth-first search answers, with our kernels: the same arguments, results and errors.

    from rapids_bfs.cugraph import bfs      # instead of: from cugraph import bfs

The first call prepares the graph; the preparation stays with the `cugraph.Graph` (by a weak reference), so later calls
cost only a traversal and its frame. `multi_source_bfs` and `concurrent_bfs` answer, where cuGraph raises.
"""

from .batch import concurrent_bfs, multi_source_bfs
from .bfs import bfs, bfs_edges
from .centrality import betweenness_centrality, edge_betweenness_centrality
from .components import connected_components, strongly_connected_components, weakly_connected_components
from .neighborhoods import ego_graph, get_two_hop_neighbors, k_hop_nbrs
from .paths import filter_unreachable, shortest_path, shortest_path_length

__all__ = [
    "betweenness_centrality",
    "bfs",
    "bfs_edges",
    "concurrent_bfs",
    "connected_components",
    "edge_betweenness_centrality",
    "ego_graph",
    "filter_unreachable",
    "get_two_hop_neighbors",
    "k_hop_nbrs",
    "multi_source_bfs",
    "shortest_path",
    "shortest_path_length",
    "strongly_connected_components",
    "weakly_connected_components",
]
