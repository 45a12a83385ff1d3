"""The other functions of `rapids_bfs.cugraph` beside `cugraph`: the same frames and errors on random graphs."""

import cudf
import cugraph
import cupyx.scipy.sparse
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from edge_lists import KINDS, frame_of_edges, ids_of, random_pairs

from rapids_bfs import cugraph as drop_in

GRAPHS = 8  # of each kind


def random_graphs(kind, *, directed):
    """Graphs of cuGraph, and a generator for what is asked of each."""
    rng = np.random.default_rng([ord(letter) for letter in f"{kind} {directed}"])
    for _ in range(GRAPHS):
        pairs = random_pairs(rng)
        graph = cugraph.Graph(directed=directed)
        graph.from_cudf_edgelist(frame_of_edges(pairs, kind), source="src", destination="dst")
        yield graph, pairs, rng


def some_ids(rng, pairs, kind, most=4):
    """Distinct ids of the graph, at least one, as a list."""
    vertices = np.unique(pairs)
    some = rng.choice(vertices, min(len(vertices), int(rng.integers(1, most + 1))), replace=False)
    return ids_of(some, kind).to_pandas().tolist()


def assert_equal_in_any_order(ours, theirs):
    assert list(ours.columns) == list(theirs.columns)
    assert ours.dtypes.to_dict() == theirs.dtypes.to_dict()
    by = [name for name in theirs.columns if theirs[name].dtype.kind != "f"]
    frames = (each.to_pandas().sort_values(by, ignore_index=True) for each in (ours, theirs))
    pd.testing.assert_frame_equal(*frames, rtol=1e-5, atol=1e-9)


def orders_of(k):
    """The ids as they are and, if they are numbers, ascending: in some orders cuGraph 26.10 leaves sources out."""
    return [k, sorted(k)] if isinstance(k, list) else [k]


def closest(frames, wanted):
    """The frame with the sum of betweenness that is closest to that of the ``wanted`` one."""
    column = "betweenness_centrality"
    return min(frames, key=lambda frame: abs(float(frame[column].sum() - wanted[column].sum())))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("kind", KINDS)
class TestParity:
    def test_multi_source_bfs_is_bfs_from_each(self, kind, directed):
        for graph, pairs, rng in random_graphs(kind, directed=directed):
            sources, limit = some_ids(rng, pairs, kind), [None, 1, 3][rng.integers(3)]
            frame = drop_in.multi_source_bfs(graph, cudf.Series(sources), depth_limit=limit).to_pandas()
            names = [f"{what}_{source}" for source in sources for what in ("distance", "predecessor")]
            assert list(frame.columns) == ["vertex", *names]
            for source in sources:
                theirs = cugraph.bfs(graph, source, limit).to_pandas().set_index("vertex")
                level = dict(zip(frame["vertex"], frame[f"distance_{source}"], strict=True))
                assert level == theirs["distance"].to_dict()
                assert frame[f"distance_{source}"].dtype == theirs["distance"].dtype
                before = frame[f"predecessor_{source}"]
                assert before.dtype == theirs["predecessor"].dtype
                for vertex, predecessor in zip(frame["vertex"], before, strict=True):
                    none = theirs["predecessor"][vertex] in (-1, "-1")
                    assert (predecessor in (-1, "-1")) == none
                    assert none or level[predecessor] == level[vertex] - 1

    def test_betweenness(self, kind, directed):
        for graph, pairs, rng in random_graphs(kind, directed=directed):
            n = graph.number_of_vertices()
            some = some_ids(rng, pairs, kind)
            some = cudf.Series(some) if kind == "strings" else some  # of a list, cuGraph takes strings for integers
            normalized, endpoints = (bool(rng.integers(2)) for _ in range(2))
            for k in (None, some):
                if n > 2 and (k is None or 1 < len(k) != n - 1):
                    options = {"normalized": normalized, "endpoints": endpoints}
                    ours = drop_in.betweenness_centrality(graph, k, **options)
                    theirs = [cugraph.betweenness_centrality(graph, each, **options) for each in orders_of(k)]
                    assert_equal_in_any_order(ours, closest(theirs, ours))
                if n > 1:
                    ours = drop_in.edge_betweenness_centrality(graph, k, normalized)
                    theirs = [cugraph.edge_betweenness_centrality(graph, each, normalized) for each in orders_of(k)]
                    assert_equal_in_any_order(ours, closest(theirs, ours))

    def test_components(self, kind, directed):
        """Strong ones of directed graphs and weak ones of others: cuGraph takes no other."""
        connection = "strong" if directed else "weak"
        for graph, _, _ in random_graphs(kind, directed=directed):
            ours, theirs = (each.connected_components(graph, connection=connection) for each in (drop_in, cugraph))
            assert list(ours.columns) == list(theirs.columns)
            assert ours.dtypes.to_dict() == theirs.dtypes.to_dict()
            assert parts(ours) == parts(theirs)

    def test_two_hops(self, kind, directed):
        for graph, pairs, rng in random_graphs(kind, directed=directed):
            assert_equal_in_any_order(drop_in.get_two_hop_neighbors(graph), graph.get_two_hop_neighbors())
            some = some_ids(rng, pairs, kind)
            offsets, ends = drop_in.k_hop_nbrs(graph, some, 2)
            pairs_found = drop_in.get_two_hop_neighbors(graph, some).to_pandas()
            counts = pairs_found.groupby("first").size().to_dict()
            assert np.diff(offsets.to_numpy()).tolist() == [counts.get(id, 0) for id in some]
            assert ends.to_arrow().to_pylist() == pairs_found["second"].tolist()

    def test_ego_graphs(self, kind, directed):
        for graph, pairs, rng in random_graphs(kind, directed=directed):
            radius = int(rng.integers(1, 4))
            seeds = [id for id in some_ids(rng, pairs, kind) if has_edge_around(graph, id)]
            if not seeds or radius >= graph.number_of_vertices():
                continue
            ours, theirs = (each.ego_graph(graph, seeds, radius) for each in (drop_in, cugraph))
            assert isinstance(ours, list) == isinstance(theirs, list) == (len(seeds) > 1)
            for found, wanted in zip(*((each if len(seeds) > 1 else [each]) for each in (ours, theirs)), strict=True):
                assert type(found) is type(wanted)
                assert found.is_directed() == wanted.is_directed()
                assert edges_of(found) == edges_of(wanted)


