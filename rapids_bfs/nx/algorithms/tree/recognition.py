"""Trees and forests."""

from __future__ import annotations

from ....algorithms.components import labelled
from ...graph import ConvertedGraph


def is_tree(G: ConvertedGraph) -> bool:
    return G.num_edges == len(G) - 1 and labelled(G.backward)[1] == 1


def is_forest(G: ConvertedGraph) -> bool:
    return G.num_edges < len(G) and G.num_edges == len(G) - labelled(G.backward)[1]


def is_arborescence(G: ConvertedGraph) -> bool:
    return is_tree(G) and int(G.backward.degrees.max()) <= 1


def is_branching(G: ConvertedGraph) -> bool:
    return is_forest(G) and int(G.backward.degrees.max()) <= 1
