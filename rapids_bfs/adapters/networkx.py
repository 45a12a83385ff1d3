"""NetworkX graphs of all four classes."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

import numpy as np

from ..errors import InputError
from ..graph import Graph
from .adjacency import from_dict

VIEWS = ("networkx.classes.coreviews", "networkx.classes.reportviews")


def matches(obj: Any) -> bool:
    return _is_view(obj) or (hasattr(obj, "is_multigraph") and hasattr(obj, "adj"))


def _is_view(obj: Any) -> bool:
    """Is it a view of a graph's nodes, edges or adjacency? As a mapping, most would be another graph."""
    return type(obj).__module__ in VIEWS


def from_networkx(nx_graph: Any, *, directed: bool | None = None, name: str | None = None) -> Graph:
    """A graph from NetworkX's, its adjacency order kept; parallel edges stay parallel.

    Directed as the class says, or as ``directed`` says: False adds the reversed edges. Raises `InputError` for a view
    of a graph, such as ``G.edges``.
    """
    if _is_view(nx_graph):
        raise InputError(f"a NetworkX {type(nx_graph).__name__} shows a part of a graph: give the graph itself")
    rows = nx_graph.adj
    if nx_graph.is_multigraph():
        rows = {
            node: chain.from_iterable(repeat(neighbor, len(keys)) for neighbor, keys in row.items())
            for node, row in rows.items()
        }
    directed = nx_graph.is_directed() if directed is None else directed
    return from_dict(rows, directed=directed, name=name or nx_graph.name or "networkx")


def to_networkx(graph: Graph, *, labels: bool = True) -> Any:
    """A NetworkX graph with the same adjacency order: `Graph` or `DiGraph`, `Multi...` if there are parallel edges.

    Nodes are ids, or with ``labels=False`` the vertices 0..n-1.
    """
    import networkx as nx

    nx_graph = getattr(nx, class_of(graph))(name=graph.name)
    sources, targets = graph.vertex_pairs()
    nodes = np.arange(graph.num_vertices)
    if labels:
        nodes, sources, targets = (graph.ids_of(vertices) for vertices in (nodes, sources, targets))
    nx_graph.add_nodes_from(nodes.tolist())
    nx_graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    if not graph.directed:
        _reorder(nx_graph, graph, nodes)
    return nx_graph


def class_of(graph: Graph) -> str:
    """The name of NetworkX's class for such a graph."""
    return f"{'Multi' if graph.num_duplicates else ''}{'Di' if graph.directed else ''}Graph"


def _reorder(nx_graph: Any, graph: Graph, nodes: np.ndarray) -> None:
    """Put each adjacency in the graph's order; adding an undirected edge has put it last at both ends."""
    neighbors = nodes[graph.targets].tolist()
    bounds = graph.offsets.tolist()
    for vertex, node in enumerate(nodes.tolist()):
        row = nx_graph._adj[node]
        ordered = {neighbor: row[neighbor] for neighbor in neighbors[bounds[vertex] : bounds[vertex + 1]]}
        row.clear()
        row.update(ordered)
