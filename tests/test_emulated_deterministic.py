"""Deterministic searches on a GPU in Numba-CUDA, and their host, emulated thread by thread, against a queue."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from emulator import EmulatedDevice, emulate, emulated
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
TEAM = replace(SMALL, grid=None, cluster=2, deep=-1)
TEAM_FIRST = replace(WIDE, grid=None, cluster=2, deep=-1, together=64)
TUNINGS = {
    "ordered": replace(SMALL, wide=ALWAYS),
    "alone": replace(SMALL, grid=1, alone=DEFAULT.alone),
    "wide": WIDE,
    "wide, few first edges": replace(WIDE, share=ALWAYS),
    "wide, all edges first": replace(WIDE, share=1, large=1),
    "wide, up to a large family": replace(WIDE, share=1, large=6, patience=2),
    "reordered each time": replace(WIDE, patience=1),
    "team": TEAM,
    "team at times": replace(TEAM, alone=6, together=40, wide=60, alpha=ALWAYS, chunk=32, patience=1),
    "to and fro": replace(WIDE, alone=6, wide=12, alpha=4, patience=2),
}
BY_DEFAULT = replace(_direction_optimizing.DEFAULT, threads=64, cluster=1)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, _one_launch, _direction_optimizing, _deterministic)
    monkeypatch.setattr(DirectionOptimizing, "_prepare", fill_prepared)
    monkeypatch.setattr(_one_launch, "SMALL_ARCS", 0)


def fill_prepared(search, words):
    """What the kernel `prepare` fills, without its order: that one is emulated with the default searches."""
    _, _, hub, heavy, _, _, isolated, _, _ = search.buffers
    graph, reverse = search.graph, search.graph.reverse
    hub[:] = np.arange(len(hub))
    heavy[:] = -1
    for vertex, (begin, end) in enumerate(pairwise(reverse.offsets.tolist())):
        neighbors = reverse.targets[begin : min(end, begin + 5)]
        hub[vertex : vertex + min(end - begin, 1)] = neighbors[:1]
        heavy[4 * vertex : 4 * vertex + len(neighbors[1:])] = neighbors[1:]
    bits = np.ones(32 * words, bool)
    bits[: len(hub)] = (graph.degrees == 0) & (reverse.degrees == 0)
    isolated.view(np.uint8)[:] = np.packbits(bits, bitorder="little")


def search_of(graph, tuning):
    search = DirectionOptimizing(graph, EmulatedDevice(5), BY_DEFAULT).deterministic
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
    rng = np.random.default_rng([len(tuning), len(how)])
    graph = in_order(random_graph(rng, most_vertices=50, most_edges=120), rng, how)
    search = search_of(graph, TUNINGS[tuning])
    for _ in range(2):
        sources, options = random_options(rng, graph.num_vertices)
        assert_sequential(search, rng.permutation(sources), **options | {"predecessors": True})


@pytest.mark.parametrize("tuning", TUNINGS)
def test_many_edges(tuning):
    """Rows of many edges and of vertices found together, many sources, and a trace."""
    graph = generate("complete:24")
    search = search_of(graph, TUNINGS[tuning])
    assert_sequential(search, np.array([graph.num_vertices - 1]), trace=True)
    assert {phase for phase, _ in search.phases()} <= set(PHASES)
    assert_sequential(search, np.arange(graph.num_vertices)[::-3])


@pytest.mark.parametrize("tuning", ["ordered", "alone", "team"])
def test_star(tuning):
    graph = generate("star:140")
    assert_sequential(search_of(graph, TUNINGS[tuning]), np.array([graph.num_vertices - 1]))


@pytest.mark.parametrize("tuning", [WIDE, replace(WIDE, alone=64), TEAM_FIRST], ids=("wide", "alone", "team"))
def test_rows_of_several_rounds(tuning, monkeypatch):
    """A vertex keeps its candidate from one round to the next, and families tie; small levels may come before."""
    monkeypatch.setattr(emulated("wide_levels"), "STEPS", 1)
    monkeypatch.setattr(emulated("wide_levels"), "APART", 0)
    rng = np.random.default_rng(7)
    starts = np.r_[np.zeros(20, int), rng.integers(1, 21, 100), rng.integers(21, 60, 700)]
    ends = np.r_[1:21, rng.integers(21, 60, 100), rng.integers(60, 100, 700)]
    graph = as_graph((starts, ends), vertices=100, directed=False)
    assert_sequential(search_of(graph, replace(tuning, share=ALWAYS)), np.array([0]))


@pytest.mark.parametrize("steps", [1, 4])
def test_rows_of_several_steps(steps, monkeypatch):
    """What a vertex found in one step or round ties with what it finds next, of a family that does not ascend."""
    monkeypatch.setattr(emulated("wide_levels"), "STEPS", steps)
    rng = np.random.default_rng(9)
    middle, end = np.nonzero(rng.random((40, 20)) < 0.8)
    edges = np.r_[np.zeros(40, int), 1 + middle], np.r_[1 + rng.permutation(40), 41 + end]
    search = search_of(as_graph(edges, directed=True), replace(WIDE, share=ALWAYS, chunk=0, threads=32, grid=1))
    assert_sequential(search, np.array([0]))


@pytest.mark.parametrize("patience", [2, 100])
def test_families_of_several_slots(patience, monkeypatch):
    """Few families, so that vertices of several predecessors share one, are compared by ancestors of any age."""
    for file in ("ordered_levels", "wide_levels", "small_levels"):
        monkeypatch.setattr(emulated(file), "family_of", lambda slot: np.int64(min(slot, 3 + slot // 4, 254)))
    monkeypatch.setattr(emulated("wide_levels"), "APART", 4)
    rng = np.random.default_rng(12)
    levels = np.split(rng.permutation(64), [1, 9, 20, 34, 49])
    edges = [rng.choice(level, 40) for pair in pairwise(levels) for level in pair]
    graph = as_graph((np.concatenate(edges[::2]), np.concatenate(edges[1::2])), vertices=64, directed=True)
    search = search_of(
        in_order(graph, rng, "ascending"), replace(WIDE, share=ALWAYS, chunk=0, threads=32, grid=1, patience=patience)
    )
    assert_sequential(search, levels[0])


@pytest.mark.parametrize("tuning", ["ordered", "reordered each time"])
def test_several_tiles(tuning):
    """A warp has many words of the bitmaps, and takes the vertices of several tiles together."""
    rng = np.random.default_rng(8)
    graph = as_graph(tuple(rng.integers(0, 300, (2, 750))), vertices=300, directed=False)
    assert_sequential(search_of(graph, replace(TUNINGS[tuning], threads=32, grid=1)), np.array([299, 0]))


def test_team_of_many_edges():
    """Blocks hand edges out to each other, until the frontier is too large for them."""
    assert_sequential(search_of(generate("grid:9"), replace(TEAM, alone=4)), np.array([40]), trace=True)
    assert_sequential(search_of(generate("tree:63"), replace(TEAM, together=24)), np.array([0]), target=60)


def test_families():
    """They are in the order of slots; the first are told apart, the others in steps of an eighth."""
    family_of = emulated("ordered_levels").family_of
    slots = [*range(3000), 1 << 20, (1 << 33) + 1]
    steps = [8 * slot.bit_length() + (slot >> slot.bit_length() - 4) for slot in slots[128:]]
    expected = [*range(128), *np.minimum(np.array(steps) - steps[0] + 128, 254)]
    assert [family_of(np.int64(slot)) for slot in slots] == expected


def test_wide_types():
    graph = generate("grid:6")
    wide = Graph(graph.offsets.astype(np.int64), graph.targets.astype(np.int64), directed=False)
    for tuning in ("ordered", "wide", "team at times"):
        assert_sequential(search_of(wide, TUNINGS[tuning]), np.array([7, 0]))
