"""The neighbourhood of a node, as a graph."""

from __future__ import annotations

from typing import Any

from ..graph import ConvertedGraph
from ..search import search_from


def ego_graph(
    G: ConvertedGraph, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: None = None
) -> Any:
    search = search_from(G, n, radius, over=G.undirected if undirected else G.forward)
    ego = G.origin.subgraph(search.nodes).copy()
    if not center:
        ego.remove_node(n)
    return ego
