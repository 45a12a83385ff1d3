"""Frames of Dask whose partitions are of pandas, which become a graph in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._core.dtypes import INT32_LIMIT
from ..errors import InputError
from ..graph import Graph
from ._tables import Columns, EdgeTable, choose_columns, from_edge_table, is_number
from .arrow import array_of

FRAME = "dask"  # `Graph.frame` of what comes from here
STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def matches(obj: Any) -> bool:
    return type(obj).__name__ == "DataFrame" and type(obj).__module__.partition(".")[0] in ("dask", "dask_cudf")


def is_on_devices(obj: Any) -> bool:
    """Are the partitions of this frame cuDF's? `distributed.frames` makes a graph of them on their workers."""
    return type(obj._meta).__module__.startswith("cudf.")


def edge_columns(obj: Any, source: str | None, target: str | None, name: str) -> tuple[Any, tuple[str, str]]:
    """The frame of the two columns that hold the edges, and their names."""
    names = [str(column) for column in obj.columns]
    i, j = choose_columns(names, source, target, name)
    return obj[[obj.columns[i], obj.columns[j]]], (names[i], names[j])


def from_dask(
    obj: Any, *, source: str | None = None, target: str | None = None, name: str = "frame", **options: Any
) -> Graph:
    """A graph in this process from a frame of edges with partitions of pandas, each computed once. On a cluster they
    stay on its workers, and are brought here one at a time; without one they are here.

    ``source`` and ``target`` name its columns, by default a pair with usual names, or the only two. The other arguments
    are those of `rapids_bfs.adapters.edges.from_edges`.
    """
    import dask

    frame, columns = edge_columns(obj, source, target, name)
    where = tuple(f"{name}, column {column!r}" for column in columns)
    computed = [dask.delayed(_edges)(part, where) for part in frame.to_delayed()]
    client = client_here()
    if client is None:
        held = list(dask.compute(*computed))
        told = [_told(pair) for pair in held]
    else:
        held = client.compute(computed)
        told = client.gather(client.map(_told, held, pure=False))
    types = tuple(_common({types[side] for _, types in told}, where[side]) for side in range(2))

    def batches() -> Iterator[Columns]:
        for kept in held:
            pair = kept if client is None else client.gather(kept)
            yield tuple(map(_cast, pair, types, where))

    table = EdgeTable(name, columns, types, sum(rows for rows, _ in told), batches)
    return from_edge_table(table, frame=FRAME, **options)


def client_here() -> Any:
    """The client of Dask's default cluster; None if this process computes."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "gather") else None


def _edges(part: Any, where: tuple[str, str]) -> Columns:
    """The columns of a partition of pandas."""
    return _ids(part.iloc[:, 0], where[0]), _ids(part.iloc[:, 1], where[1])


def _ids(series: Any, where: str) -> pa.Array:
    """A column as an Arrow array: of int32 if its integers fit that, and strings encoded."""
    ids = array_of(series)
    if ids is None:
        raise InputError(f"{where}: Arrow has no type for these ids: cast them to one type")
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    if any(is_string(ids.type) for is_string in STRINGS):
        return ids.cast(pa.large_string()).dictionary_encode()
    if pa.types.is_integer(ids.type):
        lowest, highest = pc.min_max(ids).values()
        if lowest.is_valid and lowest.as_py() >= 0 and highest.as_py() < INT32_LIMIT:
            return ids.cast(pa.int32())
    return ids


def _told(pair: Columns) -> tuple[int, tuple[pa.DataType, pa.DataType]]:
    """The number of rows, and the types of the two columns."""
    return len(pair[0]), (pair[0].type, pair[1].type)


def _common(types: set[pa.DataType], where: str) -> pa.DataType:
    """The type that columns of all these types are cast to. Raises `InputError` if there is none."""
    types = types - {pa.null()} or {pa.int64()}
    if len(types) == 1:
        return types.pop()
    if all(pa.types.is_integer(type) for type in types):
        return pa.int64()
    if all(is_number(type) for type in types):
        return pa.float64()
    raise InputError(
        f"{where}: its partitions hold ids of types {', '.join(sorted(map(str, types)))}: cast them to one"
    )


def _cast(ids: pa.Array, type: pa.DataType, where: str) -> pa.Array:
    try:
        return ids.cast(type)
    except pa.ArrowInvalid as error:
        raise InputError(f"{where}: {str(error).splitlines()[0]}") from None
