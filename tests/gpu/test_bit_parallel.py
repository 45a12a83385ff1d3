"""Batches on the GPU: every width, each direction forced, distances on either side, against the CPU's batches."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from oracle import assert_batches, random_graph

from rapids_bfs import Graph, as_graph, bfs_batch, load
from rapids_bfs.engines import registered
from rapids_bfs.engines.gpu.bit_parallel import DEFAULT
from rapids_bfs.generators import generate
from rapids_bfs.kernels.batch import WIDTHS

NEVER, ALWAYS = 1, 1 << 40  # alpha: go bottom-up never, or at once
TUNINGS = {
    "default": DEFAULT,
    "top-down": replace(DEFAULT, alpha=NEVER, grid=1 << 20),
    "bottom-up": replace(DEFAULT, alpha=ALWAYS, grid=1 << 20),
    "to and fro": replace(DEFAULT, alpha=3, grid=1 << 20),
    "one block": replace(DEFAULT, grid=1),
    **{f"width {width}": replace(DEFAULT, widest=width) for width in WIDTHS},
}
SHAPES = ["rmat:12", "urand:11", "grid:40", "tree:3000", "star:3000", "path:700", "complete:300"]


@pytest.fixture(params=TUNINGS)
def tuning(request):
    return TUNINGS[request.param]


def assert_right(graph, sources, tuning, depth_limit=None):
    traversal = registered()["cupy"].prepare_batch(graph, "direction-optimizing")
    traversal.tune(tuning)
    assert_batches(traversal, sources, depth_limit)


@pytest.mark.parametrize("spec", SHAPES)
def test_shapes(tuning, spec):
    graph = generate(spec)
    rng = np.random.default_rng(2)
    for k in (1, 64, 65, 1100):
        assert_right(graph, rng.integers(0, graph.num_vertices, k), tuning)


def test_random_graphs(tuning):
    rng = np.random.default_rng(3)
    for _ in range(40):
        graph = random_graph(rng)
        sources = rng.integers(0, graph.num_vertices, int(rng.integers(1, 100)))
        assert_right(graph, sources, tuning, int(rng.integers(0, 4)) if rng.integers(2) else None)


def test_directed(tuning):
    rng = np.random.default_rng(4)
    for most in (5_000, 40):  # targets: many, and so few that they have very many in-edges
        ends = rng.integers(0, 5_000, 60_000), rng.integers(0, most, 60_000)
        graph = as_graph(ends, vertices=5_000, directed=True)
        assert_right(graph, rng.integers(0, 5_000, 200), tuning)


def test_int64_offsets():
    graph = generate("rmat:10")
    wide = Graph(graph.offsets.astype(np.int64), graph.targets, directed=False)
    sources = np.arange(100)
    expected = bfs_batch(graph, sources, engine="cpu").distances
    np.testing.assert_array_equal(bfs_batch(wide, sources, engine="cupy").distances, expected)


def test_a_graph_on_the_device_gets_its_distances_there():
    import cupy

    graph = load("rmat:12", device="cuda")
    found = bfs_batch(graph, range(200), engine="cupy")
    expected = bfs_batch(graph.to("cpu"), range(200), engine="cpu").distances
    assert isinstance(found.distances, cupy.ndarray)
    np.testing.assert_array_equal(found.distances.get(), expected)
    parts = []
    bfs_batch(graph, range(200), engine="cupy", batch_size=70, on_batch=lambda rows, some: parts.append(some.get()))
    np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_threads_that_never_saw_the_device():
    graph = generate("rmat:10")
    expected = bfs_batch(graph, range(100), engine="cupy")
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: bfs_batch(graph, range(100), engine="cupy"), range(16)):
            np.testing.assert_array_equal(found.distances, expected.distances)
        for found in threads.map(lambda _: bfs_batch(graph, range(100), keep="summary", engine="cupy"), range(16)):
            np.testing.assert_array_equal(found.reached, (expected.distances >= 0).sum(axis=1))
