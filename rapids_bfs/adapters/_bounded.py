"""Text read within bounds, so that a small packed file can neither fill the memory nor keep a reader busy for hours."""

from __future__ import annotations

import codecs
import csv
import io
import re
from typing import IO, Any

from .._core.csr.building import BLOCK
from ..errors import InputError

DECIMAL = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"  # a number; in time linear in its length
BOM = codecs.BOM_UTF8
LONGEST_LINE = 1 << 20  # bytes
LONGEST_PADDING = 1 << 22  # bytes of blank lines and comments between two lines of content
CONTENT = b"."  # stands for the content of a line of which more follows


class BoundedText(io.RawIOBase):
    """The bytes of ``stream``, without a byte order mark at its start.

    Raises `InputError` at a line over `LONGEST_LINE`, at blank lines and comments over `LONGEST_PADDING` in a row, and
    at a NUL. A line is a comment if its first byte other than a blank is in ``comments``. Where lines are long and
    blank ones mean something, the reader of the format gives bounds of its own.
    """

    def __init__(
        self,
        stream: IO[bytes],
        comments: bytes,
        longest_line: int | None = None,
        longest_padding: int | None = None,
    ) -> None:
        self._stream = stream
        self._longest_line = LONGEST_LINE if longest_line is None else longest_line
        self._longest_padding = LONGEST_PADDING if longest_padding is None else longest_padding
        self._comments = comments
        self._content = re.compile(rb"[\r\n][ \t]*[^\s" + re.escape(comments) + rb"]")
        self._dropped: re.Pattern[bytes] | None = None  # comments
        self._before = b""  # stands for the line so far: a sign of comments if it is one, `CONTENT` if it has some
        self._at_start = True
        self._last = b"\n"  # the last byte that was read
        self._line = 0  # bytes of its line so far
        self._padding = 0  # bytes since the last block with a line of content

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while data := self._stream.read(min(len(buffer), LONGEST_LINE)):
            if self._at_start:
                data, self._at_start = data.removeprefix(BOM), False
            self._check(data)
            if self._dropped:
                data = self._without_comments(data, self._dropped)
            if data:
                break
        buffer[: len(data)] = data
        return len(data)

    def columns(self, inline_comments: bool = False, **options: Any) -> Any:
        """Frames of the white-space separated columns, a block at a time, as `pandas.read_csv` reads them.

        Comments are dropped: whole lines, or with ``inline_comments`` whatever follows one of their signs.
        """
        import pandas as pd

        if self._comments:
            start = b"" if inline_comments else rb"(?:^|(?<=[\r\n]))[ \t]*+"
            self._dropped = re.compile(start + b"[" + re.escape(self._comments) + rb"][^\r\n]*+")
        return pd.read_csv(
            io.BufferedReader(self),
            sep=r"\s+",
            header=None,
            index_col=False,
            low_memory=False,  # one type for the whole block
            keep_default_na=False,
            na_values=[""],
            quoting=csv.QUOTE_NONE,
            chunksize=BLOCK,
            **options,
        )

    def _without_comments(self, data: bytes, comment: re.Pattern[bytes]) -> bytes:
        lines = self._before + data
        last = lines[max(lines.rfind(b"\n"), lines.rfind(b"\r")) + 1 :]
        if any(sign in lines for sign in self._comments):
            kept = comment.sub(b"", lines)
            data = kept.removeprefix(CONTENT) if self._before == CONTENT else kept
        in_comment = comment.search(last) is not None
        self._before = self._comments[:1] if in_comment else CONTENT if last.strip(b" \t") else b""
        return data

    def _check(self, data: bytes) -> None:
        if b"\0" in data:
            raise InputError("there is a NUL byte in it, as in binary data or UTF-16: text must be UTF-8")
        if (end := max(data.rfind(b"\n"), data.rfind(b"\r"))) < 0:
            self._line += len(data)
        else:
            self._require_short_line(self._line + min(at for at in map(data.find, (b"\n", b"\r")) if at >= 0))
            self._line = len(data) - end - 1
        self._require_short_line(self._line)
        self._padding = 0 if self._content.search(self._last + data) else self._padding + len(data)
        if self._padding > self._longest_padding:
            raise InputError(
                f"there are more than {self._longest_padding:,} bytes of blank lines and comments in a row"
            )
        self._last = data[-1:] or self._last

    def _require_short_line(self, length: int) -> None:
        if length > self._longest_line:
            raise InputError(f"a line is longer than {self._longest_line:,} bytes")
