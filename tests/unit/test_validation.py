"""Every rule is seen broken by a result that was right before."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

from rapids_bfs import InputError, as_graph, bfs, load, validate
from rapids_bfs.validation import RULES

#   0 - 1 - 2 - 3     5 - 6
#    \_____/   4 (alone)
EDGES = ([0, 1, 2, 0, 5], [1, 2, 3, 2, 6])
GRAPH = as_graph(EDGES, vertices=7, directed=False)


def corrupted(distances=None, predecessors=None, **fields):
    """The right answer from vertex 0 with some entries changed."""
    result = bfs(GRAPH, 0, **fields)
    for vertex, value in (distances or {}).items():
        result.distances[vertex] = value
    for vertex, value in (predecessors or {}).items():
        result.predecessors[vertex] = value
    return result


WITHOUT_3 = np.arange(7) != 3
CORRUPTIONS = {
    "masked": [corrupted({3: 3}, {3: 2}, vertices=WITHOUT_3), corrupted(predecessors={3: 2}, vertices=WITHOUT_3)],
    "distance-range": [corrupted({3: 7}), corrupted({4: -2})],
    "limit": [corrupted({3: 2}, {3: 2}, depth_limit=1)],
    "predecessor-range": [corrupted(predecessors={3: 7}), corrupted(predecessors={3: -2})],
    "source": [corrupted({0: 1}), corrupted(predecessors={0: 1})],
    "root": [corrupted({3: 0})],
    "reached": [corrupted(predecessors={3: -1}), corrupted({3: -1}), corrupted(predecessors={4: 0})],
    "tree-level": [corrupted(predecessors={2: 1}), corrupted({5: 3, 6: 3}, {5: 6, 6: 5})],
    "tree-edge": [corrupted(predecessors={3: 1}), corrupted({5: 2}, {5: 1})],
    "edge-level": [corrupted({2: 2, 3: 3}, {2: 1})],
    "edge-reach": [corrupted({3: -1}, {3: -1})],
}
FIRST_BREAKER = {"distance-range": 3, "source": 0, "root": 3, "tree-level": 2, "tree-edge": 3, "edge-level": 2}


def test_every_rule_has_a_corruption():
    assert CORRUPTIONS.keys() == RULES.keys()


@pytest.mark.parametrize(("rule", "result"), [(rule, each) for rule, all in CORRUPTIONS.items() for each in all])
def test_a_broken_rule_is_named(rule, result):
    verdict = validate(GRAPH, result)
    assert not verdict
    assert verdict.rule == rule
    assert f"vertex {verdict.vertex} " in str(verdict)


@pytest.mark.parametrize(("rule", "vertex"), FIRST_BREAKER.items())
def test_the_first_offending_vertex_is_named(rule, vertex):
    assert validate(GRAPH, CORRUPTIONS[rule][0]).vertex == vertex


def test_the_first_of_several_offenders_is_named():
    star = as_graph((np.zeros(5000, int), np.arange(1, 5001)))
    result = bfs(star, 0)
    result.distances[[4999, 777, 3000]] = -1
    result.predecessors[[4999, 777, 3000]] = -1
    assert validate(star, result).vertex == 777


def test_message_uses_the_users_ids():
    graph = as_graph({"a": ["b"], "b": ["c"], "c": []})
    result = bfs(graph, "a")
    result.distances[2] = 1
    assert "vertex 'c'" in str(validate(graph, result))


@pytest.mark.parametrize(("vertex", "distance", "rule"), [(3, 3, "tree-level"), (3, -1, "edge-reach")])
def test_without_predecessors(vertex, distance, rule):
    result = bfs(GRAPH, 0, predecessors=False)
    assert validate(GRAPH, result)
    result.distances[vertex] = distance
    assert validate(GRAPH, result).rule == rule


@pytest.mark.parametrize("devices", [None, "cpu:2"])
def test_predecessors_that_were_not_checked_are_named(devices):
    graph = load("karate", devices=devices)
    verdict = validate(graph, bfs(graph, 0, predecessors=False))
    assert verdict
    assert str(verdict) == "valid distances; there are no predecessors to check"
    assert str(validate(graph, bfs(graph, 0))) == "valid"


def test_an_early_stop_excuses_only_what_lies_beyond_it():
    stopped = bfs(GRAPH, 0, depth_limit=1)
    assert validate(GRAPH, stopped)
    assert validate(GRAPH, replace(stopped, depth_limit=None)).rule == "edge-reach"
    assert validate(GRAPH, bfs(GRAPH, 0, target=1))


def test_arrays_of_another_graph_are_refused():
    with pytest.raises(InputError, match="7 vertices"):
        validate(GRAPH, bfs("karate", 0))


@given(data=st.data())
def test_a_verdict_is_right_whatever_is_changed(data):
    """A changed distance is never called valid; a changed predecessor is exactly if it is as good as the old one."""
    graph = data.draw(graphs(min_vertices=1))
    vertices = st.integers(0, graph.num_vertices - 1)
    source, vertex = data.draw(vertices), data.draw(vertices)
    result = bfs(graph, source)
    change = data.draw(st.integers(-2, graph.num_vertices))
    if data.draw(st.booleans()):
        result.distances[vertex] = change
        assert bool(validate(graph, result)) == (change == oracle_distances(graph, [source])[vertex])
    else:
        before = result.predecessors[vertex]
        result.predecessors[vertex] = change
        as_good = (
            0 <= change < graph.num_vertices
            and vertex in graph.targets[graph.offsets[change] : graph.offsets[change + 1]]
            and result.distances[vertex] - 1 == result.distances[change] >= 0
        )
        assert bool(validate(graph, result)) == (change == before or as_good)
