"""Searches of a distributed graph, by all ranks or, once it is gathered, by rank 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from random import Random
from time import monotonic, monotonic_ns
from typing import Any, NoReturn

import numpy as np

from .._core.cuda.arrays import CPU, CUDA
from ..engines import EngineSpec, Options, Traversal, marked
from ..errors import InputError
from ..trace import Trace
from .communicators import NotStarted
from .gathered import GATHERED, search_gathered
from .launchers import Launcher, PerRank, Threads
from .level_synchronous import ONE_LAUNCH, Totals, search
from .masks import bitmap_of
from .result import DistributedResult, level_sums

RANDOM_BITS = 29  # of a search id, above those of the time
TIME_BITS = 32
TICK_BITS = 8  # a tick of the time has 256 ns, and no phase of a search takes less
_search_ids = Random()  # seeded by the system, whatever users do to `random`


def searched(graph: Any, sources: np.ndarray, options: Options) -> DistributedResult:
    """Search a distributed graph from ``sources``, distinct global ids. With a mask of vertices, ranks on the CPU skip
    those that it leaves out; on GPUs the ranks filter their rows first."""
    if options.deterministic:
        raise InputError(
            "a distributed graph cannot be searched deterministically: search it on one device, or leave out "
            "deterministic=True"
        )
    if options.check:
        raise InputError("a search of a distributed graph cannot check its levels: validate the result")
    vertices = options.vertices
    if vertices is not None and graph.device == CUDA:
        found = searched(graph.filter(vertices=vertices), sources, replace(options, vertices=None))
        return replace(found, graph=graph, vertices=vertices)
    graph.prepare()
    if vertices is not None:
        options = replace(options, vertices=bitmap_of(graph, vertices))
    sources = np.asarray(sources, np.int64)
    transport = graph.transport  # read once: a search in another thread may change it
    answers, totals = _answers(graph, transport, sources, options)
    trace = _trace(graph, transport, answers, totals) if options.trace else None
    reached, depth = totals[0].reached, totals[0].depth
    graph.note_depth(depth)
    return DistributedResult(
        graph, sources, answers, reached, depth, options.depth_limit, options.target, trace, vertices
    )


def _answers(graph: Any, transport: str, sources: np.ndarray, options: Options) -> tuple[PerRank, Sequence[Totals]]:
    """The answer of each rank, and the totals: those of each rank, or only one if they do not count what they send."""
    launcher: Launcher = graph.launcher
    each = [graph.partitions]
    if transport == GATHERED:
        answers, totals = search_gathered(launcher, graph.partitions, sources, options)
        return answers, [totals]
    if transport == ONE_LAUNCH and isinstance(launcher, Threads):
        together = graph.partitions[0].cache["search"].search_together
        deadline = monotonic() + launcher.timeout
        while True:
            try:
                answers = launcher.call_together(together, sources, options, _new_search_id(), each=each)
            except NotStarted:
                if monotonic() > deadline:
                    raise
            else:
                return answers, [answers[0].totals]
    return launcher.map_and_collect(search, attrgetter("totals"), sources, options, _new_search_id(), each=each)


def _trace(graph: Any, transport: str, answers: PerRank, totals: Sequence[Totals]) -> Trace:
    """The trace of the search with these answers and totals, by this transport."""
    counts = graph.launcher.collect(level_sums, totals[0].depth, each=[graph.partitions, answers])
    trace = Trace.of_counts(np.sum(counts, axis=0), totals[0].steps)
    trace.engine = f"{graph.device}, {graph.searched_by(transport)}"
    if totals[0].traffic:
        trace.bytes_sent, trace.bytes_needed = np.diff([each.traffic for each in totals], axis=1).T.tolist()
    return trace


def _new_search_id() -> int:
    """A positive number of at most 62 bits, different for each search.

    A search in one launch counts its phases from there. The lower half is a time, which has gone further than the
    phases of any earlier search that this machine began. It begins again after 18 minutes. See `ranks.cuh`.
    """
    ticks = (monotonic_ns() >> TICK_BITS) % (1 << TIME_BITS)
    return 1 + (_search_ids.getrandbits(RANDOM_BITS) << TIME_BITS) + ticks


class DistributedTraversal(Traversal):
    """Our search of a distributed graph."""

    graph: Any
    one_device = False
    traces = True

    def __init__(self, graph: Any) -> None:
        super().__init__(graph)
        graph.prepare()

    def search(self, sources: np.ndarray, options: Options) -> DistributedResult:
        return searched(self.graph, sources, options)

    def answer(self, found: Any) -> NoReturn:
        raise InputError("the answer is distributed: ask for the result")

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> Any:
        return found


class GatheredTraversal(Traversal):
    """Another engine's search of the graph in one piece; the engine may itself distribute it over as many GPUs."""

    one_device = False

    def __init__(self, graph: Any, spec: EngineSpec) -> None:
        super().__init__(graph.to(CPU))
        self.distributed = graph
        prepared = spec.engine.prepare_over(self.graph, spec.algorithm, graph.launcher.size)
        self.traversal = marked(prepared, spec.engine, spec.algorithm)

    def search(self, sources: np.ndarray, options: Options) -> Any:
        return self.traversal.search(self._vertices(sources), options)

    def answer(self, found: Any) -> Any:
        return self.traversal.answer(found)

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> Any:
        return self.traversal.result(found, self._vertices(sources), options, own=own)

    def _vertices(self, sources: np.ndarray) -> np.ndarray:
        vertices: np.ndarray = self.distributed.places_of(sources).astype(np.int64)
        return vertices
