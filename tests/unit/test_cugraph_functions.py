"""The functions of `rapids_bfs.cugraph` on the host, against NetworkX; `tests/rapids` has them beside cuGraph.

Graphs and frames look like cuGraph's and cuDF's.
"""

import inspect
import math
import traceback
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from rapids_on_host import Graph, cugraph_graphs, given_as, ids_in, rapids_on_host
from strategies import oracle_distances

from rapids_bfs import as_graph
from rapids_bfs import cugraph as drop_in
from rapids_bfs.algorithms import walks
from rapids_bfs.generators import generate

few = settings(max_examples=40)  # each makes several frames
FLOAT_FAR = np.finfo(np.float64).max


@pytest.fixture(autouse=True, scope="module")
def on_host():
    with rapids_on_host():
        yield


def nx_graph_of(theirs, ids):
    """The graph as NetworkX's, with the users' ids, parallel edges once."""
    graph = nx.DiGraph() if theirs.directed else nx.Graph()
    graph.add_nodes_from(ids)
    sources, targets = theirs.graph.vertex_pairs()
    graph.add_edges_from((ids[u], ids[v]) for u, v in zip(sources.tolist(), targets.tolist(), strict=True))
    return graph


def path_graph(**options):
    return Graph(graph=as_graph([(0, 1), (1, 2), (2, 3)], directed=False), **options)


@few
@given(data=st.data())
def test_multi_source_bfs(data):
    theirs, ids = data.draw(cugraph_graphs())
    n = len(ids)
    starts = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
    limit = data.draw(st.sampled_from([None, -1, 0, 1, 2]))
    frame = drop_in.multi_source_bfs(theirs, given_as([ids[start] for start in starts], theirs), depth_limit=limit)
    assert ids_in(frame, "vertex") == ids
    far = np.iinfo(theirs.dtype).max
    for start in starts:
        name = "_".join(map(str, ids[start])) if isinstance(ids[start], tuple) else str(ids[start])
        expected = oracle_distances(theirs.graph, [start], None if limit == -1 else limit).astype(theirs.dtype)
        distances = frame[f"distance_{name}"]
        assert distances.dtype == theirs.dtype
        assert distances.tolist() == np.where(expected < 0, far, expected).tolist()
        before = ids_in(frame, f"predecessor_{name}")
        graph = nx_graph_of(theirs, ids)
        level = dict(zip(ids, expected.tolist(), strict=True))
        for vertex, predecessor in zip(ids, before, strict=True):
            if level[vertex] <= 0:
                assert predecessor in (-1, "-1", ("-1", -1.0))
            else:
                predecessor = (predecessor[0], int(predecessor[1])) if isinstance(predecessor, tuple) else predecessor
                assert graph.has_edge(predecessor, vertex)
                assert level[predecessor] == level[vertex] - 1


def test_concurrent_bfs_is_multi_source_bfs_of_each():
    theirs = [path_graph(), path_graph(names=pd.DataFrame({"0": list("abcd")}))]
    starts = [pd.Series([0, 2]), ["b"]]
    frames = drop_in.concurrent_bfs(theirs, starts, depth_limit=1)
    for frame, graph, sources in zip(frames, theirs, starts, strict=True):
        pd.testing.assert_frame_equal(frame, drop_in.multi_source_bfs(graph, sources, depth_limit=1))
    assert list(frames[1].columns) == ["vertex", "distance_b", "predecessor_b"]


@few
@given(data=st.data())
def test_shortest_paths(data):
    theirs, ids = data.draw(cugraph_graphs())
    start = data.draw(st.integers(0, len(ids) - 1))
    source = given_as([ids[start]], theirs) if isinstance(ids[start], tuple) else ids[start]
    expected = nx.single_source_shortest_path_length(nx_graph_of(theirs, ids), ids[start])
    with pytest.warns(DeprecationWarning, match=r"deprecated as of 25\.10"):
        frame = drop_in.shortest_path(theirs, source)
    lengths = drop_in.shortest_path_length(theirs, source)
    for found in (frame, lengths):
        assert ids_in(found, "vertex") == ids
        assert found["distance"].dtype == np.float64
        assert found["distance"].tolist() == [float(expected.get(id, FLOAT_FAR)) for id in ids]
    order = [column.rpartition("_")[2] for column in frame.columns]
    assert list(dict.fromkeys(order)) == (
        ["distance", "vertex", "predecessor"] if theirs.names is None else ["predecessor", "vertex", "distance"]
    )
    assert ids_in(drop_in.filter_unreachable(frame), "vertex") == [id for id in ids if id in expected]
    for id in ids:
        target = given_as([id], theirs) if isinstance(id, tuple) else id
        assert drop_in.shortest_path_length(theirs, source, target) == expected.get(id, FLOAT_FAR)


