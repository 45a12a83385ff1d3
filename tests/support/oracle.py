"""An engine's answer held against SciPy's, whatever the options."""

import numpy as np
from strategies import oracle_distances

from rapids_bfs import Graph, as_graph, bfs, bfs_batch
from rapids_bfs.testing import assert_valid_bfs


def assert_right(graph, sources, engine, *, depth_limit=None, target=None, predecessors=True, **options):
    """Search, and compare with Dijkstra's distances and the rules of Graph500; return the result."""
    result = bfs(
        graph, sources, engine=engine, depth_limit=depth_limit, target=target, predecessors=predecessors, **options
    )
    assert_answer(result, sources, depth_limit, target)
    assert (result.predecessors is not None) == predecessors
    return result


def assert_answer(result, sources, depth_limit=None, target=None):
    """Compare what a search found with Dijkstra's distances and the rules of Graph500."""
    np.testing.assert_array_equal(result.distances, expected_distances(result.graph, sources, depth_limit, target))
    assert_valid_bfs(result.graph, result)


def expected_distances(graph, sources, depth_limit=None, target=None):
    """Dijkstra's, as far as a search with these options goes."""
    expected = oracle_distances(graph, sources, depth_limit)
    if target is not None and expected[target] >= 0:
        expected[expected > expected[target]] = -1
    return expected


def random_graph(rng, *, most_vertices=40, most_edges=120):
    """A small graph, directed or not, with isolated vertices, self-loops and duplicates."""
    n = int(rng.integers(1, most_vertices + 1))
    sources, targets = rng.integers(0, n, (2, int(rng.integers(0, most_edges + 1))))
    return as_graph((sources, targets), vertices=n, directed=bool(rng.integers(2)))


def with_types(graph, vertex, offset):
    """The graph with targets and offsets of these types."""
    return Graph(graph.offsets.astype(offset), graph.targets.astype(vertex), directed=graph.directed)


def random_options(rng, n):
    """Sources and options for a graph of ``n`` vertices, each set about half of the time."""
    sources = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False).tolist()
    options = {"predecessors": bool(rng.integers(2))}
    if rng.integers(2):
        options["depth_limit"] = int(rng.integers(0, 5))
    if rng.integers(2):
        options["target"] = int(rng.integers(n))
    return sources, options


def assert_batches(traversal, sources, depth_limit=None):
    """What a traversal finds from many sources is what the CPU's batches find, twice."""
    graph = traversal.graph
    for _ in range(2):  # the second time over what the first one left
        distances = np.full((len(sources), graph.num_vertices), 9, np.int32)
        traversal.distances(sources, depth_limit, distances)
        expected = bfs_batch(graph, sources, depth_limit=depth_limit, engine="cpu")
        np.testing.assert_array_equal(distances, expected.distances)
        summary = traversal.summary(sources, depth_limit)
        expected = bfs_batch(graph, sources, keep="summary", depth_limit=depth_limit, engine="cpu")
        for name in ("reached", "total", "eccentricity"):
            np.testing.assert_array_equal(getattr(summary, name), getattr(expected, name))
        np.testing.assert_allclose(summary.harmonic, expected.harmonic)
