"""Has a graph changed? NetworkX empties the cache that it keeps with a graph when the graph changes, but not those of
the graph's views: what shows another graph without a copy of it."""

from __future__ import annotations

from typing import Any

FILTERS = "networkx.classes.filters"
MARK = "rapids_bfs: unchanged"  # a key of NetworkX's cache, which a change empties


def state_of(graph: Any) -> tuple[object, ...] | None:
    """Equal to what it was before only if neither the graph nor, of a view, the graphs that it shows have changed.

    None if nothing tells: the graph has no cache, or the view asks a user's function what to show.
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
