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
    obj: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str = "frame",
) -> Graph:
    """A graph in this process from a frame of edges with partitions of pandas.

    ``source`` and ``target`` name its columns, by default a pair with usual names, or the only two. The other arguments
    are those of `rapids_bfs.adapters.edges.from_edges`.
    """
    frame, columns = edge_columns(obj, source, target, name)
    partitions = Partitions(frame, columns, name)
    table = EdgeTable(name, columns, partitions.types, partitions.rows, partitions.pairs)
    return from_edge_table(table, vertices=vertices, directed=directed, frame=FRAME)


class Partitions:
    """The partitions of a frame of edges, each computed once, as pairs of Arrow arrays of small types.

    On a cluster they stay on its workers, and are brought here one at a time; without one they are here.
    """

    def __init__(self, frame: Any, columns: tuple[str, str], name: str) -> None:
        import dask

        self.where = tuple(f"{name}, column {column!r}" for column in columns)
        computed = [dask.delayed(_edges)(part, self.where) for part in frame.to_delayed()]
        self.client = client_here()
        if self.client is None:
            self._held: list[Any] = list(dask.compute(*computed))
            told = [_told(pair) for pair in self._held]
        else:
            self._held = self.client.compute(computed)
            told = self.client.gather(self.client.map(_told, self._held, pure=False))
        self.rows = sum(rows for rows, _ in told)
        source, target = (_common({types[side] for _, types in told}, where) for side, where in enumerate(self.where))
        self.types = source, target

    def pairs(self) -> Iterator[Columns]:
        """The ids of one partition after the other, all of `types`."""
        for held in self._held:
            pair = held if self.client is None else self.client.gather(held)
            source, target = (
                _cast(ids, type, where) for ids, type, where in zip(pair, self.types, self.where, strict=True)
            )
            yield source, target


def client_here() -> Any:
    """The client of Dask's default cluster; None if this process computes."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "gather") else None


def _edges(part: Any, where: tuple[str, str]) -> Columns:
    """The columns of a partition of pandas."""
    source, target = (_ids(part.iloc[:, side], where[side]) for side in range(2))
    return source, target


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
    source, target = pair
    return len(source), (source.type, target.type)


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
