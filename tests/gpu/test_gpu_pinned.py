"""A device that reads the adjacency over the bus: the same answers by every way to search."""

import numpy as np
import pytest
from oracle import random_graph
from strategies import oracle_distances

from rapids_bfs import as_graph, bfs, bfs_batch, load, validate
from rapids_bfs._core.cuda.arrays import to_host
from rapids_bfs.adapters.pinned import with_pinned_adjacency
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.testing import assert_valid_bfs

ENGINES = ["cupy", "cupy:two-kernel", "cupy:block-queue", "numba-cuda"]


@pytest.mark.parametrize("engine", ENGINES)
def test_random_graphs(engine):
    rng = np.random.default_rng(4)
    for _ in range(20):
        graph = random_graph(rng)
        source = int(rng.integers(graph.num_vertices))
        result = bfs(with_pinned_adjacency(graph), source, engine=engine)
        np.testing.assert_array_equal(to_host(result.distances), oracle_distances(graph, [source]))
        verdict = validate(result.graph, result)
        assert verdict, verdict


@pytest.mark.parametrize("spec", ["rmat:16", "grid:300", "star:100000"])
def test_shapes(spec):
    graph = load(spec, device="cuda", adjacency="pinned")
    host = graph.to("cpu")
    sources = sample_sources(host, 4).tolist()
    for source in sources:
        for options in ({}, {"deterministic": True}, {"predecessors": False}, {"depth_limit": 2}):
            result = bfs(graph, source, engine="cupy", **options)
            expected = bfs(host, source, engine="cpu", **options)
            assert result.graph is graph
            np.testing.assert_array_equal(to_host(result.distances), expected.distances)
    found = bfs_batch(graph, sources, engine="cupy")
    np.testing.assert_array_equal(to_host(found.distances), bfs_batch(host, sources, engine="cpu").distances)


def test_directed_with_ids():
    rng = np.random.default_rng(5)
    graph = as_graph(tuple(3 * rng.integers(0, 30_000, (2, 90_000))), directed=True)
    there = with_pinned_adjacency(graph)
    assert there.to("cpu").to("cuda") is there
    for source in rng.choice(graph.labels, 5):
        result = bfs(there, int(source), engine="cupy")
        np.testing.assert_array_equal(to_host(result.distances), bfs(graph, int(source), engine="scipy").distances)
        assert_valid_bfs(there, result)
