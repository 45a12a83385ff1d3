"""Many sources for an engine that takes one at a time."""

from __future__ import annotations

import numpy as np

from ..device import to_host
from ..graph import Graph
from . import BatchTraversal, Options, Summary, Traversal


class OneByOne(BatchTraversal):
    """The engine's own searches, one after the other."""

    batch_size = 1

    def __init__(self, graph: Graph, traversal: Traversal) -> None:
        super().__init__(graph)
        self.traversal = traversal

    def distances(self, sources: np.ndarray, depth_limit: int | None, distances: np.ndarray) -> None:
        for row, source in zip(distances, sources, strict=True):
            row[:] = self._from(source, depth_limit)

    def summary(self, sources: np.ndarray, depth_limit: int | None) -> Summary:
        summary = Summary.of(len(sources))
        for place, source in enumerate(sources):
            distances = self._from(source, depth_limit)
            counts = np.bincount(distances[distances >= 0])
            levels = np.arange(len(counts))
            summary.reached[place] = counts.sum()
            summary.total[place] = counts @ levels
            summary.eccentricity[place] = levels[-1]
            summary.harmonic[place] = (counts[1:] / levels[1:]).sum()
        return summary

    def _from(self, source: np.int64, depth_limit: int | None) -> np.ndarray:
        result = self.traversal.run(np.array([source]), Options(depth_limit, predecessors=False))
        return to_host(result.distances)
