"""Betweenness of vertices and arcs, whole and in part, against NetworkX."""

from collections import Counter
from itertools import chain, pairwise

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graphs

from rapids_bfs import InputError, as_graph, betweenness
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


def shares_of_arcs(nx_graph, sources, targets):
    """Of all shortest paths from each source to each other target, the fraction that takes an arc, summed up by arc.

    NetworkX's `edge_betweenness_centrality_subset` differs: it gives all arcs into a vertex that is no target the same
    share of the paths through it.
    """
    sums = Counter()
    for source in sources:
        reached = nx.descendants(nx_graph, source)
        for target in reached.intersection(targets):
            paths = list(nx.all_shortest_paths(nx_graph, source, target))
            for arc in chain.from_iterable(map(pairwise, paths)):
                sums[arc] += 1 / len(paths)
    return sums


@settings(max_examples=100)
@given(data=st.data())
def test_of_arcs(data):
    graph, nx_graph = data.draw(simple_graphs())
    some = st.none() | st.lists(st.integers(0, graph.num_vertices - 1), max_size=6)
    sources, targets = data.draw(some), data.draw(some)
    everyone = list(nx_graph)
    expected = shares_of_arcs(
        nx_graph, everyone if sources is None else sources, everyone if targets is None else targets
    )
    found = betweenness(graph, sources, targets=targets, edges=True, engine="cpu")
    tails = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    arcs = zip(tails.tolist(), graph.targets.tolist(), strict=True)
    np.testing.assert_allclose(found, [expected[arc] for arc in arcs], atol=1e-12)


def test_more_paths_take_an_arc_out_of_a_vertex_that_more_lead_to():
    """Also before a vertex that is no target, where NetworkX gives 1/2 to either."""
    arcs = [tuple(ends) for ends in ("sa", "sb", "sc", "ad", "bd", "ce", "dx", "ex", "xt")]
    graph = as_graph(arcs)
    found = betweenness(graph, ["s"], targets=["t"], edges=True, engine="cpu")
    tails, heads = (ends.tolist() for ends in graph.to("edges"))
    shares = dict(zip(zip(tails, heads, strict=True), found, strict=True))
    assert [shares[arc] for arc in arcs] == pytest.approx([1 / 3] * 6 + [2 / 3, 1 / 3, 1])


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
