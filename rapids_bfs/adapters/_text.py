"""Edge lists as text: two white-space separated ids a line, as SNAP, KONECT and the GAP Benchmark Suite write them.

Lines that begin with # or % are comments, and so is what follows these signs behind integers. Further columns are
ignored, but all lines have equally many: a list whose lines differ, as an adjacency list's do, is refused. Files that
we write state what the edges alone do not, in a comment ``# rapids_bfs directed=true`` or
``# rapids_bfs directed=true vertices=N``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import IO

import numpy as np
import pyarrow as pa

from .._core.arguments import quoted
from ..errors import InputError, warn
from ..graph import Graph
from ._csv import NUMBER, refuse_numbers_as_strings
from ._edge_list import COLUMNS, vertex_ids
from ._file import File, refuse_isolated
from ._formats import ADJACENCY
from ._ids import LARGEST
from ._tables import (
    Columns,
    EdgeTable,
    from_edge_table,
    isolated,
    to_arc_table,
    to_edge_table,
    with_all_vertices,
    write_rows,
)

SIGNS = ("#", "%")  # of comments
COMMENTS = "".join(SIGNS).encode()
BLANKS = " \t\r\n"
FIELD = re.compile(f"[^{BLANKS}]+")  # as pandas splits: at no other white space
OURS = re.compile(r"#\s*rapids_bfs\s+directed=(true|false)(?:\s+vertices=(\d+))?\s*", re.ASCII)
UNDIRECTED = re.compile(r"#\s*undirected graph\b|%\s*sym\b", re.IGNORECASE)  # SNAP, KONECT
BIPARTITE = re.compile(r"%\s*bip\b", re.IGNORECASE)  # KONECT
BY_NETWORKX = re.compile(r"[#%] GMT \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", re.ASCII)  # above its adjacency lists
UNWRITABLE = re.compile(r"[#%].*|.*[\s\"\0].*|", re.DOTALL)  # ids that white-space separated text cannot hold


@dataclass
class Start:
    """The facts in the comments before the first edge, and the fields of that."""

    directed: bool | None = None
    vertices: int | None = None
    fields: tuple[str, ...] = ()
    strings: bool = False  # ids are strings
    rows: int = 0  # edges, once they have been read

    def note(self, comment: str, file: File) -> None:
        """Record the facts of a comment; a comment of ours takes precedence."""
        if BIPARTITE.match(comment):
            raise InputError(
                f"{file} is bipartite: the same id in both columns means two vertices; rename the ids of one column"
            )
        if BY_NETWORKX.fullmatch(comment):
            raise InputError(f"{file} is {ADJACENCY}")
        if ours := OURS.fullmatch(comment):
            self.directed = ours[1] == "true"
            self.vertices = int(ours[2]) if ours[2] else None
        elif self.directed is None and UNDIRECTED.match(comment):
            self.directed = False


def _start(file: File) -> Start:
    start = Start()
    for line in _lines(file):
        if line.startswith(SIGNS):
            start.note(line, file)
        elif line:
            start.strings = not all(map(NUMBER.fullmatch, _fields(line, strings=False)[:2]))
            start.fields = _fields(line, start.strings)
            break
    return start


def _lines(file: File) -> Iterator[str]:
    with file.text(comments=COMMENTS) as raw:
        for line in io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="replace"):
            yield line.strip(BLANKS)


def _fields(line: str, strings: bool) -> tuple[str, ...]:
    return tuple(FIELD.findall(line if strings else re.split("[#%]", line, maxsplit=1)[0]))


def read_snap(file: File, *, vertices: int | None = None, directed: bool | None = None) -> Graph:
    """Return the graph of an edge list whose ids are integers, or strings unless the first two are numbers.

    Warns if the first line may count vertices and edges, since no line is skipped as a header.
    """
    start = _start(file)
    graph = _read(
        file, start, start.vertices if vertices is None else vertices, start.directed if directed is None else directed
    )
    if start.directed is None and not start.strings and _may_count(start, graph):
        warn(
            f"{file}: its first line, {quoted(' '.join(start.fields))}, is taken for an edge, though it may count "
            "vertices and edges: if it does, write # in front of it"
        )
    return graph


def _may_count(start: Start, graph: Graph) -> bool:
    """Return True if the first edge, of all `Start.rows`, may be the numbers of vertices and edges: as many edges
    follow, three at least, and the ids in them are below the number of vertices, or count from 1 up to it."""
    if len(start.fields) != 2 or start.rows < 4:
        return False
    vertices, edges = (int(Decimal(field)) for field in start.fields)
    mirrored = graph.num_arcs > start.rows
    if edges != start.rows - 1:
        return False
    if not (mirrored or graph.directed or vertices == edges):  # each line has its opposite, so this one is an edge too
        return False
    ids = np.arange(len(graph)) if graph.labels is None else graph.labels
    in_first = 2 if vertices == edges else 1 + mirrored
    ends = [graph.vertex_of(vertices), graph.vertex_of(edges)]
    ids = np.delete(ids, [end for end in ends if _occurrences(graph, end) == in_first])
    return bool(ids[-1] <= vertices - (ids[0] == 0))


def _occurrences(graph: Graph, vertex: int) -> int:
    """Return how often a vertex is an end of an arc."""
    return int(graph.offsets[vertex + 1] - graph.offsets[vertex] + np.count_nonzero(graph.targets == vertex))


def read_gap(file: File, *, directed: bool | None = None) -> Graph:
    """Return the graph of GAP's edge list: its vertices are 0..max, whether they have edges or not."""
    return with_all_vertices(read_integers(file, directed))


