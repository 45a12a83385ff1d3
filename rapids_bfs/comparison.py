"""The side-by-side run: the same graph, the same sources, every engine, each answer validated."""

from __future__ import annotations

import csv
import json
import os
import shlex
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike
from statistics import harmonic_mean, median
from time import perf_counter
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np

from . import machine
from .arguments import engine_name, whole_number
from .device import CUDA, moved, to_host
from .engines import Choice, Options, Traversal, choose, registered
from .errors import InputError, TraversalError
from .graph import Graph
from .memory import PeakDeviceBytes
from .result import BFSResult
from .search import checked_depth_limit, source_vertices
from .trace import Trace
from .validation import validate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .edges import Edges

SOURCES = 16
SEED = 1
WHOLE_WAYS = 3  # from a list of edges to an answer
LONG_MS = 1e3
ORIGIN = np.array([0])
BASELINES = ("cugraph", "scipy", "networkx")  # what others are measured against, the first that ran


@dataclass(frozen=True)
class Run:
    """One search: ``source`` is an id, ``edges`` the input edges of the component that it traversed."""

    source: Hashable
    ms: float
    reached: int
    depth: int
    edges: int
    verdict: str

    @property
    def valid(self) -> bool:
        return self.verdict == "valid"

    @property
    def teps(self) -> float:
        """Traversed edges per second, by Graph500's definition."""
        return self.edges / (self.ms / 1e3)


@dataclass
class EngineRuns:
    """What one engine did. ``unavailable`` says why it did nothing, or why it stopped.

    ``edges_ms`` are the times of the whole way, from a list of edges over a graph to an answer, if there was a list.
    ``prepare_bytes`` and ``run_bytes`` are how much more of the device's memory was taken at a time, at most, by the
    preparation and by one search; None for engines that do without a device.
    ``trace`` is one more search from the first source, not timed, where the engine notes what each level did.
    """

    engine: str
    unavailable: str | None = None
    prepare_ms: float | None = None
    warmup_ms: float | None = None
    edges_ms: list[float] = field(default_factory=list)
    prepare_bytes: int | None = None
    run_bytes: int | None = None
    runs: list[Run] = field(default_factory=list)
    trace: Trace | None = None

    @property
    def run_ms(self) -> list[float]:
        return [run.ms for run in self.runs]

    @property
    def median_ms(self) -> float | None:
        return median(self.run_ms) if self.runs else None

    @property
    def valid(self) -> bool | None:
        """Is every answer right? None if there is none."""
        return all(run.valid for run in self.runs) if self.runs else None

    @property
    def reached(self) -> int | None:
        """Vertices reached, the most over the sources."""
        return max((run.reached for run in self.runs), default=None)

    @property
    def depth(self) -> int | None:
        """Largest distance, the most over the sources."""
        return max((run.depth for run in self.runs), default=None)

    @property
    def teps_harmonic_mean(self) -> float | None:
        """Harmonic mean over the sources, as Graph500 asks."""
        return harmonic_mean([run.teps for run in self.runs]) if self.runs else None


