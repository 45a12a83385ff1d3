"""Pairs of a distributed graph and the same graph in one piece, to compare their answers."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from strategies import edges_of, graphs

from rapids_bfs import as_graph
from rapids_bfs.distributed.build import Plan
from rapids_bfs.distributed.graph import from_graph, from_source
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.sources import GraphEdges

SIZES = st.integers(1, 5)  # of ranks, and often there are fewer vertices


def spaced(whole, factor):
    """The same edges between ids that are ``factor`` apart; isolated vertices are lost."""
    ends = [factor * each.astype(np.int64) for each in whole.vertex_pairs()]
    return as_graph(tuple(ends), directed=whole.directed)


@st.composite
def pairs(draw, min_vertices=1):
    """A graph over 1 to 5 ranks and the same in one piece: directed or not, with self-loops, repeated edges and
    isolated vertices; ids 0..n-1, with gaps, far apart, or strings, which come from the graph in one piece."""
    whole = draw(graphs(min_vertices=min_vertices, max_vertices=24, max_edges=60))
    launcher = Threads(["cpu"] * draw(SIZES))
    ids = draw(st.sampled_from(["0..n-1", "gaps", "far", "strings"]))
    if ids in ("gaps", "far") and whole.num_arcs:
        whole = spaced(whole, 3 if ids == "gaps" else 10**12)
        numbered = whole.replace(labels=None)
        edges = Relabelled(numbered, whole.labels)
        return from_source(edges, launcher, Plan(directed=whole.directed)), whole
    if ids == "strings":
        whole = whole.replace(labels=np.array([f"v{vertex}" for vertex in range(len(whole))], object))
    return from_graph(whole, launcher), whole


class Relabelled(GraphEdges):
    """The edges of a graph on the host, between these ids."""

    def __init__(self, graph, ids):
        super().__init__(graph)
        object.__setattr__(self, "ids", np.arange(len(graph)) if ids is None else ids)

    def blocks(self, rank, size):
        for sources, targets in super().blocks(rank, size):
            yield self.ids[sources], self.ids[targets]


def networkx_graph(whole):
    ids, graph = list(whole), nx.DiGraph()
    graph.add_nodes_from(ids)
    graph.add_edges_from((ids[source], ids[target]) for source, target in edges_of(whole))
    return graph
