"""`compare` runs every engine on the same graph and sources, and validates each answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from time import perf_counter
from traceback import walk_tb
from typing import Any, NamedTuple

import numpy as np

from .._core.arguments import engine_name, quoted, whole_number
from .._core.cuda.arrays import CUDA
from .._core.memory import PeakDeviceBytes
from ..algorithms.batch import vertices_of_sources
from ..algorithms.bfs import checked_depth_limit
from ..engines import (
    EngineSpec,
    Options,
    Traversal,
    compile_for,
    default_engines,
    prepare,
    registered,
    resolve,
    unsupported,
)
from ..engines.gpu.simulator import simulated
from ..errors import InputError, TraversalError
from ..loading import as_graph
from ..result import BFSResult
from ..validation import verdict_of
from .baselines import EdgeInput, baseline_of
from .records import Comparison, EngineRuns, Progress, Run, quiet

SOURCES = 16
SEED = 1
END_TO_END = 3  # runs from a list of edges to an answer
MAX_END_TO_END_MS = 1e3  # in all, after which no run starts
WARM_SEARCHES = 2  # the second may differ: a distributed graph is gathered after a search of many levels
BASELINES = ("cugraph", "cugraph-dask", "scipy", "networkx")  # ratios refer to the first of these that ran


def compare(
    graph: Any,
    *,
    sources: Iterable[Hashable] | None = None,
    num_sources: int | None = None,
    engines: str | Sequence[str] | None = None,
    baseline: str | None = None,
    seed: int = SEED,
    depth_limit: int | None = None,
    progress: Progress = quiet,
    **graph_options: Any,
) -> Comparison:
    """Run BFS from the same sources on several engines, validate every answer and time every run.

    Each engine prepares and warms up, including compilation, before any search is timed. Then the engines take turns
    for each source, starting with a different one each time, so noise affects all engines alike. A time is from the
    call to the finished answer in the engine's own form.

    Parameters
    ----------
    graph : Graph, Edges or anything that `as_graph` takes
        For an edge list (a table or a pair of arrays), each engine is also timed end to end: it builds its own graph
        and searches once. Our engines search a distributed graph on its devices; others search it on one device, or
        distribute it themselves.
    sources : list, set or array of ids, optional
    num_sources : int, instead of ``sources``
        The number of sources to draw among the vertices with an out-edge. Default: 16.
    engines : names, in a list or separated by commas
        Default: every engine, with a reason for those that cannot run; for a distributed graph, those that can search
        it.
    baseline : str
        The engine that ratios refer to. Default: the first of cugraph, cugraph-dask, scipy and networkx that ran, else
        the first engine that ran.
    seed : int
        Seed of the random sources.
    depth_limit : int, optional
    progress : callable
        Called as ``progress(done, total, doing)`` before each step.
    **graph_options
        As for `as_graph`.

    Raises
    ------
    InputError
        If an engine is unknown, a source is not a vertex, or the graph has no edges to draw sources from.
    """
    plan = planned(sources, num_sources, engines, baseline, seed, depth_limit)
    return compared(graph, plan, sources, progress, **graph_options)


class Plan(NamedTuple):
    """What to compare, before there is a graph."""

    specs: list[EngineSpec]
    named: bool  # whether the user named the engines
    options: Options
    baseline: str | None
    num_sources: int | None  # to draw
    seed: int
    traced: bool = True  # one more search of engines that record their levels


def compared(
    graph: Any, plan: Plan, sources: Any = None, progress: Progress = quiet, **graph_options: Any
) -> Comparison:
    """`compare`, by a plan."""
    edges = graph if isinstance(graph, EdgeInput) else EdgeInput.of(graph, **graph_options)
    graph = as_graph(graph, **graph_options) if edges is None else edges.graph
    graph.check()  # a graph whose arrays were written to would make right engines look wrong
    if not plan.named and (names := default_engines(graph)) is not None:
        plan = plan._replace(specs=[resolve(name) for name in names])
    if plan.num_sources is None:
        vertices = _distinct_vertices(graph, sources)
    else:
        vertices = sample_sources(graph, plan.num_sources, plan.seed)
    comparison = Comparison(
        graph,
        [EngineRuns(spec.name) for spec in plan.specs],
        seed=None if plan.num_sources is None else plan.seed,
        simulated=simulated(),
    )
    try:
        _run(comparison, plan, vertices, progress, edges)
    except KeyboardInterrupt:
        comparison.interrupted = True
    comparison.baseline = chosen_baseline(plan.baseline, [runs.engine for runs in comparison.engines if runs.runs])
    return comparison


def chosen_baseline(named: str | None, ran: Sequence[str]) -> str | None:
    """The engine that ratios refer to, among those that ran: the one named, else as `compare` says."""
    return next((name for name in ([named] if named else [*BASELINES, *ran]) if name in ran), None)


def planned(
    sources: Iterable[Hashable] | None = None,
    num_sources: int | None = None,
    engines: str | Sequence[str] | None = None,
    baseline: str | None = None,
    seed: int = SEED,
    depth_limit: int | None = None,
) -> Plan:
    """The arguments of `compare`, checked before there is a graph. Raises `InputError` if one is wrong."""
    options = Options(depth_limit=checked_depth_limit(depth_limit))
    specs = _choices(engines)
    if baseline is not None:
        baseline = resolve(engine_name(baseline)).name
        names = [spec.name for spec in specs]
        if baseline not in names:
            raise InputError(f"the baseline {quoted(baseline)} is not one of the engines: {', '.join(names)}")
    if sources is None:
        num_sources = whole_number(SOURCES if num_sources is None else num_sources, "the number of sources", 1)
    elif num_sources is not None:
        raise InputError("give either the sources or the number of sources to draw, not both")
    return Plan(specs, engines is not None, options, baseline, num_sources, whole_number(seed, "the seed"))


def _choices(engines: str | Sequence[str] | None) -> list[EngineSpec]:
    if engines is None:
        return [
            resolve(f"{name}:{algorithm}")
            for name, engine in registered().items()
            for algorithm in baseline_of(name).algorithms or engine.algorithms[:1]
        ]
    if not isinstance(engines, Sequence) or not engines:
        raise InputError(f"engines are a list of names, or one string with commas, not {quoted(engines)}")
    names = engines.split(",") if isinstance(engines, str) else engines
    return list({spec.name: spec for spec in (resolve(engine_name(name)) for name in names)}.values())


def sample_sources(graph: Any, count: int, seed: int = SEED) -> np.ndarray:
    """``count`` distinct vertices with an out-edge, at random, or all of them if there are fewer."""
    count, seed = whole_number(count, "the number of sources", 1), whole_number(seed, "the seed")
    sources: np.ndarray = graph.sample_sources(count, seed)
    return sources


def _distinct_vertices(graph: Any, sources: Any) -> np.ndarray:
    """The vertices (int64, in the order given) that have these ids. Raises `InputError` if there are none."""
    vertices = list(dict.fromkeys(vertices_of_sources(graph, sources).tolist()))
    if not vertices:
        raise InputError("at least one source is needed")
    return np.array(vertices)


def _run(comparison: Comparison, plan: Plan, vertices: np.ndarray, progress: Progress, edges: EdgeInput | None) -> None:
    """Fill in ``comparison``, run by run."""
    graph, specs, options = comparison.graph, plan.specs, plan.options
    total = len(specs) * (1 + len(vertices))
    done = 0
    ids = graph.ids_of(vertices).tolist()
    ready: list[tuple[EngineRuns, Traversal]] = []
    for runs, spec in zip(comparison.engines, specs, strict=True):
        progress(done, total, f"{spec.name}: prepare and warm up")
        done += 1
        with _reason_into(runs):
            runs.unavailable = _reason_not_to_run(spec, graph, options, plan.named)
            if runs.unavailable is None:
                traversal = _prepared(runs, spec, graph, vertices[:1], options)
                if edges is not None:
                    reached = traversal.run(vertices[:1], options).num_reached
                    _from_edges(runs, spec, edges.making(traversal.graph), ids[0], options, reached)
                ready.append((runs, traversal))
        if runs.unavailable:
            done += len(vertices)

    for turn in range(len(vertices)):
        first = turn % max(len(ready), 1)
        for runs, traversal in ready[first:] + ready[:first]:
            progress(done, total, f"{runs.engine}: source {turn + 1} of {len(vertices)}")
            done += 1
            if runs.unavailable:
                continue
            with _reason_into(runs):
                run, result = _timed(traversal, vertices[turn : turn + 1], ids[turn], options)
                runs.runs.append(run)
                if turn == 0 and run.valid:
                    comparison.levels = result.levels

    for runs, traversal in ready:
        if plan.traced and traversal.traces and not runs.unavailable:
            progress(done, total, f"{runs.engine}: trace")
            with _reason_into(runs):
                runs.trace = traversal.run(vertices[:1], replace(options, trace=True)).trace


@contextmanager
def _reason_into(runs: EngineRuns) -> Iterator[None]:
    """If the engine fails in this block, record why and go on with the others."""
    try:
        yield
    except Exception as error:
        runs.unavailable = f"failed: {type(error).__name__}: {error}{_place_of(error, runs.engine)}"


def _place_of(error: Exception, engine: str) -> str:
    """The last line of the engine's package that led to an error, for the end of a message; empty for our own errors,
    which explain themselves."""
    if isinstance(error, InputError | TraversalError):
        return ""
    package = type(resolve(engine).engine).__module__.partition(".")[0]
    place = ""
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__", "").partition(".")[0] == package:
            place = f" ({frame.f_code.co_filename}, line {line})"
    return place


def _reason_not_to_run(spec: EngineSpec, graph: Any, options: Options, named: bool) -> str | None:
    """Why the engine does not run, or None if it does; ``named``: the user named it."""
    skipped = None if named else baseline_of(spec.engine.name).skip_reason(graph)
    return spec.unavailable() or skipped or unsupported(graph, spec, options)


def _prepared(runs: EngineRuns, spec: EngineSpec, graph: Any, source: np.ndarray, options: Options) -> Traversal:
    """A warm traversal of ``graph``. Compilation is part of the warm-up."""
    begin = perf_counter()
    compile_for(graph, spec, options)
    with _peak_bytes(spec) as peak:
        compiled = perf_counter()
        traversal = prepare(graph, spec)
        prepared = perf_counter()
    runs.prepare_bytes = peak.bytes if peak and traversal.one_device else None
    with _peak_bytes(spec) as peak:
        again = perf_counter()
        for _ in range(WARM_SEARCHES):
            traversal.search(source, options)
        warm = perf_counter()
    runs.run_bytes = peak.bytes if peak and traversal.one_device else None
    runs.warmup_ms = 1e3 * (compiled - begin + warm - again)
    runs.prepare_ms = 1e3 * (prepared - compiled)
    return traversal


def _peak_bytes(spec: EngineSpec) -> AbstractContextManager[PeakDeviceBytes | None]:
    """Measures the peak of the device's memory, if the engine searches there."""
    return PeakDeviceBytes() if spec.engine.searches_on == CUDA else nullcontext()


def _from_edges(
    runs: EngineRuns, spec: EngineSpec, edges: EdgeInput, id: Hashable, options: Options, reached: int
) -> None:
    """Time the run from the edges to an answer `END_TO_END` times, or fewer if it takes long."""
    while len(runs.edges_ms) < END_TO_END and sum(runs.edges_ms) < MAX_END_TO_END_MS:
        begin = perf_counter()
        count = baseline_of(spec.engine.name).end_to_end(spec, edges, id, options)
        runs.edges_ms.append(1e3 * (perf_counter() - begin))
        if count() != reached:
            raise TraversalError(f"reached {count()} vertices from the list of edges, and {reached} from the graph")


def _timed(traversal: Traversal, source: np.ndarray, id: Hashable, options: Options) -> tuple[Run, BFSResult]:
    begin = perf_counter()
    found = traversal.search(source, options)
    ms = 1e3 * (perf_counter() - begin)
    result = traversal.result(found, source, options)
    verdict = verdict_of(traversal.graph, result)
    return Run(id, ms, result.num_reached, result.depth, result.num_traversed_edges, str(verdict)), result
