"""Eccentricity and what follows from it; barycenter; harmonic diameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..graph import ConvertedGraph, LeftToNetworkX
from ..search import VERSION, connected_summary, summary


def eccentricity(G: ConvertedGraph, v: Any = None, sp: None = None, weight: None = None) -> Any:
    _leave(sp)
    nodes = G.nodes.tolist() if v is None else list(G.origin.nbunch_iter(v))
    found = dict(zip(nodes, connected_summary(G, nodes).eccentricity.tolist(), strict=True))
    return found[v] if v is not None and G.find(v) is not None else found


def diameter(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    _leave(e)
    return int(connected_summary(G).eccentricity.max())


def radius(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    _leave(e)
    return int(connected_summary(G).eccentricity.min())


def periphery(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Any]:
    _leave(e)
    found = connected_summary(G).eccentricity
    return G.nodes_at(np.flatnonzero(found == found.max()))


def center(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Any]:
    _leave(e)
    found = connected_summary(G).eccentricity
    return G.nodes_at(np.flatnonzero(found == found.min()))


def barycenter(G: ConvertedGraph, weight: None = None, attr: None = None, sp: None = None) -> list[Any]:
    _leave(sp)
    if VERSION >= (3, 6) and not G.is_directed() and G.num_edges == len(G) - 1:
        raise LeftToNetworkX  # which has a faster way, and an order of its own, for a tree
    found = connected_summary(G).total
    return G.nodes_at(np.flatnonzero(found == found.min()))


centroid = barycenter  # its name from NetworkX 3.7 on


def harmonic_diameter(G: ConvertedGraph, sp: None = None, *, weight: None = None) -> float:
    _leave(sp)
    n, total = len(G), float(summary(G).harmonic.sum())
    if total:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


def _leave(given: Any) -> None:
    """Leave to NetworkX what gives it distances: there is nothing to search."""
    if given is not None:
        raise LeftToNetworkX
