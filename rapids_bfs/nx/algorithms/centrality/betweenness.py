"""Betweenness of nodes and edges."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from networkx.algorithms.centrality import betweenness as theirs

from ...graph import ConvertedGraph
from ...search import VERSION, shares_of_paths


def betweenness_centrality(
    G: ConvertedGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    if VERSION >= (3, 5) and k == len(G):
        k = None
    nodes = _sample(G, k, seed)
    sums = shares_of_paths(G, _vertices(G, nodes), endpoints=bool(endpoints))
    found = dict(zip(G.nodes.tolist(), sums.tolist(), strict=True))
    return rescaled(theirs._rescale, G, found, normalized=normalized, k=k, endpoints=endpoints, sampled_nodes=nodes)


def edge_betweenness_centrality(
    G: ConvertedGraph, k: int | None = None, normalized: bool = True, weight: None = None, seed: Any = None
) -> dict[Any, float]:
    nodes = _sample(G, k, seed)
    sums = shares_of_paths(G, _vertices(G, nodes), edges=True)
    rescale = getattr(theirs, "_rescale_e", theirs._rescale)
    return with_keys(G, rescaled(rescale, G, of_edges(G, sums), normalized=normalized, sampled_nodes=nodes))


def of_edges(G: ConvertedGraph, sums: np.ndarray) -> dict[Any, float]:
    """The CSR's sums per arc as sums per edge, keyed and ordered as in ``G.edges``."""
    heads = G.forward.targets
    tails = np.repeat(np.arange(len(G), dtype=heads.dtype), G.forward.degrees)
    if not G.is_directed():
        up, down = np.flatnonzero(tails < heads), np.flatnonzero(tails > heads)
        twins = down[np.lexsort((tails[down], heads[down]))]  # in the order of their other ends
        sums = sums.copy()
        sums[up[np.lexsort((heads[up], tails[up]))]] += sums[twins]
        once = tails <= heads
        tails, heads, sums = tails[once], heads[once], sums[once]
    edges = zip(G.nodes_at(tails), G.nodes_at(heads), strict=True)
    return dict(zip(edges, sums.tolist(), strict=True))


def rescaled(
    rescale: Callable[..., dict[Any, float]], G: ConvertedGraph, sums: dict[Any, float], **facts: Any
) -> dict[Any, float]:
    """The sums as the installed NetworkX scales them; its versions take different arguments."""
    facts["directed"] = G.is_directed()
    asked = inspect.signature(rescale).parameters
    return rescale(sums, len(G), **{name: fact for name, fact in facts.items() if name in asked})


def with_keys(G: ConvertedGraph, values: dict[Any, float]) -> dict[Any, float]:
    """An edge's value divided among its parallel edges, in a multigraph."""
    found: dict[Any, float] = theirs._add_edge_keys(G.origin, values) if G.is_multigraph() else values
    return found


def _sample(G: ConvertedGraph, k: int | None, seed: Any) -> list[Any] | None:
    return None if k is None else seed.sample(G.nodes.tolist(), k)


def _vertices(G: ConvertedGraph, nodes: list[Any] | None) -> np.ndarray | None:
    return None if nodes is None else G.vertices(nodes)
