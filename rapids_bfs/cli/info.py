"""The tables of ``rapids-bfs info``."""

from __future__ import annotations

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .._core import machine
from .._core.cuda.driver import pip_install
from .._core.cuda.peer_access import obstacle_of_all
from .._core.formatting import size
from ..data import BUNDLED
from ..engines import registered
from ..report.console import line
from ..report.table import reasons_why


def info_tables() -> Group:
    """The engines, and the packages or devices that they lack; the machine; the versions; the bundled graphs."""
    missing = {name: engine.unavailable() for name, engine in registered().items()}
    engines = _plain_table("engine", "here", "algorithms, the default first")
    for name, engine in registered().items():
        here = Text("no", style="yellow") if missing[name] else Text("yes", style="green")
        engines.add_row(line(name), here, line(", ".join(engine.algorithms)))
    described = machine.describe()
    about = _plain_table("machine", "")
    about.add_row("system", described["system"])
    about.add_row("processor", described["processor"])
    about.add_row("cores", str(described["cores"]))
    about.add_row("memory", size(described["memory_bytes"]))
    about.add_row("CUDA devices", ", ".join(described["cuda_devices"]) or Text("none", style="yellow"))
    if len(described["cuda_devices"]) > 1:
        about.add_row("their links", machine.links())
        obstacle = obstacle_of_all()
        about.add_row("one launch for all", Text(obstacle, style="yellow") if obstacle else "yes")
        about.add_row("NCCL", machine.nccl_version() or Text(f"none: {pip_install('cuda')}", style="yellow"))
    packages = _plain_table("package", "version")
    for package, version in machine.versions().items():
        packages.add_row(package, version)
    graphs = _plain_table("bundled graph", "")
    for name, (_, description) in BUNDLED.items():
        graphs.add_row(name, description)
    return Group(engines, *reasons_why(missing), about, packages, graphs)


def _plain_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
