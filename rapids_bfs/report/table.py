"""Tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

from rich.console import Group
from rich.text import Text

from .._core import notebook
from .._core.formatting import counted, graph_size, mebibytes, number, time_unit
from .console import FittingTable, line

COUNTS = ("level", "frontier_vertices", "frontier_edges", "newly_reached")  # fields of a `Level`


class Shown(NamedTuple):
    """What a table shows of a comparison: the most important columns first, and below it the notes."""

    title: str
    columns: list[str]
    rows: list[list[str | Text]]
    notes: list[Text]


def comparison_table(comparison: Any, *, wide: bool = False, hint: str = "") -> Group:
    """An engine a row; below it the engines that could not run, and the answers that are wrong.

    Where it is narrow the less important columns are hidden, unless the table is to be ``wide``; see `FittingTable`.
    """
    shown = _shown(comparison)
    least = None if wide else 1 + sum(name in shown.columns for name in _essential(comparison))
    table = FittingTable(shown.columns, shown.rows, least, hint)
    return Group(line(shown.title, "italic"), *([table] if shown.rows else []), *shown.notes)


def comparison_html(comparison: Any) -> str:
    """The same for a notebook."""
    shown = _shown(comparison)
    rows = notebook.table(shown.rows, shown.columns, shown.title)
    return rows + "".join(f"\n<p>{notebook.text(note)}</p>" for note in shown.notes)


def _shown(comparison: Any) -> Shown:
    graph = comparison.graph
    sources = max((len(runs.runs) for runs in comparison.engines), default=0)
    title = f"{graph.name}: {graph_size(graph.num_vertices, graph.num_edges, graph.directed)}"
    if sources:
        title += f", {counted(sources, 'source')}"
    if searched := getattr(graph, "searched", None):  # of a distributed graph
        title += f", {searched}"
    rows = {runs.engine: _figures(runs, comparison) for runs in comparison.engines if runs.runs}
    notes = reasons_why({runs.engine: runs.unavailable for runs in comparison.engines})
    notes += [
        Text.assemble(line(runs.engine, "bold"), line(f", source {run.source}: {run.verdict}"), style="red")
        for runs in comparison.engines
        for run in runs.runs
        if not run.valid
    ]
    if comparison.interrupted:
        notes.append(Text("Interrupted: only finished runs are shown.", style="yellow"))
    names = list({name: None for row in rows.values() for name, figure in row.items() if figure})  # in order, each once
    cells = [[line(engine), *(row[name] for name in names)] for engine, row in rows.items()]
    return Shown(title, ["engine", *names], cells, notes)


def by_reason(unavailable: Mapping[str, str | None]) -> dict[str, list[str]]:
    """The engines that cannot run, by the reason why."""
    engines: dict[str, list[str]] = {}
    for engine, reason in unavailable.items():
        if reason:
            engines.setdefault(reason, []).append(engine)
    return engines


def reasons_why(unavailable: Mapping[str, str | None]) -> list[Text]:
    """A line for each reason."""
    return [
        Text.assemble(line(", ".join(names), "bold"), line(f": {reason}"), style="yellow")
        for reason, names in by_reason(unavailable).items()
    ]


def _essential(comparison: Any) -> tuple[str, ...]:
    """The columns, after the engine's name, that every terminal gets."""
    return "median ms", "range ms", f"x {comparison.baseline}", "valid"


def _figures(runs: Any, comparison: Any) -> dict[str, str | Text]:
    """What the table says of an engine, by column, the most important first; those empty for all are left out."""
    teps = runs.teps_harmonic_mean
    median_name, range_name, ratio_name, valid_name = _essential(comparison)
    return {
        median_name: number(runs.median_ms),
        range_name: f"{number(min(runs.run_ms))} - {number(max(runs.run_ms))}",
        ratio_name: number(comparison.ratio_to_baseline(runs.engine)),
        valid_name: Text("yes", style="green") if runs.valid else Text("NO", style="bold red"),
        "MTEPS": number(None if teps is None else teps / 1e6),
        "prepare ms": number(runs.prepare_ms),
        "edges to answer ms": number(median(runs.edges_ms) if runs.edges_ms else None),
        "warm-up ms": number(runs.warmup_ms),
        "reached": f"{runs.reached:,}",
        "depth": str(runs.depth),
        "run MiB": mebibytes(runs.run_bytes),
        "prepare MiB": mebibytes(runs.prepare_bytes),
    }


def levels_table(result: Any) -> Group:
    """A level a row: its distance and how many vertices are at it."""
    graph = result.graph
    title = f"{graph.name}: {result.num_reached:,} of {counted(graph.num_vertices, 'vertex', 'vertices')} reached"
    rows = [[str(distance), f"{vertices:,}"] for distance, vertices in enumerate(result.level_sizes.tolist())]
    return Group(line(title, "italic"), FittingTable(["distance", "vertices"], rows))


def trace_table(trace: Any) -> FittingTable:
    """A level a row."""
    columns = _columns(trace)
    return FittingTable(list(columns), list(zip(*columns.values(), strict=True)))


def trace_html(trace: Any) -> str:
    """The same for a notebook."""
    columns = _columns(trace)
    return notebook.table(list(zip(*columns.values(), strict=True)), list(columns), repr(trace).strip("<>"))


def _columns(trace: Any) -> dict[str, list[str]]:
    """What a table says of each level, without the direction and the time where the engine does not tell them."""
    unit, many = time_unit(max((level.milliseconds or 0 for level in trace), default=0))
    columns = {field.replace("_", " "): [f"{getattr(level, field):,}" for level in trace] for field in COUNTS}
    if any(level.direction for level in trace):
        columns["direction"] = [level.direction or "" for level in trace]
    if any(level.milliseconds is not None for level in trace):
        columns[unit] = ["" if level.milliseconds is None else number(many * level.milliseconds) for level in trace]
    return columns
