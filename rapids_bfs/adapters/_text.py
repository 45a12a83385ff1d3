"""Edge lists as text: two white-space separated ids a line, as SNAP, KONECT and the GAP Benchmark Suite write them.

Lines that begin with # or % are comments, further columns are ignored. A file whose lines hold different numbers of ids
is an adjacency list, and refused; one whose lines hold equally many is doubted if they are likely neighbours. Files
that we write state what the edges alone do not, in a comment ``# rapids_bfs directed=true`` or
``# rapids_bfs directed=true vertices=N``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

import numpy as np
import pyarrow as pa

from .._core.arguments import quoted
from .._core.csr.building import BLOCK
from ..errors import InputError, warn
from ..graph import Graph
from ._csv import (
    INTEGER,
    MATRIX,
    NUMBER,
    is_unlike,
    may_be_a_matrix,
    parse_id,
    parse_ids,
    refuse_numbers_as_strings,
    type_of_ids,
)
from ._file import File, refuse_isolated
from ._formats import ADJACENCY
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
WIDEST = 8  # columns that are read in full, to check that all lines have the same number
MOST_DATA = 2  # columns with a weight and a time, as KONECT has them; more are hardly all ids by chance
BETWEEN = re.compile("[-=<>~|:]+")  # as other programs write between the ids of an edge
UNWRITABLE = re.compile(r"[#%].*|.*[\s\"\0].*|", re.DOTALL)  # ids that white-space separated text cannot hold


@dataclass
class Start:
    """The facts in the lines before the first edge, the type of the ids there, and how many edges follow."""

    lines: int = 0
    columns: int | None = 2  # None: any number; the first two are read
    sign: str = ""  # of the first comment, and so of all
    directed: bool | None = None
    vertices: int | None = None
    bipartite: bool = False
    type: pa.DataType = field(default_factory=pa.int64)
    edge: str = ""  # the line of the first edge
    rows: int = 0  # how many edges there are, once they have been read
    doubtful: bool = False  # are the ids of the second edge numbers, unlike those of the first?

    def note(self, comment: str) -> None:
        """Record the facts of a comment; a comment of ours takes precedence."""
        self.sign = self.sign or comment[0]
        self.bipartite = self.bipartite or BIPARTITE.match(comment) is not None
        if ours := OURS.fullmatch(comment):
            self.directed = ours[1] == "true"
            self.vertices = int(ours[2]) if ours[2] else None
        elif self.directed is None and UNDIRECTED.match(comment):
            self.directed = False

    def loosen(self) -> bool:
        """Let the lines be read in the next more tolerant way; False if there is none."""
        if self.columns is not None:
            self.columns = None
        elif pa.types.is_integer(self.type):  # among integers there are comments with the other sign
            self.type = pa.float64()
        else:
            return False
        return True


def _start(file: File) -> Start:
    start, lines = Start(), _lines(file)
    for line in lines:
        if BY_NETWORKX.fullmatch(line):
            raise InputError(f"{file} is {ADJACENCY}")
        if line.startswith(SIGNS):
            start.note(line)
        elif line:
            fields = FIELD.findall(line)
            start.edge, start.type, start.columns = line, type_of_ids(fields[:2]), max(len(fields), 2)
            break
        start.lines += 1
    start.sign = start.sign or SIGNS[0]
    if pa.types.is_large_string(start.type):
        second = next((FIELD.findall(line)[:2] for line in lines if line and not line.startswith(SIGNS)), None)
        start.doubtful = second is not None and is_unlike([fields[:2], second])
    return start


def _lines(file: File) -> Iterator[str]:
    with file.text(comments=COMMENTS) as raw:
        for line in io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="replace"):
            yield line.strip(BLANKS)


def read_snap(file: File, *, vertices: int | None = None, directed: bool | None = None) -> Graph:
    """A graph from an edge list whose ids are integers, or strings unless the first two are numbers.

    Warns if the first line may be none of an edge, since no line is skipped as a header.
    """
    start = _start(file)
    if start.bipartite:
        raise InputError(
            f"{file} is bipartite: the same id in both columns means two vertices; rename the ids of one column"
        )
    directed = start.directed if directed is None else directed
    graph = _read(file, start, start.vertices if vertices is None else vertices, directed)
    if doubt := _doubt(file, start, graph):
        warn(f"{file}: its first line, {quoted(start.edge)}, is taken for an edge{doubt}")
    return graph


def _doubt(file: File, start: Start, graph: Graph) -> str:
    """What to say about the first line if it may be none of an edge; nothing if it is one."""
    fields = FIELD.findall(start.edge)
    if start.doubtful:
        return ", and all ids for strings: if it is a header or a comment, write # in front of it"
    if len(fields) > 2 and BETWEEN.fullmatch(fields[1]):
        return f" to {quoted(fields[1])}: write the two ids of an edge with nothing but white space in between"
    if may_be_a_matrix(start.rows, len(fields), graph):
        return f", {MATRIX}"
    if start.directed is None and pa.types.is_integer(start.type) and _may_count(fields, start.rows, graph):
        return ", though it may count vertices and edges: if it does, write # in front of it"
    if start.directed is None and len(fields) > 2 and 4 <= start.rows <= min(graph.num_vertices, BLOCK):
        lines = _integers(file, start, len(fields))
        if lines is not None and _may_be_neighbors(lines):
            return f", and the ids after the first two are ignored: if this is {ADJACENCY}"
    return ""


def _may_count(fields: list[str], rows: int, graph: Graph) -> bool:
    """May the line of the first edge, of all ``rows``, count vertices and edges? Then as many edges follow, three at
    least, and the ids in them are below the number of vertices, or count from 1 up to it."""
    if len(fields) != 2 or int(fields[1]) != rows - 1 or rows < 4:
        return False
    vertices, edges = map(int, fields)
    mirrored = graph.num_arcs > rows
    if not (mirrored or graph.directed or vertices == edges):  # each line has its opposite, so this one is an edge too
        return False
    ids = np.arange(len(graph)) if graph.labels is None else graph.labels
    in_first = 2 if vertices == edges else 1 + mirrored
    ends = [graph.vertex_of(vertices), graph.vertex_of(edges)]
    ids = np.delete(ids, [end for end in ends if _occurrences(graph, end) == in_first])
    return bool(ids[-1] <= vertices - (ids[0] == 0))


def _occurrences(graph: Graph, vertex: int) -> int:
    """How often a vertex is an end of an arc."""
    return int(graph.offsets[vertex + 1] - graph.offsets[vertex] + np.count_nonzero(graph.targets == vertex))


def _integers(file: File, start: Start, columns: int) -> np.ndarray | None:
    """The lines of at most a block of edges in full, if they are integers, ``columns`` in each."""
    options = {"names": range(columns), "skiprows": start.lines, "comment": start.sign}
    with suppress(ValueError), file.text(comments=COMMENTS) as text, text.columns(**options) as chunks:
        chunk = next(chunks)
        if all(dtype.kind == "i" for dtype in chunk.dtypes):
            lines: np.ndarray = chunk.to_numpy()
            return lines
    return None


def _may_be_neighbors(lines: np.ndarray) -> bool:
    """May each line hold a vertex and all its neighbours, though weights follow two ids as well? Then each vertex has
    one line, no line holds an id twice, and the neighbours of few are symmetric, as those of an undirected graph."""
    ids = np.unique(lines[:, 0])
    repeated = np.diff(np.sort(lines, axis=1), axis=1) == 0
    if len(ids) < len(lines) or repeated.any() or not np.isin(lines, ids).all():
        return False
    if lines.shape[1] > MOST_DATA + 2:
        return True
    places = np.searchsorted(ids, lines)
    vertices, neighbors = places[:, :1], places[:, 1:]
    arcs, opposite = vertices * len(ids) + neighbors, neighbors * len(ids) + vertices
    return np.array_equal(np.sort(arcs, axis=None), np.sort(opposite, axis=None))


def read_gap(file: File, *, directed: bool | None = None) -> Graph:
    """A graph from GAP's edge list: its vertices are 0..max, whether they have edges or not."""
    return with_all_vertices(read_integers(file, directed))


