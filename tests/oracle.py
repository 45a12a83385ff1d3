"""An engine's answer held against SciPy's, whatever the options."""

import numpy as np
from strategies import oracle_distances

from rapids_bfs import as_graph, bfs
from rapids_bfs.testing import assert_valid_bfs


def assert_right(graph, sources, engine, *, depth_limit=None, target=None, predecessors=True, **options):
    """Search, and compare with Dijkstra's distances and the rules of Graph500; return the result."""
    result = bfs(
        graph, sources, engine=engine, depth_limit=depth_limit, target=target, predecessors=predecessors, **options
    )
    expected = oracle_distances(graph, sources, depth_limit)
    if target is not None and expected[target] >= 0:
        expected[expected > expected[target]] = -1
    np.testing.assert_array_equal(result.distances, expected)
    assert (result.predecessors is not None) == predecessors
    assert_valid_bfs(graph, result)
    return result


def random_graph(rng, *, most_vertices=40, most_edges=120):
    """A small graph, directed or not, with isolated vertices, self-loops and duplicates."""
    n = int(rng.integers(1, most_vertices + 1))
    sources, targets = rng.integers(0, n, (2, int(rng.integers(0, most_edges + 1))))
    return as_graph((sources, targets), vertices=n, directed=bool(rng.integers(2)))


def random_options(rng, n):
    """Sources and options for a graph of ``n`` vertices, each set about half of the time."""
    sources = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False).tolist()
    options = {"predecessors": bool(rng.integers(2))}
    if rng.integers(2):
        options["depth_limit"] = int(rng.integers(0, 5))
    if rng.integers(2):
        options["target"] = int(rng.integers(n))
    return sources, options
