"""Results that were changed or read from a table get a verdict, or one `InputError`; and which results are equal."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

from rapids_bfs import InputError, as_graph, bfs, bfs_batch, validate
from rapids_bfs.result import BFSResult, from_frame

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
    ("change", "message"),
    [
        ({"distances": [0, 1, 1, 2, -1, -1, -1]}, "distances must be an array of 7 signed integers"),
        ({"distances": np.zeros((7, 1), np.int32)}, "distances must be an array of 7 signed integers"),
        ({"distances": np.full(7, np.nan)}, "distances must be an array of 7 signed integers"),
        ({"predecessors": np.zeros(6, np.int32)}, "predecessors must be an array of 7 signed integers"),
        ({"sources": np.array([7])}, "7, a source or target, is not one of the 7 vertices"),
        ({"sources": np.array([-1])}, "-1, a source or target, is not one of the 7 vertices"),
        ({"sources": np.array([0.0])}, "sources must be a one-dimensional array of integers"),
        ({"sources": None}, "sources must be a one-dimensional array of integers"),
        ({"target": 7}, "7, a source or target, is not one of the 7 vertices"),
        ({"target": "x"}, "target must be a whole number, not 'x'"),
        ({"depth_limit": -5}, "depth_limit must be at least 0, not -5"),
    ],
    ids=repr,
)
def test_a_result_that_cannot_be_held_against_the_graph_is_refused(change, message):
    graph = as_graph("path:7")
    with pytest.raises(InputError, match=message):
        validate(graph, replace(bfs(graph, 0), **change))


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
        ({"vertex": [0, 1, None]}, r"row 2 \(from 0\): null is not a vertex"),
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


@given(st.data())
def test_equal_results_are_equal(data):
    graph = data.draw(graphs(min_vertices=2))
    source, other = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=2, max_size=2, unique=True))
    ids = graph.ids_of(np.array([source, other])).tolist()
    one, again = bfs(graph, ids[0], deterministic=True), bfs(graph, ids[0], deterministic=True)
    assert (one == again) is (again == one.copy()) is True
    assert one != bfs(graph, ids[1], deterministic=True)
    assert one != bfs(graph, ids[0], deterministic=True, predecessors=False)
    assert one != replace(one, distances=one.distances + 1)
    assert one != replace(one, depth_limit=3)
    assert one == bfs(graph, ids[0], deterministic=True, trace=True)
    assert one != 3
    assert ((batch := bfs_batch(graph, ids)) == bfs_batch(graph, ids)) is True
    assert batch != bfs_batch(graph, ids[::-1])
    assert batch != bfs_batch(graph, ids, keep="summary")


def test_results_of_two_graphs_differ():
    graph = as_graph("karate")
    result = bfs(graph, 0)
    assert bfs(as_graph("karate"), 0) != result
    assert bfs_batch(graph, [0]) != result
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)
