"""The fast search of CUDA C++ and its host, run on the host, against SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from device import HostDevice
from emulator import emulate
from oracle import assert_answer, random_graph, random_options

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


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, _one_launch, _direction_optimizing)
    monkeypatch.setattr(_direction_optimizing, "PREPARE_THREADS", 64)
    monkeypatch.setattr(_one_launch, "SMALL_ARCS", 0)


def assert_right(search, sources, **options):
    options = Options(**options)
    assert_answer(search.run(np.array(sources), options), sources, options.depth_limit, options.target)


@pytest.mark.parametrize("tuning", TUNINGS)
def test_random_graphs(tuning):
    """Directed or not, with isolated vertices, self-loops and parallel arcs, one search over what the last one left."""
    for seed in range(20):
        rng = np.random.default_rng([seed, len(tuning)])
        graph = random_graph(rng, most_vertices=60, most_edges=150)
        search = DirectionOptimizing(graph, HostDevice(seed, blocks=4, clusters=2), TUNINGS[tuning])
        for _ in range(3):
            sources, options = random_options(rng, graph.num_vertices)
            assert_right(search, sources, **options)
