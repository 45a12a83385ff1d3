"""Several Parquet files that hold one graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..graph import Graph
from ._columnar import parquet_table
from ._file import File, file_errors
from ._formats import OPTIONS, format_of
from ._tables import Columns, EdgeTable, from_edge_table


def read_several(pattern: str, files: Sequence[File], name: str | None, **options: Any) -> Graph:
    """A graph from the files that match a pattern, see `rapids_bfs.read`."""
    if "header" in options:
        raise InputError(f"{pattern} names Parquet files, which have no {OPTIONS['header']} to choose")
    table = joined(pattern, files, options.pop("source", None), options.pop("target", None))
    table.require_memory()
    graph = from_edge_table(table, **options)
    graph.name = name or name_of(pattern)
    return graph


def name_of(pattern: str) -> str:
    """The name of the graph whose files match this pattern."""
    return Path(pattern).parent.name or "files"


def joined(pattern: str, files: Sequence[File], source: str | None, target: str | None) -> EdgeTable:
    """The edges of all files, one after the other. What `Graph.save` notes besides the edges does not count."""
    tables = []
    for file in files:
        with file_errors(file, "Parquet"):
            if format_of(file).key != "parquet":
                raise InputError(f"{file} is not Parquet: a pattern can only name Parquet files")
            tables.append(parquet_table(file, source, target))
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
