"""Graphs of LDBC Graphalytics: NAME.v holds the id of a vertex on each line, NAME.e an edge, ``source target``, with a
weight that is ignored. NAME.properties, if it is there, says whether edges are directed. Ids are integers.

A. Iosup and others, The LDBC Graphalytics Benchmark, 2020 (arXiv:2011.15028), section 2.2.2.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa

from .._core.arguments import quoted
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from ._file import File, turn, unchanged
from ._tables import to_edge_table, with_vertices, write_rows
from ._text import read_integers

EDGES, VERTICES = ".e", ".v"
PARTS = EDGES, VERTICES, ".properties"
PROPERTY = r"^[ \t]*graph\.[^\r\n=:]+\.{}[ \t]*[=:][ \t]*([^\r\n]*?)[ \t]*\r?$"
DIRECTIONS = {"true": True, "false": False}
NOT_IN_KEYS = re.compile(r"[\s=:]+")  # of properties
ID = re.compile("[0-9]{1,19}", re.ASCII)


def read_ldbc(file: File, *, directed: bool | None = None) -> Graph:
    """The graph in ``file`` and those beside it, given any of them."""
    with ExitStack() as opened:
        with turn():
            parts = [opened.enter_context(file.beside(suffix).held()) for suffix in PARTS]
        for part in parts[:2]:
            if not part.exists:
                raise InputError(
                    f"{part} does not exist: LDBC's graphs are in {EDGES} and {VERTICES} files of one name"
                )
            if not part.size:
                raise InputError(f"{part} is empty")
        edges, vertices, properties = parts
        said = properties.head().decode(errors="replace") if properties.exists else ""
        sums = _property("crc32", said)
        if sums is None or sums != f"{_crc32(edges)} {_crc32(vertices)}":  # they may be replaced one by one
            opened.enter_context(unchanged(*(replace(part, descriptor=None) for part in parts)))
            if sums is not None:
                raise InputError(
                    f"{properties} was saved with other {EDGES} and {VERTICES} files: wait until all three are "
                    "replaced, or if they were edited, remove its line with their crc32"
                )
        if directed is None and (found := _property("directed", said)):
            directed = DIRECTIONS.get(found.lower())
            if directed is None:
                raise InputError(f"{properties}: directed is true or false, not {quoted(found)}")
        ids = _ids(vertices)
        whole = with_vertices(read_integers(edges, directed), ids)
        if whole.num_vertices > len(ids):
            _refuse_edge(edges, vertices, ids)
        return whole


def _property(key: str, text: str) -> str | None:
    """The value of the property whose name ends in ``key``."""
    found = re.search(PROPERTY.format(key), text, re.MULTILINE)
    return found and found[1]


def _crc32(file: File) -> str:
    """The CRC-32 of the content."""
    found = 0
    with file.open() as stream:
        while block := stream.read(1 << 20):
            found = zlib.crc32(block, found)
    return f"{found:08x}"


def _ids(file: File) -> np.ndarray:
    """The ids in ``file``, ascending (int64)."""
    require_bytes(24 * file.about_lines(), f"a graph of about {file.about_lines():,} vertices")
    ids = np.sort(np.concatenate([column for (column,) in _integers(file, "the id of a vertex")]))
    if (again := ids[1:] == ids[:-1]).any():
        twice = int(ids[1:][again][0])
        line = [number for number, text in file.numbered_lines() if text.strip() == str(twice)][1:2]
        raise InputError(f"{file}{f', line {line[0]}' if line else ''}: the vertex {twice} is there twice")
    return ids


def read_reference(file: File, rows: int, value: str) -> pa.Table:
    """The reference output of an algorithm: a vertex and its ``value`` on each line, in columns of int64.

    Raises `InputError` if there are more lines than the ``rows`` of the graph, or one holds something else.
    """
    blocks = []
    read = 0
    for vertices, values in _integers(file, "a vertex and its value", "value"):
        read += len(vertices)
        if read > rows:
            raise InputError(f"{file} has more lines than the graph has vertices, {rows:,}")
        blocks.append(pa.table([vertices, values], ["vertex", value]))
    return pa.concat_tables(blocks)


def _integers(file: File, what: str, *more: str) -> Iterator[list[np.ndarray]]:
    """The columns of integers from 0 on in ``file``, a block at a time: one, and one for each of ``more``.

    Raises `InputError` naming the first line that holds something else than ``what``.
    """
    width = 1 + len(more)
    yield [np.empty(0, np.int64)] * width
    try:
        with file.text() as text, text.columns(names=range(width + 1)) as frames:
            for frame in frames:
                *columns, none = (frame[place] for place in frame)
                if none.notna().any() or any(column.dtype.kind != "i" or column.min() < 0 for column in columns):
                    raise ValueError(f"a line is not {what}")
                yield [column.to_numpy(np.int64) for column in columns]
    except ValueError:
        _refuse_line(file, what, width)
        raise


def _refuse_line(file: File, what: str, width: int) -> None:
    """Raise `InputError` naming the first line of ``file`` that is not ``width`` integers, if there is one."""
    for number, line in file.numbered_lines():
        fields = line.split()
        if fields and not (len(fields) == width and all(ID.fullmatch(id) and int(id) < 1 << 63 for id in fields)):
            kind = "an integer" if width == 1 else "integers"
            raise InputError(f"{file}, line {number}: {quoted(line.strip())} is not {what}, {kind}")


def _refuse_edge(edges: File, vertices: File, ids: np.ndarray) -> None:
    """Raise `InputError` naming the first edge with an id that is not among ``ids``."""
    known = set(ids.tolist())
    for number, line in edges.numbered_lines():
        for id in line.split()[:2]:
            if int(id) not in known:
                raise InputError(f"{edges}, line {number}: {id} is not a vertex in {vertices.path.name}")
    raise InputError(f"{edges} has ids that are not in {vertices.path.name}")


class _Summed(io.RawIOBase):
    """A stream with the CRC-32 of what was written to it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.crc32 = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.crc32 = zlib.crc32(data, self.crc32)
        return self._stream.write(data)


def write_ldbc(graph: Graph, edges: IO[bytes], vertices: IO[bytes], properties: IO[bytes]) -> None:
    """An undirected edge once, and the ids in ascending order; the properties hold the CRC-32 of both files."""
    if graph.has_objects:
        raise InputError("LDBC's ids are integers: rename the vertices first")
    if not graph.num_arcs:
        raise InputError("LDBC's files cannot hold a graph without edges")
    tables = to_edge_table(graph), pa.table([graph.ids_of(np.arange(graph.num_vertices))], ["id"])
    written: Sequence[Any] = _Summed(edges), _Summed(vertices)
    for table, stream in zip(tables, written, strict=True):
        write_rows(table, stream, " ")
    said = {
        "vertex-file": f"{graph.name}{VERTICES}",
        "edge-file": f"{graph.name}{EDGES}",
        "meta.vertices": graph.num_vertices,
        "meta.edges": graph.num_edges,
        "directed": str(graph.directed).lower(),
        "rapids_bfs.crc32": " ".join(f"{stream.crc32:08x}" for stream in written),
    }
    name = NOT_IN_KEYS.sub("-", graph.name)
    properties.write("".join(f"graph.{name}.{key} = {value}\n" for key, value in said.items()).encode())
