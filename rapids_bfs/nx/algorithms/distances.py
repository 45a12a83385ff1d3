"""Eccentricities and measures from them, sums and means of distances, and the shortest cycle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core.threads import pool
from ...algorithms import distances
from ...kernels.cpu.networkx import neighborhoods
from ..graph import ConvertedGraph, FallBack
from ..routing import batch_engine
from ..search import VERSION, connected_summary, summary
from .components import is_connected, is_strongly_connected


def eccentricity(G: ConvertedGraph, v: Any = None, sp: None = None, weight: None = None) -> Any:
    if v is None:
        return dict(zip(G.nodes.tolist(), _measured(distances.eccentricity, G).tolist(), strict=True))
    nodes = _nodes(G, v)
    of_each = dict(zip(nodes, connected_summary(G, nodes).eccentricity.tolist(), strict=True))
    return of_each[v] if G.find(v) is not None else of_each


def diameter(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    return int(_measured(distances.diameter, G))


def radius(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    return int(_measured(distances.radius, G))


def periphery(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Any]:
    return G.nodes_at(_measured(distances.peripheral, G))


def center(G: ConvertedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Any]:
    return G.nodes_at(_measured(distances.central, G))


def _measured(measure: Callable[..., Any], G: ConvertedGraph) -> Any:
    """``measure`` of the graph, if each node reaches every other; otherwise NetworkX raises its error."""
    if not (is_strongly_connected(G) if G.is_directed() else is_connected(G)):
        raise FallBack
    return measure(G.forward, engine=batch_engine(G.forward, len(G)))


def barycenter(G: ConvertedGraph, weight: None = None, attr: None = None, sp: None = None) -> list[Any]:
    if VERSION >= (3, 6) and not G.is_directed() and G.num_edges == len(G) - 1:
        raise FallBack  # NetworkX has a faster way, and an order of its own, for a tree
    found = connected_summary(G).total
    return G.nodes_at(np.flatnonzero(found == found.min()))


centroid = barycenter  # its name from NetworkX 3.7 on


def harmonic_diameter(G: ConvertedGraph, sp: None = None, *, weight: None = None) -> float:
    n, total = len(G), float(summary(G).harmonic.sum())
    if total:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


def _nodes(G: ConvertedGraph, bunch: Any) -> list[Any]:
    """The nodes of a bunch, which may be a single node."""
    try:
        return list(G.origin.nbunch_iter(bunch))
    except Exception as error:
        raise FallBack from error


def global_efficiency(G: ConvertedGraph) -> float:
    n = len(G)
    return float(summary(G).harmonic.sum()) / (n * (n - 1)) if n > 1 else 0


def local_efficiency(G: ConvertedGraph) -> float:
    with pool.work_on() as threads:
        found = neighborhoods.efficiencies(G.forward.offsets, G.forward.targets, threads)
    return float(sum(found.tolist())) / len(G)


def wiener_index(G: ConvertedGraph, weight: None = None) -> float:
    found = summary(G)
    if (found.reached < len(G)).any():
        return math.inf
    total = int(found.total.sum())
    return total if G.is_directed() else total / 2


def girth(G: ConvertedGraph) -> float:
    length = int(neighborhoods.girth(G.forward.offsets, G.forward.targets))
    return length or math.inf
