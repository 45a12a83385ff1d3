"""The NetworkX backend ``rapids_bfs``: NetworkX's functions on our engines, with NetworkX's answers in its order.

>>> import networkx as nx
>>> list(nx.bfs_edges(nx.path_graph(4), 1, backend="rapids_bfs"))
[(1, 0), (1, 2), (2, 3)]

NetworkX finds the functions as attributes of this module; `functions` declares them. Importing it is light.
"""

from __future__ import annotations

from typing import Any

from .._core.environment import check_environment
from .cache import cached_conversion, detach_networkx_cache
from .functions import FUNCTIONS
from .policy import can_run as can_run
from .policy import should_run as should_run


def convert_from_nx(graph: Any, **wanted: Any) -> Any:
    """The graph's conversion, which reads the graph at its first search. One conversion serves all functions."""
    check_environment()
    from .graph import ConvertedGraph

    detach_networkx_cache(graph)
    conversion = cached_conversion(graph)
    return ConvertedGraph.unread(graph) if conversion is None else conversion


def convert_to_nx(obj: Any, **wanted: Any) -> Any:
    """The NetworkX graph that was converted; any other object itself."""
    from .graph import ConvertedGraph

    return obj.origin if isinstance(obj, ConvertedGraph) else obj


def __getattr__(name: str) -> Any:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_environment()
    from .calls import implementation

    return implementation(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS})
