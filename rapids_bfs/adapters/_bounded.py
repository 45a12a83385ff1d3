"""Text that is read within bounds: a small packed file cannot fill the memory, or keep a reader busy for ever."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import IO

from ..errors import InputError

LONGEST_LINE = 1 << 20  # bytes
LONGEST_SILENCE = 1 << 22  # bytes of blank lines and comments between two lines of content


class BoundedText(io.RawIOBase):
    """The bytes of ``stream``, with `InputError` at a line over `LONGEST_LINE`, a run of blank lines and comments over
    `LONGEST_SILENCE`, or a NUL.

    A line whose first byte other than a blank is in ``comments`` is one. ``seen`` says whether any of ``watched``, two
    bytes at most each, has been read so far.
    """

    def __init__(self, stream: IO[bytes], comments: bytes = b"", watched: Sequence[bytes] = ()) -> None:
        self._stream = stream
        self._content = re.compile(rb"[\r\n][ \t]*[^\s" + re.escape(comments) + rb"]")
        self._watched = watched
        self._last = b"\n"  # the last byte that was read
        self._line = 0  # bytes of the line that it belongs to
        self._silence = 0  # bytes since the last block with a line of content
        self.seen = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(min(len(buffer), LONGEST_LINE))
        buffer[: len(data)] = data
        if data:
            self._check(data)
        return len(data)

    def read_through(self) -> None:
        """Read to the end, for what may be wrong and what is seen."""
        buffer = memoryview(bytearray(LONGEST_LINE))
        while self.readinto(buffer):
            pass

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
        self._silence = 0 if self._content.search(joined) else self._silence + len(data)
        if self._silence > LONGEST_SILENCE:
            raise InputError(f"more than {LONGEST_SILENCE:,} bytes of blank lines and comments follow each other")
        self._last = data[-1:]
        self.seen = self.seen or any(part in joined for part in self._watched)

    def _require_short_line(self, length: int) -> None:
        if length > LONGEST_LINE:
            raise InputError(f"a line is longer than {LONGEST_LINE:,} bytes")
