"""Two-colourings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ....kernels.cpu.networkx import components
from ...graph import ConvertedGraph, FallBack
from ..components.connected import is_connected
from ..components.weakly_connected import is_weakly_connected


def color(G: ConvertedGraph) -> dict[Any, int]:
    colored = _colors(G)
    if colored is None:
        raise FallBack
    order, colors = colored
    isolated = G.nodes_at(np.flatnonzero(G.symmetrized.degrees == 0))
    return dict(zip(G.nodes_at(order), colors[order].tolist(), strict=True)) | dict.fromkeys(isolated, 0)


def is_bipartite(G: ConvertedGraph) -> bool:
    return _colors(G) is not None


def sets(G: ConvertedGraph, top_nodes: Iterable[Any] | None = None) -> tuple[set[Any], set[Any]]:
    if top_nodes is not None:
        top = set(top_nodes)
        return top, G.everything - top
    connected = is_weakly_connected(G) if G.is_directed() else is_connected(G)
    if not connected:
        raise FallBack
    colored = color(G)
    return {node for node, top in colored.items() if top}, {node for node, top in colored.items() if not top}


def _colors(G: ConvertedGraph) -> tuple[np.ndarray, np.ndarray] | None:
    """The coloured vertices in NetworkX's order, and the colours of all; None if there is an odd cycle."""
    edges = G.symmetrized_in_first
    lengths = G.forward.degrees
    if G.is_multigraph():  # a view also counts neighbours whose edges it hides
        lengths = np.fromiter(map(len, G.origin._adj.values()), np.int64)
    order, colors = np.empty((2, len(G)), np.int64)
    tail = components.two_colors(edges.offsets, edges.targets, lengths > 0, order, colors)
    return None if tail < 0 else (order[:tail], colors)
