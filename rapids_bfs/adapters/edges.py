"""Edge lists: two arrays of vertex ids, or an iterable of blocks of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from .._core.arguments import checked_directed, elements, is_integer, quoted
from .._core.csr import arcs
from .._core.csr import building as csr
from .._core.cuda.arrays import CUDA, on_device
from .._core.dtypes import index_dtype
from .._core.memory import has_bytes, require_bytes
from ..errors import InputError
from ..graph import NO_EDGE_DATA, EdgeData, Graph, Vertices
from ._edge_data import Asked, given_columns
from ._edge_list import COLUMNS, EdgeList, are_scattered, checked_vertices, is_directed, refuse_past, require_columns
from ._ids import are_integer_ids, require_one_type

BLOCK = csr.BLOCK


def matches(obj: Any) -> bool:
    return isinstance(obj, np.ndarray | list) or (isinstance(obj, tuple) and len(obj) == 2) or _is_device_matrix(obj)


def _is_device_matrix(obj: Any) -> bool:
    """Is it a plain two-dimensional array on a device?"""
    return on_device(obj) and len(getattr(obj, "shape", ())) == 2 and hasattr(obj, "T") and not hasattr(obj, "columns")


def from_edges_object(
    edges: Any,
    *,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str = "edges",
    edge_data: Asked | None = None,
) -> Graph:
    """A graph from a pair ``(sources, targets)``, or a list or an m x 2 array with an edge in each row.

    A tuple holds two columns, a list rows: ``([0, 1], [2, 3])`` are the edges 0-2 and 1-3, ``[[0, 1], [2, 3]]`` are 0-1
    and 2-3. See `from_edges`.
    """
    if isinstance(edges, list):
        source, target = _columns_of_rows(edges, name)
    elif isinstance(edges, tuple):
        if all(isinstance(each, tuple) and len(each) == 2 for each in edges):
            raise InputError(
                f"{name}: {quoted(edges)} may be two edges or two columns: give a list of edges, or a pair of lists"
            )
        source, target = edges
    else:
        _require_two_columns(edges, name)
        source, target = edges.T
    return from_edges(source, target, vertices=vertices, directed=directed, name=name, edge_data=edge_data)


def _columns_of_rows(rows: list[Any], name: str) -> tuple[list[Any], list[Any]]:
    """The first and the second id of each row. Raises `InputError` at the first that is not a pair of ids."""
    for row, edge in enumerate(rows):
        if not isinstance(edge, tuple | list | np.ndarray) or getattr(edge, "ndim", 1) != 1 or len(edge) != 2:
            columns = "; two columns of ids are given as a tuple, (sources, targets)" if len(rows) == 2 else ""
            raise InputError(f"{name}, row {row} (from 0): an edge is a pair of ids, not {quoted(edge)}{columns}")
    return [edge[0] for edge in rows], [edge[1] for edge in rows]


def _require_two_columns(array: Any, name: str) -> None:
    """Raise `InputError` unless the array has an edge in each row."""
    match tuple(array.shape):
        case (rows, columns) if isinstance(array, np.matrix) or rows == columns != 2:
            raise InputError(f"{name}: a dense adjacency matrix must be sparse: give scipy.sparse.csr_array(matrix)")
        case (_, 2):
            return
        case shape:
            transposed = ": transpose it by .T" if len(shape) == 2 and shape[0] == 2 else ""
            raise InputError(f"{name}: an array of edges has shape (m, 2), not {shape}{transposed}")


def from_edges(
    source: Any,
    target: Any,
    *,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str = "edges",
    edge_data: Asked | None = None,
) -> Graph:
    """A graph from two arrays of equally many ids, one edge per row.

    Integers that are exactly 0..n-1, or any below ``vertices``, are taken as vertices; other ids, integers or any
    hashable objects, become labels. ``directed``: True keeps the edges as they are, False adds the reversed ones
    unless they are there, None keeps them and calls the graph undirected if they are symmetric and carry
    nothing. ``edge_data`` is a dict of columns with an entry for each edge.
    """
    if on_device(source) or on_device(target):
        from .device_edges import from_device_edges

        return from_device_edges(source, target, vertices=vertices, directed=directed, name=name, edge_data=edge_data)
    arrays = [
        _as_array(ids, f"{name}, column {column!r}") for ids, column in zip((source, target), COLUMNS, strict=True)
    ]
    require_columns(arrays[0], arrays[1], name)
    data = given_columns(edge_data, len(arrays[0]), COLUMNS, name)
    if all(array.dtype.kind in "iufb" for array in arrays) or not len(arrays[0]):
        sources, targets = (array if len(array) else array.astype(np.int64) for array in arrays)

        def blocks() -> Iterator[csr.Pairs]:
            for start in range(0, len(sources), BLOCK):
                yield sources[start : start + BLOCK], targets[start : start + BLOCK]

        return from_edge_list(
            EdgeList(len(sources), blocks, name=name, data=data), vertices=vertices, directed=directed
        )
    return from_objects(*arrays, vertices=vertices, directed=directed, name=name, data=data)


def _as_array(ids: Any, where: str) -> np.ndarray:
    """``ids`` as an array of numbers, or of objects: strings stay Python's own, and tuples stay whole."""
    if isinstance(ids, Vertices):
        raise InputError(f"{where}: a graph is not a column of ids: give list(graph) if its ids are meant")
    if type(ids) is not np.ndarray and np.ma.is_masked(ids):  # the import of np.ma takes long
        row = int(np.ma.getmaskarray(ids).argmax())
        raise InputError(f"{where}, row {row} (from 0): masked is not a vertex id: drop the rows without one")
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iufbO":
        return np.asarray(ids)
    if hasattr(type(ids), "__dlpack__") and not isinstance(ids, np.ndarray):  # a tensor
        with suppress(BufferError, RuntimeError, TypeError, ValueError):
            return np.from_dlpack(ids)
    try:
        if isinstance(ids, set | frozenset | Mapping):
            raise TypeError(f"a {type(ids).__name__} has no rows")
        ids = ids.tolist() if isinstance(ids, np.ndarray) and ids.dtype.kind in "US" else elements(ids)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: a column of ids is an array or a list ({error})") from None
    if ids and not isinstance(ids[0], str | tuple | list):
        try:
            array = np.asarray(ids)
        except (TypeError, ValueError):  # ids of several kinds
            array = np.empty(0, object)
        rounded = array.dtype.kind == "f" and all(map(is_integer, ids))  # integers without a common type in NumPy
        if array.dtype.kind in "iufb" and not rounded:
            return array
    return np.fromiter(ids, object, len(ids))


