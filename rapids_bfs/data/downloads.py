"""Datasets on disk: downloaded by pooch, read, and kept as an adjacency that the next load maps into memory."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from .._core.arguments import checked_directed, checked_name
from .._core.interrupts import is_interrupt
from .._core.optional import import_optional
from ..adapters._file import replacing
from ..adapters._formats import refuse_options
from ..adapters._npz import arrays_of, mapped, write_arrays
from ..adapters.edges import in_direction
from ..adapters.files import read
from ..errors import InputError, warn
from ..graph import Graph
from .datasets import Dataset, dataset

VERSION = 1  # of what `_keep` writes
READ = 1 << 20  # bytes at a time
TIMEOUT = 30  # seconds to connect, and between two parts of a download


def load_dataset(dataset_name: str, /, **options: Any) -> Graph:
    """The dataset of this name, downloaded unless it is there. ``options`` are ``directed`` and ``name``.

    Raises `InputError` if there is none, or it cannot be downloaded or read.
    """
    refuse_options(options, ("directed", "name"), f"{dataset_name} is a dataset, which has")
    checked_directed(options.get("directed"))
    checked_name(options.get("name"))
    return load(dataset(dataset_name), **options)


def load(found: Dataset, *, directed: bool | None = None, name: str | None = None) -> Graph:
    """The graph of a dataset: its kept adjacency, mapped into memory, else read from the download and then kept."""
    graph = _kept(found)
    if graph is None:
        fetch(found)
        source, target = found.columns or (None, None)
        direction = False if found.directed is False else None  # else as the file says
        try:
            graph = read(found.download, source=source, target=target, directed=direction, name=found.name)
        except InputError as error:
            raise InputError(f"{error}; if the download is damaged, remove it") from None
        _keep(found, graph)
    made: Graph = in_direction(graph, directed)
    return made if name is None else made._with(name=name)


def _origin(found: Dataset) -> np.ndarray:
    """What tells whether a kept adjacency is still that of the download."""
    state = found.download.stat()
    return np.array([VERSION, state.st_size, state.st_mtime_ns])


def _kept(found: Dataset) -> Graph | None:
    """The kept adjacency, checked as any graph's is; None if there is none, or it is not that of the download."""
    try:
        arrays = mapped(found.adjacency)
        if arrays["origin"][0] != VERSION:
            return None
        if found.download.exists() and not np.array_equal(arrays["origin"], _origin(found)):
            return None
        labels = arrays.get("labels")
        return Graph(
            arrays["offsets"],
            arrays["targets"],
            labels=labels.astype(object) if labels is not None and labels.dtype.kind == "U" else labels,
            directed=bool(arrays["directed"]),
            columns=(str(arrays["columns"][0]), str(arrays["columns"][1])),
            name=found.name,
        )
    except Exception as error:  # not there, or damaged in any way: it is made again
        if is_interrupt(error):
            raise
        return None


def _keep(found: Dataset, graph: Graph) -> None:
    """Keep the adjacency beside the download; if that cannot be, say so."""
    try:
        with replacing(found.adjacency) as stream:
            write_arrays(arrays_of(graph) | {"origin": _origin(found)}, stream)
        found.adjacency.chmod(0o444)  # what is mapped must not change
    except (InputError, OSError) as error:
        if is_interrupt(error):
            raise
        warn(f"{error}: the next load reads the download again")


def fetch(found: Dataset) -> None:
    """Download a dataset unless it is there. Raises `InputError` that says how to do it by hand if that fails."""
    if found.download.is_file():
        return
    by_hand = f"put a copy of {found.url} as {found.file} into {found.folder}{_others_there(found)}"
    try:
        pooch = import_optional("pooch", f"downloading {found.name}", "'rapids-bfs[datasets]'")
    except InputError as error:
        raise InputError(f"{error}, or {by_hand}") from None
    try:
        found.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{found.folder} cannot be made for {found.name} ({error.strerror}): set RAPIDS_BFS_DATASETS to a folder "
            "that can be written"
        ) from None
    try:
        with _progress(found) as bar, _quiet(pooch.get_logger()):
            headers = {"Accept-Encoding": "identity"}  # a packed file is kept packed
            pooch.create(found.folder, "", registry={found.file: found.sha256}, urls={found.file: found.url}).fetch(
                found.file,
                downloader=pooch.HTTPDownloader(bar, READ, timeout=TIMEOUT, headers=headers),
            )
    except (OSError, ValueError) as error:  # requests' errors are OSErrors; ValueError: a wrong checksum
        if is_interrupt(error):
            raise
        raise InputError(f"{found.name} cannot be downloaded ({_reason(found, error)}): {by_hand}") from error


def _others_there(found: Dataset) -> str:
    """A remark on files in the dataset's folder that have other names."""
    try:
        others = sorted(path.name for path in found.folder.iterdir() if path != found.adjacency)
    except OSError:
        return ""
    return f", where {others[0]} has another name" if others else ""


def _reason(found: Dataset, error: Exception) -> str:
    """The error in a few words, without the addresses of objects that requests names."""
    from requests import exceptions

    host = urlsplit(found.url).netloc
    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        return f"{host} answers {error.response.status_code} {error.response.reason}"
    if isinstance(error, exceptions.Timeout):
        return f"{host} does not answer"
    if isinstance(error, exceptions.ChunkedEncodingError):
        return "the connection broke off"
    if isinstance(error, exceptions.ConnectionError):
        return "the connection broke off" if "Read timed out" in str(error) else f"there is no connection to {host}"
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return "its SHA-256 is not the one that its publisher states"
    return getattr(error, "strerror", None) or str(error).partition("\n")[0]


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Without pooch's notes on what it does."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _progress(found: Dataset) -> Iterator[Any]:
    """A bar on a terminal, with the methods that pooch calls; False elsewhere."""
    from ..report.console import messages

    if not messages.is_terminal:
        yield False
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=messages, transient=True) as progress:
        yield _Bar(progress, progress.add_task(f"downloading {found.name}", total=None))


class _Bar:
    """One of pooch's progress bars: it sets ``total``, then calls the methods."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task
        self.total = 0

    def update(self, count: int) -> None:
        self._progress.update(self._task, total=self.total or None, advance=count)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        pass
