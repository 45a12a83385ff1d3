"""The fast search of Numba-CUDA and its host, emulated thread by thread, clusters of blocks too, against SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from emulated_gpu import Cuda
from emulator import EmulatedDevice, emulate, emulated
from oracle import assert_answer, random_graph, random_options
from tunings import DEEP, TUNINGS

from rapids_bfs import Graph, as_graph
from rapids_bfs.engines import Options
from rapids_bfs.engines.gpu import cooperative as one_launch
from rapids_bfs.engines.gpu import direction_optimizing
from rapids_bfs.engines.gpu.direction_optimizing import DirectionOptimizing
from rapids_bfs.generators import generate

SEARCH = emulated("direction_optimizing.search")
SMALL_LEVELS = emulated("direction_optimizing.small_levels")


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, one_launch, direction_optimizing)
    monkeypatch.setattr(direction_optimizing, "PREPARE_THREADS", 64)
    monkeypatch.setattr(one_launch, "SMALL_ARCS", 0)
    monkeypatch.setattr(SMALL_LEVELS, "SINGLE_BLOCK_THREADS", 32)


def assert_right(search, sources, **options):
    options = Options(**options)
    assert_answer(search.run(np.array(sources), options), sources, options.depth_limit, options.target)


@pytest.mark.parametrize("tuning", TUNINGS)
def test_random_graphs(tuning):
    """Directed or not, with isolated vertices, self-loops and parallel arcs, one search over what the last one left."""
    rng = np.random.default_rng(len(tuning))
    graph = random_graph(rng, most_vertices=40, most_edges=90)
    search = DirectionOptimizing(graph, EmulatedDevice(1), TUNINGS[tuning])
    for _ in range(2):
        sources, options = random_options(rng, graph.num_vertices)
        assert_right(search, sources, **options)


@pytest.mark.parametrize("tuning", ["one block", "deep", "deep, after one block"])
@pytest.mark.parametrize("spec", ["grid:9", "star:70"])
def test_many_edges(tuning, spec):
    """Levels that take a cluster several rounds, and vertices that all its blocks visit."""
    graph = generate(spec)
    assert_right(DirectionOptimizing(graph, EmulatedDevice(1), TUNINGS[tuning]), [graph.num_vertices // 2])


def test_blocks_with_unequal_numbers_of_chunks():
    """They are divided evenly, more than a round for each: a block takes some of the other's, and all are won."""
    children = np.repeat(np.arange(1, 61), np.repeat([3, 1], [40, 20]))
    middle = 61 + np.arange(len(children))
    ends = np.r_[np.zeros(60, int), children, middle], np.r_[1:61, middle, middle + len(children)]
    search = DirectionOptimizing(as_graph(ends, directed=False), EmulatedDevice(4), replace(DEEP, capacity=256))
    assert_right(search, [0])


def test_no_other_block_expands_what_one_block_begins(monkeypatch):
    """The path makes the next search deep, with room in the queue for fewer chunks than one block expands. Block 0 is
    late to write the source, and no barrier holds the others before its first level."""

    def late(s, seed=SEARCH.seed_source):
        for _ in range(5000):
            Cuda.threadfence()
        seed(s)

    monkeypatch.setattr(SEARCH, "seed_source", late)
    ends = np.r_[:19, np.full(80, 20)], np.r_[1:20, 21 + np.arange(80) % 10]
    tuning = replace(DEEP, deep=10, single_block_chunks=128)
    search = DirectionOptimizing(as_graph(ends, directed=True), EmulatedDevice(1), tuning)
    assert search.room < 1 + 80 // 4 <= search.parameters.single_block_chunks <= search.deep_chunks
    assert_right(search, [0])
    assert_right(search, [20])


def test_a_full_memory(monkeypatch):
    """A block forgets vertices that it visited, and visits them again."""
    monkeypatch.setattr(SMALL_LEVELS, "RECENT", 4)
    assert_right(DirectionOptimizing(generate("grid:9"), EmulatedDevice(2), DEEP), [5])


def test_wide_types():
    graph = generate("grid:6")
    wide = Graph(graph.offsets.astype(np.int64), graph.targets.astype(np.int64), directed=False)
    for tuning in ("deep", "dense"):
        assert_right(DirectionOptimizing(wide, EmulatedDevice(3), TUNINGS[tuning]), [9, 0])
