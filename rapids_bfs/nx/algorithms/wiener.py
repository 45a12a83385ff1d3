"""The sum of all distances."""

from __future__ import annotations

import math

from ..graph import ConvertedGraph
from ..search import summary


def wiener_index(G: ConvertedGraph, weight: None = None) -> float:
    found = summary(G)
    if (found.reached < len(G)).any():
        return math.inf
    total = int(found.total.sum())
    return total if G.is_directed() else total / 2
