"""The records of comparisons, on one graph and over a suite: tables, files and plots of times and verdicts."""

from __future__ import annotations

import csv
import json
import os
import shlex
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import TextIOWrapper
from os import PathLike
from pathlib import Path
from statistics import geometric_mean, harmonic_mean, median
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import file_path, quoted
from .._core.machine import describe
from .._core.machine import versions as installed
from ..adapters._file import replacing
from ..adapters.arrow import frame
from ..graph import Graph
from ..report.console import as_text
from ..report.documents import Tables, in_notebook, in_terminal, latex, markdown
from ..report.page import page
from ..report.plots import plot_comparison, plot_suite
from ..report.suite import plain_table, suite_page, suite_tables
from ..report.table import comparison_tables
from ..trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {  # fields of a `Run`, and the dtypes of their columns
    **{"ms": np.float64, "reached": np.int64, "depth": np.int64, "edges": np.int64},
    **{"teps": np.float64, "verdict": object},
}
COSTS = ("prepare_ms", "warmup_ms", "edges_ms", "prepare_bytes", "run_bytes")  # fields of an `EngineRuns`
SUMMARIES = ("run_ms", "median_ms", "reached", "depth", "teps_harmonic_mean")
SUITE_COLUMNS = {  # columns of a suite's frame, the fields of its records, and their dtypes
    **{"graph": ("graph", object), "vertices": ("vertices", np.int64), "edges": ("edges", np.int64)},
    **{"engine": ("engine", object), "ms": ("median_ms", np.float64), "teps": ("teps_harmonic_mean", np.float64)},
    **{"speed_up": ("ratio_to_baseline", np.float64), "prepare_ms": ("prepare_ms", np.float64)},
    **{"warmup_ms": ("warmup_ms", np.float64), "depth": ("depth", np.int64), "valid": ("valid", np.bool_)},
}

Progress = Callable[[int, int, str], None]  # called with the steps done, their total and the next step
Row = dict[str, Any]  # of a graph of a suite: its name, why it failed or None, and its comparison or None


def quiet(done: int, total: int, doing: str) -> None:
    """A `Progress` that does nothing."""


def now() -> str:
    """The time, as ISO 8601 writes it, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def command_line() -> str:
    """The command line of this process, without the program's folder."""
    program = os.path.basename(sys.argv[0]) or "python"
    return shlex.join(["rapids-bfs" if program == "__main__.py" else program, *sys.argv[1:]])


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
        return self.verdict.startswith("valid")

    @property
    def teps(self) -> float:
        """Traversed edges per second, by Graph500's definition."""
        return self.edges / (self.ms / 1e3)


@dataclass
class EngineRuns:
    """One engine's searches. ``unavailable`` says why there are none, or why the engine stopped.

    ``edges_ms`` are end-to-end times, from an edge list to an answer, if the graph was given as one.
    ``prepare_bytes`` and ``run_bytes`` are the peaks of device memory taken by the preparation and by one search; None
    for engines that search on the host.
    ``trace`` records the levels of one more search from the first source, which is not timed.
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
        """Whether every answer is right; None without answers."""
        return all(run.valid for run in self.runs) if self.runs else None

    @property
    def reached(self) -> int | None:
        """Vertices reached, the maximum over the sources."""
        return max((run.reached for run in self.runs), default=None)

    @property
    def depth(self) -> int | None:
        """Largest distance, the maximum over the sources."""
        return max((run.depth for run in self.runs), default=None)

    @property
    def teps_harmonic_mean(self) -> float | None:
        """Harmonic mean over the sources, as Graph500 asks."""
        return harmonic_mean([run.teps for run in self.runs]) if self.runs else None

    def to_dict(self) -> dict[str, Any]:
        """Everything, in JSON's types, but for the ratio to the baseline."""
        return {
            "engine": self.engine,
            "unavailable": self.unavailable,
            "valid": self.valid,
            **{name: getattr(self, name) for name in COSTS},
            "sources": [_plain(run.source) for run in self.runs],
            **{name: getattr(self, name) for name in SUMMARIES},
            "trace": None if self.trace is None else self.trace.to_columns(),
            **{name: getattr(self.trace, name, None) for name in ("bytes_sent", "bytes_needed")},
            "runs": [
                {"source": _plain(run.source), **{name: getattr(run, name) for name in FIGURES}} for run in self.runs
            ],
        }


