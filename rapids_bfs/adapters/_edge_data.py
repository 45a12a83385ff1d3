"""What edges carry, as users and libraries hold it, made the columns of `EdgeData`; and back for exporters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import is_integer, quoted
from .._core.csr import arcs, csr_for
from .._core.cuda.arrays import CPU, CUDA, on_device, to_device, to_host
from .._core.formatting import counted
from ..errors import InputError
from ..graph import NO_EDGE_DATA, Categories, Dates, EdgeData, Graph
from ..graph.edge_data import checked_edge_data, storage_of, with_usual_unit
from ._objects import array_of

if TYPE_CHECKING:
    import pyarrow as pa


Asked = Mapping[str, Any] | Sequence[str]  # columns by name, or the names of columns of what holds the edges


def asked_for(edge_data: Any) -> Any:
    """``edge_data`` as adapters take it: a dict of columns or a tuple of names. `InputError` for anything else."""
    if isinstance(edge_data, Mapping):
        asked: Asked = dict(edge_data)
    elif isinstance(edge_data, list | tuple):
        asked = tuple(edge_data)
    else:
        raise InputError(f"edge_data is a list of names of columns, or a dict of columns, not {quoted(edge_data)}")
    for name in asked:
        if not isinstance(name, str):
            raise InputError(f"edge_data: the name of a column is a string, not {quoted(name)}")
    if len(set(asked)) < len(asked):
        raise InputError("edge_data: a name is there twice")
    return asked


def refuse_ends(names: Iterable[str], ends: tuple[str, str], name: str) -> None:
    """Raise `InputError` if what edges carry has the name of a column of ids."""
    for column in names:
        if column in ends:
            raise InputError(f"{name}: {column!r} holds the ends of edges, and edge data need another name")


def given_columns(edge_data: Any, rows: int, ends: tuple[str, str], name: str, device: str = CPU) -> EdgeData:
    """The columns of a dict, each with this many entries, one an edge. Raises `InputError` if they are not."""
    if edge_data is None:
        return NO_EDGE_DATA
    if not isinstance(edge_data, Mapping):
        raise InputError(
            f"{name} has no columns with names: give edge_data={{{', '.join(f'{e!r}: array' for e in edge_data)}}}"
        )
    refuse_ends(edge_data, ends, name)
    columns = {}
    for title, values in edge_data.items():
        where = f"{name}, edge data {title!r}"
        columns[title] = column = column_of(values, where, device)
        if len(column) != rows:
            raise InputError(f"{where}: {counted(len(column), 'value')} for {counted(rows, 'edge')}")
    return checked_edge_data(EdgeData(columns).on(device), rows, device, name)


def carried(
    edge_data: Asked | None,
    names: Sequence[str],
    ends: tuple[str, str],
    rows: int,
    name: str,
    read: Callable[[int], Any],
    device: str = CPU,
) -> EdgeData:
    """The columns of a table that edges carry: those with these names, of which ``read`` gives the one at a place, or
    given as `given_columns` takes them. Raises `InputError` listing the columns there are."""
    if edge_data is None or isinstance(edge_data, Mapping):
        return given_columns(edge_data, rows, ends, name, device)
    refuse_ends(edge_data, ends, name)
    columns = {}
    for title in edge_data:
        if names.count(title) != 1:
            problem = "more than one column" if title in names else "no column"
            raise InputError(f"{name} has {problem} {quoted(title)}; its columns are {', '.join(map(quoted, names))}")
        where = f"{name}, column {title!r}"
        columns[title] = column_of(read(names.index(title)), where, device)
        if len(columns[title]) != rows:
            raise InputError(f"{where} has {counted(len(columns[title]), 'row')}, and the edges {rows:,}")
    return EdgeData(columns)


def column_of(values: Any, where: str, device: str) -> Any:
    """Values of any library as a column. Raises `InputError` if they cannot be one."""
    if isinstance(values, Categories | Dates):
        return values
    if on_device(values):
        array = to_device(values)
        return _plain(array if device == CUDA else array.get(), where)
    if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biufM":
        return with_usual_unit(_plain(values, where), where)
    return arrow_column(_as_arrow(values, where), where)


def _plain(array: Any, where: str) -> Any:
    if array.ndim != 1 or (array.dtype.kind in "biuf" and array.dtype.itemsize > 8):
        raise InputError(
            f"{where}: an array of one dimension, of up to 64 bits, is wanted, not {array.dtype} of shape {array.shape}"
        )
    return array


def _as_arrow(values: Any, where: str) -> Any:
    """Lists, arrays of objects and strings, and columns of any library as Arrow's."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if hasattr(values, "to_arrow") and not isinstance(values, pd.Series):  # Polars
        try:
            return values.to_arrow()
        except pa.ArrowInvalid as error:
            raise InputError(f"{where}: {error}") from None
    if isinstance(values, np.ma.MaskedArray) or not isinstance(
        values, list | tuple | np.ndarray | pd.Series | pd.Index | pd.api.extensions.ExtensionArray
    ):
        raise InputError(f"{where}: an array or a list is wanted, not {quoted(values)}")
    try:
        given = values.tolist() if isinstance(values, np.ndarray) else values
        series = pd.Series(given)
        if series.dtype == np.float64 and isinstance(given, list | tuple):
            _require_exact(given, where)
        if series.dtype == object:
            series = series.where(series.notna(), None)  # NaN is no string
            types = set(map(type, series)) - {type(None)}
            if types == {date}:
                return pa.array(series, pa.date32())
            if types and types <= {datetime, pd.Timestamp}:
                series = series.infer_objects()
        column = array_of(series)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: {error}") from None
    if column is None:
        raise InputError(f"{where}: its values are of several types, or of one that edges cannot carry")
    return column