def from_edge_list(
    edges: EdgeList, *, vertices: int | None = None, directed: bool | None = None, frame: str = "pandas"
) -> Graph:
    """A graph from integer edges, read twice: once to count, once to place. See `from_edges` for the arguments."""
    directed = checked_directed(directed)
    degrees = csr.Degrees(0 if vertices is None else checked_vertices(vertices))
    row = 0
    highest = -1
    for source, target in edges.checked():
        if not len(source):
            continue
        top = int(max(source.max(), target.max()))
        highest = max(highest, top)
        if top >= len(degrees.out):
            if vertices is not None:
                refuse_past(edges, row, source, target, vertices)
            if are_scattered(top, max(row, edges.rows)) or not has_bytes(32 * top):  # 16 an id, with room to grow
                return _from_scattered(edges, directed, frame)
            degrees.grow(top + 1)
        degrees.add(source, target)
        row += len(source)
    if vertices is None and are_scattered(highest, row):  # there were fewer rows than estimated
        return _from_scattered(edges, directed, frame)

    n = highest + 1 if vertices is None else vertices
    out, into = degrees.out[:n], degrees.into[:n]
    labels = rank = None
    if vertices is None and not (present := out + into > 0).all():
        labels = np.flatnonzero(present)
        rank = np.cumsum(present, dtype=index_dtype(n)) - 1
        out, into = out[labels], into[labels]
    mirror = directed is False and not degrees.symmetric
    degrees_placed = out + into if mirror else out
    offsets, targets = csr.fill(degrees_placed, _renumbered(edges, rank), mirror=mirror)
    return Graph._trusted(
        offsets,
        targets,
        labels=labels,
        directed=is_directed(directed, degrees.symmetric, edges.data),
        name=edges.name,
        columns=edges.columns,
        frame=frame,
        edge_data=edges.data.taken(partial(arcs.placed, degrees_placed, _renumbered(edges, rank), mirror)).now(),
    )