@dataclass(repr=False, kw_only=True)
class Measured(Mapping[str, Any]):
    """What `Comparison` and `SuiteComparison` have in common: how it was measured, displays and files."""

    baseline: str | None = None
    interrupted: bool = False
    command: str = field(default_factory=command_line)
    started: str = field(default_factory=now)
    machine: dict[str, Any] = field(default_factory=describe)
    versions: dict[str, str] = field(default_factory=installed)

    def _about(self) -> dict[str, Any]:
        """How it was measured, in JSON's types."""
        names = ("started", "machine", "versions", "command", "baseline", "interrupted")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError

    def _tables(self) -> Tables:
        raise NotImplementedError

    def _page(self) -> str:
        raise NotImplementedError

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write `to_dict` to ``path``."""
        write_json(self.to_dict(), path)

    def to_markdown(self, path: str | PathLike[str]) -> None:
        """Write the tables to ``path``, in Markdown."""
        with writing(path) as out:
            out.write(markdown(self._tables().sections))

    def to_latex(self, path: str | PathLike[str]) -> None:
        """Write the tables to ``path``, in LaTeX, for the package booktabs."""
        with writing(path) as out:
            out.write(latex(self._tables().sections))

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a page for a browser to ``path``: one file that holds everything and needs no network."""
        with writing(path) as out:
            out.write(self._page())

    def __rich__(self) -> Any:
        return in_terminal(self._tables())

    def __repr__(self) -> str:
        return as_text(self.__rich__()).rstrip("\n")

    def _repr_html_(self) -> str:
        return in_notebook(self._tables())


