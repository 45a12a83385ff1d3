"""The fast search of CUDA C++ and its host, run on the host, against SciPy."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from device import HostDevice
from emulator import emulate
from faults import Fault, assert_seen
from oracle import assert_answer, expected_distances, random_graph, random_options

from rapids_bfs import Graph, as_graph
from rapids_bfs.engines import Options, _direction_optimizing, _one_launch
from rapids_bfs.engines._direction_optimizing import DEFAULT, DirectionOptimizing
from rapids_bfs.generators import generate

NEVER, ALWAYS = 1, 1 << 40  # alpha: go bottom-up never, or at once
SMALL = replace(DEFAULT, threads=64, grid=2, cluster=1, alone=0, capacity=64, dense=ALWAYS, dense_edges=ALWAYS)
CLUSTER = replace(SMALL, grid=None, cluster=2, deep=-1, alpha=NEVER, together=800)
TUNINGS = {
    "top-down": replace(SMALL, alpha=NEVER),
    "dense": replace(SMALL, alpha=NEVER, dense_edges=0),
    "bottom-up": replace(SMALL, alpha=ALWAYS, beta=ALWAYS),
    "to and fro": replace(SMALL, alpha=3, beta=2, tail=1, dense_edges=8, alone=6),
    "one block": replace(SMALL, alone=400),
    "one block, without room": replace(SMALL, alone=400, capacity=7),
    "cluster": CLUSTER,
    "cluster, without room": replace(CLUSTER, capacity=5),
    "cluster, after one block": replace(CLUSTER, alone=9),
}
SHORT, LONG = np.int32, np.int64


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, _one_launch, _direction_optimizing)
    monkeypatch.setattr(_direction_optimizing, "PREPARE_THREADS", 64)
    monkeypatch.setattr(_one_launch, "SMALL_ARCS", 0)


def search_of(graph, tuning, seed=0):
    """On one to four blocks, or on one or two clusters of two, or one of three."""
    blocks, cluster = 1 + seed % 4, tuning.cluster + seed % 2 if tuning.cluster > 1 else 1
    tuning = replace(tuning, cluster=cluster, grid=tuning.grid and blocks)
    return DirectionOptimizing(graph, HostDevice(seed, blocks=4, clusters=1 + (cluster == 2)), tuning)


def assert_right(search, sources, **options):
    options = Options(**options)
    result = search.run(np.array(sources), options)
    assert_answer(result, sources, options.depth_limit, options.target)
    assert options.trace is False or len(search.steps) == search.host.levels


def with_types(graph, vertex, offset):
    return Graph(graph.offsets.astype(offset), graph.targets.astype(vertex), directed=graph.directed)


def search_graphs(name, seeds=range(20), types=(SHORT, SHORT), **changes):
    """Directed or not, with isolated vertices, self-loops and parallel arcs, one search over what the last one left."""
    for seed in seeds:
        rng = np.random.default_rng([seed, len(name)])
        graph = with_types(random_graph(rng, most_vertices=60, most_edges=150), *types)
        search = search_of(graph, replace(TUNINGS[name], **changes), seed)
        for _ in range(3):
            sources, options = random_options(rng, graph.num_vertices)
            assert_right(search, sources, trace=bool(rng.integers(2)), **options)


def search_small_rows(name, seeds=range(8), types=(SHORT, SHORT), **changes):
    """Graphs of up to four neighbours a vertex on average, some of more: most stand in `heavy`."""
    for seed in seeds:
        rng = np.random.default_rng([seed, len(name)])
        spec = ["grid:9", "tree:63", "path:70", "star:70"][seed % 4]
        ends = tuple(rng.integers(0, 90, (2, 150)))
        graph = generate(spec) if seed < 4 else as_graph(ends, vertices=90, directed=False)
        search = search_of(with_types(graph, *types), replace(TUNINGS[name], **changes), seed)
        assert search.near
        assert_right(search, [graph.num_vertices // 2])
        assert_right(search, [0, graph.num_vertices - 1], target=graph.num_vertices // 3)


@pytest.mark.parametrize("name", TUNINGS)
def test_random_graphs(name):
    search_graphs(name)


@pytest.mark.parametrize("name", TUNINGS)
def test_small_rows(name):
    search_small_rows(name)


@pytest.mark.parametrize("name", TUNINGS)
def test_wide_types(name):
    """More threads than go on in a block alone, too."""
    search_graphs(name, range(5), (LONG, LONG), threads=160)
    search_small_rows(name, range(4), (LONG, LONG), threads=160)


@pytest.mark.parametrize("name", TUNINGS)
def test_wide_offsets(name):
    search_graphs(name, range(5), (SHORT, LONG))
    search_small_rows(name, range(4), (SHORT, LONG))


def search_many_words(name):
    """A warp has many words of the bitmaps, and takes the vertices of several tiles together."""
    rng = np.random.default_rng(len(name))
    graph = as_graph(tuple(rng.integers(0, 6000, (2, 20000))), vertices=6000, directed=False)
    assert_right(search_of(graph, TUNINGS[name]), [17])


@pytest.mark.parametrize("name", ["top-down", "dense", "bottom-up", "to and fro"])
def test_many_words(name):
    search_many_words(name)


@pytest.mark.parametrize("spec", ["complete:100", "star:500"])
def test_many_edges(spec):
    """Rows of several rounds, and so many edges that a warp looks before it sets a bit."""
    graph = generate(spec)
    for name in TUNINGS:
        assert_right(search_of(graph, TUNINGS[name]), [graph.num_vertices - 1])


def test_blocks_with_unequal_numbers_of_chunks():
    """They are shared out, more than a round for each: a block takes some of the other's, and all are won."""
    children = np.repeat(np.arange(1, 61), np.repeat([3, 1], [40, 20]))
    middle = 61 + np.arange(len(children))
    ends = np.r_[np.zeros(60, int), children, middle], np.r_[1:61, middle, middle + len(children)]
    for seed in range(4):
        assert_right(search_of(as_graph(ends, directed=False), replace(CLUSTER, capacity=256), seed), [0])


def test_a_full_memory(monkeypatch):
    """The blocks of a cluster forget vertices that they asked for, and ask for them again."""
    monkeypatch.setattr(HostDevice, "edits", {"direction_optimizing": (("RECENT = 1 << 11", "RECENT = 4"),)})
    for seed in range(4):
        search_small_rows("cluster", [seed])


def test_arrays_that_nobody_wrote(monkeypatch):
    """A search writes every element of the arrays of its result, and what it says where it found nothing."""
    monkeypatch.setattr(_direction_optimizing, "finish", lambda: None)
    for name in TUNINGS:
        rng = np.random.default_rng(len(name))
        graph = random_graph(rng, most_vertices=60, most_edges=100)
        search = search_of(graph, TUNINGS[name])
        for _ in range(3):
            sources, options = random_options(rng, graph.num_vertices)
            arrays = [search.device.empty(graph.num_vertices, np.int32) for _ in range(2)]
            distances, predecessors = (
                SimpleNamespace(data=SimpleNamespace(ptr=array.ctypes.data)) for array in arrays
            )
            options = Options(**options | {"predecessors": True})
            with search.search_into(distances, predecessors, 1 << 30, np.array(sources), options):
                pass
            expected = expected_distances(graph, sources, options.depth_limit, options.target)
            np.testing.assert_array_equal(arrays[0], np.where(expected < 0, 1 << 30, expected))
            np.testing.assert_array_equal(arrays[1] < 0, expected <= 0)
            assert_right(search, sources)
