"""The conversion of a NetworkX graph, in the graph's own cache, which NetworkX empties when the graph changes."""

from __future__ import annotations

from typing import Any

from .functions import BACKEND

KEY = "rapids_bfs: converted"  # in the graph's cache


def cached_conversion(graph: Any) -> Any:
    """The `ConvertedGraph` in this graph's cache, if it is still current; else None."""
    found = (_cache(graph) or {}).get(KEY)
    return found if found is not None and found.is_current else None


def cache_conversion(graph: Any, conversion: Any) -> None:
    """Put a conversion in its graph's cache. Without NetworkX's caching, do nothing."""
    cache = _cache(graph)
    if cache is not None:
        cache[KEY] = conversion


def detach_networkx_cache(graph: Any) -> None:
    """Let NetworkX, which is converting this graph, cache the conversion in a dict that it will not look at again.

    NetworkX warns whenever it reuses a conversion, as edge data may have changed unnoticed. Ours holds no edge data,
    and `cache_conversion` caches it.
    """
    cache = _cache(graph)
    if cache is not None:
        cache.get("backends", {}).pop(BACKEND, None)


def _cache(graph: Any) -> dict[str, Any] | None:
    import networkx as nx

    return getattr(graph, "__networkx_cache__", None) if nx.config.cache_converted_graphs else None
