"""Weakly connected components: those of a directed graph, directions ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....algorithms.components import labelled
from ...graph import ConvertedGraph
from .connected import components_of


def weakly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    return components_of(G, G.symmetrized)


def number_weakly_connected_components(G: ConvertedGraph) -> int:
    return labelled(G.backward)[1]


def is_weakly_connected(G: ConvertedGraph) -> bool:
    return labelled(G.backward)[1] == 1
