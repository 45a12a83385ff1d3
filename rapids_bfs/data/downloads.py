"""Datasets on disk: downloaded by pooch, read, and kept as an adjacency that the next load maps into memory."""

from __future__ import annotations

import logging
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from .._core.arguments import checked_directed, checked_name
from .._core.formatting import graph_size, size
from .._core.optional import import_optional
from ..adapters._file import PACKED, File, packing_of
from ..adapters._formats import refuse_options
from ..adapters._npz import arrays_of
from ..adapters.edges import in_direction
from ..adapters.files import read
from ..errors import InputError, warn
from ..graph import Graph
from .datasets import Dataset, dataset

VERSION = 1  # of what `_keep` writes
READ = 1 << 20  # bytes at a time
TIMEOUT = 30  # seconds to connect, and between two parts of a download
SMALL = 1 << 26  # bytes that any download may have
PER_ROW = 256  # further bytes for each vertex and edge: some downloads have names, weights and answers
LARGEST = 1 << 38  # bytes of a download whose publisher states no edges


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
        graph = _read(found)
        _keep(found, graph)
    made: Graph = in_direction(graph, directed)
    return made if name is None else made._with(name=name)


def _read(found: Dataset) -> Graph:
    """The graph in the download. Raises `InputError` if it cannot be read.

    A download that is still unchecked, unlike a copy that the user put there, must also match the publisher's figures;
    one that does not, or is damaged, is removed.
    """
    unchecked = found.unchecked.exists()
    source, target = found.columns or (None, None)
    direction = False if found.directed is False else None  # else as the file says
    try:
        graph = read(found.download, source=source, target=target, directed=direction, name=found.name)
    except InputError as error:
        if not unchecked or not _is_damaged(found):
            raise InputError(f"{error}; if the download is damaged, remove it") from None
        _remove(found)
        raise InputError(f"{error}; the download was damaged, and has been removed: load it again") from None
    if unchecked and not _is_as_stated(found, graph):
        _remove(found)
        there = graph_size(graph.num_vertices, graph.num_edges, graph.directed)
        figures = {"vertices": found.vertices, "edges": found.edges}
        stated = " and ".join(f"{count:,} {what}" for what, count in figures.items() if count is not None)
        raise InputError(
            f"{found.download} had {there}, and its publisher states {stated}: it has been removed; load it again, or "
            f"{_by_hand(found)}"
        )
    if unchecked:
        found.unchecked.unlink(missing_ok=True)
    return graph


def _remove(found: Dataset) -> None:
    for path in (found.download, found.unchecked):
        path.unlink(missing_ok=True)


def _is_as_stated(found: Dataset, graph: Graph) -> bool:
    """Return True if the graph has the vertices and edges that its publisher states, as far as they can be compared.

    Publishers count an undirected edge once or twice. A packed file, which a checksum protects, may have more edges: a
    matrix's explicit zeros are edges, too. Vertices are compared in archives alone; other files are lists of edges, in
    which vertices without edges are missing.
    """
    vertices, edges = found.vertices, found.edges
    if ".tar." in found.file and vertices not in (None, graph.num_vertices):
        return False
    if edges is None or not found.exact or edges in (graph.num_arcs, graph.num_edges):
        return True
    return found.download.suffix in PACKED and graph.num_arcs > edges


def _is_damaged(found: Dataset) -> bool:
    """Return True if the download, which cannot be read as a graph, is damaged and not just too large for the memory:
    a packed file is read to its end; another is taken for damaged if it has no SHA-256."""
    file = File(found.download)
    packing = packing_of(file.head())
    if not packing:
        return found.sha256 is None
    try:
        with File(found.download, packing).open() as stream:
            while stream.read(READ):
                pass
    except Exception:  # gzip's, zlib's, Arrow's
        return True
    return False


def _origin(found: Dataset) -> np.ndarray:
    """What tells whether a kept adjacency is still that of the download."""
    state = found.download.stat()
    return np.array([VERSION, state.st_size, state.st_mtime_ns])


def _kept(found: Dataset) -> Graph | None:
    """The kept adjacency, checked as any graph's is; None if there is none, or it is not that of the download."""
    try:
        arrays = {path.stem: np.asarray(np.load(path, mmap_mode="r")) for path in found.adjacency.iterdir()}
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
    except Exception:  # not there, or damaged in any way: it is made again
        return None


