"""Tables for a notebook, in plain HTML: the notebook's own style gives them colours, light or dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .formatting import printable

MAX_ROWS = 60  # of a table; of a longer one the first and the last rows are shown


def table(rows: Sequence[Sequence[object]], head: Sequence[str] = (), caption: str = "") -> str:
    """A table in HTML; the first cell of each row is its heading."""
    if len(rows) > MAX_ROWS:
        half = MAX_ROWS // 2
        rows = [*rows[:half], ["\N{HORIZONTAL ELLIPSIS}"] * len(rows[0]), *rows[-half:]]
    heads = "".join(f'<th scope="col">{text(each)}</th>' for each in head)
    body = "".join(
        f'<tr><th scope="row">{text(first)}</th>{"".join(f"<td>{text(each)}</td>" for each in others)}</tr>\n'
        for first, *others in rows
    )
    return (
        f"<table>\n<caption>{text(caption)}</caption>\n"
        f"{f'<thead><tr>{heads}</tr></thead>' if head else ''}<tbody>\n{body}</tbody>\n</table>"
    )


def text(shown: object) -> str:
    """``shown``, which a user may have named, as one escaped line of HTML."""
    return escape(printable(str(shown)))
