"""Neighbourhoods and ego graphs against SciPy, NetworkX and igraph."""

from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest
from answers import in_child
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from strategies import graphs, records

from rapids_bfs import (
    InputError,
    as_graph,
    bfs_batch,
    ego_graphs,
    iter_ego_graphs,
    iter_neighborhoods,
    load,
    neighborhoods,
)
from rapids_bfs.adapters.scipy import to_scipy
from rapids_bfs.algorithms import neighborhoods as module
from rapids_bfs.engines.cpu import neighborhoods as on_cpu
from rapids_bfs.generators import generate

DIRECTIONS = ["out", "in", "all"]
HOPS = st.integers(0, 4) | st.sampled_from([2**31 - 1, 2**31, 2**70])
FUNCTIONS = [neighborhoods, iter_neighborhoods, ego_graphs, iter_ego_graphs]


def followed(graph, direction):
    """The graph whose out-edges are followed, made another way than by the search."""
    return {"out": graph, "in": graph.reverse, "all": graph.undirected}[direction]


def oracle(graph, center, hops, direction):
    """The distance of each vertex within this many hops, by SciPy's Dijkstra on unit weights."""
    matrix = to_scipy(followed(graph, direction), np.float64, copy=True)
    distances = dijkstra(matrix, indices=center, unweighted=True)
    return {int(vertex): int(distances[vertex]) for vertex in np.flatnonzero(distances <= min(hops, 2**31))}


def pairs_of(columns):
    return list(zip(*(column.tolist() for column in columns), strict=True))


def arcs_within(graph, vertices):
    """The arcs from each of these vertices to another of them, in the order of the adjacencies."""
    return [(vertex, head) for vertex in vertices for head in graph.neighbors(vertex) if head in set(vertices)]


@st.composite
def questions(draw):
    graph = draw(graphs(min_vertices=1, max_vertices=20, max_edges=60))
    centers = draw(st.lists(st.integers(0, graph.num_vertices - 1), max_size=12))
    return graph, centers, draw(HOPS), draw(st.sampled_from(DIRECTIONS))


@given(question=questions())
def test_neighborhoods_are_what_dijkstra_finds_so_near(question):
    graph, centers, hops, direction = question
    found = neighborhoods(graph, centers, hops, direction=direction)
    assert found.centers.tolist() == centers
    assert len(found) == len(centers) == len(found.offsets) - 1
    for (ids, distances), center in zip(found, centers, strict=True):
        assert ids[0] == center
        assert (np.diff(distances) >= 0).all()
        assert len(ids) == len(set(ids.tolist()))
        assert dict(pairs_of((ids, distances))) == oracle(graph, center, hops, direction)


@given(question=questions())
def test_ego_graphs_hold_the_arcs_in_between(question):
    graph, centers, hops, direction = question
    ego = ego_graphs(graph, centers, hops, direction=direction)
    near = neighborhoods(graph, centers, hops, direction=direction)
    assert len(ego) == len(centers)
    np.testing.assert_array_equal(ego.neighborhoods.vertices, near.vertices)
    for arcs, (ids, _) in zip(ego, near, strict=True):
        assert pairs_of(arcs) == arcs_within(graph, ids.tolist())


@given(question=questions(), pieces=st.integers(0, 40), arcs=st.integers(1, 60))
def test_batches_are_parts_of_the_whole(question, pieces, arcs):
    """However few vertices a thread's row holds, and however few arcs a batch."""
    graph, centers, hops, direction = question
    whole = ego_graphs(graph, centers, hops, direction=direction)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_cpu, "PIECES", pieces)
        patch.setattr(on_cpu, "MOST_ARCS", arcs)
        parts = list(iter_ego_graphs(graph.replace(), centers, hops, direction=direction))
        joined = ego_graphs(graph.replace(), centers, hops, direction=direction)
        near = neighborhoods(graph.replace(), centers, hops, direction=direction)
    assert [pairs_of(arcs) for part in parts for arcs in part] == [pairs_of(arcs) for arcs in whole]
    assert all(len(part.sources) <= arcs or len(part) == 1 for part in parts)
    for one, other in (
        (joined, whole),
        (joined.neighborhoods, whole.neighborhoods),
        (near, whole.neighborhoods),
    ):
        for name in ("centers", "offsets", "sources", "targets", "vertices", "distances"):
            if hasattr(one, name):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(graph=graphs(min_vertices=1, max_vertices=20, max_edges=60), hops=st.integers(0, 4))
def test_vertices_at_a_distance_are_in_the_order_of_a_queue(graph, hops):
    theirs = graph.to("networkx")
    for center, (ids, distances) in enumerate(neighborhoods(graph, None, hops)):
        lengths = nx.single_source_shortest_path_length(theirs, center, hops)
        assert list(lengths.items()) == pairs_of((ids, distances))


@given(question=questions())
def test_igraph_finds_the_same(question):
    igraph = pytest.importorskip("igraph")
    graph, centers, hops, direction = question
    hops = min(hops, 20)
    sources, targets = graph.vertex_pairs()
    edges = list(zip(sources.tolist(), targets.tolist(), strict=True))
    theirs = igraph.Graph(graph.num_vertices, edges, directed=graph.directed)
    expected = theirs.neighborhood(centers, hops, mode=direction)
    found = neighborhoods(graph, centers, hops, direction=direction)
    assert [sorted(ids.tolist()) for ids, _ in found] == [sorted(each) for each in expected]


