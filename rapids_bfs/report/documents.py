"""Tables for documents, in Markdown and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.text import Text

from .._core.formatting import printable
from .table import BEST, Section

SPECIAL = {  # characters of LaTeX
    **{each: f"\\{each}" for each in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}"},
}


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
        f"\\begin{{table}}\n\\centering\n\\caption{{{_latex_cell(section.title[:1].upper() + section.title[1:])}}}\n"
        f"\\begin{{tabular}}{{l{'r' * (len(section.columns) - 1)}}}\n\\toprule\n{row(section.columns)}\\midrule\n"
        f"{''.join(map(row, rows))}{closing}{row(last)}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _latex_cell(shown: str | Text) -> str:
    text = "".join(SPECIAL.get(each, each) for each in printable(str(shown)))
    return f"\\textbf{{{text}}}" if _is_best(shown) else text


def _is_best(shown: str | Text) -> bool:
    return isinstance(shown, Text) and shown.style == BEST
