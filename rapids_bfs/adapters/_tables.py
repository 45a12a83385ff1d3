"""Tables of edges as Arrow shows them: Parquet, Arrow IPC, CSV and TSV, read some rows at a time.

Parquet and Arrow carry what the edges do not say in the metadata of their schema, under ``rapids_bfs``, as JSON:
``directed``; ``vertices``, their number, if ids are 0..n-1; ``isolated``, the ids without edges, if ids are other
integers; ``labels``, all ids in the order of the vertices, if they are strings.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa

from ..csr import BLOCK, Edges
from ..errors import InputError
from ..graph import Graph, index_dtype
from ._ids import number_values, require_one_type
from .edges import EdgeList, checked_vertices, from_edge_list, labelled
from .files import File, refuse_isolated

KEY = b"rapids_bfs"

# Usual names of source and target, the likelier first; compared without case.
PAIRS = (
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("head", "tail"),
)

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
INTEGER = re.compile(r"\s*[+-]?\d+\s*")

Columns = tuple[pa.Array, pa.Array]


@dataclass(frozen=True)
class EdgeTable:
    """The two columns of a table that hold its edges.

    ``batches()`` yields them some rows at a time, as often as it is called; ``rows`` may be an estimate.
    """

    name: str
    columns: tuple[str, str]
    types: tuple[pa.DataType, pa.DataType]
    rows: int
    batches: Callable[[], Iterable[Columns]]
    metadata: dict[bytes, bytes] | None = None

    def checked(self) -> Iterator[Columns]:
        """The batches, at most `BLOCK` rows each. Raises `InputError` at the first null."""
        row = 0
        for pair in _gathered(self.batches()):
            for start in range(0, len(pair[0]), BLOCK):
                source, target = (column.slice(start, BLOCK) for column in pair)
                for column, array in zip(self.columns, (source, target), strict=True):
                    if nulls := _nulls(array):
                        first = row + nulls.index(True).as_py()
                        raise InputError(
                            f"{self.name}, column {column!r}, row {first} (from 0): null is no vertex id: "
                            "drop the rows without one"
                        )
                yield source, target
                row += len(source)

    def numbers(self) -> Iterator[Edges]:
        for source, target in self.checked():
            yield source.to_numpy(zero_copy_only=False), target.to_numpy(zero_copy_only=False)


def _gathered(batches: Iterable[Columns]) -> Iterator[Columns]:
    """``batches`` with small ones joined to at most `BLOCK` rows: few calls of the kernels are faster."""
    held: list[Columns] = []
    rows = 0
    for pair in batches:
        if rows + len(pair[0]) > BLOCK and held:
            yield _joined(held)
            held, rows = [], 0
        if len(pair[0]) >= BLOCK:
            yield pair
        else:
            held.append(pair)
            rows += len(pair[0])
    if held:
        yield _joined(held)


def _joined(batches: list[Columns]) -> Columns:
    if len(batches) == 1:
        return batches[0]
    source, target = (pa.concat_arrays(parts) for parts in zip(*batches, strict=True))
    return source, target


def _nulls(array: pa.Array) -> pa.Array | None:
    """Which elements are null; None if none is."""
    if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
        array = array.dictionary_decode()
    return array.is_null() if array.null_count else None


def choose_columns(names: Sequence[str], source: str | None, target: str | None, where: str) -> tuple[int, int]:
    """Places of the source and target columns: those asked for, else a usual pair, else the only two.

    Raises `InputError` listing the columns there are.
    """
    there = f"its columns are {', '.join(map(repr, names))}" if names else "it has no columns"
    for asked in (source, target):
        if asked is not None and names.count(asked) != 1:
            problem = "more than one column" if asked in names else "no column"
            raise InputError(f"{where} has {problem} {asked!r}; {there}")
    if source is not None and source == target:
        raise InputError(f"{where}: source and target must be two columns, not {source!r} twice")
    if source is not None and target is not None:
        return names.index(source), names.index(target)
    lower = [name.strip().lower() for name in names]
    places = [(lower.index(u), lower.index(v)) for u, v in PAIRS if lower.count(u) == lower.count(v) == 1]
    if len(set(names)) == len(names) == 2:
        places.extend([(0, 1), (1, 0)])
    for i, j in places:
        if source in (None, names[i]) and target in (None, names[j]):
            return i, j
    raise InputError(f"{where}: say which columns hold the edges with source= and target=; {there}")


def from_edge_table(
    table: EdgeTable, *, vertices: int | None = None, directed: bool | None = None, frame: str = "pandas"
) -> Graph:
    """A graph from a table of edges; columns of numbers are read twice and never held whole."""
    notes = json.loads((table.metadata or {}).get(KEY, b"{}"))
    directed = notes.get("directed") if directed is None else directed
    for column, type in zip(table.columns, table.types, strict=True):
        if pa.types.is_nested(type) or pa.types.is_boolean(type):
            raise InputError(f"{table.name}, column {column!r}: {type} holds no vertex ids")
    if all(is_number(type) for type in table.types):
        vertices = notes.get("vertices") if vertices is None else vertices
        edges = EdgeList(table.rows, table.numbers, table.columns, table.name)
        graph = from_edge_list(edges, vertices=vertices, directed=directed, frame=frame)
        return with_vertices(graph, notes["isolated"]) if notes.get("isolated") else graph
    if vertices is not None:
        raise InputError(f"{table.name}: a number of vertices goes with integer ids only")
    if any(len(source) for source, _ in table.checked()):
        require_one_type(
            [str(_value_type(type)).removeprefix("large_") for type in table.types], table.columns, table.name
        )
    blocks, labels = number_values(table.checked(), notes.get("labels", []), _value_type(table.types[0]), table.name)
    edges = EdgeList(table.rows, lambda: blocks, table.columns, table.name)
    graph = from_edge_list(edges, vertices=len(labels), directed=directed, frame=frame)
    return labelled(graph, labels) if labels else graph


def is_number(type: pa.DataType) -> bool:
    """Do such columns go to NumPy as integers or floats? Those without any value do."""
    return pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_null(type)


def _value_type(type: pa.DataType) -> pa.DataType:
    return type.value_type if pa.types.is_dictionary(type) else type


def with_vertices(graph: Graph, ids: Sequence[int] | np.ndarray) -> Graph:
    """``graph``, whose ids are integers, with a vertex for each of ``ids`` too."""
    labels = np.arange(graph.num_vertices) if graph.labels is None else graph.labels
    union = np.sort(np.concatenate([labels, np.asarray(ids, np.int64)]))
    union = union[np.diff(union, prepend=-1) > 0]
    return _spread(graph, np.searchsorted(union, labels), len(union), union)


def with_all_vertices(graph: Graph) -> Graph:
    """``graph``, whose ids are integers, with the vertices 0..max that its edges leave out."""
    if graph.labels is None:
        return graph
    return _spread(graph, graph.labels, checked_vertices(int(graph.labels[-1]) + 1))


def _spread(graph: Graph, places: np.ndarray, vertices: int, labels: np.ndarray | None = None) -> Graph:
    """``graph`` with its vertices at these ascending places among so many, the others without edges."""
    offsets = np.zeros(vertices + 1, graph.offsets.dtype)
    offsets[places + 1] = graph.degrees
    return graph.replace(
        offsets=np.cumsum(offsets, dtype=offsets.dtype),
        targets=places.astype(index_dtype(vertices))[graph.targets],
        labels=None if labels is None or len(labels) == 0 or labels[-1] == len(labels) - 1 else labels,
    )


def isolated(graph: Graph) -> np.ndarray:
    """The vertices without edges."""
    touched = graph.degrees > 0
    if graph.directed:
        touched[graph.targets] = True
    return np.flatnonzero(~touched)


def require_strings(labels: np.ndarray) -> None:
    """Raise `InputError` unless all of ``labels`` are strings."""
    for label in labels:
        if not isinstance(label, str):
            raise InputError(
                f"vertex ids can be written if all are integers or all strings, but {label!r} is of type "
                f"{type(label).__name__}: rename the vertices first"
            )


def ids_as_arrow(graph: Graph, vertices: np.ndarray) -> pa.Array:
    """The ids of ``vertices``: integers or strings. Raises `InputError` if they are neither."""
    if graph.labels is None or graph.labels.dtype != object:
        return pa.array(graph.ids_of(vertices))
    require_strings(graph.labels)
    try:
        return pa.array(graph.labels, pa.large_string()).take(pa.array(vertices))
    except UnicodeEncodeError as error:
        raise InputError(f"the id {error.object!r} is no valid Unicode: rename the vertex first") from None


def to_edge_table(graph: Graph) -> pa.Table:
    """The edges in two columns, an undirected edge once; what they do not say in the metadata of the schema."""
    notes: dict[str, Any] = {"directed": graph.directed}
    if graph.labels is None:
        notes["vertices"] = graph.num_vertices
    elif graph.labels.dtype == object:
        require_strings(graph.labels)
        notes["labels"] = graph.labels.tolist()
    else:
        notes["isolated"] = graph.labels[isolated(graph)].tolist()
    columns = [ids_as_arrow(graph, vertices) for vertices in graph.vertex_pairs()]
    return pa.table(columns, names=list(graph.columns), metadata={KEY: json.dumps(notes).encode()})


def to_arc_table(graph: Graph) -> pa.Table:
    """The edges in two columns, an undirected edge in both directions, in the order of the adjacencies."""
    sources = np.repeat(np.arange(graph.num_vertices, dtype=graph.targets.dtype), graph.degrees)
    columns = [ids_as_arrow(graph, vertices) for vertices in (sources, graph.targets)]
    return pa.table(columns, names=list(graph.columns))


def read_parquet(
    file: File,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
) -> Graph:
    """A graph from two columns of a Parquet file."""
    import pyarrow.parquet as pq

    # Nothing is read ahead: a row group may be as large as the file. 2**31 - 1: labels may be many.
    options = {"pre_buffer": False, "buffer_size": 1 << 20, "thrift_string_size_limit": (1 << 31) - 1}
    with pq.ParquetFile(file.path, **options) as parquet:
        schema = parquet.schema_arrow
        rows = parquet.metadata.num_rows
    fields = chosen_fields(schema, source, target, file)
    columns = tuple(field.name for field in fields)
    strings = [field.name for field in fields if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    with pq.ParquetFile(file.path, read_dictionary=strings, **options) as parquet:

        def batches() -> Iterator[Columns]:
            for batch in parquet.iter_batches(BLOCK, columns=list(columns)):
                yield tuple(_plain(batch.column(column)) for column in columns)

        table = EdgeTable(str(file), columns, _plain_types(fields), rows, batches, schema.metadata)
        return from_edge_table(table, vertices=vertices, directed=directed)


def write_parquet(graph: Graph, stream: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(to_edge_table(graph), stream)


def read_arrow(
    file: File,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
) -> Graph:
    """A graph from two columns of an Arrow IPC file or stream, mapped into memory."""
    is_file = file.head().startswith(b"ARROW1")
    with pa.memory_map(str(file.path)) as content:
        schema = _open_ipc(content, is_file).schema
        fields = chosen_fields(schema, source, target, file)
        columns = tuple(field.name for field in fields)
        options = pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(column) for column in columns])

        def batches() -> Iterator[pa.RecordBatch]:
            content.seek(0)
            reader = _open_ipc(content, is_file, options=options)
            return map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)

        def pairs() -> Iterator[Columns]:
            for batch in batches():
                yield tuple(_plain(batch.column(column)) for column in columns)

        rows = sum(batch.num_rows for batch in batches())
        table = EdgeTable(str(file), columns, _plain_types(fields), rows, pairs, schema.metadata)
        return from_edge_table(table, vertices=vertices, directed=directed)


def _open_ipc(content: Any, is_file: bool, **options: Any) -> Any:
    return pa.ipc.open_file(content, **options) if is_file else pa.ipc.open_stream(content, **options)


read_arrow_stream = read_arrow


def write_arrow(graph: Graph, stream: IO[bytes]) -> None:
    table = to_edge_table(graph)
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=BLOCK)


def write_arrow_stream(graph: Graph, stream: IO[bytes]) -> None:
    table = to_edge_table(graph)
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=BLOCK)


def chosen_fields(schema: pa.Schema, source: str | None, target: str | None, file: File) -> tuple[pa.Field, pa.Field]:
    """The fields of the edges; the index that pandas adds as a column does not count unless it is named."""
    index = tuple(name for name in schema.names if name.startswith("__index_level_") and name not in (source, target))
    fields = [field for field in schema if field.name not in index]
    places = choose_columns([field.name for field in fields], source, target, str(file))
    return fields[places[0]], fields[places[1]]


def _plain(array: pa.Array) -> pa.Array:
    """``array`` in a type that the rest of this module knows: numbers that are encoded or decimal become plain."""
    type = _plain_type(array.type)
    if type == array.type:
        return array
    if pa.types.is_dictionary(type):
        return pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(type.value_type))
    return (array.dictionary_decode() if pa.types.is_dictionary(array.type) else array).cast(type)


def _plain_type(type: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type):
        plain = _plain_type(type.value_type)
        return plain if is_number(plain) else pa.dictionary(type.index_type, plain)
    if pa.types.is_null(type):
        return pa.int64()
    if pa.types.is_string(type) or pa.types.is_string_view(type):
        return pa.large_string()
    return pa.float64() if pa.types.is_decimal(type) else type


def _plain_types(fields: Iterable[pa.Field]) -> tuple[pa.DataType, pa.DataType]:
    source, target = (_plain_type(field.type) for field in fields)
    return source, target


def from_arrow_table(
    table: pa.Table, columns: tuple[str, str], *, name: str, vertices: int | None, directed: bool | None, frame: str
) -> Graph:
    """A graph from a table of two columns in memory."""

    def batches() -> Iterator[Columns]:
        for batch in table.to_batches(max_chunksize=BLOCK):
            yield _plain(batch.column(0)), _plain(batch.column(1))

    types = _plain_types(table.schema)
    edges = EdgeTable(name, columns, types, table.num_rows, batches, table.schema.metadata)
    return from_edge_table(edges, vertices=vertices, directed=directed, frame=frame)


def read_csv(
    file: File,
    *,
    source: str | None = None,
    target: str | None = None,
    vertices: int | None = None,
    directed: bool | None = None,
) -> Graph:
    """A graph from two columns of a CSV or TSV with a header row. Ids are numbers if they are in the first row."""
    from pyarrow import csv as arrow_csv

    names, first_row, delimiter = csv_start(file)
    i, j = choose_columns(names, source, target, str(file))
    columns = names[i], names[j]
    type = type_of_ids([first_row[i], first_row[j]] if len(first_row) == len(names) else [])
    convert = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(columns, type),
        include_columns=list(columns),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    one_thread = arrow_csv.ReadOptions(use_threads=False)  # else its errors do not name the row

    def batches() -> Iterator[Columns]:
        with file.open() as stream, arrow_csv.open_csv(stream, one_thread, parse, convert) as reader:
            for batch in reader:
                yield batch.column(0), batch.column(1)

    table = EdgeTable(str(file), columns, (type, type), file.about_lines(), batches)
    try:
        return from_edge_table(table, vertices=vertices, directed=directed)
    except pa.ArrowInvalid as error:
        raise InputError(f"{file}{_csv_place(str(error), names, type)}") from None


read_tsv = read_csv


def csv_start(file: File) -> tuple[list[str], list[str], str]:
    """The header, the first row and the delimiter. Raises `InputError` if there is no header."""
    with file.open() as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
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
    """The type of ids of which these are the first: int64, float64 or, unless all are numbers, string."""
    if all(INTEGER.fullmatch(text) for text in texts):
        return pa.int64()
    return pa.float64() if all(NUMBER.fullmatch(text) for text in texts) else pa.large_string()


def _csv_place(message: str, names: list[str], type: pa.DataType) -> str:
    """What Arrow's ``message`` says, with the row counted from 0 as elsewhere."""
    row = re.search(r"Row #(\d+): ", message)
    place = f", row {int(row[1]) - 2} (from 0)" if row else ""
    if value := re.search(r"CSV column #(\d+).*invalid value '(.*)'", message, re.DOTALL):
        kind = "integer" if pa.types.is_integer(type) else "number"
        return f", column {names[int(value[1])]!r}{place}: {value[2]!r} is no {kind}, as the ids in its first row are"
    reason = message[row.end() :] if row else message
    return f"{place}: {reason.splitlines()[0]}"


def write_csv(graph: Graph, stream: IO[bytes], *, delimiter: str = ",") -> None:
    """All edges, undirected ones in both directions: the file itself says nothing of directions."""
    from pyarrow import csv as arrow_csv

    refuse_isolated(graph, isolated(graph), "a CSV")
    table = to_arc_table(graph)
    refuse_numbers_as_strings(graph)
    quoting = "all_valid" if graph.labels is not None and graph.labels.dtype == object else "none"
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