@dataclass
class Comparison:
    """The outcome of `compare`. It prints as a table, plots itself, and writes itself as JSON, CSV and HTML.

    Attributes
    ----------
    graph : Graph
    engines : list of EngineRuns
        Those that could not run are there with the reason.
    baseline : str or None
        The engine that the others' speed is given relative to.
    levels : Trace or None
        The levels that a search from the first source finds.
    interrupted : bool
        Ctrl-C ended it early; what was finished is there.
    """

    graph: Graph
    engines: list[EngineRuns]
    baseline: str | None = None
    levels: Trace | None = None
    interrupted: bool = False
    seed: int | None = None
    command: str = ""
    started: str = ""

    @property
    def valid(self) -> bool:
        """Is no answer of any engine wrong?"""
        return all(engine.valid is not False for engine in self.engines)

    @property
    def ran(self) -> bool:
        """Has any engine given an answer?"""
        return any(engine.runs for engine in self.engines)

    def __getitem__(self, engine: str) -> EngineRuns:
        return next(runs for runs in self.engines if runs.engine == engine)

    def ratio_to_baseline(self, engine: str) -> float | None:
        """How many times as fast as the baseline: its median time over the engine's, on the sources both have run."""
        if self.baseline is None:
            return None
        theirs = {run.source: run.ms for run in self[self.baseline].runs}
        ours = {run.source: run.ms for run in self[engine].runs}
        both = theirs.keys() & ours.keys()
        return median(theirs[s] for s in both) / median(ours[s] for s in both) if both else None

    def to_dict(self) -> dict[str, Any]:
        """Everything, in JSON's types. Times in ms; ``reached`` and ``depth`` are the largest over the sources."""
        return {
            "graph": {
                "name": self.graph.name,
                "vertices": self.graph.num_vertices,
                "edges": self.graph.num_edges,
                "directed": self.graph.directed,
            },
            "started": self.started,
            "machine": machine.describe(),
            "versions": machine.versions(),
            "command": self.command,
            "seed": self.seed,
            "baseline": self.baseline,
            "interrupted": self.interrupted,
            "levels": None if self.levels is None else self.levels.to_columns(),
            "engines": [
                {
                    "engine": runs.engine,
                    "unavailable": runs.unavailable,
                    "valid": runs.valid,
                    "prepare_ms": runs.prepare_ms,
                    "warmup_ms": runs.warmup_ms,
                    "edges_ms": runs.edges_ms,
                    "prepare_bytes": runs.prepare_bytes,
                    "run_bytes": runs.run_bytes,
                    "sources": [_plain(run.source) for run in runs.runs],
                    "run_ms": runs.run_ms,
                    "median_ms": runs.median_ms,
                    "reached": runs.reached,
                    "depth": runs.depth,
                    "teps_harmonic_mean": runs.teps_harmonic_mean,
                    "ratio_to_baseline": self.ratio_to_baseline(runs.engine),
                    "trace": None if runs.trace is None else runs.trace.to_columns(),
                    "runs": [
                        {
                            "source": _plain(run.source),
                            "ms": run.ms,
                            "reached": run.reached,
                            "depth": run.depth,
                            "edges": run.edges,
                            "teps": run.teps,
                            "verdict": run.verdict,
                        }
                        for run in runs.runs
                    ],
                }
                for runs in self.engines
            ],
        }

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write `to_dict` to ``path``."""
        write_json(self.to_dict(), path)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write a row for each engine and source to ``path``."""
        rows = [{"engine": each["engine"], **run} for each in self.to_dict()["engines"] for run in each["runs"]]
        with _writing(path, newline="") as out:
            names = ("engine", "source", "ms", "reached", "depth", "edges", "teps", "verdict")
            writer = csv.DictWriter(out, names)
            writer.writeheader()
            writer.writerows(rows)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a page for a browser to ``path``: one file that holds everything and needs no network."""
        from .report.page import page

        with _writing(path) as out:
            out.write(page(self.to_dict()))

    def plot(self) -> Figure:
        """A Matplotlib figure: each engine's times, every search a dot, and how many times as fast as the baseline.

        It shows itself in a notebook; ``figure.savefig("times.svg")`` keeps it.
        """
        from .report.plots import plot_comparison

        return plot_comparison(self.to_dict())

    def __rich__(self) -> Any:
        from .report.table import comparison_table

        return comparison_table(self)

    def __str__(self) -> str:
        from .report.table import as_text, comparison_table

        return as_text(comparison_table(self))


class Progress(Protocol):
    """Who is told how far a comparison is."""

    def __call__(self, done: int, total: int, doing: str) -> None: ...


def quiet(done: int, total: int, doing: str) -> None:
    """A `Progress` that tells nobody."""


def compare(
    graph: Any,
    sources: int | Iterable[Hashable] = SOURCES,
    *,
    engines: str | Sequence[str] | None = None,
    baseline: str | None = None,
    seed: int = SEED,
    depth_limit: int | None = None,
    progress: Progress = quiet,
    **graph_options: Any,
) -> Comparison:
    """Run BFS from the same sources on several engines, validate every answer and time every run.

    Each engine prepares and warms up, which includes compilation, before anything is timed. Then every source is
    searched by each engine in turn, each time starting with another one, so that a noisy moment hurts all alike.
    A time is from the call to the finished answer in the engine's own form.

    Parameters
    ----------
    graph : Graph, Edges or anything that `as_graph` takes
        From a list of edges, a table or a pair of arrays, each engine also goes the whole way: it makes its own
        kind of graph and searches once. This is timed apart.
    sources : int or ids
        How many vertices with an out-edge to draw at random, or which to search from.
    engines : names, in a list or separated by commas
        Default: every engine, those that can't run here with their reason.
    baseline : str
        The engine that ratios refer to. Default: the first of cugraph, scipy, networkx that ran.
    seed : int
        Of the random sources.
    depth_limit : int, optional
    progress : callable
        Called as ``progress(done, total, doing)`` before each step.
    **graph_options
        As for `as_graph`.

    Raises
    ------
    InputError
        For an unknown engine, a source that is no vertex, a graph without edges to draw sources from.
    """
    from .adapters import as_graph
    from .edges import Edges

    edges = graph if isinstance(graph, Edges) else Edges.of(graph, **graph_options)
    graph = as_graph(graph, **graph_options) if edges is None else edges.graph
    graph.check()  # a graph whose arrays were written to would make right engines look wrong
    options = Options(depth_limit=checked_depth_limit(depth_limit))
    choices = _choices(engines)
    if baseline is not None:
        baseline = choose(engine_name(baseline)).name
        if baseline not in (choice.name for choice in choices):
            raise InputError(f"the baseline {baseline!r} is none of the engines: {', '.join(c.name for c in choices)}")
    if drawn := isinstance(sources, int | np.integer):
        vertices = sample_sources(graph, sources, seed)
    else:
        vertices = source_vertices(graph, sources)
    comparison = Comparison(
        graph,
        [EngineRuns(choice.name) for choice in choices],
        seed=seed if drawn else None,
        command=_command(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    try:
        _run(comparison, choices, vertices, options, progress, edges, asked=engines is not None)
    except KeyboardInterrupt:
        comparison.interrupted = True
    ran = [runs.engine for runs in comparison.engines if runs.runs]
    preferred = [baseline] if baseline else [*BASELINES, *ran]
    comparison.baseline = next((name for name in preferred if name in ran), None)
    return comparison


def _choices(engines: str | Sequence[str] | None) -> list[Choice]:
    if engines is None:
        return [
            choose(f"{name}:{algorithm}")
            for name, engine in registered().items()
            for algorithm in engine.compared or engine.algorithms[:1]
        ]
    if not isinstance(engines, Sequence) or not engines:
        raise InputError(f"engines are a list of names, or one string with commas, not {engines!r}")
    names = engines.split(",") if isinstance(engines, str) else engines
    return list({choice.name: choice for choice in (choose(engine_name(name)) for name in names)}.values())


def _command() -> str:
    """What was typed, without the folder that the program is in."""
    program = os.path.basename(sys.argv[0]) or "python"
    return shlex.join(["rapids-bfs" if program == "cli.py" else program, *sys.argv[1:]])


def sample_sources(graph: Graph, count: int | np.integer[Any], seed: int = SEED) -> np.ndarray:
    """``count`` distinct vertices with an out-edge, at random, or all of them if there are fewer."""
    count, seed = whole_number(count, "the number of sources", 1), whole_number(seed, "the seed")
    candidates: Any = np.flatnonzero(graph.degrees)
    if not len(candidates):
        raise InputError(f"{graph.name} has no edges to search along: name a source")
    picked = np.random.default_rng(seed).choice(len(candidates), min(count, len(candidates)), replace=False)
    return to_host(candidates[moved(picked, graph.device)])


def _run(
    comparison: Comparison,
    choices: list[Choice],
    vertices: np.ndarray,
    options: Options,
    progress: Progress,
    edges: Edges | None,
    *,
    asked: bool,
) -> None:
    """Fill in ``comparison``, run by run."""
    graph = comparison.graph
    total = len(choices) * (1 + len(vertices))
    done = 0
    ready: list[tuple[EngineRuns, Traversal]] = []
    for runs, choice in zip(comparison.engines, choices, strict=True):
        progress(done, total, f"{choice.name}: prepare and warm up")
        done += 1
        engine = choice.engine
        runs.unavailable = engine.unavailable() or engine.declines(graph, choice.algorithm, options)
        if runs.unavailable is None and not asked:
            runs.unavailable = engine.unsuited(graph)
        if runs.unavailable is None:
            with _reason_into(runs):
                traversal = _prepared(runs, choice, graph, vertices[:1], options)
                ready.append((runs, traversal))
                if edges is not None:
                    reached = traversal.run(vertices[:1], options).num_reached
                    _from_edges(runs, choice, edges, vertices[:1], options, reached)
        if runs.unavailable:
            done += len(vertices)

    ids = graph.ids_of(vertices).tolist()
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
                    comparison.levels = Trace.of(graph, result.distances, None)

    for runs, traversal in ready:
        if traversal.traces and not runs.unavailable:
            progress(done, total, f"{runs.engine}: trace")
            with _reason_into(runs):
                runs.trace = traversal.run(vertices[:1], replace(options, trace=True)).trace


@contextmanager
def _reason_into(runs: EngineRuns) -> Iterator[None]:
    """If the engine fails here, note why, so that the others can go on."""
    try:
        yield
    except Exception as error:
        runs.unavailable = f"failed: {type(error).__name__}: {error}"


def _prepared(runs: EngineRuns, choice: Choice, graph: Graph, source: np.ndarray, options: Options) -> Traversal:
    """A warm traversal of ``graph``. Compilation happens on a graph of two vertices and is part of the warm-up."""
    begin = perf_counter()
    many = 1 << 12  # edges each way: engines may search a tiny graph in another way
    offsets = np.array([0, many, 2 * many], graph.offsets.dtype)
    targets = np.repeat(np.array([1, 0], graph.targets.dtype), many)
    choice.engine.prepare(Graph(offsets, targets, directed=graph.directed), choice.algorithm).run(ORIGIN, options)
    with _peak_bytes(choice) as peak:
        compiled = perf_counter()
        traversal = choice.engine.prepare(graph._with(), choice.algorithm)  # with what others made of it kept apart
        prepared = perf_counter()
    runs.prepare_bytes = peak.bytes if peak else None
    with _peak_bytes(choice) as peak:
        again = perf_counter()
        traversal.search(source, options)
        warm = perf_counter()
    runs.run_bytes = peak.bytes if peak else None
    runs.warmup_ms = 1e3 * (compiled - begin + warm - again)
    runs.prepare_ms = 1e3 * (prepared - compiled)
    return traversal


def _peak_bytes(choice: Choice) -> AbstractContextManager[PeakDeviceBytes | None]:
    """What follows the device's memory, if the engine takes any."""
    return PeakDeviceBytes() if choice.engine.searches_on == CUDA else nullcontext()


