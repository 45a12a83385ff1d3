"""CSV and TSV with a header row."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO

import pyarrow as pa

from ..errors import InputError
from ..graph import Graph
from ._tables import Columns, EdgeTable, choose_columns, from_edge_table, isolated, to_arc_table
from .files import File, refuse_isolated

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
INTEGER = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
EXACT = pa.decimal128(38, 0)  # whole numbers however they are written, 1.0 and 1e3 too: others are refused, not rounded


class _Hexadecimal(Exception):
    """There may be hexadecimal numbers, which Arrow takes for integers."""


def read_csv(
    file: File,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
) -> Graph:
    """A graph from two columns of a CSV or TSV with a header row. Ids are numbers if they are in the first row."""
    names, first_row, delimiter = csv_start(file)
    i, j = choose_columns(names, source, target, str(file))
    columns = names[i], names[j]
    type = type_of_ids([first_row[i], first_row[j]] if len(first_row) == len(names) else [])

    def batches(type: pa.DataType) -> Iterator[Columns]:
        return _batches(file, columns, type, delimiter)

    def graph(type: pa.DataType) -> Graph:
        table = EdgeTable(str(file), columns, (type, type), file.about_lines(), lambda: batches(type))
        return from_edge_table(table, vertices=vertices, directed=directed)

    def id_at(row: int, column: str) -> str:
        ids = (pair[columns.index(column)] for pair in batches(pa.large_string()))
        return next(itertools.islice(itertools.chain.from_iterable(ids), row, None)).as_py()

    try:
        try:
            return graph(type)
        except _Hexadecimal:
            return graph(EXACT)
    except pa.ArrowInvalid as error:
        raise InputError(f"{file}{_csv_place(str(error), names, type, id_at)}") from None


read_tsv = read_csv


def _batches(file: File, columns: tuple[str, str], type: pa.DataType, delimiter: str) -> Iterator[Columns]:
    from pyarrow import csv as arrow_csv

    convert = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(columns, type),
        include_columns=list(columns),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    one_thread = arrow_csv.ReadOptions(use_threads=False)  # else its errors do not name the row
    text = file.text(watched=b"xX" if pa.types.is_integer(type) else b"")
    with text, arrow_csv.open_csv(io.BufferedReader(text), one_thread, parse, convert) as reader:
        for batch in reader:
            if text.seen:
                raise _Hexadecimal
            yield batch.column(0), batch.column(1)


def csv_start(file: File) -> tuple[list[str], list[str], str]:
    """The header, the first row and the delimiter. Raises `InputError` if there is no header."""
    with file.text() as stream:
        text = io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8-sig", newline="")
        header = next((line for line in text if line.strip()), "")
        delimiter = max(",\t;|", key=header.count)
        rows = csv.reader(_lines(header, text), delimiter=delimiter)
        names, first = next(rows, []), next((row for row in rows if row), [])
    if len(names) < 2:
        raise InputError(
            f"{file}: its first line has no comma, tab, semicolon or bar; edge lists with spaces end in .txt"
        )
    if all(NUMBER.fullmatch(name) for name in names):
        raise InputError(f"{file} has no header row: name the columns in its first line")
    return names, first, delimiter


def _lines(first: str, rest: Iterable[str]) -> Iterator[str]:
    yield first
    yield from rest


def type_of_ids(texts: Sequence[str]) -> pa.DataType:
    """The type of ids of which these are the first: int64, `EXACT` or, unless all are numbers, string."""
    if all(INTEGER.fullmatch(text) for text in texts):
        return pa.int64()
    return EXACT if all(NUMBER.fullmatch(text) for text in texts) else pa.large_string()


def _csv_place(message: str, names: list[str], type: pa.DataType, id_at: Callable[[int, str], str]) -> str:
    """What Arrow's ``message`` says, with the row counted from 0 as elsewhere, where ``id_at(row, column)`` stands."""
    if not (at := re.search(r"Row #(\d+): ", message)):
        return f": {message.splitlines()[0]:.200}"
    row = int(at[1]) - 2
    place, reason = f", row {row} (from 0): ", message[at.end() :].splitlines()[0]
    if column := re.search(r"CSV column #(\d+): ", message):
        name = names[int(column[1])]
        place = f", column {name!r}{place}"
        if "Rescaling" in reason:
            return f"{place}{id_at(row, name):.60} is fractional: vertex ids are whole numbers, or strings"
        if value := re.search(r"(?:invalid value|The string|converting) '(.*)'", message, re.DOTALL):
            kind = "integer" if pa.types.is_integer(type) else "number"
            return f"{place}{value[1]!r:.60} is no {kind}, as the ids in its first row are"
    return f"{place}{reason:.200}"


def write_csv(graph: Graph, stream: IO[bytes], *, delimiter: str = ",") -> None:
    """All edges, undirected ones in both directions: the file itself says nothing of directions."""
    from pyarrow import csv as arrow_csv

    refuse_isolated(graph, isolated(graph), "a CSV")
    table = to_arc_table(graph)
    refuse_numbers_as_strings(graph)
    strings = graph.labels is not None and graph.labels.dtype == object
    for label in graph.labels if graph.labels is not None and strings else ():
        if "\0" in label:
            raise InputError(f"the id {label!r} has a NUL, which text cannot hold; .parquet and .arrow can")
    quoting = "all_valid" if strings else "none"
    arrow_csv.write_csv(table, stream, arrow_csv.WriteOptions(delimiter=delimiter, quoting_style=quoting))


def write_tsv(graph: Graph, stream: IO[bytes]) -> None:
    write_csv(graph, stream, delimiter="\t")


def refuse_numbers_as_strings(graph: Graph) -> None:
    """Raise `InputError` if ids are strings that would be read as numbers."""
    if graph.labels is None or graph.labels.dtype != object or not graph.num_arcs:
        return
    sources, targets = graph.vertex_pairs()
    first_edge = graph.labels[[sources[0], targets[0]]].tolist()
    if not pa.types.is_large_string(type_of_ids(first_edge)):
        raise InputError(
            f"the ids {first_edge[0]!r} and {first_edge[1]!r} are strings and would be read as numbers; "
            ".parquet, .arrow and .npz keep them"
        )
