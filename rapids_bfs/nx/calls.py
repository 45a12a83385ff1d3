"""How a function of ours is called in the place of NetworkX's: it searches the conversion, and NetworkX answers what
it leaves and what cannot be converted. `LeftToNetworkX` ends here."""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial, wraps
from typing import Any

from networkx.utils.backends import _registered_algorithms

from . import as_it_is_now
from .classes import is_read_as_theirs
from .functions import FUNCTIONS, Function
from .graph import ConvertedGraph, LeftToNetworkX
from .policy import idle_argument
from .replay import Replay
from .views import MARK

logger = logging.getLogger(__package__)


@cache
def implementation(name: str) -> Callable[..., Any]:
    """Our function of this name, as it is called."""
    declared = FUNCTIONS[name]
    function = getattr(importlib.import_module(f"{__package__}.{declared.module}"), name)
    original = _registered_algorithms[name].orig_func
    kind = _generator if inspect.isgeneratorfunction(inspect.unwrap(original)) else _function
    return wraps(function)(kind(declared, function, original))


def _function(declared: Function, ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(theirs)

    def run(G: Any, *args: Any, **kwargs: Any) -> Any:
        call = signature.bind(G, *args, **kwargs)
        try:
            call.arguments["G"] = _searchable(declared, call.arguments)
            return ours(*call.args, **call.kwargs)
        except LeftToNetworkX as left:
            call.arguments |= _left(ours, left, G)
        return theirs(*call.args, **call.kwargs)  # out here, so that its exceptions have no context of ours

    return run


def _generator(declared: Function, ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A generator, as NetworkX's is. Nothing is looked at before the first item is asked for. If the graph changes
    between two items, NetworkX's goes on; that of a search from every node sees changes itself."""
    signature = inspect.signature(theirs)

    def run(G: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        call = signature.bind(G, *args, **kwargs)
        converted, given = G, 0
        try:
            converted = call.arguments["G"] = _searchable(declared, call.arguments)
            _keep_sources(converted, call.arguments)
            look, unchanged = _sight(converted)
            for item in ours(*call.args, **call.kwargs):
                yield item
                given += 1
                if look() is not unchanged and not declared.per_vertex:
                    raise LeftToNetworkX
            return
        except LeftToNetworkX as left:
            call.arguments |= _left(ours, left, G)
        if given:
            yield from Replay(converted).rest(theirs, call.arguments, given)
        else:
            yield from theirs(*call.args, **call.kwargs)

    return run


def _searchable(declared: Function, arguments: Mapping[str, Any]) -> ConvertedGraph:
    """The conversion as it is now, if it may be searched for these arguments."""
    graph = arguments["G"]
    if not isinstance(graph, ConvertedGraph) or not is_read_as_theirs(graph.origin):
        raise LeftToNetworkX
    if idle_argument(declared, graph.origin, arguments) is not None:
        raise LeftToNetworkX
    try:
        graph = as_it_is_now(graph)
    except Exception:  # of a node's own methods, or as another thread changes the graph
        raise LeftToNetworkX from None
    if len(graph) == 0:
        raise LeftToNetworkX
    return graph


def _keep_sources(graph: ConvertedGraph, arguments: dict[str, Any]) -> None:
    """Sources that can be gone through once only, as a list: NetworkX may have to go through them too."""
    sources = arguments.get("sources")
    if isinstance(sources, Iterator) and graph.find(sources) is None:
        arguments["sources"] = list(sources)


def _sight(graph: ConvertedGraph) -> tuple[Callable[[], Any], Any]:
    """A function, and what it returns as long as the graph has not changed. It takes the time of an item or less."""
    if graph.state is None:  # nothing would tell
        raise LeftToNetworkX
    if len(graph.state) > 1:
        return lambda: graph.is_current, True
    return partial(graph.origin.__networkx_cache__.get, MARK), graph.state[0]


def _left(function: Callable[..., Any], left: LeftToNetworkX, graph: Any) -> dict[str, Any]:
    logger.debug("%s: left to NetworkX", function.__name__)
    return {"G": getattr(graph, "origin", graph), **left.arguments}
