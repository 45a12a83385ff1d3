"""cuDF's frames, also behind the proxies of `cudf.pandas`. Conversions stay on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from .._core.cuda.arrays import CUDA, to_device
from ..errors import InputError
from ..graph import Categories, Dates, Graph
from . import RESULT_COLUMNS
from ._edge_data import Asked, as_arrow, carried, columns_of_edges

if TYPE_CHECKING:
    import pyarrow as pa


FRAME = "cudf"  # `Graph.frame` of graphs from this module
PROXY = "cudf.pandas"  # the same, for frames behind pandas's names
NUMBERS = "iuf"  # kinds of dtypes that hold ids which may be vertices

_labels: WeakKeyDictionary[Graph, Any] = WeakKeyDictionary()  # on the device, for graphs whose ids are strings


def matches(obj: Any) -> bool:
    """A DataFrame of cuDF or cudf.pandas, or a pair of cuDF's Series."""
    if isinstance(obj, tuple):
        return len(obj) == 2 and all(_is_of_cudf(ids, "Series") for ids in obj)
    return _is_of_cudf(obj, "DataFrame") or is_proxy(obj)


def _is_of_cudf(obj: Any, name: str) -> bool:
    return type(obj).__module__.startswith("cudf.") and type(obj).__name__ == name


def is_proxy(obj: Any) -> bool:
    return type(obj).__name__ == "DataFrame" and hasattr(type(obj), "as_gpu_object")


def from_cudf(
    obj: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
    keep_order: bool = False,
    name: str = "frame",
    edge_data: Asked | None = None,
) -> Graph:
    """A graph on the device from a `cudf.DataFrame` of edges, or a pair of Series; columns of integers are not copied.

    ``source`` and ``target`` name its columns, by default a pair with usual names, or the only two. Strings become
    labels. ``keep_order`` keeps each adjacency in the order of the rows, which takes longer; so do ``edge_data``,
    names of columns or a dict of them. The other arguments are those of `rapids_bfs.adapters.edges.from_edges`.
    """
    from ._tables import choose_columns
    from .device_edges import from_device_edges

    frame = FRAME
    if isinstance(obj, tuple):
        ids, columns = obj, ("source", "target")
    else:
        if is_proxy(obj):
            obj, frame = obj.as_gpu_object(), PROXY
        names = [str(column) for column in obj.columns]
        (i, j), columns = choose_columns(list(obj.columns), source, target, name, edge_data, obj.index.names)
        ids = obj[obj.columns[i]], obj[obj.columns[j]]
    ids = tuple(_without_categories(each) for each in ids)
    for series, column in zip(ids, columns, strict=True):
        _refuse_nulls(series, f"{name}, column {column!r}")
    options: dict[str, Any] = {"directed": directed, "keep_order": keep_order, "columns": columns}
    options |= {"name": name, "frame": frame, "edge_data": edge_data}
    if edge_data is not None and not isinstance(obj, tuple):
        data = carried(edge_data, names, columns, len(obj), name, lambda place: _column(obj[obj.columns[place]]), CUDA)
        options["edge_data"] = dict(data)
    if all(series.dtype.kind in NUMBERS for series in ids):
        return from_device_edges(*(series.values for series in ids), vertices=vertices, **options)
    if vertices is not None:
        raise InputError(f"{name}: a number of vertices can only be given with integer ids")
    return _from_strings(ids, columns, name, options)


def _column(series: Any) -> Any:
    """A column of numbers or bools without nulls as an array of CuPy; any other as one of Arrow, on the host."""
    if series.dtype.kind in "biuf" and not series.null_count:
        return series.values
    return series.to_arrow()


def _without_categories(series: Any) -> Any:
    return series.astype(series.cat.categories.dtype) if hasattr(series.dtype, "categories") else series


def _refuse_nulls(series: Any, where: str) -> None:
    if series.null_count:
        row = int(series.isna().values.argmax())
        raise InputError(f"{where}, row {row} (from 0): null is not a vertex id: drop the rows without one")


