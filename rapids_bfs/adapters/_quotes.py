"""Quotes in a CSV that do not close: Arrow takes the rows below for text, up to the next quote or to the end."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from ..errors import InputError
from ._file import File

QUOTE = b'"'
CONTENT = bytes(set(range(256)) - set(b'"\r\n'))
AT_THE_END = "unexpected end of data"  # Python's error for a quote that nothing closes


def some_line_has_odd_quotes(blocks: Iterable[bytes]) -> bool:
    """Does a line hold an odd number of quotes? If none does, no field goes on in the next line."""
    found, odd = False, b""  # a quote, if the line has had an odd number so far
    for block in blocks:
        if odd or QUOTE in block:
            quotes_and_ends = odd + block.translate(None, CONTENT)
            odd_quotes_and_ends = quotes_and_ends.replace(2 * QUOTE, b"")
            odd = QUOTE if odd_quotes_and_ends.endswith(QUOTE) else b""
            found = found or QUOTE in odd_quotes_and_ends.removesuffix(QUOTE)
    return found or bool(odd)


def refuse_open_quotes(file: File, delimiter: str) -> None:
    """Raise `InputError` naming the first line with a quote that does not close in its field, if there is one."""
    with file.text() as raw:
        text = io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="replace", newline="")
        rows = csv.reader(text, delimiter=delimiter, strict=True)
        while True:
            first = rows.line_num + 1
            try:
                if next(rows, None) is None:
                    return
            except csv.Error as error:  # the reader goes on with the next line
                if rows.line_num > first or str(error) == AT_THE_END:
                    raise InputError(
                        f"{file}, line {first}: a quote does not close at the end of its field, and hides what follows "
                        f"up to line {rows.line_num}: close it, or remove it"
                    ) from None
