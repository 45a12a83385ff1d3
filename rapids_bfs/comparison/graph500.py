"""The Graph500 benchmark, kernel 2 (breadth-first search): generate, build, search from 64 roots, validate each.

Graph500 specification, sections 3 to 6; the report is that of the reference code, version 3.0, word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, field
from math import nan, sqrt
from statistics import fmean, stdev
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .._core import machine
from .._core.arguments import whole_number
from .._core.cuda.arrays import CPU, CUDA, finish
from .._core.dtypes import index_dtype
from ..distributed.build import OWN, Builder, Partition, Plan
from ..distributed.communicators import Communicator
from ..distributed.ids import CyclicIds
from ..distributed.launchers import device_names
from ..distributed.loading import drawn
from ..distributed.search import searched
from ..distributed.sources import RandomEdges
from ..engines import DEFAULT, EngineSpec, require
from ..errors import InputError, TraversalError
from ..generators import EDGE_FACTOR, SEED, Drawing, rmat_edges
from ..validation import verdict_of
from .records import Progress, quiet

ROOTS = 64
WIDTH = 32  # columns of the report before a value
MARKED = "bfs  harmonic_mean_TEPS:     !"  # the value by which machines are ranked

Search = Callable[[np.ndarray], Callable[[], Any]]  # searches from a vertex; returns a function that makes the result
Count = Callable[[Any], int]  # the number of drawn edges that a result reached


class Statistics(NamedTuple):
    """Order statistics, mean, and standard deviation of a sample (NaN for a single value).

    Graph500's reference code 3.0, `get_statistics`: a quartile is the mean of the two values that enclose it.
    """

    min: float
    firstquartile: float
    median: float
    thirdquartile: float
    max: float
    mean: float
    stddev: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Statistics:
        """The summary of at least one value."""
        quartiles = np.quantile(values, np.arange(5) / 4, method="averaged_inverted_cdf").tolist()
        return cls._make([*quartiles, fmean(values), stdev(values) if len(values) > 1 else nan])


class HarmonicSummary(NamedTuple):
    """Statistics of rates: the mean is the harmonic mean, and the deviation is its standard error.

    N. Norris, The standard errors of the geometric and harmonic means and their application to index numbers, Annals
    of Mathematical Statistics 11(4), 1940, as the specification asks.
    """

    min: float
    firstquartile: float
    median: float
    thirdquartile: float
    max: float
    harmonic_mean: float
    harmonic_stddev: float

    @classmethod
    def of(cls, amounts: Sequence[float], times: Sequence[float]) -> HarmonicSummary:
        """The summary of the rates ``amounts[i] / times[i]``, from the times for one unit."""
        each = Statistics.of([time / amount for amount, time in zip(amounts, times, strict=True)])
        n = len(times)
        deviation = each.stddev / (each.mean**2 * sqrt(n - 1)) if n > 1 else nan
        rates = [1 / time for time in reversed(each[:5])]  # the longest time is the lowest rate
        return cls._make([*rates, 1 / each.mean, deviation])


@dataclass
class Graph500:
    """The record of `graph500`. ``str`` of it is the official report.

    Times are in seconds. ``nedges`` counts, for each root, the drawn edges with a reached end: self-loops and repeated
    edges count, each edge once.
    """

    scale: int
    edge_factor: int
    seed: int
    engine: str
    graph_generation: float = 0.0
    construction_time: float = 0.0
    roots: list[Hashable] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    nedges: list[int] = field(default_factory=list)
    validate_times: list[float] = field(default_factory=list)

    @property
    def teps(self) -> HarmonicSummary:
        """Traversed edges per second."""
        return HarmonicSummary.of(self.nedges, self.times)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in JSON's types."""
        return {
            **asdict(self),
            "time": Statistics.of(self.times)._asdict(),
            "TEPS": self.teps._asdict(),
            "machine": machine.describe(),
            "versions": machine.versions(),
        }

    def __str__(self) -> str:
        lines = [
            ("SCALE", f"{self.scale}"),
            ("edgefactor", f"{self.edge_factor}"),
            ("NBFS", f"{len(self.roots)}"),
            ("graph_generation", f"{self.graph_generation:g}"),
            ("num_mpi_processes", "1"),
            ("construction_time", f"{self.construction_time:g}"),
        ]
        lines += [(f"bfs  {name}_time", f"{value:g}") for name, value in Statistics.of(self.times)._asdict().items()]
        lines += [(f"{name}_nedge", f"{value:.11g}") for name, value in Statistics.of(self.nedges)._asdict().items()]
        lines += [(f"bfs  {name}_TEPS", f"{value:g}") for name, value in self.teps._asdict().items()]
        validated = Statistics.of(self.validate_times)._asdict()
        lines += [(f"bfs  {name}_validate", f"{value:g}") for name, value in validated.items()]
        labels = [MARKED if name == "bfs  harmonic_mean_TEPS" else f"{name}:" for name, _ in lines]
        return "\n".join(f"{label:{WIDTH}}{value}" for label, (_, value) in zip(labels, lines, strict=True))


