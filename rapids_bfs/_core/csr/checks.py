"""Checks of a graph's arrays, on which the memory safety of the kernels rests. Arrays are NumPy's or CuPy's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import InputError
from ..arguments import checked_directed, quoted
from ..cuda.arrays import on_device, to_host
from ..dtypes import INT32_LIMIT, frozen
from . import csr_for, is_symmetric

INDEX = (np.dtype(np.int32), np.dtype(np.int64))


def check_array(array: Any, what: str) -> None:
    """Raise `InputError` unless this is an array of NumPy or CuPy, with nothing masked."""
    ours = isinstance(array, np.ndarray) or type(array).__module__.startswith("cupy")
    if not ours or isinstance(array, np.ma.MaskedArray):
        raise InputError(f"{what} must be an array, not {type(array).__qualname__}: as_graph converts it")


def check_layout(array: Any, what: str) -> None:
    """Raise `InputError` unless ``array`` has a layout for kernels: int32 or int64, contiguous, nothing masked."""
    check_array(array, what)
    flags = array.flags
    if array.dtype not in INDEX or array.ndim != 1 or not (flags.c_contiguous and getattr(flags, "aligned", True)):
        raise InputError(
            f"{what} must be a contiguous, one-dimensional array of int32 or int64, not {array.dtype} of shape "
            f"{array.shape}: as_graph converts it"
        )


def check_rows(offsets: Any, targets: Any, name: str) -> None:
    """Raise `InputError` unless these one-dimensional arrays of integers are the offsets and targets of a CSR."""
    n, m = len(offsets) - 1, len(targets)
    if n < 0 or offsets[0] != 0 or offsets[-1] != m:
        raise InputError(f"{name}: offsets must start with 0 and end with {m}, the number of targets")
    if (falls := offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{name}: offsets fall after vertex {int(falls.argmax())}: they must never decrease")
    if m and (targets.min() < 0 or targets.max() >= n):
        row = int(((targets < 0) | (targets >= n)).argmax())
        raise InputError(f"{name}: target {targets[row]} of edge {row} is not one of the vertices 0..{n - 1}")


def check_labels(labels: Any, n: int, name: str) -> None:
    """Raise `InputError` unless ``labels`` are n ids: ascending int32 or int64 from 0 on, or distinct hashable
    objects."""
    if isinstance(labels, np.ndarray) and labels.dtype == object and labels.shape == (n,):
        try:
            distinct = set(labels.tolist())
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}: vertex ids must be hashable ({error})") from None
        if len(distinct) < n:
            raise InputError(f"{name}: {n - len(distinct):,} of the {n:,} labels repeat another: ids must be distinct")
        if None in distinct:
            raise InputError(f"{name}: None is not a vertex id")
        return
    check_layout(labels, f"{name}: labels other than an array of {n:,} objects")
    if len(labels) != n:
        raise InputError(f"{name}: {len(labels):,} labels for {n:,} vertices")
    if not (labels[1:] > labels[:-1]).all():
        raise InputError(f"{name}: integer labels must be in ascending order")
    if n and labels[0] < 0:
        raise InputError(f"{name}: label {int(labels[0])} is negative: integer ids start at 0, since -1 is no vertex")


def check_columns(columns: Any, edge_data: Iterable[Any], name: str) -> None:
    """Raise `InputError` unless ``columns`` are two names, and ``edge_data`` have others."""
    if not (
        isinstance(columns, tuple | list)
        and len(columns) == 2
        and all(isinstance(column, str) for column in columns)
        and columns[0] != columns[1]
    ):
        raise InputError(f"{name}: columns are two names, such as ('source', 'target'), not {quoted(columns)}")
    for title in edge_data:
        if title in columns:
            raise InputError(f"{name}: the column {quoted(title)} holds the ends of edges: edge data need another name")


def check_graph(offsets: Any, targets: Any, labels: Any, directed: Any, name: str) -> None:
    """Raise `InputError` unless a `Graph` can be made of these, and their types are those that kernels take."""
    check_layout(offsets, f"{name}: offsets")
    check_layout(targets, f"{name}: targets")
    if on_device(offsets) != on_device(targets):
        raise InputError(f"{name}: offsets and targets must be on the same device")
    check_rows(offsets, targets, name)
    n = len(offsets) - 1
    if n >= INT32_LIMIT and targets.dtype != np.int64:
        raise InputError(f"{name}: targets must be int64, as there are {n:,} vertices")
    if labels is not None:
        check_labels(labels, n, name)
    if checked_directed(directed) is None:
        raise InputError(f"{name}: a graph is directed or not: directed must be True or False")
    if not directed:
        check_symmetric(frozen(offsets), frozen(targets), name)


def check_symmetric(offsets: Any, targets: Any, name: str) -> None:
    """Raise `InputError` unless every edge exists in both directions, equally often."""
    if is_symmetric(offsets, targets):
        return
    csr = csr_for(targets)
    ends, heads = csr.ascending(offsets, targets)
    ends_back, heads_back = csr.transpose(offsets, targets)
    if (degrees := ends != ends_back).any():
        vertex = int(degrees.argmax()) - 1
    else:
        vertex = int(np.searchsorted(to_host(ends), int((heads != heads_back).argmax()), side="right")) - 1
    raise InputError(
        f"{name} is said to be undirected, but edges of vertex {vertex} are not there in both directions, equally "
        "often: as_graph(..., directed=False) adds what is missing"
    )
