"""NumPy archives: our own, which keep everything, and those of `scipy.sparse.save_npz`."""

from __future__ import annotations

from typing import IO

import numpy as np

from ..errors import InputError
from ..graph import Graph
from .csr import from_csr
from .edges import labelled
from .files import File
from .scipy import from_scipy


def read_npz(file: File, *, directed: bool | None = None) -> Graph:
    """The graph in ``file``, ours or SciPy's."""
    with np.load(file.path, allow_pickle=False) as arrays:
        if "format" in arrays:
            return _from_scipy(file, directed)
        if missing := {"offsets", "targets", "directed"}.difference(arrays):
            raise InputError(f"{file} is no archive of a graph: it lacks {', '.join(sorted(missing))}")
        directed = bool(arrays["directed"]) if directed is None else directed
        graph = from_csr(arrays["offsets"], arrays["targets"], directed=directed, name=str(file))
        if "columns" in arrays:
            graph.columns = tuple(arrays["columns"].tolist())
        if "labels" not in arrays:
            return graph
        labels = arrays["labels"]
    if labels.shape != (graph.num_vertices,) or labels.dtype.kind not in "iU":
        raise InputError(f"{file}: labels must be an integer or a string for each of {graph.num_vertices} vertices")
    if labels.dtype.kind == "i" and (labels[1:] <= labels[:-1]).any():
        raise InputError(f"{file}: integer labels must ascend")
    return labelled(graph, labels if labels.dtype.kind == "i" else labels.astype(object))


def _from_scipy(file: File, directed: bool | None) -> Graph:
    import scipy.sparse

    return from_scipy(scipy.sparse.load_npz(file.path), directed=directed, name=str(file))


def write_npz(graph: Graph, stream: IO[bytes]) -> None:
    arrays = {
        "offsets": graph.offsets,
        "targets": graph.targets,
        "directed": np.array(graph.directed),
        "columns": np.array(graph.columns),
    }
    if graph.labels is not None:
        arrays["labels"] = graph.labels if graph.labels.dtype != object else _as_strings(graph.labels)
    np.savez(stream, **arrays)  # type: ignore[arg-type]


def _as_strings(labels: np.ndarray) -> np.ndarray:
    from ._tables import require_strings

    require_strings(labels)
    strings = labels.astype(str)
    if (changed := strings.astype(object) != labels).any():  # NumPy drops trailing NULs
        raise InputError(f"the id {labels[changed][0]!r} ends in a NUL, which NumPy drops; .parquet and .arrow keep it")
    return strings
