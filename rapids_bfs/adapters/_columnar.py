"""Parquet, in one file or several, and Arrow IPC: two columns of a table, read a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from .._core.arguments import quoted
from .._core.csr.building import BLOCK
from ..errors import InputError
from ..graph import Graph
from ._edge_data import Asked, carried
from ._file import File, file_errors
from ._formats import format_of, refuse_options
from ._schema_metadata import notes_of
from ._tables import Columns, EdgeTable, choose_columns, from_edge_table, to_edge_table

# No pre-buffering: a row group may be as large as the file. The string limit is for labels in the metadata.
PARQUET: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 20, "thrift_string_size_limit": (1 << 31) - 1}


def read_parquet(
    file: File, source: str | None = None, target: str | None = None, edge_data: Asked | None = None, **options: Any
) -> Graph:
    """A graph from two columns of a Parquet file, and what its edges carry from others."""
    table = parquet_table(file, source, target, edge_data=edge_data)
    table.require_memory()
    return from_edge_table(with_data(table, edge_data, [file]), **options)


def with_data(table: EdgeTable, edge_data: Asked | None, files: Sequence[File]) -> EdgeTable:
    """The ``table`` of the edges in these files with what the edges carry; by default what `Graph.save` has noted."""
    import pyarrow.parquet as pq

    asked = notes_of(table.metadata, table.name).edge_data or None if edge_data is None else edge_data
    if asked is None:
        return table
    with ExitStack() as opened:
        parquets = [opened.enter_context(pq.ParquetFile(file.place, **PARQUET)) for file in files]
        schema = parquets[0].schema_arrow

        def read(place: int) -> pa.ChunkedArray:
            title, type = schema.names[place], schema.types[place]
            for file, parquet in zip(files, parquets, strict=True):
                found = [field.type for field in parquet.schema_arrow if field.name == title]
                if found != [type]:
                    there = " and ".join(map(str, found)) or "there is none"
                    raise InputError(
                        f"{file}, column {quoted(title)}: {there}, and {type} in {files[0]}: all of them must carry "
                        "the same"
                    )
            columns = (parquet.read(columns=[title]).column(0) for parquet in parquets)
            return pa.chunked_array([chunk for column in columns for chunk in column.chunks], type)

        rows = sum(parquet.metadata.num_rows for parquet in parquets)
        return replace(table, data=carried(asked, schema.names, table.columns, rows, table.name, read))


def parquet_table(
    file: File,
    source: str | None,
    target: str | None,
    share: Callable[[int], bool] = lambda group: True,
    edge_data: Asked | None = None,
) -> EdgeTable:
    """The two columns of a Parquet file, in those of its row groups whose number belongs to the ``share``."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.place, **PARQUET) as parquet:
        schema = parquet.schema_arrow
        groups = [group for group in range(parquet.num_row_groups) if share(group)]
        rows = sum(parquet.metadata.row_group(group).num_rows for group in groups)
    fields = chosen_fields(schema, source, target, file, edge_data)
    columns = fields[0].name, fields[1].name
    strings = [field.name for field in fields if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]

    def batches() -> Iterator[Columns]:
        with pq.ParquetFile(file.place, read_dictionary=strings, **PARQUET) as parquet:
            for batch in parquet.iter_batches(BLOCK, row_groups=groups, columns=list(columns)):
                yield batch.column(columns[0]), batch.column(columns[1])

    return EdgeTable(str(file), columns, (fields[0].type, fields[1].type), rows, batches, schema.metadata)


def read_several(pattern: str, files: Sequence[File], name: str | None, **options: Any) -> Graph:
    """A graph from the files that match a pattern, see `rapids_bfs.read`."""
    refuse_options(
        options, ("source", "target", "vertices", "directed", "edge_data"), f"{pattern} names Parquet files, which have"
    )
    edge_data = options.pop("edge_data", None)
    table = joined(pattern, files, options.pop("source", None), options.pop("target", None), edge_data)
    table.require_memory()
    try:
        table = with_data(table, edge_data, files)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{pattern}: its files do not all carry the same ({error})") from error
    graph = from_edge_table(table, **options)
    graph.name = name or name_of(pattern)
    return graph


