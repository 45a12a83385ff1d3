"""Matrix Market files: an edge from row to column for each stored entry, vertices numbered from 0.

R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats, NIST 1996. SciPy writes them, but does
not read them here: its reader ignores junk after a number and aborts the process at a NUL.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import IO

import numpy as np

from .._core.arguments import quoted
from .._core.csr.building import Pairs
from .._core.dtypes import index_dtype
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from ._bounded import DECIMAL
from ._edge_list import checked_vertices
from ._file import File
from .edges import from_edges
from .scipy import to_scipy

COMMENT = b"%"
FEW = 1 << 20  # entries; NumPy reads fewer in less time than the import of pandas takes
VALUES = {"pattern": 0, "integer": 1, "unsigned-integer": 1, "real": 1, "double": 1, "complex": 2}  # of an entry
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
REAL = re.compile(rf"{DECIMAL}|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Header:
    """What a file says before its entries, on its first ``lines`` lines."""

    coordinate: bool
    field: str
    symmetry: str
    vertices: int
    entries: int
    lines: int

    @property
    def indices(self) -> int:
        """How many of the numbers of an entry are indices."""
        return 2 if self.coordinate else 0

    @property
    def width(self) -> int:
        """How many numbers an entry has."""
        return self.indices + VALUES[self.field]


def read_matrix_market(file: File, *, directed: bool | None = None) -> Graph:
    """The graph in ``file``; a header that says symmetric, skew-symmetric or Hermitian makes it undirected.

    In coordinate format every entry is an edge, explicit zeros too; in array format every nonzero entry is.
    """
    header = _header(file)
    checked_vertices(header.vertices)
    if header.coordinate:
        require_bytes(16 * header.entries, f"a matrix of {header.entries:,} entries")
    blocks = list(_edges(file, header)) or [(np.empty(0, np.int32), np.empty(0, np.int32))]
    row, column = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    if header.symmetry != "general":
        off_diagonal = row != column
        row, column = np.append(row, column[off_diagonal]), np.append(column, row[off_diagonal])
    return from_edges(row, column, vertices=header.vertices, directed=directed, name=str(file))


def _header(file: File) -> Header:
    lines = file.numbered_fields(COMMENT)
    _, (_, *kind) = next(lines)
    form, field, symmetry = _kind([word.lower() for word in kind], file)
    number, sizes = next((line for line in lines if not line[1][0].startswith("%")), (0, []))
    parts = ("rows", "columns", "entries") if form == "coordinate" else ("rows", "columns")
    if len(sizes) != len(parts) or not all(re.fullmatch("[0-9]{1,18}", size) for size in sizes):
        where = f"{file}, line {number}" if number else f"{file} ends where"
        raise InputError(f"{where}: the numbers of {', '.join(parts)} belong here, not {quoted(' '.join(sizes))}")
    rows, columns, *entries = map(int, sizes)
    if rows != columns:
        raise InputError(f"{file}: an adjacency matrix must be square, not {rows} x {columns}")
    triangle = {"general": rows * rows, "skew-symmetric": rows * (rows - 1) // 2}
    count = entries[0] if entries else triangle.get(symmetry, rows * (rows + 1) // 2)
    return Header(form == "coordinate", field, symmetry, rows, count, number)


def _kind(words: list[str], file: File) -> tuple[str, str, str]:
    """Format, type of the values and symmetry, from the words of the first line."""
    if len(words) == 4:
        matrix, form, field, symmetry = words
        known = matrix == "matrix" and form in ("coordinate", "array") and field in VALUES and symmetry in SYMMETRIES
        if known and (form, field) != ("array", "pattern"):
            return form, field, symmetry
    raise InputError(
        f"{file}, line 1: expected 'matrix', then 'coordinate' or 'array', one of {', '.join(VALUES)} (pattern only in "
        f"coordinate format) and one of {', '.join(SYMMETRIES)}, not {quoted(' '.join(words))}"
    )


def _edges(file: File, header: Header) -> Iterator[Pairs]:
    """Rows and columns of the entries, from 0, a block at a time."""
    read = 0
    try:
        for numbers in _blocks(file, header):
            if read + len(numbers[0]) > header.entries or not _are_entries(numbers, header):
                raise ValueError("its entries are not as its header says")
            yield _positions(numbers, header, read)
            read += len(numbers[0])
    except ValueError:
        _refuse_line(file, header)
        raise
    if read < header.entries:
        raise InputError(f"{file} ends after {read:,} of {header.entries:,} entries")


def _blocks(file: File, header: Header) -> Iterator[list[np.ndarray]]:
    """The entries as columns. Raises `ValueError` at a line of another width."""
    first = next((fields for number, fields in file.numbered_fields(COMMENT) if number > header.lines), None)
    if first is None:
        return
    if header.field == "pattern" and header.entries < FEW:
        with file.text(comments=b"") as text, warnings.catch_warnings(action="ignore"):  # of blank lines
            warnings.simplefilter("error", DeprecationWarning)  # of integers like 1.0, which NumPy 1 takes
            lines = io.TextIOWrapper(io.BufferedReader(text), encoding="ascii", errors="replace")
            rows = np.loadtxt(lines, np.int64, comments=None, skiprows=header.lines, max_rows=FEW, ndmin=2)
        yield [*rows.T]
        return
    if len(first) != header.width:  # pandas drops the end of a first line that is too long
        raise ValueError("its first entry is too long or too short")
    with (
        file.text(comments=b"") as text,
        text.columns(names=range(header.width), skiprows=header.lines, encoding="latin-1") as blocks,
    ):
        for block in blocks:
            yield [block[column].to_numpy() for column in block]


def _are_entries(numbers: list[np.ndarray], header: Header) -> bool:
    """Are the indices within the matrix, and the values of its type?"""
    indices, values = numbers[: header.indices], numbers[header.indices :]
    kinds = {"integer": "i", "unsigned-integer": "iu"}.get(header.field, "iuf")
    return (
        len(numbers) == header.width
        and all(index.dtype.kind == "i" and index.min() >= 1 and index.max() <= header.vertices for index in indices)
        and all(value.dtype.kind in kinds and not np.isnan(value).any() for value in values)
    )


def _positions(numbers: list[np.ndarray], header: Header, first: int) -> Pairs:
    """Rows and columns of these entries, the first of which is entry number ``first``."""
    dtype = index_dtype(header.vertices)
    if header.coordinate:
        return (numbers[0] - 1).astype(dtype), (numbers[1] - 1).astype(dtype)
    stored = first + np.flatnonzero(np.any(numbers, axis=0))
    n = header.vertices
    if header.symmetry == "general":
        return (stored % n).astype(dtype), (stored // n).astype(dtype)
    below = 1 if header.symmetry == "skew-symmetric" else 0  # the first row of a column, counted from the diagonal
    heights = np.arange(n - below, -below, -1)
    starts = np.cumsum(heights) - heights
    column = np.searchsorted(starts, stored, side="right") - 1
    return (stored - starts[column] + column + below).astype(dtype), column.astype(dtype)


def _refuse_line(file: File, header: Header) -> None:
    """Raise `InputError` naming the first line of ``file`` that is no entry, if there is one."""
    entries = 0
    for number, fields in file.numbered_fields(COMMENT):
        if number <= header.lines:
            continue
        where = f"{file}, line {number}"
        entries += 1
        if entries > header.entries:
            raise InputError(f"{where}: there are more than the {header.entries:,} entries of the header")
        if len(fields) != header.width:
            raise InputError(f"{where}: an entry here has {header.width} numbers, not {quoted(' '.join(fields))}")
        for index in fields[: header.indices]:
            if not INTEGER.fullmatch(index) or not 1 <= int(index) <= header.vertices:
                raise InputError(f"{where}: {quoted(index)} is not one of the rows and columns 1..{header.vertices}")
        for value in fields[header.indices :]:
            if not (INTEGER if "integer" in header.field else REAL).fullmatch(value):
                raise InputError(f"{where}: {quoted(value)} is not a number of type {header.field}")


def write_matrix_market(graph: Graph, stream: IO[bytes]) -> None:
    from scipy.io import mmwrite

    target = SimpleNamespace(write=stream.write)  # SciPy would ask for a position, which streams that pack have not
    mmwrite(target, to_scipy(graph), field="pattern", symmetry="general" if graph.directed else "symmetric")
