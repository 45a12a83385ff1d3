"""Text read within bounds, so that a small packed file can neither fill the memory nor keep a reader busy for hours."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, Any

from .._core.csr.building import BLOCK
from ..errors import InputError

DECIMAL = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"  # a number; in time linear in its length
BOM = codecs.BOM_UTF8
LONGEST_LINE = 1 << 20  # bytes
LONGEST_PADDING = 1 << 22  # bytes of blank lines and comments between two lines of content


class BoundedText(io.RawIOBase):
    """The bytes of ``stream``, without a byte order mark at its start.

    Raises `InputError` at a line over `LONGEST_LINE`, at blank lines and comments over `LONGEST_PADDING` in a row, and
    at a NUL. A line is a comment if its first byte other than a blank is in ``comments``. ``seen`` says whether any
    of ``watched``, two bytes at most each, has been read so far. Where lines are long and blank ones mean something,
    the reader of the format gives bounds of its own.
    """

    def __init__(
        self,
        stream: IO[bytes],
        comments: bytes,
        watched: Sequence[bytes],
        longest_line: int | None = None,
        longest_padding: int | None = None,
    ) -> None:
        self._stream = stream
        self._longest_line = LONGEST_LINE if longest_line is None else longest_line
        self._longest_padding = LONGEST_PADDING if longest_padding is None else longest_padding
        self._content = re.compile(rb"[\r\n][ \t]*[^\s" + re.escape(comments) + rb"]")
        self._watched = watched
        self._at_start = True
        self._last = b"\n"  # the last byte that was read
        self._line = 0  # bytes of its line so far
        self._padding = 0  # bytes since the last block with a line of content
        self.seen = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(min(len(buffer), LONGEST_LINE))
        if self._at_start:
            data, self._at_start = data.removeprefix(BOM), False
        buffer[: len(data)] = data
        if data:
            self._check(data)
        return len(data)

    def blocks(self) -> Iterator[bytes]:
        """The bytes, a block at a time; the errors are raised and ``seen`` is set by the time they end."""
        return iter(partial(self.read, LONGEST_LINE), b"")

    def columns(self, **options: Any) -> Any:
        """Frames of the white-space separated columns, a block at a time, as `pandas.read_csv` reads them."""
        import pandas as pd

        return pd.read_csv(
            io.BufferedReader(self),
            sep=r"\s+",
            header=None,
            low_memory=False,  # one type for the whole block
            keep_default_na=False,
            na_values=[""],
            quoting=csv.QUOTE_NONE,
            chunksize=BLOCK,
            **options,
        )

    def _check(self, data: bytes) -> None:
        if b"\0" in data:
            raise InputError("there is a NUL byte in it, as in binary data or UTF-16: text must be UTF-8")
        if (end := max(data.rfind(b"\n"), data.rfind(b"\r"))) < 0:
            self._line += len(data)
        else:
            self._require_short_line(self._line + min(at for at in map(data.find, (b"\n", b"\r")) if at >= 0))
            self._line = len(data) - end - 1
        self._require_short_line(self._line)
        joined = self._last + data
        self._padding = 0 if self._content.search(joined) else self._padding + len(data)
        if self._padding > self._longest_padding:
            raise InputError(
                f"there are more than {self._longest_padding:,} bytes of blank lines and comments in a row"
            )
        self._last = data[-1:]
        self.seen = self.seen or any(part in joined for part in self._watched)

    def _require_short_line(self, length: int) -> None:
        if length > self._longest_line:
            raise InputError(f"a line is longer than {self._longest_line:,} bytes")
