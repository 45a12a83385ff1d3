"""The common base of the engines of RAPIDS: requirements, and options that they do not support."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..._core.cuda.arrays import CUDA
from ..._core.rapids import package_missing
from ...graph import Graph
from ..base import Options, Traversal
from ..libraries.base import Library


class RapidsEngine(Library):
    """An engine that is cuGraph underneath."""

    searches_on = CUDA
    package: ClassVar[str]
    supports = ("depth_limit",)
    zero_is_no_limit: ClassVar[bool] = True  # does a depth limit of 0 mean no limit?

    def unavailable(self) -> str | None:
        return package_missing(self.package)

    def unsupported(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        if options.trace:
            return "cuGraph tells nothing of its levels: trace another engine"
        if options.depth_limit == 0 and self.zero_is_no_limit:
            return "cuGraph takes a depth limit of 0 for none: give at least 1"
        return super().unsupported(graph, algorithm, options, sources)


class RapidsTraversal(Traversal):
    """A search whose answer is arrays of distances, predecessors and vertices on the device, in cuGraph's order."""

    searches_on = CUDA

    def answer(self, found: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        import cupy

        distances, predecessors, vertices = found
        n = self.graph.num_vertices
        ours = cupy.full(n, -1, np.int32)
        unreached = np.iinfo(distances.dtype).max
        ours[vertices] = cupy.where(distances == unreached, -1, distances)
        if predecessors is None:
            return ours, None
        tree = cupy.full(n, -1, self.graph.targets.dtype)
        tree[vertices] = predecessors
        return ours, tree


def reached(distances: Any) -> int:
    """The number of vertices that have a distance in cuGraph's answer."""
    return int((distances != np.iinfo(distances.dtype).max).sum())


def wait() -> None:
    """Wait for all work on the device."""
    import cupy

    cupy.cuda.Device().synchronize()
