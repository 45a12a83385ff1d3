"""Searches of distributed graphs, against SciPy on the graph in one piece."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import expected_distances
from strategies import edges_of, graphs

from rapids_bfs import bfs, validate
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.testing import assert_valid_bfs


@st.composite
def searches(draw, graph):
    n = graph.num_vertices
    vertices = st.integers(0, n - 1)
    return {
        "source": draw(st.lists(vertices, min_size=1, max_size=4, unique=True)),
        "depth_limit": draw(st.none() | st.integers(0, 4)),
        "target": draw(st.none() | vertices),
        "predecessors": draw(st.booleans()),
    }


def assert_searched(graph, whole, options):
    """The search finds the distances of Dijkstra on the whole graph, and is valid distributed and in one piece."""
    result = bfs(graph, **options)
    expected = expected_distances(whole, options["source"], options["depth_limit"], options["target"])
    assert validate(graph, result)
    brought = result.to("cpu")
    np.testing.assert_array_equal(brought.distances, expected)
    assert_valid_bfs(brought.graph, brought)
    assert (brought.predecessors is not None) == options["predecessors"]
    assert (result.num_reached, result.depth) == (brought.num_reached, brought.depth)
    assert result.num_traversed_edges == brought.num_traversed_edges
    assert result.stopped_at == brought.stopped_at
    farthest = int(expected.argmax())
    assert result.distance_to(farthest) == expected[farthest]
    if options["predecessors"]:
        assert len(result.path_to(farthest)) == expected[farthest] + 1
    assert result.to_frame().equals(brought.to_frame())


def assert_random_graphs_are_searched(launcher, examples):
    """Of all shapes; some have fewer vertices than there are ranks."""

    @settings(max_examples=examples)
    @given(data=st.data(), whole=graphs(min_vertices=1, max_vertices=40, max_edges=160))
    def check(data, whole):
        graph = from_graph(whole, launcher)
        assert edges_of(graph.to("cpu")) == edges_of(whole)
        assert_searched(graph, whole, data.draw(searches(whole)))

    check()
