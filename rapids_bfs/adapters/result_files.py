"""Files of results: Arrow tables as Parquet, Arrow, CSV or TSV."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, feather, parquet

from .._core.arguments import quoted
from .._core.formatting import counted
from ..errors import InputError
from ..graph import Graph
from ._edge_data import is_string, value_type
from ._file import File, check_output, file_at, file_errors, replacing
from ._ldbc import read_reference

COMPONENT = "component"  # the column of a file of components
REFERENCES = {"-BFS": "distance", "-WCC": COMPONENT}  # LDBC Graphalytics', by the end of their names
LDBC_UNREACHED = (1 << 63) - 1
SUFFIXES = (".parquet", ".arrow", ".feather", ".csv", ".tsv")


def check_table_output(path: Path, force: bool) -> None:
    """Raise `InputError` if `save_table` could not write there."""
    _require_suffix(path)
    check_output(path, force)


def save_table(table: pa.Table, path: Path, *, force: bool = False) -> None:
    """Write an Arrow table in the format of the suffix, replacing a file that exists only with ``force``."""
    check_table_output(path, force)
    with replacing(path) as out:
        if path.suffix == ".parquet":
            parquet.write_table(table, out)
        elif path.suffix in (".arrow", ".feather"):
            feather.write_feather(table, out)
        else:
            csv.write_csv(table, out, csv.WriteOptions(delimiter=_delimiter(path)))


def read_table(path: Path, graph: Graph) -> pa.Table:
    """The result of a search in ``graph``, as a table that `save_table` wrote or any other with such columns; or what a
    reference output of LDBC Graphalytics says.

    Raises `InputError` if there is none, if it has more rows than the graph has vertices, if ids are of another type
    than those of the graph, a distance is no int32, or a component no int64.
    """
    if value := REFERENCES.get(path.name[-4:].upper()):
        return _read_reference(path, graph, value)
    _require_suffix(path)
    types = {
        "vertex": pa.large_string() if graph.has_objects else pa.int64(),
        "distance": pa.int32(),
        COMPONENT: pa.int64(),
    }
    types["predecessor"] = types["vertex"]
    with file_at(path).held() as file, file_errors(file, "a result"):
        table = _read(file, types, graph)
        table.validate(full=True)
        for place, name in enumerate(table.column_names):
            if name in types:
                column, where = table.column(place), f"{file}, column {quoted(name)}"
                if path.suffix in (".csv", ".tsv") and pa.types.is_integer(types[name]):
                    column = _integers(column, where)
                table = table.set_column(place, name, _as_type(column, types[name], where))
        return table


def _read_reference(path: Path, graph: Graph, value: str) -> pa.Table:
    if graph.has_objects:
        raise InputError(f"{path}: the ids of LDBC's outputs are integers, unlike those of {graph.name}")
    with file_at(path).held() as file, file_errors(file, "an output of LDBC Graphalytics"):
        table = read_reference(file, graph.num_vertices, value)
    if value == COMPONENT:
        return table
    reached = pc.not_equal(table[value], LDBC_UNREACHED)
    return table.set_column(1, value, pc.if_else(reached, table[value], -1))


def _read(file: File, types: dict[str, pa.DataType], graph: Graph) -> pa.Table:
    suffix = file.path.suffix
    if suffix == ".parquet":
        with parquet.ParquetFile(file.place) as content:
            _require_room(content.metadata.num_rows, graph, file)
            return content.read()
    if suffix in (".arrow", ".feather"):
        return _read_arrow(file, graph)
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(types, pa.large_string()),  # otherwise Arrow converts hexadecimal numbers and dates
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    with io.BufferedReader(file.text()) as text:
        content = pa.BufferReader(text.read())  # not the stream, whose errors would be raised in a thread of Arrow's
    parse = csv.ParseOptions(delimiter=_delimiter(file.path))
    return csv.read_csv(content, parse_options=parse, convert_options=convert)


def _read_arrow(file: File, graph: Graph) -> pa.Table:
    with file.open_for_arrow() as content:
        reader = pa.ipc.open_file(content)
        batches: list[pa.RecordBatch] = []
        for place in range(reader.num_record_batches):
            batches.append(reader.get_batch(place))
            _require_room(sum(map(len, batches)), graph, file)
        return pa.Table.from_batches(batches, reader.schema)


def _require_room(rows: int, graph: Graph, file: File) -> None:
    """Raise `InputError` if there are more rows than vertices: packed, many take a few bytes."""
    if rows > graph.num_vertices:
        raise InputError(
            f"{file} must hold each vertex of {graph.name} once, and holds {rows:,} rows for "
            f"{counted(graph.num_vertices, 'vertex', 'vertices')}"
        )


def _integers(texts: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    integers = pc.match_substring_regex(texts, r"^\s*-?[0-9]{1,19}\s*$")
    if (row := pc.index(integers, False).as_py()) >= 0:
        raise InputError(f"{where}, row {row} (from 0): {quoted(texts[row].as_py())} is not an integer")
    return texts.cast(pa.int64())


def _as_type(column: pa.ChunkedArray, type: pa.DataType, where: str) -> pa.ChunkedArray:
    """``column`` with this type. Raises `InputError` if the conversion would change a value."""
    kind = value_type(column.type)
    expected, holds = (
        ("strings", is_string(kind)) if pa.types.is_large_string(type) else ("integers", pa.types.is_integer(kind))
    )
    if not (holds or pa.types.is_null(kind)):
        raise InputError(f"{where} holds {kind}, not {expected}")
    try:
        return column.cast(kind).cast(type)
    except pa.ArrowInvalid as error:
        raise InputError(f"{where}: {str(error).splitlines()[0]}") from error


def _require_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: the suffix of a result file is one of {', '.join(SUFFIXES)}, or LDBC's -BFS or -WCC")


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix == ".tsv" else ","
