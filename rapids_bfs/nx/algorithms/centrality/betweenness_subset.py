"""Betweenness of nodes and edges over a subset of sources and targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from networkx.algorithms.centrality import betweenness_subset as theirs

from ....kernels.cpu.networkx import ordered
from ...graph import ConvertedGraph, FallBack
from ...search import ordered_bfs, shares_of_paths
from .betweenness import of_edges, rescaled, with_keys


def betweenness_centrality_subset(
    G: ConvertedGraph, sources: Any, targets: Any, normalized: bool = False, weight: None = None
) -> dict[Any, float]:
    starts, ends = _vertices(G, sources, targets)
    sums = shares_of_paths(G, starts, targets=ends)
    found = dict(zip(G.nodes.tolist(), sums.tolist(), strict=True))
    return rescaled(theirs._rescale, G, found, normalized=normalized, endpoints=False)


def edge_betweenness_centrality_subset(
    G: ConvertedGraph, sources: Any, targets: Any, normalized: bool = False, weight: None = None
) -> dict[Any, float]:
    starts, ends = _vertices(G, sources, targets)
    edges, wanted = G.forward, np.zeros(len(G), bool)
    wanted[ends] = True
    sums = np.zeros(edges.num_arcs)
    for start in starts:
        search = ordered_bfs(G, np.array([start]))
        ordered.add_to_edges(edges.offsets, edges.targets, search.order, search.distances, wanted, sums)
    rescale = getattr(theirs, "_rescale_e", theirs._rescale)
    return with_keys(G, rescaled(rescale, G, of_edges(G, sums), normalized=normalized))


def _vertices(G: ConvertedGraph, sources: Any, targets: Any) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of the sources, repeated as given, and those of the targets that are nodes."""
    if isinstance(targets, Iterator):  # NetworkX has used it up after the first source
        raise FallBack
    try:
        found = {vertex for end in set(targets) if (vertex := G.find(end)) is not None}
        return G.vertices(sources), np.array(sorted(found), np.int64)
    except Exception:
        raise FallBack from None
