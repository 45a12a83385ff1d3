"""Searches of a distributed graph, by all ranks or, once it is gathered, by rank 0."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from random import Random
from time import monotonic_ns
from typing import Any, NoReturn

import numpy as np

from .._core.cuda.arrays import CPU, CUDA
from ..engines import EngineSpec, Options, Traversal
from ..errors import InputError
from .gathered import GATHERED, search_gathered
from .launchers import Threads
from .level_synchronous import ONE_LAUNCH, search
from .masks import bitmap_of
from .result import DistributedResult, level_sums, traced

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
    launcher = graph.launcher
    sources = np.asarray(sources, np.int64)
    search_id = _new_search_id()
    transport = graph.transport  # of this search: the next may go another transport
    traffic: Any = None, None
    if transport == GATHERED:
        answers, totals = search_gathered(launcher, graph.partitions, sources, options)
    elif transport == ONE_LAUNCH and isinstance(launcher, Threads):
        together = graph.partitions[0].cache["search"].search_together
        answers = launcher.call_together(together, sources, options, search_id, each=[graph.partitions])
        totals = answers[0].totals
    else:
        given = sources, options, search_id
        answers, of_ranks = launcher.map_and_collect(search, attrgetter("totals"), *given, each=[graph.partitions])
        totals = of_ranks[0]
        if totals.traffic:
            traffic = np.diff([each.traffic for each in of_ranks], axis=1).T.tolist()
    depth = totals.depth
    trace = None
    if options.trace:
        engine = f"{graph.device}, {graph.searched_by(transport)}"
        sizes = launcher.collect(level_sums, depth, each=[graph.partitions, answers])
        trace = traced(np.sum(sizes, axis=0), totals.steps, engine)
        trace.bytes_sent, trace.bytes_needed = traffic
    graph.note_depth(depth)
    return DistributedResult(
        graph, sources, answers, totals.reached, depth, options.depth_limit, options.target, trace, vertices
    )


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
        self.traversal = spec.engine.prepare_over(self.graph, spec.algorithm, graph.launcher.size)

    def search(self, sources: np.ndarray, options: Options) -> Any:
        return self.traversal.search(self._vertices(sources), options)

    def answer(self, found: Any) -> Any:
        return self.traversal.answer(found)

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> Any:
        return self.traversal.result(found, self._vertices(sources), options, own=own)

    def _vertices(self, sources: np.ndarray) -> np.ndarray:
        vertices: np.ndarray = self.distributed.places_of(sources).astype(np.int64)
        return vertices
