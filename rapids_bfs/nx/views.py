"""Has a graph changed?

When a graph changes, NetworkX empties the cache that it keeps with it, but not the caches of its views, which show the
graph without a copy.
"""

from __future__ import annotations

from typing import Any

FILTERS = "networkx.classes.filters"
MARK = "rapids_bfs: unchanged"  # a key of NetworkX's cache, which a change empties


def state_of(graph: Any) -> tuple[object, ...] | None:
    """Equal to what it was before only if neither the graph nor, of a view, the graphs that it shows have changed.

    None if that is unknown: the graph has no cache, or a function of the user's decides what the view shows.
    """
    marks: list[object] = []
    while graph is not None:
        chosen_by = (getattr(graph, name, None) for name in ("_NODE_OK", "_EDGE_OK"))
        if any(each is not None and each.__module__ != FILTERS for each in chosen_by):
            return None
        cache = getattr(graph, "__networkx_cache__", None)
        if cache is None:
            return None
        marks.append(cache.setdefault(MARK, object()))
        graph = getattr(graph, "_graph", None)
    return tuple(marks)
