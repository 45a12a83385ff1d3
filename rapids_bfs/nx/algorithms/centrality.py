"""Betweenness, closeness, harmonic and reaching centrality."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from networkx.algorithms.centrality import betweenness, betweenness_subset

from ..._core.csr.host import sources_of
from ...algorithms.batch import bfs_batch
from ...kernels.cpu.networkx import ordered
from ..graph import ConvertedGraph, FallBack
from ..routing import batch_engine
from ..search import VERSION, ordered_bfs, shares_of_paths, summary


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
    nodes, vertices = _sample(G, k, seed)
    sums = shares_of_paths(G, vertices, endpoints=bool(endpoints))
    return _of_nodes(betweenness, G, sums, normalized=normalized, k=k, endpoints=endpoints, sampled_nodes=nodes)


def edge_betweenness_centrality(
    G: ConvertedGraph, k: int | None = None, normalized: bool = True, weight: None = None, seed: Any = None
) -> dict[Any, float]:
    nodes, vertices = _sample(G, k, seed)
    sums = shares_of_paths(G, vertices, edges=True)
    return _of_edges(betweenness, G, sums, normalized=normalized, sampled_nodes=nodes)


def betweenness_centrality_subset(
    G: ConvertedGraph, sources: Any, targets: Any, normalized: bool = False, weight: None = None
) -> dict[Any, float]:
    starts, ends = _vertices(G, sources, targets)
    sums = shares_of_paths(G, starts, targets=ends)
    return _of_nodes(betweenness_subset, G, sums, normalized=normalized, endpoints=False)


def edge_betweenness_centrality_subset(
    G: ConvertedGraph, sources: Any, targets: Any, normalized: bool = False, weight: None = None
) -> dict[Any, float]:
    starts, ends = _vertices(G, sources, targets)
    edges, wanted = G.forward, np.zeros(len(G), bool)
    wanted[ends] = True
    sums = np.zeros(edges.num_arcs)
    for start in starts:
        search = ordered_bfs(G, np.array([start]))
        ordered.add_to_edges(edges.offsets, edges.targets, search.order, search.distances, wanted, sums)
    return _of_edges(betweenness_subset, G, sums, normalized=normalized)


def _sample(G: ConvertedGraph, k: int | None, seed: Any) -> tuple[list[Any] | None, np.ndarray | None]:
    """``k`` nodes at random, and their vertices; None for all."""
    nodes = None if k is None else seed.sample(G.nodes.tolist(), k)
    return nodes, None if nodes is None else G.vertices(nodes)


def _of_nodes(theirs: ModuleType, G: ConvertedGraph, sums: np.ndarray, **facts: Any) -> dict[Any, float]:
    """The sums by node, as NetworkX's module scales them."""
    return _rescaled(theirs._rescale, G, dict(zip(G.nodes.tolist(), sums.tolist(), strict=True)), facts)


def _of_edges(theirs: ModuleType, G: ConvertedGraph, sums: np.ndarray, **facts: Any) -> dict[Any, float]:
    """The CSR's sums per arc as values per edge, as NetworkX's module scales them, keyed and ordered as in ``G.edges``.
    In a multigraph an edge's value is divided among its parallel edges."""
    heads = G.forward.targets
    tails = sources_of(G.forward.offsets, heads)
    if not G.is_directed():
        up, down = np.flatnonzero(tails < heads), np.flatnonzero(tails > heads)
        twins = down[np.lexsort((tails[down], heads[down]))]  # in the order of their other ends
        sums = sums.copy()
        sums[up[np.lexsort((heads[up], tails[up]))]] += sums[twins]
        once = tails <= heads
        tails, heads, sums = tails[once], heads[once], sums[once]
    edges = zip(G.nodes_at(tails), G.nodes_at(heads), strict=True)
    rescale = getattr(theirs, "_rescale_e", theirs._rescale)
    values = _rescaled(rescale, G, dict(zip(edges, sums.tolist(), strict=True)), facts)
    return dict(betweenness._add_edge_keys(G.origin, values)) if G.is_multigraph() else values


def _rescaled(
    rescale: Callable[..., dict[Any, float]], G: ConvertedGraph, sums: dict[Any, float], facts: dict[str, Any]
) -> dict[Any, float]:
    """The sums as the installed NetworkX scales them; its versions take different arguments."""
    asked = inspect.signature(rescale).parameters
    given = {name: fact for name, fact in {**facts, "directed": G.is_directed()}.items() if name in asked}
    return rescale(sums, len(G), **given)


def _vertices(G: ConvertedGraph, sources: Any, targets: Any) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of the sources, repeated as given, and those of the targets that are nodes."""
    if isinstance(targets, Iterator):  # NetworkX has used it up after the first source
        raise FallBack
    try:
        found = {vertex for end in set(targets) if (vertex := G.find(end)) is not None}
        return G.vertices(sources), np.array(sorted(found), np.int64)
    except Exception as error:
        raise FallBack from error


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
