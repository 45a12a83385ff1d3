"""What a distributed graph answers besides searches, against SciPy and NetworkX on the graph in one piece."""

from unittest import mock

import networkx as nx
import numpy as np
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
    center,
    connected_components,
    diameter,
    eccentricity,
    load,
    periphery,
    radius,
    shortest_path,
    validate,
)
from rapids_bfs.algorithms import distances
from rapids_bfs.distributed import batch
from rapids_bfs.distributed.graph import DistributedGraph, from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.partitioning import Partitioning


@settings(max_examples=40)
@given(pairs())
def test_components(both):
    graph, whole = both
    assert isinstance(graph, DistributedGraph)
    found = connected_components(graph)
    np.testing.assert_array_equal(found, connected_components(whole))
    count, labels = scipy.sparse.csgraph.connected_components(matrix_of(whole), connection="weak")
    assert found.max() + 1 == count
    assert len({*zip(found.tolist(), labels.tolist(), strict=True)}) == count
    assert (found.dtype, list(graph)) == (whole.targets.dtype, list(whole))


def test_components_of_wide_numbers(monkeypatch):
    monkeypatch.setattr(Partitioning, "dtype", np.dtype(np.int64))
    np.testing.assert_array_equal(
        connected_components(load("rmat:7", devices="cpu:3")), connected_components(load("rmat:7"))
    )


def test_components_of_no_vertices():
    graph = from_graph(as_graph(([], []), vertices=0), Threads(["cpu"] * 3))
    assert connected_components(graph).tolist() == []


@settings(max_examples=40)
@given(st.data(), pairs())
def test_shortest_paths(data, both):
    graph, whole = both
    ids = list(whole)
    source, target = (data.draw(st.sampled_from(ids)) for _ in range(2))
    theirs = networkx_graph(whole)
    if nx.has_path(theirs, source, target):
        path = shortest_path(graph, source, target)
        assert len(path) == len(nx.shortest_path(theirs, source, target))
        assert (path[0], path[-1]) == (source, target)
        assert nx.is_path(theirs, path)
        assert len(bfs(graph, source).path_to(target)) == len(path)
    else:
        with pytest.raises(NoPathError, match=r"^no path leads from .* to .* in "):
            shortest_path(graph, source, target)


@st.composite
def batches(draw):
    graph, whole = draw(pairs())
    ids = list(whole)
    sources = draw(
        st.lists(st.sampled_from(ids), min_size=1, max_size=4) | st.just(70 * ids[:1] + ids[-1:]) | st.none()
    )
    return graph, whole, sources, {"depth_limit": draw(st.none() | st.integers(0, 4))}


@settings(max_examples=40)
@given(batches())
def test_searches_from_many_sources(drawn):
    """Repeated sources, more than a word has bits, or all vertices."""
    graph, whole, sources, options = drawn
    found = bfs_batch(graph, sources, **options)
    places = [list(whole).index(source) for source in (list(whole) if sources is None else sources)]
    expected = scipy.sparse.csgraph.dijkstra(matrix_of(whole), indices=places, unweighted=True)
    expected[expected > (options["depth_limit"] if options["depth_limit"] is not None else np.inf)] = np.inf
    expected = np.where(np.isfinite(expected), expected, -1).astype(np.int32)
    np.testing.assert_array_equal(found.distances, expected)
    theirs = bfs_batch(whole, sources, **options)
    assert_frame_equal(found.to_frame(), theirs.to_frame(), check_dtype=False)
    summary = bfs_batch(graph, sources, keep="summary", **options)
    expected_summary = bfs_batch(whole, sources, keep="summary", **options)
    assert_frame_equal(summary.to_frame(), expected_summary.to_frame(), check_dtype=False)
    handed = np.full_like(expected, -7)

    def hand(rows, distances):
        handed[rows] = distances

    assert bfs_batch(graph, sources, on_batch=hand, batch_size=3, **options).distances is None
    np.testing.assert_array_equal(handed, expected)


def test_many_sources_of_wide_numbers(monkeypatch):
    monkeypatch.setattr(Partitioning, "dtype", np.dtype(np.int64))
    graph, whole = load("rmat:7", devices="cpu:3"), load("rmat:7")
    np.testing.assert_array_equal(bfs_batch(graph, range(70)).distances, bfs_batch(whole, range(70)).distances)


def test_each_source_is_sent_to_a_vertex_once(monkeypatch):
    """By each rank, whatever the number of levels that lead there."""
    sent = []
    real = batch.BatchSearch.settle
    monkeypatch.setattr(batch.BatchSearch, "settle", lambda search, *pairs: sent.append(pairs) or real(search, *pairs))
    graph = load("rmat:8", devices="cpu:3")
    bfs_batch(graph, range(64), keep="summary")
    bits = sum(int(np.bitwise_count(words).sum()) for words, _ in sent)
    assert bits <= 64 * 3 * len(graph)


@pytest.mark.parametrize("engine", ["scipy", "cupy", "cpu:sequential", "nonsense"])
def test_searches_of_many_sources_by_another_engine(engine):
    with pytest.raises(InputError, match="'cpu' searches, not"):
        bfs_batch(load("path:9", devices="cpu:2"), [0], engine=engine)


