"""What depends on the kind of graph: here for a `Graph`; `rapids_bfs.distributed` registers its own."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ..graph import Graph
from .base import Options, Traversal
from .registry import EngineSpec, require

MANY = 1 << 12  # edges each way of the graph of `compile_for`: engines may search a tiny graph in another way
ORIGIN = np.array([0])


@singledispatch
def search(graph: Any, sources: np.ndarray, options: Options, engine: str) -> Any:
    """`rapids_bfs.bfs` from vertices (int64, distinct) rather than ids."""
    spec = require(engine, options.deterministic)
    spec.require(graph, options, len(sources))
    traversal = spec.traversal(graph)
    with traversal.lock:
        result = traversal.run(sources, options, own=True)
    if result.trace is not None:
        result.trace.engine = spec.name
    return result


@singledispatch
def prepare(graph: Any, spec: EngineSpec) -> Traversal:
    """A traversal of ``graph`` that shares nothing with what others have prepared for it."""
    return spec.engine.prepare(graph._with(), spec.algorithm)


@singledispatch
def unsupported(graph: Any, spec: EngineSpec, options: Options) -> str | None:
    """`Engine.unsupported`, of the graph that `prepare` has the engine search."""
    return spec.engine.unsupported(graph, spec.algorithm, options)


@singledispatch
def compile_for(graph: Any, spec: EngineSpec, options: Options) -> None:
    """Compile what a search of ``graph`` needs, by a search of a graph of two vertices with the same dtypes."""
    offsets = np.array([0, MANY, 2 * MANY], graph.offsets.dtype)
    targets = np.repeat(np.array([1, 0], graph.targets.dtype), MANY)
    spec.engine.prepare(Graph(offsets, targets, directed=graph.directed), spec.algorithm).run(ORIGIN, options)
