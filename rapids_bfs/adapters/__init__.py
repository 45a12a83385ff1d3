"""Adapters: graphs from and to other libraries' types and files. One module a format, ``from_X`` beside ``to_X``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from .._core import rapids
from .._core.arguments import quoted
from .._core.cuda.arrays import DEVICES, clear_errors
from ..errors import InputError
from ..graph import Vertices

RESULT_COLUMNS = ("vertex", "distance", "predecessor")  # of the frame and the file of a search

# The modules that take an object: the first whose `matches` returns True.
IMPORTERS = {
    "dask": "from_dask",
    "cudf": "from_cudf",
    "pylibcudf": "from_pylibcudf",
    "cugraph": "from_cugraph",
    "pylibcugraph": "from_pylibcugraph",
    "nx_cugraph": "from_nx_cugraph",
    "cugraph_datasets": "from_dataset",
    "networkx": "from_networkx",
    "igraph": "from_igraph",
    "networkit": "from_networkit",
    "rustworkx": "from_rustworkx",
    "graphblas": "from_graphblas",
    "edge_index": "from_edge_index",
    "scipy": "from_scipy",
    "adjacency": "from_dict",
    "edges": "from_edges_object",
    "arrow": "from_arrow",
}

# Hints on how to convert types that no module takes, by their package and name.
NEXT_STEPS = {
    ("graph_tool", "Graph"): "g.get_edges(), vertices=g.num_vertices(), directed=g.is_directed()",
    ("polars", "LazyFrame"): "frame.collect()",
    ("dask", "Delayed"): "delayed.compute()",
}

# Kinds that `Graph.to` knows: module and function.
EXPORTERS = {
    "arrow": ("_tables", "to_edge_table"),
    "arrow-device": ("pylibcudf", "to_arrow_device"),
    "csr": ("csr", "to_csr"),
    "cudf": ("cudf", "to_cudf"),
    "cugraph": ("cugraph", "to_cugraph"),
    "cupy": ("edges", "to_cupy"),
    "cupyx": ("scipy", "to_cupyx"),
    "dict": ("adjacency", "to_dict"),
    "edges": ("edges", "to_edges"),
    "graphblas": ("graphblas", "to_graphblas"),
    "igraph": ("igraph", "to_igraph"),
    "networkit": ("networkit", "to_networkit"),
    "networkx": ("networkx", "to_networkx"),
    "nx-cugraph": ("nx_cugraph", "to_nx_cugraph"),
    "pandas": ("arrow", "to_pandas"),
    "polars": ("arrow", "to_polars"),
    "pylibcudf": ("pylibcudf", "to_pylibcudf"),
    "pylibcugraph": ("pylibcugraph", "to_pylibcugraph"),
    "rustworkx": ("rustworkx", "to_rustworkx"),
    "scipy": ("scipy", "to_scipy"),
}

PEERS = ("graphblas", "igraph", "networkit", "rustworkx")  # the packages of the extra of this name


def _next_step(graph: Any) -> str:
    """A hint on what to pass instead of an object that `as_graph` does not take."""
    for kind in type(graph).__mro__:
        if arguments := NEXT_STEPS.get((kind.__module__.partition(".")[0], kind.__name__)):
            return f"call as_graph({arguments})"
    if isinstance(graph, type):
        return f"{graph.__qualname__} is a class: give an object of it"
    if isinstance(graph, Iterator | set | frozenset):
        return "give a list of its edges, or a dict of its neighbour lists"
    return (
        "give a NetworkX graph, a SciPy sparse array, a table of edges, a dict of neighbour lists, a list of edges, "
        "a pair of arrays, or a path"
    )


@cache
def _adapter(module: str) -> ModuleType:
    return import_module(f".{module}", __name__)


def importer_of(obj: Any) -> str | None:
    """The first of `IMPORTERS` that takes ``obj``; None if none does."""
    if isinstance(obj, type):  # has the methods by which its instances are known
        return None
    return next((module for module in IMPORTERS if _adapter(module).matches(obj)), None)


def importer(obj: Any, module: str | None) -> Callable[..., Any]:
    """The function that makes a graph of ``obj``, from `importer_of`'s module. Raises `InputError` if that is None."""
    if module is None:
        raise InputError(f"cannot make a graph of {type(obj).__module__}.{type(obj).__qualname__}: {_next_step(obj)}")
    function: Callable[..., Any] = getattr(_adapter(module), IMPORTERS[module])
    return function


def call(function: Callable[..., Any], *graph: Any, **options: Any) -> Any:
    """Call an adapter. Raises `InputError` for an option that this kind of graph does not have."""
    if options:
        from inspect import signature

        known = signature(function).parameters
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
        for option in options:
            if option not in known and not takes_any:
                raise InputError(f"{option}= does not go with {type(graph[0]).__qualname__}")
    with clear_errors:
        return function(*graph, **options)


def export(graph: Vertices, kind: str) -> Any:
    """``graph`` as another type, see `Graph.to`."""
    if not isinstance(kind, str) or kind not in EXPORTERS:
        kinds = ", ".join(EXPORTERS)
        raise InputError(f"unknown kind {quoted(kind)}: a graph goes to {' or '.join(DEVICES)}, or becomes {kinds}")
    module, function = EXPORTERS[kind]
    try:
        with rapids.naming_missing_package(f"a graph of kind {kind!r}"):
            return getattr(_adapter(module), function)(graph.whole)
    except ModuleNotFoundError as error:
        if error.name not in PEERS:
            raise
        raise InputError(f"{error.name} is not installed: pip install 'rapids-bfs[peers]'") from None
