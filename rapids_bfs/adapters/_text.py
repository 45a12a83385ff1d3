"""Edge lists as text: two white-space separated ids a line, as SNAP, KONECT and the GAP Benchmark Suite write them.

Lines that begin with # or % are comments, further columns are ignored. Where edges alone do not say it, a comment
``# rapids_bfs directed=true`` or ``# rapids_bfs directed=true vertices=N`` does, on files that we have written.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

import numpy as np
import pyarrow as pa

from ..csr import BLOCK
from ..errors import InputError
from ..graph import Graph
from ._tables import (
    INTEGER,
    NUMBER,
    Columns,
    EdgeTable,
    from_edge_table,
    is_number,
    isolated,
    refuse_numbers_as_strings,
    to_arc_table,
    to_edge_table,
    type_of_ids,
    with_all_vertices,
)
from .files import File, refuse_isolated

SIGNS = ("#", "%")  # of comments
OURS = re.compile(r"#\s*rapids_bfs\s+directed=(true|false)(?:\s+vertices=(\d+))?\s*")
UNDIRECTED = re.compile(r"#\s*undirected graph\b|%\s*sym\b", re.IGNORECASE)  # SNAP, KONECT
BIPARTITE = re.compile(r"%\s*bip\b", re.IGNORECASE)  # KONECT
UNWRITABLE = re.compile(r"[#%].*|.*[\s\"\0].*|", re.DOTALL)  # ids that white-space separated text cannot hold


@dataclass
class Start:
    """What stands before the first edge, and the type of the ids there."""

    lines: int = 0
    comments: list[str] = field(default_factory=list)
    type: pa.DataType = field(default_factory=pa.int64)

    @property
    def sign(self) -> str:
        """The sign of comments further down."""
        return self.comments[0][0] if self.comments else SIGNS[0]

    @property
    def directed(self) -> bool | None:
        for comment in self.comments:
            if ours := OURS.fullmatch(comment):
                return ours[1] == "true"
        return False if any(UNDIRECTED.match(comment) for comment in self.comments) else None

    @property
    def vertices(self) -> int | None:
        for comment in self.comments:
            if (ours := OURS.fullmatch(comment)) and ours[2]:
                return int(ours[2])
        return None


def _start(file: File) -> Start:
    start = Start()
    with file.open() as stream:
        for line in _lines(stream):
            if line.startswith(SIGNS):
                start.comments.append(line)
            elif line:
                start.type = type_of_ids(line.split()[:2])
                break
            start.lines += 1
    return start


def _lines(stream: IO[bytes]) -> Iterator[str]:
    for line in io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace"):
        yield line.strip()


def read_snap(file: File, *, vertices: int | None = None, directed: bool | None = None) -> Graph:
    """A graph from an edge list whose ids are integers, or strings unless the first two are numbers."""
    start = _start(file)
    if any(BIPARTITE.match(comment) for comment in start.comments):
        raise InputError(f"{file} is bipartite: the same id in both columns means two vertices; rename those of one")
    directed = start.directed if directed is None else directed
    return _read(file, start, start.vertices if vertices is None else vertices, directed)


def read_gap(file: File, *, directed: bool | None = None) -> Graph:
    """A graph from GAP's edge list: its vertices are 0..max, whether they have edges or not."""
    start = _start(file)
    start.type = pa.int64()
    return with_all_vertices(_read(file, start, None, directed))


def _read(file: File, start: Start, vertices: int | None, directed: bool | None) -> Graph:
    columns = ("source", "target")
    table = EdgeTable(str(file), columns, (start.type, start.type), file.about_lines(), lambda: _batches(file, start))
    try:
        return from_edge_table(table, vertices=vertices, directed=directed)
    except (ValueError, OverflowError):
        _refuse_line(file, start)
        raise


def _batches(file: File, start: Start) -> Iterator[Columns]:
    """The edges of ``file``, a block at a time."""
    import pandas as pd

    strings = not is_number(start.type)
    with (
        file.open() as stream,
        pd.read_csv(
            stream,
            sep=r"\s+",
            header=None,
            names=[0, 1],
            usecols=[0, 1],
            skiprows=start.lines,
            dtype=str if strings else start.type.to_pandas_dtype(),
            comment=None if strings else start.sign,
            keep_default_na=False,
            na_values=[""],
            quoting=csv.QUOTE_NONE,
            chunksize=BLOCK,
        ) as chunks,
    ):
        for chunk in chunks:
            if strings:
                chunk = chunk[~chunk[0].str.startswith(SIGNS)]
            yield tuple(pa.array(chunk[column], start.type, from_pandas=True) for column in (0, 1))


def _refuse_line(file: File, start: Start) -> None:
    """Raise `InputError` naming the first line of ``file`` that is no edge, if there is one."""
    with file.open() as stream:
        for number, line in enumerate(_lines(stream), 1):
            numeric = is_number(start.type)
            ids = (line.partition(start.sign)[0] if numeric else line).split()[:2]
            if not ids or line.startswith(SIGNS):
                continue
            where = f"{file}, line {number}"
            if len(ids) < 2:
                raise InputError(f"{where}: an edge has two ids, not {line!r}")
            for id in ids if numeric else ():
                _require_vertex(id, where, start.type)


def _require_vertex(id: str, where: str, type: pa.DataType) -> None:
    if not NUMBER.fullmatch(id):
        raise InputError(f"{where}: {id!r} is no number, as the ids of the first edge are")
    if not INTEGER.fullmatch(id) and (pa.types.is_integer(type) or not float(id).is_integer()):
        raise InputError(f"{where}: {id} is fractional: vertex ids are whole numbers, or strings")
    if float(id) < 0:
        raise InputError(f"{where}: {id} is negative: integer vertex ids start at 0")
    if float(id) > np.iinfo(np.int64).max:
        raise InputError(f"{where}: {id} is beyond int64")


def write_snap(graph: Graph, stream: IO[bytes]) -> None:
    """The edges, an undirected edge once, under a comment that says the direction and the number of vertices."""
    table = to_edge_table(graph)
    header = f"# rapids_bfs directed={str(graph.directed).lower()}"
    if graph.labels is None:
        header += f" vertices={graph.num_vertices}"
    else:
        refuse_isolated(graph, isolated(graph), "an edge list")
        refuse_numbers_as_strings(graph)
    if graph.labels is not None and graph.labels.dtype == object:
        for label in graph.labels:
            if UNWRITABLE.fullmatch(label):
                raise InputError(
                    f"the id {label!r} is empty, begins with # or %, or has white space or quotes, which an edge list "
                    "cannot hold; .parquet, .arrow and .csv can"
                )
    stream.write(f"{header}\n".encode())
    _write(table, stream)


def write_gap(graph: Graph, stream: IO[bytes]) -> None:
    """All edges, undirected ones in both directions, and nothing else: GAP's reader knows no comments."""
    last = np.arange(graph.num_vertices)[-1:]
    refuse_isolated(graph, np.intersect1d(last, isolated(graph)), "GAP's edge list")
    if not graph.num_vertices:
        raise InputError("GAP's edge list cannot hold a graph without vertices")
    _write(to_arc_table(graph), stream)


def _write(table: pa.Table, stream: IO[bytes]) -> None:
    from pyarrow import csv as arrow_csv

    options = arrow_csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    arrow_csv.write_csv(table, stream, options)
