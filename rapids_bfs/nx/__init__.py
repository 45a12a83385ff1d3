"""The NetworkX backend ``rapids_bfs``: NetworkX's functions on our engines, with NetworkX's answers in its order.

>>> import networkx as nx
>>> list(nx.bfs_edges(nx.path_graph(4), 1, backend="rapids_bfs"))
[(1, 0), (1, 2), (2, 3)]

NetworkX finds the functions as attributes of this module; `functions` declares them. Importing it is light.
"""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from .functions import FUNCTIONS
from .policy import cached
from .policy import can_run as can_run
from .policy import should_run as should_run

logger = logging.getLogger(__name__)


def convert_from_nx(graph: Any, **wanted: Any) -> Any:
    """The graph as the backend takes it. It keeps every attribute, so one conversion serves all functions."""
    from .graph import ConvertedGraph
    from .policy import conversions

    return next(conversions(graph), None) or ConvertedGraph(graph)


def convert_to_nx(obj: Any, **wanted: Any) -> Any:
    """The NetworkX graph that was converted; any other object itself."""
    from .graph import ConvertedGraph

    return obj.origin if isinstance(obj, ConvertedGraph) else obj


def as_it_is_now(converted: Any) -> Any:
    """The conversion; a new one if the graph may have changed since."""
    if converted.is_current:
        return converted
    new = type(converted)(converted.origin)
    kept = cached(converted.origin)
    kept.update(dict.fromkeys(kept, new))
    return new


@cache
def _implementation(name: str) -> Callable[..., Any]:
    """Our function of this name, which asks NetworkX's where that answers best."""
    from networkx.utils.backends import _registered_algorithms

    from .graph import LeftToNetworkX

    function = getattr(importlib.import_module(f"{__name__}.{FUNCTIONS[name].module}"), name)
    original = _registered_algorithms[name].orig_func
    signature = inspect.signature(original)

    @wraps(function)
    def run(G: Any, *args: Any, **kwargs: Any) -> Any:
        G = as_it_is_now(G)
        try:
            if len(G) == 0:
                raise LeftToNetworkX
            return function(G, *args, **kwargs)
        except LeftToNetworkX as left:
            logger.debug("%s: left to NetworkX", name)
            call = signature.bind(G.origin, *args, **kwargs)
            call.arguments.update(left.arguments)
            return original(*call.args, **call.kwargs)

    return run


def __getattr__(name: str) -> Any:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _implementation(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS})
