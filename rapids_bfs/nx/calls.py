"""How NetworkX's dispatcher calls our functions, which search the conversion of a graph.

If one raises `FallBack`, or the graph cannot be converted, NetworkX's own function answers the call.
"""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable, Iterator
from functools import cache, partial, wraps
from typing import Any

from .classes import MARK, is_read_as_theirs
from .conversions import as_it_is_now
from .functions import FUNCTIONS
from .graph import ConvertedGraph, FallBack
from .policy import arguments_of, delegated_argument, original
from .replay import Replay

logger = logging.getLogger(__package__)

NODES = ("sources", "nbunch", "top_nodes", "v")  # arguments that may hold several nodes


@cache
def implementation(name: str) -> Callable[..., Any]:
    """Our function of this name, with NetworkX's to fall back on."""
    declared = FUNCTIONS[name]
    function = getattr(importlib.import_module(f"{__package__}.algorithms.{declared.ours}"), name)
    theirs = original(name)
    if theirs is None:
        raise AttributeError(f"the installed NetworkX has no function {name!r}")
    kind = _generator if inspect.isgeneratorfunction(inspect.unwrap(theirs)) else _function
    called = wraps(function)(kind(name, function, theirs))
    called.__name__ = name  # two names may share a function
    return called


def _function(name: str, ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        arguments = arguments_of(name, args, kwargs)
        if arguments is None:  # NetworkX says what is wrong
            return theirs(*args, **kwargs)
        graph = arguments["G"]
        try:
            _make_searchable(name, arguments)
            return ours(**arguments)
        except FallBack:
            arguments["G"] = _left(name, graph)
        # Outside of `except`, so that NetworkX's exceptions do not show ours as their context.
        return theirs(**arguments)

    return run


def _generator(name: str, ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A generator, like NetworkX's own: nothing is read before the first item is requested.

    If the graph changes between two items, NetworkX's generator gives the rest. A search from every node
    (``per_vertex``) handles changes itself.
    """

    def run(*args: Any, **kwargs: Any) -> Iterator[Any]:
        arguments = arguments_of(name, args, kwargs)
        if arguments is None:  # NetworkX says what is wrong
            yield from theirs(*args, **kwargs)
            return
        graph, given = arguments["G"], 0
        try:
            converted = _make_searchable(name, arguments)
            mark, unchanged = _change_mark(converted)
            for item in ours(**arguments):
                yield item
                given += 1
                if mark() is not unchanged and not FUNCTIONS[name].per_vertex:
                    raise FallBack
            return
        except FallBack:
            arguments["G"] = _left(name, graph)
        yield from Replay(converted).rest(theirs, arguments, given) if given else theirs(**arguments)

    return run


def _make_searchable(name: str, arguments: dict[str, Any]) -> ConvertedGraph:
    """Replace the graph by its conversion as it is now, if it may be searched for these arguments, and an iterator over
    nodes by a list, as NetworkX may read it after us."""
    graph = arguments["G"]
    if not isinstance(graph, ConvertedGraph) or not is_read_as_theirs(graph.origin):
        raise FallBack
    if delegated_argument(FUNCTIONS[name], graph.origin, arguments) is not None:
        raise FallBack
    try:
        graph = as_it_is_now(graph)
    except Exception as error:  # raised by a node's own methods, or because another thread changes the graph
        raise FallBack from error
    if len(graph) == 0:
        raise FallBack
    arguments["G"] = graph
    for each in NODES:
        nodes = arguments.get(each)
        is_one = each == "v" and not FUNCTIONS[name].per_vertex  # to search from, as in `local_reaching_centrality`
        if not is_one and isinstance(nodes, Iterator) and graph.find(nodes) is None:
            arguments[each] = list(nodes)
    return graph


def _change_mark(graph: ConvertedGraph) -> tuple[Callable[[], Any], Any]:
    """A function, and the object that it returns until the graph changes; as fast as taking an item."""
    if graph.state is None:  # changes leave no mark
        raise FallBack
    if hasattr(graph.origin, "_graph"):  # a view: a change of its graph leaves its own cache as it is
        return lambda: graph.is_current, True
    return partial(graph.origin.__networkx_cache__.get, MARK), graph.state[0]


def _left(name: str, graph: Any) -> Any:
    """The graph for NetworkX's own function to search."""
    logger.debug("%s: left to NetworkX", name)
    return getattr(graph, "origin", graph)
