"""Input and output of the commands: graphs, files, standard input and output, progress."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..report.console import SPINNER, line, messages, screen

if TYPE_CHECKING:
    from rich.console import Console

    from ..comparison.baselines import EdgeInput
    from ..graph import Graph
    from ..result import BFSResult

STANDARD = Path("-")  # standard input or output instead of a file


@dataclass(frozen=True)
class GraphInput:
    """A command's graph argument and the options for reading it."""

    graph: str
    directed: bool | None
    source_column: str | None
    target_column: str | None
    header: bool
    devices: int | str | None = None  # as in `rapids_bfs.load`

    def load(self) -> Graph:
        """Read, generate or look up the graph."""
        from ..loading import load

        standard = self.graph == str(STANDARD)  # ./- is a file
        options: dict[str, Any] = {
            **{"source": self.source_column, "target": self.target_column, "header": None if self.header else False},
            **{"directed": self.directed, "devices": self.devices, "name": "standard input" if standard else None},
        }
        given = {name: value for name, value in options.items() if value is not None}
        with (
            messages.status(line(f"reading {self.graph}"), spinner=SPINNER),
            _standard_input() if standard else nullcontext(self.graph) as path,
        ):
            graph: Graph = load(path, **given)
            return graph

    def edges(self) -> EdgeInput | None:
        """The edges of a file, read by cuDF; None without cuDF, or if it cannot read such a file."""
        from ..adapters.cudf_edges import read_edges
        from ..comparison.baselines import EdgeInput

        if not self.header or self.devices is not None:
            return None
        with messages.status(line(f"reading {self.graph}"), spinner=SPINNER):
            read = read_edges(self.graph, self.source_column, self.target_column)
            if read is None:
                return None
            frame, options = read
            return EdgeInput.of(frame, **options | ({} if self.directed is None else {"directed": self.directed}))

    def check_outputs(self, force: bool, **outputs: Path | None) -> None:
        """See the function `check_outputs`; the graph's own file is not an output either."""
        taken = {} if self.graph == str(STANDARD) else {"the graph": output_path(self.graph)}
        check_outputs(taken, force, **outputs)


def output_path(text: str) -> Path:
    """The path of an output option: `STANDARD` for "-", and for "./-" the file of that name."""
    path = Path(text)
    return path if text == str(STANDARD) or path != STANDARD else path.absolute()


def graphs_named(start: str) -> list[str]:
    """A shell's completions of ``start``, besides files: bundled graphs, generators, and datasets."""
    from ..data import BUNDLED
    from ..generators import DRAWN, MODELS, REGULAR

    names = (*BUNDLED, *(f"{kind}:" for kind in (*DRAWN, *MODELS, *REGULAR)))
    return [name for name in names if name.startswith(start)] + datasets_named(start)


def datasets_named(start: str) -> list[str]:
    """A shell's completions of ``start``: collections of datasets, or after a colon the datasets of one."""
    from ..data.datasets import COLLECTIONS, datasets

    names = [each.name for each in datasets()] if ":" in start else [f"{collection}:" for collection in COLLECTIONS]
    return [name for name in names if name.startswith(start)]


def suites_named(start: str) -> list[str]:
    """A shell's completions of ``start``, besides files: suites."""
    from ..comparison.suite import suites

    return [name for name in suites() if name.startswith(start)]


def parts_named(start: str) -> list[str]:
    """A shell's completions of ``start``: the parts that `warmup` compiles."""
    from ..warmup import PARTS

    return [part for part in PARTS if part.startswith(start)]


def engines_named(start: str) -> list[str]:
    """A shell's completions of ``start``: its last engine's name, or after a colon the algorithm."""
    from ..engines import registered

    before, comma, last = start.rpartition(",")
    names = [name for name in registered() if ":" not in last]
    names += [f"{name}:{each}" for name, engine in registered().items() if ":" in last for each in engine.algorithms]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def parsed_id(graph: Graph, text: str) -> Hashable:
    """The vertex id written as ``text``: the string itself if it is an id, else the number that it spells."""
    if text in graph:
        return text
    return int(text) if re.fullmatch("-?[0-9]{1,19}", text) else text


def path_line(result: BFSResult, target: Hashable) -> str:
    """One line about the path to the vertex with this id."""
    distance = result.distance_to(target)
    if distance < 0:
        return f"{target} was not reached"
    return f"{target} is at distance {distance}: {' - '.join(map(str, result.path_to(target)))}"


