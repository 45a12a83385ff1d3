"""The ways of the fast kernel that other tests may not take: each direction forced, each hand-over between them."""

from dataclasses import replace

import numpy as np
import pytest
from oracle import assert_answer, expected_distances, random_graph, random_options

from rapids_bfs import as_graph, bfs
from rapids_bfs.engines import Options, registered
from rapids_bfs.engines.gpu.direction_optimizing import DEFAULT
from rapids_bfs.generators import generate
from rapids_bfs.testing import assert_valid_bfs

NEVER, ALWAYS = 1, 1 << 40  # alpha: go bottom-up never, or at once
WHOLE = replace(DEFAULT, grid=1 << 20)  # however small the graph is
DEEP = replace(WHOLE, deep=-1, single_block_chunks=0)
TUNINGS = {
    "default": DEFAULT,
    "grid, top-down": replace(WHOLE, single_block_chunks=0, alpha=NEVER),
    "grid, bottom-up": replace(WHOLE, single_block_chunks=0, alpha=ALWAYS, beta=ALWAYS),
    "to and fro": replace(WHOLE, single_block_chunks=0, alpha=ALWAYS, beta=1, shrinking_levels=1),
    "alone and to and fro": replace(WHOLE, single_block_chunks=40, alpha=30, beta=2, shrinking_levels=1),
    "grid, dense": replace(WHOLE, single_block_chunks=0, alpha=NEVER, dense=ALWAYS, dense_edges=0),
    "dense and bottom-up": replace(WHOLE, single_block_chunks=0, dense=ALWAYS, dense_edges=0),
    "deep": replace(WHOLE, cluster=8, deep=-1, single_block_chunks=4),
    "deep, large frontiers": replace(DEEP, deep_chunks=1 << 20, deep_chunks_of_block=1000),
    "deep, few blocks": replace(DEEP, grid=5, cluster=4),
    "deep, too little room": replace(DEEP, single_block_chunks=20, capacity=40),
    "deep, few blocks with too little room": replace(DEEP, grid=3, cluster=2, capacity=40, deep_chunks_of_block=30),
    "too little room alone": replace(WHOLE, single_block_chunks=40, capacity=40),
    "small blocks": replace(WHOLE, single_block_chunks=100, threads=256, blocks=4),
    "waiting in the driver": replace(DEFAULT, spin=False),
}


@pytest.fixture(params=TUNINGS)
def tuning(request):
    return TUNINGS[request.param]


@pytest.fixture(params=["cupy", "numba-cuda"])
def engine(request):
    return request.param


def search(graph, tuning, engine):
    traversal = registered()[engine].prepare(graph, "direction-optimizing")
    traversal.tune(tuning)
    return traversal


@pytest.mark.parametrize("spec", ["rmat:16", "urand:15", "grid:300", "tree:60000", "star:100000", "path:3000"])
def test_shapes(engine, tuning, spec):
    graph = generate(spec)
    traversal = search(graph, tuning, engine)
    for source in np.random.default_rng(3).choice(np.flatnonzero(graph.degrees), 4, replace=False):
        for options in (Options(), Options(predecessors=False), Options(depth_limit=3), Options(target=7)):
            result = traversal.run(np.array([source]), options)
            assert_valid_bfs(graph, result)
        result = traversal.run(np.array([source]))
        np.testing.assert_array_equal(result.distances, bfs(graph, source, engine="scipy").distances)


def test_most_rows_are_small(engine, tuning):
    """The team's queue holds rows of up to four edges themselves, and of others their place; here it has both."""
    rng = np.random.default_rng(9)
    chain = np.arange(40_000)
    pairs = (
        np.concatenate([chain, rng.integers(0, 40_000, 30_000)]),
        np.concatenate([np.roll(chain, 1), rng.integers(0, 40_000, 30_000)]),
    )
    graph = as_graph(pairs, vertices=40_000, directed=False)
    assert graph.num_arcs < 4 * graph.num_vertices
    assert (graph.degrees > 4).sum() > 5000
    traversal = search(graph, tuning, engine)
    for source in rng.integers(0, 40_000, 4):
        for options in (Options(), Options(depth_limit=5), Options(target=7)):
            assert_valid_bfs(graph, traversal.run(np.array([source]), options))
        result = traversal.run(np.array([source]))
        np.testing.assert_array_equal(result.distances, bfs(graph, source, engine="scipy").distances)


def test_directed(engine, tuning):
    rng = np.random.default_rng(7)
    graph = as_graph(tuple(rng.integers(0, 30_000, (2, 90_000))), vertices=30_000, directed=True)
    traversal = search(graph, tuning, engine)
    for source in rng.integers(0, 30_000, 8):
        result = traversal.run(np.array([source]))
        np.testing.assert_array_equal(result.distances, bfs(graph, source, engine="scipy").distances)
        assert_valid_bfs(graph, result)


def test_random_graphs(engine, tuning):
    rng = np.random.default_rng(8)
    for _ in range(100):
        graph = random_graph(rng)
        traversal = search(graph, tuning, engine)
        for _ in range(5):
            sources, options = random_options(rng, graph.num_vertices)
            result = traversal.run(np.array(sources), Options(**options))
            assert_answer(result, sources, options.get("depth_limit"), options.get("target"))


def test_levels_add_up(engine, tuning):
    graph = generate("rmat:14")
    traversal = search(graph, tuning, engine)
    result = traversal.run(np.array([int(np.argmax(graph.degrees))]), Options(trace=True))
    assert sum(level.newly_reached for level in result.trace) == result.num_reached - 1
    assert result.trace[-1].newly_reached == 0


def test_a_vertex_with_very_many_edges_that_no_level_reaches(engine):
    """Bottom-up looks at its edges in vain, and must not take for ever."""
    hub, leaves, rest = 0, np.arange(1, 300_000), np.arange(300_000, 400_000)
    pairs = np.concatenate([rest[:-1], np.full(len(leaves), hub)]), np.concatenate([rest[1:], leaves])
    graph = as_graph(pairs, vertices=400_000, directed=False)
    traversal = search(graph, TUNINGS["grid, bottom-up"], engine)
    result = traversal.run(np.array([399_000]), Options(depth_limit=20))
    assert result.num_reached == 41


def test_answers_in_arrays_that_were_never_written(engine, tuning):
    """Also isolated vertices are written, and nothing of the next ordinary search is lost, nor of the last."""
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng(9)
    for _ in range(60):
        graph = random_graph(rng, most_vertices=100, most_edges=60)
        traversal = search(graph, tuning, engine)
        n = graph.num_vertices
        for _ in range(6):
            sources, options = random_options(rng, n)
            expected = expected_distances(graph, sources, options.get("depth_limit"), options.get("target"))
            if rng.integers(2):
                np.testing.assert_array_equal(traversal.run(np.array(sources), Options(**options)).distances, expected)
                continue
            unreached = int(rng.choice([-1, 2**31 - 1]))
            distances = cupy.full(n, 12345, np.int32)
            predecessors = cupy.full(n, 12345, graph.targets.dtype) if options["predecessors"] else None
            with (
                traversal.device.current(),
                traversal.search_into(distances, predecessors, unreached, np.array(sources), Options(**options)),
            ):
                pass
            np.testing.assert_array_equal(distances.get(), np.where(expected < 0, unreached, expected))
            if predecessors is None:
                continue
            tree = predecessors.get()
            np.testing.assert_array_equal(tree < 0, expected <= 0)
            np.testing.assert_array_equal(expected[tree[expected > 0]], expected[expected > 0] - 1)