def _renumbered(edges: EdgeList, rank: np.ndarray | None) -> Iterator[csr.Pairs]:
    """The edges, a block at a time, between the ranks of their ids; between their ids if None."""
    for source, target in edges.checked():
        yield (source, target) if rank is None else (csr.gather(rank, source), csr.gather(rank, target))


def _from_scattered(edges: EdgeList, directed: bool | None, frame: str) -> Graph:
    """A graph from integer edges whose ids lie too far apart to be counted in an array.

    They are hashed, and the edges kept as numbers of ids, 8 bytes each below 2**31 ids.
    """
    from ._integer_ids import IntegerIds  # late: it imports Numba

    ids = IntegerIds()
    numbers = []
    for source, target in edges.checked():
        require_bytes(32 * len(source), f"{edges.name}, an edge list with scattered ids,")
        numbers.append((ids.number(source), ids.number(target)))
    labels, ranks = ids.ascending()
    del ids
    for block in numbers:
        for ends in block:
            ends[:] = csr.gather(ranks, ends)
    plain = EdgeList(edges.rows, lambda: numbers, edges.columns, edges.name, edges.data)
    graph = from_edge_list(plain, vertices=len(labels), directed=directed, frame=frame)
    return graph if are_vertices(labels) else labelled(graph, labels)


def are_vertices(ids: np.ndarray | list[Any]) -> bool:
    """Are these ascending non-negative integers exactly 0..n-1, so that a graph needs no labels?"""
    return len(ids) == 0 or bool(ids[-1] == len(ids) - 1)


def from_objects(
    source: np.ndarray,
    target: np.ndarray,
    *,
    vertices: int | None = None,
    directed: bool | None = None,
    columns: tuple[str, str] = COLUMNS,
    name: str = "edges",
    frame: str = "pandas",
    data: EdgeData = NO_EDGE_DATA,
) -> Graph:
    """A graph from ids of any hashable kind, numbered by first appearance, source before target."""
    import pandas as pd

    if vertices is not None:
        raise InputError(f"{name}: a number of vertices can only be given with integer ids")
    types = [pd.api.types.infer_dtype(ids, skipna=False) for ids in (source, target)]
    require_one_type(types, columns, name)
    interleaved = np.empty(2 * len(source), object)
    interleaved[0::2], interleaved[1::2] = source, target
    try:
        codes, labels = pd.factorize(interleaved)
        if set(types) != {"string"}:
            dict.fromkeys(labels)  # to pandas two ids differ if their comparison raises an error
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: vertex ids must be hashable and comparable ({error})") from None
    if (codes < 0).any():
        at = int(np.argmax(codes < 0))
        raise InputError(f"{name}, column {columns[at % 2]!r}, row {at // 2} (from 0): null is not a vertex id")
    edges = EdgeList(len(source), lambda: [(codes[0::2], codes[1::2])], columns, name, data)
    return labelled(from_edge_list(edges, vertices=len(labels), directed=directed, frame=frame), labels)


