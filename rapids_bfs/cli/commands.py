"""The commands of ``rapids-bfs``, a function for each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._core.arguments import quoted
from .._core.formatting import graph_size, number
from ..errors import shortened
from ..report.console import NOTE, line, show
from .app import Command
from .app import app as app
from .compare import compare as compare  # the first of the commands
from .options import (
    DepthLimit,
    Directed,
    EngineName,
    Force,
    Gpus,
    GraphArgument,
    JsonFile,
    NoHeader,
    SourceColumn,
    TargetColumn,
    output_file,
)
from .streams import (
    STANDARD,
    GraphInput,
    check_outputs,
    datasets_named,
    devices_of,
    output_path,
    parsed_id,
    parts_named,
    path_line,
    table_console,
    with_progress,
    write_output,
)


@app.command(cls=Command)
def run(
    graph: GraphArgument,
    source: Annotated[
        list[str], typer.Option(metavar="ID", help="Vertex to start from; repeat it to search from several.")
    ],
    target: Annotated[str | None, typer.Option(metavar="ID", help="Stop there and show the path.")] = None,
    depth_limit: DepthLimit = None,
    out: Annotated[
        Path | None,
        output_file(
            "Write vertex, distance and predecessor: .parquet, .arrow, .feather, .csv or .tsv; - for CSV on standard "
            "output."
        ),
    ] = None,
    engine: EngineName = "auto",
    gpus: Gpus = None,
    deterministic: Annotated[
        bool,
        typer.Option("--deterministic", help="Return the tree of a sequential search, which is NetworkX's."),
    ] = False,
    force: Force = False,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    no_header: NoHeader = False,
) -> None:
    """Search from one vertex, or several, and show how many vertices each level holds.

    A file written by --out can be checked by 'rapids-bfs validate'.

    Examples

      rapids-bfs run wordnet --source dog.n.01 --target music.n.01

      rapids-bfs run edges.csv --source alice --out distances.parquet
    """
    from ..algorithms.bfs import bfs, checked_depth_limit
    from ..engines import require
    from ..report.table import levels_table

    given = GraphInput(graph, directed, source_column, target_column, not no_header, devices_of(gpus))
    given.check_outputs(force, out=out)
    if out and out != STANDARD:
        from ..adapters.result_files import check_table_output  # late: it imports Arrow

        check_table_output(out, force)
    require(engine, deterministic)
    checked_depth_limit(depth_limit)
    loaded = given.load()
    result = bfs(
        loaded,
        [parsed_id(loaded, text) for text in source],
        target=None if target is None else parsed_id(loaded, target),
        depth_limit=depth_limit,
        engine=engine,
        deterministic=deterministic,
    )
    if out:
        from ..adapters.result_files import save_table

        frame = result.to_frame("arrow")
        write_output(out, lambda path: save_table(frame, path, force=force), ".csv")
    show(levels_table(loaded.name, loaded.num_vertices, result.level_sizes.tolist()), out=table_console(out))
    if target is not None:
        show(line(path_line(result, parsed_id(loaded, target))), out=table_console(out))


@app.command(cls=Command)
def trace(
    graph: GraphArgument,
    source: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Vertex to start from. Default: a random one.")
    ] = None,
    engine: EngineName = "auto",
    depth_limit: DepthLimit = None,
    check: Annotated[
        bool, typer.Option("--check", help="Verify the frontier after each level, which is slow.")
    ] = False,
    json: JsonFile = None,
    force: Force = False,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    no_header: NoHeader = False,
) -> None:
    """Show what a search does at each level: its frontier, what it reaches, and how long it takes.

    Exit code 1 if --check finds a wrong level.

    Examples

      rapids-bfs trace rmat:16 --engine cupy:two-kernel

      rapids-bfs trace karate --source 0 --engine cpu --json levels.json
    """
    from ..algorithms.bfs import bfs, checked_depth_limit
    from ..comparison.records import write_json
    from ..comparison.runner import sample_sources
    from ..engines import require

    given = GraphInput(graph, directed, source_column, target_column, not no_header)
    given.check_outputs(force, json=json)
    require(engine)
    checked_depth_limit(depth_limit)
    loaded = given.load()
    ids = [parsed_id(loaded, text) for text in source or ()] or loaded.ids_of(sample_sources(loaded, 1)).tolist()
    bfs(loaded, ids, engine=engine, depth_limit=depth_limit)  # compiles the kernels
    result = bfs(loaded, ids, engine=engine, depth_limit=depth_limit, trace=True, check=check)
    assert result.trace is not None
    if json:
        levels = result.trace.to_records()
        record = {"graph": loaded.name, "engine": result.trace.engine, "sources": ids, "levels": levels}
        write_output(json, lambda path: write_json(record, path))
    show(line(f"{loaded.name}, {result.trace.engine}, from {', '.join(map(str, ids))}"), out=table_console(json))
    show(result.trace.__rich__(), out=table_console(json))


@app.command(cls=Command)
def validate(
    graph: GraphArgument,
    result: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT", help="A file as 'run --out' writes it, or an output NAME-BFS or NAME-WCC of LDBC's."
        ),
    ],
    depth_limit: Annotated[int | None, typer.Option(metavar="D", help="The search stopped at this distance.")] = None,
    target: Annotated[str | None, typer.Option(metavar="ID", help="The search stopped at this vertex.")] = None,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    no_header: NoHeader = False,
) -> None:
    """Check distances and predecessors by Graph500's rules.

    Exit code 1 if a rule is broken.

    Examples

      rapids-bfs run rmat:16 --source 5 --out result.parquet

      rapids-bfs validate rmat:16 result.parquet

      rapids-bfs validate datagen-7_5-fb.e datagen-7_5-fb-WCC
    """
    from ..adapters import RESULT_COLUMNS
    from ..algorithms.bfs import checked_depth_limit
    from ..algorithms.validate import verdict_of_file

    limit = checked_depth_limit(depth_limit)
    loaded = GraphInput(graph, directed, source_column, target_column, not no_header).load()
    verdict, unread = verdict_of_file(loaded, result, limit, None if target is None else parsed_id(loaded, target))
    show(line(str(verdict), "green" if verdict else "red"))
    if verdict.rule == "edge-reach" and limit is None and target is None:
        show(line("if the search stopped early, pass its --target or --depth-limit", NOTE))
    if unread:
        names = shortened(", ".join(map(quoted, unread)), 200)
        show(line(f"not checked: {names}; a result has {', '.join(RESULT_COLUMNS)}", NOTE))
    if not verdict:
        raise typer.Exit(1)


@app.command(cls=Command)
def convert(
    graph: GraphArgument,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="Its suffix gives the format; - for an edge list on standard output.",
            parser=output_path,
        ),
    ],
    simple: Annotated[bool, typer.Option("--simple", help="Drop self-loops and duplicate edges.")] = False,
    force: Force = False,
    directed: Directed = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    no_header: NoHeader = False,
) -> None:
    """Read a graph and write it in another format.

    Weights are ignored, and not written.

    Examples

      rapids-bfs convert roads.mtx.gz roads.parquet

      rapids-bfs convert rmat:20 rmat20.sg
    """
    from ..adapters.files import check_graph_output
    from ..distributed.loading import names_random_graph
    from ..generators import leaves_isolated

    given = GraphInput(graph, directed, source_column, target_column, not no_header)
    check_outputs({}, force, out=out)
    if out != STANDARD:
        check_graph_output(out, force, isolated=graph if names_random_graph(graph) and leaves_isolated(graph) else None)
    loaded = given.load()
    if simple:
        loaded = loaded.simple
    write_output(out, lambda path: loaded.save(path, force=force), ".txt")
    where = "standard output" if out == STANDARD else out
    show(line(f"{where}: {graph_size(loaded.num_vertices, loaded.num_edges)}"), out=table_console(out))


@app.command(cls=Command)
def graph500(
    scale: Annotated[int, typer.Option(metavar="S", help="2^S vertices.")],
    edge_factor: Annotated[int, typer.Option(metavar="F", help="Edges drawn per vertex.")] = 16,
    roots: Annotated[int, typer.Option(metavar="N", help="Number of random roots.")] = 64,
    engine: EngineName = "auto",
    gpus: Gpus = None,
    seed: Annotated[int, typer.Option(help="Seed of the graph and the roots.")] = 2,
    json: JsonFile = None,
    force: Force = False,
) -> None:
    """Run the Graph500 benchmark: generate, build, search, validate, and print the official report.

    Exit code 1 if an answer is wrong, with the rule that it breaks.

    Examples

      rapids-bfs graph500 --scale 20

      rapids-bfs graph500 --scale 26 --engine cupy --json scale26.json

      rapids-bfs graph500 --scale 30 --gpus 4
    """
    from ..comparison.graph500 import graph500 as run_benchmark
    from ..comparison.records import write_json

    check_outputs({}, force, json=json)
    devices = devices_of(gpus)
    report = with_progress(
        lambda progress: run_benchmark(
            scale, edge_factor=edge_factor, roots=roots, engine=engine, seed=seed, devices=devices, progress=progress
        )
    )
    if json:
        write_output(json, lambda path: write_json(report.to_dict(), path))
    print(report, file=table_console(json).file)


@app.command(cls=Command)
def warmup(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Compile this part alone; repeatable: bfs, validate, shortest_path, shortest_path_dag, "
            "neighborhoods, filter, connected_components, eccentricity, betweenness, bfs_batch, "
            "distributed, generators, networkx (all but validate, distributed and generators).",
            autocompletion=parts_named,
        ),
    ] = None,
) -> None:
    """Precompile CPU kernels into your cache folder.

    They are those of the CPU engine, distributed searches, the generators and the NetworkX backend. GPU kernels are
    compiled by the first search on a GPU. All compile in about 110 s on two cores, a single part in less. Kernels in
    the cache are not compiled again.

    Examples

      rapids-bfs warmup

      rapids-bfs warmup --only bfs
    """
    from ..warmup import folder, keeps_code
    from ..warmup import warmup as compile_ahead

    total = 0.0
    for name, seconds in compile_ahead(only or ()):
        show(line(f"{number(seconds):>6} s  {name}"))
        total += seconds
    show(line(f"{number(total):>6} s  in all"))
    if keeps_code():  # else a warning has been shown
        show(line(f"kept in {folder()}"))


@app.command(cls=Command)
def info() -> None:
    """Show the engines and what's missing to run them, the machine, and the versions."""
    from .info import info_tables

    show(info_tables())


@app.command(cls=Command)
def datasets(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A collection, the beginning of names, or one name.", autocompletion=datasets_named
        ),
    ] = "",
) -> None:
    """List the collections of real graphs that are known by name, or the graphs of one and which are on disk.

    Vertices and edges are as the publisher counts them: SuiteSparse counts an undirected edge twice.

    Of one graph its address, terms, citation and file are shown.

    Examples

      rapids-bfs datasets snap

      rapids-bfs datasets gap:road
    """
    from .info import datasets_table

    show(datasets_table(name))