def _require_exact(values: Iterable[Any], where: str) -> None:
    """Raise `InputError` for an integer that no float equals."""
    for row, value in enumerate(values):
        if is_integer(value) and float(value) != value:
            raise InputError(
                f"{where}, row {row} (from 0): {value} is beyond the whole numbers of the float64 that the "
                "fractional or missing values need"
            )


def arrow_column(column: Any, where: str) -> Any:
    """A column of Arrow's. Strings become `Categories`: in the order of the alphabet, or of Arrow's dictionary if they
    have one. Raises `InputError` for other types, and where an integer or a bool is missing."""
    import pyarrow as pa

    try:
        column.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{where} is corrupt: {str(error).splitlines()[0]}") from error
    values = value_type(column.type)
    if is_string(values) or pa.types.is_null(values):
        return _categories(column)
    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([chunk.dictionary_decode() for chunk in _chunks(column)], values)
    if pa.types.is_boolean(values) or pa.types.is_integer(values):
        if column.null_count:
            row = column.is_null().to_pylist().index(True)
            raise InputError(f"{where}, row {row} (from 0): null is no {values}: fill it, or cast the column to floats")
    elif not (pa.types.is_floating(values) or pa.types.is_timestamp(values) or pa.types.is_date(values)):
        raise InputError(f"{where}: edges carry bools, integers, floats, dates and strings, not {values}")
    chunks = [chunk.to_numpy(zero_copy_only=False) for chunk in _chunks(column)]
    return np.concatenate(chunks) if len(chunks) != 1 else chunks[0]


def _chunks(column: Any) -> list[Any]:
    """The pieces of a column, at least one."""
    import pyarrow as pa

    return [column] if isinstance(column, pa.Array) else column.chunks or [pa.array([], column.type)]


def value_type(type: pa.DataType) -> pa.DataType:
    """The type of the values, which is that of the dictionary if they are encoded."""
    import pyarrow as pa

    return type.value_type if pa.types.is_dictionary(type) else type


def is_string(type: pa.DataType) -> bool:
    """Are values of this type strings?"""
    import pyarrow as pa

    return bool(pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type))


def _categories(column: Any) -> Categories:
    import pyarrow as pa

    chunks = _chunks(column)
    ordered = pa.types.is_dictionary(column.type)
    if ordered and any(
        chunk.dictionary.null_count or len(chunk.dictionary.unique()) < len(chunk.dictionary) for chunk in chunks
    ):
        chunks, ordered = [chunk.dictionary_decode() for chunk in chunks], False
    encoded = [
        pa.DictionaryArray.from_arrays(each.indices.cast(pa.int32()), each.dictionary.cast(pa.large_string()))
        for each in (chunk if ordered else chunk.cast(pa.large_string()).dictionary_encode() for chunk in chunks)
    ]
    encoded = pa.chunked_array(encoded).unify_dictionaries().chunks
    categories = np.array(encoded[0].dictionary.to_pylist(), object)
    codes = np.concatenate([each.indices.fill_null(-1).to_numpy(zero_copy_only=False) for each in encoded])
    if ordered or not len(categories):
        return Categories(codes.astype(np.int32, copy=False), categories)
    order = np.argsort(categories)
    ranks = np.empty(len(order) + 1, np.int32)
    ranks[order], ranks[-1] = np.arange(len(order)), -1
    return Categories(ranks[codes], categories[order])


def as_arrow(column: Any) -> Any:
    """A column for Arrow, on the host: `Categories` are a dictionary."""
    import pyarrow as pa

    if not isinstance(column, Categories):
        return pa.array(np.asarray(column))
    codes = to_host(column.codes)
    indices = pa.array(codes, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(column.categories.tolist(), pa.large_string()))


def columns_of_edges(graph: Graph) -> dict[str, Any]:
    """What the edges of a graph carry, in the order of `Graph.vertex_pairs`.

    Raises `InputError` naming an undirected edge whose two arcs carry different data.
    """
    if graph.directed or not graph.edge_data:
        return dict(graph.edge_data)
    sources = csr_for(graph.targets).sources_of(graph.offsets, graph.targets)
    back = arcs.twins(graph.offsets, graph.targets)
    for title, column in graph.edge_data.items():
        values, others = storage_of(column), storage_of(column[back])
        differ = (values != others) & ((values == values) | (others == others))  # NaN is no other than NaN
        if differ.any():
            arc = int(differ.argmax())
            ends = graph.ids_of(np.array([int(sources[arc]), int(graph.targets[arc])])).tolist()
            raise InputError(
                f"{graph.name}: the edge between {quoted(ends[0])} and {quoted(ends[1])} carries another {title!r} "
                "each way: make the graph with directed=True to keep both"
            )
    once = sources <= graph.targets
    return dict(graph.edge_data.changed(lambda array: array[once]))


def as_objects(column: Any) -> list[Any]:
    """A column as a list of Python's own objects; dates of nanoseconds as pandas's. Raises `InputError` for dates that
    Python has no object for."""
    values = np.asarray(column)
    if values.dtype == np.dtype("M8[ns]"):
        import pandas as pd

        return [None if pd.isna(date) else date for date in pd.to_datetime(values)]
    objects: list[Any] = values.tolist()
    if values.dtype.kind == "M" and (late := [row for row, date in enumerate(objects) if isinstance(date, int)]):
        raise InputError(f"edges carry the date {values[late[0]]}, and those of Python are in the years 1 to 9999")
    return objects
