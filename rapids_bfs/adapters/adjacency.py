"""Adjacencies of Python: a dict of lists, or of any iterables of neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

from .._core.arguments import elements, quoted
from .._core.dtypes import index_dtype
from .._core.formatting import counted
from ..errors import InputError
from ..graph import Graph, Vertices
from ._ids import are_integer_ids
from .csr import from_csr
from .edges import are_vertices, labelled

MAX_COLUMNS = 20  # of a table that is taken for one


def matches(obj: Any) -> bool:
    return isinstance(obj, Mapping)


def from_dict(
    neighbors: Mapping[Any, Iterable[Hashable]],
    *,
    directed: bool | None = None,
    name: str = "dict",
    edge_data: Mapping[str, Mapping[Any, Sequence[Any]]] | None = None,
) -> Graph:
    """A graph from a mapping of vertex ids to their neighbours' ids, whose order is kept.

    A neighbour that is no key is a vertex too. An id may be anything hashable except None. If all ids are
    integers from 0 on, vertices are in ascending order, and if these are 0..n-1 the ids are the vertices; otherwise
    vertices come in the order of the keys, then that of the neighbours. ``directed``: True keeps the edges as they are,
    False adds the reversed ones unless they are there, None keeps them and calls the graph undirected if they are
    symmetric and carry nothing. ``edge_data`` has for each name a mapping like ``neighbors``, of lists of values.
    """
    rows = {}
    for id, row in neighbors.items():
        try:
            if isinstance(row, Vertices):
                raise TypeError("a graph is no list of its vertices")
            rows[id] = elements(row)
        except (TypeError, ValueError):
            raise InputError(f"{name}: {quoted(id)} has {quoted(row)} instead of a list of its neighbours") from None
    if len(rows) <= MAX_COLUMNS and _are_columns(rows):
        raise InputError(
            f"{name}: {' and '.join(map(quoted, rows))} are columns of a table, not vertices: "
            "give a pandas.DataFrame of them, or a pair of lists"
        )
    try:
        ids = list(dict.fromkeys(chain(rows, chain.from_iterable(rows.values()))))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: vertex ids must be hashable ({error})") from None
    if any(id is None for id in ids):
        raise InputError(f"{name}: None is not a vertex id")
    integers = are_integer_ids(ids)
    if integers:
        ids.sort()
    plain = integers and are_vertices(ids)
    n = len(ids)
    lists = [rows.get(id, ()) for id in ids]
    degrees = np.fromiter(map(len, lists), np.int64, n)
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    targets = _targets(lists, ids, plain, int(offsets[-1]))
    columns = None if edge_data is None else _columns(edge_data, ids, lists, name)
    graph = from_csr(offsets, targets, directed=directed, name=name, edge_data=columns)
    if plain:
        return graph
    return labelled(graph, np.array(ids, np.int64) if integers else ids)


def _targets(lists: list[Any], ids: list[Any], plain: bool, count: int) -> np.ndarray:
    """The vertices of all neighbours; if ``plain``, they are their own ids."""
    dtype = index_dtype(len(ids))
    if plain:
        with suppress(TypeError):  # a neighbour equals an integer without being one, as a complex number may
            return np.fromiter(chain.from_iterable(lists), dtype, count)
    vertices = {id: vertex for vertex, id in enumerate(ids)}
    return np.fromiter(map(vertices.__getitem__, chain.from_iterable(lists)), dtype, count)


def _are_columns(rows: dict[Any, list[Any]]) -> bool:
    """Return True if the keys name columns of equal length, two of them by usual names of an edge's ends."""
    from ._tables import PAIRS

    names = {key.lower() for key in rows if isinstance(key, str)}
    lengths = {len(row) for row in rows.values()}
    if len(lengths) != 1 or lengths == {0} or not any(names.issuperset(pair) for pair in PAIRS):
        return False
    try:
        return rows.keys().isdisjoint(chain.from_iterable(rows.values()))
    except TypeError:
        return False  # an id that is not hashable, which the caller names


def _columns(edge_data: Any, ids: list[Any], lists: list[Any], name: str) -> dict[str, list[Any]]:
    """The values of each name in the order of the arcs. Raises `InputError` unless there is one for each neighbour."""
    if not isinstance(edge_data, Mapping):
        raise InputError(f"{name} has no columns with names: give edge_data={{name: a dict of lists of values}}")
    columns: dict[str, list[Any]] = {}
    for title, rows in edge_data.items():
        values: list[Any] = []
        for id, row in zip(ids, lists, strict=True):
            given = rows.get(id, ()) if isinstance(rows, Mapping) else None
            if not isinstance(given, list | tuple | np.ndarray) or len(given) != len(row):
                raise InputError(
                    f"{name}, edge data {title!r}: {quoted(id)} wants a list of {counted(len(row), 'value')}"
                )
            values.extend(given)
        columns[title] = values
    return columns


def to_dict(graph: Graph) -> dict[Any, list[Any]]:
    """A dict from each vertex's id to the list of its out-neighbours' ids."""
    ids = graph.ids_of(np.arange(graph.num_vertices)).tolist()
    targets = graph.ids_of(graph.targets).tolist()
    bounds = graph.offsets.tolist()
    return {id: targets[bounds[v] : bounds[v + 1]] for v, id in enumerate(ids)}
