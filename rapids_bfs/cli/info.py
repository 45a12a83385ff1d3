"""The tables of ``rapids-bfs info`` and ``rapids-bfs datasets``."""

from __future__ import annotations

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .._core import machine
from .._core.arguments import quoted
from .._core.cuda.driver import pip_install
from .._core.cuda.peer_access import obstacle_of_all
from .._core.formatting import size
from ..data import BUNDLED
from ..data.datasets import COLLECTIONS, Dataset, dataset, datasets
from ..distributed.cluster import cluster_at, scheduler
from ..engines import registered, resolve
from ..errors import InputError
from ..report.console import NOTE, FittingTable, Hyphenated, line
from ..report.table import reasons_why

KINDS = {True: "directed", False: "undirected", None: ""}


def info_tables() -> Group:
    """The engines, and the packages or devices that they lack; the machine, and the Dask cluster of Dask's
    configuration; the versions; the bundled graphs."""
    missing = {name: resolve(name).unavailable() for name in registered()}
    engines = _plain_table("engine", "here", "algorithms, the default first")
    for name, engine in registered().items():
        here = Text("no", style=NOTE) if missing[name] else Text("yes", style="green")
        engines.add_row(Hyphenated(name), here, Hyphenated(", ".join(engine.algorithms)))
    facts = machine.describe()
    about = _plain_table("machine", "")
    about.add_row("system", Hyphenated(facts["system"]))
    about.add_row("processor", Hyphenated(facts["processor"]))
    about.add_row("cores", str(facts["cores"]))
    about.add_row("memory", size(facts["memory_bytes"]))
    about.add_row("CUDA devices", ", ".join(facts["cuda_devices"]) or Text("none", style=NOTE))
    if len(facts["cuda_devices"]) > 1:
        about.add_row("their links", machine.links())
        obstacle = obstacle_of_all()
        about.add_row("one launch for all", Text(obstacle, style=NOTE) if obstacle else "yes")
        about.add_row("NCCL", machine.nccl_version() or Text(f"none: {pip_install('cuda')}", style=NOTE))
    cluster = [] if (address := scheduler()) is None else [_cluster_table(address)]
    packages = _plain_table("package", "version")
    for package, version in machine.versions().items():
        packages.add_row(Hyphenated(package), version)
    graphs = _plain_table("bundled graph", "")
    for name, (_, description) in BUNDLED.items():
        graphs.add_row(name, Hyphenated(description))
    return Group(engines, *reasons_why(missing), about, *cluster, packages, graphs)


def _cluster_table(address: str) -> Table:
    """The workers of the cluster at this address, and whether they can be ranks of a distributed graph."""
    table = _plain_table("Dask cluster", "")
    try:
        found = cluster_at(address)
    except InputError as error:
        table.add_row("scheduler", Text(str(error), style=NOTE))
        return table
    table.add_row("scheduler", line(address))
    if not found.hosts:
        table.add_row("workers", Text("none", style=NOTE))
        return table
    table.add_row("workers", line(f"{sum(found.hosts.values())} on {found.places}"))
    for kind, lacks, how in (
        ("frames of pandas", found.on_cpus, "Dask's connections"),
        ("frames of cuDF", found.on_gpus, found.between_gpus),
    ):
        table.add_row(kind, Text(f"no: {lacks}", style=NOTE) if lacks else line(how))
    return table


def datasets_table(name: str) -> Group:
    """The datasets whose names begin with ``name``; everything known about one if ``name`` is the whole of its name;
    the collections if ``name`` is empty."""
    if not name:
        return _collections_table()
    if ":" in name and name.partition(":")[2] and len(begin := _beginning(name)) < 2:
        return Group(_dataset_table(begin[0] if begin else dataset(name)))
    if not (found := _beginning(name)):
        raise InputError(f"no dataset begins with {quoted(name)}: there are {', '.join(COLLECTIONS)}")
    columns = ["dataset", "vertices", "edges", "direction", "on disk"]
    rows = [
        [
            each.name,
            *("" if count is None else f"{count:,}" for count in (each.vertices, each.edges)),
            KINDS[each.directed],
            size(each.kept) if each.kept else "",
        ]
        for each in found
    ]
    return Group(FittingTable(columns if any(row[-1] for row in rows) else columns[:-1], rows))


def _collections_table() -> Group:
    table = _plain_table("collection", "graphs", "such as", "on disk")
    for name in COLLECTIONS:
        found = _beginning(f"{name}:")
        kept = sum(each.kept for each in found)
        table.add_row(name, str(len(found)), found[0].name, size(kept) if kept else "")
    table.columns[1].justify = "right"
    return Group(
        table,
        line("'rapids-bfs datasets snap' lists the graphs of snap."),
        line("suitesparse:GROUP/NAME is any square matrix of SuiteSparse's collection."),
    )


def _beginning(name: str) -> list[Dataset]:
    return [each for each in datasets() if each.name == name] or [
        each for each in datasets() if each.name.startswith(name)
    ]


def _dataset_table(found: Dataset) -> Table:
    table = _plain_table(found.name, "")
    for what, said in (
        ("vertices", "" if found.vertices is None else f"{found.vertices:,}"),
        ("edges", "" if found.edges is None else f"{found.edges:,}"),
        ("direction", KINDS[found.directed]),
        ("from", found.url),
        ("terms", found.terms),
        ("to cite", found.citation),
        ("kept as", str(found.download)),
        ("on disk", size(found.kept) if found.kept else "nothing yet"),
    ):
        table.add_row(what, line(said or "not stated"))
    return table


def _plain_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
