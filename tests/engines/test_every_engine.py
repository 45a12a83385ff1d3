"""Every engine that is registered and can run here, with the fixture that other projects use."""

from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from midst import assert_safe_in_the_midst
from strategies import oracle_distances

from rapids_bfs import as_graph, bfs, bfs_batch
from rapids_bfs._core.cuda.arrays import to_host
from rapids_bfs.engines.gpu.simulator import simulated
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


def test_edge_data_do_not_matter(bfs_engine):
    """Not even of an undirected graph whose arcs carry other data each way."""
    graph = as_graph("grid:4")
    carrying = graph.replace(edge_data={"time": np.arange(graph.num_arcs)})
    assert_same_distances(bfs(carrying, 0, engine=bfs_engine), oracle_distances(graph, [0]))


SEARCHES = {
    "bfs": lambda graph, vertex, engine: to_host(bfs(graph, vertex, engine=engine).distances),
    "bfs_batch": lambda graph, vertex, engine: bfs_batch(graph, [vertex, vertex + 2], engine=engine).distances,
}


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_in_the_midst_of_others(bfs_engine, name):
    """With the engine's buffers they overwrote the answer, without a word."""
    graph, other = as_graph("rmat:6"), as_graph("grid:4")
    others = "cpu" if simulated() else bfs_engine  # the simulator runs one search at a time
    assert_safe_in_the_midst(
        lambda vertex: SEARCHES[name](graph, vertex, bfs_engine), lambda: SEARCHES[name](other, 0, others)
    )


def test_threads_take_turns(bfs_engine):
    graphs_searched = [as_graph("rmat:6"), as_graph("grid:4")]
    asked = [(graph, source) for source in range(6) for graph in graphs_searched]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda each: to_host(bfs(*each, engine=bfs_engine).distances), asked))
    for each, distances in zip(asked, found, strict=True):
        np.testing.assert_array_equal(distances, oracle_distances(each[0], [each[1]]))
