"""DIMACS graphs of the challenge on shortest paths (``.gr``).

``c`` opens a comment, ``p sp N M`` gives the numbers of vertices and arcs, and ``a U V WEIGHT`` is an arc. Vertices are
numbered from 1: here vertex 1 is 0. Weights are ignored.

9th DIMACS Implementation Challenge, file formats, 2006.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa

from .._core.arguments import quoted
from .._core.csr.building import Pairs
from .._core.dtypes import index_dtype
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from ._bounded import DECIMAL
from ._edge_list import checked_vertices
from ._file import File
from ._tables import write_rows
from .edges import from_edges

ARC = "a"
WIDTH = 4  # fields of an arc's line
COUNT = re.compile("[0-9]{1,18}", re.ASCII)
WEIGHT = re.compile(DECIMAL, re.ASCII)


@dataclass(frozen=True)
class Header:
    """The numbers of vertices and arcs, on the last of the first ``lines`` lines."""

    vertices: int
    arcs: int
    lines: int


def read_dimacs(file: File, *, directed: bool | None = None) -> Graph:
    """Return the graph in ``file``, which is directed unless all arcs are there in both directions."""
    header = _header(file)
    checked_vertices(header.vertices)
    require_bytes(16 * header.arcs, f"a graph of {header.arcs:,} edges")
    try:
        blocks = list(_blocks(file, header))
    except ValueError:
        _refuse_line(file, header)
        raise
    empty = np.empty(0, np.int32), np.empty(0, np.int32)
    source, target = (np.concatenate(parts) for parts in zip(empty, *blocks, strict=True))
    if len(source) != header.arcs:
        raise InputError(f"{file} ends after {len(source):,} of {header.arcs:,} edges")
    return from_edges(source, target, vertices=header.vertices, directed=directed, name=str(file))


def _header(file: File) -> Header:
    number, fields = next(_lines(file))  # the format was detected by such a line
    if len(fields) != 4 or fields[:2] != ["p", "sp"] or not all(map(COUNT.fullmatch, fields[2:])):
        raise InputError(
            f"{file}, line {number}: expected 'p sp' and the numbers of vertices and edges, not "
            f"{quoted(' '.join(fields))}"
        )
    return Header(int(fields[2]), int(fields[3]), number)


def _lines(file: File) -> Iterator[tuple[int, list[str]]]:
    """Yield number and fields of each line that is neither blank nor a comment."""
    return ((number, fields) for number, fields in file.numbered_fields(b"c") if not fields[0].startswith("c"))


def _blocks(file: File, header: Header) -> Iterator[Pairs]:
    """Yield the arcs from 0, a block at a time. Raises `ValueError` at any other line."""
    first = next((fields for number, fields in _lines(file) if number > header.lines), None)
    if first is None:
        return
    dtype, read = index_dtype(header.vertices), 0
    if len(first) != WIDTH:  # pandas drops the end of a first line that is too long
        raise ValueError("its first edge is too long or too short")
    with (
        file.text(comments=b"c") as text,
        text.columns(names=range(WIDTH), skiprows=header.lines, encoding="latin-1") as blocks,
    ):
        for block in blocks:
            signs, *numbers = (block[column] for column in block)
            read += len(block)
            if read > header.arcs or not (signs == ARC).all():
                raise ValueError("a line is no edge")
            for ids in numbers[:2]:
                if ids.dtype.kind != "i" or ids.min() < 1 or ids.max() > header.vertices:
                    raise ValueError("an id is not one of the vertices")
            if any(weights.dtype.kind not in "iuf" or weights.isna().any() for weights in numbers[2:]):
                raise ValueError("a weight is no number")
            source, target = ((ids.to_numpy() - 1).astype(dtype) for ids in numbers[:2])
            yield source, target


def _refuse_line(file: File, header: Header) -> None:
    """Raise `InputError` naming the first line of ``file`` that is no arc, if there is one."""
    read = 0
    for number, fields in _lines(file):
        if number <= header.lines:
            continue
        where = f"{file}, line {number}"
        read += 1
        if read > header.arcs:
            raise InputError(f"{where}: there are more than the {header.arcs:,} edges that its header says")
        if fields[0] != ARC or len(fields) != WIDTH:
            raise InputError(f"{where}: an edge here is written 'a U V WEIGHT', not {quoted(' '.join(fields))}")
        for id in fields[1:3]:
            if not COUNT.fullmatch(id) or not 1 <= int(id) <= header.vertices:
                raise InputError(f"{where}: {quoted(id)} is not one of the vertices 1..{header.vertices}")
        if not WEIGHT.fullmatch(fields[3]):
            raise InputError(f"{where}: the weight {quoted(fields[3])} is not a number")


def write_dimacs(graph: Graph, stream: IO[bytes]) -> None:
    """All edges as arcs of weight 1, an undirected edge as two."""
    stream.write(f"p sp {graph.num_vertices} {graph.num_arcs}\n".encode())
    sources = np.repeat(np.arange(1, graph.num_vertices + 1), graph.degrees)
    ones = np.ones(graph.num_arcs, np.int8)
    letters = pa.DictionaryArray.from_arrays(pa.array(ones - 1), [ARC]).cast(pa.string())
    write_rows(pa.table([letters, sources, graph.targets.astype(np.int64) + 1, ones], list("auvw")), stream, " ")
