"""The first searches of a process, by NumPy, until it is worth while to import Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core.cuda.arrays import to_host
from ..._core.memory import require_bytes
from ..._core.without_numba import numpy_will_do
from ...graph import Graph
from ...kernels import by_numpy
from ..base import Options, Traversal, kernel_limit


class First(Traversal):
    """Searches by NumPy for as long as `numpy_will_do` says so, then by the traversal that ``prepare`` returns."""

    traces = True

    def __init__(self, graph: Graph, prepare: Callable[[], Traversal]) -> None:
        super().__init__(graph)
        self._prepare = prepare
        self._compiled: Traversal | None = None

    def search(self, sources: np.ndarray, options: Options) -> Any:
        if self._compiled is None:
            if (found := self._by_numpy(sources, options)) is not None:
                return found
            self._compiled = self._prepare()
        found = self._compiled.search(sources, options)
        self.steps = self._compiled.steps
        return found

    def _by_numpy(self, sources: np.ndarray, options: Options) -> tuple[np.ndarray, np.ndarray] | None:
        """Distances and predecessors; None where Numba is to be imported."""
        here, n = self.here, self.here.num_vertices
        if options.trace or not numpy_will_do(n):
            return None
        require_bytes(24 * n, "a search")
        masked = np.zeros(n, bool) if options.vertices is None else ~to_host(options.vertices)
        target = -1 if options.target is None else options.target
        limit = kernel_limit(options.depth_limit)
        found: tuple[np.ndarray, np.ndarray] | None = by_numpy.search(
            here.offsets, here.targets, sources, limit, target, masked, numpy_will_do
        )
        return found

    def answer(self, found: Any) -> tuple[np.ndarray, np.ndarray | None]:
        return found if self._compiled is None else self._compiled.answer(found)