@given(question=questions())
def test_networkx_has_the_same_ego_graphs(question):
    graph, centers, hops, _ = question
    simple = graph.simple
    theirs = simple.to("networkx")
    for center, arcs in zip(centers, ego_graphs(simple, centers, hops), strict=True):
        expected = nx.ego_graph(theirs, center, radius=hops)
        assert set(pairs_of(arcs)) == set(expected.to_directed().edges)


@pytest.mark.parametrize("spec", ["path:300", "star:99", "complete:70", "tree:255", "grid:20", "rmat:9"])
@pytest.mark.parametrize("hops", [1, 3, 10**9])
def test_shapes(spec, hops):
    graph = generate(spec)
    found = neighborhoods(graph, None, hops)
    distances = bfs_batch(graph, depth_limit=hops, engine="scipy").distances
    expected = np.full_like(distances, -1)
    expected[found.index, found.vertices] = found.distances
    np.testing.assert_array_equal(expected, distances)
    assert len(found.vertices) == np.count_nonzero(distances >= 0)


def test_ids_are_the_users():
    words = load("moby")
    near = neighborhoods(words, ["love", "money", "love"], 1)
    assert near[0][0].tolist() == ["love", *words.neighbors("love")]
    assert near[2][0].tolist() == near[-1][0].tolist() == near[0][0].tolist()
    spread = as_graph(np.array([[10, 2**40], [2**40, 30]]))
    assert neighborhoods(spread, np.array([10]), 9).ids.tolist() == [10, 2**40, 30]
    assert records(neighborhoods(spread, [10], 9).to_frame())[1] == {"center": 10, "vertex": 2**40, "distance": 1}
    assert records(ego_graphs(spread, [10], 1).to_frame("arrow")) == [{"center": 10, "source": 10, "target": 2**40}]
    named = ego_graphs({"a": ["b", "a"], "b": []}, ["b", "a"], 1)
    assert records(named.to_frame("polars"))[0] == {"center": "a", "source": "a", "target": "b"}


def test_positions():
    near = neighborhoods("karate", [3, 5], 1)
    assert near[-1][0][0] == near[np.int64(1)][0][0] == 5
    for position in (2, -3):
        with pytest.raises(IndexError, match="no centre"):
            near[position]
    for position in ("0", 0.5, slice(1), None, True):
        with pytest.raises(TypeError, match="position is an integer"):
            near[position]


def test_no_centres():
    for graph in (as_graph("karate"), as_graph(([], []))):
        for centers in ([], None if graph.num_vertices == 0 else []):
            assert len(neighborhoods(graph, centers, 2)) == 0
            assert ego_graphs(graph, centers, 2).offsets.tolist() == [0]
            assert len(list(iter_ego_graphs(graph, centers, 2))) == 1
            assert len(ego_graphs(graph, centers, 2).to_frame()) == 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_wrong_is_said_at_once(function):
    for hops in (-1, 0.5, "2", None, True, [1]):
        with pytest.raises(InputError, match="the number of hops must be"):
            function("karate", [0], hops)
    for direction in ("forward", None, 1, ["out"]):
        with pytest.raises(InputError, match="direction must be 'out', 'in' or 'all'"):
            function("karate", [0], 1, direction=direction)
    for centers in (0, "0", b"0", np.array(0)):
        with pytest.raises(InputError, match="expected a list of vertex ids"):
            function("karate", centers, 1)
    for id in (34, -1, "0", None, 1 << 70, [0]):
        with pytest.raises(InputError, match="is not a vertex of karate"):
            function("karate", [0, id], 1)
    with pytest.raises(InputError, match="distributed over 2 devices"):
        function(load("karate", devices="cpu:2"), [0], 1)


def test_too_little_memory(monkeypatch):
    graph = load("karate").replace()
    neighborhoods(graph, [0], 2)
    monkeypatch.setattr(on_cpu, "PIECES", 0)
    monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 300)
    with pytest.raises(InputError, match=r"what neighborhoods finds \(iter_neighborhoods gives it in batches\) needs"):
        neighborhoods(graph.replace(), None, 2)
    with pytest.raises(InputError, match="an ego graph needs"):
        ego_graphs(graph, [0], 2)
    monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 100)
    with pytest.raises(InputError, match="a search of neighbourhoods needs 272 bytes"):
        neighborhoods(graph.replace(), [0], 2)


def test_threads_and_children_find_the_same():
    graph = generate("rmat:10")
    centers = np.random.default_rng(1).integers(0, graph.num_vertices, 60)
    expected = ego_graphs(graph, centers, 2).targets
    with ThreadPoolExecutor(4) as threads:
        for ego in threads.map(lambda _: ego_graphs(graph, centers, 2), range(8)):
            np.testing.assert_array_equal(ego.targets, expected)
    assert in_child(lambda: ego_graphs(graph, centers, 2).targets.tolist()) == expected.tolist()


def test_a_search_leaves_no_marks():
    graph = generate("rmat:8").replace(directed=True)
    for direction in DIRECTIONS:
        ego_graphs(graph, None, 2, direction=direction)
        assert not graph.traversals[f"{module.KEY}, {direction}"].searches.visited.any()
