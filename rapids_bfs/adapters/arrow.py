"""Frames: pandas, Polars, and anything else that shows itself as an Arrow table."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import rapids
from .._core.arguments import quoted
from ..errors import InputError
from ..graph import Graph


def matches(obj: Any) -> bool:
    return hasattr(obj, "__arrow_c_stream__") or hasattr(obj, "__arrow_c_array__")


def from_arrow(
    obj: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str = "frame",
) -> Graph:
    """A graph from a table of edges: a pandas or Polars frame, a PyArrow table, or any other Arrow stream.

    ``source`` and ``target`` name its columns, by default a pair with usual names, or the only two. Columns of
    numbers are not copied. The other arguments are those of `from_edges`.
    """
    import pyarrow as pa

    from ._tables import choose_columns, from_arrow_table

    kind = type(obj).__module__.partition(".")[0]
    frame = kind if kind in FRAMES else "arrow"
    if kind == "pandas":
        return _from_pandas(obj, source, target, vertices=vertices, directed=directed, name=name)
    if kind == "polars":
        _refuse_objects(obj, name)
    try:
        table = pa.table(obj)
        i, j = choose_columns(table.column_names, source, target, name)
        columns = table.column_names[i], table.column_names[j]
        return from_arrow_table(
            table.select([i, j]), columns, name=name, vertices=vertices, directed=directed, frame=frame
        )
    except InputError:
        raise
    except Exception as error:  # of Arrow, or of whoever made the stream
        raise InputError(f"{name}: a {type(obj).__name__} that is not a table of edges ({error})") from error


def _refuse_objects(frame: Any, name: str) -> None:
    """Raise `InputError` for a column of Python objects: Polars shows their addresses to Arrow."""
    import polars as pl

    for column, type in getattr(frame, "schema", {}).items():
        if type == pl.Object:
            raise InputError(
                f"{name}, column {column!r}: Polars objects cannot hold vertex ids: cast them, or use pandas"
            )


def _from_pandas(obj: Any, source: str | None, target: str | None, *, name: str, **options: Any) -> Graph:
    """A graph from a `pandas.DataFrame`; columns of Python objects that Arrow has no type for are ids as they are."""
    import pandas as pd
    import pyarrow as pa

    from ._tables import choose_columns, from_arrow_table
    from .edges import from_objects

    if not isinstance(obj, pd.DataFrame):
        raise InputError(f"{name}: a pandas {type(obj).__name__} is not a table of edges: give a DataFrame")
    names = [str(column) for column in obj.columns]
    places = choose_columns(names, source, target, name)
    columns = names[places[0]], names[places[1]]
    series = [obj.iloc[:, place] for place in places]
    try:
        arrays = [pa.array(ids, from_pandas=True) for ids in series]
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        arrays = None
    if arrays is None or any(_holds_objects(array.type) for array in arrays):
        objects = (ids.to_numpy(object) for ids in series)
        return from_objects(*objects, columns=columns, name=name, frame="pandas", **options)
    table = pa.table(arrays, names=list(columns))
    return from_arrow_table(table, columns, name=name, frame="pandas", **options)


def _holds_objects(type: Any) -> bool:
    """Are values of this type of Arrow's Python objects to pandas, such as lists, intervals and periods?"""
    import pyarrow as pa

    return pa.types.is_nested(type) or isinstance(type, pa.BaseExtensionType)


def to_arrow(graph: Graph) -> Any:
    """A `pyarrow.Table` of edges, an undirected edge once; its metadata say what `from_arrow` needs besides them."""
    from ._tables import to_edge_table

    return to_edge_table(graph)


def to_pandas(graph: Graph) -> Any:
    """A `pandas.DataFrame` of edges, an undirected edge once."""
    return frame(_edges(graph), "pandas")


def to_polars(graph: Graph) -> Any:
    """A `polars.DataFrame` of edges, an undirected edge once."""
    return frame(_edges(graph), "polars")


def _edges(graph: Graph) -> dict[str, np.ndarray]:
    from .edges import to_edges

    return dict(zip(graph.columns, to_edges(graph), strict=True))


def frame(columns: dict[str, np.ndarray], kind: str) -> Any:
    """A frame of named columns; None among objects becomes null. ``kind`` is "pandas", "polars", "arrow", "dask", or,
    with columns that are uploaded, "cudf" or "cudf.pandas".

    Raises `InputError` if there is no such kind, its library is missing, or it has no type for the objects.
    """
    if kind in ("cudf", "cudf.pandas"):
        from .cudf import uploaded

        with rapids.here(f"a frame of kind {kind!r}"):
            return uploaded(_arrow_frame(columns), kind)
    if kind not in FRAMES:
        raise InputError(f"unknown kind of frame {quoted(kind)}: there are {', '.join(FRAMES)}, cudf, cudf.pandas")
    try:
        return FRAMES[kind](columns)
    except ImportError as error:
        raise InputError(f"a {kind} frame needs {error.name}: pip install {error.name}") from None


def _pandas_frame(columns: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


def _polars_frame(columns: dict[str, np.ndarray]) -> Any:
    import polars as pl

    try:
        return pl.DataFrame({name: _listed(values) for name, values in columns.items()})
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise InputError(f"Polars has no type for these ids: use pandas: {error}") from None


def _arrow_frame(columns: dict[str, np.ndarray]) -> Any:
    import pyarrow as pa

    try:
        return pa.table({name: _listed(values) for name, values in columns.items()})
    except pa.ArrowException as error:
        raise InputError(f"Arrow has no type for these ids: use pandas: {error}") from None


def _listed(values: np.ndarray) -> Any:
    """Objects as a list, in which the frame libraries look for a common type."""
    return values.tolist() if values.dtype == object else values


def _dask_frame(columns: dict[str, np.ndarray]) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(_pandas_frame(columns), chunksize=PARTITION)


FRAMES = {"pandas": _pandas_frame, "polars": _polars_frame, "arrow": _arrow_frame, "dask": _dask_frame}
PARTITION = 1 << 20  # rows of a partition of Dask's
