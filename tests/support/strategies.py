"""Random graphs for property tests, and the oracle that they are held against."""

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import dijkstra

from rapids_bfs.testing import edge_lists, graphs

__all__ = ["edge_lists", "edges_of", "graphs", "matrix_of", "oracle_distances", "records"]


def matrix_of(graph):
    """The adjacency as SciPy's, in floats that count repeated edges."""
    n = graph.num_vertices
    ends = np.repeat(np.arange(n), np.diff(graph.offsets)), graph.targets
    return scipy.sparse.coo_array((np.ones(len(graph.targets)), ends), shape=(n, n)).tocsr()


def oracle_distances(graph, sources, depth_limit=None):
    """Distances by SciPy's Dijkstra on unit weights, -1 where none; an algorithm that no engine uses for one source."""
    nearest = dijkstra(matrix_of(graph), indices=sources, unweighted=True, min_only=True)
    if depth_limit is not None:
        nearest[nearest > depth_limit] = np.inf
    return np.where(np.isfinite(nearest), nearest, -1).astype(np.int32)


def records(frame):
    """The rows of a frame of any kind."""
    columns = frame.to_pydict() if hasattr(frame, "to_pydict") else {name: list(frame[name]) for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def edges_of(graph):
    """Every directed edge as a pair of vertices, sorted, which a conversion must preserve."""
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
    return sorted(zip(sources.tolist(), graph.targets.tolist(), strict=True))
