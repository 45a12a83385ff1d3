"""Whatever is passed for an argument: an answer, or one `InputError`."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

from rapids_bfs import InputError, as_graph, betweenness, bfs, bfs_batch, compare, validate
from rapids_bfs.comparison.graph500 import graph500
from rapids_bfs.generators import rmat_edges
from rapids_bfs.result import BFSResult, from_frame

GRAPH = as_graph(([0, 1, 2, 0, 5], [1, 2, 3, 2, 6]), vertices=7, directed=False)
NAMED = as_graph([("a", "b"), ("b", "c")])
SPREAD = as_graph(([10, 20], [20, 2**40]))
HUGE = [10**20, 10**30, 2**31, 2**31 - 1, 2**63 - 1]
NO_NUMBERS = [-1, -(10**30), 0.5, float("nan"), float("inf"), "2", "", b"2", True, np.True_, [], {}, object, 1j]
NO_ENGINES = [None, 3, "", "nonsense", ":", "cpu:nonsense", ["cpu"], b"cpu", True, object]


def refused(call, *arguments, **options):
    with pytest.raises(InputError):
        call(*arguments, **options)


@pytest.mark.parametrize("graph", [GRAPH, NAMED, SPREAD], ids=["0..n-1", "names", "spread ids"])
@pytest.mark.parametrize("id", [*NO_NUMBERS, *HUGE, (), None, np.float64(2), np.array([[0]])], ids=repr)
def test_what_is_no_vertex_is_refused(graph, id):
    refused(bfs, graph, [id])
    refused(bfs_batch, graph, [id])
    refused(betweenness, graph, [id])
    if id is not None:
        refused(bfs, graph, id)
        refused(bfs, graph, graph.ids_of(np.array([0])).tolist()[0], target=id)
        assert not isinstance(id, Hashable) or not graph.has_vertex(id)


@pytest.mark.parametrize(
    "sources",
    [np.array([0, 2], dtype) for dtype in ("i1", "u8", ">i4", "i8", object)] + [range(0, 3, 2), {0, 2}],
    ids=repr,
)
def test_sources_of_any_integers(sources):
    found = bfs_batch(GRAPH, sources).distances
    for row, source in zip(found, sources, strict=True):
        np.testing.assert_array_equal(row, oracle_distances(GRAPH, [int(source)]))
    np.testing.assert_array_equal(bfs(GRAPH, sources).distances, oracle_distances(GRAPH, [0, 2]))


TIMES = [
    pd.Timestamp(2020, 1, 1),
    pd.Timedelta(1, "s"),
    pd.Period("2020"),
    np.timedelta64(1, "s"),
    np.datetime64(1, "s"),
]


@pytest.mark.parametrize("id", TIMES, ids=repr)
def test_a_time_is_one_id(id):
    """What has to_numpy need not be a collection, and NumPy's timedeltas are no integers."""
    for graph in (as_graph([(id, id)]), as_graph({id: ["b"]}), as_graph({id: [id]})):
        assert bfs(graph, id, target=id).distance_to(id) == 0
    refused(bfs, GRAPH, id)
    refused(bfs_batch, GRAPH, id)


def test_one_source_is_no_batch():
    refused(bfs_batch, GRAPH, np.array(0))
    refused(bfs_batch, GRAPH, b"\0")
    refused(betweenness, GRAPH, np.array(0))


@pytest.mark.parametrize("option", ["predecessors", "deterministic", "trace", "check"])
@pytest.mark.parametrize("value", [0, 1, "yes", None, np.array([True])], ids=repr)
def test_flags_are_bools(option, value):
    refused(bfs, GRAPH, 0, **{option: value})
    if option != "check":
        assert bfs(GRAPH, 0, **{option: np.True_}).num_reached == 4


@pytest.mark.parametrize("graph", [{"a": 1}, {"a": None}, (np.int64(1), np.int64(2)), (object, object)], ids=repr)
def test_what_is_no_graph_is_refused(graph):
    refused(as_graph, graph)


def test_ids_that_arrow_knows_by_an_extension_are_objects():
    for ids in (pd.interval_range(0, 2), pd.period_range("2020", periods=2)):
        graph = as_graph(pd.DataFrame({"source": ids, "target": ids[::-1]}))
        assert set(graph.labels) == set(ids)


