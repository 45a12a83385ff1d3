"""Ends of walks, against powers of the matrix of edges."""

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs

from rapids_bfs import as_graph
from rapids_bfs.algorithms import walks

HOPS = st.integers(1, 40) | st.integers(1, 10**30)


def power(matrix, exponent):
    """The walks of this many edges, as a matrix of bools, by repeated squaring."""
    found = np.eye(len(matrix), dtype=int)
    while exponent:
        if exponent % 2:
            found = (found @ matrix > 0).astype(int)
        matrix, exponent = (matrix @ matrix > 0).astype(int), exponent // 2
    return found > 0


@given(
    st.data(),
    graphs(min_vertices=1, max_vertices=12, max_edges=30),
    HOPS,
    st.sampled_from([3, walks.MANY_WALKS]),
    st.sampled_from([0, 1, walks.SPREAD]),
)
def test_ends_of_walks(data, graph, hops, most, spread):
    starts = np.array(data.draw(st.lists(st.integers(0, len(graph) - 1), min_size=1, max_size=6)))
    matrix = np.zeros((len(graph), len(graph)), int)
    matrix[np.repeat(np.arange(len(graph)), graph.degrees), graph.targets] = 1
    with mock.patch.multiple(walks, MANY_WALKS=most, SPREAD=spread):
        position, ends = walks.walk_ends(graph, starts, hops)
    expected = np.nonzero(power(matrix, hops)[starts])
    np.testing.assert_array_equal((position, ends), expected)


def test_walks_around_cycles_of_several_lengths():
    """Their ends recur after 2 * 3 * 5 * 7 edges."""
    edges, first = [], 0
    for length in (2, 3, 5, 7):
        edges += [(first + i, first + (i + 1) % length) for i in range(length)]
        first += length
    graph = as_graph(edges)
    _, ends = walks.walk_ends(graph, np.arange(first), 10**30)
    _, expected = walks.walk_ends(graph, np.arange(first), 10**30 % 210)
    np.testing.assert_array_equal(ends, expected)
