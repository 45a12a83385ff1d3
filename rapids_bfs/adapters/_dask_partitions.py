"""The edges in a partition of pandas of a frame of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._core.arguments import quoted
from .._core.dtypes import INT32_LIMIT
from .._core.formatting import counted
from ..errors import InputError
from ._edge_data import is_string, value_type
from ._edge_list import EdgeList
from ._ids import require_one_type
from ._objects import array_of
from ._tables import EdgeTable, is_number


def edges_of(part: Any, columns: tuple[str, str], name: str) -> pa.Table:
    """The ids in one partition, as an Arrow table."""
    ids = (_ids(column_of(part, column, name), f"{name}, column {column!r}") for column in columns)
    return pa.table([*ids], names=columns)


def column_of(part: Any, column: str, where: str) -> Any:
    """A column of a partition. Raises `InputError` if it has none, or more than one: Dask only knows what its metadata
    say of partitions."""
    if not hasattr(part, "iloc") or getattr(part, "ndim", 0) != 2:
        raise InputError(f"{where} is no frame, unlike what Dask's metadata say, but {quoted(part)}")
    names = [str(each) for each in part.columns]
    if (count := names.count(column)) != 1:
        raise InputError(
            f"{where} has {counted(count, 'column') if count else 'no column'} {column!r}, unlike what Dask's metadata "
            f"say; its columns are {', '.join(map(repr, names))}"
        )
    return part.iloc[:, names.index(column)]


def checked_edges(part: Any, columns: tuple[str, str], where: str) -> pa.Table:
    """A partition of pandas as a table of its edges, whose ids are int32, int64, or strings in a dictionary.

    Raises `InputError` naming the first that is not a vertex id.
    """
    table = edges_of(part, columns, where)
    edges = EdgeTable.of(table, columns, where)
    checked = [*edges.checked()]
    types = [*map(value_type, edges.plain_types)]
    for type, column in zip(types, columns, strict=True):
        if not (is_number(type) or pa.types.is_large_string(type)):
            raise InputError(
                f"{where}, column {column!r}: on a cluster ids are integers or strings, not {type}: cast them, or give "
                "devices='local'"
            )
    if not checked:
        return pa.table([pa.array([], pa.int64())] * 2, columns)
    if not all(map(is_number, types)):
        require_one_type([str(type).removeprefix("large_") for type in types], columns, where)
        return pa.table([pa.chunked_array(ids) for ids in zip(*checked, strict=True)], columns)
    pairs = EdgeList(table.num_rows, edges.numbers, columns, where).checked()
    source, target = (np.concatenate(ids) for ids in zip(*pairs, strict=True))
    type = pa.int32() if max(source.max(), target.max()) < INT32_LIMIT else pa.int64()
    return pa.table([pa.array(source).cast(type), pa.array(target).cast(type)], columns)


def _ids(series: Any, where: str) -> pa.Array:
    """A column as an Arrow array: of int32 if its integers fit that, and strings encoded."""
    ids = array_of(series)
    if ids is None:
        raise InputError(f"{where}: Arrow has no type for these ids: cast them to one type")
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    if is_string(ids.type):
        return ids.cast(pa.large_string()).dictionary_encode()
    if pa.types.is_integer(ids.type):
        lowest, highest = pc.min_max(ids).values()
        if lowest.is_valid and lowest.as_py() >= 0 and highest.as_py() < INT32_LIMIT:
            return ids.cast(pa.int32())
    return ids
