"""Terminals. Users' names (files, columns, ids, engines) are printed literally, never as markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from textwrap import wrap
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from .._core.formatting import printable

NO_LIMIT = 1000  # columns of a table where no terminal bounds it
NOTE = "bold"  # the style of what deserves attention; yellow cannot be read on white
PAGE = 80  # columns of a table where there is no terminal


def console(**options: Any) -> Console:
    """A console that prints strings as they are: no markup, no emoji codes, nothing highlighted."""
    return Console(markup=False, emoji=False, highlight=False, **options)


screen, messages = console(), console(stderr=True)
for each in (screen, messages):
    if not each.is_terminal:  # a pipe or a file has no width
        each.width = NO_LIMIT
SPINNER = "line" if messages.options.ascii_only else "dots"  # of characters that the terminal has


class FittingTable:
    """A table of rows with a cell for each of ``columns``, the most important first.

    It shows as many columns as fit, and at least the first ``least`` of them, by default all: those that do not fit
    form further tables below, each with the first column. A line names the hidden columns, and ``hint`` says how to see
    them. Cells are never cut.
    """

    def __init__(
        self, columns: Sequence[str], rows: Sequence[Sequence[str | Text]], least: int | None = None, hint: str = ""
    ) -> None:
        self.columns, self.rows, self.hint = columns, rows, hint
        self.least = len(columns) if least is None else least

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        """As rich asks for it."""
        shown = 1
        while shown < self.least:
            first = shown
            while shown < len(self.columns) and (
                shown == first or self._width(console, first, shown + 1) <= options.max_width
            ):
                shown += 1
            yield self._table(first, shown)
        if hidden := self.columns[shown:]:
            yield line(f"Hidden{self.hint}: {', '.join(hidden)}", "dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As rich asks for it."""
        places = range(1, len(self.columns))
        narrowest = max((self._width(console, place, place + 1) for place in places), default=1)
        return Measurement(narrowest, self._width(console, 1, len(self.columns)))

    def _width(self, console: Console, first: int, last: int) -> int:
        return Measurement.get(console, console.options.update(width=NO_LIMIT), self._table(first, last)).maximum

    def _table(self, first: int, last: int) -> Table:
        """The first column and those from ``first`` to before ``last``."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for place in (0, *range(first, last)):
            table.add_column(line(self.columns[place]), justify="right" if place else "left", no_wrap=True)
        for row in self.rows:
            table.add_row(row[0], *row[first:last])
        return table


class Hyphenated:
    """A line that breaks after hyphens too, and within a word only if that alone is too wide. Rich breaks at spaces."""

    def __init__(self, text: str) -> None:
        self.text = printable(text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """As rich asks for it."""
        yield Text("\n".join(wrap(self.text, options.max_width)))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As rich asks for it."""
        pieces = wrap(self.text, 1, break_long_words=False)
        return Measurement(max(map(cell_len, pieces), default=0), cell_len(self.text))


def line(text: str, style: str = "") -> Text:
    """``text`` as one line, see `printable`."""
    return Text(printable(text), style)


def message(text: str) -> Text:
    """A line for standard error, in bold red up to its first colon."""
    shown = line(text)
    shown.stylize("bold red", 0, text.find(":") + 1)
    return shown


def show(shown: Group | FittingTable | Text, *, out: Console = screen) -> None:
    """Print to a console. On a terminal, lines break between words; elsewhere they do not. Tables lose no characters,
    however narrow it is."""
    for each in shown.renderables if isinstance(shown, Group) else [shown]:
        usual = out.width
        if isinstance(each, FittingTable):
            out.width = max(usual, Measurement.get(out, out.options.update(width=NO_LIMIT), each).minimum)
        try:
            out.print(each, soft_wrap=isinstance(each, Text) and not out.is_terminal)
        except OSError as error:
            error.filename = error.filename or ("standard error" if out.stderr else "standard output")
            raise
        out.width = usual


def as_text(shown: Group) -> str:
    """The text that `show` prints, without colours, as wide as the terminal, or `PAGE` columns without one."""
    text = StringIO()
    show(shown, out=console(file=text, width=screen.width if screen.is_terminal else PAGE, color_system=None))
    return text.getvalue()