def name_of(pattern: str) -> str:
    """The name of the graph whose files match this pattern."""
    return Path(pattern).parent.name or "files"


def joined(
    pattern: str, files: Sequence[File], source: str | None, target: str | None, edge_data: Asked | None = None
) -> EdgeTable:
    """The edges of all files, one after the other. The notes of `Graph.save` are ignored."""
    tables = []
    for file in files:
        with file_errors(file, "Parquet"):
            if format_of(file).key != "parquet":
                raise InputError(f"{file} is not Parquet: a pattern can only name Parquet files")
            tables.append(parquet_table(file, source, target, edge_data=edge_data))
    first = tables[0]
    for table in tables[1:]:
        if (table.columns, table.types) != (first.columns, first.types):
            raise InputError(
                f"{table.name} has edges in {_columns_of(table)}, and {first.name} in {_columns_of(first)}: "
                "all of them must store edges the same way"
            )

    def batches() -> Iterator[Columns]:
        for file, table in zip(files, tables, strict=True):
            with file_errors(file, "Parquet"):
                yield from table.batches()

    return EdgeTable(pattern, first.columns, first.types, sum(table.rows for table in tables), batches)


def _columns_of(table: EdgeTable) -> str:
    return " and ".join(f"{column!r} ({type})" for column, type in zip(table.columns, table.types, strict=True))


def write_parquet(graph: Graph, stream: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    table = to_edge_table(graph)
    try:
        pq.write_table(table, stream)
    except pa.ArrowInvalid as error:  # seconds are written as milliseconds
        raise InputError(f"edges carry what Parquet cannot hold ({error}); .arrow and .npz keep it") from None


def read_arrow(
    file: File, source: str | None = None, target: str | None = None, edge_data: Asked | None = None, **options: Any
) -> Graph:
    """A graph from two columns of an Arrow IPC file or stream, and what its edges carry from others."""
    is_file = file.head().startswith(b"ARROW1")
    with file.open_for_arrow() as content:
        schema = _open_ipc(content, is_file).schema
        fields = chosen_fields(schema, source, target, file, edge_data)
        columns = fields[0].name, fields[1].name

        def batches(*places: int) -> Iterator[pa.RecordBatch]:
            content.seek(0)
            reader = _open_ipc(content, is_file, options=pa.ipc.IpcReadOptions(included_fields=list(places)))
            yield from map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader

        def pairs() -> Iterator[Columns]:
            for batch in batches(*map(schema.get_field_index, columns)):
                yield batch.column(columns[0]), batch.column(columns[1])

        def read(place: int) -> pa.ChunkedArray:
            return pa.chunked_array([batch.column(0) for batch in batches(place)], schema.field(place).type)

        rows = sum(len(ids) for ids, _ in pairs())
        table = EdgeTable(str(file), columns, (fields[0].type, fields[1].type), rows, pairs, schema.metadata)
        table.require_memory()
        asked = notes_of(schema.metadata, str(file)).edge_data if edge_data is None else edge_data
        table = replace(table, data=carried(asked, schema.names, columns, rows, str(file), read))
        return from_edge_table(table, **options)


def _open_ipc(content: Any, is_file: bool, **options: Any) -> Any:
    return pa.ipc.open_file(content, **options) if is_file else pa.ipc.open_stream(content, **options)


read_arrow_stream = read_arrow


def write_arrow(graph: Graph, stream: IO[bytes], new: Callable[..., Any] = pa.ipc.new_file) -> None:
    table = to_edge_table(graph)
    with new(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=BLOCK)


write_arrow_stream = partial(write_arrow, new=pa.ipc.new_stream)


def chosen_fields(
    schema: pa.Schema, source: str | None, target: str | None, file: File, edge_data: Asked | None = None
) -> tuple[pa.Field, pa.Field]:
    """The fields of the edges. What edges carry does not count, nor, unless it is named, the index that pandas adds as
    a column."""
    if edge_data is None:
        edge_data = notes_of(schema.metadata, str(file)).edge_data
    index = tuple(name for name in schema.names if name.startswith("__index_level_") and name not in (source, target))
    fields = [field for field in schema if field.name not in index]
    (i, j), _ = choose_columns([field.name for field in fields], source, target, str(file), edge_data)
    return fields[i], fields[j]
