"""Positions for drawing the vertices of a search: a ring for each level, a sector for each subtree."""

from __future__ import annotations

import numpy as np


def radial(distances: np.ndarray, predecessors: np.ndarray) -> np.ndarray:
    """Positions, n x 2: the source in the middle, distance d on a ring of radius d, children around their predecessor.

    The width of a subtree's sector is proportional to its number of leaves. Several sources share a small ring;
    unreached vertices form a row at the bottom.
    """
    n = len(distances)
    order = np.argsort(distances, kind="stable")
    order = order[distances[order] >= 0]
    leaves = np.ones(n)
    children = np.zeros(n)
    for vertex in order[::-1]:
        if children[vertex]:
            leaves[vertex] = children[vertex]
        if predecessors[vertex] >= 0:
            children[predecessors[vertex]] += leaves[vertex]

    sources = np.flatnonzero(distances == 0)
    turn = 2 * np.pi / max(leaves[sources].sum(), 1)
    free = np.zeros(n + 1)  # where the next child's sector begins, in leaves; the last entry is for the sources
    middle = np.zeros(n)
    for vertex in order:
        parent = predecessors[vertex] if predecessors[vertex] >= 0 else n
        free[vertex] = free[parent]
        middle[vertex] = free[parent] + leaves[vertex] / 2
        free[parent] += leaves[vertex]

    radius = distances + (0.0 if len(sources) < 2 else 0.6)
    angle = middle * turn
    positions = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    lost = np.flatnonzero(distances < 0)
    lowest = radius.max(initial=0.0) + 1.0
    width = max(2 * lowest, 1.0)
    positions[lost] = np.stack(
        [np.linspace(-width / 2, width / 2, len(lost) + 2)[1:-1], np.full(len(lost), -lowest)], 1
    )
    return positions
