"""`rapids_bfs.cugraph` beside `cugraph`: the same frames and errors, and right where cuGraph is not."""

import gc

import cudf
import cugraph
import cupy
import cupyx.scipy.sparse
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from edge_lists import KINDS, assert_tree, frame_of_edges, ids_of, random_pairs, rows_of
from midst import assert_safe_in_the_midst
from strategies import oracle_distances

from rapids_bfs import as_graph, bfs
from rapids_bfs import cugraph as drop_in
from rapids_bfs.cugraph.searcher import _searchers

FAR = np.iinfo(np.int32).max


def cugraph_graph(frame, directed, **options):
    graph = cugraph.Graph(directed=directed)
    graph.from_cudf_edgelist(frame, source="src", destination="dst", **options)
    return graph


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("kind", [*KINDS, "not renumbered"])
def test_parity(kind, directed):
    """25 graphs for each of 10 kinds: 250 random edge lists."""
    rng = np.random.default_rng([ord(letter) for letter in f"{kind} {directed}"])
    renumber = kind != "not renumbered"
    kind = kind if renumber else "int32"
    for _ in range(25):
        pairs = random_pairs(rng)
        graph = cugraph_graph(frame_of_edges(pairs, kind), directed, renumber=renumber)
        start = ids_of(rng.choice(pairs.ravel(), 1), kind).to_pandas().tolist()[0]
        depth_limit = [None, 1, 2, 5][rng.integers(4)]
        theirs = cugraph.bfs(graph, start, depth_limit)
        ours = drop_in.bfs(graph, start, depth_limit)
        assert list(ours.columns) == list(theirs.columns)
        assert ours.dtypes.to_dict() == theirs.dtypes.to_dict()
        found, expected = rows_of(ours), rows_of(theirs)
        assert {vertex: row[0] for vertex, row in found.items()} == {vertex: row[0] for vertex, row in expected.items()}
        assert_tree(found, pairs, kind, directed, {start})
        if kind != "strings":
            assert ours["vertex"].is_monotonic_increasing
        if not renumber:
            cudf.testing.assert_frame_equal(ours[["vertex", "distance"]], theirs[["vertex", "distance"]])


PATH = np.array([[0, 1, 2], [1, 2, 3]])  # where there is but one tree


def assert_equal_in_any_order(ours, theirs):
    assert list(ours.columns) == list(theirs.columns)
    assert ours.dtypes.to_dict() == theirs.dtypes.to_dict()
    columns = list(theirs.columns)
    pd.testing.assert_frame_equal(
        *(each.to_pandas().sort_values(columns, ignore_index=True) for each in (ours, theirs)), check_dtype=True
    )


@pytest.mark.parametrize("types", [("int64", "int64"), ("int32", "int32"), ("int32", "str"), ("str", "uint32")])
def test_several_columns_of_ids(types):
    ends = [cudf.Series(PATH[end] + 10 * i).astype(dtype) for end in (0, 1) for i, dtype in enumerate(types)]
    frame = cudf.DataFrame(dict(zip("abcd", ends, strict=True)))
    graph = cugraph.Graph()
    graph.from_cudf_edgelist(frame, source=["a", "b"], destination=["c", "d"])
    start = frame[["a", "b"]].head(1)
    assert_equal_in_any_order(drop_in.bfs(graph, start), cugraph.bfs(graph, start))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_in_the_midst_of_another_search(dtype):
    """It overwrote the answer, without a word."""
    frame = cudf.DataFrame(dict(zip(("src", "dst"), PATH.astype(dtype), strict=True)))
    graph, other = cugraph_graph(frame, False), cugraph_graph(frame, True)
    assert_safe_in_the_midst(
        lambda vertex: drop_in.bfs(graph, vertex)["distance"].to_numpy(),
        lambda: drop_in.bfs(other, 0)["distance"].to_numpy(),
    )


@pytest.mark.parametrize("dtype", ["int16", "uint32", "float64"])
def test_other_numbers_as_ids(dtype):
    graph = cugraph_graph(cudf.DataFrame(dict(zip(("src", "dst"), PATH.astype(dtype), strict=True))), True)
    assert_equal_in_any_order(drop_in.bfs(graph, 1), cugraph.bfs(graph, 1))


def test_predecessors_that_float64_does_not_hold():
    frame = cudf.DataFrame({"src": [(1 << 53) + 1], "dst": [(1 << 53) + 3], "a": [0], "b": [0]})
    graph = cugraph.Graph(directed=True)
    graph.from_cudf_edgelist(frame, source=["src", "a"], destination=["dst", "b"])
    found = drop_in.bfs(graph, frame[["src", "a"]])
    assert sorted(found["0_predecessor"].to_arrow().to_pylist()) == [-1, (1 << 53) + 1]


