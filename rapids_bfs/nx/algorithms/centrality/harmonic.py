"""The sum of the reciprocals of a node's distances from others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import bfs_batch
from ...graph import ConvertedGraph
from ...search import engine


def harmonic_centrality(
    G: ConvertedGraph, nbunch: Any = None, distance: None = None, sources: Any = None
) -> dict[Any, float]:
    ends, starts = _nodes(G, nbunch), _nodes(G, sources)
    centrality: dict[Any, float] = dict.fromkeys(ends, 0)
    if len(ends) < len(starts):
        vertices, others, edges, axis = G.vertices(ends), G.vertices(starts), G.backward, 1
    else:
        vertices, others, edges, axis = G.vertices(starts), G.vertices(ends), G.forward, 0
    sums = np.zeros(len(ends))

    def add(rows: slice, distances: np.ndarray) -> None:
        near = distances[:, others]
        parts = np.divide(1.0, near, out=np.zeros(near.shape), where=near > 0)
        if axis:
            sums[rows] = parts.sum(axis=1)
        else:
            np.add(sums, parts.sum(axis=0), out=sums)

    bfs_batch(edges, vertices, on_batch=add, engine=engine())
    centrality.update((node, total) for node, total in zip(ends, sums.tolist(), strict=True) if total)
    return centrality


def _nodes(G: ConvertedGraph, bunch: Any) -> set[Any]:
    return set(G.nodes.tolist() if bunch is None else G.origin.nbunch_iter(bunch))
