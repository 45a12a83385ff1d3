"""Masks of the vertices of a distributed graph, against SciPy and NetworkX on the graph in one piece without them."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import networkx_graph, pairs
from pandas.testing import assert_frame_equal
from strategies import edges_of, matrix_of

from rapids_bfs import (
    InputError,
    NoPathError,
    as_graph,
    bfs,
    bfs_batch,
    connected_components,
    load,
    shortest_path,
    shortest_paths,
    validate,
)
from rapids_bfs.distributed import level_synchronous, search
from rapids_bfs.distributed.gathered import GATHERED
from rapids_bfs.distributed.partitioning import Partitioning

FORMS = {
    "array": lambda mask: mask,
    "list": lambda mask: mask.tolist(),
    "column": pd.Series,
    "function": lambda mask: lambda graph: mask[: len(graph)],
}


@st.composite
def masked(draw, with_ends=False):
    """A graph over several ranks, the same in one piece, and a mask of the vertices; with a vertex that it keeps if
    that is asked for."""
    graph, whole = draw(pairs())
    n = len(whole)
    mask = draw(st.lists(st.booleans(), min_size=n, max_size=n).map(lambda bits: np.array(bits, bool)))
    if with_ends:
        mask[draw(st.integers(0, n - 1))] = True
    return graph, whole, mask


def kept(mask):
    """The places that a mask keeps."""
    return st.sampled_from(np.flatnonzero(mask).tolist())


def without(whole, mask):
    """The adjacency matrix without the edges of masked vertices."""
    some = scipy.sparse.diags_array(mask.astype(float))
    return (some @ matrix_of(whole) @ some).tocsr()


def distances(whole, mask, places, limit=None):
    found = scipy.sparse.csgraph.dijkstra(without(whole, mask), indices=places, unweighted=True)
    found[found > (np.inf if limit is None else limit)] = np.inf
    return np.where(np.isfinite(found), found, -1).astype(np.int32)


@settings(max_examples=60)
@given(masked(), st.sampled_from(sorted(FORMS)))
def test_filter(drawn, form):
    graph, whole, mask = drawn
    found = graph.filter(vertices=FORMS[form](mask))
    allowed = [edge for edge in edges_of(whole) if mask[list(edge)].all()]
    assert edges_of(found.to("cpu")) == allowed
    assert (list(found), found.directed, found.devices) == (list(whole), whole.directed, graph.devices)
    assert edges_of(found.reverse.to("cpu")) == sorted((target, source) for source, target in allowed)
    expected = whole.filter(vertices=mask)
    assert (found.num_edges, found.num_loops) == (expected.num_edges, expected.num_loops)
    np.testing.assert_array_equal(found.degrees, expected.degrees)
    assert edges_of(graph.to("cpu")) == edges_of(whole)
    assert graph.filter() is graph


def test_filtered_twice():
    graph = load("path:9", devices="cpu:3")
    odd = np.arange(9) % 2 == 1
    few = graph.filter(vertices=lambda graph: graph.degrees > 1).filter(vertices=np.arange(9) != 4)
    assert bfs(few, 1).as_dict() == {1: 0, 2: 1, 3: 2}
    assert few.filter(vertices=odd).num_edges == 0


@st.composite
def searches(draw):
    graph, whole, mask = draw(masked(with_ends=True))
    some = kept(mask)
    options = {
        "depth_limit": draw(st.none() | st.integers(0, 4)),
        "target": draw(st.none() | some),
        "predecessors": draw(st.booleans()),
        "trace": draw(st.booleans()),
    }
    return graph, whole, mask, draw(st.lists(some, min_size=1, max_size=3, unique=True)), options


def assert_masked_search(graph, whole, mask, places, options):
    ids = np.array(list(whole), object)
    target = options["target"]
    given = options | {"target": None if target is None else ids[target], "vertices": mask}
    result = bfs(graph, ids[places].tolist(), **given)
    every = distances(whole, mask, places, options["depth_limit"])
    expected = np.where(every < 0, 1 << 30, every).min(axis=0)
    stop = 1 << 29 if target is None else expected[target]
    expected = np.where(expected <= min(stop, 1 << 29), expected, -1)
    np.testing.assert_array_equal(result.distances_on_host(), expected)
    assert validate(graph, result)
    brought = result.to("cpu")
    assert validate(brought.graph, brought)
    np.testing.assert_array_equal(brought.vertices, mask)
    theirs = bfs(whole, ids[places].tolist(), **given)
    np.testing.assert_array_equal(theirs.distances, expected)
    assert (result.num_reached, result.depth) == (theirs.num_reached, theirs.depth)
    assert (result.num_traversed_edges, result.stopped_at) == (theirs.num_traversed_edges, theirs.stopped_at)
    if options["trace"]:  # where a filter comes first, the edges of masked vertices are not counted
        mine, its = ([(level[0], level[1], level[3]) for level in each.trace] for each in (result, theirs))
        assert mine == its


@settings(max_examples=60)
@given(searches(), st.sampled_from([(15, 24), (1 << 20, 1), (1 << 20, 1 << 40), (0, 1)]))
def test_searches(drawn, when):
    """Whatever the directions of the levels: a bitmap of visited vertices must not make parents of masked ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(level_synchronous, "ALPHA", when[0])
        patch.setattr(level_synchronous, "BETA", when[1])
        assert_masked_search(*drawn)


