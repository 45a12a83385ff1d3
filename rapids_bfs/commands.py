"""What ``rapids-bfs`` does: a function for each command. How it ends is in `cli`."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli import INTERRUPTED, WRONG
from .errors import InputError
from .report.console import line, messages, screen, show

if TYPE_CHECKING:
    from .edges import Edges
    from .graph import Graph
    from .result import BFSResult

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="A file (.mtx .mtx.gz .parquet .arrow .feather .csv .tsv .txt .el .sg .npz), a generator (rmat:20, "
        "urand:20, grid:K, path:N, star:N, complete:N, tree:N), or a bundled graph (karate, moby, wordnet).",
        show_default=False,
    ),
]
SourceColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of a table with the edges' sources.", show_default=False)
]
TargetColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of a table with the edges' targets.", show_default=False)
]
Directed = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Take edges as they are, or in both directions. Default: as the file says, else as they are.",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite output files that exist.")]


def _show_version(asked: bool) -> None:
    if asked:
        from . import __version__

        screen.print(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Breadth-first search, side by side: every engine that this machine has, on your graph.

    Exit codes: 0 all is well, 1 an answer is wrong, 2 bad input, 130 interrupted by Ctrl-C; 70 is a fault of this
    program, whose traceback belongs in a bug report.
    """


@app.command()
def compare(
    graph: GraphArgument,
    engines: Annotated[
        str | None,
        typer.Option(metavar="A,B:ALGORITHM", help="Engines to run. Default: all, see 'info'.", show_default=False),
    ] = None,
    sources: Annotated[int, typer.Option(metavar="N", help="How many random sources.")] = 16,
    source: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Search from this vertex; repeatable.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random sources.")] = 1,
    baseline: Annotated[
        str | None, typer.Option(metavar="ENGINE", help="What ratios refer to.", show_default="cugraph, else scipy")
    ] = None,
    depth_limit: Annotated[int | None, typer.Option(metavar="D", help="Search no further.", show_default=False)] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write everything as JSON.", show_default=False)
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a row for each run as CSV.", show_default=False)
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with plots for a browser.", show_default=False)
    ] = None,
    force: Force = False,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
) -> None:
    """Run every engine from the same sources, validate every answer, and show how fast each was.

    Exit code 1 if any answer is wrong, 2 for bad input, or if none of the engines could run.

    [bold]Examples[/bold]

      rapids-bfs compare wordnet

      rapids-bfs compare rmat:20 --engines cpu,scipy --sources 64 --json rmat20.json

      rapids-bfs compare edges.parquet --source-column src --target-column dst --source 17

      rapids-bfs compare rmat:16 --html report.html
    """
    from .comparison import compare as run_comparison
    from .report.table import comparison_table

    _check_outputs(graph, force, json=json, csv=csv, html=html)
    edges = _edges(graph, directed, source_column, target_column)
    loaded = _load(graph, directed, source_column, target_column) if edges is None else edges.graph
    chosen = [_parse_id(loaded, text) for text in source] if source else sources
    comparison = _with_progress(
        lambda progress: run_comparison(
            edges or loaded,
            chosen,
            engines=engines,
            baseline=baseline,
            seed=seed,
            depth_limit=depth_limit,
            progress=progress,
        )
    )
    if comparison.interrupted or comparison.ran:
        for output, write in ((json, comparison.to_json), (csv, comparison.to_csv), (html, comparison.to_html)):
            if output:
                write(output)
    show(comparison_table(comparison))
    if comparison.interrupted:
        raise typer.Exit(INTERRUPTED)
    if not comparison.ran:
        raise InputError("none of these engines could run: 'rapids-bfs info' says what is here")
    if not comparison.valid:
        raise typer.Exit(WRONG)


