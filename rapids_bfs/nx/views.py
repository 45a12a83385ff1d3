"""Views: what NetworkX shows of another graph without copying it.

NetworkX drops what it keeps with a graph when the graph changes, but not what it keeps with the graph's views.
"""

from __future__ import annotations

from typing import Any

FILTERS = "networkx.classes.filters"
MARK = "rapids_bfs: unchanged"  # a key of NetworkX's cache, which a change empties


def state_of(graph: Any) -> object | None:
    """An object that is another one as soon as the graph that a view shows has changed; None for a graph of its own.

    A view that asks a user's function what to show has another state each time.
    """
    if not hasattr(graph, "_graph"):
        return None
    while hasattr(graph, "_graph"):
        chosen_by = (getattr(graph, name, None) for name in ("_NODE_OK", "_EDGE_OK"))
        if any(each is not None and each.__module__ != FILTERS for each in chosen_by):
            return object()
        graph = graph._graph
    cache = getattr(graph, "__networkx_cache__", None)
    unchanged: object = object() if cache is None else cache.setdefault(MARK, object())
    return unchanged
