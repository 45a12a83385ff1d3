"""`compare_suite` compares the engines on each graph of a suite, and keeps the results."""

from __future__ import annotations

import gc
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from .._core.arguments import file_path
from .._core.environment import user_cache
from .._core.machine import describe
from .._core.machine import versions as installed
from ..adapters._file import replacing, write_errors
from ..errors import InputError, shortened
from ..loading import load
from ..report.drawing import engines_of
from .records import Progress, Row, SuiteComparison, now, quiet
from .runner import Plan, chosen_baseline, compared, planned
from .suite import Suite, SuiteGraph, suite_of

VERSION = 2  # of the kept results, and of the graphs that a generator's name stands for
MAX_REASON = 300  # characters
SHARED = ("machine", "versions", "command", "levels")  # fields of a comparison that a suite's rows leave out
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")  # environment variables that decide times

Began = Callable[[Path, int, int], None]  # called with the file, and the graphs that are kept in it, of their total
Measured = Callable[[Row, int, int], None]  # called with a graph's row, the graphs measured so far, and their total


def compare_suite(
    suite: str | os.PathLike[str] | Sequence[Any],
    *,
    scale: int | Iterable[int] | None = None,
    num_sources: int | None = None,
    engines: str | Sequence[str] | None = None,
    baseline: str | None = None,
    seed: int | None = None,
    depth_limit: int | None = None,
    keep: str | os.PathLike[str] | None = None,
    anew: bool = False,
    load: Callable[..., Any] = load,
    progress: Progress = quiet,
    began: Began = lambda path, measured, total: None,
    measured: Measured = lambda row, done, total: None,
) -> SuiteComparison:
    """Compare the engines on every graph of a suite, as `compare` does on one.

    The results of each graph are kept in a file, from which the same call resumes. Results of another machine, or of
    other versions, engines or sources, are kept in files of their own.

    Parameters
    ----------
    suite : name, path or list
        "gap", "dimacs10" or "synthetic"; the path of a TOML file; or a list of graphs, such as
        ``["rmat:16", "roads.parquet"]``. The keys of a file are ``graphs``, ``scales``, and those of the options here
        from ``num_sources`` to ``depth_limit``, which take precedence.
    scale : int or list of int, optional
        Instead of the suite's own scales, for graphs with 2**scale vertices.
    num_sources, engines, baseline, seed, depth_limit
        As in `compare`. The baseline is the same on every graph.
    keep : path, optional
        The file. Default: one in the user's cache folder, whose path is the result's ``kept``.
    anew : bool
        Measure again, instead of resuming from kept results.
    load : callable
        Makes what `compare` is given of each graph's name and options. Default: `rapids_bfs.load`.
    progress : callable
        Called as ``progress(done, total, doing)`` before each step.
    began : callable
        Called once as ``began(path, kept, total)`` with the file, and how many of the graphs are kept there.
    measured : callable
        Called as ``measured(row, done, total)`` after each graph.

    Raises
    ------
    InputError
        If there is no such suite or engine, or ``keep`` cannot be written or was measured under other conditions. The
        others go on after a graph that cannot be loaded or compared: its row says why.
    """
    chosen = suite_of(suite).at_scales(scale if scale is None or isinstance(scale, Iterable) else [scale])
    given = {"engines": engines, "baseline": baseline, "num_sources": num_sources, "seed": seed}
    given = {key: value for key, value in (given | {"depth_limit": depth_limit}).items() if value is not None}
    plan = planned(**dict(chosen.options) | given)._replace(traced=False)
    graphs = chosen.made()
    file = _ResultsFile(keep, chosen, conditions(plan, load))
    rows = {} if anew else file.usable(graphs)
    began(file.path, len(rows), len(graphs))
    missing = [graph for graph in graphs if graph.key not in rows]
    interrupted = _measure(missing, plan, load, rows, file, progress, measured)
    ordered = [rows[graph.key] for graph in graphs if graph.key in rows]
    chosen_engine = chosen_baseline(plan.baseline, engines_of({"graphs": ordered}))
    return SuiteComparison(chosen.name, ordered, str(file.path), baseline=chosen_engine, interrupted=interrupted)


def _measure(
    missing: Sequence[SuiteGraph],
    plan: Plan,
    load: Callable[..., Any],
    rows: dict[str, Row],
    file: _ResultsFile,
    progress: Progress,
    measured: Measured,
) -> bool:
    """Compare on the missing graphs, and add their rows to ``rows`` and to the file. Return True if interrupted."""
    steps = len(plan.specs) * (1 + (plan.num_sources or 0)) + 1  # of a graph, of which one loads it
    try:
        for number, graph in enumerate(missing):

            def within(done: int, doing: str, number: int = number, graph: SuiteGraph = graph) -> None:
                where = f"{graph.key} ({number + 1} of {len(missing)})"
                progress(number * steps + min(done, steps), len(missing) * steps, f"{where}: {doing}")

            row = rows[graph.key] = _row(graph, plan, load, within)
            file.add(graph, row)
            measured(row, number + 1, len(missing))
            if row["comparison"] and row["comparison"]["interrupted"]:
                return True
    except KeyboardInterrupt:  # while a graph is loaded
        return True
    return False


