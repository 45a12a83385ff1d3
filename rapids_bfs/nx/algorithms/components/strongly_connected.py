"""Components of directed graphs in which every vertex reaches every other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....kernels.cpu import components
from ...graph import ConvertedGraph
from .connected import count_of, sets_of


def strongly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    return sets_of(G, G.forward, components.strong_components)


def number_strongly_connected_components(G: ConvertedGraph) -> int:
    return count_of(G.forward, components.strong_components)


def is_strongly_connected(G: ConvertedGraph) -> bool:
    return number_strongly_connected_components(G) == 1
