"""Imports point one way, as CONTRIBUTING says: there are no cycles, and no layer knows those above it. Imports inside
functions count as those at the top of a module do; those for type checkers alone do not."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rapids_bfs
from rapids_bfs import kernels

FOLDERS = {"rapids_bfs": Path(rapids_bfs.__file__).parent, "rapids_bfs.kernels": Path(kernels.__file__).parent}

# From the top down: modules, and packages with all that is in them. A module belongs to its longest name here.
LAYERS = (
    ("cli", "commands", "command_io", "__main__", "report.info"),
    ("nx", "cugraph", "testing", "pytest_plugin"),
    ("comparison", "contenders", "outcome", "graph500", "warmup"),
    ("search", "batch", "centrality", "components", "distances", "paths"),
    ("engines",),
    ("trace", "report"),
    ("validation", "result"),
    ("adapters", "generators", "host_adjacency", "_core.catalog"),
    ("graph",),
    ("_core", "errors", "exit_codes"),
    ("kernels",),
)
WITHOUT = {"rapids_bfs", "rapids_bfs.data"}  # the package imports what it names when it is asked for it

# Inside functions, and the other way: what a graph in parts offers is made by modules that know it.
LATE = {
    ("rapids_bfs.loading", "rapids_bfs.distributed.sources"),
    ("rapids_bfs.adapters", "rapids_bfs.distributed.sources"),
    ("rapids_bfs.adapters.dask", "rapids_bfs.distributed.frames"),
    ("rapids_bfs.distributed.graph", "rapids_bfs.distributed.result"),
    ("rapids_bfs.distributed.dask", "rapids_bfs.distributed.frames"),
    ("rapids_bfs.validation", "rapids_bfs.distributed.validation"),
}


def modules():
    """Every module's file, by name."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join([package, *(part for part in parts if part != "__init__")])] = path
    return found


def imports(node):
    """The import statements under ``node`` that run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        yield from imports(child)


def imported(name, path, known):
    """The modules of the package that this one imports."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in imports(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            names = [each if (each := f"{base}.{alias.name}") in known else base for alias in node.names]
        yield from (each for each in names if each in known and each != name)


@pytest.fixture(scope="module")
def arrows():
    known = modules()
    found = {name: {*imported(name, path, known)} for name, path in known.items()}
    return {name: {other for other in others if (name, other) not in LATE} for name, others in found.items()}


def layer_of(module):
    """How far down the module is; None if it is of no layer."""
    parts = module.split(".")[1:]
    for length in range(len(parts), 0, -1):
        for place, layer in enumerate(LAYERS):
            if ".".join(parts[:length]) in layer:
                return place
    return None


def test_there_are_no_cycles(arrows):
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_no_layer_knows_those_above(arrows):
    upward = [
        f"{name} imports {other}"
        for name, others in arrows.items()
        for other in others
        if layer_of(name) is not None and layer_of(other) is not None and layer_of(other) < layer_of(name)
    ]
    assert not upward


def test_kernels_know_nothing_of_the_package(arrows):
    for name, others in arrows.items():
        if name.startswith("rapids_bfs.kernels"):
            assert all(other.startswith("rapids_bfs.kernels") for other in others), name


def test_every_module_has_a_layer(arrows):
    free = {name for name in arrows if layer_of(name) is None and not name.startswith("rapids_bfs.distributed")}
    assert free == WITHOUT


def test_arrows_are_found(arrows):
    assert "rapids_bfs.engines.base" in arrows["rapids_bfs.engines.cpu"]
    assert "rapids_bfs.kernels.cpu.bits" in arrows["rapids_bfs.kernels.cpu.sequential"]
    assert "rapids_bfs.report.plots" in arrows["rapids_bfs.trace"]  # inside a function
