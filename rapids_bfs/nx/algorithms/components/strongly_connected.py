"""Strongly connected components: every vertex reaches every other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....kernels.cpu.networkx import components
from ...graph import ConvertedGraph
from ...search import VERSION, reaches_all
from .connected import count_of, sets_of


def _find(offsets: np.ndarray, targets: np.ndarray, members: np.ndarray, starts: np.ndarray) -> int:
    return int(components.strong_components(offsets, targets, members, starts, VERSION >= (3, 7)))


def strongly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    return sets_of(G, G.forward, _find)


def number_strongly_connected_components(G: ConvertedGraph) -> int:
    return 1 if is_strongly_connected(G) else count_of(G.forward, _find)


def is_strongly_connected(G: ConvertedGraph) -> bool:
    return reaches_all(G) and reaches_all(G, over=G.backward)
