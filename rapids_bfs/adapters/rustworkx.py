"""rustworkx's graphs, `PyGraph` and `PyDiGraph`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arguments import is_of
from .._core.cuda.arrays import CPU
from ..graph import Graph
from .edges import from_numbered, numbered


def matches(obj: Any) -> bool:
    return is_of(obj, "rustworkx", "PyDiGraph", "PyGraph")


def from_rustworkx(rustworkx_graph: Any, *, directed: bool | None = None, name: str = "rustworkx") -> Graph:
    """A graph from a `rustworkx.PyGraph` or `PyDiGraph`; parallel edges stay parallel.

    Its node indices are ids, which have gaps where nodes were removed; payloads, which need not be distinct or
    hashable, are not. Directed as the class says, or as ``directed`` says: False adds the reversed edges.
    """
    nodes = np.asarray(rustworkx_graph.node_indices()).astype(np.int64)
    ends = np.asarray(rustworkx_graph.edge_list()).astype(np.int64).reshape(-1, 2)
    return from_numbered(
        *numbered(ends[:, 0], ends[:, 1], nodes),
        undirected=is_of(rustworkx_graph, "rustworkx", "PyGraph"),
        directed=directed,
        name=name,
    )


def to_rustworkx(graph: Graph) -> Any:
    """A `rustworkx.PyDiGraph`, or `PyGraph` if the graph is undirected, whose node indices are the vertices 0..n-1 and
    whose payloads are ids; edges have the payload None."""
    import rustworkx

    made = rustworkx.PyDiGraph() if graph.directed else rustworkx.PyGraph()
    made.add_nodes_from(list(graph))
    sources, targets = graph.to(CPU).vertex_pairs()
    made.add_edges_from_no_data(list(zip(sources.tolist(), targets.tolist(), strict=True)))
    return made
