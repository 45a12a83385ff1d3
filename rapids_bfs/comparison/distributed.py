"""Measuring searches of a graph in partitions, for `rapids_bfs.compare` and the Graph500 benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._core.cuda.arrays import CPU, CUDA, to_host
from ..distributed.build import OWN, Builder, Partition, Plan, tools_of
from ..distributed.communicators import Communicator
from ..distributed.graph import DistributedGraph
from ..distributed.launchers import device_names
from ..distributed.result import DistributedResult, searched, traced
from ..distributed.sources import Drawn, drawn
from ..distributed.validation import validate_distributed
from ..engines import DEFAULT, EngineSpec, Options, Traversal, choose
from ..errors import InputError, TraversalError
from ..trace import Step, Trace, expansions

if TYPE_CHECKING:
    from .graph500 import Graph500
    from .runner import Progress

BESIDE = {
    CPU: ("scipy",),
    CUDA: ("cugraph-dask", "pylibcugraph", "pylibcugraph:direction-optimizing"),
}


def choices_for(graph: DistributedGraph) -> list[EngineSpec]:
    """The engines that `compare` runs on a graph in partitions by default."""
    return [choose(name) for name in (OWN[graph.device], *BESIDE[graph.device])]


def declined(choice: EngineSpec, graph: DistributedGraph, options: Options) -> str | None:
    """`Engine.unsupported`, for the graph that `traversal_of` has the engine search."""
    if choice.name == OWN[graph.device]:
        return None
    return choice.engine.unsupported(graph.on(CPU), choice.algorithm, options)


def traversal_of(choice: EngineSpec, graph: DistributedGraph) -> Traversal:
    """Prepare an engine: ours for the graph in partitions, any other for the graph in one piece."""
    if choice.name == OWN[graph.device]:
        return DistributedTraversal(graph)
    return GatheredTraversal(graph, choice)


class DistributedTraversal(Traversal):
    """Our search of a graph in partitions."""

    graph: Any

    def __init__(self, graph: Any) -> None:
        super().__init__(graph)
        graph.prepare()

    def search(self, sources: np.ndarray, options: Options) -> DistributedResult:
        return searched(self.graph, sources, options)

    def answer(self, found: Any) -> NoReturn:
        raise InputError("the answer is in partitions")

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> Any:
        return found


class GatheredTraversal(Traversal):
    """Another engine's search of the graph in one piece, which it may itself distribute over as many GPUs."""

    def __init__(self, graph: DistributedGraph, choice: EngineSpec) -> None:
        super().__init__(graph.on(CPU))
        self.partitions = graph
        self.traversal = choice.engine.prepare_over(self.graph, choice.algorithm, graph.launcher.size)

    def search(self, sources: np.ndarray, options: Options) -> Any:
        return self.traversal.search(self._vertices(sources), options)

    def answer(self, found: Any) -> Any:
        return self.traversal.answer(found)

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> Any:
        return self.traversal.result(found, self._vertices(sources), options, own=own)

    def _vertices(self, sources: np.ndarray) -> np.ndarray:
        return self.partitions.vertices(sources).astype(np.int64)


def levels_of(result: DistributedResult) -> Trace:
    """The levels that a search found."""
    return traced(result._levels, [Step()] * expansions(result.depth, result.stopped_at), "")


def sampled(graph: DistributedGraph, count: int, seed: int) -> np.ndarray:
    """The numbers of ``count`` distinct vertices with an out-edge, at random, or of all if there are fewer."""
    candidates = graph.launcher.run(_candidates, each=[graph.partitions])
    first = np.concatenate([[0], np.cumsum(candidates)])
    if not first[-1]:
        raise InputError(f"{graph.name} has no edges: name a source")
    picked = np.random.default_rng(seed).choice(first[-1], min(count, int(first[-1])), replace=False)
    owners = np.searchsorted(first, picked, side="right") - 1
    numbers = np.empty(len(picked), np.int64)
    for rank, found in enumerate(graph.launcher.run(_picked, picked - first[owners], owners, each=[graph.partitions])):
        numbers[owners == rank] = found
    return numbers


def _candidates(partition: Partition, communicator: Communicator) -> int:
    return int((tools_of(partition.offsets).xp.diff(partition.offsets) > 0).sum())


def _picked(partition: Partition, communicator: Communicator, picked: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """The numbers of the vertices picked on this rank, by their position among its vertices with an out-edge."""
    xp = tools_of(partition.offsets).xp
    places = xp.flatnonzero(xp.diff(partition.offsets) > 0)
    return to_host(places[xp.asarray(picked[owners == communicator.rank])]) + partition.base


def distributed_graph500(run: Graph500, devices: int | str | Sequence[int], roots: int, progress: Progress) -> Graph500:
    """Complete the benchmark that ``run`` begins on several devices: draw, build, search and validate in partitions.

    The build draws each edge again whenever it needs it, so that the whole edge list is never in memory.
    """
    names = device_names(devices)
    own = OWN[CPU if names[0] == CPU else CUDA]
    if run.engine not in ("auto", own):
        raise InputError(f"on several devices {own!r} searches, not {run.engine!r}")
    spec = f"rmat:{run.scale}:{run.edge_factor}"
    steps = roots + 3
    progress(0, steps, "compile")
    small: Any = drawn("rmat:8", devices, seed=run.seed)
    _searched(small, int(sampled(small, 1, run.seed)[0]))
    launcher = small.launcher
    source = Drawn(spec, launcher.device, run.seed)

    progress(1, steps, "generate")
    begin = perf_counter()
    launcher.run(_draw, source)
    run.graph_generation = perf_counter() - begin

    progress(2, steps, "construct")
    begin = perf_counter()
    graph: Any = drawn(spec, devices, seed=run.seed)
    graph.prepare()
    run.construction_time = perf_counter() - begin
    run.engine = f"{own}, {graph.searched}"
    degrees = graph.launcher.keep(_drawn_degrees, source, each=[graph.partitions])

    numbers = sampled(graph, roots, run.seed)
    run.roots = graph.ids_of(numbers).tolist()
    _searched(graph, int(numbers[0]))
    for place, number in enumerate(numbers.tolist()):
        progress(place + 3, steps, f"root {place + 1} of {len(numbers)}")
        result, seconds, validation = _searched(graph, number)
        run.times.append(seconds)
        run.validate_times.append(validation)
        run.nedges.append(sum(graph.launcher.run(_reached_edges, each=[result.answers, degrees])))
    return run


def _searched(graph: Any, number: int) -> tuple[DistributedResult, float, float]:
    """A search's result, and the seconds that it and its validation took. Raises `TraversalError` if it is wrong."""
    begin = perf_counter()
    result = searched(graph, np.array([number]), DEFAULT)
    end = perf_counter()
    verdict = validate_distributed(graph, result)
    if not verdict:
        raise TraversalError(f"from root {graph.ids_of(np.array([number]))[0]} of {graph.name}: {verdict}")
    return result, end - begin, perf_counter() - end


def _draw(communicator: Communicator, source: Drawn) -> None:
    for ends in source.of_rank(communicator.rank, communicator.size):
        del ends
    communicator.barrier()


def _drawn_degrees(partition: Partition, communicator: Communicator, source: Drawn) -> Any:
    """How many edges were drawn from each vertex of this partition."""
    builder = Builder(source, communicator, Plan(source.device, partition.partitioning.n))
    return builder.degrees(partition.partitioning.numbers, partition.partitioning, False)[0]


def _reached_edges(answer: Any, degrees: Any, communicator: Communicator) -> int:
    return int(degrees[answer.distances >= 0].sum())
