"""CSV and TSV, with a header row or without."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._core.arguments import is_integer, quoted
from ..errors import InputError, warn
from ..graph import Categories, EdgeData, Graph
from ._bounded import DECIMAL
from ._edge_data import Asked, carried, refuse_ends
from ._file import File, refuse_isolated, without_packing
from ._ids import LARGEST
from ._tables import USUAL, Columns, EdgeTable, choose_columns, from_edge_table, isolated, to_arc_table

NUMBER = re.compile(rf"\s*{DECIMAL}\s*", re.ASCII)
INTEGER = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
BLOCK = 1 << 20  # bytes
QUOTE = b'"'
NEITHER_QUOTES_NOR_ENDS = bytes(set(range(256)) - set(b'"\r\n'))
AT_THE_END = "unexpected end of data"  # Python's error for a quote that nothing closes


def read_csv(
    file: File,
    source: str | int | None = None,
    target: str | int | None = None,
    header: bool = True,
    edge_data: Asked | None = None,
    **options: Any,
) -> Graph:
    """Return a graph from two columns of a CSV or TSV, whose edges carry others in the types that Arrow sees. Ids are
    numbers if they are in the first row."""
    names, first_row, delimiter = csv_start(file, header)
    named = not header or any(column in names for column in (source, target, *(edge_data or ())))
    if not header:
        source, target = 0 if source is None else source, 1 if target is None else target
    (i, j), columns = choose_columns(
        names, _name(source, names, file), _name(target, names, file), str(file), edge_data
    )
    type = type_of_ids([first_row[i], first_row[j]] if len(first_row) == len(names) else [])
    doubtful = not named and may_be_an_edge(columns, first_row, type)
    if _some_line_has_odd_quotes(file):
        _refuse_open_quotes(file, delimiter)
    content = partial(_with_its_end, file) if header and not first_row else file.open_for_arrow
    given = None if header else names
    batches = partial(_batches, content, columns, type, delimiter, given)
    table = EdgeTable(str(file), columns, (type, type), file.about_lines(), batches)
    try:
        if edge_data is not None:
            refuse_ends(edge_data, columns, str(file))
            data = _data(content, str(file), edge_data, names, columns, delimiter, given)
            table = replace(table, data=data)
        graph = from_edge_table(table, **options)
    except pa.ArrowInvalid as error:
        raise InputError(f"{file}{_csv_place(str(error), names, header)}") from None
    if doubtful:
        _doubt_header(file, columns, graph)
    return graph


read_tsv = read_csv


def _name(column: Any, names: list[str], file: File) -> Any:
    """Return the name of a column that is given by its name or its place."""
    if not is_integer(column):
        return column
    if not 0 <= column < len(names):
        raise InputError(f"{file} has no column {column}: there are {len(names)}, from 0")
    return names[column]


def may_be_an_edge(columns: tuple[str, str], first_row: Sequence[str], type: pa.DataType) -> bool:
    """Return True if the names of the ``columns`` are not usual ones, and the ids of the next row are strings too, or
    there is none: the header row may be an edge."""
    unusual = any(name.strip().lower() not in USUAL for name in columns)
    return unusual and (pa.types.is_large_string(type) or not first_row)


def _doubt_header(file: File, columns: tuple[str, str], graph: Graph) -> None:
    """Raise `InputError` if one of the names is an id too, which makes the header row an edge; else warn."""
    row = f"{file}: its first row, {quoted(columns[0])} and {quoted(columns[1])},"
    otherwise = "read it with header=False (--no-header)"
    confirmed = "name the columns by source= and target= (--source-column and --target-column)"
    if ids := [name for name in columns if name in graph]:
        raise InputError(
            f"{row} seems to be an edge, as {quoted(ids[0])} is a vertex in other rows: {otherwise}; if it is a "
            f"header, {confirmed}"
        )
    warn(f"{row} is taken for a header: if it is an edge, {otherwise}; else {confirmed}")


def _some_line_has_odd_quotes(file: File) -> bool:
    """Read and check the text. Return True if a quoted field may go on in the next line."""
    found = False
    with io.BufferedReader(file.text()) as text:
        while lines := text.read(BLOCK) + text.readline(BLOCK):
            if QUOTE in lines and not found:
                found = QUOTE in lines.translate(None, NEITHER_QUOTES_NOR_ENDS).replace(2 * QUOTE, b"")
    return found


def _refuse_open_quotes(file: File, delimiter: str) -> None:
    """Raise `InputError` naming the first line with a quote that does not close in its field, if there is one: Arrow
    takes the rows below for text, up to the next quote or to the end."""
    with file.text() as raw:
        text = io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="replace", newline="")
        rows = csv.reader(text, delimiter=delimiter, strict=True)
        while True:
            first = rows.line_num + 1
            try:
                if next(rows, None) is None:
                    return
            except csv.Error as error:  # the reader goes on with the next line
                if rows.line_num > first or str(error) == AT_THE_END:
                    raise InputError(
                        f"{file}, line {first}: a quote does not close at the end of its field, and hides what follows "
                        f"up to line {rows.line_num}: close it, or remove it"
                    ) from None


def _with_its_end(file: File) -> Any:
    """Return the content of a header alone. Arrow sees no columns in a first line without an end."""
    with file.open_for_arrow() as content:
        return pa.BufferReader(content.read() + b"\n")


def _batches(
    content: Callable[[], Any], columns: tuple[str, str], type: pa.DataType, delimiter: str, names: list[str] | None
) -> Iterator[Columns]:
    """Yield the columns, a batch of rows at a time. ``names`` are given without a header.

    Arrow reads from a stream of its own, of text that was checked before. If it reads from a Python stream and that
    raises, or the reader is dropped early, a thread stays behind and makes the process hang at its exit.
    """
    from pyarrow import csv as arrow_csv

    convert = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(columns, type),
        include_columns=list(columns),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    # With several threads Arrow's errors do not name the row.
    one_thread = arrow_csv.ReadOptions(use_threads=False, column_names=names)
    with content() as opened, arrow_csv.open_csv(opened, one_thread, _parsing(delimiter), convert) as reader:
        for batch in reader:
            yield tuple(batch.columns)


def csv_start(file: File, header: bool = True) -> tuple[list[str], list[str], str]:
    """Return the columns' names, the first row, empty if there is none, and the delimiter. Without a header the names
    are 0, 1, ...

    Raises `InputError` if there should be a header and there is none.
    """
    with file.text() as stream:
        text = io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8", newline="")
        start = next((line for line in text if line.strip()), "")
        tabs = "\t" in start and without_packing(file.path).suffix.lower() == ".tsv"
        delimiter = "\t" if tabs else max(",\t;|", key=start.count)
        rows = csv.reader(chain([start], text), delimiter=delimiter)
        names = next(rows, [])
        first = next((row for row in rows if row), [])
    if not start:
        raise InputError(f"{file} is empty")
    if len(names) < 2:
        raise InputError(
            f"{file}: its first line, {quoted(start.strip())}, has no comma, tab, semicolon or bar; edge lists with "
            "spaces end in .txt"
        )
    if not header:
        return [str(place) for place in range(len(names))], names, delimiter
    if all(NUMBER.fullmatch(name) for name in names):
        raise InputError(
            f"{file} has no header row: name the columns in its first line, or read it with header=False (--no-header)"
        )
    return names, first, delimiter


def type_of_ids(texts: Sequence[str]) -> pa.DataType:
    """Return the type of a column that begins with the ids ``texts``: int64 or float64 if all are numbers, else
    string."""
    if all(INTEGER.fullmatch(text) for text in texts):
        return pa.int64()
    return pa.float64() if all(NUMBER.fullmatch(text) for text in texts) else pa.large_string()


def _data(
    content: Callable[[], Any],
    where: str,
    edge_data: Asked,
    names: list[str],
    ends: tuple[str, str],
    delimiter: str,
    given: list[str] | None,
) -> EdgeData:
    """What the edges carry, read whole. Integers beyond int64, which Arrow rounds to floats, are uint64 if they fit."""
    from pyarrow import csv as arrow_csv

    wanted = [name for name in (*ends[:1], *edge_data) if name in names]

    def read(columns: list[str], types: dict[str, pa.DataType]) -> pa.Table:
        with content() as opened:
            convert = _conversion(columns, types)
            return arrow_csv.read_csv(opened, arrow_csv.ReadOptions(column_names=given), _parsing(delimiter), convert)

    table = read(wanted, {})
    for place, name in enumerate(wanted):
        if pa.types.is_floating(table[name].type) and (pc.max(table[name]).as_py() or 0) > LARGEST:
            with suppress(pa.ArrowInvalid):
                table = table.set_column(place, name, read([name], {name: pa.uint64()}).column(0))
    return carried(edge_data, names, ends, table.num_rows, where, lambda place: table.column(names[place]))


def _parsing(delimiter: str) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)


def _conversion(columns: list[str], types: dict[str, pa.DataType]) -> Any:
    """How columns that edges carry are read, in these types or in those that Arrow sees."""
    from pyarrow import csv as arrow_csv

    return arrow_csv.ConvertOptions(
        include_columns=columns, column_types=types, null_values=[""], strings_can_be_null=True
    )


def _csv_place(message: str, names: list[str], header: bool) -> str:
    """The reason in Arrow's ``message``, after the row, counted from 0 as elsewhere."""
    if not (at := re.search(r"Row #(\d+): ", message)):
        return f": {message.splitlines()[0]:.200}"
    row = f", row {int(at[1]) - 1 - header} (from 0): "
    if value := re.search(r"CSV column #(\d+): .*invalid value '(.*)'", message, re.DOTALL):
        large = INTEGER.fullmatch(value[2]) and len(value[2].strip().lstrip("+-0")) > 18
        problem = "is beyond int64" if large else "is not an integer, as the first ids are"
        return f", column {names[int(value[1])]!r}{row}{quoted(value[2])} {problem}"
    return f"{row}{message[at.end() :].splitlines()[0]:.200}"


