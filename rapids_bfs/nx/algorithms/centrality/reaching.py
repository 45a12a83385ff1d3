"""Reaching centrality: the share of the graph that a node reaches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import ConvertedGraph, FallBack
from ...search import summary


def global_reaching_centrality(G: ConvertedGraph, weight: None = None, normalized: bool = True) -> float:
    found: list[float] = _reaching(G).tolist()
    most = max(found)
    return sum(most - each for each in found) / (len(G) - 1)


def local_reaching_centrality(
    G: ConvertedGraph, v: Any, paths: None = None, weight: None = None, normalized: bool = True
) -> float:
    return float(_reaching(G, [v])[0])


def _reaching(G: ConvertedGraph, nodes: Any = None) -> np.ndarray:
    if G.num_edges == 0 or len(G) == 1:
        raise FallBack
    found = summary(G, nodes)
    reaching: np.ndarray = found.reached - 1 if G.is_directed() else found.harmonic
    return reaching / (len(G) - 1)
