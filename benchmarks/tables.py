"""Tables in Markdown, and those of README and docs, each below a line that names its view and its JSON file:

<!-- measured: fast h200_fast.json -->
<!-- measured: networkx cpu_networkx.json: bfs_edges; diameter -->    only the rows that begin with these cells
<!-- measured: cpu cpu_states.json: moby | search -->
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from .record import RESULTS, ROOT, Record, read

Table = tuple[str, Iterable[Sequence[Any]]]  # the head, divided by "|", and the rows
View = Callable[[Record], Table]
MEASURED = re.compile(r"^<!-- measured: (\S+) (\w+\.json)(?:: (.+))? -->\n(?:\|.*\n)*", re.MULTILINE)


def figure(value: Any) -> str:
    """With three digits, or all before the point. Text stays as it is, and None is nothing."""
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return value or ""
    return f"{value:,.0f}" if value >= 1000 else f"{float(f'{value:.3g}'):g}"


def span(times: Sequence[float]) -> str:
    return f"{figure(min(times))} to {figure(max(times))}"


def middle(times: Sequence[float]) -> float:
    return float(median(times))


def code(text: str) -> str:
    return f"`{text}`"


def markdown(table: Table, only: Sequence[str] = ()) -> str:
    """The table, or those of its rows that begin with the cells in ``only``. Columns of figures are aligned right."""
    head, rows = table[0].split("|"), [list(map(figure, row)) for row in table[1]]
    if only:
        starts = [tuple(start.split(" | ")) for start in only]
        named = [tuple(cell.strip("`") for cell in row) for row in rows]
        if missing := [start for start in starts if not any(name[: len(start)] == start for name in named)]:
            raise ValueError(f"no rows {missing}")
        rows = [row for row, name in zip(rows, named, strict=True) if any(name[: len(s)] == s for s in starts)]
    title, *lines = (f"| {' | '.join(line)} |\n" for line in (map(str.strip, head), *rows))
    columns = zip(*rows, strict=True) if rows else [()] * len(head)
    figures = (all(cell == "" or cell[0].isdigit() for cell in column) for column in columns)
    return "".join([title, *("|---:" if each else "|---" for each in figures), "|\n", *lines])


def rendered(text: str, views: Mapping[str, View]) -> str:
    """The text of a page with its measured tables made anew from their JSON files."""

    def table(found: re.Match[str]) -> str:
        view, file, only = found.groups()
        made = markdown(views[view](read(RESULTS / file)), only.split("; ") if only else ())
        return found[0].partition("\n")[0] + "\n" + made

    return MEASURED.sub(table, text)


def pages() -> list[Any]:
    """Those that may show measured figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