def write_csv(graph: Graph, stream: IO[bytes], *, delimiter: str = ",") -> None:
    """Write all edges, undirected ones in both directions: the file cannot say that a graph is undirected."""
    from pyarrow import csv as arrow_csv

    refuse_isolated(graph, isolated(graph), "a CSV")
    table = to_arc_table(graph)
    refuse_numbers_as_strings(graph)
    if graph.labels is not None and graph.has_objects:
        _refuse_nul("id", graph.labels)
    for title, column in graph.edge_data.items():
        if isinstance(column, Categories):
            _require_strings_kept(title, column.categories[np.unique(column.codes[column.codes >= 0])].tolist())
        elif column.dtype.kind == "M":
            _require_dates_kept(title, column)
        elif column.dtype.kind == "f" and column.dtype != np.float64:
            raise InputError(
                f"edges carry {column.dtype} {title!r}, which would be read as float64: convert it first; .parquet, "
                ".arrow and .npz keep it"
            )
    strings = any(pa.types.is_large_string(type) or pa.types.is_string(type) for type in table.schema.types)
    quoting = "all_valid" if strings else "none"
    arrow_csv.write_csv(table, stream, arrow_csv.WriteOptions(delimiter=delimiter, quoting_style=quoting))


def _refuse_nul(what: str, strings: Iterable[str]) -> None:
    """Raise `InputError` naming the first string with a NUL."""
    for string in strings:
        if "\0" in string:
            raise InputError(f"the {what} {quoted(string)} has a NUL, which text cannot hold; .parquet and .arrow can")


