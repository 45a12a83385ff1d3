"""Closeness: the reciprocal of a node's mean distance from all that reach it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import ConvertedGraph
from ...search import summary


def closeness_centrality(
    G: ConvertedGraph, u: Any = None, distance: None = None, wf_improved: bool = True, *, sp: None = None
) -> Any:
    nodes = G.nodes.tolist() if u is None else [u]
    found = summary(G, nodes, over=G.backward)
    others, total = found.reached - 1.0, np.maximum(found.total, 1)
    centrality = others / total
    if wf_improved and len(G) > 1:
        centrality *= others / (len(G) - 1)
    values = centrality.tolist()
    return dict(zip(nodes, values, strict=True)) if u is None else values[0]
