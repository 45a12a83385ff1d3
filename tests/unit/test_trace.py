"""What a search says of its levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

from rapids_bfs import bfs, load
from rapids_bfs.generators import generate
from rapids_bfs.report.console import as_text
from rapids_bfs.report.table import trace_table
from rapids_bfs.trace import Level, Trace, steps_noted


@pytest.mark.parametrize("engine", ["cpu", "cpu:sequential", "scipy"])
@given(st.data())
def test_every_expanded_frontier_is_a_level(engine, data):
    """Frontiers against an oracle; also the last one, which finds nothing."""
    graph = data.draw(graphs(min_vertices=1))
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=3, unique=True))
    limit = data.draw(st.none() | st.integers(0, 4))
    ids = graph.ids_of(np.array(sources)).tolist()
    target = data.draw(st.none() | st.integers(0, graph.num_vertices - 1)) if limit is None else None
    name = None if target is None else graph.ids_of(np.array([target])).tolist()[0]
    result = bfs(graph, ids, engine=engine, depth_limit=limit, target=name, trace=True)
    expected = oracle_distances(graph, sources)
    if target is not None and expected[target] >= 0:
        limit = int(expected[target])
    depth = int(expected.max()) if limit is None else min(int(expected.max()), limit)
    at = [int((expected == distance).sum()) for distance in range(depth + 1)]
    found = [level.newly_reached for level in result.trace]
    assert [level.frontier_vertices for level in result.trace][: len(at)] == at[: len(result.trace)]
    assert found in (at[1:], [*at[1:], 0])
    assert (found != at[1:]) == (limit is None or limit > depth)
    if engine == "cpu":
        assert {level.direction for level in result.trace} <= {"top-down", "bottom-up"}
        assert all(level.milliseconds >= 0 for level in result.trace)


def test_a_skewed_graph_is_searched_in_both_directions():
    graph = load("rmat:12")
    trace = bfs(graph, int(graph.degrees.argmax()), engine="cpu", trace=True).trace
    assert {level.direction for level in trace} == {"top-down", "bottom-up"}
    assert sum(level.newly_reached for level in trace) + 1 == bfs(graph, int(graph.degrees.argmax())).num_reached


def test_a_thin_frontier_stays_top_down_though_little_is_left():
    for mesh in "grid:300", "grid3d:25":
        trace = bfs(generate(mesh), 0, engine="cpu", trace=True).trace
        assert {level.direction for level in trace} == {"top-down"}


def test_a_trace_is_of_one_search_and_follows_no_other():
    graph = load("path:9")
    assert len(bfs(graph, 0, engine="cpu", trace=True).trace) == 9
    assert len(bfs(graph, 4, engine="cpu", trace=True).trace) == 5
    assert len(bfs(graph, 4, engine="cpu", trace=True, deterministic=True).trace) == 5  # the queue notes no steps
    assert bfs(graph, 0, engine="cpu").trace is None


@pytest.mark.parametrize(
    ("engine", "options", "name"),
    [
        ("cpu", {}, "cpu:direction-optimizing"),
        ("cpu", {"deterministic": True}, "cpu:direction-optimizing, deterministic"),
        ("scipy", {}, "scipy:csgraph"),
        (" cpu:sequential", {}, "cpu:sequential"),
    ],
)
def test_a_trace_names_the_engine_and_the_algorithm(engine, options, name):
    trace = bfs("path:3", 0, engine=engine, trace=True, **options).trace
    assert trace.engine == name
    assert repr(trace).endswith(f" by {name}>")


def test_what_an_engine_does_not_tell_has_no_column():
    told = bfs("karate", 0, engine="cpu", trace=True).trace
    untold = bfs("karate", 0, engine="scipy", trace=True).trace
    assert "direction" in as_text_of(told)
    assert "µs" in as_text_of(told)
    assert "direction" not in as_text_of(untold)
    assert "s \n" not in as_text_of(untold).replace("vertices \n", "")


def as_text_of(trace):
    from rich.console import Group

    return as_text(Group(trace_table(trace.to_columns())))


@given(st.lists(st.tuples(st.integers(0, 10**9), st.booleans()), min_size=1), st.sampled_from([np.int64, np.uint64]))
def test_notes_of_kernels(levels, dtype):
    moment, notes = 5, [2 * 5]
    for ticks, bottom_up in levels:
        moment += ticks
        notes.append(2 * moment + bottom_up)
    steps = steps_noted(np.array(notes, dtype), 1000)
    assert [step.milliseconds for step in steps] == [ticks / 1000 for ticks, _ in levels]
    assert [step.direction == "bottom-up" for step in steps] == [bottom_up for _, bottom_up in levels]


def test_one_level_is_one():
    assert repr(Trace([Level(1, 1, 1, 1, None, None)])) == "<Trace of 1 level>"
