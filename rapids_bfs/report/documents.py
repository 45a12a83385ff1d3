"""The tables of a record in each form: for a terminal, a notebook, and documents in Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.console import Group
from rich.text import Text

from .._core.formatting import html_table, html_text, printable
from .console import FittingTable, line

BEST = "bold"  # the style of a cell with the best figure of its row
SPECIAL = {  # characters of LaTeX
    **{each: f"\\{each}" for each in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}"},
}


class Section(NamedTuple):
    """A table: its title, columns and rows of cells. A narrow terminal shows at least the first ``least`` columns."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Text]]
    least: int | None = None


class Tables(NamedTuple):
    """The tables of a record below its title (empty where its only table has one), and notes on what is missing or
    wrong. A narrow terminal shows the first ``least`` tables."""

    title: str
    sections: Sequence[Section]
    notes: Sequence[Text]
    least: int | None = None


def in_terminal(tables: Tables, *, wide: bool = False, hint: str = "") -> Group:
    """The tables one below the other, then the notes. A line names the columns and tables that are hidden unless
    ``wide``, and ``hint`` says how to see them."""
    shown = tables.sections if wide else tables.sections[: tables.least]
    parts: list[Any] = [line(tables.title, "italic")] if tables.title else []
    for section in shown:
        least = None if wide else section.least
        parts += [line(section.title, "bold"), FittingTable(section.columns, section.rows, least, hint)]
    if hidden := tables.sections[len(shown) :]:
        parts.append(line(f"Hidden{hint}: {', '.join(section.title for section in hidden)}", "dim"))
    return Group(*parts, *tables.notes)


def in_notebook(tables: Tables) -> str:
    """The same in HTML."""
    title = [f"<p>{html_text(tables.title)}</p>"] if tables.title else []
    shown = [html_table(section.rows, section.columns, section.title) for section in tables.sections]
    return "\n".join([*title, *shown, *(f"<p>{html_text(note)}</p>" for note in tables.notes)])


def markdown(sections: Iterable[Section]) -> str:
    """A table for each section, below its title; the first column is code, and the best figures are bold."""
    return "\n".join(_markdown(section) for section in sections)


def _markdown(section: Section) -> str:
    def cell(shown: str | Text) -> str:
        text = re.sub(r"([\\`*_|<>\[\]])", r"\\\1", printable(str(shown)))
        return f"**{text}**" if _is_best(shown) else text

    lines = [[cell(each) for each in row] for row in [section.columns, *section.rows]]
    lines.insert(1, ["---", *["---:"] * (len(section.columns) - 1)])
    table = "".join(f"| {' | '.join(each)} |\n" for each in lines)
    return f"**{cell(section.title)}**\n\n{table}"


def latex(sections: Iterable[Section]) -> str:
    """A table environment for each section, with rules of the package booktabs."""
    return "% \\usepackage{booktabs}\n" + "\n".join(_latex(section) for section in sections)


def _latex(section: Section) -> str:
    def row(cells: Sequence[str | Text]) -> str:
        return f"{' & '.join(map(_latex_cell, cells))} \\\\\n"

    *rows, last = section.rows
    closing = "\\midrule\n" if str(last[0]) == "geometric mean" else ""
    return (
        f"\\begin{{table}}\n\\centering\n\\caption{{{_latex_cell(capitalized(section.title))}}}\n"
        f"\\begin{{tabular}}{{l{'r' * (len(section.columns) - 1)}}}\n\\toprule\n{row(section.columns)}\\midrule\n"
        f"{''.join(map(row, rows))}{closing}{row(last)}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _latex_cell(shown: str | Text) -> str:
    text = "".join(SPECIAL.get(each, each) for each in printable(str(shown)))
    return f"\\textbf{{{text}}}" if _is_best(shown) else text


def _is_best(shown: str | Text) -> bool:
    return isinstance(shown, Text) and shown.style == BEST


def capitalized(title: str) -> str:
    """``title`` with a capital letter at its start."""
    return title[:1].upper() + title[1:]
