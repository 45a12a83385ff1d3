"""Two-colourings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ....kernels.cpu.networkx import components
from ...graph import ConvertedGraph, LeftToNetworkX
from ..components.connected import is_connected
from ..components.weakly_connected import is_weakly_connected


def color(G: ConvertedGraph) -> dict[Any, int]:
    order, colors = _colors(G)
    isolated = np.flatnonzero(G.mutual.degrees == 0)
    nodes = G.nodes_at(np.concatenate([order, isolated]))
    return dict(zip(nodes, colors[order].tolist() + [0] * len(isolated), strict=True))


def is_bipartite(G: ConvertedGraph) -> bool:
    try:
        _colors(G)
    except LeftToNetworkX:
        return False
    return True


def sets(G: ConvertedGraph, top_nodes: Iterable[Any] | None = None) -> tuple[set[Any], set[Any]]:
    if top_nodes is not None:
        top = set(top_nodes)
        return top, G.everything - top
    connected = is_weakly_connected(G) if G.is_directed() else is_connected(G)
    if not connected:
        raise LeftToNetworkX
    colored = color(G)
    return {node for node, top in colored.items() if top}, {node for node, top in colored.items() if not top}


def _colors(G: ConvertedGraph) -> tuple[np.ndarray, np.ndarray]:
    """The coloured vertices in NetworkX's order, and the colours of all. An odd cycle is NetworkX's to report."""
    edges = G.mutual_in_first
    order, colors = np.empty((2, len(G)), np.int64)
    tail = components.two_colors(edges.offsets, edges.targets, G.forward.degrees > 0, order, colors)
    if tail < 0:
        raise LeftToNetworkX
    return order[:tail], colors
