"""METIS graphs (``.graph``): after a header ``N M [FORMAT [WEIGHTS]]`` a line for each vertex, with its
neighbours numbered from 1. Each of the M edges is on the lines of both its ends. Vertex 1 is 0 here; sizes and weights
are ignored. A blank line is a vertex without neighbours, and lines that begin with % are comments.

G. Karypis, METIS 5.1 manual, 2013, section 4.1.1.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._core.arguments import quoted
from .._core.dtypes import index_dtype
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from . import _bounded
from ._bounded import BoundedText
from ._edge_list import checked_vertices
from ._file import File
from ._tables import write_rows
from .csr import from_csr

COMMENT = b"%"
READ = 1 << 22  # bytes at a time
WRITTEN = 1 << 22  # neighbours at a time
BLANK = " \t\r\n\v\f"
LONGEST = 18  # digits of a number
NUMBER = re.compile(rf"[0-9]{{1,{LONGEST}}}", re.ASCII)
SEPARATORS = [sign.encode() for sign in BLANK]
IS_DIGIT, IS_BLANK = (np.isin(np.arange(256), list(signs)) for signs in (b"0123456789", BLANK.encode()))

Rows = tuple[np.ndarray, np.ndarray]  # numbers, and how many of them there are up to the end of each line; int64


@dataclass(frozen=True)
class Header:
    """What a file says on its first line that is no comment."""

    vertices: int
    edges: int
    skipped: int  # numbers on a vertex's line before its neighbours: its size and weights
    weighted: bool  # a weight follows each neighbour
    lines: int  # up to this one

    @property
    def numbers(self) -> int:
        """How many numbers there are after it."""
        return self.vertices * self.skipped + 2 * self.edges * (1 + self.weighted)


def read_metis(file: File, *, directed: bool | None = None) -> Graph:
    """The graph in ``file``, which has each edge in both directions.

    Raises `InputError` if one is missing; ``directed=False`` adds it, ``directed=True`` takes the edges as they are.
    """
    header = _header(file)
    n = checked_vertices(header.vertices)
    require_bytes(24 * header.numbers, f"a graph of {header.edges:,} edges")
    try:
        offsets, neighbors = _adjacency(_in_blocks(file, header), header)
    except ValueError:
        offsets, neighbors = _adjacency(_line_by_line(file, header), header)
    m = len(neighbors)
    loops = np.count_nonzero(neighbors == np.repeat(np.arange(1, n + 1), np.diff(offsets)))
    if 2 * header.edges not in (m, m + loops):  # some count a loop, which is on one line, as an edge
        raise InputError(f"{file} has {m:,} neighbours, where {header.edges:,} edges need {2 * header.edges:,}")
    offsets, targets = offsets.astype(index_dtype(m)), (neighbors - 1).astype(index_dtype(n))
    if directed is None:
        return Graph(offsets, targets, directed=False, name=str(file))
    return from_csr(offsets, targets, directed=directed, name=str(file))


def _header(file: File) -> Header:
    for number, line in file.numbered_lines(comments=COMMENT):
        fields = line.split()
        if not fields or line.startswith(COMMENT.decode()):
            continue
        where = f"{file}, line {number}"
        if not 2 <= len(fields) <= 4 or not all(map(NUMBER.fullmatch, fields)):
            raise InputError(
                f"{where}: the numbers of vertices and edges belong here, then the format if there are weights, "
                f"not {quoted(' '.join(fields))}"
            )
        vertices, edges, format, weights = fields + ["0", "1"][len(fields) - 2 :]
        if not re.fullmatch("0*[01]{1,3}", format):
            raise InputError(f"{where}: the format is up to three digits 0 or 1, not {quoted(format)}")
        sized, heavy, weighted = (digit == "1" for digit in format[-3:].zfill(3))
        return Header(int(vertices), int(edges), sized + heavy * int(weights), weighted, number)
    raise InputError(f"{file} ends where the numbers of vertices and edges belong")


def _adjacency(rows: Rows, header: Header) -> tuple[np.ndarray, np.ndarray]:
    """Offsets, and neighbours from 1. Raises `ValueError` if a line is too short, or a neighbour no vertex."""
    numbers, ends = rows
    offsets = np.append(0, ends)
    if header.skipped or header.weighted:
        counts = np.diff(offsets) - header.skipped
        if (counts < 0).any() or (header.weighted and (counts % 2).any()):
            raise ValueError("a line is too short")
        places = np.arange(len(numbers)) - np.repeat(offsets[:-1], np.diff(offsets)) - header.skipped
        numbers = numbers[(places >= 0) & ((places % 2 == 0) | (not header.weighted))]
        offsets = np.append(0, np.cumsum(counts // (1 + header.weighted)))
    if len(numbers) and (numbers.min() < 1 or numbers.max() > header.vertices):
        raise ValueError("a neighbour is no vertex")
    return offsets, numbers


def _text(file: File, header: Header) -> IO[bytes]:
    """The text after the header. One line may hold every number, and each line may be blank."""
    line = max(_bounded.LONGEST_LINE, (LONGEST + 2) * header.numbers)
    text = BoundedText(file.open(), COMMENT, line, _bounded.LONGEST_PADDING + 2 * header.vertices)
    stream = io.BufferedReader(text)
    for _ in range(header.lines):
        stream.readline()
    return stream


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """The content in pieces that cut no number, the last of which ends a line. Raises `ValueError` at a long one."""
    rest = last = b""
    while data := stream.read(READ):
        data, last = rest + data, data[-1:]
        whole = len(data) - len(data[max(map(data.rfind, SEPARATORS)) + 1 :])
        data, rest = data[:whole], data[whole:]
        if len(rest) > LONGEST:
            raise ValueError("a number is too long")
        if data:
            yield data
    if last not in (b"", b"\n"):
        yield rest + b"\n"


def _in_blocks(file: File, header: Header) -> Rows:
    """The numbers of all vertices' lines. Raises `ValueError` if there is anything else, comments among it."""
    numbers, ends = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    read = lines = 0
    with _text(file, header) as stream:
        for piece in _pieces(stream):
            signs = np.frombuffer(piece, np.uint8)
            blank = IS_BLANK[signs]
            if not (blank | IS_DIGIT[signs]).all():
                raise ValueError("there is something else than numbers")
            begins = np.flatnonzero(~blank & np.append(True, blank[:-1]))
            if len(begins):
                numbers.append(np.fromstring(piece, np.int64, sep=" "))
            newlines = np.flatnonzero(signs == ord("\n"))[: header.vertices - lines]
            ends.append(read + np.searchsorted(begins, newlines))
            read += len(begins)
            lines += len(newlines)
            if read > header.numbers:
                raise ValueError("there are too many numbers")
    offsets = np.concatenate(ends)
    if lines < header.vertices or read > offsets[-1:].sum():
        raise ValueError("there are more or fewer lines than vertices")
    return np.concatenate(numbers), offsets


