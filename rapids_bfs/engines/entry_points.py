"""The engines that packages declare as entry points. A stand-in for each that cannot be used says why."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._core.arguments import quoted
from ..errors import InputError, described
from ..graph import Graph
from .base import Engine, Traversal

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

GROUP = "rapids_bfs.engines"
AUTO = "auto"


class Unusable(Engine):
    """Stands for an engine that is declared, and cannot be used."""

    name: str  # type: ignore[misc]
    algorithms = ("",)  # unknown

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason

    def unavailable(self) -> str:
        return self.reason

    def prepare(self, graph: Graph, algorithm: str) -> Traversal:
        raise InputError(f"engine {self.name!r} cannot run here: {self.reason}")


def declared(others: Collection[str]) -> dict[str, Engine]:
    """The engines of all packages by name, but for those of ours with the names of ``others``; ours come first, so that
    no package can take their names."""
    found: dict[str, Engine] = {}
    values: dict[str, str] = {}
    for point in sorted(_entry_points(), key=lambda point: (not _is_ours(point), point.name)):
        name = point.name
        if (_is_ours(point) and name in others) or values.get(name) == point.value:
            continue
        if fault := "and another engine has this name" if name in {*others, *found} else fault_of_name(name):
            name = f"{name} of {_package(point)}".replace(":", ".").replace(",", "_").strip()
            found[name] = _unusable(point, name, fault)
        else:
            values[name] = point.value
            found[name] = _loaded(point)
    return dict(sorted(found.items()))


def _entry_points() -> EntryPoints:
    from importlib.metadata import entry_points  # late: it takes longer than a first search

    try:
        return entry_points(group=GROUP)
    except Exception as error:
        raise InputError(
            f"the entry points of the installed packages cannot be read ({described(error)}): reinstall the package "
            "whose metadata is damaged"
        ) from error


def fault_of(engine: Any) -> str | None:
    """None, or what keeps this object from being an engine with a name and algorithms."""
    if not isinstance(engine, Engine):
        return "which is no Engine"
    name, algorithms = (getattr(engine, attribute, None) for attribute in ("name", "algorithms"))
    if fault := fault_of_name(name):
        return fault
    if not (isinstance(algorithms, tuple | list) and algorithms and all(isinstance(each, str) for each in algorithms)):
        return f"whose algorithms are not a tuple of names, but {quoted(algorithms)}"
    return None


def fault_of_name(name: Any) -> str | None:
    """None, or what keeps users from asking for an engine by this name."""
    if isinstance(name, str) and re.fullmatch(r"[^\s:,]([^:,]*[^\s:,])?", name) and name.isprintable() and name != AUTO:
        return None
    return f"and {quoted(name)} cannot be a name: it is {AUTO!r}, is empty, or has a colon, a comma or blanks around it"


def _loaded(point: EntryPoint) -> Engine:
    try:
        engine: Any = point.load()()
        fault = fault_of(engine)
        if fault is None and engine.name != point.name:
            fault = f"whose own name is {quoted(engine.name)}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a package may raise anything while it is imported, and may exit
        fault = f"which cannot be loaded ({described(error)})"
    return engine if fault is None else _unusable(point, point.name, fault)


def _unusable(point: EntryPoint, name: str, fault: str) -> Unusable:
    reason = f"the package {_package(point)} declares it as {point.value}, {fault}: update, reinstall or remove it"
    return Unusable(name, reason)


def _is_ours(point: EntryPoint) -> bool:
    return point.value.startswith(f"{GROUP}.")


def _package(point: EntryPoint) -> str:
    """The name of the package that declares it; of its module, if its metadata has none."""
    with suppress(Exception):  # metadata may lack anything
        if name := point.dist.name:  # type: ignore[union-attr]
            return " ".join(name.split())  # one line
    return re.split("[.:]", point.value)[0]
