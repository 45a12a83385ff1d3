"""Eccentricity and what follows from it; barycenter; harmonic diameter."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..graph import ConvertedGraph, LeftToNetworkX
from ..search import VERSION, connected_summary, summary


def eccentricity(G: ConvertedGraph, v: Any = None, sp: None = None, weight: None = None) -> Any:
    nodes = G.nodes.tolist() if v is None else _nodes(G, v)
    found = dict(zip(nodes, connected_summary(G, nodes).eccentricity.tolist(), strict=True))
    return found[v] if v is not None and G.find(v) is not None else found


def diameter(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    return int(connected_summary(G).eccentricity.max())


def radius(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    return int(connected_summary(G).eccentricity.min())


def periphery(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Any]:
    found = connected_summary(G).eccentricity
    return G.nodes_at(np.flatnonzero(found == found.max()))


def center(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Any]:
    found = connected_summary(G).eccentricity
    return G.nodes_at(np.flatnonzero(found == found.min()))


def barycenter(G: ConvertedGraph, weight: None = None, attr: None = None, sp: None = None) -> list[Any]:
    if VERSION >= (3, 6) and not G.is_directed() and G.num_edges == len(G) - 1:
        raise LeftToNetworkX  # which has a faster way, and an order of its own, for a tree
    found = connected_summary(G).total
    return G.nodes_at(np.flatnonzero(found == found.min()))


centroid = barycenter  # its name from NetworkX 3.7 on


def harmonic_diameter(G: ConvertedGraph, sp: None = None, *, weight: None = None) -> float:
    n, total = len(G), float(summary(G).harmonic.sum())
    if total:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


def _nodes(G: ConvertedGraph, bunch: Any) -> list[Any]:
    """The nodes of a bunch, if they can be gone through twice."""
    if isinstance(bunch, Iterator):
        raise LeftToNetworkX
    try:
        return list(G.origin.nbunch_iter(bunch))
    except Exception:
        raise LeftToNetworkX from None