@few
@given(data=st.data())
@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_components(kind, data):
    theirs, ids = data.draw(cugraph_graphs())
    if kind == "weak" and theirs.directed:
        with pytest.raises(ValueError, match="input graph must be undirected"):
            drop_in.weakly_connected_components(theirs)
        return
    graph = nx_graph_of(theirs, ids)
    strong = nx.strongly_connected_components if theirs.directed else nx.connected_components
    expected = {frozenset(each) for each in (nx.connected_components if kind == "weak" else strong)(graph)}
    frame = drop_in.connected_components(theirs, connection=kind)
    assert list(frame.columns)[-1] == "labels"
    assert ids_in(frame, "vertex") == ids
    labels = frame["labels"]
    assert labels.dtype == theirs.dtype
    assert list(dict.fromkeys(labels)) == list(range(len(expected)))
    found = {frozenset(id for id, each in zip(ids, labels, strict=True) if each == label) for label in labels}
    assert found == expected


@few
@given(data=st.data())
def test_betweenness_of_vertices(data):
    theirs, ids = data.draw(cugraph_graphs())
    theirs = simplified(theirs)
    normalized, endpoints = data.draw(st.booleans()), data.draw(st.booleans())
    some = data.draw(st.none() | st.lists(st.sampled_from(ids), min_size=1, unique=True))
    k = None if some is None else given_as(some, theirs)
    frame = drop_in.betweenness_centrality(theirs, k, normalized, endpoints=endpoints)
    assert ids_in(frame, "vertex") == ids
    assert frame["betweenness_centrality"].dtype == np.float64
    graph = nx_graph_of(theirs, ids)
    if some is None:
        values = nx.betweenness_centrality(graph, normalized=normalized, endpoints=endpoints)
    else:
        values = sampled_betweenness(graph, some, normalized, endpoints)
    np.testing.assert_allclose(frame["betweenness_centrality"], [values[id] for id in ids], atol=1e-12)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("endpoints", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_sources_that_lie_on_paths_are_scaled_apart(directed, endpoints, normalized):
    theirs = Graph(graph=as_graph(nx.cycle_graph(6, create_using=nx.DiGraph if directed else nx.Graph)))
    graph = nx_graph_of(theirs, list(range(6)))
    for sources in ([0], [0, 2], [1, 2, 4], list(range(5)), list(range(6))):
        found = drop_in.betweenness_centrality(theirs, sources, normalized, endpoints=endpoints)
        expected = sampled_betweenness(graph, sources, normalized, endpoints)
        np.testing.assert_allclose(found["betweenness_centrality"], [expected[vertex] for vertex in range(6)])


def simplified(theirs):
    """The graph without parallel edges, which `cugraph.Graph` drops."""
    return Graph(graph=theirs.graph.simple, names=theirs.names, dtype=theirs.dtype)


def sampled_betweenness(graph, sources, normalized, endpoints):
    """By all shortest paths from the sources, extrapolated to all: a source that is no end has one pair less."""
    values = dict.fromkeys(graph, 0.0)
    for source in sources:
        for target in nx.descendants(graph, source):
            paths = list(nx.all_shortest_paths(graph, source, target))
            for vertex in [vertex for path in paths for vertex in (path if endpoints else path[1:-1])]:
                values[vertex] += 1 / len(paths)
    ends = len(graph) - (not endpoints)
    if ends < 2:
        return values
    for vertex in graph:
        pairs_seen = len(sources) - (vertex in sources and not endpoints)
        scale = 1 / (ends - 1) if normalized else ends / (1 if graph.is_directed() else 2)
        values[vertex] = values[vertex] * scale / pairs_seen if pairs_seen else math.nan
    return values


@few
@given(data=st.data())
def test_betweenness_of_edges(data):
    theirs, ids = data.draw(cugraph_graphs())
    theirs = simplified(theirs)
    normalized = data.draw(st.booleans())
    frame = drop_in.edge_betweenness_centrality(theirs, normalized=normalized)
    expected = nx.edge_betweenness_centrality(nx_graph_of(theirs, ids), normalized=normalized)
    found = dict(zip(zip(ids_in(frame, "src"), ids_in(frame, "dst"), strict=True), frame.iloc[:, -1], strict=True))
    assert len(found) == len(frame) == len(expected)
    for (u, v), value in expected.items():
        there = found[u, v] if (u, v) in found else found[v, u]
        assert there == pytest.approx(value, abs=1e-12)
    if not theirs.directed and not isinstance(ids[0], tuple):
        assert all(u <= v for u, v in found)
    if theirs.names is not None and theirs.directed:
        assert next(iter(frame.columns)).endswith("dst")


def test_betweenness_of_a_sample():
    theirs = Graph(graph=generate("grid:5"))
    draw = [drop_in.betweenness_centrality(theirs, 6, random_state=seed).iloc[:, 1].tolist() for seed in (1, 1, 2)]
    assert draw[0] == draw[1] != draw[2]
    with pytest.warns(UserWarning, match="Use 'random_state' instead"):
        assert drop_in.betweenness_centrality(theirs, 6, seed=1).iloc[:, 1].tolist() == draw[0]
    all_edges = drop_in.edge_betweenness_centrality(theirs)
    some = drop_in.edge_betweenness_centrality(theirs, 25, result_dtype=np.float32)
    np.testing.assert_allclose(some["betweenness_centrality"], all_edges["betweenness_centrality"], rtol=1e-6)
    assert some["betweenness_centrality"].dtype == np.float32
    assert math.isnan(drop_in.betweenness_centrality(theirs, [3]).iloc[3, 1])


@few
@given(data=st.data())
def test_two_hops(data):
    theirs, ids = data.draw(cugraph_graphs())
    some = data.draw(st.none() | st.lists(st.sampled_from(ids), min_size=1, max_size=3, unique=True))
    graph = nx_graph_of(theirs, ids)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "MANY_WALKS", data.draw(st.sampled_from([1, 1 << 26])))
        frame = drop_in.get_two_hop_neighbors(theirs, None if some is None else given_as(some, theirs))
        offsets, neighbors = drop_in.k_hop_nbrs(theirs, given_as(some or ids, theirs), 3)
    expected = {(u, w) for u in some or ids for v in graph.adj[u] for w in graph.adj[v]}
    pairs = list(zip(ids_in(frame, "first"), ids_in(frame, "second"), strict=True))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected
    assert next(iter(frame.columns)).endswith("first" if theirs.names is None else "second")
    neighbors = ids_in(neighbors.to_frame("neighbors") if isinstance(neighbors, pd.Series) else neighbors, "neighbors")
    for place, u in enumerate(some or ids):
        found = neighbors[offsets[place] : offsets[place + 1]]
        assert len(found) == len(set(found))
        assert set(found) == {x for v in graph.adj[u] for w in graph.adj[v] for x in graph.adj[w]}


