"""Has a graph changed?

When a graph changes, NetworkX empties the graph's cache, but not those of its views, which show the graph without a
copy.
"""

from __future__ import annotations

from typing import Any

FILTERS = "networkx.classes.filters"
MARK = "rapids_bfs: unchanged"  # a key of NetworkX's cache, which a change empties


def state_of(graph: Any) -> tuple[object, ...] | None:
    """A state that stays equal as long as neither the graph nor, for a view, the graphs that it shows change.

    None if changes leave no mark: the graph has no cache, or the user's function decides what the view shows.
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
