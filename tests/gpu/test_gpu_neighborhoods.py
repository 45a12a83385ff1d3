"""Neighbourhoods, ego graphs and all shortest paths of graphs on the GPU, against those on the CPU."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from oracle import random_graph
from strategies import edges_of, records

from rapids_bfs import (
    Graph,
    InputError,
    all_shortest_paths,
    as_graph,
    ego_graphs,
    iter_ego_graphs,
    load,
    neighborhoods,
    shortest_path_dag,
)
from rapids_bfs._core.cuda.arrays import CPU, CUDA, on_device, to_host
from rapids_bfs.algorithms.neighborhoods import _prepared
from rapids_bfs.engines.gpu.neighborhoods import DEFAULT
from rapids_bfs.generators import generate

TUNINGS = {
    "default": DEFAULT,
    "one block": replace(DEFAULT, grid=1, pieces=0),
    "small blocks": replace(DEFAULT, threads=64, blocks=8, pieces=100),
}
SHAPES = ["rmat:10", "urand:9", "grid:20", "tree:1000", "star:3000", "path:700", "complete:200"]


def in_order(answer):
    """For each centre what belongs to it, sorted."""
    return [sorted(zip(*(to_host(column).tolist() for column in each), strict=True)) for each in answer]


def assert_right(graph, centers, hops, direction="out", tuning=DEFAULT):
    there = graph.to(CUDA)
    _prepared(there, direction).tune(tuning)
    expected = ego_graphs(graph, centers, hops, direction=direction)
    found = ego_graphs(there, centers, hops, direction=direction)
    near = found.neighborhoods
    assert all(map(on_device, (found.sources, found.targets, near.vertices, near.distances)))
    np.testing.assert_array_equal(near.offsets, expected.neighborhoods.offsets)
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    assert in_order(near) == in_order(expected.neighborhoods)
    assert in_order(found) == in_order(expected)
    for (_, distances), (tails, _), (ids, _) in zip(near, found, near, strict=True):
        assert (np.diff(to_host(distances)) >= 0).all()
        place = {id: i for i, id in enumerate(to_host(ids).tolist())}
        assert (np.diff([place[id] for id in to_host(tails).tolist()]) >= 0).all()


@pytest.mark.parametrize("tuning", TUNINGS.values(), ids=TUNINGS)
@pytest.mark.parametrize("spec", SHAPES)
def test_shapes(spec, tuning):
    graph = generate(spec)
    centers = np.random.default_rng(1).integers(0, graph.num_vertices, 40)
    for hops in (0, 1, 2, 10**9 if spec in ("path:700", "star:3000") else 3):
        assert_right(graph, centers, hops, tuning=tuning)


@pytest.mark.parametrize("direction", ["out", "in", "all"])
def test_random_graphs(direction):
    rng = np.random.default_rng(2)
    for _ in range(40):
        graph = random_graph(rng)
        centers = rng.integers(0, graph.num_vertices, int(rng.integers(0, 9)))
        assert_right(graph, centers, int(rng.integers(0, 4)), direction)


def test_wide_types():
    graph = generate("rmat:8")
    for vertex, offset in ((np.int32, np.int64), (np.int64, np.int64)):
        wide = Graph(graph.offsets.astype(offset), graph.targets.astype(vertex), directed=False)
        assert_right(wide, np.arange(50), 2)


def test_many_centres_come_in_batches(monkeypatch):
    graph = load("rmat:14", device="cuda")
    centers = graph.sample_sources(3000, seed=1)
    whole = ego_graphs(graph, centers, 1)
    search = _prepared(graph, "out")
    monkeypatch.setattr(search, "_bytes_to_spend", lambda: 1 << 22)
    parts = list(iter_ego_graphs(graph, centers, 1))
    assert len(parts) > 3
    assert sum(map(len, parts)) == 3000
    assert sum(len(part.sources) for part in parts) == len(whole.sources)
    assert in_order(parts[-1])[-1] == in_order(whole)[-1]


def test_ids_and_frames():
    words = load("moby", device="cuda")
    near = neighborhoods(words, ["love", "money"], 1)
    assert set(near[0][0]) == {"love", *words.neighbors("love")}
    assert records(near.to_frame("arrow"))[0] == {"center": "love", "vertex": "love", "distance": 0}
    spread = as_graph(np.array([[10, 2**40], [2**40, 30]]), device="cuda")
    assert to_host(neighborhoods(spread, [10], 9).ids).tolist() == [10, 2**40, 30]
    assert records(ego_graphs(spread, [10], 1).to_frame("pandas")) == [{"center": 10, "source": 10, "target": 2**40}]


def test_threads_find_the_same():
    graph = load("rmat:12", device="cuda")
    expected = in_order(neighborhoods(graph, range(50), 2))
    with ThreadPoolExecutor(4) as threads:
        assert all(
            found == expected for found in threads.map(lambda _: in_order(neighborhoods(graph, range(50), 2)), range(8))
        )


def test_too_little_memory(monkeypatch):
    graph = load("rmat:10", device="cuda")
    neighborhoods(graph, [0], 1)
    monkeypatch.setattr(_prepared(graph, "out").device, "free_bytes", lambda: 100)
    with pytest.raises(InputError, match="device memory"):
        neighborhoods(graph, [0], 1)


@pytest.mark.parametrize("spec", SHAPES)
def test_shortest_paths(spec):
    graph = generate(spec)
    target = int(np.random.default_rng(3).integers(1, graph.num_vertices))
    there = graph.to(CUDA)
    for end in (None, target):
        expected, found = shortest_path_dag(graph, 0, end), shortest_path_dag(there, 0, end)
        assert found.graph.device == CUDA
        assert edges_of(found.graph.to(CPU)) == edges_of(expected.graph)
        np.testing.assert_array_equal(to_host(found.distances), expected.distances)
        counts = to_host(found.path_counts)
        assert counts.dtype == expected.path_counts.dtype
        np.testing.assert_array_equal(counts, expected.path_counts)
    if expected.path_counts[target] < 1000:
        assert sorted(all_shortest_paths(there, 0, target)) == sorted(all_shortest_paths(graph, 0, target))


@pytest.mark.parametrize("directed", [True, False])
def test_arcs_of_shortest_paths_keep_their_edge_data(directed):
    rng = np.random.default_rng(5)
    columns = {
        "weight": rng.random(900),
        "flag": rng.random(900) < 0.5,
        "day": np.datetime64("2026-01-01") + rng.integers(0, 90, 900).astype("m8[D]"),
        "kind": rng.choice(["cites", "knows"], 900),
    }
    graph = as_graph(tuple(rng.integers(0, 200, (2, 900))), vertices=200, directed=directed, edge_data=columns)
    for end in (None, 7):
        expected, found = (shortest_path_dag(each, 0, end).graph for each in (graph, graph._with().to(CUDA)))
        assert on_device(found.edge_data["weight"])
        np.testing.assert_array_equal(to_host(found.targets), expected.targets)
        for name in columns:
            column = np.asarray(found.to(CPU).edge_data[name])
            np.testing.assert_array_equal(column, np.asarray(expected.edge_data[name]))
