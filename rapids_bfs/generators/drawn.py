"""Graphs of random edges: R-MAT and uniform.

A random graph depends only on its seed, not on the number of threads: edge i has its own stream of a counter-based
generator (splitmix64), keyed by the seed and i. So it is the same on the CPU and on a CUDA device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.arguments import whole_number
from .._core.csr import building as csr
from .._core.cuda.arrays import CPU, CUDA, checked_device, to_device
from .._core.cuda.kernels import launch
from .._core.dtypes import index_dtype
from .._core.memory import require_bytes, require_device_bytes
from ..adapters._edge_list import EdgeList
from ..adapters.edges import from_edge_list
from ..errors import InputError
from ..graph import Graph

# Graph500 specification, 1.2: the chances of the four quadrants of the adjacency matrix.
A, B, C = 0.57, 0.19, 0.19
EDGE_FACTOR = 16
MAX_SCALE = 48
BLOCKS = {CPU: csr.BLOCK, CUDA: 1 << 27}  # edges drawn at a time
SEED = 2


@dataclass(frozen=True)
class Drawing:
    """The m random edges of a graph of n vertices; any range of them can be drawn at any time.

    ``draw(first, source, target)`` fills two arrays that live on ``device``.
    """

    name: str
    n: int
    m: int
    draw: Callable[[int, Any, Any], None]
    device: str

    def edges(self, first: int = 0, last: int | None = None) -> csr.Pairs:
        """Sources and targets of the edges from ``first`` on."""
        if self.device == CUDA:
            from cupy import empty
        else:
            empty = np.empty
        size = (self.m if last is None else last) - first
        source, target = (empty(size, index_dtype(self.n)) for _ in range(2))
        self.draw(first, source, target)
        return source, target

    def graph(self) -> Graph:
        """The simple undirected graph of the edges, which are drawn twice, a block at a time."""

        def blocks() -> Iterator[csr.Pairs]:
            for first in range(0, self.m, BLOCKS[self.device]):
                yield self.edges(first, min(first + BLOCKS[self.device], self.m))

        return self._made_of(blocks)

    def graph_of(self, source: Any, target: Any) -> Graph:
        """The same graph, from all edges drawn before."""
        return self._made_of(lambda: [(source, target)])

    def _made_of(self, blocks: Callable[[], Iterable[csr.Pairs]]) -> Graph:
        if self.device == CUDA:
            from .._core.csr.device import fill

            offsets, targets = fill(blocks, self.n, self.m, mirror=True)
            return Graph._trusted(offsets, targets, directed=False, name=self.name).simple
        return from_edge_list(EdgeList(self.m, blocks, name=self.name), vertices=self.n, directed=False).simple


def rmat_edges(
    scale: int, edge_factor: int = EDGE_FACTOR, *, seed: int = SEED, device: str = CPU, checked: bool = True
) -> Drawing:
    """The edges of Graph500's Kronecker graph: 2**scale vertices in scrambled order, edge_factor times as many edges.

    With self-loops and duplicates, so that fewer edges remain. ``checked``: the graph must fit the memory.
    D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT, SDM 2004; Graph500 specification, 1.2.
    """
    key = _key(seed)
    naming = np.random.default_rng(seed).integers(1 << 63, size=(3, 2), dtype=np.uint64)
    naming[:, 0] |= np.uint64(1)
    shares = [np.uint64(share * 2**32) for share in (A, A + B, A + B + C)]
    return _drawing("rmat", "rmat", key, scale, edge_factor, device, checked, *shares, naming)


def urand_edges(
    scale: int, edge_factor: int = EDGE_FACTOR, *, seed: int = SEED, device: str = CPU, checked: bool = True
) -> Drawing:
    """The edges of a uniform random graph: 2**scale vertices, edge_factor times as many edges (Erdos, Renyi 1959).

    With self-loops and duplicates, so that slightly fewer edges remain. ``checked``: the graph must fit the memory.
    """
    return _drawing("urand", "uniform", _key(seed), scale, edge_factor, device, checked)


def checked_scale(scale: int, what: str) -> int:
    """``scale`` as an int. Raises `InputError` if it is not in 0..`MAX_SCALE`; the message begins with ``what``."""
    number = whole_number(scale, what)
    if number > MAX_SCALE:
        raise InputError(f"{what} must be in 0..{MAX_SCALE}, not {number}")
    return number


def _drawing(
    kind: str,
    kernel: str,
    key: int,
    scale: int,
    edge_factor: int,
    device: str,
    checked: bool,
    *parameters: Any,
) -> Drawing:
    """The edges that the kernel of this name, on the host or on the device, draws with ``parameters``.

    Raises `InputError` if there is no such graph; if ``checked``, also if it does not fit the memory.
    """
    checked_device(device)
    whole_number(edge_factor, f"{kind}: the edge factor")
    n = 1 << checked_scale(scale, f"{kind}: the scale")
    m = edge_factor * n
    name = f"{kind}:{scale}:{edge_factor}"
    each = m * np.dtype(index_dtype(n)).itemsize
    if checked and device == CUDA:  # edges in both directions, three times: unsorted, sorted, and without duplicates
        require_device_bytes(40 * n + 6 * each, f"generating {name}")
    elif checked:  # degrees and names of the vertices; edges in both directions, twice while they are sorted
        require_bytes(40 * n + 4 * each, f"generating {name}")

    def draw(first: int, source: np.ndarray, target: np.ndarray) -> None:
        from .._core.threads import pool  # late: it imports Numba
        from . import random_edges

        with pool.work_on():
            getattr(random_edges, kernel)(key, first, scale, *parameters, source, target)

    def draw_on_device(first: int, source: Any, target: Any) -> None:
        given = (to_device(each) if isinstance(each, np.ndarray) else int(each) for each in parameters)
        size = len(source)
        launch("random_edges", kernel, source.dtype, np.int32, size, key, first, size, scale, *given, source, target)

    return Drawing(name, n, m, draw_on_device if device == CUDA else draw, device)


def _key(seed: int) -> int:
    """A key for `random_bits` from any seed, so that streams of neighbouring seeds do not overlap."""
    return int(np.random.default_rng(whole_number(seed, "the seed")).integers(1 << 62))