def _line_by_line(file: File, header: Header) -> Rows:
    """The numbers of all vertices' lines. Raises `InputError` naming the first line that is wrong."""
    numbers = [np.empty(0, np.int64)]
    ends: list[int] = []
    read = 0
    with _text(file, header) as stream:
        for number, line in enumerate(stream, header.lines + 1):
            if line.startswith(COMMENT):
                continue
            where = f"{file}, line {number}"
            if len(ends) < header.vertices:
                numbers.append(_numbers_in(line.decode("latin-1"), header, where))
                read += len(numbers[-1])
                ends.append(read)
            elif not line.isspace():
                raise InputError(f"{where}: there are more lines than the {header.vertices:,} vertices of the header")
            if read > header.numbers:
                raise InputError(
                    f"{where}: there are more neighbours than the {header.edges:,} edges of the header have"
                )
    if len(ends) < header.vertices:
        raise InputError(f"{file} ends after {len(ends):,} of {header.vertices:,} vertices")
    return np.concatenate(numbers), np.array(ends, np.int64)


def _numbers_in(line: str, header: Header, where: str) -> np.ndarray:
    """The numbers of a vertex's line. Raises `InputError` if they are not numbers, or not vertices."""
    fields = re.findall(f"[^{BLANK}]+", line)
    for field in fields:
        if not NUMBER.fullmatch(field):
            raise InputError(f"{where}: {quoted(field)} is not a number")
    neighbors = len(fields) - header.skipped
    if neighbors < 0 or (header.weighted and neighbors % 2):
        pairs = " with a weight each" if header.weighted else ""
        raise InputError(
            f"{where}: expected {header.skipped} weights, then neighbours{pairs}, not {quoted(line.strip())}"
        )
    for field in fields[header.skipped :: 1 + header.weighted]:
        if not 1 <= int(field) <= header.vertices:
            raise InputError(f"{where}: {field} is not one of the vertices 1..{header.vertices}")
    return np.array(fields, np.int64)


def write_metis(graph: Graph, stream: IO[bytes]) -> None:
    """The neighbours of each vertex. Raises `InputError` for a graph that the format cannot hold."""
    if graph.directed or graph.num_duplicates or graph.num_loops:
        raise InputError(
            "METIS graphs are undirected, without loops and duplicates: "
            "save graph.undirected.simple (--undirected --simple)"
        )
    stream.write(f"{graph.num_vertices} {graph.num_arcs // 2}\n".encode())
    first, n = 0, graph.num_vertices
    while first < n:
        begin = int(graph.offsets[first])
        last = max(int(np.searchsorted(graph.offsets, begin + WRITTEN, side="right")) - 1, first + 1)
        part = graph.targets[begin : graph.offsets[last]].astype(np.int64) + 1
        offsets = (graph.offsets[first : last + 1] - begin).astype(np.int32)
        rows = pa.ListArray.from_arrays(offsets, pa.array(part).cast(pa.large_string()))
        write_rows(pa.table([pc.binary_join(rows, pa.scalar(" ", pa.large_string()))], ["line"]), stream)
        first = last