@app.command()
def run(
    graph: GraphArgument,
    source: Annotated[
        list[str], typer.Option(metavar="ID", help="Where to start; several for the distance to the nearest.")
    ],
    target: Annotated[
        str | None, typer.Option(metavar="ID", help="Stop there and show the path.", show_default=False)
    ] = None,
    depth_limit: Annotated[int | None, typer.Option(metavar="D", help="Search no further.", show_default=False)] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write vertex, distance and predecessor: .parquet, .arrow, .feather, .csv or .tsv.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[str, typer.Option(metavar="ENGINE[:ALGORITHM]", help="See 'info'.")] = "auto",
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="The tree that a sequential queue builds.")
    ] = False,
    force: Force = False,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
) -> None:
    """Search from one vertex, or several, and show how many vertices each level holds.

    [bold]Examples[/bold]

      rapids-bfs run karate --source 0 --target 26

      rapids-bfs run edges.csv --source alice --out distances.parquet
    """
    from .frames import check_frame_output, save_frame
    from .report.table import levels_table
    from .search import bfs

    if out:
        check_frame_output(out, force)
    _check_outputs(graph, force, out=out)
    loaded = _load(graph, directed, source_column, target_column)
    result = bfs(
        loaded,
        [_parse_id(loaded, text) for text in source],
        target=None if target is None else _parse_id(loaded, target),
        depth_limit=depth_limit,
        engine=engine,
        deterministic=deterministic,
    )
    if out:
        save_frame(result.to_frame("arrow"), out, force=force)
    show(levels_table(result))
    if target is not None:
        show(line(_path(result, _parse_id(loaded, target))))


@app.command()
def trace(
    graph: GraphArgument,
    source: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Where to start. Default: a random vertex.", show_default=False),
    ] = None,
    engine: Annotated[str, typer.Option(metavar="ENGINE[:ALGORITHM]", help="See 'info'.")] = "auto",
    depth_limit: Annotated[int | None, typer.Option(metavar="D", help="Search no further.", show_default=False)] = None,
    check: Annotated[bool, typer.Option("--check", help="Verify the frontier after each level, slowly.")] = False,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the levels as JSON.", show_default=False)
    ] = None,
    force: Force = False,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
) -> None:
    """Show what a search does at each level: its frontier, what it reaches, and how long it takes.

    [bold]Examples[/bold]

      rapids-bfs trace rmat:16 --engine cupy:two-kernel

      rapids-bfs trace karate --source 0 --engine cpu --json levels.json
    """
    from .comparison import sample_sources, write_json
    from .search import bfs

    _check_outputs(graph, force, json=json)
    loaded = _load(graph, directed, source_column, target_column)
    ids = [_parse_id(loaded, text) for text in source or ()] or loaded.ids_of(sample_sources(loaded, 1)).tolist()
    bfs(loaded, ids, engine=engine, depth_limit=depth_limit)  # compiles what it needs
    result = bfs(loaded, ids, engine=engine, depth_limit=depth_limit, trace=True, check=check)
    assert result.trace is not None
    if json:
        levels = result.trace.to_records()
        write_json({"graph": loaded.name, "engine": engine, "sources": ids, "levels": levels}, json)
    show(line(f"{loaded.name}, {engine}, from {', '.join(map(str, ids))}"))
    show(result.trace.__rich__())


@app.command()
def validate(
    graph: GraphArgument,
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A file as 'run --out' writes it.")],
    depth_limit: Annotated[
        int | None, typer.Option(metavar="D", help="The search stopped at this distance.", show_default=False)
    ] = None,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
) -> None:
    """Check distances and predecessors by Graph500's rules. Exit code 1 if one is broken.

    [bold]Examples[/bold]

      rapids-bfs run rmat:16 --source 5 --out result.parquet

      rapids-bfs validate rmat:16 result.parquet
    """
    from .frames import read_frame
    from .result import from_frame
    from .search import checked_depth_limit
    from .validation import validate as check

    loaded = _load(graph, directed, source_column, target_column)
    answer = from_frame(loaded, read_frame(result, loaded), str(result), checked_depth_limit(depth_limit))
    verdict = check(loaded, answer)
    show(line(str(verdict), "green" if verdict else "red"))
    if not verdict:
        raise typer.Exit(WRONG)


@app.command()
def convert(
    graph: GraphArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Its suffix gives the format.")],
    simple: Annotated[bool, typer.Option("--simple", help="Drop self-loops and duplicate edges.")] = False,
    force: Force = False,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
) -> None:
    """Read a graph and write it in another format.

    [bold]Examples[/bold]

      rapids-bfs convert roads.mtx.gz roads.parquet

      rapids-bfs convert rmat:20 rmat20.sg
    """
    from .adapters.files import check_graph_output

    check_graph_output(out, force)
    loaded = _load(graph, directed, source_column, target_column)
    if simple:
        loaded = loaded.simple
    loaded.save(out, force=force)
    show(line(f"{out}: {loaded.num_vertices:,} vertices, {loaded.num_edges:,} edges"))