def test_isolated_vertices_are_there():
    frame = cudf.DataFrame({"src": np.array([0, 5], np.int32), "dst": np.array([1, 6], np.int32)})
    graph = cugraph_graph(frame, False, vertices=cudf.Series(np.arange(8, dtype=np.int32)))
    for start in (0, 3):
        assert rows_of(drop_in.bfs(graph, start)) == rows_of(cugraph.bfs(graph, start))


def distances_of(frame):
    """Vertex -> distance: two searches need not find the same tree."""
    return {vertex: distance for vertex, (distance, _) in rows_of(frame).items()}


def karate():
    edges = np.array(nx.karate_club_graph().edges, np.int32).T
    return cugraph_graph(cudf.DataFrame({"src": edges[0], "dst": edges[1]}), False)


@pytest.mark.parametrize(
    "start",
    [5, np.int64(5), [5], np.array([5]), cudf.Series([5]), cupy.array([5]), cudf.DataFrame({"any": [5]})],
    ids=lambda start: type(start).__name__,
)
def test_ways_to_give_a_start(start):
    graph = karate()
    expected = distances_of(drop_in.bfs(graph, 5))
    assert distances_of(drop_in.bfs(graph, start)) == expected
    assert distances_of(drop_in.bfs(graph, i_start=start)) == expected


def test_errors_of_cugraph():
    graph = karate()
    wrong = [
        {"start": 0, "i_start": 1},
        {},
        {"start": 0, "directed": True},
        {"start": 99},
        {"start": [0, 99]},
    ]
    for arguments in wrong:
        with pytest.raises((TypeError, ValueError)) as theirs:
            cugraph.bfs(graph, **arguments)
        with pytest.raises(theirs.type) as ours:
            drop_in.bfs(graph, **arguments)
        if theirs.type is TypeError:
            assert str(ours.value) == str(theirs.value)
    for other in (nx.path_graph(3), {0: [1]}):
        with pytest.raises(TypeError, match="is not supported"):
            drop_in.bfs(other, 0)
    with pytest.raises(NotImplementedError, match="reverse processing of graph is currently not supported"):
        drop_in.bfs_edges(graph, 0, reverse=True)
    with pytest.raises(ValueError, match="99 is not a vertex of"):
        drop_in.bfs(graph, 99)
    with pytest.raises(ValueError, match="at least one start is needed"):
        drop_in.bfs(graph, [])
    with pytest.raises(ValueError, match="start must be one or more integers, not <U1"):
        drop_in.bfs(graph, "a")
    with pytest.raises(ValueError, match="no edges yet"):
        drop_in.bfs(cugraph.Graph(), 0)


def test_start_that_is_no_vertex_is_named_among_strings():
    graph = cugraph_graph(cudf.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]}), True)
    with pytest.raises(ValueError, match="'z' is not a vertex of"):
        drop_in.bfs(graph, ["a", "z"])


def test_bfs_edges():
    graph = karate()
    assert distances_of(drop_in.bfs_edges(graph, 3, depth_limit=2)) == distances_of(drop_in.bfs(graph, 3, 2))


def test_depth_limit_0_and_less():
    graph = karate()
    assert (drop_in.bfs(graph, 4, 0)["distance"] != FAR).sum() == 1
    assert distances_of(drop_in.bfs(graph, 4, -1)) == distances_of(drop_in.bfs(graph, 4))


def test_several_starts_in_one_component():
    graph = karate()
    found = drop_in.bfs(graph, [0, 33, 0])
    expected = oracle_distances(as_graph(nx.karate_club_graph()), [0, 33])
    np.testing.assert_array_equal(found["distance"].to_numpy(), expected)


def test_without_predecessors():
    graph = karate()
    found = drop_in.bfs(graph, 0, return_predecessors=False)
    theirs = cugraph.bfs(graph, 0, return_predecessors=False)
    assert list(found.columns) == list(theirs.columns)
    assert (found["predecessor"] == -1).all()
    assert {v: d for v, (d, _) in rows_of(found).items()} == {v: d for v, (d, _) in rows_of(theirs).items()}


def test_multigraph_and_adjacency_lists_are_searched():
    frame = cudf.DataFrame({"src": np.array([0, 0, 1], np.int32), "dst": np.array([1, 1, 2], np.int32)})
    graph = cugraph.MultiGraph(directed=True)
    graph.from_cudf_edgelist(frame, source="src", destination="dst")
    assert drop_in.bfs(graph, 0)["distance"].to_arrow().to_pylist() == [0, 1, 2]
    lists = cugraph.Graph(directed=True)
    offsets, targets = (cudf.Series(np.array(each, np.int32)) for each in ([0, 1, 2, 2, 2], [1, 2]))
    lists.from_cudf_adjlist(offsets, targets)
    assert drop_in.bfs(lists, 0)["distance"].to_arrow().to_pylist() == [0, 1, 2, FAR]


