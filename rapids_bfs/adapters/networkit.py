"""NetworKit's graphs."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .._core.arguments import is_of
from .._core.cuda.arrays import CPU
from ..graph import Graph
from .edges import from_numbered, numbered


def matches(obj: Any) -> bool:
    return is_of(obj, "networkit.graph", "Graph")


def from_networkit(networkit_graph: Any, *, directed: bool | None = None, name: str = "networkit") -> Graph:
    """A graph from a `networkit.Graph`; parallel edges stay parallel.

    Its node ids are ids, which have gaps where nodes were removed. Directed as the graph says, or as ``directed`` says:
    False adds the reversed edges.
    """
    nodes = np.fromiter(networkit_graph.iterNodes(), np.int64, networkit_graph.numberOfNodes())
    ends = np.fromiter(chain.from_iterable(networkit_graph.iterEdges()), np.int64)
    return from_numbered(
        *numbered(ends[0::2], ends[1::2], nodes),
        undirected=not networkit_graph.isDirected(),
        directed=directed,
        name=name,
    )


def to_networkit(graph: Graph) -> Any:
    """A `networkit.Graph` whose nodes are the vertices 0..n-1: NetworKit has no other ids."""
    import networkit

    sources, targets = (ends.astype(np.uint64) for ends in graph.to(CPU).vertex_pairs())
    return networkit.GraphFromCoo(
        (np.ones(len(sources)), (sources, targets)), n=graph.num_vertices, directed=graph.directed
    )
