"""Figures in words: counts with their noun, times, sizes and ratios, with three digits; tables of them in HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import floor, log10

MAX_DECIMALS = 6
MAX_ROWS = 60  # of a table; of a longer one the first and the last rows are shown
BYTES = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 source``, ``1,000 sources``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def printable(text: str) -> str:
    """``text`` in one line; control characters are written as Python's escapes."""
    if text.isprintable():  # readers of files ask for the same path at each line
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def graph_size(vertices: int, edges: int, directed: bool | None = None) -> str:
    """``34 vertices, 78 undirected edges``; the kind of edge is left out for None."""
    kind = {None: "edge", True: "directed edge", False: "undirected edge"}[directed]
    return f"{counted(vertices, 'vertex', 'vertices')}, {counted(edges, kind)}"


def number(value: float | None) -> str:
    """Three digits, or all before the point; empty for None."""
    if value is None:
        return ""
    magnitude = floor(log10(abs(value))) if value else 0
    return f"{value:,.{min(max(2 - magnitude, 0), MAX_DECIMALS)}f}"


def duration(ms: float) -> str:
    """A time given in milliseconds, in the unit that suits it: three digits."""
    unit, many = time_unit(ms)
    return f"{number(many * ms)} {unit}"


def time_unit(ms: float) -> tuple[str, float]:
    """The unit that suits a time, and the number of these units in a millisecond."""
    return ("s", 1e-3) if ms >= 1e3 else ("ms", 1.0) if ms >= 1 else ("µs", 1e3)


def size(count: int) -> str:
    """``count`` bytes in the unit that suits them: three digits."""
    power = min(max(count, 1).bit_length() - 1, 10 * (len(BYTES) - 1)) // 10
    return counted(count, "byte") if power == 0 else f"{number(count / 2 ** (10 * power))} {BYTES[power]}"


def mebibytes(count: int | None) -> str:
    """Bytes in MiB; empty for None."""
    return "" if count is None else number(count / 2**20)


def html_table(rows: Sequence[Sequence[object]], head: Sequence[str] = (), caption: str = "") -> str:
    """A table in plain HTML, which a notebook's own style makes light or dark. A row's first cell is its heading."""
    if len(rows) > MAX_ROWS:
        half = MAX_ROWS // 2
        rows = [*rows[:half], ["\N{HORIZONTAL ELLIPSIS}"] * len(rows[0]), *rows[-half:]]
    heads = "".join(f'<th scope="col">{html_text(each)}</th>' for each in head)
    body = "".join(
        f'<tr><th scope="row">{html_text(first)}</th>{"".join(f"<td>{html_text(each)}</td>" for each in others)}</tr>\n'
        for first, *others in rows
    )
    return (
        f"<table>\n<caption>{html_text(caption)}</caption>\n"
        f"{f'<thead><tr>{heads}</tr></thead>' if head else ''}<tbody>\n{body}</tbody>\n</table>"
    )


def html_text(shown: object) -> str:
    """``shown``, which a user may have named, as one escaped line of HTML."""
    return escape(printable(str(shown)))