def graph500(
    scale: int,
    *,
    edge_factor: int = EDGE_FACTOR,
    roots: int = ROOTS,
    engine: str = "auto",
    seed: int = SEED,
    devices: int | str | Sequence[int] | None = None,
    progress: Progress = quiet,
) -> Graph500:
    """Run the benchmark. With a GPU engine only roots, times and verdicts leave the device.

    Construction makes the CSR of the edges in both directions, without self-loops and duplicates, and the engine's
    traversal. The first search is not timed. With ``devices`` the graph is distributed, see `rapids_bfs.as_graph`: the
    build draws each edge again whenever it needs it, so the whole edge list is never in memory.

    Raises
    ------
    InputError
        For an unknown engine or one that cannot run here, or a graph that does not fit.
    TraversalError
        If an answer is wrong, naming the rule of Graph500 that it breaks.
    """
    roots = whole_number(roots, "the number of roots", 1)
    scale, edge_factor = whole_number(scale, "the scale", 1), whole_number(edge_factor, "the edge factor", 1)
    run = Graph500(scale, edge_factor, whole_number(seed, "the seed"), engine)
    names = ("compile", "generate", "construct")

    def step(number: int) -> None:
        progress(number, roots + len(names), names[number])

    if devices is None:
        graph, search, count = _on_one(run, step)
    else:
        graph, search, count = _on_several(run, step, devices)
    vertices = graph.sample_sources(roots, seed)
    run.roots = graph.ids_of(vertices).tolist()
    verdict_of(graph, search(vertices[:1])())  # compiles
    for number, root in enumerate(run.roots):
        progress(number + len(names), roots + len(names), f"root {number + 1} of {len(vertices)}")
        begin = perf_counter()
        result_of = search(vertices[number : number + 1])
        run.times.append(perf_counter() - begin)
        result = result_of()
        run.nedges.append(count(result))
        begin = perf_counter()
        verdict = verdict_of(graph, result)
        run.validate_times.append(perf_counter() - begin)
        if not verdict:
            raise TraversalError(f"{run.engine} from root {root} of {graph.name}: {verdict}")
    return run


def _on_one(run: Graph500, step: Callable[[int], None]) -> tuple[Any, Search, Count]:
    """Generate and build the graph on one device."""
    spec = require(run.engine)
    run.engine, device = spec.name, spec.engine.searches_on
    drawing = rmat_edges(run.scale, run.edge_factor, seed=run.seed, device=device)
    step(0)
    _compile(spec, drawing)

    def wait() -> None:
        if device == CUDA:
            finish()

    step(1)
    begin = perf_counter()
    source, target = drawing.edges()
    wait()
    run.graph_generation = perf_counter() - begin

    step(2)
    begin = perf_counter()
    graph = drawing.graph_of(source, target)
    spec.require(graph)
    traversal = spec.prepare(graph)
    wait()
    run.construction_time = perf_counter() - begin
    degrees = _drawn_edges(drawing, source)

    def search(root: np.ndarray) -> Callable[[], Any]:
        found = traversal.search(root, DEFAULT)
        return lambda: traversal.result(found, root, DEFAULT)

    return graph, search, lambda result: int(degrees[result.distances >= 0].sum())


def _compile(spec: EngineSpec, drawing: Drawing) -> None:
    """Build and search a small graph with the large one's dtypes, so that no compilation is timed."""
    small = rmat_edges(4, device=drawing.device)
    graph = small.graph_of(*small.edges())
    for offset in ("int32", np.dtype(index_dtype(2 * drawing.m)).name):
        typed = graph._with(offsets=graph.offsets.astype(offset))
        verdict_of(typed.simple, spec.prepare(typed).run(np.array([0])))


def _drawn_edges(drawing: Drawing, source: Any) -> Any:
    """The number of edges drawn from each vertex, n. A search reaches both ends of an edge, or neither."""
    if drawing.device == CUDA:
        from .._core.csr.device import count

        return count([(source, source)], drawing.n, drawing.m)[2:].astype(np.int64)
    return np.bincount(source, minlength=drawing.n)


def _on_several(
    run: Graph500, step: Callable[[int], None], devices: int | str | Sequence[int]
) -> tuple[Any, Search, Count]:
    """The same on several devices."""
    own = OWN[CPU if device_names(devices)[0] == CPU else CUDA]
    if run.engine not in ("auto", own):
        raise InputError(f"on several devices {own!r} searches, not {run.engine!r}")
    spec = f"rmat:{run.scale}:{run.edge_factor}"
    step(0)
    small: Any = drawn("rmat:8", devices, seed=run.seed)
    verdict_of(small, searched(small, small.sample_sources(1, run.seed), DEFAULT))
    launcher = small.launcher
    source = RandomEdges(spec, launcher.device, run.seed)

    step(1)
    begin = perf_counter()
    launcher.collect(_draw, source)
    run.graph_generation = perf_counter() - begin

    step(2)
    begin = perf_counter()
    graph: Any = drawn(spec, devices, seed=run.seed)
    graph.prepare()
    run.construction_time = perf_counter() - begin
    run.engine = f"{own}, {graph.searched}"
    degrees = graph.launcher.map(_drawn_degrees, source, each=[graph.partitions])

    def search(root: np.ndarray) -> Callable[[], Any]:
        result = searched(graph, root, DEFAULT)
        return lambda: result

    def count(result: Any) -> int:
        return sum(graph.launcher.collect(_reached_edges, each=[result.answers, degrees]))

    return graph, search, count


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
