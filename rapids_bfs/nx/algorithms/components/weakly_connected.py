"""Components of directed graphs, directions aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....kernels.cpu import components
from ...graph import ConvertedGraph
from ...search import reaches_all
from .connected import components_of, count_of


def weakly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    return components_of(G, G.mutual)


def number_weakly_connected_components(G: ConvertedGraph) -> int:
    return 1 if is_weakly_connected(G) else count_of(G.mutual, components.components)


def is_weakly_connected(G: ConvertedGraph) -> bool:
    return reaches_all(G, over=G.mutual)
