"""Which calls the backend can run, and which it should.

A call runs here if its graph is converted already, or if NetworkX would look at ``min_edges`` edges or more to answer
it: then converting and searching takes less time. NetworkX mostly finds a path between two vertices, or an odd cycle,
after a few edges, so that such a call alone is no reason to convert.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from numbers import Real
from typing import Any

from .._core.interrupts import is_interrupt
from ..errors import InputError
from .cache import cached_conversion, detach_networkx_cache
from .functions import FUNCTIONS, Function


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """True, or why not."""
    if not is_ours(name):
        return f"{name} is another function in this version of NetworkX"
    arguments = arguments_of(name, args, kwargs)
    if arguments is None:
        return "NetworkX says what is wrong with these arguments"
    detach_networkx_cache(arguments["G"])  # a conversion that a signal ended, too: NetworkX would never try it again
    given = next((each for each in FUNCTIONS[name].without if arguments.get(each) is not None), None)
    return True if given is None else f"{given} must be None"


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """True, or why not."""
    import networkx as nx

    from .classes import is_read_as_theirs

    function, arguments = FUNCTIONS[name], arguments_of(name, args, kwargs)
    assert arguments is not None
    graph = arguments["G"]
    if not is_read_as_theirs(graph):
        return f"{type(graph).__name__} has its own way of being read"
    if asked := delegated_argument(function, graph, arguments):
        return f"with {asked}, NetworkX is as fast"
    if cached_conversion(graph) is not None:
        return True
    enough = nx.config.backends.rapids_bfs.min_edges
    if not isinstance(enough, Real):
        raise InputError(f"nx.config.backends.rapids_bfs.min_edges must be a number, not {enough!r}")
    try:
        if _work(function, graph, arguments, enough):
            return True
    except Exception as error:
        if is_interrupt(error):
            raise
        return "NetworkX says what is wrong"  # no node, no limit, or one that fails when it is compared
    return "converting would take longer than NetworkX"


def delegated_argument(function: Function, graph: Any, arguments: Mapping[str, Any]) -> str | None:
    """The given argument, if any, that leaves the call to NetworkX."""
    for name in function.delegated:
        given = arguments.get(name)
        if given is not None and not (name == "neighbors" and direction(graph, given)):
            return name
    return None


def direction(graph: Any, neighbors: Any) -> str | None:
    """The direction in which the graph's own method lists a node's neighbours; None for any other function."""
    import networkx as nx

    if getattr(neighbors, "__self__", None) is not graph:
        return None
    methods = {nx.Graph.neighbors: "forward", nx.DiGraph.successors: "forward", nx.DiGraph.predecessors: "backward"}
    return methods.get(getattr(neighbors, "__func__", None))


def is_ours(name: str) -> bool:
    """Return True if the installed NetworkX has the function declared by this name."""
    function = original(name)
    return function is not None and function.__module__ == f"networkx.{FUNCTIONS[name].module}"


@cache
def original(name: str) -> Any:
    """NetworkX's own function of this name; None if the installed version has none."""
    import networkx
    from networkx.utils.backends import _registered_algorithms

    function = _registered_algorithms.get(name) or getattr(networkx, name, None)  # from 3.7 on barycenter is centroid
    return getattr(function, "orig_func", None)


@cache
def _parameters(name: str) -> tuple[tuple[str, ...], dict[str, Any], set[str]]:
    """NetworkX's function's positional parameters, defaults by name, and all parameters."""
    parameters = inspect.signature(original(name)).parameters
    by_place = tuple(each for each in parameters if parameters[each].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD)
    defaults = {each: found.default for each, found in parameters.items() if found.default is not found.empty}
    return by_place, defaults, set(parameters)


def arguments_of(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """All arguments by name; None if they do not fit. Python's own `Signature.bind` takes as long as a search."""
    by_place, defaults, every = _parameters(name)
    placed = dict(zip(by_place, args, strict=False))
    if len(placed) < len(args) or not placed.keys().isdisjoint(kwargs):
        return None
    bound = {**defaults, **placed, **kwargs}
    return bound if bound.keys() == every else None


def _work(function: Function, graph: Any, arguments: Mapping[str, Any], enough: Any) -> bool:
    """Would NetworkX look at ``enough`` edges? Looks at no more than these itself."""
    given = [arguments[end] for end in function.ends if arguments.get(end) is not None]
    if len(given) > 1 or function.early:
        return False
    if given:
        limit = arguments.get(function.limit) if function.limit else None
        return _reaches(graph, given[0], limit, enough)
    if function.per_vertex:
        enough //= max(len(graph), 1)
    edges = 0
    for row in graph._adj.values():
        edges += len(row)
        if edges >= enough:
            return True
    return False


def _reaches(graph: Any, source: Any, limit: Any, enough: Any) -> bool:
    """Return True if a search from ``source`` looks at ``enough`` edges before it ends or reaches its limit."""
    rows = graph._adj
    if source not in graph and isinstance(source, Iterator):
        return True  # it can be read only once
    level = {source} if source in graph else set(source)
    seen: set[Any] = set()
    edges = depth = 0
    while level and (limit is None or depth < limit):
        seen |= level
        lists = list(map(rows.__getitem__, level))
        edges += sum(map(len, lists))
        if edges >= enough:
            return True
        level = set(chain.from_iterable(lists)) - seen
        depth += 1
    return False
