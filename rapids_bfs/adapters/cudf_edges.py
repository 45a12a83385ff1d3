"""Lists of edges as two columns of cuDF's: Parquet, CSV and TSV read past the host's memory, and tables."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

from .._core.rapids import package_missing
from . import pylibcudf
from ._bounded import BOM
from ._columnar import chosen_fields
from ._csv import csv_start, may_be_an_edge, type_of_ids
from ._file import HEAD, File, file_at, file_errors, packing_of, unchanged
from ._formats import format_of
from ._schema_metadata import notes_of
from ._tables import choose_columns, is_number
from .cudf import is_proxy
from .cudf import matches as is_cudf

Read = tuple[Any, dict[str, Any]]  # a `cudf.DataFrame` of two columns, and the options of `as_graph` that it goes with


def read_edges(path: str | os.PathLike[str], source: str | None = None, target: str | None = None) -> Read | None:
    """The two columns of a file that hold its edges.

    None if cuDF is not installed, or the file has another format or content that only `rapids_bfs.read` handles:
    vertices without edges, a byte-order mark, a header that may be an edge, ids that are neither numbers nor strings or
    unlike the first.
    """
    if package_missing("cudf") is not None or not os.path.isfile(path):
        return None
    file = file_at(path)
    with unchanged(file), file_errors(file, "a list of edges"):
        with file.open() as stream:
            head = stream.read(HEAD)
        if packing_of(head) or head.startswith(BOM):
            return None
        read = {"parquet": _read_parquet, "csv": _read_csv, "tsv": _read_csv}.get(format_of(file).key)
        found = read(file, source, target) if read else None
    if found is None:
        return None
    frame, options = found
    return frame, options | {"name": file.path.stem}


def _read_parquet(file: File, source: str | None, target: str | None) -> Read | None:
    import cudf
    import pyarrow.parquet as pq

    schema = pq.read_schema(file.path)
    notes = notes_of(schema.metadata, str(file))
    fields = chosen_fields(schema, source, target, file)
    if notes.isolated or notes.labels or not all(_is_plain(field.type) for field in fields):
        return None
    columns = [field.name for field in fields]
    frame = cudf.read_parquet(file.path, columns=columns)[columns]
    options = {"directed": notes.directed, "vertices": notes.vertices}
    return frame, {key: value for key, value in options.items() if value is not None}


def _is_plain(type: pa.DataType) -> bool:
    return is_number(type) or pa.types.is_string(type) or pa.types.is_large_string(type)


def _read_csv(file: File, source: str | None, target: str | None) -> Read | None:
    import cudf

    names, first_row, delimiter = csv_start(file)
    places, chosen = choose_columns(names, source, target, str(file))
    columns = list(chosen)
    type = type_of_ids([first_row[place] for place in places] if len(first_row) == len(names) else [])
    if source is None and target is None and may_be_an_edge(chosen, first_row, type):
        return None
    frame = cudf.read_csv(file.path, sep=delimiter, usecols=columns, keep_default_na=False, na_values=[""])[columns]
    # cuDF reads a column as strings if one id is not a number, and as numbers if all its strings look like numbers;
    # it rounds floats.
    strings, integers = pa.types.is_large_string(type), pa.types.is_integer(type)
    kinds = [frame[name].dtype.kind for name in columns]
    as_the_first = all((integers if kind == "i" else strings and kind != "f") for kind in kinds)
    return (frame, {}) if as_the_first else None


def edge_columns(obj: Any, columns: tuple[str, str]) -> Any:
    """These columns of a table of edges, of any type that `as_graph` takes, or a pair of arrays with these names, as a
    `cudf.DataFrame`."""
    import cudf

    if isinstance(obj, tuple):
        return cudf.DataFrame(dict(zip(columns, obj, strict=True)))
    if is_proxy(obj):
        obj = obj.as_gpu_object()
    elif pylibcudf.matches(obj):
        obj = pylibcudf.frame_of_table(obj)
    elif type(obj).__module__.startswith("pandas."):
        obj = cudf.from_pandas(obj)
    elif not is_cudf(obj):
        obj = cudf.DataFrame.from_arrow(pa.table(obj).select(columns))
    return obj.rename(columns=str)[list(columns)]