def from_numbered(
    sources: np.ndarray,
    targets: np.ndarray,
    ids: int | Sequence[Hashable],
    *,
    undirected: bool,
    directed: bool | None = None,
    name: str = "edges",
) -> Graph:
    """A graph from edges between numbers of vertices (int64) as graph libraries have them: ``undirected`` edges once.

    ``ids`` has the id of each number, or is how many there are, which are ids then. Ids that are integers from 0 on
    ascend in the graph, whose vertices are 0..n-1 without labels if the ids are these. ``directed``: None keeps what
    the edges are, True counts an undirected edge as two, False adds the reversed ones unless they are there.

    Raises `InputError` for an id that is None, not hashable, or that of two vertices.
    """
    directed = checked_directed(directed)
    labels = None
    if isinstance(ids, int):
        n = ids
    else:
        n = len(ids)
        labels = _distinct(ids, name)
        if labels.dtype != object:
            order = np.argsort(labels)
            ranks = np.empty(n, index_dtype(n))
            ranks[order] = np.arange(n)
            sources, targets = csr.gather(ranks, sources), csr.gather(ranks, targets)
            labels = None if are_vertices(labels[order]) else labels[order]
    edges = [(sources, targets)]
    degrees = csr.degrees_of(n, edges)
    counts = degrees.out + degrees.into if undirected else degrees.out
    offsets, placed = csr.fill(counts, edges, mirror=undirected)
    graph = Graph._trusted(offsets, placed, labels=labels, directed=bool(directed) or not undirected, name=name)
    return graph.undirected if directed is False else graph


def numbered(sources: np.ndarray, targets: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """Edges between ascending integer ids as `from_numbered` takes them: their ends as places in ``ids``, and these."""
    if are_vertices(ids):
        return sources, targets, len(ids)
    return np.searchsorted(ids, sources), np.searchsorted(ids, targets), ids


def _distinct(ids: Sequence[Hashable], name: str) -> np.ndarray:
    """Ids as an array, of int64 if they are integers from 0 on, else of objects. Raises `InputError` for one that is
    None, not hashable, or there twice."""
    if isinstance(ids, np.ndarray):
        return ids
    places: dict[Hashable, int] = {}
    for place, id in enumerate(ids):
        if id is None:
            raise InputError(f"{name}: vertex {place} has no name, though others have: name it, or delete the names")
        try:
            first = places.setdefault(id, place)
        except TypeError as error:
            raise InputError(f"{name}: vertex ids must be hashable ({error})") from None
        if first != place:
            raise InputError(f"{name}: vertices {first} and {place} are both named {quoted(id)}: rename one of them")
    return np.array(ids, np.int64) if are_integer_ids(ids) else np.fromiter(ids, object, len(ids))


def in_direction(graph: Any, directed: bool | None = None) -> Any:
    """A graph of any kind as ``directed`` says: True makes two directed edges of an undirected one, False adds the
    reversed edges unless they are there, None keeps what the edges are."""
    if directed is None or directed == graph.directed:
        return graph
    return graph.replace(directed=True) if directed else graph.undirected


def labelled(graph: Graph, labels: np.ndarray | Iterable[Hashable]) -> Graph:
    """``graph`` with a label for each vertex."""
    if not isinstance(labels, np.ndarray):
        labels = list(labels)
        labels = np.fromiter(labels, object, len(labels))
    return graph._with(labels=labels)


def to_edges(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Source and target ids of every edge in the order of the adjacencies, an undirected edge once."""
    sources, targets = graph.vertex_pairs()
    return graph.ids_of(sources), graph.ids_of(targets)


def to_cupy(graph: Graph) -> tuple[Any, Any]:
    """The same as CuPy arrays. Raises `InputError` if ids are not integers."""
    if graph.has_objects:
        raise InputError("CuPy's arrays hold numbers, not ids like these: use cudf, or rename the vertices")
    return to_edges(graph.to(CUDA))
