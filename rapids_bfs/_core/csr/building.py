"""CSR by counting: edge lists in, offsets and targets out, in the order given.

Edges are read twice, a block at a time: once to count those of each vertex, once to place them. So an adjacency keeps
the order of the edge list, and little memory is needed besides the result. `counting` has the compiled kernels;
`kernels.by_numpy` has the same functions for a process that has not imported Numba.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

import numpy as np

from ...errors import InputError
from ...kernels import by_numpy
from ..dtypes import frozen, index_dtype
from ..memory import require_bytes
from ..without_numba import numpy_will_do

BLOCK = 1 << 20  # edges that are handed to the threads at a time

Pairs = tuple[np.ndarray, np.ndarray]  # sources and targets, of one length
CSR = tuple[np.ndarray, np.ndarray]  # offsets and targets

CHANGED = "the edges changed while they were read: try again"

# For the hashes of edges, odd; drawn by each process, so that nobody can construct edges whose hashes cancel out.
KEY = np.frombuffer(secrets.token_bytes(16), np.uint64) | np.uint64(1)


def _kernels(things: int) -> ModuleType:
    """The module of `count`, `asymmetry`, `place` and `gather` for this many edges and vertices."""
    return by_numpy if numpy_will_do(things) else import_module(".counting", __package__)


def as_block(ids: np.ndarray) -> np.ndarray:
    """``ids`` in the layout that kernels take: contiguous, read-only, int32 or int64."""
    dtype = ids.dtype if ids.dtype in (np.int32, np.int64) else np.int64
    return frozen(np.ascontiguousarray(ids, dtype))


def gather(values: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """``values[indices]``, in parallel; -1 where there is no such index."""
    gathered = np.empty(len(indices), values.dtype)
    _kernels(len(indices)).gather(values, as_block(indices), gathered)
    return gathered


def _lengthened(degrees: np.ndarray, length: int) -> np.ndarray:
    """``degrees`` followed by zeros, whose pages take no memory until they are written."""
    longer = np.zeros(length, degrees.dtype)
    longer[: len(degrees)] = degrees
    return longer


class Degrees:
    """Out- and in-degrees of the edges added so far, and whether the edges are symmetric.

    ``out`` and ``into`` (int64) grow with the largest vertex; a self-loop counts in ``out`` only.
    """

    def __init__(self, vertices: int) -> None:
        self.out = np.zeros(vertices, np.int64)
        self.into = np.zeros(vertices, np.int64)
        self._asymmetry = 0

    def add(self, source: np.ndarray, target: np.ndarray) -> None:
        """Count the edges of a block, all of them between vertices below ``len(self.out)``."""
        kernels = _kernels(len(source) + len(self.out))
        self._asymmetry += kernels.count(as_block(source), as_block(target), self.out, self.into, KEY)

    def grow(self, vertices: int) -> None:
        """Make room for vertices up to ``vertices - 1``."""
        room = 1 << (vertices - 1).bit_length()
        self.out, self.into = (_lengthened(degrees, room) for degrees in (self.out, self.into))

    @property
    def symmetric(self) -> bool:
        """Was every edge added in both directions, equally often? By keyed hashes: wrong for one graph in 2**64."""
        return self._asymmetry % 2**64 == 0


def is_symmetric(offsets: np.ndarray, targets: np.ndarray) -> bool:
    """Does every edge of a CSR exist in both directions, equally often? See `Degrees.symmetric`."""
    asymmetry = _kernels(len(targets) + len(offsets)).asymmetry(offsets, targets, KEY)
    return int(asymmetry) % 2**64 == 0


def fill(degrees: np.ndarray, blocks: Iterable[Pairs], *, mirror: bool = False, limit: int | None = None) -> CSR:
    """Offsets and targets of the edges in ``blocks``, whose ``degrees[n]`` were counted before.

    With ``mirror`` each edge is placed in both directions, a self-loop once. Targets are below ``limit``, by default n.
    Raises `InputError` if these are not the edges that were counted, as in a file that changes while it is read.
    """
    edges = int(degrees.sum())
    limit = len(degrees) if limit is None else limit
    dtype = np.dtype(index_dtype(limit))
    require_bytes(edges * dtype.itemsize, f"a graph of {edges:,} edges")
    offsets = offsets_of(degrees)
    targets = np.empty(edges, dtype)
    cursors = offsets[:-1].copy()
    for source, target in blocks:
        _kernels(len(source) + len(cursors)).place(as_block(source), as_block(target), mirror, limit, cursors, targets)
    if not np.array_equal(cursors, offsets[1:]):
        raise InputError(CHANGED)
    return offsets, targets


def offsets_of(degrees: np.ndarray) -> np.ndarray:
    """Exclusive prefix sum of ``degrees[n]``: the offsets (n + 1) of adjacencies with these degrees."""
    offsets = np.zeros(len(degrees) + 1, index_dtype(int(degrees.sum())))
    np.cumsum(degrees, out=offsets[1:])
    return offsets


def degrees_of(n: int, blocks: Iterable[Pairs]) -> Degrees:
    """The degrees of these edges of n vertices."""
    degrees = Degrees(n)
    for source, target in blocks:
        degrees.add(source, target)
    return degrees
