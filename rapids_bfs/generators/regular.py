"""Regular graphs."""

from __future__ import annotations

import numpy as np

from .._core.memory import require_bytes
from ..adapters.edges import from_edges
from ..errors import InputError
from ..graph import Graph


def grid(side: int) -> Graph:
    """A square grid of side x side vertices, row by row, each joined to the next in its row and in its column."""
    vertices = np.arange(_checked("grid", side, side * side)).reshape(side, side)
    source = np.concatenate([vertices[:, :-1].ravel(), vertices[:-1, :].ravel()])
    target = np.concatenate([vertices[:, 1:].ravel(), vertices[1:, :].ravel()])
    return undirected(f"grid:{side}", side * side, source, target)


def grid3d(side: int) -> Graph:
    """A grid of side x side x side vertices, each joined to the next along each of the three axes."""
    vertices = np.arange(_checked("grid3d", side, side**3, bytes_each=128)).reshape(side, side, side)
    ends = [(vertices[:-1], vertices[1:]), (vertices[:, :-1], vertices[:, 1:]), (vertices[..., :-1], vertices[..., 1:])]
    source, target = (np.concatenate([each.ravel() for each in end]) for end in zip(*ends, strict=True))
    return undirected(f"grid3d:{side}", side**3, source, target)


def path(n: int) -> Graph:
    """A path: vertex v is joined to v + 1."""
    vertices = np.arange(_checked("path", n, n))
    return undirected(f"path:{n}", n, vertices[:-1], vertices[1:])


def star(n: int) -> Graph:
    """A star: vertex 0 is joined to each of the n - 1 others."""
    leaves = np.arange(_checked("star", n, n))[1:]
    return undirected(f"star:{n}", n, np.zeros_like(leaves), leaves)


def complete(n: int) -> Graph:
    """A complete graph: every vertex is joined to every other."""
    _checked("complete", n, n * n)
    source, target = np.triu_indices(n, 1)
    return undirected(f"complete:{n}", n, source, target)


def tree(n: int) -> Graph:
    """A complete binary tree in heap order: vertex v > 0 is joined to (v - 1) // 2."""
    children = np.arange(_checked("tree", n, n))[1:]
    return undirected(f"tree:{n}", n, (children - 1) // 2, children)


def _checked(kind: str, size: int, work: int, *, bytes_each: int = 64) -> int:
    """``work``, if the size is at least 1 and the graph fits the memory; otherwise raises `InputError`."""
    if size < 1:
        raise InputError(f"{kind}: the size must be at least 1, not {size}")
    require_bytes(bytes_each * work, f"generating {kind}:{size}")
    return work


def undirected(name: str, n: int, source: np.ndarray, target: np.ndarray) -> Graph:
    """The graph of n vertices and these edges, each given once or in both directions."""
    return from_edges(source, target, vertices=n, directed=False, name=name)
