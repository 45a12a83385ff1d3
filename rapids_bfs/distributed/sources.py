"""The argument ``devices=`` of `rapids_bfs.load` and `rapids_bfs.as_graph`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._core.arguments import checked_directed
from .._core.csr.host import Pairs
from .._core.cuda.arrays import CPU, CUDA
from .._core.memory import available_device_bytes
from ..errors import InputError
from ..generators import DRAWN, SEED, Drawing, parsed
from ..graph import Graph
from .build import Plan, tools_for
from .graph import DistributedGraph, from_graph, from_source
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


def distribute(graph: Any, devices: Any, **options: Any) -> Graph | DistributedGraph:
    """The graph on the devices that ``devices`` names, see `rapids_bfs.as_graph`."""
    from ..adapters import as_graph
    from ..loading import load

    if isinstance(graph, DistributedGraph):
        raise InputError(f"{graph.name} is in partitions already, on {', '.join(graph.devices)}")
    if is_random(graph):
        checked_directed(options.pop("directed", None))
        for option in options:
            raise InputError(f"{graph} is a generated graph, which has no {option} to choose")
        return drawn(graph, devices)
    make: Any = load if isinstance(graph, str | os.PathLike) else as_graph
    if isinstance(devices, str) and devices == "auto":
        whole = make(graph, **options)
        count = fewest(whole.nbytes * (2 if whole.directed else 1), whole.num_vertices)
        return whole.on(CUDA if count else CPU) if count <= 1 else from_graph(whole, launcher_for(count))
    launcher = launcher_for(devices)
    if isinstance(graph, str | os.PathLike) and not options.keys() - {
        "source",
        "target",
        "directed",
        "vertices",
        "name",
    }:
        from .files import edges_of

        edges = edges_of(graph, launcher.device, options.get("source"), options.get("target"))
        if edges is not None:
            plan = Plan(
                launcher.device,
                options.get("vertices"),
                options.get("directed"),
                name=options.get("name") or edges.name,
            )
            return from_source(edges, launcher, plan, columns=edges.columns)
    return from_graph(make(graph, **options), launcher)


def is_random(graph: Any) -> bool:
    """Is this the name of a random graph, rather than of a file?"""
    return isinstance(graph, str) and graph.partition(":")[0] in DRAWN and not os.path.exists(graph)


def drawn(spec: str, devices: Any, *, seed: int = SEED) -> Graph | DistributedGraph:
    """A random graph, drawn and built in partitions."""
    kind, sizes = parsed(spec)
    if isinstance(devices, str) and devices == "auto":
        from ..generators import generate

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