@dataclass(repr=False)
class Comparison(Measured):
    """The outcome of `compare`. It shows itself as a table, plots itself, and writes itself as JSON, CSV and HTML.

    ``comparison["scipy"]`` is the `EngineRuns` of that engine; as in a dict, iteration gives the names of the engines.

    Attributes
    ----------
    graph : Graph
    engines : list of EngineRuns
        Engines that could not run are included, with the reason.
    baseline : str or None
        The engine that ratios refer to.
    levels : Trace or None
        The levels of a search from the first source.
    interrupted : bool
        Ctrl-C ended it early; finished runs are kept.
    seed : int or None
        The sources were drawn with it; None if they were given.
    command : str
        The command line of the process.
    started : str
        The time in UTC, in the format of ISO 8601.
    simulated : bool
        Kernels of Numba-CUDA ran in its simulator, so that their times mean nothing.
    machine, versions : dict
        The machine, and the versions of the packages on it.
    """

    graph: Graph
    engines: list[EngineRuns]
    levels: Trace | None = None
    seed: int | None = None
    simulated: bool = False

    @property
    def valid(self) -> bool:
        """True unless an answer of an engine is wrong."""
        return all(engine.valid is not False for engine in self.engines)

    @property
    def ran(self) -> bool:
        """True if an engine has given an answer."""
        return any(engine.runs for engine in self.engines)

    def __getitem__(self, engine: str) -> EngineRuns:
        for runs in self.engines:
            if runs.engine == engine:
                return runs
        raise KeyError(f"{quoted(engine)} is not one of the engines compared: {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return (runs.engine for runs in self.engines)

    def __len__(self) -> int:
        return len(self.engines)

    def ratio_to_baseline(self, engine: str) -> float | None:
        """The baseline's median time divided by the engine's, over the sources that both searched from."""
        if self.baseline is None:
            return None
        of_both = ({run.source: run.ms for run in self[name].runs} for name in (self.baseline, engine))
        return ratio_of_medians(*of_both)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in JSON's types. Times in ms; ``reached`` and ``depth`` are the largest over the sources."""
        searched = getattr(self.graph, "searched", None)  # of a distributed graph: how its ranks communicate
        return {
            "graph": {
                "name": self.graph.name,
                "vertices": self.graph.num_vertices,
                "edges": self.graph.num_edges,
                "directed": self.graph.directed,
                **({"searched": searched} if searched else {}),
            },
            **self._about(),
            "seed": self.seed,
            "simulated": self.simulated,
            "levels": None if self.levels is None else self.levels.to_columns(),
            "engines": [
                runs.to_dict() | {"ratio_to_baseline": self.ratio_to_baseline(runs.engine)} for runs in self.engines
            ],
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row for each engine and source; an engine that could not run has none.

        Columns: ``engine``, ``source`` (an id), ``ms``, ``reached``, ``depth``, ``edges`` (those traversed, as Graph500
        counts them), ``teps`` (edges a second) and ``verdict`` ("valid", or what is wrong). ``kind`` is that of
        `BFSResult.to_frame`; frames of cuDF are uploaded from the host.
        """
        runs = [(each.engine, run) for each in self.engines for run in each.runs]
        columns = {
            "engine": np.array([engine for engine, _ in runs], object),
            "source": self.graph.ids_of(self.graph.vertices_of(run.source for _, run in runs)),
        }
        for name, dtype in FIGURES.items():
            columns[name] = np.array([getattr(run, name) for _, run in runs], dtype)
        return frame(columns, kind or self.graph.frame)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write a row for each engine and source to ``path``."""
        rows = ([each["engine"], *run.values()] for each in self.to_dict()["engines"] for run in each["runs"])
        write_csv([["engine", "source", *FIGURES], *rows], path)

    def plot(self) -> Figure:
        """A Matplotlib figure: each engine's times, every search a dot, and how many times as fast as the baseline.

        It shows itself in a notebook; ``figure.savefig("times.svg")`` keeps it.
        """
        return plot_comparison(self.to_dict())

    def _tables(self) -> Tables:
        return comparison_tables(self.to_dict())

    def _page(self) -> str:
        return page(self.to_dict())


@dataclass(repr=False)
class SuiteComparison(Measured):
    """The outcome of `compare_suite`. It shows itself as tables with a row for each graph, plots itself, and writes
    itself as JSON, CSV, Markdown, LaTeX and HTML.

    ``suite["rmat:14"]`` is the comparison on that graph, as `Comparison.to_dict` gives it except for the machine and
    the levels; as in a dict, iteration gives the names of the graphs that were compared.

    Attributes
    ----------
    suite : str
    rows : list of dicts
        For each graph its name (``graph``), why it ``failed`` or None, and its ``comparison``.
    baseline : str or None
        The engine that speed-ups refer to, on every graph.
    interrupted : bool
        Ctrl-C ended it early; the results so far are kept.
    kept : str
        The file in which the results are kept.
    command : str
        The command line of the process.
    started : str
        The time in UTC, in the format of ISO 8601.
    machine, versions : dict
        The machine, and the versions of the packages on it.
    """

    suite: str
    rows: list[Row]
    kept: str = ""

    def __post_init__(self) -> None:
        self.rows = [row | {"comparison": _related(row["comparison"], self.baseline)} for row in self.rows]

    def __getitem__(self, graph: str) -> Row:
        for row in self.rows:
            if row["graph"] == graph and row["comparison"]:
                found: Row = row["comparison"]
                return found
        raise KeyError(f"{quoted(graph)} is not one of the graphs compared: {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return (row["graph"] for row in self.rows if row["comparison"])

    def __len__(self) -> int:
        return sum(row["comparison"] is not None for row in self.rows)

    @property
    def valid(self) -> bool:
        """True unless an answer of an engine on a graph is wrong."""
        return all(engine["valid"] is not False for graph in self.values() for engine in graph["engines"])

    @property
    def ran(self) -> bool:
        """True if an engine has given an answer on a graph."""
        return any(engine["runs"] for graph in self.values() for engine in graph["engines"])

    @property
    def failed(self) -> dict[str, str]:
        """Why the graphs failed that could not be compared."""
        return {row["graph"]: row["failed"] for row in self.rows if row["failed"]}

    @property
    def geometric_means(self) -> dict[str, tuple[float, int]]:
        """For each engine the geometric mean of its speed-ups over the baseline, and the number of graphs in it: those
        on which both ran."""
        ratios: dict[str, list[float]] = {}
        for graph in self.values():
            for engine in graph["engines"]:
                if engine["ratio_to_baseline"]:
                    ratios.setdefault(engine["engine"], []).append(engine["ratio_to_baseline"])
        return {name: (geometric_mean(each), len(each)) for name, each in ratios.items()}

    def to_dict(self) -> dict[str, Any]:
        """Everything, in JSON's types."""
        means = {name: {"speed_up": mean, "graphs": count} for name, (mean, count) in self.geometric_means.items()}
        return {"suite": self.suite, **self._about(), "geometric_means": means, "graphs": self.rows}

    def to_frame(self, kind: str = "pandas") -> Any:
        """A frame with a row for each graph and engine that ran.

        Columns: ``graph``, ``vertices``, ``edges``, ``engine``, ``ms`` (median of the searches), ``teps`` (edges a
        second, harmonic mean), ``speed_up`` over the baseline, ``prepare_ms``, ``warmup_ms``, ``depth`` and ``valid``.
        ``kind`` is that of `BFSResult.to_frame`.
        """
        pairs = ((name, graph, engine) for name, graph in self.items() for engine in graph["engines"])
        rows = [graph["graph"] | engine | {"graph": name} for name, graph, engine in pairs if engine["runs"]]
        columns: dict[str, Any] = {
            key: np.array([row[field] for row in rows], dtype) for key, (field, dtype) in SUITE_COLUMNS.items()
        }
        return frame(columns, kind)  # a figure that is missing is NaN

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write a row for each graph, with the columns of all engines, to ``path``."""
        write_csv(plain_table(self.to_dict()), path)

    def plot(self) -> Figure:
        """A Matplotlib figure: each engine's speed-up over the baseline, graph by graph."""
        return plot_suite(self.to_dict())

    def _tables(self) -> Tables:
        return suite_tables(self.to_dict())._replace(least=None)

    def _page(self) -> str:
        return suite_page(self.to_dict())


def _related(comparison: Row | None, baseline: str | None) -> Row | None:
    """The comparison on a graph, with ratios to ``baseline``, or to none if that did not run there."""
    if comparison is None:
        return None
    times = {engine["engine"]: {run["source"]: run["ms"] for run in engine["runs"]} for engine in comparison["engines"]}
    theirs = times.get(baseline or "", {})
    engines = [
        engine | {"ratio_to_baseline": ratio_of_medians(theirs, times[engine["engine"]])}
        for engine in comparison["engines"]
    ]
    return comparison | {"baseline": baseline if theirs else None, "engines": engines}


def ratio_of_medians(theirs: Mapping[Hashable, float], ours: Mapping[Hashable, float]) -> float | None:
    """The median of their times by source divided by that of ours, over the sources of both; None without any."""
    both = theirs.keys() & ours.keys()
    return median(theirs[s] for s in both) / median(ours[s] for s in both) if both else None


def write_json(content: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write ``content`` to ``path``. Ids without a JSON type become strings."""
    with writing(path) as out:
        json.dump(content, out, indent=1, default=str)
        out.write("\n")


def write_csv(rows: Iterable[Sequence[Any]], path: str | PathLike[str]) -> None:
    """Write ``rows``, the first of which holds the names of the columns, to ``path``."""
    with writing(path, newline="") as out:
        csv.writer(out).writerows(rows)


@contextmanager
def writing(path: str | PathLike[str], newline: str | None = None) -> Iterator[IO[str]]:
    """The file at ``path``, opened for text, see `replacing`. Raises `InputError` if it cannot be written."""
    with (
        replacing(Path(file_path(path))) as stream,
        TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline=newline) as out,
    ):
        yield out


def _plain(id: Any) -> Any:
    """An id in one of JSON's types."""
    return id if isinstance(id, int | float | str) else str(id)
