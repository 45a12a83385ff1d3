"""Views through NetworkX's own filters are filtered from the conversion of the graph below, as if they were read."""

import copy
import pickle
import random

import networkx as nx
import numpy as np
import pytest
from networkx import filters
from nx_calls import CLASSES, random_graph

from rapids_bfs.nx import conversions
from rapids_bfs.nx.cache import cached_conversion
from rapids_bfs.nx.conversions import ConvertedView, converted
from rapids_bfs.nx.graph import ConvertedGraph

GRAPHS = 60  # of each class


def edge_filters(graph):
    """NetworkX's makers of filters for the edges of such a graph, those for undirected graphs too."""
    names = ("multiedges", "multidiedges") if graph.is_multigraph() else ("edges", "diedges")
    names = names if graph.is_directed() else names[:1]
    return [getattr(filters, f"{verb}_{name}") for verb in ("hide", "show") for name in names]


def some(rng, items):
    return rng.sample(items, rng.randint(0, len(items)))


def edges_of(graph):
    return list(graph.edges(keys=True) if graph.is_multigraph() else graph.edges)


def view_of(rng, graph):
    """A view through filters of NetworkX's own, some of whose sets have nodes that are not in the graph."""
    nodes, edges = list(graph), edges_of(graph)
    listed = some(rng, nodes)
    edge = rng.choice([filters.no_filter, rng.choice(edge_filters(graph))(some(rng, edges))])
    node = rng.choice([filters.no_filter, filters.show_nodes, filters.hide_nodes])
    if node is not filters.no_filter:
        node = node([*listed, *rng.choice([(), ("elsewhere",), (10**6, -1)])])
    kinds = [
        lambda: graph.subgraph(listed),
        lambda: graph.edge_subgraph(some(rng, edges)),
        lambda: nx.restricted_view(graph, listed[:2], some(rng, edges)),
        lambda: nx.induced_subgraph(graph, listed),
        lambda: nx.subgraph_view(graph, filter_node=node, filter_edge=edge),
    ]
    return rng.choice(kinds)()


def shown_by_networkx(view):
    """Nodes in order, and the neighbours of each in order, forward and backward."""
    rows = [view._adj, view._pred] if view.is_directed() else [view._adj, view._adj]
    return list(view), *({node: list(row) for node, row in each.items()} for each in rows)


def shown_by(conversion):
    rows = [
        {
            node: conversion.nodes_at(edges.targets[begin:end])
            for node, begin, end in zip(conversion.nodes.tolist(), edges.offsets, edges.offsets[1:], strict=False)
        }
        for edges in (conversion.forward, conversion.backward)
    ]
    return conversion.nodes.tolist(), *rows


def in_order(shown):
    nodes, *rows = shown
    return nodes, [list(each.items()) for each in rows]


@pytest.mark.parametrize("cls", CLASSES)
def test_shows_what_networkx_shows_in_its_order(cls):
    filtered = 0
    for seed in range(GRAPHS):
        rng = random.Random(f"{cls} {seed}")
        view = view_of(rng, random_graph(rng, cls, most_nodes=rng.choice([4, 12]), min_nodes=1))
        for _ in range(rng.choice([0, 0, 1, 2])):
            view = view_of(rng, view)
        found = converted(view)
        assert in_order(shown_by(found)) == in_order(shown_by_networkx(view)), f"seed {seed}"
        assert found.num_edges == view.number_of_edges()
        filtered += isinstance(found, ConvertedView)
    assert filtered > GRAPHS / 3


@pytest.mark.parametrize("cls", [nx.MultiGraph, nx.MultiDiGraph])
def test_a_long_row_of_a_multigraph_is_in_the_order_of_the_set(cls):
    star = cls([(0, node) for node in (40, 8, 33, 16, 1, 9, 57)] + [(8, 40), (40, 8), (0, 0)])
    for nodes in ([40, 0, 8], [16, 0, 8], [8, 16, 0]):
        for view in (star.subgraph(nodes), nx.restricted_view(star.subgraph(nodes), [], [(8, 40, 0)])):
            found = converted(view)
            assert isinstance(found, ConvertedView)
            assert in_order(shown_by(found)) == in_order(shown_by_networkx(view))