def _from_edges(
    runs: EngineRuns, choice: Choice, edges: Edges, source: np.ndarray, options: Options, reached: int
) -> None:
    """Time the whole way from the edges to an answer: `WHOLE_WAYS` times, or less if it is long."""
    id = edges.graph.ids_of(source).tolist()[0]
    while len(runs.edges_ms) < WHOLE_WAYS and sum(runs.edges_ms) < LONG_MS:
        begin = perf_counter()
        count = choice.engine.whole_way(edges, choice.algorithm, id, options)
        runs.edges_ms.append(1e3 * (perf_counter() - begin))
        if count() != reached:
            raise TraversalError(f"reached {count()} vertices from the list of edges, and {reached} from the graph")


def _timed(traversal: Traversal, source: np.ndarray, id: Hashable, options: Options) -> tuple[Run, BFSResult]:
    begin = perf_counter()
    found = traversal.search(source, options)
    ms = 1e3 * (perf_counter() - begin)
    result = traversal.result(found, source, options)
    verdict = validate(traversal.graph, result)
    return Run(id, ms, result.num_reached, result.depth, result.num_traversed_edges, str(verdict)), result


def write_json(content: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write ``content`` to ``path``; ids that JSON has no type for as strings."""
    with _writing(path) as out:
        json.dump(content, out, indent=1, default=str)
        out.write("\n")


@contextmanager
def _writing(path: str | PathLike[str], newline: str | None = None) -> Iterator[IO[str]]:
    """The file at ``path``, opened for text. Raises `InputError` if it cannot be written, as on a full disk."""
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline=newline) as out:
            yield out
    except OSError as error:
        raise InputError(f"{os.fspath(path)} cannot be written: {error.strerror or error}") from None


def _plain(id: Any) -> Any:
    """An id in one of JSON's types."""
    return id if isinstance(id, int | float | str) else str(id)