def _from_strings(ids: tuple[Any, ...], columns: tuple[str, str], name: str, options: dict[str, Any]) -> Graph:
    import cudf

    from .device_edges import from_device_edges

    for series, column in zip(ids, columns, strict=True):
        if not cudf.api.types.is_string_dtype(series.dtype):
            others = "numbers" if series.dtype.kind in NUMBERS else str(series.dtype)
            raise InputError(
                f"{name}, column {column!r}: on the device ids are all numbers or all strings, not {others}"
            )
    codes, unique = cudf.concat(list(ids), ignore_index=True).factorize()
    rows = len(ids[0])
    graph = from_device_edges(codes[:rows], codes[rows:], vertices=len(unique), **options)
    labels = cudf.Series(unique)
    graph = graph._with(labels=_objects(labels))
    _labels[graph] = labels
    return graph


def _objects(series: Any) -> np.ndarray:
    objects = np.empty(len(series), object)
    objects[:] = series.to_arrow().to_pylist()
    return objects


def labels_of(graph: Graph) -> Any:
    """The ids of a graph whose ids are not integers, as a `cudf.Series`, uploaded once."""
    import cudf
    import pyarrow as pa

    assert graph.labels is not None
    if graph not in _labels:
        try:
            _labels[graph] = cudf.Series(pa.array(graph.labels.tolist()))
        except pa.ArrowException as error:
            raise InputError(f"cuDF has no type for these ids: use pandas: {error}") from None
    return _labels[graph]


def ids_on_device(graph: Graph, vertices: Any) -> Any:
    """The ids of ``vertices`` (a CuPy array): a CuPy array of integers, -1 where a vertex is, or a `cudf.Series` with
    nulls there."""
    import cudf
    import cupy

    if graph.labels is None or graph.labels.dtype != object:
        return graph.ids_of(vertices)
    there = vertices >= 0
    ids = labels_of(graph).take(cupy.where(there, vertices, 0)).reset_index(drop=True)
    return ids if there.all() else ids.where(cudf.Series(there))


def to_cudf(graph: Graph) -> Any:
    """A `cudf.DataFrame` of edges, an undirected edge once."""
    pairs = graph.to(CUDA).vertex_pairs()
    columns = (ids_on_device(graph, vertices) for vertices in pairs)
    carried = {name: _series(column) for name, column in columns_of_edges(graph.to(CUDA)).items()}
    return frame_of(dict(zip(graph.columns, columns, strict=True)) | carried)


def _series(column: Any) -> Any:
    """A column of edge data: a CuPy array as it is, others as a `cudf.Series`."""
    import cudf

    return cudf.Series.from_arrow(as_arrow(column)) if isinstance(column, Categories | Dates) else column


def result_frame(result: Any, kind: str) -> Any:
    """See `BFSResult.to_frame`; ``kind`` is "cudf" or "cudf.pandas"."""
    import cupy

    graph = result.graph
    columns = {
        "vertex": ids_on_device(graph, cupy.arange(graph.num_vertices, dtype=graph.targets.dtype)),
        "distance": to_device(result.distances).copy(),
    }
    if result.predecessors is not None:
        predecessors = to_device(result.predecessors)
        ids = ids_on_device(graph, predecessors)
        columns["predecessor"] = ids.copy() if ids is predecessors else ids
    return _as_kind(frame_of(columns), kind)


def uploaded(table: pa.Table, kind: str) -> Any:
    """An Arrow table as a frame; ``kind`` is "cudf" or "cudf.pandas"."""
    import cudf

    return _as_kind(cudf.DataFrame.from_arrow(table), kind)


def _as_kind(frame: Any, kind: str) -> Any:
    if kind == FRAME:
        return frame
    from cudf.pandas import as_proxy_object

    return as_proxy_object(frame)


def frame_of(columns: dict[str, Any]) -> Any:
    """A `cudf.DataFrame` of CuPy arrays, which become its own without a copy, and of cuDF's Series, which it shares
    until either is written to.

    This takes less than half of the time of cuDF's constructor, see ``python -m benchmarks dropin``.
    """
    import cudf
    import pylibcudf
    from cudf.core.column import ColumnBase

    def column(given: Any) -> Any:
        if isinstance(given, cudf.Series):
            return given._column.copy(deep=False)
        return ColumnBase.create(pylibcudf.Column.from_cuda_array_interface(given), given.dtype)

    return cudf.DataFrame._from_data({name: column(given) for name, given in columns.items()})