@pytest.mark.parametrize("limit", NO_NUMBERS, ids=repr)
def test_what_is_no_depth_limit_is_refused(limit):
    for search in (bfs, bfs_batch):
        refused(search, GRAPH, [0], depth_limit=limit)
    refused(compare, GRAPH, sources=[0], depth_limit=limit)


@pytest.mark.parametrize("limit", HUGE)
@pytest.mark.parametrize("engine", ["cpu", "cpu:sequential", "scipy", "networkx"])
def test_a_depth_limit_beyond_all_distances_is_none(engine, limit):
    result = bfs(GRAPH, 0, depth_limit=limit, engine=engine)
    np.testing.assert_array_equal(result.distances, oracle_distances(GRAPH, [0]))
    assert validate(GRAPH, result)
    assert validate(GRAPH, replace(result, depth_limit=limit))
    batch = bfs_batch(GRAPH, [0], depth_limit=limit, engine=engine)
    np.testing.assert_array_equal(batch.distances[0], result.distances)


@pytest.mark.parametrize("engine", NO_ENGINES, ids=repr)
def test_what_is_no_engine_is_refused(engine):
    for search in (bfs, bfs_batch, betweenness):
        refused(search, GRAPH, [0], engine=engine)
    refused(graph500, 4, engine=engine)
    if engine is not None:
        refused(compare, GRAPH, sources=[0], engines=engine if engine != ["cpu"] else [["cpu"]])
        refused(compare, GRAPH, sources=[0], baseline=engine, engines="cpu")


@pytest.mark.parametrize("size", [0, *NO_NUMBERS], ids=repr)
def test_what_is_no_batch_size_is_refused(size):
    refused(bfs_batch, GRAPH, [0], batch_size=size)
    refused(graph500, 4, roots=size)
    refused(compare, GRAPH, num_sources=size, engines="cpu")


def test_a_batch_may_be_larger_than_the_sources():
    for options in ({}, {"keep": "summary"}, {"on_batch": lambda rows, distances: None}):
        assert len(bfs_batch(GRAPH, batch_size=10**20, **options).sources) == 7


@pytest.mark.parametrize("options", [{"keep": each} for each in (None, 3, ["distances"], np.zeros(2))], ids=repr)
def test_what_is_not_to_be_kept_is_refused(options):
    refused(bfs_batch, GRAPH, [0], **options)
    refused(bfs_batch, GRAPH, [0], on_batch=3)


@pytest.mark.parametrize("number", NO_NUMBERS, ids=repr)
def test_what_is_no_seed_or_scale_is_refused(number):
    refused(compare, GRAPH, num_sources=1, seed=number, engines="cpu")
    refused(rmat_edges, 4, seed=number)
    refused(rmat_edges, number)
    refused(rmat_edges, 4, number)


def test_more_sources_than_vertices_are_all_of_them():
    assert len(compare(GRAPH, num_sources=10**20, engines="cpu")["cpu"].runs) == 6
    assert len(compare(GRAPH, num_sources=np.int64(2), engines="cpu")["cpu"].runs) == 2


# What a result may hold once somebody has changed it.
ENTRIES = st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 9)
WHOLE = st.sampled_from([np.int8, np.int32, np.int64, ">i4"])


@st.composite
def any_results(draw, graph):
    n = draw(st.sampled_from([graph.num_vertices] * 5 + [0, 1, graph.num_vertices + 1]))
    arrays = []
    for _ in range(2):
        dtype = draw(WHOLE | st.sampled_from([np.float64, bool, object, np.uint64]))
        values = np.array(draw(st.lists(ENTRIES, min_size=n, max_size=n)), np.int64)
        arrays.append(values.astype(dtype))
    distances, predecessors = arrays
    sources = np.array(draw(st.lists(ENTRIES, max_size=3)), np.int64).astype(draw(WHOLE | st.just(object)))
    extras = st.none() | ENTRIES | st.sampled_from([10**20, "x", 0.5])
    return BFSResult(graph, sources, distances, draw(st.sampled_from([None, predecessors])), draw(extras), draw(extras))


