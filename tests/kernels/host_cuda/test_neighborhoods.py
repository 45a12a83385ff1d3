"""Neighbourhoods in CUDA C++ and their host, run on the host, against the CPU's."""

from dataclasses import replace

import numpy as np
import pytest
from emulator import emulate
from host_device import HostDevice
from host_faults import Fault, assert_seen
from oracle import random_graph

from rapids_bfs import Graph, as_graph
from rapids_bfs.engines.cpu.neighborhoods import Neighborhoods as OnCpu
from rapids_bfs.engines.gpu import neighborhoods
from rapids_bfs.engines.gpu.neighborhoods import DEFAULT, Neighborhoods
from rapids_bfs.generators import generate

SMALL = replace(DEFAULT, threads=64, blocks=1)
DIRECTIONS = ["out", "in", "all"]


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, neighborhoods)


def in_batches(search, centers, hops):
    """For each centre: a dict of distances by vertices, whether these ascend, and the arcs in their order."""
    found = []
    while len(found) < len(centers):
        bounds, vertices, distances = search.search(centers[len(found) :], hops)
        arc_bounds = search.count_arcs(bounds, vertices)
        tails, heads = search.write_arcs(bounds, vertices, arc_bounds)
        for i in range(len(bounds) - 1):
            piece, arcs = slice(*bounds[i : i + 2]), slice(*arc_bounds[i : i + 2])
            near = vertices[piece].tolist()
            pairs = list(zip(tails[arcs].tolist(), heads[arcs].tolist(), strict=True))
            assert near[0] == centers[len(found)]
            assert (np.diff(distances[piece]) >= 0).all()
            assert len(set(near)) == len(near)
            found.append((near, dict(zip(near, distances[piece].tolist(), strict=True)), pairs))
    return found


def assert_right(graph, centers, hops, direction="out", seed=0, blocks=2, **tuning):
    """The same vertices, distances and arcs as on the CPU; arcs by their sources, then as their adjacency has them."""
    device = HostDevice(seed, blocks=blocks)
    ours = Neighborhoods(graph, device, direction, replace(SMALL, **tuning))
    expected = in_batches(OnCpu(graph, direction), centers, hops)
    for (near, distances, arcs), (_, wanted, other) in zip(in_batches(ours, centers, hops), expected, strict=True):
        assert distances == wanted
        place = {vertex: i for i, vertex in enumerate(near)}
        assert arcs == sorted(other, key=lambda arc: place[arc[0]])
    return ours


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_random_graphs(direction):
    """Directed or not, with isolated vertices, self-loops and parallel arcs; centres repeated; rows that hold few."""
    rng = np.random.default_rng(DIRECTIONS.index(direction))
    for seed in range(8):
        graph = random_graph(rng)
        centers = rng.integers(0, graph.num_vertices, int(rng.choice([1, 9])))
        hops = int(rng.choice([0, 1, 2, 2**31]))
        assert_right(graph, centers, hops, direction, seed, 1 + seed % 3, pieces=int(rng.choice([0, 30, 1000])))


def random_graphs():
    test_random_graphs("all")


def hubs():
    """More vertices than a block has threads, and more edges than it takes at a time."""
    assert_right(generate("star:300"), np.array([0, 7, 0, 9, 200]), 2, blocks=2, pieces=700)
    ends = np.repeat(np.arange(3), 150), np.tile(np.arange(3, 153), 3)
    assert_right(as_graph(ends, directed=False), np.arange(6), 2, seed=1)
    assert_right(generate("rmat:8"), np.arange(0, 256, 37), 2, seed=2)


def test_hubs():
    hubs()


def test_many_levels_and_wide_types():
    graph = generate("path:12")
    wide = Graph(graph.offsets.astype(np.int64), graph.targets.astype(np.int64), directed=False)
    assert_right(wide, np.array([0, 5, 11, 0]), 9)


def test_no_centres():
    ours = Neighborhoods(generate("path:12"), HostDevice(), "out", SMALL)
    bounds, vertices, distances = ours.search(np.empty(0, np.int64), 2)
    assert (bounds.tolist(), len(vertices), len(distances)) == ([0], 0, 0)
    assert ours.count_arcs(bounds, vertices).tolist() == [0]
    assert [len(each) for each in ours.write_arcs(bounds, vertices, bounds)] == [0, 0]


def test_little_memory_means_few_blocks_and_short_rows():
    graph = generate("rmat:8")
    n, entry = graph.num_vertices, 8  # bytes of a vertex and a distance
    for free, blocks in ((1e9, 3), (4 * 2 * 9 * n, 2), (1, 1)):
        device = HostDevice(blocks=3)
        device.free_bytes = lambda free=free: free
        grid, room = Neighborhoods(graph, device, "out", SMALL)._rows(14)
        assert grid == blocks
        assert n <= room <= max(n, free // 4 // (grid * entry))


FAULTS = {
    "search: a vertex is found twice": Fault(
        "fresh[k] && !test_and_set(visited, vertex[k])", "fresh[k] && (test_and_set(visited, vertex[k]), true)", hubs
    ),
    "search: a level too many": Fault("begin < end && level <= s.hops", "begin < end && level <= s.hops + 1", hubs),
    "search: bits that stay": Fault("visited[word_of(queue[place])] = 0;", ";", hubs),
    "search: one direction of two": Fault(
        "if (s.more_offsets) for_each_edge(s.more_offsets, s.more_targets, queue + begin, end - begin, block, visit);",
        ";",
        random_graphs,
    ),
    "search: a row that has no room": Fault("s.room - end >= s.n", "s.room - end >= 0", random_graphs),
    "edges: the vertex before": Fault("before[owner + step] <= edge", "before[owner + step] < edge", hubs),
    "gather: the first row": Fault("s.pieces[3 * i] * s.room + s.pieces[3 * i + 1]", "s.pieces[3 * i + 1]", hubs),
    "arcs: from the first vertex": Fault("vertices[owner[k]]", "vertices[0]", hubs),
    "arcs: each in the place of the last": Fault("next += total;", ";", hubs),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    assert_seen(monkeypatch, "neighborhoods", FAULTS, name)
