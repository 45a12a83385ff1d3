"""The report page of a suite: tables, and speed-ups over the graphs, as one self-contained HTML file."""

from __future__ import annotations

from html import escape
from typing import Any

from .._core import notebook
from .._core.formatting import number
from .charts import speed_up_chart
from .console import NOTE
from .page import all_valid, conditions, data, day, document
from .suite import compared, engines_of, suite_notes, suite_sections, suite_title
from .table import wrong_answers

CLASSES = {"red": "bad", NOTE: "bad", "": "soft"}  # by the style of a note


def suite_page(record: dict[str, Any]) -> str:
    """The page of a suite, given as `SuiteComparison.to_dict` or as its JSON."""
    seed = next((graph["seed"] for graph in compared(record).values()), None)
    sections = [_summary(record), _chart(record), *_tables(record), conditions(record | {"seed": seed}), data(record)]
    return document(f"{record['suite']}: BFS over graphs", sections)


def _summary(record: dict[str, Any]) -> str:
    lines = [
        f"<header><h1>{escape(record['suite'])}: breadth-first search over graphs</h1>",
        f'<p class="soft">{escape(suite_title(record))}; {day(record["started"])}</p>',
    ]
    means = {name: mean for name, mean in record["geometric_means"].items() if name != record["baseline"]}
    if means:
        listed = ", ".join(
            f"<code>{escape(name)}</code> {number(mean['speed_up'])}"
            for name, mean in sorted(means.items(), key=lambda each: -each[1]["speed_up"])
        )
        lines.append(f"<p>Times as fast as {escape(record['baseline'])}, geometric means: {listed}.</p>")
    graphs = compared(record).values()
    answers = sum(len(engine["runs"]) for graph in graphs for engine in graph["engines"])
    if answers and not any(map(wrong_answers, graphs)):
        lines.append(all_valid(answers))
    lines += [f'<p class="{CLASSES[style]}">{escape(note)}</p>' for note, style in suite_notes(record)]
    return "\n".join(lines) + "</header>"


def _chart(record: dict[str, Any]) -> str:
    graphs = {
        name: {each["engine"]: each["ratio_to_baseline"] for each in graph["engines"] if each["ratio_to_baseline"]}
        for name, graph in compared(record).items()
    }
    graphs = {name: ratios for name, ratios in graphs.items() if ratios}
    if not graphs:
        return ""
    return f"<h2>Speed-up over graphs</h2>\n{speed_up_chart(graphs, engines_of(record), record['baseline'])}"


def _tables(record: dict[str, Any]) -> list[str]:
    return [
        f"<h2>{escape(section.title[:1].upper() + section.title[1:])}</h2>\n"
        '<div class="scroll figures" tabindex="0">'
        f"{notebook.table(section.rows, section.columns, 'Click a heading to sort.')}</div>"
        for section in suite_sections(record)
    ]
