"""Suites: lists of graphs to compare engines on, known by name (suites.toml), or written in TOML by the user."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from .._core.arguments import quoted
from ..adapters._file import file_at, file_errors
from ..errors import InputError
from ..generators import checked_scale

SIZES: dict[str, Callable[[int], int]] = {  # by the word in braces, for the scale S
    "scale": lambda scale: scale,
    "vertices": lambda scale: 2**scale,
    "square": lambda scale: math.isqrt(2**scale),
    "cube": lambda scale: round(2 ** (scale / 3)),
    "levels": lambda scale: 16 * math.isqrt(2**scale),
}
SIZE = re.compile(r"\{(.*?)\}")
KEYS = ("graphs", "scales", "engines", "baseline", "num_sources", "seed", "depth_limit")
GRAPH_OPTIONS = ("source", "target", "header", "directed")  # of `load`, besides the graph


@dataclass(frozen=True)
class SuiteGraph:
    """A graph of a suite: its name, as `load` takes it or of a file in ``folder``, and options of `load`."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""

    @property
    def key(self) -> str:
        """Its name, with its options if it has any."""
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.options.items())])

    @property
    def source(self) -> str:
        """What `load` takes."""
        beside = os.path.join(self.folder, self.name)
        return beside if os.path.exists(beside) else self.name

    @property
    def file_state(self) -> list[Any]:
        """Its file's path, size and time of modification; nothing for a graph that is not a file."""
        with suppress(OSError, ValueError):
            state = os.stat(self.source)
            return [os.path.abspath(self.source), state.st_size, state.st_mtime_ns]
        return []


@dataclass(frozen=True)
class Suite:
    """Graphs, and what `compare` is given for each of them."""

    name: str
    graphs: tuple[SuiteGraph, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    scales: tuple[int, ...] = ()

    def at_scales(self, scales: Iterable[int] | None) -> Suite:
        """The suite with these scales instead of its own. Raises `InputError` if none of its graphs has one."""
        if scales is None:
            return self
        if not any(SIZE.search(graph.name) for graph in self.graphs):
            raise InputError(f"the graphs of {self.name} have no scale: leave it out")
        return replace(self, scales=_scales(self.name, list(scales)))

    def made(self) -> list[SuiteGraph]:
        """Its graphs, scale by scale; those that have none come last."""
        scaled = [graph for graph in self.graphs if SIZE.search(graph.name)]
        if scaled and not self.scales:
            raise InputError(f"{scaled[0].name} in {self.name} needs a scale: give scales")
        made = [_at(graph, scale) for scale in self.scales for graph in scaled]
        made += [graph for graph in self.graphs if graph not in scaled]
        return list({graph.key: graph for graph in made}.values())


def suite_of(given: Any) -> Suite:
    """The suite of a name, the path of a TOML file, or a list of graphs. Raises `InputError` if there is none."""
    if isinstance(given, str) and given in _known():
        return _suite(given, _known()[given])
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return _suite("graphs", {"graphs": list(given)})
    if isinstance(given, str | os.PathLike) and (os.path.exists(given) or Path(given).suffix):
        return _suite_in(Path(given))
    near = get_close_matches(given.lower(), _known(), 1) if isinstance(given, str) else []
    hint = f"; did you mean {near[0]}?" if near else ""
    raise InputError(f"{quoted(given)} is not a suite: there are {', '.join(_known())}, and files in TOML{hint}")


def suites() -> list[str]:
    """The names of the known suites."""
    return list(_known())


@cache
def _known() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "suites.toml").read_text("utf-8"))


def _suite_in(path: Path) -> Suite:
    """The suite in a TOML file. Paths in it are relative to its folder."""
    file, folder = file_at(path), str(path.absolute().parent)
    with file_errors(file, "TOML"):
        suite = _suite(path.stem, tomllib.loads(file.path.read_text("utf-8")), str(file))
    graphs = tuple(replace(graph, folder=folder) for graph in suite.graphs)
    return replace(suite, graphs=graphs)


def _suite(name: str, content: Mapping[str, Any], where: str = "") -> Suite:
    where = where or f"the suite {name}"
    if unknown := [key for key in content if key not in KEYS]:
        raise InputError(f"{where} has {', '.join(map(quoted, unknown))}: a suite's keys are {', '.join(KEYS)}")
    graphs = content.get("graphs")
    if not isinstance(graphs, list) or not graphs:
        raise InputError(f'{where} names no graphs: give them as in graphs = ["rmat:16", "roads.parquet"]')
    scales = _scales(where, content["scales"]) if "scales" in content else ()
    options = {key: value for key, value in content.items() if key not in ("graphs", "scales")}
    return Suite(name, tuple(_graph(where, each) for each in graphs), options, scales)


def _scales(where: str, scales: Any) -> tuple[int, ...]:
    if not isinstance(scales, list) or not scales:
        raise InputError(f"{where}: scales are a list of whole numbers, as in scales = [18, 22]")
    return tuple(checked_scale(scale, f"{where}: a scale") for scale in scales)


def _graph(where: str, given: Any) -> SuiteGraph:
    row = {"graph": given} if isinstance(given, str | os.PathLike) else given
    if not isinstance(row, dict) or not isinstance(row.get("graph"), str | os.PathLike) or not str(row["graph"]):
        raise InputError(f'{where}: a graph is its name, or a table as in {{graph = "a.csv"}}, not {quoted(given)}')
    options = {key: value for key, value in row.items() if key != "graph"}
    if unknown := options.keys() - set(GRAPH_OPTIONS):
        raise InputError(
            f"{where}: {row['graph']} has {', '.join(map(quoted, sorted(unknown)))}: a graph's options are "
            f"{', '.join(GRAPH_OPTIONS)}"
        )
    name = os.fspath(row["graph"])
    for word in SIZE.findall(name):
        if word not in SIZES:
            raise InputError(f"{where}: {name} has {{{word}}}: there are {', '.join(f'{{{each}}}' for each in SIZES)}")
    return SuiteGraph(name, options)


def _at(graph: SuiteGraph, scale: int) -> SuiteGraph:
    return replace(graph, name=SIZE.sub(lambda found: str(SIZES[found[1]](scale)), graph.name))
