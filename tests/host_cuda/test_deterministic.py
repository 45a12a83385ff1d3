"""Deterministic searches of CUDA C++ and their host, run on the host, against a sequential queue."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from device import HostDevice
from emulator import emulate
from oracle import random_graph, random_options

from rapids_bfs import Graph, as_graph
from rapids_bfs.engines import Options, _deterministic, _direction_optimizing, _one_launch, choose
from rapids_bfs.engines._deterministic import DEFAULT
from rapids_bfs.engines._direction_optimizing import DirectionOptimizing
from rapids_bfs.generators import generate
from rapids_bfs.kernels.deterministic import PHASES

ALWAYS = 1 << 40  # alpha: every level may be wide; wide: none is
SMALL = replace(DEFAULT, threads=64, cluster=1, grid=2, alone=0)
WIDE = replace(SMALL, wide=0, alpha=ALWAYS, chunk=32, patience=100)
CLUSTER = replace(SMALL, grid=None, cluster=2, deep=-1)
TUNINGS = {
    "ordered": replace(SMALL, wide=ALWAYS),
    "one block": replace(SMALL, grid=1, alone=DEFAULT.alone),
    "wide": WIDE,
    "wide, few first edges": replace(WIDE, share=ALWAYS),
    "wide, all edges first": replace(WIDE, share=1, large=1),
    "wide, up to a large family": replace(WIDE, share=1, large=6, patience=2),
    "reordered each time": replace(WIDE, patience=1),
    "cluster": CLUSTER,
    "cluster at times": replace(CLUSTER, alone=6, together=40, wide=60, alpha=ALWAYS, chunk=32, patience=1),
    "to and fro": replace(WIDE, alone=6, wide=12, alpha=4, patience=2),
}
BY_DEFAULT = replace(_direction_optimizing.DEFAULT, threads=64, cluster=1)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, _one_launch, _direction_optimizing, _deterministic)
    monkeypatch.setattr(_direction_optimizing, "PREPARE_THREADS", 64)
    monkeypatch.setattr(_one_launch, "SMALL_ARCS", 0)


def search_of(graph, tuning, seed=5):
    search = DirectionOptimizing(graph, HostDevice(seed, blocks=4, clusters=2), BY_DEFAULT).deterministic
    search.tune(tuning)
    return search


def assert_sequential(search, sources, **options):
    options = Options(**options)
    steps = search.search(sources, options)
    expected = (
        choose("cpu:sequential").traversal(search.graph).run(sources, Options(**vars(options) | {"trace": False}))
    )
    np.testing.assert_array_equal(search.distances, expected.distances)
    np.testing.assert_array_equal(search.predecessors, expected.predecessors)
    assert steps is None or len(steps) == search.host.levels


def in_order(graph, rng, how):
    """The graph with each adjacency ascending, or shuffled."""
    owners = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    keys = graph.targets if how == "ascending" else rng.random(graph.num_arcs)
    return graph.replace(targets=graph.targets[np.lexsort((keys, owners))])


@pytest.mark.parametrize("how", ["ascending", "shuffled"])
@pytest.mark.parametrize("tuning", TUNINGS)
def test_random_graphs(tuning, how):
    """Directed or not, with isolated vertices, self-loops and parallel arcs, one search over what the last one left."""
    for seed in range(10):
        rng = np.random.default_rng([seed, len(tuning), len(how)])
        graph = in_order(random_graph(rng, most_vertices=80, most_edges=250), rng, how)
        search = search_of(graph, TUNINGS[tuning], seed)
        for _ in range(3):
            sources, options = random_options(rng, graph.num_vertices)
            assert_sequential(search, rng.permutation(sources), **options | {"predecessors": True})
