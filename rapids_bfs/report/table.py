"""Tables of one search and of a comparison: what `Trace.to_columns` and `Comparison.to_dict` return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from rich.console import Group
from rich.text import Text

from .._core.formatting import counted, graph_size, html_table, mebibytes, number
from .console import NOTE, FittingTable, line
from .documents import Section, Tables
from .drawing import Levels, Record, level_times

SIMULATED = "Numba's CUDA simulator is on, and its times mean nothing"
COUNTS = ("level", "frontier_vertices", "frontier_edges", "newly_reached")  # fields of a `Level`


def comparison_tables(record: Record) -> Tables:
    """An engine a row; below it the engines that could not run, and the answers that are wrong."""
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
    if not sources:
        return Tables(title, [], notes)
    ran = {engine["engine"]: _figures(engine, record["baseline"]) for engine in engines if engine["runs"]}
    names = list({name: None for row in ran.values() for name, figure in row.items() if figure})  # in order, each once
    rows = [[line(engine), *(row[name] for name in names)] for engine, row in ran.items()]
    return Tables("", [Section(title, ["engine", *names], rows, least=2 + names.index("valid"))], notes)


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
    return {
        "median ms": number(engine["median_ms"]),
        "range ms": f"{number(min(engine['run_ms']))} - {number(max(engine['run_ms']))}",
        f"x {baseline}": number(engine["ratio_to_baseline"]),
        "valid": Text("yes", style="green") if engine["valid"] else Text("NO", style="bold red"),
        "MTEPS": number(engine["teps_harmonic_mean"] / 1e6),
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
    """A level a row, without the direction and the time where the engine does not report them."""
    columns = {field.replace("_", " "): [f"{count:,}" for count in levels[field]] for field in COUNTS}
    if any(levels["direction"]):
        columns["direction"] = [direction or "" for direction in levels["direction"]]
    if timed := level_times(levels):
        unit, times = timed
        known = zip(levels["milliseconds"], times, strict=True)
        columns[unit] = ["" if ms is None else number(time) for ms, time in known]
    return FittingTable(list(columns), list(zip(*columns.values(), strict=True)))


def trace_html(levels: Levels, caption: str) -> str:
    """The same for a notebook."""
    table = trace_table(levels)
    return html_table(table.rows, table.columns, caption)
