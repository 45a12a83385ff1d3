"""The NetworkX backend ``rapids_bfs``: NetworkX's functions on our engines, with NetworkX's answers in its order.

>>> import networkx as nx
>>> list(nx.bfs_edges(nx.path_graph(4), 1, backend="rapids_bfs"))
[(1, 0), (1, 2), (2, 3)]

NetworkX finds the functions as attributes of this module; `functions` declares them. Importing it is light.
"""

from __future__ import annotations

import logging
from typing import Any

from .functions import FUNCTIONS
from .policy import cached
from .policy import can_run as can_run
from .policy import should_run as should_run

logger = logging.getLogger(__name__)


def convert_from_nx(graph: Any, **wanted: Any) -> Any:
    """The graph as the backend takes it. It keeps every attribute, so one conversion serves all functions."""
    from .classes import Unconverted, is_read_as_theirs
    from .graph import ConvertedGraph
    from .policy import conversions

    if not is_read_as_theirs(graph):
        return Unconverted(graph)
    try:
        return next(conversions(graph), None) or ConvertedGraph(graph)
    except Exception as error:  # of a node's own methods, or as another thread changes the graph
        logger.debug("%s could not be converted: %r", graph, error)
        return Unconverted(graph)


def convert_to_nx(obj: Any, **wanted: Any) -> Any:
    """The NetworkX graph that was converted; any other object itself."""
    from .classes import Unconverted
    from .graph import ConvertedGraph

    return obj.origin if isinstance(obj, ConvertedGraph | Unconverted) else obj


def as_it_is_now(converted: Any) -> Any:
    """The conversion; a new one if the graph may have changed since."""
    if converted.is_current:
        return converted
    new = type(converted)(converted.origin)
    kept = cached(converted.origin)
    kept.update(dict.fromkeys(kept, new))
    return new


def __getattr__(name: str) -> Any:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .calls import implementation

    return implementation(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS})
