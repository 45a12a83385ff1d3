"""Searches of a distributed graph: by all ranks together, or by rank 0 for all, see `gathered`."""

from __future__ import annotations

from random import Random
from typing import Any, NoReturn

import numpy as np

from .._core.cuda.arrays import CPU
from ..engines import EngineSpec, Options, Traversal
from ..errors import InputError
from .gathered import GATHERED, Totals, search_gathered
from .launchers import Threads
from .level_synchronous import ONE_LAUNCH, Answer, search
from .result import DistributedResult, level_sums, traced

NUMBER_BITS = 61  # of the numbers that tell searches apart
_numbers = Random()  # begins where the system says, whatever users do to `random`


def searched(graph: Any, sources: np.ndarray, options: Options) -> DistributedResult:
    """Search a graph in partitions from these numbers."""
    if options.deterministic:
        raise InputError(
            "a graph in partitions cannot be searched deterministically: search it on one device, or leave out "
            "deterministic=True"
        )
    if options.check:
        raise InputError("a search of a graph in partitions cannot check its levels: validate the result")
    graph.prepare()
    launcher = graph.launcher
    sources = np.asarray(sources, np.int64)
    number = 1 + _numbers.getrandbits(NUMBER_BITS)
    way = graph.way  # of this search: the next may go another way
    if way == GATHERED:
        answers, totals = search_gathered(launcher, graph.partitions, sources, options)
    elif way == ONE_LAUNCH and isinstance(launcher, Threads):
        from .persistent import search_together

        answers = launcher.together(search_together, sources, options, number, each=[graph.partitions])
        totals = _totals(answers[0])
    else:
        given = sources, options, number
        answers, (totals, *_) = launcher.map_and_report(search, _totals, *given, each=[graph.partitions])
    reached, depth, steps = totals
    trace = None
    if options.trace:
        engine = f"{graph.device}, {graph.searched_by(way)}"
        sizes = launcher.run(level_sums, depth, each=[graph.partitions, answers])
        trace = traced(np.sum(sizes, axis=0), steps, engine)
    graph.note_depth(depth)
    return DistributedResult(graph, sources, answers, reached, depth, options.depth_limit, options.target, trace)


def _totals(answer: Answer) -> Totals:
    return Totals(answer.reached, answer.depth, answer.steps)


class DistributedTraversal(Traversal):
    """Our search of a graph in partitions."""

    graph: Any
    one_device = False

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

    one_device = False

    def __init__(self, graph: Any, spec: EngineSpec) -> None:
        super().__init__(graph.to(CPU))
        self.partitions = graph
        self.traversal = spec.engine.prepare_over(self.graph, spec.algorithm, graph.launcher.size)

    def search(self, sources: np.ndarray, options: Options) -> Any:
        return self.traversal.search(self._vertices(sources), options)

    def answer(self, found: Any) -> Any:
        return self.traversal.answer(found)

    def result(self, found: Any, sources: np.ndarray, options: Options, *, own: bool = False) -> Any:
        return self.traversal.result(found, self._vertices(sources), options, own=own)

    def _vertices(self, sources: np.ndarray) -> np.ndarray:
        vertices: np.ndarray = self.partitions.vertices(sources).astype(np.int64)
        return vertices
