"""Paths between two vertices, against NetworkX's and Dijkstra's distances."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from answers import in_child
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

import rapids_bfs
from rapids_bfs import InputError, NoPathError, as_graph, shortest_path
from rapids_bfs.engines.operations import PATHS
from rapids_bfs.generators import generate


def networkx_path(graph, source, target):
    """NetworkX's own path between two vertices, whose rows are in the order of the graph's; None if there is none."""
    theirs = graph.to("networkx")
    try:
        return nx.bidirectional_shortest_path(theirs, source, target, backend="networkx")
    except nx.NetworkXNoPath:
        return None


def found_path(graph, source, target):
    try:
        return shortest_path(graph, source, target)
    except NoPathError:
        return None


def assert_shortest(graph, source, target, distance):
    """Is what is found a path of the graph, as long as Dijkstra's?"""
    path = found_path(graph, source, target)
    if path is None:
        assert distance == -1
        return
    assert (path[0], path[-1], len(path) - 1) == (source, target, distance)
    for tail, head in pairwise(path):
        assert head in graph.targets[graph.offsets[tail] : graph.offsets[tail + 1]]


@given(graph=graphs(min_vertices=1, max_vertices=8))
def test_every_pair_of_random_graphs_searched_in_turn(graph):
    """The buffers of one search are those of the next."""
    for source in range(graph.num_vertices):
        for target, distance in enumerate(oracle_distances(graph, [source])):
            assert_shortest(graph, source, target, distance)


@given(graph=graphs(min_vertices=1, max_vertices=30, max_edges=80), data=st.data())
def test_of_several_shortest_paths_it_is_the_one_of_networkx(graph, data):
    vertices = st.integers(0, graph.num_vertices - 1)
    source, target = data.draw(vertices), data.draw(vertices)
    assert found_path(graph, source, target) == networkx_path(graph, source, target)


@pytest.mark.parametrize("spec", ["path:300", "star:99", "complete:40", "tree:255", "grid:20", "rmat:10", "urand:10"])
def test_shapes(spec):
    graph = generate(spec)
    some = np.random.default_rng(5)
    for source in some.integers(0, graph.num_vertices, 4).tolist():
        distances = oracle_distances(graph, [source])
        for target in some.integers(0, graph.num_vertices, 20).tolist():
            assert_shortest(graph, source, target, distances[target])


def test_a_search_leaves_nothing_behind():
    graph = generate("rmat:8").replace(directed=True)
    for target in range(0, graph.num_vertices, 7):
        found_path(graph, 3, target)
        assert not graph.traversals[PATHS].buffers[0].any()


def test_ids_are_the_users():
    assert shortest_path({"a": ["b"], "b": ["c"], "c": []}, "a", "c") == ["a", "b", "c"]
    assert shortest_path(np.array([[10, 700], [700, 40]]), 10, 40) == [10, 700, 40]
    assert all(type(id) is int for id in shortest_path("karate", 0, 33))


def test_a_directed_graph_is_followed_forward():
    ring = as_graph((range(9), [*range(1, 9), 0]))
    assert shortest_path(ring, 2, 1) == [2, 3, 4, 5, 6, 7, 8, 0, 1]
    assert shortest_path(ring.reverse, 2, 1) == [2, 1]


def test_no_path_is_an_error_that_can_be_told_from_others():
    with pytest.raises(NoPathError, match="no path leads from 'c' to 'a' in"):
        shortest_path({"a": ["b"], "b": ["c"], "c": []}, "c", "a")
    with pytest.raises(InputError, match="7 is not a vertex of edges") as raised:
        shortest_path([(0, 1)], 0, 7)
    assert not isinstance(raised.value, NoPathError)


@pytest.mark.parametrize("odd", [None, 1.5, "0", [0], True, np.array([0]), -1, 34, 1 << 70])
def test_no_vertex_is_named(odd):
    for pair in ((odd, 0), (0, odd)):
        with pytest.raises(InputError, match="is not a vertex of karate"):
            shortest_path("karate", *pair)


def test_a_graph_without_vertices():
    with pytest.raises(InputError, match="the graph has no vertices"):
        shortest_path(as_graph(([], [])), 0, 0)


def test_too_little_memory(monkeypatch):
    graph = rapids_bfs.load("karate").replace()
    monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 100)
    with pytest.raises(InputError, match="a search between two vertices needs 442 bytes"):
        shortest_path(graph, 0, 1)


def test_threads_and_children_find_the_same():
    graph = generate("rmat:12")
    pairs = np.random.default_rng(1).integers(0, graph.num_vertices, (200, 2)).tolist()
    expected = [found_path(graph, *pair) for pair in pairs]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda pair: found_path(graph, *pair), pairs)) == expected
    with graph.traversals[PATHS].lock:
        assert in_child(lambda: [found_path(graph, *pair) for pair in pairs]) == expected


def test_bundled_graphs_of_words():
    assert shortest_path("moby", "love", "money") == ["love", "fancy", "coin", "money"]
    path = shortest_path("wordnet", "dog.n.01", "animal.n.01")
    assert path == ["dog.n.01", "domestic_animal.n.01", "animal.n.01"]
    for name in ("moby", "wordnet"):
        graph = rapids_bfs.load(name)
        assert len(set(graph.labels)) == graph.num_vertices
