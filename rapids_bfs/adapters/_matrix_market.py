"""Matrix Market files: an edge from row to column for each stored entry, vertices numbered from 0.

R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats, NIST 1996. SciPy reads them. It ignores
junk after a number, though, and ends the process at a NUL and at a dense matrix without rows, so that each line is
checked before SciPy sees it.
"""

from __future__ import annotations

import io
import re
from types import SimpleNamespace
from typing import IO

import numpy as np

from .._core.arguments import quoted
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from ._edge_list import checked_vertices
from ._file import File
from .edges import from_edges
from .scipy import to_scipy

COMMENT = b"%"
BLOCK = 1 << 20  # bytes checked at a time
SIZES = re.compile(rb"\s*\d{1,18}[ \t]+\d{1,18}([ \t]+\d{1,18})?\s*")
DIGITS = b"0123456789"
VALUES = {"pattern": 0, "complex": 2}  # numbers of an entry beside its indices, if not one


class _Checked:
    """The lines of ``text`` after ``head``, a stream for SciPy. Each has as many numbers as an entry, or none.

    An index has digits alone, and a value those of ``signs`` too, whose order SciPy checks. Raises `InputError` naming
    the first other line.
    """

    def __init__(self, text: IO[bytes], head: bytes, indices: int, values: int, signs: bytes, file: File) -> None:
        fields = [rb"\d++"] * indices + [b"[" + re.escape(signs) + rb"\d]++"] * values
        line = rb"(?>[ \t]*+(?>" + rb"[ \t]++".join(fields) + rb"[ \t]*+)?+\r?\n)*+"
        self._lines, self._width, self._file = re.compile(line), len(fields), file
        self._marks = bytes(byte if byte in b" \n" else ord("x" if byte in signs else "!") for byte in range(256))
        self._text, self._block, self._line = text, io.BytesIO(head), head.count(b"\n") + 1
        self.entries = 0  # so far

    def read(self, size: int) -> bytes:
        if not (data := self._block.read(size)) and size:
            content = self._text.read(BLOCK) + self._text.readline()
            self._block = io.BytesIO(self._checked(content if content[-1:] in (b"\n", b"") else content + b"\n"))
            data = self._block.read(size)
        return data

    def _checked(self, lines: bytes) -> bytes:
        count = lines.count(b"\n")
        marks = lines.translate(self._marks, DIGITS)  # of an index nothing is left
        gaps = lines[:1] in b" \n", *(gap in lines for gap in (b"  ", b"\n ", b" \n", b"\n\n"))
        odd = not self._width or any(gaps) or b"!" in marks or b"x " in marks
        if odd or marks.replace(b"x", b"") != count * (b" " * (self._width - 1) + b"\n"):
            matched = self._lines.match(lines)  # takes ten times as long
            if matched and (end := matched.end()) < len(lines):
                number, line = self._line + lines.count(b"\n", 0, end), lines[end:].partition(b"\n")[0]
                raise InputError(
                    f"{self._file}, line {number}: expected an entry of {self._width} numbers, not "
                    f"{quoted(line.decode('latin-1').strip())}"
                )
            self.entries += len(lines.split()) // max(self._width, 1)
            lines = re.sub(rb"(?<![ \t\r])[ \t\r]++\n", b"\n", lines)  # at a blank that ends a file SciPy reads on
        else:
            self.entries += count
        self._line += count
        return lines


def read_matrix_market(file: File, *, directed: bool | None = None) -> Graph:
    """Return the graph in ``file``; a header that says symmetric, skew-symmetric or Hermitian makes it undirected.

    In coordinate format every entry is an edge, explicit zeros too; in array format every nonzero entry is.
    """
    from scipy.io import mminfo, mmread

    with file.text(COMMENT) as raw:
        text = io.BufferedReader(raw)
        head = _head(text, file)
        rows, columns, entries, form, field, symmetry = mminfo(io.BytesIO(head))
        if rows != columns:
            raise InputError(f"{file}: an adjacency matrix must be square, not {rows} x {columns}")
        checked_vertices(rows)
        require_bytes(24 * entries, f"a matrix of {entries:,} entries")
        indices, values = 2 * (form == "coordinate"), VALUES.get(field, 1) * (rows > 0)
        signs = b"" if not values else b"-" if "integer" in field else b"-+.eEinftyINFTY"
        content = _Checked(text, head, indices, values, signs, file)
        if not rows:
            while content.read(BLOCK):
                pass
            return from_edges(np.empty(0, np.int32), np.empty(0, np.int32), vertices=0, directed=directed)
        with np.errstate(all="ignore"):  # of infinite complex numbers
            matrix = mmread(content)
        if form == "array" and symmetry != "general":
            entries = rows * (rows + (-1 if symmetry == "skew-symmetric" else 1)) // 2
        if content.entries < entries:  # which SciPy takes for zeros
            raise InputError(f"{file} ends after {content.entries:,} of {entries:,} entries")
    row, column = matrix.nonzero() if form == "array" else (matrix.row, matrix.col)
    return from_edges(row, column, vertices=rows, directed=directed, name=str(file))


def _head(text: IO[bytes], file: File) -> bytes:
    """Return the lines up to that of the sizes."""
    lines = [text.readline()]
    while (line := text.readline()) and (not line.strip() or line.startswith(COMMENT)):
        lines.append(line)
    if not SIZES.fullmatch(line):
        where = f"{file}, line {len(lines) + 1}" if line else f"{file} ends where"
        said = line.decode("latin-1").strip()
        raise InputError(f"{where}: the numbers of rows, columns and entries belong here, not {quoted(said)}")
    return b"".join([*lines, line.strip(), b"\n"])


def write_matrix_market(graph: Graph, stream: IO[bytes]) -> None:
    from scipy.io import mmwrite

    target = SimpleNamespace(write=stream.write)  # SciPy would ask for a position, which streams that pack have not
    mmwrite(target, to_scipy(graph), field="pattern", symmetry="general" if graph.directed else "symmetric")
