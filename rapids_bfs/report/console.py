"""Terminals. What users have named (files, columns, ids, engines) is printed as it is, and never taken for markup."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

MOST_COLUMNS = 1000  # of a table as text
PIPED_WIDTH = 140  # columns where no terminal says how many it has


def console(**options: Any) -> Console:
    """A console that prints strings letter by letter: no markup, no emoji codes, nothing highlighted."""
    return Console(markup=False, emoji=False, highlight=False, **options)


screen = console()
if not screen.is_terminal:
    screen.width = PIPED_WIDTH
messages = console(stderr=True)


def line(text: str, style: str = "") -> Text:
    """``text`` as one line: what a terminal would obey instead of showing it is written as Python's escapes."""
    shown = (each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return Text("".join(shown), style)


def message(text: str) -> Text:
    """A line for standard error; what comes before its first colon stands out."""
    shown = line(text)
    shown.stylize("bold red", 0, text.find(":") + 1)
    return shown


def show(shown: Group | Table | Text) -> None:
    """Print to standard output. In a narrow terminal tables and lines lose no letters: it breaks them as it likes."""
    for each in shown.renderables if isinstance(shown, Group) else [shown]:
        if isinstance(each, Table):
            width = Measurement.get(screen, screen.options.update(width=MOST_COLUMNS), each)
            least = width.maximum if any(column.no_wrap for column in each.columns) else width.minimum
            console(width=max(screen.width, least), height=screen.height).print(each)
        else:
            screen.print(each, soft_wrap=True)