def _require_strings_kept(title: str, strings: list[str]) -> None:
    """Raise `InputError` if these strings, which edges carry, would be read as others, or as numbers or dates."""
    _refuse_nul(f"edge data {title!r}", strings)
    found = _written_and_read(pa.array(strings, pa.large_string()))
    if found.to_pylist() != strings:
        lost, as_what = ("", "missing") if "" in strings else (strings[0], found.type)
        raise InputError(
            f"edges carry strings {title!r}, and {quoted(lost)} would be read as {as_what}; .parquet, .arrow and .npz "
            "keep them"
        )


def _require_dates_kept(title: str, dates: np.ndarray) -> None:
    """Raise `InputError` if these dates, which edges carry, would be written as no dates, or be read as strings."""
    there = dates[~np.isnat(dates)]
    if not len(there):
        if len(dates):
            raise InputError(
                f"all dates {title!r} that edges carry are missing, and would be read as strings; .parquet, .arrow and "
                ".npz keep them"
            )
        return
    limits = np.array([there.min(), there.max()])
    found = _written_and_read(pa.array(limits))
    if not pa.types.is_temporal(found.type) or (found.to_numpy().astype(limits.dtype) != limits).any():
        raise InputError(
            f"edges carry dates {title!r} from {limits[0]} to {limits[1]}, which would be read as {found.type}; "
            ".arrow and .npz keep them"
        )


def _written_and_read(column: pa.Array) -> pa.ChunkedArray:
    """What a CSV holds of a column that edges carry."""
    from pyarrow import csv as arrow_csv

    content = io.BytesIO()
    arrow_csv.write_csv(pa.table({"column": column}), content)
    content.seek(0)
    convert = _conversion(["column"], {})
    return arrow_csv.read_csv(content, parse_options=_parsing(","), convert_options=convert).column(0)


write_tsv = partial(write_csv, delimiter="\t")


def refuse_numbers_as_strings(graph: Graph) -> None:
    """Raise `InputError` if ids are strings that would be read as numbers."""
    if graph.labels is None or graph.labels.dtype != object or not graph.num_arcs:
        return
    sources, targets = graph.vertex_pairs()
    first_edge = graph.labels[[sources[0], targets[0]]].tolist()
    if not pa.types.is_large_string(type_of_ids(first_edge)):
        raise InputError(
            f"the ids {quoted(first_edge[0])} and {quoted(first_edge[1])} are strings and would be read as numbers; "
            ".parquet, .arrow and .npz keep them"
        )
