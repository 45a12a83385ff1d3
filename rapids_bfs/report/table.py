"""Tables for a terminal."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from .. import machine
from ..catalog import BUNDLED
from ..engines import registered

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..result import BFSResult


def comparison_table(comparison: Comparison) -> Group:
    """An engine a row; below it the engines that could not run, and the answers that are wrong."""
    graph = comparison.graph
    kind = "directed" if graph.directed else "undirected"
    sources = max((len(runs.runs) for runs in comparison.engines), default=0)
    title = f"{graph.name}: {graph.num_vertices:,} vertices, {graph.num_edges:,} {kind} edges, {sources} sources"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("engine", "prepare ms", "warm-up ms", "median ms", "min", "max", "MTEPS", "reached", "depth"):
        table.add_column(column, justify="left" if column == "engine" else "right", no_wrap=True)
    table.add_column("valid")
    table.add_column(f"x {comparison.baseline}" if comparison.baseline else "", justify="right", no_wrap=True)

    notes = []
    for runs in comparison.engines:
        if runs.unavailable:
            notes.append(Text.assemble((runs.engine, "bold"), f": {runs.unavailable}", style="yellow"))
        notes += [
            Text.assemble((runs.engine, "bold"), f", source {run.source}: {run.verdict}", style="red")
            for run in runs.runs
            if not run.valid
        ]
        if not runs.runs:
            continue
        teps, ratio = runs.teps_harmonic_mean, comparison.ratio_to_baseline(runs.engine)
        table.add_row(
            runs.engine,
            number(runs.prepare_ms),
            number(runs.warmup_ms),
            number(runs.median_ms),
            number(min(runs.run_ms)),
            number(max(runs.run_ms)),
            number(None if teps is None else teps / 1e6),
            f"{runs.reached:,}",
            str(runs.depth),
            Text("yes", style="green") if runs.valid else Text("NO", style="bold red"),
            number(ratio),
        )
    if comparison.interrupted:
        notes.append(Text("Interrupted: only finished runs are shown.", style="yellow"))
    return Group(Text(title, style="italic"), *([table] if table.rows else []), *notes)


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


def as_text(renderable: Any) -> str:
    """What rich would print, without colours."""
    width = shutil.get_terminal_size((140, 24)).columns
    console = Console(width=max(width, 100), color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(renderable)
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
    return Group(Text(title, style="italic"), table)


def info_tables() -> Group:
    """The engines, with what is missing; the machine; the versions; the bundled graphs."""
    engines = _plain_table("engine", "algorithms, the default first", "here")
    for name, engine in registered().items():
        reason = engine.unavailable()
        here = Text("yes", style="green") if reason is None else Text(reason, style="yellow")
        engines.add_row(name, ", ".join(engine.algorithms), here)
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
        table.add_column(column)
    return table
