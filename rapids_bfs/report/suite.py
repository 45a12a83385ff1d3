"""Tables and the page of a suite: a graph a row, an engine a column. Records are those of `SuiteComparison.to_dict`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape
from statistics import median
from typing import Any

from rich.text import Text

from .._core.formatting import counted, html_table, number
from .charts import speed_up_chart
from .console import NOTE, line
from .documents import BEST, Section, Tables, capitalized
from .drawing import Record, compared, engines_of, speed_ups
from .page import SORTS, all_valid, conditions, data, day, document
from .table import SIMULATED, wrong_answers

NONE = "-"
KINDS = {True: "directed", False: "undirected"}
CLASSES = {"red": "bad", NOTE: "bad", "": "soft"}  # in the page, by the style of a note
COLUMNS = {  # of a CSV file, for each engine, and the fields of an engine's record
    **{"ms": "median_ms", "teps": "teps_harmonic_mean", "speed_up": "ratio_to_baseline"},
    **{"prepare_ms": "prepare_ms", "valid": "valid"},
}


def suite_tables(record: Record) -> Tables:
    """The tables, the most important first; those that no engine has figures for are left out."""
    graphs = compared(record)
    sources = max((len(engine["runs"]) for graph in graphs.values() for engine in graph["engines"]), default=0)
    title = f"{record['suite']}: {counted(len(graphs), 'graph')}"
    if sources:
        title += f", {counted(sources, 'source')} each"
    if any(graph.get("simulated") for graph in graphs.values()):
        title += f"; {SIMULATED}"
    speed_up = f"speed-up over {record['baseline']}, ratio of medians"
    tables = {
        "median time of a search, ms": _figures(record, lambda engine: engine["median_ms"], min),
        speed_up: _figures(record, lambda engine: engine["ratio_to_baseline"], max),
        "GTEPS, harmonic mean": _figures(record, lambda engine: engine["teps_harmonic_mean"] / 1e9, max),
        "preparation, ms": _figures(record, lambda engine: engine["prepare_ms"]),
        "from edges to an answer, ms": _figures(
            record, lambda engine: median(engine["edges_ms"]) if engine["edges_ms"] else None, min
        ),
    }
    if tables[speed_up]:
        means = (record["geometric_means"].get(engine) for engine in engines_of(record))
        tables[speed_up].append(["geometric mean", *(number(mean["speed_up"]) if mean else NONE for mean in means)])
    columns = ["graph", *engines_of(record)]
    sections = [Section(title, columns, rows) for title, rows in tables.items() if rows]
    if sizes := [_size(*each) for each in graphs.items()]:
        sections.append(Section("graphs", ["graph", "vertices", "edges", "direction", "largest depth"], sizes))
    return Tables(title, sections, list(_notes(record)), least=2)


def _size(name: str, comparison: Record) -> list[str | Text]:
    graph = comparison["graph"]
    depth = max((engine["depth"] for engine in comparison["engines"] if engine["runs"]), default=NONE)
    return [line(name), f"{graph['vertices']:,}", f"{graph['edges']:,}", KINDS[graph["directed"]], str(depth)]


def _figures(
    record: Record, figure: Callable[[Record], float | None], best: Callable[[Iterable[float]], float] | None = None
) -> list[list[str | Text]]:
    """A row for each graph with a figure of each engine, the ``best`` one in bold; none if there are no figures."""
    rows: list[list[str | Text]] = []
    some = False
    for row in record["graphs"]:
        engines = row["comparison"]["engines"] if row["comparison"] else []
        valid = {each["engine"]: each["valid"] for each in engines if each["runs"]}
        values = {each["engine"]: figure(each) for each in engines if each["runs"]}
        known = [value for each, value in values.items() if value is not None and valid[each]]
        some = some or bool(known)
        top = best(known) if best and known else None
        cells: list[str | Text] = [line(row["graph"])]
        for engine in engines_of(record):
            value = values.get(engine)
            if valid.get(engine) is False:
                cells.append(Text("WRONG", "bold red"))
            else:
                cells.append(NONE if value is None else Text(number(value), BEST if value == top else ""))
        rows.append(cells)
    return rows if some else []


def _notes(record: Record) -> Iterator[Text]:
    """What is wrong or missing, a line each."""
    graphs = compared(record)
    for name, graph in graphs.items():
        for engine, what in wrong_answers(graph):
            yield line(f"{engine} on {name}, {what}", "red")
    for row in record["graphs"]:
        if row["failed"]:
            yield line(f"{row['graph']}: {row['failed']}", NOTE)
    reasons: dict[str, tuple[dict[str, None], dict[str, None]]] = {}  # of engines that did not run: these, on graphs
    for name, graph in graphs.items():
        for engine in graph["engines"]:
            if engine["unavailable"]:
                engines, where = reasons.setdefault(engine["unavailable"], ({}, {}))
                engines[engine["engine"]] = where[name] = None
    for reason, (engines, where) in reasons.items():
        on = "" if len(where) == len(graphs) else f" on {', '.join(where)}"
        yield line(f"{', '.join(engines)}{on}: {reason}", NOTE)
    counts = {name: mean["graphs"] for name, mean in record["geometric_means"].items()}
    every = max(counts.values(), default=0)
    if fewer := ", ".join(f"{name} over {count}" for name, count in counts.items() if count < every):
        yield line(f"Geometric means are over {every} graphs, of {fewer}.")
    if record["interrupted"]:
        yield line("Interrupted: only finished searches are shown.", NOTE)


def plain_table(record: Record) -> Iterator[list[Any]]:
    """The rows of a CSV file, a graph a row, with everything in plain numbers below a row of their names."""
    engines = engines_of(record)
    names = [f"{engine} {column}" for column in COLUMNS for engine in engines]
    yield ["graph", "vertices", "edges", "directed", *names, "failed"]
    for row in record["graphs"]:
        graph = row["comparison"] or {"graph": {}, "engines": []}
        found = {engine["engine"]: engine for engine in graph["engines"]}
        size = [graph["graph"].get(name) for name in ("vertices", "edges", "directed")]
        cells = [found.get(engine, {}).get(field) for field in COLUMNS.values() for engine in engines]
        yield [row["graph"], *size, *cells, row["failed"]]
    means = {f"{engine} speed_up": mean["speed_up"] for engine, mean in record["geometric_means"].items()}
    yield ["geometric mean", *[None] * 3, *map(means.get, names), None]


def suite_page(record: Record) -> str:
    """The page of a suite: tables, and speed-ups over the graphs."""
    tables = suite_tables(record)
    seed = next((graph["seed"] for graph in compared(record).values()), None)
    sections = [_summary(record, tables)]
    if ratios := {name: found for name, found in speed_ups(record).items() if found}:
        chart = speed_up_chart(ratios, engines_of(record), record["baseline"])
        sections.append(f"<h2>Speed-up over graphs</h2>\n{chart}")
    sections += [
        f"<h2>{escape(capitalized(section.title))}</h2>\n"
        f'<div class="scroll figures" tabindex="0">{html_table(section.rows, section.columns, SORTS)}</div>'
        for section in tables.sections
    ]
    sections += [conditions(record | {"seed": seed}), data(record)]
    return document(f"{record['suite']}: BFS over graphs", sections)


def _summary(record: Record, tables: Tables) -> str:
    lines = [
        f"<header><h1>{escape(record['suite'])}: breadth-first search over graphs</h1>",
        f'<p class="soft">{escape(tables.title)}; {day(record["started"])}</p>',
    ]
    means = {name: mean["speed_up"] for name, mean in record["geometric_means"].items() if name != record["baseline"]}
    if means:
        ordered = sorted(means.items(), key=lambda each: -each[1])
        listed = ", ".join(f"<code>{escape(name)}</code> {number(mean)}" for name, mean in ordered)
        lines.append(f"<p>Times as fast as {escape(record['baseline'])}, geometric means: {listed}.</p>")
    graphs = compared(record).values()
    if not any(map(wrong_answers, graphs)):
        lines += all_valid(sum(len(engine["runs"]) for graph in graphs for engine in graph["engines"]))
    lines += [f'<p class="{CLASSES[str(note.style)]}">{escape(str(note))}</p>' for note in tables.notes]
    return "\n".join(lines) + "</header>"