@given(st.data())
def test_any_result_gets_a_verdict_or_is_refused(data):
    graph = data.draw(graphs())
    result = data.draw(any_results(graph))
    try:
        verdict = validate(graph, result)
    except InputError:
        return
    if verdict:
        expected = oracle_distances(graph, result.sources.astype(int).tolist())
        within = result.stopped_at is None or expected <= result.stopped_at
        np.testing.assert_array_equal(result.distances, np.where(within, expected, -1))


@pytest.mark.parametrize(
    "change",
    [
        {"distances": [0, 1, 1, 2, -1, -1, -1]},
        {"distances": np.zeros((7, 1), np.int32)},
        {"distances": np.full(7, np.nan)},
        {"predecessors": np.zeros(6, np.int32)},
        {"sources": np.array([7])},
        {"sources": np.array([-1])},
        {"sources": np.array([0.0])},
        {"sources": None},
        {"target": 7},
        {"target": "x"},
        {"depth_limit": -5},
    ],
    ids=repr,
)
def test_a_result_that_cannot_be_held_against_the_graph_is_refused(change):
    refused(validate, GRAPH, replace(bfs(GRAPH, 0), **change))


def test_a_graph_that_has_lost_an_edge_since_it_was_made_is_seen():
    """An undirected graph is held to have each edge in both directions, also where it does not."""
    offsets, targets = np.array([0, 1, 3, 4], np.int32), np.array([1, 0, 2, 1], np.int32)
    graph = as_graph(offsets=offsets, targets=targets)
    targets[1] = 1  # 1 - 0 is an edge from 0 alone
    verdict = validate(graph, bfs(graph, 2, engine="cpu:sequential"))
    assert (verdict.rule, verdict.vertex) == ("edge-reach", 0)
    assert "from a vertex at distance 1" in str(verdict)


@pytest.mark.parametrize("predecessors", [[-1, 2, 1], [-1, 7, 1], [-1, -2, 1], [-1, -1, 1]])
def test_a_path_along_predecessors_that_were_changed(predecessors):
    """It neither goes round for ever nor out of the array."""
    result = bfs("path:3", 0)
    result.predecessors[:] = predecessors
    with pytest.raises(InputError, match="the predecessors lead from 2 to no source"):
        result.path_to(2)


@pytest.mark.parametrize("vertices", NO_NUMBERS, ids=repr)
def test_what_is_no_number_of_vertices_is_refused(vertices):
    refused(as_graph, ([0, 1], [1, 2]), vertices=vertices)


TABLE = {"vertex": [0, 1, 2], "distance": [0, 1, 2], "predecessor": [-1, 0, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"distance": ["0", "1", "2"]}, "column 'distance': distances are whole numbers"),
        ({"distance": [0, 1, None]}, r"row 2 \(from 0\): null is not a distance"),
        ({"distance": [0, 1, 1.5]}, "column 'distance': distances are whole numbers"),
        ({"distance": [0, 1, 2**32]}, r"row 2 \(from 0\): 4294967296 is not a distance"),
        ({"distance": [False, True, True]}, "column 'distance': distances are whole numbers"),
        ({"distance": [[0], [1], [2]]}, "column 'distance': distances are whole numbers"),
        ({"predecessor": [-1, 0, 7]}, "7 is not a vertex"),
        ({"predecessor": ["", "0", "1"]}, "'' is not a vertex"),
        ({"vertex": [0, 1, 1]}, "must hold each vertex of path:3 once"),
        ({"vertex": ["0", "1", "2"]}, "'0' is not a vertex"),
        ({"vertex": [0, 1, None]}, "None is not a vertex"),
    ],
)
def test_a_table_that_is_no_result_is_refused(change, message):
    graph = as_graph("path:3")
    assert validate(graph, from_frame(graph, pa.table(TABLE), "r.csv"))
    with pytest.raises(InputError, match=message):
        from_frame(graph, pa.table(TABLE | change), "r.csv")


def test_a_table_with_a_column_twice_is_refused():
    twice = pa.Table.from_arrays([pa.array([0, 1, 2])] * 3, names=["vertex", "distance", "distance"])
    with pytest.raises(InputError, match=r"r\.csv has 2 columns 'distance': leave one"):
        from_frame(as_graph("path:3"), twice, "r.csv")
