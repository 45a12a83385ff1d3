"""Trees and forests."""

from __future__ import annotations

from ....kernels.cpu import components
from ...graph import ConvertedGraph
from ...search import reaches_all
from ..components.connected import count_of


def is_tree(G: ConvertedGraph) -> bool:
    return G.num_edges == len(G) - 1 and reaches_all(G, over=G.mutual)


def is_forest(G: ConvertedGraph) -> bool:
    return G.num_edges < len(G) and G.num_edges == len(G) - count_of(G.mutual, components.components)


def is_arborescence(G: ConvertedGraph) -> bool:
    return is_tree(G) and int(G.backward.degrees.max()) <= 1


def is_branching(G: ConvertedGraph) -> bool:
    return is_forest(G) and int(G.backward.degrees.max()) <= 1
