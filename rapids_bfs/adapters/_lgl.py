"""The formats of the Large Graph Layout, which igraph reads too. Ids are names without white space; where all are
written as integers, they are integers here. Both formats are of undirected graphs, and weights are ignored.

``.ncol`` has an edge on each line, ``NAME NAME [WEIGHT]``. ``.lgl`` has ``# NAME`` for each vertex, and after it a line
``NAME [WEIGHT]`` for each neighbour that has not been named with it before: vertices without edges are kept.

A. Adai, S. Date, S. Wieland, E. Marcotte, LGL: creating a map of protein function with an algorithm for visualizing
very large biological networks, Journal of Molecular Biology 340, 2004; igraph Reference Manual, "Reading and writing
graphs from and to files".
"""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from typing import IO

import numpy as np

from .._core.arguments import quoted
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from ._bounded import DECIMAL
from ._file import File, refuse_isolated
from ._ids import are_written_integers, refuse_written_integers
from ._tables import isolated, require_strings
from .edges import from_numbered

HEADER = "#"  # of a vertex in .lgl
COMMENTS = "#", "%"  # in other edge lists: igraph takes them for names
FIELD = re.compile("[^ \t\r\n]+")
CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r[^\n]")
WEIGHT = re.compile(rf"{DECIMAL}|[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)
UNWRITABLE = re.compile("|[#%\ufeff].*|.*[\0-\x20\x7f\ud800-\udfff].*", re.DOTALL)
BYTES_A_LINE = 300  # of memory: the numbers of two vertices, and what holds their names if these are new
BYTES_A_BYTE = 4  # of such a name, if it has a character beyond U+FFFF
STEP = 1 << 26  # bytes of memory that are asked for at a time


class _Edges:
    """Edges between names, which are numbered as they appear."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.ends = array("q")  # source and target of the first edge, then of the second

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    def graph(self, file: File, directed: bool | None) -> Graph:
        names = [*self.numbers]
        ids = [*map(int, names)] if are_written_integers(names) else names
        ends = np.array(self.ends, np.int64)
        return from_numbered(ends[0::2], ends[1::2], ids, undirected=not directed, directed=directed, name=str(file))


def read_ncol(file: File, *, directed: bool | None = None) -> Graph:
    """The graph in ``file``; with ``directed=True`` its edges lead from the first name to the second."""
    edges = _Edges()
    for number, line, fields in _lines(file):
        if line.startswith(COMMENTS):
            raise InputError(
                f"{file}, line {number}: {quoted(line)} would be a comment elsewhere and is an edge for igraph: remove "
                "it, or rename the vertex"
            )
        if len(fields) not in (2, 3):
            raise InputError(f"{file}, line {number}: an edge is written 'NAME NAME [WEIGHT]', not {quoted(line)}")
        _check_weight(fields[2:], file, number)
        edges.ends.extend(map(edges.number, fields[:2]))
    return edges.graph(file, directed)


def read_lgl(file: File, *, directed: bool | None = None) -> Graph:
    """The graph in ``file``; with ``directed=True`` its edges lead from each vertex to those listed after it."""
    edges = _Edges()
    vertex = -1
    for number, line, fields in _lines(file):
        if line.startswith(HEADER):
            names = FIELD.findall(line[1:])
            if len(names) != 1 or HEADER in names[0]:
                raise InputError(f"{file}, line {number}: a vertex is written '# NAME', not {quoted(line)}")
            vertex = edges.number(names[0])
            continue
        if vertex < 0 or len(fields) > 2 or HEADER in line:
            shape = "'# NAME', of the first vertex, belongs here" if vertex < 0 else "'NAME [WEIGHT]' belongs here"
            raise InputError(f"{file}, line {number}: {shape}, not {quoted(line)}")
        _check_weight(fields[1:], file, number)
        edges.ends.extend((vertex, edges.number(fields[0])))
    return edges.graph(file, directed)


def _lines(file: File) -> Iterator[tuple[int, str, list[str]]]:
    """Number, content and fields of each line that is not blank."""
    expected = BYTES_A_LINE * file.about_lines() + BYTES_A_BYTE * file.unpacked_size
    asked = 0
    with file.text() as raw:
        for number, content in enumerate(io.BufferedReader(raw), 1):
            needed = BYTES_A_LINE + BYTES_A_BYTE * len(content)
            if needed > asked:
                asked = max(min(STEP, expected), needed)
                require_bytes(asked, f"{file}, from line {number:,} on,")
            asked -= needed
            try:
                line = content.decode()
            except UnicodeDecodeError as error:
                raise InputError(f"{file}, line {number} is not UTF-8: {error.reason} at byte {error.start}") from None
            if CONTROL.search(line):
                raise InputError(f"{file}, line {number}: there is a control character in {quoted(line)}")
            if fields := FIELD.findall(line):
                yield number, line.strip(" \t\r\n"), fields


def _check_weight(fields: list[str], file: File, number: int) -> None:
    for weight in fields:
        if not WEIGHT.fullmatch(weight):
            raise InputError(f"{file}, line {number}: the weight {quoted(weight)} is not a number")


def write_ncol(graph: Graph, stream: IO[bytes]) -> None:
    """Each edge on a line. Raises `InputError` for a graph that the format cannot hold."""
    names = _names(graph)
    refuse_isolated(graph, isolated(graph), "NCOL")
    for source, target in zip(*(ends.tolist() for ends in graph.vertex_pairs()), strict=True):
        stream.write(f"{names[source]} {names[target]}\n".encode())


def write_lgl(graph: Graph, stream: IO[bytes]) -> None:
    """Each vertex with its neighbours of the same or a larger number. Raises `InputError` for a graph that the format
    cannot hold."""
    names = _names(graph)
    sources, targets = graph.vertex_pairs()
    ends = np.searchsorted(sources, np.arange(graph.num_vertices), side="right").tolist()
    begin = 0
    for name, end in zip(names, ends, strict=True):
        lines = [f"# {name}", *(names[target] for target in targets[begin:end].tolist()), ""]
        stream.write("\n".join(lines).encode())
        begin = end


def _names(graph: Graph) -> list[str]:
    """The id of each vertex as it is written. Raises `InputError` if the graph is directed or empty, or an id no
    name."""
    if graph.directed:
        raise InputError("this format says no directions, and is read as undirected: save graph.undirected")
    if not graph.num_vertices:
        raise InputError("this format cannot hold a graph without vertices")
    ids: list[str] = graph.ids_of(np.arange(graph.num_vertices)).tolist()
    if not graph.has_objects or graph.labels is None:
        return [*map(str, ids)]
    require_strings(graph.labels)
    refuse_written_integers(ids)
    for name in ids:
        if UNWRITABLE.fullmatch(name) or "#" in name:
            raise InputError(
                f"the id {quoted(name)} is empty, or has white space, a control character, a #, or a % or a byte order "
                "mark that begins it, which names here cannot have; .parquet, .arrow and .csv can"
            )
    return ids
