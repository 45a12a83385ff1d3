"""Distributed graphs from random edges and from files, and the devices that ``devices=`` names."""

from __future__ import annotations

import os
from typing import Any

from .._core.cuda.arrays import CPU, CUDA
from .._core.cuda.driver import driver
from .._core.memory import available_device_bytes
from ..errors import InputError
from ..generators import DRAWN, SEED, generate, parsed
from ..graph import Graph
from .build import Plan
from .graph import DistributedGraph, from_source
from .launchers import Launcher, Threads, device_names
from .partitioning import Partitioning
from .sources import ParquetEdges, RandomEdges


def files_source(
    path: str | os.PathLike[str],
    device: str,
    source: Any = None,
    target: Any = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str | None = None,
) -> tuple[ParquetEdges, Plan] | None:
    """The edges in the Parquet files that a pattern names, and their plan; None if `ParquetEdges.matching` is."""
    edges = ParquetEdges.matching(path, device, source, target)
    return None if edges is None else (edges, Plan(device, vertices, directed, name=name or edges.name))


def names_random_graph(graph: Any) -> bool:
    """Is this the name of a random graph, rather than of a file?"""
    return isinstance(graph, str) and graph.partition(":")[0] in DRAWN and not os.path.exists(graph)


def drawn(spec: str, devices: Any, *, seed: int = SEED, name: str | None = None) -> Graph | DistributedGraph:
    """A random graph, drawn and built over several devices."""
    kind, sizes = parsed(spec)
    if isinstance(devices, str) and devices == "auto":
        drawing = DRAWN[kind](*sizes, checked=False)
        arcs_bytes = 2 * drawing.m * Partitioning.of(drawing.n, 1).dtype.itemsize
        devices = fewest_gpus(3 * arcs_bytes, drawing.n)  # three times: unsorted, sorted, and without duplicates
        if devices <= 1:
            whole = generate(spec, seed=seed, device=CUDA if devices else CPU)
            whole.name = name or whole.name
            return whole
    launcher = launcher_for(devices)
    source = RandomEdges(spec, launcher.device, seed)
    drawing = source.drawing
    plan = Plan(launcher.device, drawing.n, directed=False, simple=True, edges=drawing.m, name=name or drawing.name)
    return from_source(source, launcher, plan)


def fewest_gpus(arcs_bytes: int, n: int) -> int:
    """The smallest number of this machine's GPUs that holds the graph; 0 if there are none. Raises `InputError` if even
    all of them are too few."""
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