def devices_of(gpus: str | None) -> int | str | None:
    """``--gpus`` as ``devices`` of `rapids_bfs.load`. Raises `InputError` if there are no such devices."""
    if gpus is None or gpus == "auto":
        return gpus
    from ..distributed.launchers import device_names

    devices = int(gpus) if re.fullmatch("-?[0-9]{1,99}", gpus) else gpus
    device_names(devices)
    return devices


@contextmanager
def _standard_input() -> Iterator[Path]:
    """A file with the content of standard input. An `InputError` about it names standard input instead."""
    if sys.stdin is None:
        raise InputError("standard input is closed")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"standard input cannot be copied to a file in {folder}: {reason}") from None
        try:
            yield path
        except InputError as error:
            raise InputError(str(error).replace(str(path), "standard input")) from None


def check_outputs(taken: Mapping[str, Path], force: bool, **outputs: Path | None) -> None:
    """Raise `InputError` unless each of these can be written, and none is another or one of those ``taken``."""
    from ..adapters._file import check_output, is_written_in_place

    taken = dict(taken)
    for option, path in outputs.items():
        if path is None:
            continue
        if path != STANDARD:
            check_output(path, force=True)
            if path.is_file() and not force and not is_written_in_place(path):
                raise InputError(f"{path} exists: choose another name, or replace it with --force")
            if path.exists() and not os.access(path, os.W_OK):
                raise InputError(f"{path} is not writable")
        elif sys.stdout is None:
            raise InputError("standard output is closed")
        for other, its_path in taken.items():
            if _same_file(path, its_path):
                raise InputError(f"--{option} {path} is also the file of {other}: give each its own")
        taken[f"--{option}"] = path


def _same_file(one: Path, other: Path) -> bool:
    if STANDARD in (one, other):
        return one == other
    both_exist = one.exists() and other.exists()
    return os.path.samefile(one, other) if both_exist else os.path.realpath(one) == os.path.realpath(other)


def write_output(path: Path, write: Callable[[Path], object], suffix: str = "") -> None:
    """Call ``write`` with a path; for `STANDARD` with that of a temporary file with this suffix, which is printed."""
    if path != STANDARD:
        write(path)
        return
    with TemporaryDirectory() as folder:
        made = Path(folder) / f"output{suffix}"
        try:
            write(made)
        except InputError as error:
            raise InputError(str(error).replace(str(made), "standard output")) from None
        sys.stdout.flush()
        with made.open("rb") as file:
            shutil.rmtree(folder, ignore_errors=True)  # before printing: a pipe without a reader ends the process
            try:
                shutil.copyfileobj(file, sys.stdout.buffer)
                sys.stdout.flush()  # raises for a full disk before success is reported
            except OSError as error:
                error.filename = "standard output"
                raise


def table_console(*outputs: Path | None) -> Console:
    """The console for tables: standard error if one of these outputs is standard output."""
    return messages if STANDARD in outputs else screen


def with_progress(work: Any, *, remaining: bool = False) -> Any:
    """Call ``work(progress)`` under a progress bar on standard error; its spinner moves during a long step. It shows
    the time that has passed and, if asked, what remains."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class Remaining(ProgressColumn):
        """At the mean speed of all steps so far: graphs of a suite differ in theirs."""

        def render(self, task: Any) -> Text:
            left = (
                task.elapsed / task.completed * (task.total - task.completed) if task.completed and task.total else None
            )
            return Text("" if left is None else f"{int(left) // 60}:{int(left) % 60:02} left")

    cut = Column(no_wrap=True, overflow="crop")  # without an ellipsis, which not every terminal has
    doing = TextColumn("{task.description}", markup=False, table_column=cut)
    figures = MofNCompleteColumn(table_column=cut), TimeElapsedColumn(table_column=cut)
    rest = [Remaining(table_column=cut)] if remaining else []
    columns = (SpinnerColumn(SPINNER), BarColumn(), *figures, *rest, doing)
    with Progress(*columns, console=messages, transient=True, disable=not messages.is_terminal) as bar:
        task = bar.add_task("", total=None)
        return work(lambda done, total, doing: bar.update(task, completed=done, total=total, description=doing))