@pytest.mark.parametrize("cls", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_are_hidden_when_all_are(cls, monkeypatch):
    monkeypatch.setattr(conversions, "FEW_ARCS", 0)
    graph = cls([(0, 1), (0, 1), (1, 2), (2, 0), (2, 2), (2, 2)])
    for edges in ([(0, 1, 0)], [(0, 1, 0), (0, 1, 1)], [(2, 2, 0), (2, 2, 1), (0, 2, 0)], [(0, 9, 0), (0, 1, 7)]):
        for filter in edge_filters(graph):
            view = nx.subgraph_view(graph, filter_edge=filter(edges))
            found = converted(view)
            assert isinstance(found, ConvertedView)
            assert in_order(shown_by(found)) == in_order(shown_by_networkx(view))
            assert found.num_edges == view.number_of_edges()


class Marked(filters.show_nodes):
    """A filter of the user's own."""

    def __call__(self, node):
        return node != 2 and super().__call__(node)


def with_length(nodes):
    filter = filters.show_nodes(nodes)
    filter.length = len(nodes)
    return filter


@pytest.mark.parametrize(
    "shown",
    [
        {"filter_node": Marked([1, 2, 3])},
        {"filter_node": with_length({1, 2, 3})},
        {"filter_node": {1, 2, 3}.__contains__},
        {"filter_node": filters.show_nodes([1.0, 2])},  # the nodes of this view are the set's
        {"filter_edge": lambda tail, head: tail < 3 and head < 3},
        {"filter_edge": filters.hide_edges(["ab", (1, 2)])},
    ],
    ids=lambda shown: next(iter(shown)),
)
def test_another_filter_is_asked(shown):
    graph = nx.path_graph(6)
    nx.add_path(graph, "ab")
    view = nx.subgraph_view(graph, **shown)
    assert not isinstance(converted(view), ConvertedView)
    for source in list(view)[:1]:
        ours, theirs = (list(nx.bfs_edges(view, source, backend=each)) for each in ("rapids_bfs", "networkx"))
        assert ours == theirs


@pytest.mark.parametrize(
    "shown",
    [
        {"filter_node": filters.hide_edges([])},
        {"filter_edge": filters.hide_nodes([])},
        {"filter_edge": filters.show_nodes([1])},
        {"filter_edge": filters.hide_multiedges([])},
    ],
)
def test_a_filter_of_another_kind_of_graph_fails_as_in_networkx(shown):
    view = nx.subgraph_view(nx.path_graph(4), **shown)
    for backend in ("networkx", "rapids_bfs"):
        with pytest.raises(TypeError, match="argument"):
            nx.descendants(view, 1, backend=backend)


class TestChanges:
    @pytest.fixture(autouse=True)
    def filtered(self, monkeypatch):
        """Views are not read."""
        monkeypatch.setattr(conversions, "ConvertedGraph", Plain)

    def answers_are_alike(self, view, source):
        ours, theirs = (nx.descendants(view, source, backend=each) for each in ("rapids_bfs", "networkx"))
        assert ours == theirs
        return ours

    @pytest.mark.parametrize("cls", CLASSES)
    def test_of_the_graph_below(self, cls):
        graph = nx.path_graph(8, cls)
        view = nx.restricted_view(graph.subgraph(range(6)), [4], [])
        for change in (
            lambda: None,
            lambda: graph.add_edge(1, 5),
            lambda: graph.remove_edge(0, 1),
            lambda: graph.add_edge(0, 3),
            lambda: graph.remove_node(3),
            lambda: graph.add_edge(0, 4),
        ):
            change()
            self.answers_are_alike(view, 0)
            assert isinstance(cached_conversion(view), ConvertedView)
            assert cached_conversion(view).below.origin is view._graph

    def test_of_the_set_of_nodes(self):
        graph = nx.path_graph(100)
        shown = filters.show_nodes(range(50))
        view = nx.subgraph_view(graph, filter_node=shown)
        below = nx.restricted_view(view, [60], [])
        for change in (
            lambda: None,
            lambda: shown.nodes.add(50),
            lambda: shown.nodes.discard(40),
            lambda: shown.nodes.symmetric_difference_update({20, 40}),  # as many as before
            lambda: setattr(shown, "nodes", set(range(70))),
            lambda: setattr(shown, "nodes", set(range(69)) | {71}),
        ):
            change()
            self.answers_are_alike(view, 5)
            self.answers_are_alike(below, 5)

    def test_between_two_items(self):
        shown = filters.show_nodes(range(50))
        edges = nx.bfs_edges(nx.subgraph_view(nx.path_graph(100), filter_node=shown), 0, backend="rapids_bfs")
        for _ in range(10):
            next(edges)
        shown.nodes.discard(30)
        assert list(edges)[-1] == (28, 29)

    def test_a_view_that_is_copied_or_pickled_has_a_graph_of_its_own(self):
        graph = nx.path_graph(9)
        view = graph.subgraph(range(7))
        assert self.answers_are_alike(view, 0) == set(range(1, 7))
        for twin in (pickle.loads(pickle.dumps(view)), copy.deepcopy(view)):
            assert self.answers_are_alike(twin, 0) == set(range(1, 7))
            twin._graph.remove_edge(2, 3)
            assert self.answers_are_alike(twin, 0) == {1, 2}
            assert self.answers_are_alike(view, 0) == set(range(1, 7))
        twin = copy.copy(view)
        graph.remove_edge(4, 5)
        assert self.answers_are_alike(twin, 0) == self.answers_are_alike(view, 0) == {1, 2, 3, 4}

    def test_a_graph_that_was_given_other_dicts(self):
        graph = nx.path_graph(5)
        view = graph.subgraph(range(4))
        graph._adj = nx.cycle_graph(5)._adj
        nx.descendants(graph, 0, backend="rapids_bfs")
        assert not isinstance(converted(view), ConvertedView)
        self.answers_are_alike(view, 0)


class Plain(ConvertedGraph):
    """What `converted` makes when it reads a graph."""


class TestCost:
    def test_a_graph_below_that_is_converted_is_not_read_again(self, monkeypatch):
        graph = nx.gnp_random_graph(100, 0.1, seed=1)
        nx.descendants(graph, 0, backend="rapids_bfs")
        monkeypatch.setattr(ConvertedGraph, "_compressed", None)
        for view in (graph.subgraph([0, 1, 2]), nx.restricted_view(graph, [1], []), graph.edge_subgraph([(0, 1)])):
            assert isinstance(converted(view), ConvertedView)

    def test_a_large_graph_is_not_read_for_a_small_view(self):
        graph = nx.path_graph(1000)
        assert not isinstance(converted(graph.subgraph(range(5))), ConvertedView)
        assert cached_conversion(graph) is None
        assert isinstance(converted(graph.subgraph(range(500))), ConvertedView)
        assert cached_conversion(graph) is not None
        assert isinstance(converted(graph.subgraph(range(5))), ConvertedView)

    def test_a_view_shares_the_nodes_below_if_it_shows_all(self):
        graph = nx.gnp_random_graph(50, 0.2, seed=1)
        view = converted(nx.restricted_view(graph, [], list(graph.edges)[:7]))
        assert view.nodes is view.below.nodes
        np.testing.assert_array_equal(view.chosen, np.arange(50))
