"""A list of edges with integer ids, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.arguments import quoted
from .._core.csr import building as csr
from .._core.formatting import counted
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import NO_EDGE_DATA, EdgeData

COLUMNS = ("source", "target")
SPREAD = 8  # ids below this many times the edges are counted in an array; others are hashed, or sorted on a device


@dataclass(frozen=True)
class EdgeList:
    """Integer edges that can be read more than once.

    ``blocks()`` yields pairs of integer or float arrays. ``rows`` may be an estimate; it limits how far apart ids may
    lie to be counted in an array. The names are for messages.
    """

    rows: int
    blocks: Callable[[], Iterable[csr.Pairs]]
    columns: tuple[str, str] = COLUMNS
    name: str = "edge list"
    data: EdgeData = NO_EDGE_DATA  # what the edges carry, in the order of the rows

    def checked(self) -> Iterator[csr.Pairs]:
        """The blocks as non-negative integers. Raises `InputError` at the first id that is not one."""
        row = 0
        for pair in self.blocks():
            source, target = (
                vertex_ids(ids, f"{self.name}, column {column!r}", row)
                for ids, column in zip(pair, self.columns, strict=True)
            )
            yield source, target
            row += len(source)


def require_columns(source: Any, target: Any, name: str) -> None:
    """Raise `InputError` unless both arrays have one dimension, and one length."""
    if source.ndim != 1 or target.ndim != 1 or len(source) != len(target):
        raise InputError(
            f"{name}: source and target must be one-dimensional and of one length, "
            f"not of shapes {source.shape} and {target.shape}"
        )


def vertex_ids(ids: np.ndarray, where: str, first_row: int = 0) -> np.ndarray:
    """``ids`` as integers, unchanged if they are. Raises `InputError` naming the first row that holds no vertex id."""

    def refuse(bad: np.ndarray, what: str) -> None:
        if bad.any():
            row = int(bad.argmax())
            raise InputError(f"{where}, row {first_row + row} (from 0): {ids[row]!s} {what}")

    if ids.dtype.kind == "f":
        refuse(np.isnan(ids), "is not a vertex id: drop the rows without one")
        refuse(ids != np.floor(ids), "is fractional: vertex ids are whole numbers, or strings")
        exact = 2.0 ** (np.finfo(ids.dtype).nmant + 1)  # from here on, an id may have been rounded
        refuse(np.abs(ids) >= exact, f"is beyond the whole numbers that a {ids.dtype} holds: give integers")
    elif ids.dtype.kind not in "iu":
        raise InputError(f"{where}: {ids.dtype} cannot hold vertex ids")
    if len(ids) and ids.dtype.kind != "u":
        refuse(ids < 0, "is negative: integer vertex ids start at 0")
    if ids.dtype == np.uint64:
        refuse(ids > np.uint64(np.iinfo(np.int64).max), "is beyond int64")
    return ids if ids.dtype.kind == "i" else ids.astype(np.int64)


def are_scattered(highest: int, rows: int) -> bool:
    """Return True if ids up to ``highest`` lie too far apart in this many rows to be counted in an array."""
    return highest >= SPREAD * rows + 1024


def is_directed(directed: bool | None, symmetric: bool, data: EdgeData) -> bool:
    """``directed``, as `from_edges` takes it; None: a graph of symmetric edges without data is undirected."""
    return bool(data) or not symmetric if directed is None else directed


def checked_vertices(vertices: int) -> int:
    """``vertices`` if this many fit the memory. Raises `InputError` if they do not, or are negative."""
    if vertices < 0:
        raise InputError(f"the number of vertices must be at least 0, not {vertices}")
    if vertices > np.iinfo(np.int64).max:
        raise InputError(f"the number of vertices must be less than 2**63, not {quoted(vertices)}")
    require_bytes(24 * vertices, f"a graph of {vertices:,} vertices")
    return vertices


def refuse_past(edges: EdgeList, first_row: int, source: np.ndarray, target: np.ndarray, vertices: int) -> None:
    """Raise `InputError` for the first of these rows with an id that is ``vertices`` or more."""
    row = int(((source >= vertices) | (target >= vertices)).argmax())
    column, value = next(
        (column, ids[row]) for column, ids in zip(edges.columns, (source, target), strict=True) if ids[row] >= vertices
    )
    raise InputError(
        f"{edges.name}, column {column!r}, row {first_row + row} (from 0): {value} is past the last of "
        f"{counted(vertices, 'vertex', 'vertices')}, {vertices - 1}"
    )