@pytest.mark.parametrize(("dtype", "gap"), [("int32", 1), ("int32", 3), ("int64", 1), ("int64", 3)])
def test_frames_do_not_share_what_is_written(dtype, gap):
    """Nor does the graph share it, which knows the ids by the column that frames share."""
    edges = gap * np.array(nx.karate_club_graph().edges, dtype).T
    graph = cugraph_graph(cudf.DataFrame({"src": edges[0], "dst": edges[1]}), False)
    first, second = drop_in.bfs(graph, 0), drop_in.bfs(graph, 0)
    third = drop_in.bfs(graph, 0)
    kept = rows_of(third)
    first.iloc[0, 0] = 77
    first["vertex"].values[3] = 78
    first["distance"] += 5
    second.iloc[0, 2] = 9
    second["vertex"] += 1
    drop_in.bfs(graph, 33 * gap)
    assert rows_of(third) == kept
    again = drop_in.bfs(graph, 0)
    assert distances_of(third) == distances_of(again)
    assert set(again["predecessor"].to_arrow().to_pylist()) <= {-1, *range(0, 34 * gap, gap)}
    assert third["vertex"].to_arrow().to_pylist() == list(range(0, 34 * gap, gap))


def test_an_isolated_start_leaves_nothing_behind():
    frame = cudf.DataFrame({"src": np.array([0], np.int32), "dst": np.array([1], np.int32)})
    graph = cugraph_graph(frame, False, vertices=cudf.Series(np.arange(70, dtype=np.int32)))
    searched = as_graph(graph)
    for start in (65, 0, 66, 65, 1):
        found = drop_in.bfs(graph, start)["distance"].to_numpy()
        expected = oracle_distances(searched.to("cpu"), [start])
        np.testing.assert_array_equal(found, np.where(expected < 0, FAR, expected))
        np.testing.assert_array_equal(bfs(searched, start).to("cpu").distances, expected)


def test_what_is_prepared_is_kept_weakly():
    graph = karate()
    drop_in.bfs(graph, 0)
    searcher = _searchers[graph]
    drop_in.bfs(graph, 1)
    assert _searchers[graph] is searcher
    graph.clear()
    graph.from_cudf_edgelist(
        cudf.DataFrame({"src": np.array([0], np.int32), "dst": np.array([1], np.int32)}), "src", "dst"
    )
    assert len(drop_in.bfs(graph, 0)) == 2
    gc.collect()
    kept = len(_searchers)
    del graph, searcher
    gc.collect()
    assert len(_searchers) == kept - 1


@pytest.mark.parametrize("directed", [None, True, False])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("library", [scipy.sparse, cupyx.scipy.sparse], ids=["scipy", "cupyx"])
def test_matrices(library, form, directed):
    rng = np.random.default_rng(5)
    for _ in range(5):
        n = int(rng.integers(2, 20))
        pairs = rng.integers(0, n, (2, int(rng.integers(1, 40))))
        dense = np.zeros((n, n), np.float32)
        dense[tuple(pairs)] = 1
        matrix = scipy.sparse.csr_matrix(dense)
        if library is cupyx.scipy.sparse:
            matrix = cupyx.scipy.sparse.csr_matrix(matrix)
        start = int(pairs[0, 0])
        distances, predecessors = drop_in.bfs(matrix.asformat(form), start, directed=directed)
        assert type(distances).__module__.startswith("numpy" if library is scipy.sparse else "cupy")
        expected = oracle_distances(as_graph(tuple(pairs), vertices=n, directed=directed is not False), [start])
        np.testing.assert_array_equal(cupy.asnumpy(distances), np.where(expected < 0, FAR, expected))
        assert (cupy.asnumpy(predecessors)[expected <= 0] == -1).all()
        if np.unique(pairs).size == n and library is scipy.sparse:  # cuGraph leaves vertices without edges out
            theirs, _ = cugraph.bfs(matrix.asformat(form), start, directed=directed)
            np.testing.assert_array_equal(cupy.asnumpy(theirs), cupy.asnumpy(distances))
            assert theirs.dtype == distances.dtype


@pytest.mark.parametrize("kind", KINDS)
def test_edge_lists_are_taken_too(kind):
    rng = np.random.default_rng(6)
    pairs = random_pairs(rng)
    frame = frame_of_edges(pairs, kind)
    start = frame["src"].to_pandas().tolist()[0]
    for directed in (True, False):
        found = drop_in.bfs(frame, start, directed=directed)
        expected = cugraph.bfs(cugraph_graph(frame, directed), start)
        assert {v: d for v, (d, _) in rows_of(found).items()} == {v: d for v, (d, _) in rows_of(expected).items()}
        assert_tree(rows_of(found), pairs, kind, directed, {start})