@few
@given(data=st.data())
def test_ego_graphs(data):
    theirs, ids = data.draw(cugraph_graphs())
    seeds = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3))
    radius = data.draw(st.integers(1, 3))
    weighted = data.draw(st.booleans())
    theirs = simplified(theirs)
    if weighted:
        u = np.repeat(np.arange(len(ids)), theirs.graph.degrees)
        numbers = np.arange(len(ids)) if theirs.graph.labels is None else theirs.graph.labels
        columns = {"src": numbers[u], "dst": numbers[theirs.graph.targets]}
        theirs.weights = pd.DataFrame(columns | {"weight": np.minimum(u, theirs.graph.targets) / 2})
    found = drop_in.ego_graph(theirs, given_as(seeds, theirs), radius)
    found = [found] if len(seeds) == 1 else found
    assert len(found) == len(seeds)
    graph = nx_graph_of(theirs, ids)
    for seed, ego in zip(seeds, found, strict=True):
        frame, source, target, attribute = ego.edges
        assert ego.directed == theirs.directed
        assert attribute == ("weight" if weighted else None)
        names = [source, target] if isinstance(source, str) else [*source, *target]
        assert list(frame.columns) == names + ["weight"] * weighted
        pairs = list(zip(ids_in(frame, "src"), ids_in(frame, "dst"), strict=True))
        expected = nx.ego_graph(graph, seed, radius)
        both = {*expected.edges} | {(v, u) for u, v in expected.edges if not theirs.directed}
        assert set(pairs) == both
        assert len(pairs) == len(both)
        if weighted:
            at = {id: vertex for vertex, id in enumerate(ids)}
            assert frame["weight"].tolist() == [min(at[u], at[v]) / 2 for u, v in pairs]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_matrices(form):
    matrix = scipy.sparse.csr_array(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])).asformat(form)
    count, labels = drop_in.connected_components(matrix, directed=False)
    assert (count, labels.tolist()) == (2, [0, 0, 0, 1])
    assert drop_in.strongly_connected_components(matrix, return_labels=False) == 3
    with pytest.raises(ValueError, match="input graph must be undirected"):
        drop_in.connected_components(matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        distances, predecessors = drop_in.shortest_path(matrix, 0)
        assert drop_in.shortest_path(matrix, 0, return_predecessors=False, directed=False).tolist()[:3] == [0, 1, 2]
    assert distances.tolist() == [0, 1, 2, FLOAT_FAR]
    assert predecessors.tolist() == [-1, 0, 1, -1]
    assert drop_in.shortest_path_length(matrix, 1)["distance"].tolist() == [FLOAT_FAR, 0, 1, FLOAT_FAR]
    assert drop_in.shortest_path_length(matrix, 1, 0) == FLOAT_FAR
    assert drop_in.multi_source_bfs(matrix, [0])["distance_0"].tolist() == [0, 1, 2, 2**31 - 1]
    weighted = matrix * 2
    with pytest.raises(ValueError, match="the matrix has weights"):
        drop_in.shortest_path_length(weighted, 0)


@pytest.mark.parametrize(
    ("kind", "largest"), [("int32", 2**31 - 1), ("int64", 2**63 - 1), ("float32", np.finfo("f4").max)]
)
def test_filter_unreachable(kind, largest):
    frame = pd.DataFrame({"vertex": [0, 1, 2], "distance": np.array([0, largest, 4], kind)})
    assert drop_in.filter_unreachable(frame)["vertex"].tolist() == [0, 2]
    with pytest.raises(KeyError, match="No distance column found in input data frame"):
        drop_in.filter_unreachable(frame[["vertex"]])
    with pytest.raises(TypeError, match="distance type unsupported"):
        drop_in.filter_unreachable(pd.DataFrame({"distance": ["far"]}))


GRAPH = as_graph([(0, 1), (1, 2), (2, 3)], directed=False)
BAD = [
    None,
    "x",
    "",
    -1,
    99,
    1.5,
    math.nan,
    [],
    [[]],
    [0, 0],
    [99],
    ["x"],
    (),
    {},
    {0},
    object(),
    np.array([0.5]),
    True,
]
BAD += [np.zeros((2, 2)), pd.Series([], dtype=object), pd.DataFrame(), pd.DataFrame({"a": [0], "b": [1]}), b"0", 2**70]
CALLS = {
    "betweenness_centrality": ("G", "k", "normalized", "weight", "endpoints", "seed", "random_state", "result_dtype"),
    "concurrent_bfs": ("Graphs", "sources", "depth_limit", "offload"),
    "connected_components": ("G", "directed", "connection", "return_labels"),
    "edge_betweenness_centrality": ("G", "k", "normalized", "weight", "seed", "result_dtype"),
    "ego_graph": ("G", "n", "radius", "center", "undirected", "distance"),
    "get_two_hop_neighbors": ("G", "start_vertices"),
    "k_hop_nbrs": ("G", "start_vertices", "k"),
    "multi_source_bfs": ("G", "sources", "components", "depth_limit", "offload"),
    "shortest_path": ("G", "source", "method", "directed", "return_predecessors", "unweighted", "overwrite", "indices"),
    "shortest_path_length": ("G", "source", "target"),
    "strongly_connected_components": ("G", "directed", "connection", "return_labels"),
    "weakly_connected_components": ("G", "directed", "connection", "return_labels"),
}
GOOD = {"Graphs": [Graph(graph=GRAPH)], "start_vertices": [0], "k": 2, "n": 0, "source": 0, "sources": [0, 2]}
MATRIX = scipy.sparse.csr_array(np.eye(3, k=1))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=60)
@given(data=st.data())
def test_bad_arguments_are_refused_in_words(name, data):
    """Of any argument, any value: an answer, or a TypeError, ValueError or NotImplementedError of ours."""
    parameters = list(inspect.signature(getattr(drop_in, name)).parameters)
    assert parameters == list(CALLS[name])
    named = Graph(graph=GRAPH, names=pd.DataFrame({"0": list("abcd")}))
    arguments = {each: GOOD[each] for each in parameters if each in GOOD}
    if "G" in parameters:
        arguments["G"] = data.draw(st.sampled_from([Graph(graph=GRAPH), named, MATRIX]))
    for wrong in data.draw(st.lists(st.sampled_from(parameters), min_size=1, max_size=2)):
        arguments[wrong] = data.draw(st.sampled_from(BAD))
    if error := raised_by(getattr(drop_in, name), arguments):
        *_, (raiser, _) = traceback.walk_tb(error.__traceback__)
        assert "rapids_bfs" in raiser.f_code.co_filename, f"{error!r} comes from {raiser.f_code}"
        assert isinstance(error, TypeError | ValueError | NotImplementedError)
        assert str(error)


def raised_by(function, arguments):
    """What a call raises; None if it returns."""
    try:
        function(**arguments)
    except Exception as error:
        return error
    return None
