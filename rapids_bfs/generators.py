"""Graphs made to measure.

The random ones depend on the seed alone, not on the number of threads: edge i draws from its own stream, a
counter-based generator (splitmix64) keyed by the seed and i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numba import njit, prange

from . import csr
from .adapters.edges import EdgeList, from_edge_list, from_edges
from .errors import InputError
from .graph import Graph, index_dtype
from .memory import require_bytes
from .threads import pool

# Graph500 specification, 1.2: the chances of the four quadrants of the adjacency matrix.
A, B, C = 0.57, 0.19, 0.19
EDGE_FACTOR = 16
SEED = 2


@njit(inline="always")
def _random(key, counter):
    """64 random bits (splitmix64; Steele, Lea, Flood, OOPSLA 2014)."""
    x = np.uint64(key) + np.uint64(counter + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(parallel=True, cache=True, nogil=True)
def _rmat_block(key, first, scale, names, source, target):
    """Edges ``first, first + 1, ...``: at each of ``scale`` levels one quadrant, then both ends renamed."""
    to_b, to_c, to_d = np.uint64(A * 2**32), np.uint64((A + B) * 2**32), np.uint64((A + B + C) * 2**32)
    for i in prange(len(source)):
        stream = _random(key, first + i)
        u = v = 0
        for level in range(scale):
            if level % 2 == 0:
                bits = _random(stream, level)
                draw = bits >> np.uint64(32)
            else:
                draw = bits & np.uint64(0xFFFFFFFF)
            u = 2 * u + (draw >= to_c)
            v = 2 * v + ((draw >= to_b) & (draw < to_c) | (draw >= to_d))
        source[i] = names[u]
        target[i] = names[v]


@njit(parallel=True, cache=True, nogil=True)
def _uniform_block(key, first, scale, source, target):
    """Edges ``first, first + 1, ...`` with both ends uniform over 2**scale vertices."""
    shift = np.uint64(64 - scale)
    for i in prange(len(source)):
        stream = _random(key, first + i)
        source[i] = _random(stream, 0) >> shift if scale else 0
        target[i] = _random(stream, 1) >> shift if scale else 0


def rmat(scale: int, edge_factor: int = EDGE_FACTOR, *, seed: int = SEED) -> Graph:
    """Graph500's Kronecker graph: 2**scale vertices in scrambled order, edge_factor times as many edges drawn.

    Undirected, without self-loops and duplicates, so that fewer edges remain. D. Chakrabarti, Y. Zhan, C. Faloutsos,
    R-MAT, SDM 2004; Graph500 specification, 1.2.
    """
    n, m = _random_size("rmat", scale, edge_factor)
    key = _key(seed)
    names = np.random.default_rng(seed).permutation(n).astype(index_dtype(n))

    def block(first: int, source: np.ndarray, target: np.ndarray) -> None:
        with pool:
            _rmat_block(key, first, scale, names, source, target)

    return _drawn(f"rmat:{scale}:{edge_factor}", n, m, block)


def urand(scale: int, edge_factor: int = EDGE_FACTOR, *, seed: int = SEED) -> Graph:
    """A uniform random graph: 2**scale vertices and edge_factor times as many edges drawn.

    Undirected, without self-loops and duplicates, so that slightly fewer edges remain (Erdos, Renyi 1959).
    """
    n, m = _random_size("urand", scale, edge_factor)
    key = _key(seed)

    def block(first: int, source: np.ndarray, target: np.ndarray) -> None:
        with pool:
            _uniform_block(key, first, scale, source, target)

    return _drawn(f"urand:{scale}:{edge_factor}", n, m, block)


def _random_size(kind: str, scale: int, edge_factor: int) -> tuple[int, int]:
    if not 0 <= scale <= 48 or edge_factor < 0:
        raise InputError(f"{kind}: the scale must be in 0..48 and the edge factor at least 0")
    n = 1 << scale
    m = edge_factor * n
    # Degrees and names of the vertices; edges in both directions, twice while they are sorted.
    require_bytes(40 * n + 4 * m * np.dtype(index_dtype(n)).itemsize, f"generating {kind}:{scale}:{edge_factor}")
    return n, m


def _key(seed: int) -> int:
    """A key for `_random` from any seed, so that streams of neighbouring seeds do not overlap."""
    return int(np.random.default_rng(seed).integers(1 << 62))


def _drawn(name: str, n: int, m: int, block: Callable[[int, np.ndarray, np.ndarray], None]) -> Graph:
    """The simple undirected graph of m edges that ``block(first, source, target)`` draws, some at a time."""

    def blocks() -> Iterator[csr.Edges]:
        for first in range(0, m, csr.BLOCK):
            source, target = np.empty((2, min(csr.BLOCK, m - first)), index_dtype(n))
            block(first, source, target)
            yield source, target

    return from_edge_list(EdgeList(m, blocks, name=name), vertices=n, directed=False).simple


def grid(side: int) -> Graph:
    """A square grid of side x side vertices, row by row, each joined to the next in its row and in its column."""
    vertices = np.arange(_checked("grid", side, side * side)).reshape(side, side)
    source = np.concatenate([vertices[:, :-1].ravel(), vertices[:-1, :].ravel()])
    target = np.concatenate([vertices[:, 1:].ravel(), vertices[1:, :].ravel()])
    return _undirected(f"grid:{side}", side * side, source, target)


def path(n: int) -> Graph:
    """A path: vertex v is joined to v + 1."""
    vertices = np.arange(_checked("path", n, n))
    return _undirected(f"path:{n}", n, vertices[:-1], vertices[1:])


def star(n: int) -> Graph:
    """A star: vertex 0 is joined to each of the n - 1 others."""
    leaves = np.arange(_checked("star", n, n))[1:]
    return _undirected(f"star:{n}", n, np.zeros_like(leaves), leaves)


def complete(n: int) -> Graph:
    """A complete graph: every vertex is joined to every other."""
    _checked("complete", n, n * n)
    source, target = np.triu_indices(n, 1)
    return _undirected(f"complete:{n}", n, source, target)


def tree(n: int) -> Graph:
    """A complete binary tree in heap order: vertex v > 0 is joined to (v - 1) // 2."""
    children = np.arange(_checked("tree", n, n))[1:]
    return _undirected(f"tree:{n}", n, (children - 1) // 2, children)


def _checked(kind: str, size: int, work: int) -> int:
    """The number of vertices to number, once size is known to be at least 1 and the graph to fit."""
    if size < 1:
        raise InputError(f"{kind}: the size must be at least 1, not {size}")
    require_bytes(64 * work, f"generating {kind}:{size}")
    return work


def _undirected(name: str, n: int, source: np.ndarray, target: np.ndarray) -> Graph:
    return from_edges(source, target, vertices=n, directed=False, name=name)


RANDOM = {"rmat": rmat, "urand": urand}
REGULAR = {"grid": grid, "path": path, "star": star, "complete": complete, "tree": tree}


def generate(spec: str, *, seed: int = SEED) -> Graph:
    """The graph written ``kind:size``: rmat:20, rmat:20:16, urand:20, grid:K, path:N, star:N, complete:N, tree:N.

    Raises `InputError` if that is no generator, or its graph would not fit the memory.
    """
    kind, *numbers = spec.split(":")
    try:
        sizes = [int(number) for number in numbers]
    except ValueError:
        raise InputError(f"{spec!r}: the sizes of a generator are whole numbers, as in rmat:20:16") from None
    if kind in RANDOM and 1 <= len(sizes) <= 2:
        return RANDOM[kind](*sizes, seed=seed)
    if kind in REGULAR and len(sizes) == 1:
        return REGULAR[kind](sizes[0])
    raise InputError(f"{spec!r} is no generator: there are rmat:S[:F], urand:S[:F] and {', '.join(REGULAR)}, each :N")
