"""The arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .streams import engines_named, graphs_named, output_path

GRAPH = typer.Argument(
    metavar="GRAPH",
    help="A file (.mtx .parquet .arrow .feather .csv .tsv .txt .el .sg .npz .gr .graph .e .graphml"
    " .gexf; text also as .gz .bz2 .zst), - for standard input, a generator (rmat:20, urand:20, rgg:20, "
    "delaunay:20, road:20, web:20, smallworld:20, grid:K, grid3d:K, path:N, star:N, complete:N, tree:N), a bundled "
    "graph (karate, moby, wordnet), or a dataset (gap:road; see 'rapids-bfs datasets'). Matrix Market counts "
    "from 1: its row 1 is vertex 0. Weights are ignored.",
    autocompletion=graphs_named,
)
GraphArgument = Annotated[str, GRAPH]
OptionalGraph = Annotated[str | None, GRAPH]
SourceColumn = Annotated[str | None, typer.Option(metavar="NAME", help="Column that holds the edges' sources.")]
TargetColumn = Annotated[str | None, typer.Option(metavar="NAME", help="Column that holds the edges' targets.")]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first line of a CSV or TSV is an edge; its columns are named 0, 1, ..."),
]
Directed = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Follow edges from source to target, or both ways. Default: the file's setting, else directed.",
    ),
]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE[:ALGORITHM]",
        help="Engine to run; 'rapids-bfs info' lists them.",
        autocompletion=engines_named,
    ),
]
Gpus = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Distribute the graph over N GPUs, over 'all', or with 'auto' over as few as hold the graph; 'cpu:N' "
        "makes N partitions in the host's memory.",
    ),
]
DepthLimit = Annotated[
    int | None, typer.Option("--depth-limit", metavar="D", help="Search no further than this distance.")
]


def output_file(help: str) -> Any:
    """The option of a file that a command writes."""
    return typer.Option(metavar="FILE", help=help, parser=output_path)


JsonFile = Annotated[Path | None, output_file("Write everything as JSON; - for standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace output files that exist.")]
