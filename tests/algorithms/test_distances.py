"""Eccentricities and what follows from them, against SciPy's Dijkstra and NetworkX."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from strategies import graphs

from rapids_bfs import InputError, as_graph, center, diameter, eccentricity, load, periphery, radius
from rapids_bfs.adapters.scipy import to_scipy
from rapids_bfs.algorithms import distances
from rapids_bfs.generators import generate

BACKENDS = ("networkx", "rapids_bfs")
WAYS = ["bounds", "batches", "both"]  # in which eccentricities are found


@pytest.fixture(params=WAYS, scope="class")
def way(request):
    """However small a graph is: until all bounds meet, from each vertex, or from each that a few searches leave."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "batches":
            patch.setattr(distances, "ROUND", 2)
            patch.setattr(distances, "WORTH", 0 if request.param == "bounds" else 2)
        patch.setattr(distances, "FIRST_BATCH", 2)
        yield


def expected_eccentricities(graph):
    """The largest finite distance from each vertex, by SciPy's Dijkstra on unit weights."""
    if not graph.num_vertices:
        return np.empty(0, np.int32)
    found = dijkstra(to_scipy(graph, np.float64, copy=True), unweighted=True)
    return np.where(np.isfinite(found), found, 0).max(axis=1).astype(np.int32)


def assert_right(graph, engine="cpu"):
    expected = expected_eccentricities(graph)
    least, most = expected.min(initial=graph.num_vertices), expected.max(initial=-1)
    found = eccentricity(graph, engine=engine)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)
    assert diameter(graph, engine=engine) == most
    assert radius(graph, engine=engine) == (least if len(expected) else -1)
    assert center(graph, engine=engine).tolist() == np.flatnonzero(expected == least).tolist()
    assert periphery(graph, engine=engine).tolist() == np.flatnonzero(expected == most).tolist()


class TestEveryWay:
    @settings(max_examples=50)
    @given(graph=graphs(max_vertices=20, max_edges=40))
    def test_random_graphs(self, way, graph):
        assert_right(graph)

    @settings(max_examples=50)
    @given(data=st.data())
    def test_random_trees_with_some_edges_more(self, way, data):
        """Leaves by the dozen, all connected."""
        n = data.draw(st.integers(1, 25))
        parents = [data.draw(st.integers(0, max(child - 1, 0))) for child in range(1, n)]
        more = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3))
        ends = np.array([*zip(range(1, n), parents, strict=True), *more], np.int64).reshape(-1, 2)
        assert_right(as_graph((ends[:, 0], ends[:, 1]), vertices=n, directed=False))

    @settings(max_examples=50)
    @given(data=st.data())
    def test_random_directed_graphs_in_which_each_vertex_reaches_every_other(self, way, data):
        n = data.draw(st.integers(1, 20))
        some = st.integers(0, n - 1)
        ring = data.draw(st.permutations(range(n)))
        chords = data.draw(st.lists(st.tuples(some, some), max_size=20))
        ends = np.array([*zip(ring, ring[1:] + ring[:1], strict=True), *chords])
        assert_right(as_graph((ends[:, 0], ends[:, 1]), vertices=n, directed=True))

    @pytest.mark.parametrize("spec", ["path:300", "star:99", "complete:40", "tree:255", "grid:20", "rmat:9", "urand:8"])
    def test_shapes(self, way, spec):
        assert_right(generate(spec))

    @pytest.mark.parametrize("cls", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
    @pytest.mark.parametrize("seed", range(4))
    def test_networkx_says_the_same(self, way, cls, seed):
        graph = cls(nx.gnm_random_graph(40, 70, seed=seed, directed=True))
        if seed % 2:
            nx.add_cycle(graph, range(40))
        for name in ("eccentricity", "diameter", "radius", "center", "periphery"):
            for options in ({}, {"usebounds": True}) if name != "eccentricity" else ({},):
                outcomes = [outcome(getattr(nx, name), graph, **options, backend=backend) for backend in BACKENDS]
                assert outcomes[0] == outcomes[1], name


@pytest.mark.parametrize("engine", ["auto", "cpu:sequential", "scipy", "networkx"])
def test_engines(engine):
    assert_right(generate("rmat:7"), engine)
    assert_right(load("karate"), engine)


def test_few_searches_settle_a_grid(monkeypatch):
    graph = generate("grid:60")
    alone = []  # vertices that are searched from in batches
    search_from = distances.Bounds.search_from

    def counted(self, vertices):
        alone.extend(vertices)
        search_from(self, vertices)

    monkeypatch.setattr(distances.Bounds, "search_from", counted)
    expected = np.add.outer(*2 * [np.maximum(np.arange(60), np.arange(60)[::-1])]).ravel()
    np.testing.assert_array_equal(eccentricity(graph), expected)
    assert len(alone) < distances.ROUND * distances.WORTH


def test_some_vertices():
    graph = generate("rmat:9")
    expected = expected_eccentricities(graph)
    some = np.random.default_rng(1).integers(0, graph.num_vertices, 500)
    np.testing.assert_array_equal(eccentricity(graph, some), expected[some])
    assert eccentricity(graph, []).tolist() == []


def test_ids_are_the_users():
    graph = as_graph([("b", "a"), ("b", "c"), ("c", "d"), ("d", "e")], directed=False)
    assert eccentricity(graph, ["a", "c", "a"]).tolist() == [4, 2, 4]
    assert center(graph).tolist() == ["c"]
    assert periphery(graph).tolist() == ["a", "e"]
    assert center(np.array([[10, 30], [30, 10], [30, 20], [20, 30]])).tolist() == [30]


def test_without_vertices():
    graph = as_graph(([], []))
    assert (diameter(graph), radius(graph)) == (-1, -1)
    assert [len(each(graph)) for each in (eccentricity, center, periphery)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vertices": [0, 34]}, "34 is not a vertex of karate"),
        ({"vertices": 3}, "expected a list of vertex ids, not 3"),
        ({"engine": "gpu"}, "unknown engine 'gpu'"),
        ({"engine": None}, "an engine is written as a string"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        eccentricity("karate", **arguments)


@pytest.mark.parametrize("measure", [diameter, radius, center, periphery])
def test_no_graph_and_no_engine(measure):
    with pytest.raises(InputError):
        measure(None)
    with pytest.raises(InputError, match="unknown engine 'gpu'"):
        measure("karate", engine="gpu")


def outcome(function, *args, **options):
    """What it returns, in order, with its type; or what it raises."""
    try:
        found = function(*args, **options)
    except nx.NetworkXError as error:
        return type(error), str(error)
    return type(found), list(found.items()) if isinstance(found, dict) else found
