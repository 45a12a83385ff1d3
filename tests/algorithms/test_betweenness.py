"""Betweenness of vertices and arcs, whole and in part, against NetworkX."""

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graphs

from rapids_bfs import InputError, betweenness
from rapids_bfs.generators import generate


def simple_graphs():
    """`graphs` as NetworkX holds them, without parallel edges and loops, and the same as ours."""
    return graphs(min_vertices=1).map(lambda graph: graph.simple).map(lambda graph: (graph, graph.to("networkx")))


def both_ways(graph, values):
    """NetworkX counts a pair of an undirected graph once."""
    return np.array(values) * (1 if graph.directed else 2)


@settings(max_examples=100)
@given(pair=simple_graphs(), endpoints=st.booleans())
def test_of_vertices(pair, endpoints):
    graph, nx_graph = pair
    expected = nx.betweenness_centrality(nx_graph, normalized=False, endpoints=endpoints)
    found = betweenness(graph, endpoints=endpoints, engine="cpu")
    np.testing.assert_allclose(found, both_ways(graph, list(expected.values())), atol=1e-12)


@settings(max_examples=100)
@given(data=st.data())
def test_of_vertices_between_some(data):
    graph, nx_graph = data.draw(simple_graphs())
    some = st.lists(st.integers(0, graph.num_vertices - 1), max_size=6)
    sources, targets = data.draw(some), data.draw(some)
    expected = nx.betweenness_centrality_subset(nx_graph, sources, targets)
    found = betweenness(graph, sources, targets=targets, engine="cpu")
    np.testing.assert_allclose(found, both_ways(graph, list(expected.values())), atol=1e-12)


@settings(max_examples=100)
@given(data=st.data())
def test_of_arcs(data):
    graph, nx_graph = data.draw(simple_graphs())
    some = st.none() | st.lists(st.integers(0, graph.num_vertices - 1), max_size=6)
    sources, targets = data.draw(some), data.draw(some)
    everyone = list(nx_graph)
    expected = nx.edge_betweenness_centrality_subset(
        nx_graph, everyone if sources is None else sources, everyone if targets is None else targets
    )
    found = betweenness(graph, sources, targets=targets, edges=True, engine="cpu")
    assert found.shape == (graph.num_arcs,)
    ends = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets)), graph.targets
    sums = dict.fromkeys(expected, 0.0)
    for value, u, v in zip(found, *(each.tolist() for each in ends), strict=True):
        sums[(u, v) if (u, v) in sums else (v, u)] += value
    np.testing.assert_allclose(list(sums.values()), both_ways(graph, list(expected.values())), atol=1e-12)


def test_threads_share_the_sources():
    graph = generate("rmat:8")
    found = []
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            found.append(betweenness(graph, engine="cpu"))
        finally:
            numba.set_num_threads(before)
    np.testing.assert_allclose(found[0], found[1])


def test_an_arc_that_is_there_twice_is_two_paths():
    twice = ([0, 0, 0, 1, 2], [1, 1, 2, 3, 3])
    assert betweenness(twice, [0], targets=[3], engine="cpu").tolist() == [0, 2 / 3, 1 / 3, 0]


def test_an_engine_without_it_says_so():
    with pytest.raises(InputError, match="engine 'scipy' has no betweenness: use the engine 'cpu'"):
        betweenness("karate", engine="scipy")