def read_integers(file: File, directed: bool | None) -> Graph:
    """A graph from an edge list whose ids are integers; its vertices are those with edges."""
    start = _start(file)
    start.type = pa.int64()
    return _read(file, start, None, directed)


def _read(file: File, start: Start, vertices: int | None, directed: bool | None) -> Graph:
    columns = ("source", "target")
    ids = pa.large_string() if pa.types.is_large_string(start.type) else pa.int64()
    table = EdgeTable(str(file), columns, (ids, ids), file.about_lines(), lambda: _batches(file, start))
    while True:
        try:
            return from_edge_table(table, vertices=vertices, directed=directed)
        except (ValueError, OverflowError) as error:
            if start.columns is not None:
                _refuse_line(file, start)
            if isinstance(error, InputError) or not start.loosen():
                raise


def _batches(file: File, start: Start) -> Iterator[Columns]:
    """The edges of ``file``, a block at a time. Raises `ValueError` at what is no id, and where the columns differ."""
    if start.columns is not None and start.columns > WIDEST:
        raise ValueError("there are too many columns to compare")
    strings, integers = pa.types.is_large_string(start.type), pa.types.is_integer(start.type)
    start.rows = 0
    with (
        file.text(comments=COMMENTS) as text,
        text.columns(
            names=range(start.columns or 2),
            usecols=None if start.columns else [0, 1],
            skiprows=start.lines,
            dtype=None if integers else str,  # with dtype=int pandas rounds 9007199254740993.0
            comment=None if strings else start.sign,
        ) as chunks,
    ):
        for chunk in chunks:
            if not integers:
                chunk = chunk[~chunk[0].str.startswith(SIGNS)]
            if chunk.iloc[:, -1].isna().any():
                raise ValueError("a line is shorter than the first")
            if integers and len(chunk) and not all(chunk[column].dtype.kind in "iu" for column in (0, 1)):
                raise ValueError("an id is not an integer, as those of the first edge are")
            source, target = (pa.array(chunk[column], from_pandas=True) for column in (0, 1))
            start.rows += len(chunk)
            yield (source, target) if strings or integers else (parse_ids(source, ""), parse_ids(target, ""))


