"""Tables for a terminal."""

from __future__ import annotations

import shutil
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .. import machine
from ..catalog import BUNDLED
from ..engines import registered
from .console import MOST_COLUMNS, console, line

if TYPE_CHECKING:
    from ..comparison import Comparison, EngineRuns
    from ..result import BFSResult


def comparison_table(comparison: Comparison) -> Group:
    """An engine a row; below it the engines that could not run, and the answers that are wrong."""
    graph = comparison.graph
    kind = "directed" if graph.directed else "undirected"
    sources = max((len(runs.runs) for runs in comparison.engines), default=0)
    title = f"{graph.name}: {graph.num_vertices:,} vertices, {graph.num_edges:,} {kind} edges, {sources} sources"
    notes = []
    rows = {}
    for runs in comparison.engines:
        if runs.unavailable:
            notes.append(_note(runs.engine, f": {runs.unavailable}", "yellow"))
        notes += [
            _note(runs.engine, f", source {run.source}: {run.verdict}", "red") for run in runs.runs if not run.valid
        ]
        if runs.runs:
            rows[runs.engine] = _figures(runs, comparison)
    if comparison.interrupted:
        notes.append(Text("Interrupted: only finished runs are shown.", style="yellow"))

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("engine", no_wrap=True)
    shown = {name: None for row in rows.values() for name, figure in row.items() if figure}  # in order, each once
    for name in shown:
        table.add_column(line(name), justify="left" if name == "valid" else "right", no_wrap=True)
    for engine, row in rows.items():
        table.add_row(line(engine), *(row[name] for name in shown))
    return Group(line(title, "italic"), *([table] if rows else []), *notes)


def _note(engine: str, text: str, style: str) -> Text:
    return Text.assemble(line(engine, "bold"), line(text), style=style)


def _figures(runs: EngineRuns, comparison: Comparison) -> dict[str, str | Text]:
    """What the table says of an engine, by column; columns that are empty for all are left out."""
    teps = runs.teps_harmonic_mean
    return {
        "prepare ms": number(runs.prepare_ms),
        "prepare MiB": mebibytes(runs.prepare_bytes),
        "warm-up ms": number(runs.warmup_ms),
        "edges to answer ms": number(median(runs.edges_ms) if runs.edges_ms else None),
        "median ms": number(runs.median_ms),
        "min": number(min(runs.run_ms)),
        "max": number(max(runs.run_ms)),
        "run MiB": mebibytes(runs.run_bytes),
        "MTEPS": number(None if teps is None else teps / 1e6),
        "reached": f"{runs.reached:,}",
        "depth": str(runs.depth),
        "valid": Text("yes", style="green") if runs.valid else Text("NO", style="bold red"),
        f"x {comparison.baseline}": number(comparison.ratio_to_baseline(runs.engine)),
    }


def mebibytes(count: int | None) -> str:
    """Bytes in MiB."""
    return "" if count is None else number(count / 2**20)


def number(value: float | None) -> str:
    """Three digits, or all before the point."""
    if value is None:
        return ""
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{decimals}f}"


def duration(ms: float) -> str:
    """A time given in milliseconds, in the unit that suits it: three digits."""
    unit, many = time_unit(ms)
    return f"{number(many * ms)} {unit}"


def time_unit(ms: float) -> tuple[str, float]:
    """The unit that suits a time, and how many of it a millisecond is."""
    return ("s", 1e-3) if ms >= 1e3 else ("ms", 1.0) if ms >= 1 else ("µs", 1e3)


def as_text(group: Group) -> str:
    """What rich would print, without colours; wider than the terminal if a table would lose letters."""
    plain = console(width=MOST_COLUMNS, color_system=None, force_terminal=False)
    tables = [plain.measure(each).maximum for each in group.renderables if isinstance(each, Table)]
    plain.width = max(shutil.get_terminal_size((140, 24)).columns, 100, *tables)
    with plain.capture() as capture:
        plain.print(group)
    return capture.get()


def levels_table(result: BFSResult) -> Group:
    """A level a row: its distance and how many vertices are at it."""
    graph = result.graph
    title = f"{graph.name}: {result.num_reached:,} of {graph.num_vertices:,} vertices reached"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("distance", justify="right")
    table.add_column("vertices", justify="right")
    for distance, vertices in enumerate(np.bincount(result.distances[result.distances >= 0]).tolist()):
        table.add_row(str(distance), f"{vertices:,}")
    return Group(line(title, "italic"), table)


def info_tables() -> Group:
    """The engines, with what is missing; the machine; the versions; the bundled graphs."""
    engines = _plain_table("engine", "algorithms, the default first", "here")
    for name, engine in registered().items():
        reason = engine.unavailable()
        here = Text("yes", style="green") if reason is None else line(reason, "yellow")
        engines.add_row(line(name), line(", ".join(engine.algorithms)), here)
    described = machine.describe()
    about = _plain_table("machine", "")
    about.add_row("system", described["system"])
    about.add_row("processor", described["processor"])
    about.add_row("cores", str(described["cores"]))
    about.add_row("memory", f"{described['memory_bytes'] / 2**30:.1f} GiB")
    about.add_row("CUDA devices", ", ".join(described["cuda_devices"]) or Text("none", style="yellow"))
    packages = _plain_table("package", "version")
    for package, version in machine.versions().items():
        packages.add_row(package, version)
    graphs = _plain_table("bundled graph", "")
    for name, (_, description) in BUNDLED.items():
        graphs.add_row(name, description)
    return Group(engines, about, packages, graphs)


def _plain_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
