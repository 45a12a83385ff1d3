"""Sources of edges that each rank reads in part, and the devices that ``devices=`` names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._core.csr.host import Pairs
from .._core.cuda.arrays import CPU, CUDA
from .._core.memory import available_device_bytes
from ..errors import InputError
from ..generators import DRAWN, SEED, Drawing, generate, parsed
from ..graph import Graph
from .build import Plan, tools_for
from .files import ParquetEdges, edges_of
from .graph import DistributedGraph, from_source
from .launchers import Launcher, Threads, device_names
from .partitioning import Partitioning


@dataclass(frozen=True)
class Drawn:
    """The edges of a random graph, of which each rank draws its share."""

    spec: str
    device: str
    seed: int = SEED

    @property
    def drawing(self) -> Drawing:
        kind, sizes = parsed(self.spec)
        return DRAWN[kind](*sizes, seed=self.seed, device=self.device, checked=False)

    def of_rank(self, rank: int, size: int) -> Iterator[Pairs]:
        drawing = self.drawing
        first, last = drawing.m * rank // size, drawing.m * (rank + 1) // size
        step = tools_for(self.device).BLOCK
        for begin in range(first, last, step):
            yield drawing.edges(begin, min(begin + step, last))


def files_source(
    path: str | os.PathLike[str],
    device: str,
    source: Any = None,
    target: Any = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str | None = None,
) -> tuple[ParquetEdges, Plan] | None:
    """The edges in the Parquet files that a pattern names, and how to build a graph of them; None as of `edges_of`."""
    edges = edges_of(path, device, source, target)
    return None if edges is None else (edges, Plan(device, vertices, directed, name=name or edges.name))


def is_random(graph: Any) -> bool:
    """Is this the name of a random graph, rather than of a file?"""
    return isinstance(graph, str) and graph.partition(":")[0] in DRAWN and not os.path.exists(graph)


def drawn(spec: str, devices: Any, *, seed: int = SEED) -> Graph | DistributedGraph:
    """A random graph, drawn and built over several devices."""
    kind, sizes = parsed(spec)
    if isinstance(devices, str) and devices == "auto":
        drawing = DRAWN[kind](*sizes, checked=False)
        devices = fewest(3 * 2 * drawing.m * Partitioning.of(drawing.n, 1).dtype.itemsize, drawing.n)
        if devices <= 1:
            return generate(spec, seed=seed, device=CUDA if devices else CPU)
    launcher = launcher_for(devices)
    source = Drawn(spec, launcher.device, seed)
    n, m = 1 << sizes[0], source.drawing.m
    name = DRAWN[kind](0, *sizes[1:]).name.replace(":0:", f":{sizes[0]}:")
    return from_source(source, launcher, Plan(launcher.device, n, directed=False, simple=True, edges=m, name=name))


def fewest(arcs_bytes: int, n: int) -> int:
    """The smallest number of this machine's GPUs that holds the graph; 0 if there are none. Raises `InputError` if even
    all of them are too few."""
    from .._core.cuda.driver import driver

    there = len(driver().devices)
    if there == 0:
        return 0
    free = available_device_bytes()
    for count in range(1, there + 1):
        if (arcs_bytes + 64 * n) // count + n // 4 <= free:
            return count
    raise InputError(f"the graph does not even fit on all {there} GPUs of this machine")


def launcher_for(devices: Any) -> Launcher:
    """The launcher for the devices that ``devices`` names."""
    return Threads(device_names(devices))