def conditions(plan: Plan, load: Callable[..., Any]) -> dict[str, Any]:
    """What decides the figures besides the graph, in JSON's types: the machine, versions, engines and sources."""
    machine = describe()
    return {
        "version": VERSION,
        "machine": machine | {"memory_bytes": round(machine["memory_bytes"], -9)},
        "threads": {name: os.environ[name] for name in THREADS if name in os.environ},
        "versions": installed(),
        "engines": [spec.name for spec in plan.specs],
        "engines_named": plan.named,
        "num_sources": plan.num_sources,
        "seed": plan.seed,
        "depth_limit": plan.options.depth_limit,
        "load": getattr(load, "__qualname__", repr(load)),
    }


def _row(graph: SuiteGraph, plan: Plan, load: Callable[..., Any], progress: Callable[[int, str], None]) -> Row:
    """A graph compared, or why it could not be. Raises what interrupts it while it is loaded: `KeyboardInterrupt`
    or what a signal handler raises."""
    begin, started = perf_counter(), now()
    failed = comparison = None
    try:
        progress(0, "load")
        loaded = load(graph.source, **graph.options)
        found = compared(loaded, plan, progress=lambda done, total, doing: progress(1 + done, doing)).to_dict()
        comparison = {name: value for name, value in found.items() if name not in SHARED}
    except Exception as error:
        failed = shortened(" ".join(str(error).split()) or type(error).__name__, MAX_REASON)
        if not isinstance(error, InputError):
            failed = f"{type(error).__name__}: {failed}"
    loaded = None
    gc.collect()  # before the next graph takes its memory
    took = {"started": started, "seconds": perf_counter() - begin}
    return {"graph": graph.key, "failed": failed, **took, "comparison": comparison}


class _ResultsFile:
    """The rows measured under the same conditions, in a JSON file that is replaced after each graph."""

    def __init__(self, path: Any, suite: Suite, conditions: Mapping[str, Any]) -> None:
        self.conditions = json.loads(json.dumps(conditions))
        self.path = _default_path(suite, self.conditions) if path is None else Path(file_path(path)).absolute()
        self._write(self._rows())

    def usable(self, graphs: Sequence[SuiteGraph]) -> dict[str, Row]:
        """The rows of these graphs that are complete, and whose files have not changed."""
        rows = self._rows()
        return {
            graph.key: {name: value for name, value in rows[graph.key].items() if name != "file"}
            for graph in graphs
            if graph.key in rows and rows[graph.key]["file"] == graph.file_state
        }

    def add(self, graph: SuiteGraph, row: Row) -> None:
        """Add a row, unless its measurement failed or was interrupted: then the next call repeats it."""
        if row["comparison"] and not row["comparison"]["interrupted"]:
            self._write(self._rows() | {graph.key: row | {"file": graph.file_state}})

    def _rows(self) -> dict[str, Row]:
        """The rows in the file. Raises `InputError` if it holds something else, or rows of other conditions."""
        try:
            content = json.loads(self.path.read_text("utf-8"))
            rows: dict[str, Row] = content["rows"]
            differences = _differences(content["conditions"], self.conditions)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{self.path} is not a file of measurements: remove it, or keep in another file") from None
        if differences:
            raise InputError(f"{self.path} keeps measurements with {differences}: keep this in another file")
        return rows

    def _write(self, rows: Mapping[str, Row]) -> None:
        with write_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as out:
            text = json.dumps({"conditions": self.conditions, "rows": rows}, indent=1, default=str)
            out.write(f"{text}\n".encode())


def _default_path(suite: Suite, conditions: Mapping[str, Any]) -> Path:
    """A file in the user's cache folder, for the suite and these conditions."""
    told = json.dumps([suite.name, suite.graphs[0].folder, conditions], sort_keys=True)
    name = re.sub(r"[^\w.-]", "_", suite.name)[:60]
    folder = user_cache("suites", "name a file to keep this one in")
    return folder / f"{name}-{sha256(told.encode()).hexdigest()[:12]}.json"


def _differences(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """The conditions that differ, in a few words; empty if they are the same."""
    words = []
    for name, here in ours.items():
        there: Any = theirs.get(name)
        if there != here and name == "versions":
            packages = {package for package, _ in there.items() ^ here.items()}
            words += [
                f"{each} {there.get(each, 'missing')}, here {here.get(each, 'missing')}" for each in sorted(packages)
            ]
        elif there != here:
            words.append("another machine" if name == "machine" else f"other {name.replace('_', ' ')}")
    return shortened("; ".join(words), MAX_REASON)