@settings(max_examples=30)
@given(searches())
def test_searches_of_rank_0_alone(drawn):
    graph, *_ = drawn
    graph.prepare()
    graph.note_depth(1 << 30)
    assert_masked_search(*drawn)
    assert graph.transport == (GATHERED if graph.num_devices > 1 else "")


@settings(max_examples=30)
@given(searches())
def test_searches_as_on_gpus(drawn):
    """These search the graph that a filter makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "CUDA", "cpu")
        assert_masked_search(*drawn)


@settings(max_examples=40)
@given(st.data(), masked(with_ends=True))
def test_searches_from_many_sources(data, drawn):
    graph, whole, mask = drawn
    places = data.draw(st.lists(kept(mask), min_size=1, max_size=4) | st.just(70 * np.flatnonzero(mask)[:1].tolist()))
    limit = data.draw(st.none() | st.integers(0, 4))
    ids = np.array(list(whole), object)[places].tolist()
    found = bfs_batch(graph, ids, vertices=mask, depth_limit=limit)
    np.testing.assert_array_equal(found.distances, distances(whole, mask, places, limit))
    np.testing.assert_array_equal(found.vertices, mask)
    for keep in ("distances", "summary"):
        for sources in (ids, None):
            mine, theirs = (
                bfs_batch(each, sources, vertices=mask, depth_limit=limit, keep=keep).to_frame()
                for each in (graph, whole)
            )
            assert_frame_equal(mine, theirs, check_dtype=False)


@settings(max_examples=40)
@given(masked())
def test_components(drawn):
    graph, whole, mask = drawn
    found = connected_components(graph, vertices=mask)
    np.testing.assert_array_equal(found, connected_components(whole, vertices=mask))
    _, labels = scipy.sparse.csgraph.connected_components(without(whole, mask), connection="weak")
    assert (found[~mask] == -1).all()
    pairs_of_labels = {*zip(found[mask].tolist(), labels[mask].tolist(), strict=True)}
    assert len(pairs_of_labels) == len({*found[mask].tolist()}) == len({*labels[mask].tolist()})


@settings(max_examples=40)
@given(st.data(), masked(with_ends=True))
def test_shortest_paths(data, drawn):
    graph, whole, mask = drawn
    ids = list(whole)
    source, target = (ids[data.draw(kept(mask))] for _ in range(2))
    theirs = networkx_graph(whole).subgraph([id for id, allowed in zip(ids, mask, strict=True) if allowed])
    if nx.has_path(theirs, source, target):
        path = shortest_path(graph, source, target, vertices=mask)
        assert len(path) == len(nx.shortest_path(theirs, source, target))
        assert nx.is_path(theirs, path)
    else:
        with pytest.raises(NoPathError):
            shortest_path(graph, source, target, vertices=mask)


@settings(max_examples=25)
@given(st.data(), masked(with_ends=True))
def test_many_shortest_paths(data, drawn):
    graph, whole, mask = drawn
    ids = list(whole)
    sources, targets = ([ids[place] for place in data.draw(st.lists(kept(mask), min_size=3, max_size=3))] for _ in "st")
    found, expected = (shortest_paths(each, sources, targets, vertices=mask) for each in (graph, whole))
    assert found.lengths.tolist() == expected.lengths.tolist()
    theirs = networkx_graph(whole).subgraph([id for id, allowed in zip(ids, mask, strict=True) if allowed])
    for source, target, path in zip(sources, targets, found, strict=True):
        assert not path or (path[0], path[-1]) == (source, target)
        assert nx.is_path(theirs, path)
    assert found.to_frame("arrow").column_names == ["source", "target", "vertex", "distance"]


def test_wide_numbers(monkeypatch):
    monkeypatch.setattr(Partitioning, "dtype", np.dtype(np.int64))
    graph, whole = load("rmat:7", devices="cpu:3"), load("rmat:7")
    mask = np.arange(128) % 3 != 1
    np.testing.assert_array_equal(
        connected_components(graph, vertices=mask), connected_components(whole, vertices=mask)
    )
    assert bfs(graph, 0, vertices=mask).as_dict() == bfs(whole, 0, vertices=mask).as_dict()


class TestRefused:
    @pytest.fixture
    def graph(self):
        return as_graph({"a": ["b"], "b": ["c"], "c": ["a"]}, devices="cpu:2")

    @pytest.mark.parametrize(
        "call",
        [
            lambda graph, mask: bfs(graph, "b", vertices=mask),
            lambda graph, mask: bfs(graph, "a", target="b", vertices=mask),
            lambda graph, mask: shortest_path(graph, "a", "b", vertices=mask),
            lambda graph, mask: bfs_batch(graph, ["a", "b"], vertices=mask),
        ],
        ids=["source", "target", "end of a path", "one of many"],
    )
    def test_masked_ends(self, graph, call):
        with pytest.raises(InputError, match=r"^'b' is masked: a search neither starts nor ends at"):
            call(graph, np.array([True, False, True]))

    @pytest.mark.parametrize(
        ("mask", "says"),
        [
            ([True], r"a mask of its 3 vertices has that length, not the shape \(1,\)"),
            ([1, 1, 0], "a mask of vertices is an array of bool, or a function that returns one, not"),
            (lambda graph: None, "not what <lambda> returned, None"),
            ("all", "not 'all'"),
        ],
        ids=["length", "integers", "function", "text"],
    )
    @pytest.mark.parametrize("call", [lambda graph, mask: graph.filter(vertices=mask), None], ids=["filter", "search"])
    def test_what_is_no_mask(self, graph, mask, says, call):
        with pytest.raises(InputError, match=says):
            call(graph, mask) if call else bfs(graph, "a", vertices=mask)

    def test_masks_of_edges(self, graph):
        for call in (lambda: graph.filter(edges=[True] * 3), lambda: bfs(graph, "a", edges=[True] * 3)):
            with pytest.raises(InputError, match="distributed, and its arcs have no order for a mask of them: filter"):
                call()


def test_an_answer_that_enters_a_masked_vertex_is_not_valid():
    graph = load("path:6", devices="cpu:2")
    result, other = bfs(graph, 0, vertices=np.arange(6) != 3), bfs(graph, 0)
    assert validate(graph, result)
    object.__setattr__(result, "answers", other.answers)
    verdict = validate(graph, result)
    assert (verdict.rule, "vertex 3 is masked, and has distance 3" in verdict.message) == ("masked", True)