def _refuse_line(file: File, start: Start) -> None:
    """Raise `InputError` naming the first line of ``file`` that is no edge, if there is one."""
    strings = pa.types.is_large_string(start.type)
    first: dict[int, int] = {}  # the first line of each number of fields
    neighbours = False
    for number, line in enumerate(_lines(file), 1):
        fields = FIELD.findall(line if strings else line.partition(start.sign)[0])
        if not fields or line.startswith(SIGNS):
            continue
        where = f"{file}, line {number}"
        if len(fields) < 2:
            raise InputError(f"{where}: an edge has two ids, not {quoted(line)}; if this is {ADJACENCY}")
        for id in () if strings else fields[:2]:
            if not (len(id) < 19 and id.isascii() and id.isdecimal()):  # else it is one
                parse_id(id, where)
                if pa.types.is_integer(start.type) and not INTEGER.fullmatch(id):
                    raise InputError(f"{where}: {quoted(id)} is not written as an integer, as the first ids are")
        first.setdefault(len(fields), number)
        neighbours = neighbours or (len(fields) > 2 and all(_may_be_id(each, strings) for each in fields[2:]))
        if neighbours and len(first) > 1:
            (columns, line_of), (others, other_line), *_ = first.items()
            raise InputError(
                f"{file}: line {line_of} has {columns} columns and line {other_line} has {others}: "
                f"give all lines as many columns, or if this is {ADJACENCY}"
            )


def _may_be_id(field: str, strings: bool) -> bool:
    """Could this be the id of a neighbour, and not a weight or, as NetworkX writes it, a dict of attributes?"""
    return INTEGER.fullmatch(field) is not None or (strings and not NUMBER.fullmatch(field) and field[0] != "{")


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
