"""Paths between the vertices of many pairs at once, against NetworkX's."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from answers import in_child
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, records

from rapids_bfs import InputError, NoPathError, as_graph, load, shortest_path, shortest_paths
from rapids_bfs._core.threads import pool
from rapids_bfs.engines.cpu import bidirectional
from rapids_bfs.engines.operations import PATHS
from rapids_bfs.generators import generate


def assert_shortest(graph, found, pairs, mask=None):
    """Is there a path of the graph for each pair, as long as NetworkX's?"""
    ids = list(graph)
    theirs = graph.to("networkx").subgraph(ids if mask is None else np.array(ids)[mask].tolist())
    assert len(found) == len(pairs) == len(list(found))
    assert len(found.vertices) == found.offsets[-1]
    for (source, target), length, path in zip(pairs, found.lengths.tolist(), found, strict=True):
        if not nx.has_path(theirs, source, target):
            assert (length, path) == (-1, [])
            continue
        assert length == len(path) - 1 == nx.shortest_path_length(theirs, source, target)
        assert (path[0], path[-1]) == (source, target)
        assert all(theirs.has_edge(*arc) for arc in pairwise(path))


@st.composite
def questions(draw):
    """A graph, a mask or None, and pairs of vertices that it keeps, the same one twice among them."""
    graph = draw(graphs(min_vertices=1, max_vertices=20, max_edges=40))
    n = graph.num_vertices
    mask = None
    if draw(st.booleans()):
        mask = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        mask[draw(st.integers(0, n - 1))] = True
    kept = st.sampled_from(range(n) if mask is None else np.flatnonzero(mask).tolist())
    return graph, mask, draw(st.lists(st.tuples(kept, kept), max_size=30))


@pytest.mark.parametrize(("name", "value"), [("ROOM", 1 << 17), ("ROOM", 0), ("ROUND", 1)])
@given(question=questions())
def test_paths_are_as_long_as_those_of_networkx(name, value, question):
    """Also where a thread's row has room for one path alone, or a call answers few pairs: many rounds answer all."""
    graph, mask, pairs = question
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bidirectional, name, value)
        found = shortest_paths(graph.replace(), *ends_of(pairs), vertices=mask)
    assert_shortest(graph, found, pairs, mask)


def ends_of(pairs):
    return [source for source, _ in pairs], [target for _, target in pairs]


@pytest.mark.parametrize("spec", ["grid:50", "rmat:12", "path:3000"])
@pytest.mark.parametrize("masked", [False, True])
def test_threads_find_the_paths_of_single_searches(spec, masked):
    """Of more pairs than one thread answers before others help."""
    graph = generate(spec)
    rng = np.random.default_rng(5)
    mask = rng.random(len(graph)) < 0.9 if masked else None
    kept = np.flatnonzero(mask) if masked else np.arange(len(graph))
    sources, targets = rng.choice(kept, (2, 300))
    found = shortest_paths(graph, sources, targets, vertices=mask)
    with pool.limited(1):
        assert list(shortest_paths(graph, sources, targets, vertices=mask)) == list(found)
    for place in range(0, 300, 7):
        ends = int(sources[place]), int(targets[place])
        try:
            assert found[place] == shortest_path(graph, *ends, vertices=mask)
        except NoPathError:
            assert found[place] == []
    assert not graph.traversals[PATHS].searches.side.any()


def test_threads_and_children_find_the_same():
    graph = generate("rmat:12")
    ends = np.random.default_rng(1).integers(0, graph.num_vertices, (2, 400))
    expected = list(shortest_paths(graph, *ends))
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(lambda: list(shortest_paths(graph, *ends))) for _ in range(8)]
        assert all(each.result() == expected for each in asked)
    with graph.traversals[PATHS].lock:
        assert in_child(lambda: list(shortest_paths(graph, *ends))) == expected


def test_pairs_without_a_path_come_in_rounds():
    """They take no room, and yet an interrupt must not wait for all of them."""
    graph = as_graph(([0, 2], [1, 3]), directed=False)
    search = bidirectional.Bidirectional(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bidirectional, "ROUND", 100)
        bounds, path = search.first_paths(np.zeros(1000, np.int64), np.full(1000, 2), search.searches.side, 1)
    assert 1 <= len(bounds) - 1 < 500
    assert (bounds[-1], len(path)) == (0, 0)


def test_a_result():
    found = shortest_paths({"a": ["b"], "b": ["c"], "c": []}, ("a", "c", "b"), np.array(["c", "a", "b"], object))
    assert repr(found) == "<ShortestPaths on 'dict': 3 pairs>"
    assert found.lengths.tolist() == [2, -1, 0]
    assert found.ids.tolist() == ["a", "b", "c", "b"]
    assert (found[-1], found[1]) == (["b"], [])
    assert found.index.tolist() == [0, 0, 0, 2]
    with pytest.raises(IndexError, match="there is no pair 3 among 3 pairs"):
        found[3]
    with pytest.raises(TypeError, match="a pair's position is an integer, not 'a'"):
        found["a"]
    assert records(found.to_frame("arrow")) == [
        {"source": "a", "target": "c", "vertex": vertex, "distance": distance} for distance, vertex in enumerate("abc")
    ] + [{"source": "b", "target": "b", "vertex": "b", "distance": 0}]


@pytest.mark.parametrize("devices", [None, "cpu:2"])
def test_no_pairs(devices):
    for graph in (load("karate", devices=devices), as_graph([], devices=devices)):
        found = shortest_paths(graph, [], [])
        assert (list(found), found.lengths.tolist(), found.offsets.tolist()) == ([], [], [0])


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (([0, 1], [2]), "shortest_paths takes a target for each source: 2 and 1 are given"),
        (([0], [34]), "34 is not a vertex of karate"),
        (([None], [0]), "None is not a vertex of karate"),
        ((0, [1]), "expected a list of vertex ids, not 0"),
        (([0], None), "expected a list of vertex ids, not None"),
        (([0, 1], {2, 3}), "expected a list of vertex ids, not a set"),
        ((frozenset([0]), [2]), "expected a list of vertex ids, not a set"),
        (("ab", [0]), "expected a list of vertex ids, not 'ab'"),
        (([0], [5]), "5 is masked"),
        (([5], [0]), "5 is masked"),
    ],
)
def test_bad_pairs(ends, message):
    with pytest.raises(InputError, match=message):
        shortest_paths("karate", *ends, vertices=np.arange(34) != 5)


def test_too_little_memory(monkeypatch):
    graph = load("karate").replace()
    monkeypatch.setattr(bidirectional, "ROOM", 0)
    shortest_paths(graph, [0], [0])
    monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 200)
    with pytest.raises(InputError, match="the vertices of the paths need"):
        shortest_paths(graph, [0] * 200, [33] * 200)
