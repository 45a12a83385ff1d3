"""What `rapids_bfs.testing` says of right and wrong answers."""

import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from rapids_bfs import InputError, as_graph, bfs
from rapids_bfs.testing import assert_same_distances, assert_valid_bfs, edge_lists, graphs


@given(data=st.data())
def test_right_answers_pass_and_any_wrong_distance_fails(data):
    graph = data.draw(graphs(min_vertices=1))
    vertices = st.integers(0, graph.num_vertices - 1)
    result = bfs(graph, data.draw(vertices))
    lengths = nx.single_source_shortest_path_length(graph.to("networkx"), int(result.sources[0]))
    assert_valid_bfs(graph, result)
    assert_same_distances(result, lengths)

    distances = result.distances.copy()
    vertex = data.draw(vertices)
    distances[vertex] += data.draw(st.sampled_from([-1, 1, 7]))
    wrong = replace(result, distances=distances)
    for expected in (lengths, result, result.distances):
        with pytest.raises(AssertionError, match=f"1 of {graph.num_vertices} distances differ: vertex {vertex} has"):
            assert_same_distances(wrong, expected)
    with pytest.raises(AssertionError, match=r"rule '.*' is broken"):
        assert_valid_bfs(graph, wrong)


def test_answers_on_two_graphs_with_the_same_ids_are_compared_by_id():
    one = bfs([("a", "b"), ("b", "c")], "a")
    other = bfs(nx.DiGraph([("b", "c"), ("a", "b")]), "a")
    assert one.graph.ids_of(np.arange(3)).tolist() != other.graph.ids_of(np.arange(3)).tolist()
    assert_same_distances(one, other)


def test_answers_on_a_device_are_compared_on_the_host(put_on_device):
    right = bfs("karate", 0)
    assert_same_distances(put_on_device(right), put_on_device(right))
    assert_same_distances(put_on_device(right), right)
    assert_same_distances(right, put_on_device(right).distances)
    with pytest.raises(AssertionError, match="33 of 34 distances differ"):
        assert_same_distances(put_on_device(right), bfs("star:34", 0, depth_limit=0))


def test_infinity_means_not_reached():
    result = bfs(as_graph(([0], [1]), vertices=3), 0)
    assert_same_distances(result, [0, 1, np.inf])
    assert_same_distances(result, {0: 0, 1: 1, 2: np.inf})


@pytest.mark.parametrize("wrong", [1.7, np.nan, -np.inf, 2**64 - 1])
def test_numbers_that_are_no_distances_differ(wrong):
    result = bfs(as_graph(([0], [1]), vertices=3), 0)
    for expected in (np.array([0, 1, wrong]), np.array([0, wrong, -1]), {0: 0, 1: wrong}, {0: 0, 1: 1, 2: wrong}):
        with pytest.raises(AssertionError, match="1 of 3 distances differ"):
            assert_same_distances(result, expected)
    with pytest.raises(
        AssertionError, match="1 of 3 distances differ: vertex 2 has -1 instead of 18446744073709551615"
    ):
        assert_same_distances(result, np.array([0, 1, 2**64 - 1], np.uint64))


@pytest.mark.parametrize("expected", [["0", "1"], [0, None], {0: 0, 1: None}, {0: 0, 1: "1"}, None, {0, 1}])
def test_what_holds_no_numbers_is_refused(expected):
    with pytest.raises(InputError, match="expected distances are numbers, -1 or infinite where not reached, not "):
        assert_same_distances(bfs([(0, 1)], 0), expected)


def test_what_is_no_result_is_refused():
    with pytest.raises(InputError, match="takes the result of a search, such as bfs gives, not None"):
        assert_same_distances(None, [0, 1])


def test_what_was_searched_may_be_any_input():
    graph = nx.path_graph(["a", "b", "c"])
    assert_valid_bfs(graph, bfs(graph, "a"))
    with pytest.raises(InputError, match="the same ones in another order: pass"):
        assert_valid_bfs(nx.path_graph(["b", "a", "c"]), bfs(graph, "a"))


def test_results_over_several_devices_are_compared_as_others_are():
    right = bfs("karate", 0)
    distributed = bfs(as_graph("karate", devices="cpu:2"), 0)
    assert_valid_bfs(distributed.graph, distributed)
    assert_same_distances(distributed, right)
    assert_same_distances(right, distributed)
    with pytest.raises(AssertionError, match="33 of 34 distances differ"):
        assert_same_distances(distributed, bfs("star:34", 0, depth_limit=0))


def test_another_number_of_distances_is_named():
    with pytest.raises(AssertionError, match="karate has 34 vertices, and 3 distances are expected"):
        assert_same_distances(bfs("karate", 0), [0, 1, 2])


@pytest.mark.parametrize(
    "trait",
    [
        lambda graph: graph.num_vertices == 0,
        lambda graph: graph.directed,
        lambda graph: not graph.directed and graph.num_edges,
        lambda graph: graph.num_loops,
        lambda graph: graph.num_duplicates,
        lambda graph: bfs(graph, 0).depth > 3 if graph.num_vertices else False,
        lambda graph: bfs(graph, 0).num_reached < graph.num_vertices if graph.num_vertices else False,
    ],
)
def test_graphs_of_every_kind_are_drawn(trait):
    find(graphs(), trait)


@given(edge_lists(min_vertices=3, max_vertices=5, max_edges=4))
def test_sizes_are_kept(edges):
    n, sources, targets = edges
    assert 3 <= n <= 5
    assert len(sources) == len(targets) <= 4


def test_without_hypothesis_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "hypothesis.strategies")
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(InputError, match=r"drawing graphs needs hypothesis.*pip install hypothesis"):
        graphs()
