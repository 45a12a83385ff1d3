"""A conversion holds only as long as its graph is what it was, where it was, and is never believed without a look."""

import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
from nx_calls import CLASSES

from rapids_bfs.nx import convert_from_nx
from rapids_bfs.nx.graph import ConvertedGraph

BACKEND = "rapids_bfs"
CHANGES = [
    lambda graph: graph.add_edge(0, 4),
    lambda graph: graph.remove_edge(0, 1),
    lambda graph: graph.add_node("new"),
    lambda graph: graph.remove_node(3),
    lambda graph: graph.add_edges_from([(1, 4)]),
    lambda graph: graph.clear_edges(),
]


class TestIsCurrent:
    @pytest.mark.parametrize("cls", CLASSES)
    def test_until_the_graph_changes(self, cls):
        for change in CHANGES:
            graph = nx.path_graph(5, cls)
            views = [graph, graph.subgraph(range(5)), graph.subgraph(range(5)).to_undirected(as_view=True)]
            held = [ConvertedGraph(each) for each in views]
            assert all(each.is_current for each in held)
            change(graph)
            assert not any(each.is_current for each in held)
            assert all(ConvertedGraph(each).is_current for each in views)

    @pytest.mark.parametrize("kept", [True, False])
    def test_a_conversion_that_is_held_answers_for_the_graph_as_it_is_now(self, kept):
        with nx.config(cache_converted_graphs=kept):
            graph = nx.path_graph(5)
            held = convert_from_nx(graph)
            for change in CHANGES:
                assert nx.descendants(held, 0) == nx.descendants(graph, 0, backend="networkx")
                change(graph)

    def test_nothing_tells_that_a_graph_without_a_cache_changes(self):
        graph = nx.path_graph(5)
        graph.__networkx_cache__ = None
        assert not ConvertedGraph(graph).is_current
        assert nx.descendants(graph, 0, backend=BACKEND) == {1, 2, 3, 4}
        graph.remove_node(3)
        assert nx.descendants(graph, 0, backend=BACKEND) == {1, 2}


def test_under_a_debug_allocator():
    """What could crash, in a process of its own: memory that is written to beyond its end, or used when it is free,
    is seen there."""
    checks = [Path(__file__).with_name(name) for name in ("memory_checks.py", "dicts_checks.py")]
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    command = [sys.executable, "-X", "faulthandler", "-m", "pytest", *options, *checks]
    environment = os.environ | {"PYTHONMALLOC": "debug"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
