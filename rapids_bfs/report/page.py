"""The report page: a comparison as one self-contained HTML file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from html import escape
from importlib import resources

from .._core.formatting import counted, duration, graph_size, html_table, number, size
from .charts import level_charts, ratio_chart, time_chart
from .drawing import Record, by_median
from .table import SIMULATED, by_reason, comparison_tables, trace_html, wrong_answers

SORTS = "Click a heading to sort."

STRIPES = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><pattern id="stripes" width="6" height="6"'
    ' patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6"/>'
    '<line x1="0" y1="0" x2="0" y2="6"/></pattern></svg>'
)


def page(record: Record) -> str:
    """The page of a comparison, given as `Comparison.to_dict` or as its JSON."""
    ran = by_median(record)
    sections = [_summary(record, ran), _table(record, ran), _charts(record, ran), _levels(record), _missing(record)]
    sections += [conditions(record), data(record)]
    return document(f"{record['graph']['name']}: BFS side by side", sections)


def document(title: str, sections: Iterable[str]) -> str:
    """The file, of sections that may be empty."""
    body = "\n".join(section for section in sections if section)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n'
        f"<style>\n{_file('page.css')}</style>\n</head>\n<body>\n{STRIPES}\n{body}\n"
        f"<script>\n{_file('page.js')}</script>\n</body>\n</html>\n"
    )


def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _summary(record: Record, ran: list[Record]) -> str:
    graph = record["graph"]
    wrong = wrong_answers(record)
    lines = [
        f"<header><h1>{escape(graph['name'])}: breadth-first search, side by side</h1>",
        f'<p class="soft">{graph_size(graph["vertices"], graph["edges"], graph["directed"])}, '
        f"{counted(max((len(engine['runs']) for engine in ran), default=0), 'source')}; {day(record['started'])}</p>",
    ]
    if ran:
        best = ran[0]
        speed = best["ratio_to_baseline"]
        compared = f", {number(speed)} times as fast as {escape(record['baseline'])}" if speed and speed != 1 else ""
        name = f"<code>{escape(best['engine'])}</code>"
        lines.append(f"<p>Fastest: {name}, {duration(best['median_ms'])} for a search{compared}.</p>")
        if not wrong:
            lines += all_valid(sum(len(engine["runs"]) for engine in ran))
    lines += [f'<p class="bad">{escape(f"{engine}, {what}")}</p>' for engine, what in wrong]
    if record.get("simulated"):
        lines.append(f'<p class="bad">{escape(SIMULATED)}.</p>')
    if record["interrupted"]:
        lines.append('<p class="bad">Interrupted: only finished searches are shown.</p>')
    return "\n".join(lines) + "</header>"


def all_valid(answers: int) -> list[str]:
    """The line for so many answers, all of which are valid; none without answers."""
    valid = f"All {answers:,} answers are valid" if answers > 1 else "The answer is valid"
    return [f'<p class="good">{valid} by the rules of Graph500.</p>'] if answers else []


def day(started: str) -> str:
    """An ISO time in a form for people."""
    if not started:
        return ""
    moment = datetime.fromisoformat(started)
    return f"{moment.day} {moment:%B %Y, %H:%M %Z}"


def _table(record: Record, ran: list[Record]) -> str:
    if not ran:
        return ""
    (figures,) = comparison_tables(record | {"engines": ran}).sections
    table = html_table(figures.rows, figures.columns, SORTS)
    for said, style in (("yes", "good"), ("NO", "bad")):  # of the answers; engines are in heading cells
        table = table.replace(f"<td>{said}</td>", f'<td class="{style}">{said}</td>')
    return f'<h2>Figures</h2>\n<div class="scroll figures" id="figures" tabindex="0">{table}</div>'


def _charts(record: Record, ran: list[Record]) -> str:
    if not ran:
        return ""
    charts = [f"<h2>Time</h2>\n{time_chart(ran)}"]
    compared = [engine for engine in ran if engine["ratio_to_baseline"]]
    if len(compared) > 1:
        charts.append(f"<h2>Speed</h2>\n{ratio_chart(compared, record['baseline'])}")
    return "\n".join(charts)


def _levels(record: Record) -> str:
    levels = record.get("levels")
    if not levels or not levels["level"]:  # it stopped at its source
        return ""
    source = next(engine["sources"][0] for engine in record["engines"] if engine["sources"])
    traced = [engine for engine in record["engines"] if engine.get("trace")]
    parts = [f"<h2>Levels of the search from {escape(str(source))}</h2>"]
    if traced:
        parts.append(
            '<p><span class="key"><svg><rect class="top-down" width="100%" height="100%"/></svg>top-down</span>'
            '<span class="key"><svg><rect class="bottom-up" width="100%" height="100%"/></svg>bottom-up</span></p>'
        )
    shown = [(engine["engine"], engine["trace"]) for engine in traced] or [(record["graph"]["name"], levels)]
    for name, trace in shown:
        heading = f'<h3 class="name">{escape(name)}</h3>' if traced else ""
        table = f'<div class="scroll" tabindex="0">{trace_html(trace, name)}</div>'
        parts.append(f"{heading}{level_charts(trace, name)}<details><summary>as a table</summary>{table}</details>")
    return "\n".join(parts)


def _missing(record: Record) -> str:
    missing = by_reason({engine["engine"]: engine["unavailable"] for engine in record["engines"]})
    lines = [
        f"<p><strong>{escape(', '.join(engines))}</strong>: {escape(reason)}</p>" for reason, engines in missing.items()
    ]
    return f"<h2>Engines that did not run</h2>\n{''.join(lines)}" if lines else ""


def conditions(record: Record) -> str:
    """How, and on what, it was measured."""
    machine = record["machine"]
    about = {
        "processor": f"{machine['processor']}, {machine['cores']} cores, {size(machine['memory_bytes'])}",
        "CUDA devices": ", ".join(machine["cuda_devices"]) or "none",
        "system": machine["system"],
        "versions": ", ".join(f"{name} {version}" for name, version in record["versions"].items()),
        "sources": "as named" if record["seed"] is None else f"drawn at random, seed {record['seed']}",
    }
    return (
        f'<h2>How it was measured</h2>\n<p><code class="command">{escape(record["command"])}</code></p>\n'
        "<p>Each engine prepares and warms up, compilation included, before anything is timed. Then they take turns, "
        "source by source. A time is from the call to the finished answer in the engine's own form, with predecessors. "
        "TEPS are Graph500's: the input edges of the traversed component over the time, as a harmonic mean.</p>\n"
        f"<dl>{''.join(f'<dt>{escape(term)}</dt><dd>{escape(text)}</dd>' for term, text in about.items())}</dl>"
    )


def data(record: Record) -> str:
    """The record itself, and a link that saves it."""
    text = json.dumps(record, separators=(",", ":"), default=str).replace("<", "\\u003c")
    return (
        '<p class="screen"><a id="save" href="#" download="comparison.json">Save everything as JSON</a></p>\n'
        f'<script type="application/json" id="comparison">{text}</script>'
    )
