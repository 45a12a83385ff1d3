"""Random graphs for property tests, and the oracle that they are held against."""

import numpy as np
import scipy.sparse
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from rapids_bfs import as_graph


@st.composite
def edge_lists(draw, max_vertices=12, max_edges=40):
    """``(n, sources, targets)`` with self-loops, duplicates, isolated vertices and several components; n may be 0."""
    n = draw(st.integers(0, max_vertices))
    vertices = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(vertices, vertices), max_size=max_edges if n else 0))
    sources, targets = np.array(edges, np.int64).reshape(-1, 2).T
    return n, sources, targets


@st.composite
def graphs(draw, min_vertices=0, **sizes):
    """A `Graph`, directed or not, of `edge_lists`."""
    n, sources, targets = draw(edge_lists(**sizes).filter(lambda edges: edges[0] >= min_vertices))
    return as_graph((sources, targets), vertices=n, directed=draw(st.booleans()))


def oracle_distances(graph, sources, depth_limit=None):
    """Distances by SciPy's Dijkstra on unit weights, -1 where none; an algorithm that no engine uses for one source."""
    n = graph.num_vertices
    pairs = np.repeat(np.arange(n), np.diff(graph.offsets)), graph.targets
    matrix = scipy.sparse.coo_array((np.ones(len(pairs[0])), pairs), shape=(n, n)).tocsr()
    nearest = dijkstra(matrix, indices=sources, unweighted=True, min_only=True)
    if depth_limit is not None:
        nearest[nearest > depth_limit] = np.inf
    return np.where(np.isfinite(nearest), nearest, -1).astype(np.int32)


def edges_of(graph):
    """Every directed edge as a pair of vertices, sorted: what must survive a conversion."""
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
    return sorted(zip(sources.tolist(), graph.targets.tolist(), strict=True))
