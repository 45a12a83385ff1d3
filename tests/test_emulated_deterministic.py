"""Deterministic searches on a GPU in Numba-CUDA, and their host, emulated thread by thread, against a queue."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from emulator import EmulatedDevice, address, emulate, emulated
from oracle import random_graph, random_options

from rapids_bfs import Graph
from rapids_bfs.engines import Options, _one_launch, _ordered_search, choose
from rapids_bfs.engines._ordered_search import DEFAULT, OrderedSearch
from rapids_bfs.errors import InputError
from rapids_bfs.generators import generate

ALWAYS = 1 << 40  # alpha: every level may be wide; wide: none is; alone: all are one block's work
SMALL = replace(DEFAULT, threads=64, cluster=1, grid=2, alone=0)
TUNINGS = {
    "by the grid": replace(SMALL, wide=ALWAYS),
    "by one block": replace(SMALL, grid=1, wide=ALWAYS),
    "wide": replace(SMALL, wide=0, alpha=ALWAYS),
    "wide, by one block": replace(SMALL, grid=1, wide=0, alpha=ALWAYS),
    "to and fro": replace(SMALL, alone=6, wide=12, alpha=4),
}


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, _one_launch, _ordered_search)


def search_of(graph, tuning=SMALL, seed=0):
    """Deterministic searches beside default ones that have the graph and some buffers, no more."""
    device = EmulatedDevice(seed)
    n, vertex, offset = graph.num_vertices, graph.targets.dtype, graph.offsets.dtype
    arrays = {
        "offsets": device.upload(graph.offsets),
        "targets": device.upload(graph.targets),
        "in_offsets": device.upload(graph.reverse.offsets),
        "in_targets": device.upload(graph.reverse.targets),
        "visited": device.empty(-(-n // 32), np.uint32),
        "queue": device.upload(np.zeros(2 * n, offset)),
        "queued": device.empty(n, vertex),
    }
    default = SimpleNamespace(
        graph=graph,
        device=device,
        edge_bits=graph.num_arcs.bit_length(),
        parameters=SimpleNamespace(**{name: address(array) for name, array in arrays.items()}),
    )
    return OrderedSearch(default, tuning)


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
    rng = np.random.default_rng([len(tuning), len(how)])
    for seed in range(3):
        graph = in_order(random_graph(rng, most_vertices=50, most_edges=120), rng, how)
        search = search_of(graph, TUNINGS[tuning], seed)
        for _ in range(2):
            sources, options = random_options(rng, graph.num_vertices)
            assert_sequential(search, rng.permutation(sources), **options | {"predecessors": True})


@pytest.mark.parametrize("tuning", TUNINGS)
def test_many_edges(tuning):
    """Several rounds, rows of many edges and of vertices found together, many sources, and a trace."""
    for spec in ("complete:24", "star:140"):
        graph = generate(spec)
        search = search_of(graph, TUNINGS[tuning])
        assert_sequential(search, np.array([graph.num_vertices - 1]), trace=True)
        assert_sequential(search, np.arange(graph.num_vertices)[::-3])


@pytest.mark.parametrize("grid", [1, 2])
def test_many_rounds(grid, monkeypatch):
    kernels = emulated("deterministic")
    monkeypatch.setattr(kernels, "expand_many", kernels.expand_one)
    rng = np.random.default_rng(grid)
    graph = in_order(random_graph(rng, most_vertices=90, most_edges=400), rng, "shuffled")
    assert_sequential(search_of(graph, replace(SMALL, threads=32, grid=grid, wide=ALWAYS)), np.array([0, 1]))


def test_wide_types():
    graph = generate("grid:6")
    wide = Graph(graph.offsets.astype(np.int64), graph.targets.astype(np.int64), directed=False)
    for tuning in TUNINGS.values():
        assert_sequential(search_of(wide, tuning), np.array([7, 0]))


def test_too_many_edges_to_number(monkeypatch):
    monkeypatch.setattr(_ordered_search, "KEY_BITS", 7)
    with pytest.raises(InputError, match="too many vertices and edges to number both in 7 bits: use engine='cpu'"):
        search_of(generate("grid:3"))
