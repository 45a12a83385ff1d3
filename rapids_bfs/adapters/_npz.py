"""NumPy archives: our own, which keep everything, and those of `scipy.sparse.save_npz`."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._core.arguments import quoted
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Categories, Graph
from ._edge_data import Asked
from ._edge_list import checked_vertices
from ._file import File
from ._formats import EXCEL, format_of_suffix
from .csr import from_csr
from .edges import labelled
from .scipy import from_scipy


def read_npz(file: File, *, directed: bool | None = None, edge_data: Asked | None = None) -> Graph:
    """Return the graph in ``file``, ours or SciPy's, with all of its edge data, or those of these names."""
    with zipfile.ZipFile(file.place) as archive:
        require_bytes(sum(member.file_size for member in archive.infolist()), f"{file}, unpacked,")
    with np.load(file.place, allow_pickle=False) as arrays:
        if "format" in arrays:
            if edge_data is not None:
                raise InputError(f"{file} is an archive of SciPy's, which has no edge data to choose")
            return _from_scipy(file, directed)
        if missing := {"offsets", "targets", "directed"}.difference(arrays):
            if others := [name for name in arrays.files if format_of_suffix(Path(name))]:
                raise InputError(f"{file} is a zip archive with {quoted(others[0])} in it: unpack it first")
            if "xl/workbook.xml" in arrays:
                raise InputError(f"{file} is {EXCEL}")
            raise InputError(f"{file} is not an archive of a graph: it lacks {', '.join(sorted(missing))}")
        said = _array(arrays["directed"], "b", (), "directed must be true or false")
        directed = bool(said) if directed is None else directed
        data = _edge_data(arrays, file, edge_data)
        graph = from_csr(arrays["offsets"], arrays["targets"], directed=directed, name=str(file), edge_data=data)
        if "columns" in arrays:
            source, target = _array(arrays["columns"], "U", (2,), "columns must be two strings").tolist()
            graph.columns = source, target
        if "labels" not in arrays:
            return graph
        n = graph.num_vertices
        labels = _array(arrays["labels"], "iU", (n,), f"labels must be an integer or a string for each of {n} vertices")
    if labels.dtype.kind == "i":
        if (labels[1:] <= labels[:-1]).any():
            raise InputError(f"{file}: integer labels must be in ascending order")
        return labelled(graph, labels.astype(np.int64))
    return labelled(graph, _distinct(labels.astype(object)))


def _edge_data(arrays: Any, file: File, asked: Asked | None) -> dict[str, Any]:
    """Return the columns that the edges carry. Raises `InputError` if one that is asked for is not there."""
    if isinstance(asked, Mapping):
        raise InputError(f"{file} has its own edge data: give names of them, or replace them by Graph.replace")
    names: list[str] = []
    if "edge_data" in arrays:
        titles = arrays["edge_data"]
        names = _array(titles, "U", (titles.size,), "the names of edge data must be strings").tolist()
    for name in asked or ():
        if name not in names:
            known = ", ".join(map(quoted, names)) or "none"
            raise InputError(f"{file} has no edge data {quoted(name)}: there are {known}")
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        if f"edge_data_{place}" not in arrays:
            raise InputError(f"{file} lacks its edge data {quoted(name)}")
        columns[name] = array = arrays[f"edge_data_{place}"]
        if f"categories_{place}" in arrays:
            categories = arrays[f"categories_{place}"]
            _array(categories, "U", (categories.size,), "categories must be strings")
            columns[name] = Categories(
                _array(array, "i", array.shape, "codes must be integers"), _distinct(categories.astype(object))
            )
    return columns if asked is None else {name: columns[name] for name in asked}


def _array(array: Any, kinds: str, shape: tuple[int, ...], expected: str) -> np.ndarray:
    """Return ``array`` if it has this shape and a dtype of these kinds. Raises `InputError` with ``expected``."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.shape != shape:
        raise InputError(expected)
    return array


def _distinct(labels: np.ndarray) -> np.ndarray:
    import pandas as pd

    if (again := pd.Index(labels).duplicated()).any():
        raise InputError(f"two vertices have the label {quoted(labels[again][0])}")
    return labels


def _from_scipy(file: File, directed: bool | None) -> Graph:
    import scipy.sparse

    with np.load(file.place, allow_pickle=False) as arrays:
        checked_vertices(int(max(_array(arrays["shape"], "iu", (2,), "the shape of a matrix must be two integers"))))
    return from_scipy(scipy.sparse.load_npz(file.place), directed=directed, name=str(file))


def write_npz(graph: Graph, stream: IO[bytes]) -> None:
    np.savez(stream, **arrays_of(graph))  # type: ignore[arg-type]


def arrays_of(graph: Graph) -> dict[str, np.ndarray]:
    """Return the arrays that keep ``graph``, by name."""
    arrays = {
        "offsets": graph.offsets,
        "targets": graph.targets,
        "directed": np.array(graph.directed),
        "columns": np.array(graph.columns),
    }
    if graph.labels is not None:
        arrays["labels"] = graph.labels if graph.labels.dtype != object else _as_strings(graph.labels)
    if graph.edge_data:
        arrays["edge_data"] = np.array(list(graph.edge_data))
    for place, column in enumerate(graph.edge_data.values()):
        arrays[f"edge_data_{place}"] = column.codes if isinstance(column, Categories) else column
        if isinstance(column, Categories):
            arrays[f"categories_{place}"] = _as_strings(column.categories)
    return arrays


def _as_strings(labels: np.ndarray) -> np.ndarray:
    from ._tables import require_strings

    require_strings(labels)
    strings = labels.astype(str)
    if (changed := strings.astype(object) != labels).any():  # NumPy drops trailing NULs
        raise InputError(
            f"the id {quoted(labels[changed][0])} ends in a NUL, which NumPy drops; .parquet and .arrow keep it"
        )
    return strings
