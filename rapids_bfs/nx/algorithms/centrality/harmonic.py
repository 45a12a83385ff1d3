"""Harmonic centrality: the sum of the reciprocals of a node's distances from others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....algorithms.batch import bfs_batch
from ...graph import ConvertedGraph
from ...routing import batch_engine
from ...search import summary


def harmonic_centrality(
    G: ConvertedGraph, nbunch: Any = None, distance: None = None, sources: Any = None
) -> dict[Any, float]:
    ends, starts = _nodes(G, nbunch), _nodes(G, sources)
    sums = summary(G, ends, over=G.backward).harmonic if len(starts) == len(G) else _from_some(G, ends, starts)
    return {node: total or 0 for node, total in zip(ends, sums.tolist(), strict=True)}


def _from_some(G: ConvertedGraph, ends: set[Any], starts: set[Any]) -> np.ndarray:
    vertices = G.vertices(ends)
    sums = np.zeros(len(ends))

    def add(rows: slice, distances: np.ndarray) -> None:
        near = distances[:, vertices]
        np.add(sums, np.divide(1, near, out=np.zeros(near.shape), where=near > 0).sum(axis=0), out=sums)

    bfs_batch(G.forward, G.vertices(starts), on_batch=add, engine=batch_engine(G.forward, len(starts)))
    return sums


def _nodes(G: ConvertedGraph, bunch: Any) -> set[Any]:
    return G.everything if bunch is None else set(G.origin.nbunch_iter(bunch))
