"""igraph's graphs, whose vertex names are ids."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .._core.arguments import is_of
from .._core.cuda.arrays import CPU
from ..graph import Graph
from .edges import from_numbered

NAME = "name"  # the attribute of vertices by which igraph finds them


def matches(obj: Any) -> bool:
    return is_of(obj, "igraph", "Graph")


def from_igraph(igraph_graph: Any, *, directed: bool | None = None, name: str = "igraph") -> Graph:
    """A graph from an `igraph.Graph`; parallel edges stay parallel.

    The names of its vertices are ids if they have any, ``vs["name"]``, otherwise their numbers are. Directed as the
    graph says, or as ``directed`` says: False adds the reversed edges. Raises `InputError` if a vertex has no name
    though others have, or the name of another.
    """
    m = igraph_graph.ecount()
    ends = np.fromiter(chain.from_iterable(igraph_graph.get_edgelist()), np.int64, 2 * m)
    return from_numbered(
        ends[0::2],
        ends[1::2],
        igraph_graph.vs[NAME] if NAME in igraph_graph.vertex_attributes() else igraph_graph.vcount(),
        undirected=not igraph_graph.is_directed(),
        directed=directed,
        name=name,
    )


def to_igraph(graph: Graph, *, labels: bool = True) -> Any:
    """An `igraph.Graph` of the graph's vertices; ids other than 0..n-1 become ``vs["name"]`` unless ``labels`` is
    False."""
    import igraph

    edges = np.stack(graph.to(CPU).vertex_pairs(), axis=1)
    made = igraph.Graph(graph.num_vertices, edges, directed=graph.directed)
    if labels and graph.labels is not None:
        made.vs[NAME] = list(graph)
    return made
