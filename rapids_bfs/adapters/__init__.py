"""Adapters: graphs from and to what people have. One module per format, each ``from_X`` beside its ``to_X``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from .._core import rapids
from .._core.arguments import checked_directed, checked_name, quoted, whole_number
from ..errors import InputError
from ..graph import Graph

if TYPE_CHECKING:
    from ..distributed.graph import DistributedGraph

# What each kind of object is taken by: the first module whose `matches` says so.
IMPORTERS = {
    "dask": "from_dask",
    "cudf": "from_cudf",
    "pylibcudf": "from_pylibcudf",
    "cugraph": "from_cugraph",
    "pylibcugraph": "from_pylibcugraph",
    "nx_cugraph": "from_nx_cugraph",
    "cupyx": "from_cupyx",
    "networkx": "from_networkx",
    "scipy": "from_scipy",
    "adjacency": "from_dict",
    "edges": "from_edges_object",
    "arrow": "from_arrow",
}

# What makes edges of types that are not taken, by their package and name.
NEXT_STEPS = {
    ("graph_tool", "Graph"): "g.get_edges(), vertices=g.num_vertices(), directed=g.is_directed()",
    ("igraph", "Graph"): "g.get_edgelist(), vertices=g.vcount(), directed=g.is_directed()",
    ("networkit", "Graph"): "list(g.iterEdges()), vertices=g.upperNodeIdBound(), directed=g.isDirected()",
    ("polars", "LazyFrame"): "frame.collect()",
    ("rustworkx", "PyDiGraph"): "list(g.edge_list()), directed=True",
    ("rustworkx", "PyGraph"): "list(g.edge_list()), directed=False",
}

# Kinds that `Graph.to` knows: module and function.
EXPORTERS = {
    "arrow": ("arrow", "to_arrow"),
    "arrow-device": ("pylibcudf", "to_arrow_device"),
    "csr": ("csr", "to_csr"),
    "cudf": ("cudf", "to_cudf"),
    "cugraph": ("cugraph", "to_cugraph"),
    "cupy": ("cupyx", "to_cupy"),
    "cupyx": ("cupyx", "to_cupyx"),
    "dict": ("adjacency", "to_dict"),
    "edges": ("edges", "to_edges"),
    "networkx": ("networkx", "to_networkx"),
    "nx-cugraph": ("nx_cugraph", "to_nx_cugraph"),
    "pandas": ("arrow", "to_pandas"),
    "polars": ("arrow", "to_polars"),
    "pylibcudf": ("pylibcudf", "to_pylibcudf"),
    "pylibcugraph": ("pylibcugraph", "to_pylibcugraph"),
    "scipy": ("scipy", "to_scipy"),
}


@overload
def as_graph(
    graph: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    offsets: Any = None,
    targets: Any = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str | None = None,
    devices: None = None,
) -> Graph: ...
@overload
def as_graph(
    graph: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    offsets: Any = None,
    targets: Any = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str | None = None,
    devices: int | str | Sequence[int],
) -> Graph | DistributedGraph: ...
def as_graph(
    graph: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    offsets: Any = None,
    targets: Any = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str | None = None,
    devices: int | str | Sequence[int] | None = None,
) -> Any:
    """Make a `Graph` from any supported input. Weights are ignored.

    Parameters
    ----------
    graph
        A `Graph` (returned as it is); a NetworkX graph; a SciPy sparse array or matrix; a dict of neighbour lists;
        a pandas, Polars, Arrow or Dask table of edges; a pair ``(sources, targets)`` of arrays; a list or an m x 2
        array with an edge in each row; a path, a generator such as "rmat:20" or a bundled graph's name. On a device,
        where the graph stays: a cuDF, cudf.pandas or pylibcudf table, an Arrow table, a pair of arrays with
        ``__cuda_array_interface__`` or DLPack, a CuPy sparse matrix, a graph of cuGraph, pylibcugraph or nx-cugraph.

        A tuple holds columns, a list rows: ``([0, 1], [2, 3])`` are the edges 0-2 and 1-3, ``[[0, 1], [2, 3]]`` are 0-1
        and 2-3. ``((0, 1), (2, 3))`` may be either, and is refused.
    source, target : str, optional
        The columns of a table that hold the edges. Default: a pair with common names, or the only two.
    offsets, targets : integer arrays, instead of ``graph``
        An adjacency in CSR. int32 arrays are used without a copy (int64 from 2**31 edges or vertices on): do not write
        to them while the graph is in use, see `Graph`.
    vertices : int, optional
        For edges with integer ids: the number of vertices, whose ids are then 0..vertices-1. Default: the vertices are
        the ids that occur; 0..n-1 cost nothing, other ids become labels.
    directed : bool, optional
        True: directed edges. False: each edge in both directions, unless the edges are symmetric already. Default: as
        the type or file says, else directed edges; the graph counts as undirected if they are symmetric.
    name : str, optional
    devices : int, str or list of int, optional
        Make a graph in parts: on this number of GPUs, on "all", on the GPUs with these ordinals, or "cpu:4" for four
        parts in host memory, one thread each. "auto" takes the fewest GPUs that hold the graph, and makes a plain
        `Graph` for one. Results of `bfs` are in parts too.

    Raises
    ------
    InputError
        If the input is no graph, an id is null, an edge has a negative or fractional id, or ``directed`` is neither
        bool nor None.

    Examples
    --------
    >>> as_graph(([0, 1, 2], [1, 2, 0]))
    <Graph 'edges': 3 vertices, 3 directed edges>
    >>> as_graph({"a": ["b"], "b": ["a"]})
    <Graph 'dict': 2 vertices, 1 undirected edge>
    >>> as_graph(offsets=[0, 1, 1], targets=[1]).reverse.targets
    array([0], dtype=int32)
    """
    options = {
        key: value
        for key, value in {
            "source": source,
            "target": target,
            "vertices": None if vertices is None else whole_number(vertices, "the number of vertices"),
            "directed": checked_directed(directed),
            "name": checked_name(name),
        }.items()
        if value is not None
    }
    if (offsets is None) != (targets is None) or (graph is None) == (offsets is None):
        raise InputError("as_graph takes either a graph, or both offsets= and targets=")
    if devices is not None:
        from ..distributed.sources import distribute

        given = {"offsets": offsets, "targets": targets} if graph is None else {}
        return distribute(graph, devices, **options, **given)
    if graph is None:
        return _call(_function("csr", "from_csr"), offsets, targets, **options)
    if isinstance(graph, Graph):
        return _call(_itself, graph, **options)
    if hasattr(graph, "launcher"):  # a graph in parts
        return _call(lambda graph: graph, graph, **options)
    if isinstance(graph, str | os.PathLike):
        from ..loading import load

        return _call(load, graph, **options)
    module = importer_of(graph)
    if module is not None:
        return _call(_function(module, IMPORTERS[module]), graph, **options)
    raise InputError(f"cannot make a graph of {type(graph).__module__}.{type(graph).__qualname__}: {_next_step(graph)}")


def _next_step(graph: Any) -> str:
    """What to give instead of something that `as_graph` does not take."""
    for kind in type(graph).__mro__:
        if arguments := NEXT_STEPS.get((kind.__module__.partition(".")[0], kind.__name__)):
            return f"call as_graph({arguments})"
    if isinstance(graph, Iterator | set | frozenset):
        return "give a list of its edges, or a dict of its neighbour lists"
    return (
        "give a NetworkX graph, a SciPy sparse array, a table of edges, a dict of neighbour lists, a list of edges, "
        "a pair of arrays, or a path"
    )


def importer_of(obj: Any) -> str | None:
    """The first of `IMPORTERS` that takes ``obj``; None if none does."""
    return next((module for module in IMPORTERS if import_module(f".{module}", __name__).matches(obj)), None)


def _function(module: str, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(f".{module}", __name__), name)
    return function


def _call(function: Callable[..., Graph], *graph: Any, **options: Any) -> Graph:
    """Call an adapter. Raises `InputError` for an option that this kind of graph does not have."""
    from inspect import signature

    known = signature(function).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for option in options:
        if option not in known and not takes_any:
            raise InputError(f"{option}= does not go with {type(graph[0]).__qualname__}")
    return function(*graph, **options)


def _itself(graph: Graph, *, directed: bool | None = None) -> Graph:
    return graph.undirected if directed is False else graph


def export(graph: Graph, kind: str) -> Any:
    """``graph`` as another type, see `Graph.to`."""
    if not isinstance(kind, str) or kind not in EXPORTERS:
        raise InputError(f"unknown kind {quoted(kind)}: there are {', '.join(EXPORTERS)}")
    with rapids.here(f"a graph of kind {kind!r}"):
        return _function(*EXPORTERS[kind])(graph)