def read_integers(file: File, directed: bool | None) -> Graph:
    """Return the graph of an edge list whose ids are integers; its vertices are those with edges."""
    start = _start(file)
    start.strings = False
    return _read(file, start, None, directed)


def _read(file: File, start: Start, vertices: int | None, directed: bool | None) -> Graph:
    type = pa.large_string() if start.strings else pa.int64()
    table = EdgeTable(str(file), COLUMNS, (type, type), file.about_lines(), lambda: _batches(file, start))
    try:
        return from_edge_table(table, vertices=vertices, directed=directed)
    except (ValueError, OverflowError):
        _refuse_line(file, start)
        raise


def _batches(file: File, start: Start) -> Iterator[Columns]:
    """Yield the edges, a block at a time. Raises `ValueError` at a line with another number of columns, or no ids."""
    start.rows = 0
    dtype = str if start.strings else None
    names = range(max(len(start.fields), 2))
    with (
        file.text(comments=COMMENTS) as text,
        text.columns(inline_comments=not start.strings, names=names, dtype=dtype) as chunks,
    ):
        for chunk in chunks:
            if not len(chunk):
                continue  # its columns have no type
            if chunk.iloc[:, -1].isna().any():
                raise ValueError("a line is shorter than the first")
            start.rows += len(chunk)
            ends = (chunk[column] for column in (0, 1))
            source, target = (
                pa.array(ids, from_pandas=True) if start.strings else pa.array(vertex_ids(ids.to_numpy(), str(file)))
                for ids in ends
            )
            yield source, target


def _refuse_line(file: File, start: Start) -> None:
    """Raise `InputError` naming the first line of ``file`` that is no edge, if there is one."""
    for number, line in enumerate(_lines(file), 1):
        fields = () if line.startswith(SIGNS) else _fields(line, start.strings)
        where = f"{file}, line {number}"
        if len(fields) == 1:
            raise InputError(f"{where}: expected two ids, got {quoted(line)}; if this is {ADJACENCY}")
        for id in () if start.strings else fields[:2]:
            _refuse_id(id, where)
        if fields and len(fields) != len(start.fields):
            raise InputError(
                f"{where} has {len(fields)} columns, and the first edge has {len(start.fields)}: give all lines as "
                f"many columns, or if this is {ADJACENCY}"
            )


def _refuse_id(id: str, where: str) -> None:
    """Raise `InputError` unless ``id`` is a whole number in 0..`LARGEST`."""
    if not NUMBER.fullmatch(id):
        raise InputError(f"{where}: {quoted(id)} is not a number, as the first ids are")
    number = Decimal(id)
    problem = "negative: integer vertex ids start at 0" if number < 0 else ""
    problem = "beyond int64" if number > LARGEST else problem
    if number != number.to_integral_value():
        problem = "fractional: vertex ids are whole numbers, or strings"
    if problem:
        raise InputError(f"{where}: {id:.60} is {problem}")


def write_snap(graph: Graph, stream: IO[bytes]) -> None:
    """The edges, an undirected edge once, under a comment that says the direction and the number of vertices."""
    table = to_edge_table(graph)
    header = f"# rapids_bfs directed={str(graph.directed).lower()}"
    if graph.labels is None:
        header += f" vertices={graph.num_vertices}"
    else:
        refuse_isolated(graph, isolated(graph), "an edge list")
        refuse_numbers_as_strings(graph)
    if graph.labels is not None and graph.has_objects:
        for label in graph.labels:
            if UNWRITABLE.fullmatch(label):
                raise InputError(
                    f"the id {quoted(label)} is empty, begins with # or %, or has white space or quotes, which an edge "
                    "list cannot hold; .parquet, .arrow and .csv can"
                )
    stream.write(f"{header}\n".encode())
    write_rows(table, stream)


def write_gap(graph: Graph, stream: IO[bytes]) -> None:
    """All edges, undirected ones in both directions, and nothing else: GAP's reader knows no comments."""
    last = np.arange(graph.num_vertices)[-1:]
    refuse_isolated(graph, np.intersect1d(last, isolated(graph)), "GAP's edge list")
    if not graph.num_vertices:
        raise InputError("GAP's edge list cannot hold a graph without vertices")
    write_rows(to_arc_table(graph), stream)
