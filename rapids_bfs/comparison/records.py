"""The records of a comparison: each search's time and verdict, as a table, files and plots."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import TextIOWrapper
from os import PathLike
from pathlib import Path
from statistics import harmonic_mean, median
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import file_path, quoted
from .._core.machine import describe
from .._core.machine import versions as installed
from ..adapters._file import replacing
from ..adapters.arrow import frame
from ..graph import Graph
from ..trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FIGURES = {  # fields of a `Run`, and the dtypes of their columns
    **{"ms": np.float64, "reached": np.int64, "depth": np.int64, "edges": np.int64},
    **{"teps": np.float64, "verdict": object},
}
COSTS = ("prepare_ms", "warmup_ms", "edges_ms", "prepare_bytes", "run_bytes")  # fields of an `EngineRuns`
SUMMARIES = ("run_ms", "median_ms", "reached", "depth", "teps_harmonic_mean")


Progress = Callable[[int, int, str], None]  # called with the steps done, their total and the next step


def quiet(done: int, total: int, doing: str) -> None:
    """A `Progress` that does nothing."""


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
        """Is every answer right? None without answers."""
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


@dataclass(repr=False)
class Comparison(Mapping[str, EngineRuns]):
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
    baseline: str | None = None
    levels: Trace | None = None
    interrupted: bool = False
    seed: int | None = None
    command: str = ""
    started: str = ""
    simulated: bool = False
    machine: dict[str, Any] = field(default_factory=describe)
    versions: dict[str, str] = field(default_factory=installed)

    @property
    def valid(self) -> bool:
        """Is no answer of any engine wrong?"""
        return all(engine.valid is not False for engine in self.engines)

    @property
    def ran(self) -> bool:
        """Has any engine given an answer?"""
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
            "started": self.started,
            "machine": self.machine,
            "versions": self.versions,
            "command": self.command,
            "seed": self.seed,
            "baseline": self.baseline,
            "interrupted": self.interrupted,
            "simulated": self.simulated,
            "levels": None if self.levels is None else self.levels.to_columns(),
            "engines": [
                {
                    "engine": runs.engine,
                    "unavailable": runs.unavailable,
                    "valid": runs.valid,
                    **{name: getattr(runs, name) for name in COSTS},
                    "sources": [_plain(run.source) for run in runs.runs],
                    **{name: getattr(runs, name) for name in SUMMARIES},
                    "ratio_to_baseline": self.ratio_to_baseline(runs.engine),
                    "trace": None if runs.trace is None else runs.trace.to_columns(),
                    **{name: getattr(runs.trace, name, None) for name in ("bytes_sent", "bytes_needed")},
                    "runs": [
                        {"source": _plain(run.source), **{name: getattr(run, name) for name in FIGURES}}
                        for run in runs.runs
                    ],
                }
                for runs in self.engines
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

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write `to_dict` to ``path``."""
        write_json(self.to_dict(), path)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write a row for each engine and source to ``path``."""
        rows = [{"engine": each["engine"], **run} for each in self.to_dict()["engines"] for run in each["runs"]]
        with writing(path, newline="") as out:
            writer = csv.DictWriter(out, ("engine", "source", *FIGURES))
            writer.writeheader()
            writer.writerows(rows)

    def to_markdown(self, path: str | PathLike[str]) -> None:
        """Write the table to ``path``, in Markdown."""
        from ..report.documents import markdown
        from ..report.table import comparison_section

        with writing(path) as out:
            out.write(markdown([comparison_section(self.to_dict())]))

    def to_latex(self, path: str | PathLike[str]) -> None:
        """Write the table to ``path``, in LaTeX, for the package booktabs."""
        from ..report.documents import latex
        from ..report.table import comparison_section

        with writing(path) as out:
            out.write(latex([comparison_section(self.to_dict())]))

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a page for a browser to ``path``: one file that holds everything and needs no network."""
        from ..report.page import page

        with writing(path) as out:
            out.write(page(self.to_dict()))

    def plot(self) -> Figure:
        """A Matplotlib figure: each engine's times, every search a dot, and how many times as fast as the baseline.

        It shows itself in a notebook; ``figure.savefig("times.svg")`` keeps it.
        """
        from ..report.plots import plot_comparison

        return plot_comparison(self.to_dict())

    def __rich__(self) -> Any:
        from ..report.table import comparison_table

        return comparison_table(self.to_dict())

    def __repr__(self) -> str:
        from ..report.console import as_text

        return as_text(self.__rich__()).rstrip("\n")

    def _repr_html_(self) -> str:
        from ..report.table import comparison_html

        return comparison_html(self.to_dict())


def ratio_of_medians(theirs: Mapping[Hashable, float], ours: Mapping[Hashable, float]) -> float | None:
    """The median of their times by source divided by that of ours, over the sources of both; None without any."""
    both = theirs.keys() & ours.keys()
    return median(theirs[s] for s in both) / median(ours[s] for s in both) if both else None


def write_json(content: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write ``content`` to ``path``. Ids without a JSON type become strings."""
    with writing(path) as out:
        json.dump(content, out, indent=1, default=str)
        out.write("\n")


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
