"""The record of `compare_suite`: each graph's comparison, as tables, files and plots."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from statistics import geometric_mean
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import quoted
from .._core.machine import describe
from .._core.machine import versions as installed
from ..adapters.arrow import frame
from .records import ratio_of_medians, write_json, writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]  # of a graph: its name, why it failed or None, and its comparison or None

FIGURES = {  # columns of a frame, and the fields of an engine's record
    **{"ms": "median_ms", "teps": "teps_harmonic_mean", "speed_up": "ratio_to_baseline"},
    **{"prepare_ms": "prepare_ms", "warmup_ms": "warmup_ms", "depth": "depth"},
}


@dataclass(repr=False)
class SuiteComparison(Mapping[str, Row]):
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
    baseline: str | None = None
    interrupted: bool = False
    kept: str = ""
    command: str = ""
    started: str = ""
    machine: dict[str, Any] = field(default_factory=describe)
    versions: dict[str, str] = field(default_factory=installed)

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
        """Is no answer of any engine on any graph wrong?"""
        return all(engine["valid"] is not False for graph in self.values() for engine in graph["engines"])

    @property
    def ran(self) -> bool:
        """Has any engine given an answer on any graph?"""
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
        return {
            "suite": self.suite,
            "started": self.started,
            "machine": self.machine,
            "versions": self.versions,
            "command": self.command,
            "baseline": self.baseline,
            "interrupted": self.interrupted,
            "geometric_means": {
                name: {"speed_up": mean, "graphs": count} for name, (mean, count) in self.geometric_means.items()
            },
            "graphs": self.rows,
        }

    def to_frame(self, kind: str = "pandas") -> Any:
        """A frame with a row for each graph and engine that ran.

        Columns: ``graph``, ``vertices``, ``edges``, ``engine``, ``ms`` (median of the searches), ``teps`` (edges a
        second, harmonic mean), ``speed_up`` over the baseline, ``prepare_ms``, ``warmup_ms``, ``depth`` and ``valid``.
        ``kind`` is that of `BFSResult.to_frame`.
        """
        pairs = [
            (name, graph["graph"], each) for name, graph in self.items() for each in graph["engines"] if each["runs"]
        ]
        columns: dict[str, Any] = {"graph": np.array([name for name, _, _ in pairs], object)}
        for size in ("vertices", "edges"):
            columns[size] = np.array([graph[size] for _, graph, _ in pairs], np.int64)
        columns["engine"] = np.array([each["engine"] for _, _, each in pairs], object)
        for name, field_ in FIGURES.items():
            dtype = np.int64 if name == "depth" else np.float64
            columns[name] = np.array([np.nan if each[field_] is None else each[field_] for _, _, each in pairs], dtype)
        columns["valid"] = np.array([each["valid"] for _, _, each in pairs], np.bool_)
        return frame(columns, kind)

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write `to_dict` to ``path``."""
        write_json(self.to_dict(), path)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write a row for each graph, with the columns of all engines, to ``path``."""
        from ..report.suite import plain_table

        columns, rows = plain_table(self.to_dict())
        with writing(path, newline="") as out:
            csv.writer(out).writerows([columns, *rows])

    def to_markdown(self, path: str | PathLike[str]) -> None:
        """Write the tables to ``path``, in Markdown."""
        from ..report.documents import markdown
        from ..report.suite import suite_sections

        with writing(path) as out:
            out.write(markdown(suite_sections(self.to_dict())))

    def to_latex(self, path: str | PathLike[str]) -> None:
        """Write the tables to ``path``, in LaTeX, for the package booktabs."""
        from ..report.documents import latex
        from ..report.suite import suite_sections

        with writing(path) as out:
            out.write(latex(suite_sections(self.to_dict())))

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a page for a browser to ``path``: one file that holds everything and needs no network."""
        from ..report.suite_page import suite_page

        with writing(path) as out:
            out.write(suite_page(self.to_dict()))

    def plot(self) -> Figure:
        """A Matplotlib figure: each engine's speed-up over the baseline, graph by graph."""
        from ..report.plots import plot_suite

        return plot_suite(self.to_dict())

    def __rich__(self) -> Any:
        from ..report.suite import suite_table

        return suite_table(self.to_dict())

    def __repr__(self) -> str:
        from ..report.console import as_text

        return as_text(self.__rich__()).rstrip("\n")

    def _repr_html_(self) -> str:
        from ..report.suite import suite_html

        return suite_html(self.to_dict())


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
