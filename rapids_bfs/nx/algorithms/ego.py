"""The neighbourhood of a node, as a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algorithms.neighborhoods import induced_arcs, neighborhoods
from ...engines import kernel_limit
from ..classes import THEIRS
from ..graph import ConvertedGraph, FallBack, levels, many_objects

FEW_ARCS = 1 << 6  # NetworkX copies fewer before NumPy has begun


def ego_graph(
    G: ConvertedGraph, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: None = None
) -> Any:
    if not G.is_own(n):  # NetworkX's set may hold either of the two objects
        raise FallBack
    over, hops = G.undirected if undirected else G.forward, kernel_limit(levels(radius))
    vertices = neighborhoods(over, [G.vertex(n)], hops).vertices  # in the order in which NetworkX finds them
    ego = _subgraph(G, vertices) if _pays(G, vertices) else G.origin.subgraph(G.nodes_at(vertices)).copy()
    if not center:
        ego.remove_node(n)
    return ego


def _pays(G: ConvertedGraph, vertices: np.ndarray) -> bool:
    """Is this one of NetworkX's plain classes, not a view, and has the subgraph enough arcs?"""
    if type(G.origin) not in THEIRS or hasattr(G.origin, "_graph"):
        return False
    offsets = G.forward.offsets
    return int((offsets[1:][vertices] - offsets[vertices]).sum()) >= FEW_ARCS


@many_objects()
def _subgraph(G: ConvertedGraph, vertices: np.ndarray) -> Any:
    """``G.subgraph(nodes).copy()``, in its order, without looking at the other edges in Python."""
    theirs, copied = G.origin, _parallel if G.is_multigraph() else dict
    shown = set(G.nodes_at(vertices))
    order = G.known(shown) if 2 * len(shown) < len(G) else np.sort(vertices)
    copy = type(theirs)()
    copy.graph.update(theirs.graph)
    out, into = copy._adj, copy._pred if G.is_directed() else copy._adj
    for node in G.nodes_at(order):
        copy._node[node] = dict(theirs._node[node])
        out[node], into[node] = {}, {}
    tails, heads = _arcs_within(G, order)
    for tail, head in zip(G.nodes_at(tails), G.nodes_at(heads), strict=True):
        out[tail][head] = into[head][tail] = copied(theirs._adj[tail][head])
    return copy


def _parallel(keys: dict[Any, dict[Any, Any]]) -> dict[Any, dict[Any, Any]]:
    """A copy of the attributes of parallel edges."""
    return {key: dict(data) for key, data in keys.items()}


def _arcs_within(G: ConvertedGraph, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets of the arcs between these vertices, in the order of NetworkX's view; of an undirected edge
    only the first arc, as adding it adds the other."""
    place, offsets = np.empty(len(G), G.forward.targets.dtype), G.forward.offsets
    place[order] = np.arange(len(order))  # the other entries are neither written nor read
    tails, heads = induced_arcs(G.forward, order)
    if not G.is_directed():
        first = place[heads] >= place[tails]
        tails, heads = tails[first], heads[first]
    if G.is_multigraph():  # its view shows rows much longer than the subgraph in the subgraph's order
        turn = np.arange(len(heads))
        long = offsets[tails + 1] - offsets[tails] > 2 * len(order)
        turn[long] = place[heads[long]]
        turns = np.lexsort((turn, place[tails]))
        tails, heads = tails[turns], heads[turns]
    return tails, heads
