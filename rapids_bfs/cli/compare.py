"""The command ``rapids-bfs compare``, of one graph or of a suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from .._core.formatting import counted, duration
from ..errors import InputError
from ..report.console import SPINNER, line, messages, show
from .app import Command, app
from .options import (
    DepthLimit,
    Directed,
    Force,
    Gpus,
    JsonFile,
    NoHeader,
    OptionalGraph,
    SourceColumn,
    TargetColumn,
    output_file,
)
from .streams import (
    GraphInput,
    check_outputs,
    devices_of,
    engines_named,
    parsed_id,
    suites_named,
    table_console,
    with_progress,
    write_output,
)

HINT = " (--wide shows)"

SuiteName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Compare on every graph of gap, dimacs10 or synthetic, or of a TOML file of your own.",
        autocompletion=suites_named,
    ),
]
Scales = Annotated[
    list[int] | None,
    typer.Option(metavar="S", help="Generate the suite's graphs with 2^S vertices; may be repeated."),
]
Keep = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep the results of a suite there, and resume from them.",
        show_default="in the cache",
    ),
]
Anew = Annotated[bool, typer.Option("--anew", help="Measure a suite again, instead of resuming.")]
Engines = Annotated[
    str | None,
    typer.Option(
        metavar="A,B:ALGORITHM",
        help="Engines to run. Default: all; 'rapids-bfs info' lists them.",
        autocompletion=engines_named,
    ),
]
NumSources = Annotated[int | None, typer.Option(metavar="N", help="Number of random sources.", show_default="16")]
Sources = Annotated[list[str] | None, typer.Option(metavar="ID", help="Search from this vertex; may be repeated.")]
Seed = Annotated[int | None, typer.Option(help="Seed of the random sources.", show_default="1")]
BaselineName = Annotated[
    str | None,
    typer.Option(
        metavar="ENGINE",
        help="Engine to compare the others with.",
        show_default="cugraph, else scipy",
        autocompletion=engines_named,
    ),
]
CsvFile = Annotated[Path | None, output_file("Write a row for each run, or each graph of a suite, as CSV.")]
MarkdownFile = Annotated[Path | None, output_file("Write the tables as Markdown.")]
LatexFile = Annotated[Path | None, output_file("Write the tables as LaTeX.")]
HtmlFile = Annotated[Path | None, output_file("Write a page with plots for a browser.")]
Wide = Annotated[bool, typer.Option("--wide", help="Show every column, below each other in a narrow terminal.")]


@app.command(cls=Command)
def compare(
    graph: OptionalGraph = None,
    suite: SuiteName = None,
    scale: Scales = None,
    keep: Keep = None,
    anew: Anew = False,
    engines: Engines = None,
    num_sources: NumSources = None,
    source: Sources = None,
    seed: Seed = None,
    baseline: BaselineName = None,
    depth_limit: DepthLimit = None,
    gpus: Gpus = None,
    json: JsonFile = None,
    csv: CsvFile = None,
    markdown: MarkdownFile = None,
    latex: LatexFile = None,
    html: HtmlFile = None,
    wide: Wide = False,
    force: Force = False,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    no_header: NoHeader = False,
) -> None:
    """Run every engine from the same sources, validate every answer, and show how fast each was.

    With --suite on many graphs, as in a paper: results are kept, and the
    same command resumes.

    Exit code 1 if any answer is wrong, 2 for bad input, if none of the engines
    could run, or if a graph of a suite failed.

    Examples

      rapids-bfs compare moby

      rapids-bfs compare rmat:20 --engines cpu,scipy --json rmat20.json

      rapids-bfs compare edges.csv --source-column src --target-column dst

      rapids-bfs compare rmat:16 --html report.html

      rapids-bfs compare rmat:28 --gpus 4

      rapids-bfs compare --suite synthetic --scale 14 --markdown table.md
    """
    with messages.status(line("starting"), spinner=SPINNER):
        from ..comparison import runner  # noqa: F401  # imports what takes a moment

    asked = {"num_sources": num_sources, "engines": engines, "baseline": baseline, "seed": seed}
    asked = {name: value for name, value in (asked | {"depth_limit": depth_limit}).items() if value is not None}
    outputs = {"json": json, "csv": csv, "markdown": markdown, "latex": latex, "html": html}
    one = {"source": source, "gpus": gpus, "source-column": source_column, "target-column": target_column}
    _check_kind(
        graph,
        suite,
        one | {"directed": directed, "no-header": no_header or None},
        {"scale": scale, "keep": keep, "anew": anew or None},
    )
    if suite is not None:
        _compare_suite(suite, scale, keep, anew, asked, outputs, wide, force)
        return
    given = GraphInput(str(graph), directed, source_column, target_column, not no_header, devices_of(gpus))
    _compare_graph(given, source, asked, outputs, wide, force)


def _check_kind(graph: str | None, suite: str | None, of_graph: dict[str, Any], of_suite: dict[str, Any]) -> None:
    """Raise `InputError` unless there is a graph or a suite, with options that are for it."""
    if (graph is None) == (suite is None):
        missing = "give a graph, as in 'rapids-bfs compare rmat:16', or a suite with --suite"
        raise InputError(missing if graph is None else f"give either the graph {graph} or --suite {suite}, not both")
    kind, others = ("a suite", of_graph) if suite is not None else ("one graph", of_suite)
    if given := [f"--{name}" for name, value in others.items() if value is not None]:
        raise InputError(
            f"{', '.join(given)} cannot be used with {kind}: leave {'it' if len(given) == 1 else 'them'} out"
        )


def _compare_graph(
    given: GraphInput,
    source: list[str] | None,
    asked: dict[str, Any],
    outputs: dict[str, Path | None],
    wide: bool,
    force: bool,
) -> None:
    """Compare on one graph."""
    from ..comparison.runner import compare as run_comparison
    from ..comparison.runner import planned
    from ..report.documents import in_terminal
    from ..report.table import comparison_tables

    given.check_outputs(force, **outputs)
    planned(source, **asked)
    edges = given.edges()
    loaded = given.load() if edges is None else edges.graph
    sources = [parsed_id(loaded, text) for text in source] if source else None
    comparison = with_progress(
        lambda progress: run_comparison(edges or loaded, sources=sources, progress=progress, **asked)
    )
    _finish(
        comparison,
        outputs,
        in_terminal(comparison_tables(comparison.to_dict()), wide=wide, hint=HINT),
        "none of these engines could run: 'rapids-bfs info' shows what each needs",
    )


def _compare_suite(
    suite: str,
    scale: list[int] | None,
    keep: Path | None,
    anew: bool,
    asked: dict[str, Any],
    outputs: dict[str, Path | None],
    wide: bool,
    force: bool,
) -> None:
    """Compare on the graphs of a suite; progress goes to standard error."""
    from ..comparison.suite_runner import compare_suite
    from ..report.documents import in_terminal
    from ..report.suite import suite_tables

    check_outputs({} if keep is None else {"--keep": keep}, force, **outputs)
    found = with_progress(
        lambda progress: compare_suite(
            suite,
            scale=scale or None,
            keep=keep,
            anew=anew,
            progress=progress,
            began=_say_kept,
            measured=_line_by_line(),
            **asked,
        ),
        remaining=True,
    )
    wide = wide or not table_console(*outputs.values()).is_terminal
    _finish(
        found,
        outputs,
        in_terminal(suite_tables(found.to_dict()), wide=wide, hint=HINT),
        f"none of the graphs of {found.suite} could be compared",
    )
    if found.failed:
        raise InputError(f"{len(found.failed)} of {counted(len(found.rows), 'graph')} failed, see above")


def _finish(compared: Any, outputs: dict[str, Path | None], table: Any, nothing: str) -> None:
    """Write and show the comparison; raise the exception with which the command ends."""
    for name, output in outputs.items():
        if output and (compared.interrupted or compared.ran):
            write_output(output, getattr(compared, f"to_{name}"))
    show(table, out=table_console(*outputs.values()))
    if compared.interrupted:
        raise typer.Abort
    if not compared.ran:
        raise InputError(nothing)
    if not compared.valid:
        raise typer.Exit(1)


def _say_kept(path: Path, measured: int, total: int) -> None:
    """Say in which file measurements are kept, and for how many graphs it has them."""
    there = f"; {measured} of {counted(total, 'graph')} are there already" if measured else ""
    messages.print(line(f"kept in {path}{there}"), soft_wrap=True)


def _line_by_line() -> Callable[[dict[str, Any], int, int], None]:
    """Prints a line for each graph, with the time that is left, where there is no terminal for a bar."""
    begin = monotonic()

    def measured(row: dict[str, Any], done: int, total: int) -> None:
        if not messages.is_terminal:
            left = (monotonic() - begin) / done * (total - done)
            after = f", about {duration(1e3 * left)} left" if total > done else ""
            what = f"failed: {row['failed']}" if row["failed"] else duration(1e3 * row["seconds"])
            messages.print(line(f"{done} of {total}: {row['graph']}, {what}{after}"), soft_wrap=True)

    return measured
