"""Imports point down, as CONTRIBUTING says: no module imports one above it, and there are no cycles. Imports inside
functions and those for type checkers count as all others do."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rapids_bfs
from rapids_bfs import kernels

DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = {"rapids_bfs": Path(rapids_bfs.__file__).parent, "rapids_bfs.kernels": Path(kernels.__file__).parent}

# From the top down: modules, and packages with all that is in them. A module belongs to its longest name here.
LAYERS = (
    ("cli", "__main__", "pytest_plugin", "warmup"),
    ("",),  # the package itself, which names what users import
    ("nx", "cugraph", "testing"),
    ("comparison",),
    ("algorithms",),
    ("loading",),
    ("distributed",),
    ("engines",),
    ("validation",),
    ("result",),
    ("trace",),
    ("generators", "data"),
    ("adapters",),
    ("graph",),
    ("report",),
    ("_core", "errors"),
    ("kernels",),
)
MOST_AT_THE_TOP = 20  # modules and folders of the package, besides `__init__`, `__main__`, `py.typed` and `data`


def modules():
    """Every module's file, by name."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join([package, *(part for part in parts if part != "__init__")])] = path
    return found


def imported(name, path, known, source=None):
    """The modules of the package that this one imports."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text() if source is None else source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            names = [each if (each := f"{base}.{alias.name}") in known else base for alias in node.names]
        else:
            continue
        yield from (each for each in names if each in known and each != name)


def all_arrows():
    """The modules of the package that each of them imports."""
    known = modules()
    return {name: {*imported(name, path, known)} for name, path in known.items()}


@pytest.fixture(scope="module")
def arrows():
    return all_arrows()


def layer_of(module):
    """How far down the module is."""
    parts = module.split(".")[1:]
    for length in range(len(parts), -1, -1):
        for number, layer in enumerate(LAYERS):
            if ".".join(parts[:length]) in layer and (length or not parts):
                return number
    raise AssertionError(f"{module} has no layer")


def between_layers(arrows):
    """The pairs of different layers of which the first imports the second, by their places in `LAYERS`."""
    pairs = {(layer_of(name), layer_of(other)) for name, others in arrows.items() for other in others}
    return {(one, other) for one, other in pairs if one != other}


def climbing(arrows):
    return [
        f"{name} imports {other}"
        for name, others in arrows.items()
        for other in others
        if layer_of(other) < layer_of(name)
    ]


def cycle(arrows):
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return None


def test_there_are_no_cycles(arrows):
    assert cycle(arrows) is None


def test_no_module_imports_one_above_it(arrows):
    assert not climbing(arrows)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("graph.graph", "from ..engines import Engine"),
        ("adapters.edges", "def late():\n    from ..loading import load"),
        ("_core.memory", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..graph import Graph"),
        ("engines.base", "import rapids_bfs.distributed.graph"),
    ],
)
def test_an_import_that_climbs_is_found(arrows, name, line):
    known = modules()
    name = f"rapids_bfs.{name}"
    planted = arrows[name] | {*imported(name, known[name], known, line)}
    assert climbing(arrows | {name: planted})


def test_a_cycle_is_found(arrows):
    planted = arrows["rapids_bfs.engines.registry"] | {"rapids_bfs.engines.operations"}
    assert cycle(arrows | {"rapids_bfs.engines.registry": planted})


def test_kernels_know_nothing_of_the_package(arrows):
    for name, others in arrows.items():
        if name.startswith("rapids_bfs.kernels"):
            assert all(other.startswith("rapids_bfs.kernels") for other in others), name


def test_others_take_numba_from_the_kernels():
    """Which import it where no interrupt can leave half of it."""
    for name, path in modules().items():
        if not name.startswith(("rapids_bfs.kernels", "rapids_bfs.engines.gpu")):
            assert not [*imported(name, path, {"numba"})], name


def test_the_top_is_small():
    names = {path.name.removesuffix(".py") for path in FOLDERS["rapids_bfs"].iterdir()}
    besides = {"__init__", "__main__", "__pycache__", "py.typed", "data", "kernels"}
    assert len(names - besides) <= MOST_AT_THE_TOP


def test_arrows_are_found(arrows):
    assert "rapids_bfs.engines.base" in arrows["rapids_bfs.engines.cpu"]
    assert "rapids_bfs.kernels.cpu.bits" in arrows["rapids_bfs.kernels.cpu.sequential"]
    assert "rapids_bfs.report.plots" in arrows["rapids_bfs.trace"]  # inside a function
    assert "rapids_bfs.distributed.graph" in arrows["rapids_bfs.loading"]  # for type checkers


def test_the_picture_of_the_layers_is_current(arrows, monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import architecture

    drawn = architecture.picture(LAYERS, between_layers(arrows))
    assert architecture.IMAGE.read_text() == drawn, "python docs/architecture.py draws it again"
