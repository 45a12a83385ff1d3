"""The Graph500 benchmark over several devices."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .._core.cuda.arrays import CPU, CUDA
from ..distributed.build import OWN, Builder, Partition, Plan
from ..distributed.communicators import Communicator
from ..distributed.ids import CyclicIds
from ..distributed.launchers import device_names
from ..distributed.loading import drawn
from ..distributed.result import DistributedResult
from ..distributed.search import searched
from ..distributed.sources import RandomEdges
from ..engines import DEFAULT
from ..errors import InputError, TraversalError
from ..validation import verdict_of
from .graph500_record import Graph500
from .records import Progress


def distributed_graph500(run: Graph500, devices: int | str | Sequence[int], roots: int, progress: Progress) -> Graph500:
    """Complete the benchmark that ``run`` begins on several devices: draw, build, search and validate.

    The build draws each edge again whenever it needs it, so the whole edge list is never in memory.
    """
    names = device_names(devices)
    own = OWN[CPU if names[0] == CPU else CUDA]
    if run.engine not in ("auto", own):
        raise InputError(f"on several devices {own!r} searches, not {run.engine!r}")
    spec = f"rmat:{run.scale}:{run.edge_factor}"
    steps = roots + 3
    progress(0, steps, "compile")
    small: Any = drawn("rmat:8", devices, seed=run.seed)
    _searched(small, int(small.sample_sources(1, run.seed)[0]))
    launcher = small.launcher
    source = RandomEdges(spec, launcher.device, run.seed)

    progress(1, steps, "generate")
    begin = perf_counter()
    launcher.collect(_draw, source)
    run.graph_generation = perf_counter() - begin

    progress(2, steps, "construct")
    begin = perf_counter()
    graph: Any = drawn(spec, devices, seed=run.seed)
    graph.prepare()
    run.construction_time = perf_counter() - begin
    run.engine = f"{own}, {graph.searched}"
    degrees = graph.launcher.map(_drawn_degrees, source, each=[graph.partitions])

    global_ids = graph.sample_sources(roots, run.seed)
    run.roots = graph.ids_of(global_ids).tolist()
    _searched(graph, int(global_ids[0]))
    for step, vertex in enumerate(global_ids.tolist()):
        progress(step + 3, steps, f"root {step + 1} of {len(global_ids)}")
        result, seconds, validation = _searched(graph, vertex)
        run.times.append(seconds)
        run.validate_times.append(validation)
        run.nedges.append(sum(graph.launcher.collect(_reached_edges, each=[result.answers, degrees])))
    return run


def _searched(graph: Any, vertex: int) -> tuple[DistributedResult, float, float]:
    """A search's result, and the seconds that search and validation took. Raises `TraversalError` if it is wrong."""
    begin = perf_counter()
    result = searched(graph, np.array([vertex]), DEFAULT)
    end = perf_counter()
    verdict = verdict_of(graph, result)
    if not verdict:
        raise TraversalError(f"from root {graph.ids_of(np.array([vertex]))[0]} of {graph.name}: {verdict}")
    return result, end - begin, perf_counter() - end


def _draw(communicator: Communicator, source: RandomEdges) -> None:
    for ends in source.blocks(communicator.rank, communicator.size):
        del ends
    communicator.barrier()


def _drawn_degrees(partition: Partition, communicator: Communicator, source: RandomEdges) -> Any:
    """The number of edges drawn from each vertex of this rank, by local id."""
    builder = Builder(source, communicator, Plan(source.device, partition.partitioning.n))
    return builder.degrees(CyclicIds(partition.partitioning), False)[0]


def _reached_edges(answer: Any, degrees: Any, communicator: Communicator) -> int:
    return int(degrees[answer.distances >= 0].sum())