def rows_at(frame: Any, places: Any) -> Any:
    """The rows of a `cudf.DataFrame` at these places (a CuPy array), which must exist: `take` would check that,
    twice."""
    from cudf.core.column import as_column
    from cudf.core.copy_types import GatherMap

    rows = GatherMap.from_column_unchecked(as_column(places), len(frame), nullify=False)
    return frame._gather(rows, keep_index=False)


def places_of(rows: Any, frame: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows of one `cudf.DataFrame` that are in another, whose rows are distinct and of the same types, and their
    positions there.

    This hashes the smaller frame; `merge` would make a frame of all rows.
    """
    import cudf
    import pylibcudf

    keys = [pylibcudf.Table([column.plc_column for column in each._columns]) for each in (rows, frame)]
    which, places = pylibcudf.join.inner_join(*keys, pylibcudf.types.NullEquality.EQUAL)
    return cudf.Series.from_pylibcudf(which).to_numpy(), cudf.Series.from_pylibcudf(places).to_numpy()


def frames_of(vertices: Any) -> Callable[[Any, Any], Any]:
    """A function that makes the frame of a search from its distances and predecessors, CuPy arrays of the type and
    length of ``vertices``. All frames share ``vertices`` until one is written to. The arrays become the frame's own,
    and need not be filled yet.

    `frame_of` takes longer than a small search. The fast path skips cuDF's checks of new columns, and relies on
    internals of cuDF 26.08 to 26.10; if these differ, `frame_of` makes the frames.
    """
    try:
        made = _unchecked_frames(vertices)
        sample = made(vertices, vertices)  # nobody writes to it
        if list(sample.dtypes.items()) == [(name, vertices.dtype) for name in RESULT_COLUMNS]:
            return made
    except (ImportError, AttributeError, TypeError, ValueError):
        pass
    return lambda *found: frame_of(dict(zip(RESULT_COLUMNS, (vertices.copy(), *found), strict=True)))


def _unchecked_frames(vertices: Any) -> Callable[[Any, Any], Any]:
    """The fast path of `frames_of`."""
    import cudf
    import pylibcudf
    from cudf.core.buffer import as_buffer
    from cudf.core.column import ColumnBase
    from cudf.core.column_accessor import ColumnAccessor
    from pandas import Flags  # type: ignore[attr-defined]

    rows, dtype = range(len(vertices)), vertices.dtype
    data_type = pylibcudf.Column.from_cuda_array_interface(vertices).type()
    shared = as_buffer(vertices)

    def column(buffer: Any) -> Any:
        unchecked = pylibcudf.Column(data_type, len(rows), buffer, None, 0, 0, ())
        return ColumnBase.create(unchecked, dtype, validate=False)

    def data(distances: Any, predecessors: Any) -> Any:
        vertex = column(shared.copy(deep=False))  # so that cuDF knows that it is shared
        columns = vertex, column(as_buffer(distances)), column(as_buffer(predecessors))
        return ColumnAccessor(dict(zip(RESULT_COLUMNS, columns, strict=True)), verify=False)

    def from_data(*found: Any) -> Any:
        return cudf.DataFrame._from_data(data(*found), cudf.RangeIndex(rows))

    def filled_in(*found: Any) -> Any:
        """`from_data` without `DataFrame.__setattr__`, which looks for a column of each attribute's name."""
        frame = cudf.DataFrame.__new__(cudf.DataFrame)
        flags = Flags(frame, allows_duplicate_labels=True)
        vars(frame).update(_data=data(*found), _index=cudf.RangeIndex(rows), _attrs={}, _flags=flags)
        return frame

    known = vars(from_data(vertices, vertices)).keys() == {"_data", "_index", "_attrs", "_flags"}
    return filled_in if known else from_data
