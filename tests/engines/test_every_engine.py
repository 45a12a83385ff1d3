"""Every engine that is registered and can run here, with the fixture that other projects use."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import oracle_distances

from rapids_bfs import as_graph, bfs
from rapids_bfs.testing import assert_same_distances, assert_valid_bfs, graphs


@settings(max_examples=40)
@given(data=st.data())
def test_random_graphs(bfs_engine, data):
    graph = data.draw(graphs(min_vertices=1))
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    result = bfs(graph, source, engine=bfs_engine)
    assert_valid_bfs(graph, result)
    assert_same_distances(result, oracle_distances(graph, [source]))


@pytest.mark.parametrize("name", ["karate", "grid:12", "star:50", "rmat:8"])
def test_graphs_with_a_name(bfs_engine, name):
    graph = as_graph(name)
    for source in (0, graph.num_vertices - 1):
        result = bfs(graph, source, engine=bfs_engine)
        assert_valid_bfs(graph, result)
        assert_same_distances(result, nx.single_source_shortest_path_length(graph.to("networkx"), source))
