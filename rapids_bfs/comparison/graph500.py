"""The Graph500 benchmark, kernel 2 (breadth-first search): generate, build, search from 64 roots, validate each.

Graph500 specification, sections 3 to 6; the report is that of the reference code, version 3.0, word for word.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .._core.arguments import whole_number
from .._core.cuda.arrays import CUDA, finish
from .._core.dtypes import index_dtype
from ..engines import DEFAULT, EngineSpec, Traversal, require
from ..errors import TraversalError
from ..generators import EDGE_FACTOR, SEED, Drawing, rmat_edges
from ..graph import Graph
from ..validation import verdict_of
from .graph500_record import Graph500
from .records import Progress, quiet
from .runner import sample_sources

ROOTS = 64


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
    traversal. The first search is not timed. With ``devices`` the graph is distributed, see `rapids_bfs.as_graph`.

    Raises
    ------
    InputError
        For an unknown engine or one that cannot run here, or a graph that does not fit.
    TraversalError
        If an answer is wrong, naming the rule of Graph500 that it breaks.
    """
    roots = whole_number(roots, "the number of roots", 1)
    scale, edge_factor = whole_number(scale, "the scale", 1), whole_number(edge_factor, "the edge factor", 1)
    if devices is not None:
        from .distributed import distributed_graph500

        return distributed_graph500(Graph500(scale, edge_factor, seed, engine), devices, roots, progress)
    spec = require(engine)
    device = spec.engine.searches_on
    run = Graph500(scale, edge_factor, seed, spec.name)
    steps = roots + 3
    drawing = rmat_edges(scale, edge_factor, seed=seed, device=device)
    progress(0, steps, "compile")
    _compile(spec, drawing)

    progress(1, steps, "generate")
    begin = perf_counter()
    source, target = drawing.edges()
    _wait(device)
    run.graph_generation = perf_counter() - begin

    progress(2, steps, "construct")
    begin = perf_counter()
    graph = drawing.graph_of(source, target)
    spec.require(graph)
    traversal = spec.prepare(graph)
    _wait(device)
    run.construction_time = perf_counter() - begin
    drawn = _drawn_edges(drawing, source)
    del source, target

    vertices = sample_sources(graph, roots, seed)
    traversal.run(vertices[:1])
    run.roots = graph.ids_of(vertices).tolist()
    for number in range(len(vertices)):
        progress(number + 3, steps, f"root {number + 1} of {len(vertices)}")
        _search(run, graph, traversal, vertices[number : number + 1], drawn)
    return run


def _compile(spec: EngineSpec, drawing: Drawing) -> None:
    """Build and search a small graph with the large one's dtypes, so that no compilation is timed."""
    small = rmat_edges(4, device=drawing.device)
    graph = small.graph_of(*small.edges())
    for offset in ("int32", np.dtype(index_dtype(2 * drawing.m)).name):
        typed = graph._with(offsets=graph.offsets.astype(offset))
        verdict_of(typed.simple, spec.prepare(typed).run(np.array([0])))


def _search(run: Graph500, graph: Graph, traversal: Traversal, root: np.ndarray, drawn: Any) -> None:
    """Search from a root and validate the answer; record both times and the number of edges."""
    begin = perf_counter()
    found = traversal.search(root, DEFAULT)
    run.times.append(perf_counter() - begin)
    result = traversal.result(found, root, DEFAULT)
    run.nedges.append(int(drawn[result.distances >= 0].sum()))
    begin = perf_counter()
    verdict = verdict_of(graph, result)
    run.validate_times.append(perf_counter() - begin)
    if not verdict:
        raise TraversalError(f"{run.engine} from root {int(root[0])} of {graph.name}: {verdict}")


def _drawn_edges(drawing: Drawing, source: Any) -> Any:
    """The number of edges drawn from each vertex, n. A search reaches both ends of an edge, or neither."""
    if drawing.device == CUDA:
        from .._core.csr.device import count

        return count([(source, source)], drawing.n, drawing.m)[2:].astype(np.int64)
    return np.bincount(source, minlength=drawing.n)


def _wait(device: str) -> None:
    if device == CUDA:
        finish()