@settings(max_examples=40)
@given(st.data(), pairs())
def test_eccentricities(data, both):
    graph, whole = both
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            distances, "ROUND", data.draw(st.sampled_from([1, 8]))
        )  # bounds are tightened in small graphs too
        patch.setattr(distances, "WORTH", data.draw(st.sampled_from([1, 16])))
        patch.setattr(distances, "FIRST_BATCH", data.draw(st.sampled_from([1, 64])))
        lengths = scipy.sparse.csgraph.dijkstra(matrix_of(whole), unweighted=True)
        expected = np.where(np.isfinite(lengths), lengths, 0).max(axis=1).astype(np.int32)
        np.testing.assert_array_equal(eccentricity(graph), expected)
        ids = np.array(list(whole))
        assert (diameter(graph), radius(graph)) == (expected.max(), expected.min())
        np.testing.assert_array_equal(center(graph), ids[expected == expected.min()])
        np.testing.assert_array_equal(periphery(graph), ids[expected == expected.max()])
        some = data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=5))
        np.testing.assert_array_equal(eccentricity(graph, ids[some].tolist()), expected[some])


@given(st.data(), pairs())
@settings(max_examples=60)
def test_ids_are_looked_up_together(data, both):
    """By one call of the ranks, however many there are and how often they occur."""
    graph, whole = both
    ids = list(whole)
    asked = data.draw(st.lists(st.sampled_from(ids), max_size=20))
    len(graph.ids)  # which are gathered for ids 0..n-1
    with mock.patch.object(Threads, "collect", autospec=True, side_effect=Threads.collect) as collect:
        vertices = graph.vertices_of(asked)
    assert (collect.call_count <= 1, vertices.dtype) == (True, np.int64)
    assert graph.ids_of(vertices).tolist() == asked
    assert vertices.tolist() == [graph.vertex_of(id) for id in asked]
    strange = data.draw(st.sampled_from([-1, 1 << 63, 1 << 70, "?", "", None, True, 0.0, b"v0", (0,), [0], 10**12 + 1]))
    with pytest.raises(InputError) as error:
        graph.vertices_of([*asked, strange, "nor this"])
    assert str(error.value).startswith(f"{strange!r} is not a vertex of {graph.name}; it")


@given(pairs())
@settings(max_examples=30)
def test_reversed(both):
    graph, whole = both
    assert edges_of(graph.reverse.to("cpu")) == edges_of(whole.reverse)
    assert list(graph.reverse) == list(whole)
    np.testing.assert_array_equal(graph.degrees, whole.degrees)
    np.testing.assert_array_equal(graph.reverse.degrees, whole.reverse.degrees)
    found = bfs(graph.reverse, next(iter(whole)))
    np.testing.assert_array_equal(found.distances_on_host(), bfs(whole.reverse, next(iter(whole))).distances)


@given(pairs())
@settings(max_examples=30)
def test_undirected_edges_go_both_ways(both):
    graph, whole = both
    made, expected = as_graph(graph, directed=True), as_graph(whole, directed=True)
    assert (made is graph, made.directed, made.num_edges) == (whole.directed, True, expected.num_edges)
    assert edges_of(made.to("cpu")) == edges_of(expected)
    assert edges_of(made.reverse.to("cpu")) == edges_of(expected.reverse)
    found, answer = bfs(made, next(iter(whole))), bfs(expected, next(iter(whole)))
    np.testing.assert_array_equal(found.distances_on_host(), answer.distances)
    assert found.num_traversed_edges == answer.num_traversed_edges
    assert validate(made, found)


def test_no_vertices():
    graph = from_graph(as_graph(([], []), vertices=0), Threads(["cpu"] * 3))
    assert (eccentricity(graph).tolist(), diameter(graph), radius(graph), center(graph).tolist()) == ([], -1, -1, [])
    assert bfs_batch(graph).distances.shape == (0, 0)


def test_results_that_are_equal():
    graph, whole = load("path:9", devices="cpu:3"), load("path:9")
    result = bfs(graph, 0)
    assert result == bfs(graph, 0, trace=True)
    several = [bfs(graph, 1), bfs(graph, 0, depth_limit=3), bfs(graph, 0, predecessors=False), bfs(graph, [0, 1])]
    few = np.arange(9) < 8
    for other in (*several, bfs(graph, 0, vertices=few), bfs(graph.filter(), 1), bfs(whole, 0), None):
        assert result != other
    assert bfs(graph, 0, vertices=few) == bfs(graph, 0, vertices=few)
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


def test_what_else_a_graph_has():
    graph, directed = (load("karate", devices="cpu:2"), as_graph(([0, 1], [1, 2]), devices="cpu:2"))
    assert as_graph(graph, directed=False) is graph.undirected is graph
    with pytest.raises(InputError, match=r"^edges is distributed, and directed: give directed=False where it is made"):
        as_graph(directed, directed=False)
    assert as_graph(directed, directed=True) is directed
    assert len(graph.edge_data) == 0
    with pytest.raises(InputError, match="there are no edge data 'time'"):
        graph.edge_data["time"]
