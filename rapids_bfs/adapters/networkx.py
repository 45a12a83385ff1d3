"""NetworkX graphs of all four classes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, repeat
from typing import Any

import numpy as np

from .._core.arguments import name_of, quoted
from .._core.cuda.arrays import CPU
from ..errors import InputError
from ..graph import Graph
from ._edge_data import Asked, as_objects, columns_of_edges
from .adjacency import from_dict

VIEWS = ("networkx.classes.coreviews", "networkx.classes.reportviews")


def matches(obj: Any) -> bool:
    # Not by the object's own attributes: one that is yet to be computed, or a mock, has any.
    return _is_view(obj) or (hasattr(type(obj), "is_multigraph") and hasattr(type(obj), "adj"))


def _is_view(obj: Any) -> bool:
    """Is it a view of a graph's nodes, edges or adjacency? As a mapping, most would be another graph."""
    return type(obj).__module__ in VIEWS


def from_networkx(
    nx_graph: Any, *, directed: bool | None = None, name: str | None = None, edge_data: Asked | None = None
) -> Graph:
    """A graph from NetworkX's, its adjacency order kept; parallel edges stay parallel.

    Directed as the class says, or as ``directed`` says: False adds the reversed edges. ``edge_data`` names attributes
    of the edges; where an edge lacks one, its value is null. Raises `InputError` for a view of a graph, such as
    ``G.edges``.
    """
    if _is_view(nx_graph):
        raise InputError(f"a NetworkX {type(nx_graph).__name__} shows a part of a graph: give the graph itself")
    if isinstance(edge_data, Mapping):
        raise InputError("edge_data of a NetworkX graph are names of its edges' attributes: give a list of them")
    rows = nx_graph.adj
    columns = {title: {node: _values(row, title, nx_graph) for node, row in rows.items()} for title in edge_data or ()}
    _require_values(columns, nx_graph)
    if nx_graph.is_multigraph():
        rows = {
            node: chain.from_iterable(repeat(neighbor, len(keys)) for neighbor, keys in row.items())
            for node, row in rows.items()
        }
    directed = nx_graph.is_directed() if directed is None else directed
    name = name or name_of(nx_graph, "networkx")
    return from_dict(rows, directed=directed, name=name, edge_data=columns or None)


def _values(row: Any, title: str, nx_graph: Any) -> list[Any]:
    """An attribute of the edges of a row, of each parallel edge of a multigraph; None where there is none."""
    edges = chain.from_iterable(keys.values() for keys in row.values()) if nx_graph.is_multigraph() else row.values()
    return [edge.get(title) for edge in edges]


def _require_values(columns: Mapping[str, Mapping[Any, list[Any]]], nx_graph: Any) -> None:
    """Raise `InputError` for an attribute that no edge has, such as a misspelt one, if there are edges."""
    for title, rows in columns.items():
        if any(value is not None for value in chain.from_iterable(rows.values())) or not nx_graph.number_of_edges():
            continue
        known = dict.fromkeys(chain.from_iterable(data for *_, data in nx_graph.edges(data=True)))
        if title not in known:
            there = f"there are {', '.join(map(quoted, known))}" if known else "there are none"
            raise InputError(f"no edge has an attribute {quoted(title)}; {there}")


def to_networkx(graph: Graph, *, labels: bool = True) -> Any:
    """A NetworkX graph with the same adjacency order: `Graph` or `DiGraph`, `Multi...` if there are parallel edges.

    What edges carry are attributes. Nodes are ids, or with ``labels=False`` the vertices 0..n-1.
    """
    import networkx as nx

    nx_graph = getattr(nx, class_of(graph))(name=graph.name)
    sources, targets = graph.vertex_pairs()
    nodes = np.arange(graph.num_vertices)
    if labels:
        nodes, sources, targets = (graph.ids_of(vertices) for vertices in (nodes, sources, targets))
    nx_graph.add_nodes_from(nodes.tolist())
    ends = sources.tolist(), targets.tolist()
    if columns := columns_of_edges(graph.to(CPU)):
        rows = zip(*map(as_objects, columns.values()), strict=True)
        nx_graph.add_edges_from(zip(*ends, (dict(zip(columns, row, strict=True)) for row in rows), strict=True))
    else:
        nx_graph.add_edges_from(zip(*ends, strict=True))
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
