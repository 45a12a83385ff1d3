"""Tables for a terminal and a notebook, of records: what `Comparison.to_dict` and `Trace.to_columns` return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from rich.console import Group
from rich.text import Text

from .._core import notebook
from .._core.formatting import counted, graph_size, mebibytes, number, time_unit
from .console import NOTE, FittingTable, line

Record = dict[str, Any]  # a comparison, or one of its engines
Levels = dict[str, list[Any]]  # a list for each field of a `Level`

SIMULATED = "Numba's CUDA simulator is on, and its times mean nothing"
BEST = "bold"  # the style of a cell with the best figure of its row
COUNTS = ("level", "frontier_vertices", "frontier_edges", "newly_reached")  # fields of a `Level`


class Section(NamedTuple):
    """A table of a document: its title, its columns, and its rows of cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Text]]


def comparison_table(record: Record, *, wide: bool = False, hint: str = "") -> Group:
    """An engine a row; below it the engines that could not run, and the answers that are wrong.

    A narrow terminal hides the less important columns, unless ``wide``; see `FittingTable`.
    """
    title, notes = _title_and_notes(record)
    table = figures_table(record, wide, hint)
    return Group(title, *([table] if table.rows else []), *notes)


def comparison_html(record: Record) -> str:
    """The same for a notebook."""
    title, notes = _title_and_notes(record)
    table = figures_table(record)
    rows = notebook.table(table.rows, table.columns, str(title))
    return rows + "".join(f"\n<p>{notebook.text(note)}</p>" for note in notes)


def comparison_section(record: Record) -> Section:
    """The same for a document."""
    title, _ = _title_and_notes(record)
    table = figures_table(record)
    return Section(str(title), table.columns, table.rows)


def _title_and_notes(record: Record) -> tuple[Text, list[Text]]:
    graph, engines = record["graph"], record["engines"]
    sources = max((len(engine["runs"]) for engine in engines), default=0)
    title = f"{graph['name']}: {graph_size(graph['vertices'], graph['edges'], graph['directed'])}"
    if sources:
        title += f", {counted(sources, 'source')}"
    if searched := graph.get("searched"):
        title += f", {searched}"
    if record.get("simulated"):
        title += f"; {SIMULATED}"
    notes = reasons_why({engine["engine"]: engine["unavailable"] for engine in engines})
    notes += [
        Text.assemble(line(engine, "bold"), line(f", {what}"), style="red") for engine, what in wrong_answers(record)
    ]
    if record["interrupted"]:
        notes.append(Text("Interrupted: only finished runs are shown.", style=NOTE))
    return line(title, "italic"), notes


def figures_table(record: Record, wide: bool = False, hint: str = "") -> FittingTable:
    """The engines that ran, see `comparison_table`."""
    rows = {engine["engine"]: _figures(engine, record["baseline"]) for engine in record["engines"] if engine["runs"]}
    names = list({name: None for row in rows.values() for name, figure in row.items() if figure})  # in order, each once
    cells = [[line(engine), *(row[name] for name in names)] for engine, row in rows.items()]
    least = None if wide or not rows else 2 + names.index("valid")  # every terminal shows the columns up to this one
    return FittingTable(["engine", *names], cells, least, hint)


def wrong_answers(record: Record) -> list[tuple[str, str]]:
    """The engine, and what is wrong from which source, of each wrong answer."""
    return [
        (engine["engine"], f"source {run['source']}: {run['verdict']}")
        for engine in record["engines"]
        for run in engine["runs"]
        if not run["verdict"].startswith("valid")
    ]


def by_reason(unavailable: Mapping[str, str | None]) -> dict[str, list[str]]:
    """The engines that cannot run, by reason."""
    engines: dict[str, list[str]] = {}
    for engine, reason in unavailable.items():
        if reason:
            engines.setdefault(reason, []).append(engine)
    return engines


def reasons_why(unavailable: Mapping[str, str | None]) -> list[Text]:
    """A line for each reason."""
    return [
        Text.assemble(line(", ".join(names), NOTE), line(f": {reason}"))
        for reason, names in by_reason(unavailable).items()
    ]


def _figures(engine: Record, baseline: str | None) -> dict[str, str | Text]:
    """An engine's cells by column, the most important first; columns that are empty for all engines are left out."""
    teps = engine["teps_harmonic_mean"]
    return {
        "median ms": number(engine["median_ms"]),
        "range ms": f"{number(min(engine['run_ms']))} - {number(max(engine['run_ms']))}",
        f"x {baseline}": number(engine["ratio_to_baseline"]),
        "valid": Text("yes", style="green") if engine["valid"] else Text("NO", style="bold red"),
        "MTEPS": number(None if teps is None else teps / 1e6),
        "prepare ms": number(engine["prepare_ms"]),
        "edges to answer ms": number(median(engine["edges_ms"]) if engine["edges_ms"] else None),
        "warm-up ms": number(engine["warmup_ms"]),
        "reached": f"{engine['reached']:,}",
        "depth": str(engine["depth"]),
        "run MiB": mebibytes(engine["run_bytes"]),
        "prepare MiB": mebibytes(engine["prepare_bytes"]),
    }


def levels_table(name: str, vertices: int, level_sizes: Sequence[int]) -> Group:
    """A level a row: its distance and how many of the graph's vertices are at it."""
    title = f"{name}: {sum(level_sizes):,} of {counted(vertices, 'vertex', 'vertices')} reached"
    rows = [[str(distance), f"{size:,}"] for distance, size in enumerate(level_sizes)]
    return Group(line(title, "italic"), FittingTable(["distance", "vertices"], rows))


def trace_table(levels: Levels) -> FittingTable:
    """A level a row, without the direction and the time where the engine does not tell them."""
    columns = {field.replace("_", " "): [f"{count:,}" for count in levels[field]] for field in COUNTS}
    if any(levels["direction"]):
        columns["direction"] = [direction or "" for direction in levels["direction"]]
    times = levels["milliseconds"]
    if any(ms is not None for ms in times):
        unit, many = time_unit(max(ms or 0 for ms in times))
        columns[unit] = ["" if ms is None else number(many * ms) for ms in times]
    return FittingTable(list(columns), list(zip(*columns.values(), strict=True)))


def trace_html(levels: Levels, caption: str) -> str:
    """The same for a notebook."""
    table = trace_table(levels)
    return notebook.table(table.rows, table.columns, caption)
