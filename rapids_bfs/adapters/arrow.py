"""Frames: pandas, Polars, and any other object with the Arrow C stream interface."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from .._core import rapids
from .._core.arguments import elements, quoted
from .._core.interrupts import is_interrupt
from ..errors import InputError
from ..graph import Categories, Graph
from ._edge_data import Asked, as_arrow, carried, columns_of_edges, value_type
from ._objects import array_of, of_one_kind
from ._schema_metadata import DIRECTED, direction_of
from .cudf import uploaded
from .edges import from_objects, to_edges


def matches(obj: Any) -> bool:
    return hasattr(obj, "__arrow_c_stream__") or hasattr(obj, "__arrow_c_array__")


def from_arrow(
    obj: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    name: str = "frame",
    edge_data: Asked | None = None,
    **options: Any,
) -> Graph:
    """A graph from a table of edges: a pandas or Polars frame, a PyArrow table, or any other Arrow stream.

    ``source`` and ``target`` name its columns, by default a pair with usual names, or the only two. Columns of
    numbers are not copied. ``edge_data`` names what edges carry, or is a dict of it. The other arguments are those of
    `from_edges`.
    """
    import pyarrow as pa

    from ._tables import choose_columns, from_arrow_table

    libraries = (kind.__module__.partition(".")[0] for kind in type(obj).__mro__)
    frame = next((library for library in libraries if library in FRAMES), "arrow")
    if frame == "pandas":
        return _from_pandas(obj, source, target, edge_data, name=name, **options)
    if frame == "polars":
        _refuse_objects(obj, name)
    try:
        table = pa.table(obj)
        places, columns = choose_columns(table.column_names, source, target, name, edge_data)
        data = carried(edge_data, table.column_names, columns, table.num_rows, name, table.column)
        return from_arrow_table(table.select([*places]), columns, name, frame=frame, data=data, **options)
    except InputError:
        raise
    except Exception as error:  # raised by Arrow, or by the producer of the stream
        if is_interrupt(error):
            raise
        raise InputError(f"{name}: a {type(obj).__name__} that is not a table of edges ({error})") from error


def _refuse_objects(frame: Any, name: str) -> None:
    """Raise `InputError` for a column of Python objects: Polars shows their addresses to Arrow."""
    import polars as pl

    for column, type in getattr(frame, "schema", {}).items():
        if type == pl.Object:
            raise InputError(
                f"{name}, column {column!r}: Polars objects cannot hold vertex ids: cast them, or use pandas"
            )


def _from_pandas(obj: Any, source: Any, target: Any, edge_data: Asked | None, *, name: str, **options: Any) -> Graph:
    """A graph from a `pandas.DataFrame`; columns of Python objects that Arrow has no type for are ids as they are."""
    import pandas as pd
    import pyarrow as pa

    from ._tables import choose_columns, from_arrow_table

    if not isinstance(obj, pd.DataFrame):
        raise InputError(f"{name}: a pandas {type(obj).__name__} is not a table of edges: give a DataFrame")
    names = [str(column) for column in obj.columns]
    places, columns = choose_columns(list(obj.columns), source, target, name, edge_data, obj.index.names)
    for title, values in edge_data.items() if isinstance(edge_data, Mapping) else ():
        if isinstance(values, pd.Series) and not values.index.equals(obj.index):
            raise InputError(f"{name}, edge data {title!r}: the index of this Series is not that of the frame")
    if options.get("directed") is None:
        options["directed"] = direction_of(obj.attrs)
    options["data"] = carried(edge_data, names, columns, len(obj), name, lambda place: obj.iloc[:, place])
    series = [obj.iloc[:, place] for place in places]
    arrays = [array_of(ids) for ids in series]
    if any(array is None or _holds_objects(array.type) for array in arrays):
        objects = (ids.to_numpy(object) for ids in series)
        return from_objects(*objects, columns=columns, name=name, frame="pandas", **options)
    table = pa.table(arrays, names=list(columns))
    return from_arrow_table(table, columns, name, frame="pandas", **options)


def _are_times(ids: Iterable[Any]) -> bool:
    """Return True if all but None are times of one type, which the libraries know, though not all exactly."""
    import pandas as pd

    types = set(map(type, ids)) - {type(None)}
    kinds = ({datetime.date}, {datetime.datetime, pd.Timestamp}, {datetime.time}, {datetime.timedelta, pd.Timedelta})
    return any(types <= kind for kind in kinds)


def _are_kept(ids: Iterable[Any], column: Any) -> bool:
    """Return True if the column holds these very ids, not times that lack their nanoseconds or time zone."""
    return all(id is None or id == kept for id, kept in zip(ids, elements(column), strict=True))


def _holds_objects(type: Any) -> bool:
    """Return True if pandas has Python objects for this type of Arrow, such as lists, intervals and periods."""
    import pyarrow as pa

    values = value_type(type)
    return pa.types.is_nested(values) or isinstance(values, pa.BaseExtensionType)


def to_frame(graph: Graph, kind: str) -> Any:
    """A frame of edges, an undirected edge once; ``kind`` as in `frame`. One of pandas has the direction in its
    ``attrs``."""
    made = frame(dict(zip(graph.columns, to_edges(graph), strict=True)) | columns_of_edges(graph), kind)
    if kind == "pandas":
        made.attrs[DIRECTED] = graph.directed
    return made


to_pandas, to_polars = partial(to_frame, kind="pandas"), partial(to_frame, kind="polars")


def frame(columns: dict[str, Any], kind: str) -> Any:
    """A frame of named columns, arrays or `Categories`; None among objects becomes null. ``kind`` is "pandas",
    "polars", "arrow", "dask", or, with columns that are uploaded, "cudf" or "cudf.pandas".

    Raises `InputError` if there is no such kind, its library is missing, or it has no type for the objects.
    """
    if kind in ("cudf", "cudf.pandas"):
        with rapids.naming_missing_package(f"a frame of kind {kind!r}"):
            return uploaded(_arrow_frame(columns), kind)
    if kind not in FRAMES:
        raise InputError(f"unknown kind of frame {quoted(kind)}: there are {', '.join(FRAMES)}, cudf, cudf.pandas")
    try:
        return FRAMES[kind](columns)
    except ImportError as error:
        raise InputError(f"a {kind} frame needs {error.name}: pip install {error.name}") from None


def _pandas_frame(columns: dict[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame({name: _pandas_column(values) for name, values in columns.items()})


def _pandas_column(values: Any) -> Any:
    """Ids in the type that pandas infers, or as objects if it does not hold exactly these."""
    import pandas as pd

    if isinstance(values, Categories):
        return pd.Categorical.from_codes(values.codes, values.categories.tolist())
    if values.dtype != object:
        return values
    plain = of_one_kind(values)
    if plain or _are_times(values):
        with suppress(OverflowError, ValueError):  # dates out of bounds, surrogates
            column = pd.Series(values)
            if plain or _are_kept(values, column):
                return column
    return pd.Series(values, dtype=object)


def _polars_frame(columns: dict[str, Any]) -> Any:
    import polars as pl

    return pl.from_arrow(_arrow_frame(columns, "Polars"))


def _arrow_frame(columns: dict[str, Any], library: str = "Arrow") -> Any:
    """A `pyarrow.Table` of the columns; objects are a list, in which Arrow looks for a common type.

    Raises `InputError` if there is none, or it does not hold them exactly.
    """
    import pyarrow as pa

    columns = {name: as_arrow(held) if isinstance(held, Categories) else held for name, held in columns.items()}
    objects = {name: values.tolist() for name, values in columns.items() if _are_objects(values)}
    times = [name for name, ids in objects.items() if not of_one_kind(ids)]
    reason = "of several types, or of one that Python alone has"
    if all(_are_times(objects[name]) for name in times):
        try:
            made = pa.table(columns | objects)
        except (pa.ArrowException, OverflowError, TypeError, UnicodeEncodeError) as error:
            reason = str(error)
        else:
            if all(_are_kept(objects[name], made[name]) for name in times):
                return made
            reason = "more exact, or of several zones"
    raise InputError(f"{library} has no type for these ids, {reason}: use pandas")


def _are_objects(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == object


def _dask_frame(columns: dict[str, Any]) -> Any:
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):  # otherwise it converts objects of any kind to strings
        return dd.from_pandas(_pandas_frame(columns), chunksize=PARTITION)


FRAMES = {"pandas": _pandas_frame, "polars": _polars_frame, "arrow": _arrow_frame, "dask": _dask_frame}
PARTITION = 1 << 20  # rows of a partition of Dask's
