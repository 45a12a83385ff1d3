"""Terminals. What users have named (files, columns, ids, engines) is printed as it is, and never taken for markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from .._core.units import printable

NO_LIMIT = 1000  # columns of a table where no terminal bounds it
PAGE = 80  # columns of a table where there is no terminal


def console(**options: Any) -> Console:
    """A console that prints strings letter by letter: no markup, no emoji codes, nothing highlighted."""
    return Console(markup=False, emoji=False, highlight=False, **options)


screen, messages = console(), console(stderr=True)
for each in (screen, messages):
    if not each.is_terminal:  # a pipe or a file has no width
        each.width = NO_LIMIT


class FittingTable:
    """A table of rows with a cell for each of ``columns``, the most important first.

    It shows as many of its columns as fit, and at least the first ``least`` of them; a line below it names the others.
    Cells are never cut.
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[str | Text]], least: int) -> None:
        self.columns, self.rows, self.least = columns, rows, least

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        """As rich asks for it."""
        counts = range(self.least, len(self.columns) + 1)
        fitting = (count for count in reversed(counts) if self._width(console, count) <= options.max_width)
        count = next(fitting, self.least)
        yield self._table(count)
        if hidden := self.columns[count:]:
            yield line(f"No room for: {', '.join(hidden)}", "dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As rich asks for it."""
        return Measurement(self._width(console, self.least), self._width(console, len(self.columns)))

    def _width(self, console: Console, count: int) -> int:
        return Measurement.get(console, console.options.update(width=NO_LIMIT), self._table(count)).maximum

    def _table(self, count: int) -> Table:
        """The first ``count`` columns; the first holds names, the others figures."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for place, name in enumerate(self.columns[:count]):
            table.add_column(line(name), justify="right" if place else "left", no_wrap=True)
        for row in self.rows:
            table.add_row(*row[:count])
        return table


def line(text: str, style: str = "") -> Text:
    """``text`` as one line, see `printable`."""
    return Text(printable(text), style)


def message(text: str) -> Text:
    """A line for standard error; what comes before its first colon stands out."""
    shown = line(text)
    shown.stylize("bold red", 0, text.find(":") + 1)
    return shown


def show(shown: Group | Table | Text, *, wide: bool = False, out: Console = screen) -> None:
    """Print to a console whose width bounds tables, unless they are to be ``wide``. In a narrow one tables and lines
    lose no letters: the terminal breaks them as it likes."""
    bound = NO_LIMIT if wide else out.width
    for each in shown.renderables if isinstance(shown, Group) else [shown]:
        if isinstance(each, Text):
            out.print(each, soft_wrap=True)
            continue
        width = Measurement.get(out, out.options.update(width=NO_LIMIT), each)
        whole = isinstance(each, Table) and any(column.no_wrap for column in each.columns)
        usual, out.width = out.width, max(bound, width.maximum if whole else width.minimum)
        out.print(each)
        out.width = usual


def as_text(shown: Group) -> str:
    """What `show` prints, without colours, as wide as the terminal or, where there is none, `PAGE` columns."""
    text = StringIO()
    show(shown, out=console(file=text, width=screen.width if screen.is_terminal else PAGE, color_system=None))
    return text.getvalue()