@app.command()
def graph500(
    scale: Annotated[int, typer.Option(metavar="S", help="2^S vertices.")],
    edge_factor: Annotated[int, typer.Option(metavar="F", help="Edges drawn per vertex.")] = 16,
    roots: Annotated[int, typer.Option(metavar="N", help="How many random roots.")] = 64,
    engine: Annotated[str, typer.Option(metavar="ENGINE[:ALGORITHM]", help="See 'info'.")] = "auto",
    seed: Annotated[int, typer.Option(help="Of the graph and the roots.")] = 2,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every root's times as JSON.", show_default=False)
    ] = None,
    force: Force = False,
) -> None:
    """Run the Graph500 benchmark: generate, build, search, validate, and print the official report.

    Exit code 1 if an answer is wrong, with the rule that it breaks.

    [bold]Examples[/bold]

      rapids-bfs graph500 --scale 20

      rapids-bfs graph500 --scale 26 --engine cupy --json scale26.json
    """
    from .comparison import write_json
    from .graph500 import graph500 as run_benchmark

    _check_outputs(None, force, json=json)
    report = _with_progress(
        lambda progress: run_benchmark(
            scale, edge_factor=edge_factor, roots=roots, engine=engine, seed=seed, progress=progress
        )
    )
    if json:
        write_json(report.to_dict(), json)
    print(report)


@app.command()
def info() -> None:
    """Show the engines, what each needs that is missing here, the machine, and the versions.

    [bold]Example[/bold]

      rapids-bfs info
    """
    from .report.table import info_tables

    show(info_tables())


def _check_outputs(graph: str | None, force: bool, **outputs: Path | None) -> None:
    """Raise `InputError` before any work unless each of these can be written, and none is another or the graph."""
    from .adapters.files import check_output

    taken = {} if graph is None else {"the graph": Path(graph)}
    for option, path in outputs.items():
        if path is None:
            continue
        check_output(path, force)
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"{path} is not writable")
        for other, its_path in taken.items():
            if _same_file(path, its_path):
                raise InputError(f"--{option} {path} is the file of {other}: give each its own")
        taken[f"--{option}"] = path


def _same_file(one: Path, other: Path) -> bool:
    both_exist = one.exists() and other.exists()
    return os.path.samefile(one, other) if both_exist else os.path.realpath(one) == os.path.realpath(other)


def _load(graph: str, directed: bool | None, source_column: str | None, target_column: str | None) -> Graph:
    from .adapters import as_graph

    with messages.status(line(f"reading {graph}")):
        return as_graph(graph, directed=directed, source=source_column, target=target_column)


def _edges(graph: str, directed: bool | None, source_column: str | None, target_column: str | None) -> Edges | None:
    """The edges of a file, read by cuDF; None without cuDF, or if it cannot read such a file."""
    from .adapters.cudf_files import read_edges
    from .edges import Edges

    with messages.status(line(f"reading {graph}")):
        read = read_edges(graph, source_column, target_column)
        if read is None:
            return None
        frame, options = read
        return Edges.of(frame, **options | ({} if directed is None else {"directed": directed}))


def _parse_id(graph: Graph, text: str) -> Hashable:
    """The vertex id written as ``text``: the string itself if it is an id, else the number that it spells."""
    if graph.has_vertex(text):
        return text
    return int(text) if re.fullmatch("-?[0-9]{1,19}", text) else text


def _path(result: BFSResult, target: Hashable) -> str:
    """One line about the path to the vertex with this id."""
    distance = result.distance_to(target)
    if distance < 0:
        return f"{target} was not reached"
    return f"{target} is at distance {distance}: {' - '.join(map(str, result.path_to(target)))}"


def _with_progress(work: Any) -> Any:
    """Call ``work(progress)`` under a progress bar on standard error."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=messages, transient=True, disable=not messages.is_terminal) as bar:
        task = bar.add_task("", total=None)
        return work(lambda done, total, doing: bar.update(task, completed=done, total=total, description=doing))