def _keep(found: Dataset, graph: Graph) -> None:
    """Keep the adjacency beside the download, unless another process does; if that cannot be, say so."""
    part = found.folder / f".{secrets.token_hex(8)}.part"
    try:
        part.mkdir()
        for name, array in (arrays_of(graph) | {"origin": _origin(found)}).items():
            np.save(part / f"{name}.npy", array, allow_pickle=False)
            (part / f"{name}.npy").chmod(0o444)  # what is mapped must not change
        shutil.rmtree(found.adjacency, ignore_errors=True)
        try:
            part.rename(found.adjacency)
        except OSError:
            if not found.adjacency.is_dir():
                raise
    except (InputError, OSError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        warn(f"{found.adjacency} cannot be written: {said}: the next load reads the download again")
    finally:
        shutil.rmtree(part, ignore_errors=True)


def fetch(found: Dataset) -> None:
    """Download a dataset unless it is there, and mark it as unchecked. Raises `InputError` that says how to do it by
    hand if that fails."""
    if found.download.is_file():
        return
    by_hand = _by_hand(found)
    try:
        pooch = import_optional("pooch", f"downloading {found.name}", "'rapids-bfs[datasets]'")
    except InputError as error:
        raise InputError(f"{error}, or {by_hand}") from None
    try:
        found.folder.mkdir(parents=True, exist_ok=True)
        found.unchecked.touch()
    except OSError as error:
        raise InputError(
            f"{found.folder} cannot be made for {found.name} ({error.strerror}): set RAPIDS_BFS_DATASETS to a folder "
            "that can be written"
        ) from None
    try:
        with _progress(found) as progress, _quiet(pooch.get_logger()):
            pooch.create(found.folder, "", registry={found.file: found.sha256}, urls={found.file: found.url}).fetch(
                found.file, downloader=lambda url, file, _: _download(found, file, progress)
            )
    except BaseException as error:  # requests' errors are OSErrors; ValueError: a wrong checksum
        found.unchecked.unlink(missing_ok=True)  # else a copy that the user puts there could be removed
        if not isinstance(error, OSError | ValueError):
            raise
        raise InputError(f"{found.name} cannot be downloaded ({_reason(found, error)}): {by_hand}") from error


def _download(found: Dataset, file: str, progress: Callable[[int, int | None], None]) -> None:
    """Write what the publisher sends to ``file``. Raises an `OSError`, or `InputError` if it is too large or may not be
    whole; requests itself notices a body that is shorter than announced."""
    import requests

    rows = None if found.edges is None else found.edges + (found.vertices or 0)
    most = LARGEST if rows is None else SMALL + PER_ROW * rows
    headers = {"Accept-Encoding": "identity"}  # a packed file is kept packed
    with requests.get(found.url, stream=True, timeout=TIMEOUT, headers=headers) as response, open(file, "wb") as stream:
        response.raise_for_status()
        if response.status_code != 200:  # such as 206, a part
            raise requests.HTTPError(response=response)
        length = response.headers.get("Content-Length")
        if length is None and "Transfer-Encoding" not in response.headers and not found.exact:
            raise InputError("the size is not announced, so that nothing would show that some is missing")
        written = 0
        for chunk in response.iter_content(READ):
            written += stream.write(chunk)
            if written > most:
                raise InputError(f"it is larger than {size(most)}, which is too much for {found.name}")
            progress(written, int(length) if length and length.isdecimal() else None)


def _by_hand(found: Dataset) -> str:
    """How to do without a download, with a remark on files in the dataset's folder that have other names."""
    others = sorted(path.name for path in found.folder.glob("[!.]*") if path != found.adjacency)
    remark = f", where {others[0]} has another name" if others else ""
    return f"put a copy of {found.url} as {found.file} into {found.folder}{remark}"


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
    if isinstance(error, InputError):
        return str(error)
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
def _progress(found: Dataset) -> Iterator[Callable[[int, int | None], None]]:
    """A function of the bytes so far and in all, if that is known; on a terminal it moves a bar."""
    from ..report.console import messages

    if not messages.is_terminal:
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=messages, transient=True) as progress:
        task = progress.add_task(f"downloading {found.name}", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