def parts(frame):
    """The sets of vertices with a label each."""
    return {frozenset(each) for each in frame.to_pandas().groupby("labels")["vertex"].agg(list)}


def has_edge_around(graph, id):
    """cuGraph makes no graph without edges."""
    return len(drop_in.k_hop_nbrs(graph, id, 1)[1]) > 0


def edges_of(graph):
    frame = graph.view_edge_list().to_pandas()
    edges = zip(frame["src"], frame["dst"], strict=True)
    return {edge if graph.is_directed() else frozenset(edge) for edge in edges}


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_ego_graphs_keep_weights(directed):
    frame = cudf.DataFrame({"src": [0, 1, 2, 0, 7], "dst": [1, 2, 0, 3, 1], "weight": [0.5, 1.5, 2.5, 3.5, 4.5]})
    for columns in (frame, frame.astype({"src": "str", "dst": "str"})):
        graph = cugraph.Graph(directed=directed)
        graph.from_cudf_edgelist(columns, source="src", destination="dst", edge_attr="weight")
        seed = columns["src"].iloc[0]
        seed = seed if isinstance(seed, str) else int(seed)
        ours, theirs = (each.ego_graph(graph, [seed], 1).view_edge_list() for each in (drop_in, cugraph))
        names = ["src", "dst", "weight" if "weight" in theirs else "weights"]
        assert_equal_in_any_order(ours[names], theirs[names])


def test_shortest_paths_are_those_of_weights_of_1():
    """Which `cugraph.sssp` takes, where it refuses graphs without weights."""
    for graph, pairs, rng in random_graphs("int32", directed=True):
        weighted = cugraph.Graph(directed=True)
        frame = frame_of_edges(pairs, "int32")
        frame["weight"] = 1.0
        weighted.from_cudf_edgelist(frame, source="src", destination="dst", edge_attr="weight")
        start = some_ids(rng, pairs, "int32")[0]
        with pytest.warns(DeprecationWarning, match="deprecated as of"):
            ours = drop_in.shortest_path(graph, start)
        theirs = cugraph.sssp(weighted, start)
        assert list(ours.columns) == list(theirs.columns)
        assert ours.dtypes.to_dict() == theirs.dtypes.to_dict()
        assert_equal_in_any_order(ours[["vertex", "distance"]], theirs[["vertex", "distance"]])
        both = drop_in.filter_unreachable(ours), cugraph.filter_unreachable(theirs)
        assert_equal_in_any_order(*(each[["vertex", "distance"]] for each in both))
        lengths = [each.shortest_path_length(g, start) for each, g in ((drop_in, graph), (cugraph, weighted))]
        assert_equal_in_any_order(*lengths)
        with pytest.raises(ValueError, match="has weights"):
            drop_in.shortest_path_length(weighted, start)
        for name in ("source", "target"):
            with pytest.raises(ValueError, match=f"Graph does not contain {name} vertex"):
                drop_in.shortest_path_length(graph, *{"source": (999,), "target": (start, 999)}[name])


@pytest.mark.parametrize("library", [scipy.sparse, cupyx.scipy.sparse], ids=["scipy", "cupyx"])
def test_components_of_matrices(library):
    matrix = library.csr_matrix(scipy.sparse.csr_matrix(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], np.float32)))
    count, labels = drop_in.connected_components(matrix, directed=False)
    theirs = cugraph.connected_components(matrix, directed=False)
    assert (count, len(labels)) == (theirs[0], len(theirs[1]))
    assert type(labels) is type(theirs[1])
    for function in (drop_in.weakly_connected_components, cugraph.weakly_connected_components):
        with pytest.raises(ValueError, match="input graph must be undirected"):
            function(matrix)
