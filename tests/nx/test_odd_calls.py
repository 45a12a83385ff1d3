"""NetworkX's answers off the beaten path: odd arguments, graphs that are read in their own way, changes meanwhile.

RAPIDS_BFS_ODD_CALLS is how many random calls are made (`odd_calls`).
"""

import inspect
import math
import os
import random
import tracemalloc
from collections import UserDict
from decimal import Decimal
from itertools import islice

import networkx as nx
import numpy as np
import odd_calls
import pytest
from nx_calls import CALLS, CLASSES, VERSION, close, function, in_order, public

from rapids_bfs.nx import routing
from rapids_bfs.nx.algorithms import ego
from rapids_bfs.nx.cache import cached_conversion
from rapids_bfs.nx.classes import is_read_as_theirs
from rapids_bfs.nx.functions import FUNCTIONS
from rapids_bfs.nx.graph import ConvertedGraph, FallBack, levels

RANDOM_CALLS = int(os.environ.get("RAPIDS_BFS_ODD_CALLS", "600"))
BACKENDS = ("networkx", "rapids_bfs")
GENERATORS = [name for name in CALLS if inspect.isgeneratorfunction(inspect.unwrap(function(name).orig_func))]

FLAGGED = [name for name in CALLS if odd_calls.FLAGGED & inspect.signature(public(name)).parameters.keys()]


def ends_alike(call, consume=None):
    """Does ``call(backend)`` end alike with both? Returns how."""

    def all_of(value, items):
        items.extend(map(in_order, value))

    expected, found = (odd_calls.ending(lambda: call(backend), consume or all_of) for backend in BACKENDS)  # noqa: B023
    assert close(found, expected, strict=True), (found, expected)
    return expected


def test_random_calls():
    assert [found for seed in range(RANDOM_CALLS) if (found := odd_calls.difference(seed))] == []


def test_random_calls_of_graphs_that_count_as_large(monkeypatch):
    """Searched without an order, and made into sets and subgraphs by NumPy."""
    monkeypatch.setattr(routing, "WIDE", 0)
    monkeypatch.setattr(ego, "FEW_ARCS", 0)
    assert [found for seed in range(10**6, 10**6 + RANDOM_CALLS // 2) if (found := odd_calls.difference(seed))] == []


@pytest.mark.parametrize("name", CALLS)
def test_a_graph_that_cannot_be_searched_backward(name):
    """Whatever a call has done before it finds that out, iterators among its arguments included."""
    for seed in range(60):
        rng = random.Random(f"{name} {seed}")
        graph = odd_calls.one_way_graph(rng)
        args, kwargs = odd_calls.draw_call(name, rng, graph)
        iterated = {each for each in kwargs if isinstance(kwargs[each], list | set) and rng.random() < 0.5}

        def call(backend, graph=graph, args=args, kwargs=kwargs, iterated=iterated):
            given = {each: iter(value) if each in iterated else value for each, value in kwargs.items()}
            return public(name)(graph, *args, backend=backend, **given)

        ends_alike(call)


class TestLimits:
    @pytest.mark.parametrize("limit", odd_calls.LIMITS, ids=repr)
    @pytest.mark.parametrize("name", [name for name in CALLS if FUNCTIONS[name].limit])
    def test_any(self, name, limit):
        graph = nx.path_graph(5)
        ends = dict.fromkeys(FUNCTIONS[name].ends, 1) | {FUNCTIONS[name].limit: limit}
        ends_alike(lambda backend: public(name)(graph, backend=backend, **ends))

    def test_unreached_nodes_are_at_no_distance(self, monkeypatch):
        monkeypatch.setattr(routing, "WIDE", 0)
        graph = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(4))
        for _ in range(2):
            assert nx.descendants_at_distance(graph, 0, -1, backend="rapids_bfs") == set()

    def test_a_limit_is_a_number_of_levels_or_none_or_left(self):
        assert [levels(each) for each in (None, math.inf, 1e30, 10**400, 2**40)] == [None] * 5
        assert [levels(each) for each in (math.nan, -math.inf, -1, 0, False, np.float64("nan"))] == [0] * 6
        assert [levels(each) for each in (True, 1.5, np.int8(3), np.float32(0.5))] == [1, 2, 3, 1]
        for odd in ("x", [], 1j, np.array([1])):
            with pytest.raises(FallBack):
                levels(odd)


@pytest.mark.parametrize("kind", [set, frozenset, dict.fromkeys, tuple, list, iter, "".join])
@pytest.mark.parametrize("name", ["bfs_layers", "bfs_labeled_edges"])
def test_sources_of_any_kind_are_searched_in_their_order(name, kind):
    if kind is iter and VERSION < (3, 5):
        pytest.skip("NetworkX forgets what it has seen of an iterator")
    letters = [f"{chr(97 + i)}" for i in range(20)]
    graph = nx.relabel_nodes(nx.gnp_random_graph(20, 0.1, seed=1), dict(enumerate(letters)))
    for count in (0, 1, 7, 20):
        ends_alike(lambda backend, count=count: public(name)(graph, kind(letters[:count]), backend=backend))


@pytest.mark.parametrize("none", [math.nan, Decimal("NaN"), np.datetime64("NaT")], ids=repr)
def test_nodes_that_are_not_equal_to_themselves(none):
    graph = nx.relabel_nodes(nx.star_graph(4), {0: none})
    for over in (graph, graph.edge_subgraph(graph.edges)):
        ends_alike(lambda backend, over=over: nx.has_path(over, none, none, backend=backend))
        ends_alike(lambda backend, over=over: nx.betweenness_centrality(over, k=4, seed=1, backend=backend))
        ends_alike(lambda backend, over=over: list(nx.bfs_edges(over, none, backend=backend)))


class TestClasses:
    """A class that is read in its own way is left to NetworkX, and any other is searched here."""

    @pytest.mark.parametrize("way", odd_calls.WAYS)
    @pytest.mark.parametrize("base", CLASSES)
    def test_overridden(self, base, way):
        graph = odd_calls.odd_class(base, (way,), UserDict)([(0, 1), (0, 2), (2, 3), (3, 0)])
        for name in ("bfs_edges", "descendants", "shortest_path_length", "closeness_centrality", "transitive_closure"):
            ends = dict.fromkeys(FUNCTIONS[name].ends if not FUNCTIONS[name].per_vertex else (), 0)
            ends_alike(lambda backend, name=name, ends=ends: public(name)(graph, backend=backend, **ends))
        if way in ("colour", "add_node"):
            assert nx.descendants(ConvertedGraph(graph), 0) == {1, 2, 3}
            assert is_read_as_theirs(graph)
        elif not way.endswith("_factory"):
            assert not is_read_as_theirs(graph)

    def test_a_method_of_one_graph(self):
        graph = nx.path_graph(5)
        nx.descendants(graph, 0, backend="rapids_bfs")
        graph.neighbors = lambda node: iter([])
        assert list(nx.bfs_edges(graph, 0, backend="rapids_bfs")) == []
        del graph.neighbors
        assert len(list(nx.bfs_edges(graph, 0, backend="rapids_bfs"))) == 4

    def test_rows_that_are_no_dicts_of_a_class_like_any_other(self):
        class Rows(UserDict):
            pass

        graph = nx.path_graph(5)
        graph._adj[2] = Rows(graph._adj[2])
        with pytest.raises(FallBack):
            ConvertedGraph(graph)
        assert nx.descendants(graph, 0, backend="rapids_bfs") == {1, 2, 3, 4}

    def test_a_view_of_a_graph_of_a_class_like_any_other(self):
        class Own(nx.DiGraph):
            def extra(self):
                return 5

        graph = Own(nx.path_graph(6, nx.DiGraph))
        for view in (graph.subgraph(range(5)), graph.reverse(copy=False), graph.to_undirected(as_view=True)):
            assert is_read_as_theirs(view)
            assert is_read_as_theirs(nx.freeze(graph))

    def test_what_is_no_graph(self):
        for odd in ({0: [1]}, "graph", 5, [(0, 1)]):
            ends_alike(lambda backend, odd=odd: list(nx.bfs_edges(odd, 0, backend=backend)))

    def test_a_priority_leaves_such_a_class_alone(self):
        graph = odd_calls.odd_class(nx.Graph, ("neighbors",), dict)(nx.path_graph(5))
        with nx.config(backend_priority=["rapids_bfs"]), nx.config.backends.rapids_bfs(min_edges=0):
            list(nx.bfs_edges(graph, 2))
        assert cached_conversion(graph) is None


@pytest.mark.parametrize("name", GENERATORS)
class TestGenerators:
    def call(self, name, backend, graph, **wrong):
        ends = {each: [0] if each == "sources" else 0 for each in FUNCTIONS[name].ends} | wrong
        return public(name)(graph, backend=backend, **ends)

    def graph(self, name, edges=((0, 1), (4, 4), (1, 2), (2, 3), (3, 4), (5, 6), (7, 8), (0, 9), (9, 8))):
        directed = name.startswith(("weakly", "strongly"))
        return (nx.DiGraph if directed else nx.Graph)(edges)

    def test_is_one(self, name):
        values = self.call(name, "rapids_bfs", self.graph(name))
        assert inspect.isgenerator(values)
        assert values.__name__ == name
        next(values)
        values.close()
        with pytest.raises(StopIteration):
            next(values)
        values = self.call(name, "rapids_bfs", self.graph(name))
        next(values)
        with pytest.raises(ZeroDivisionError):
            values.throw(ZeroDivisionError())

    def test_fails_at_the_first_item(self, name):
        for end in FUNCTIONS[name].ends:
            for wrong in ("missing", [[]]):
                kind, *_ = ends_alike(lambda backend: self.call(name, backend, self.graph(name), **{end: wrong}))  # noqa: B023
                assert issubclass(kind, Exception)
            self.call(name, "rapids_bfs", self.graph(name), **{end: "missing"})

    def test_nothing_is_read_before_the_first_item(self, name, monkeypatch):
        monkeypatch.setattr(ConvertedGraph, "__init__", None)
        self.call(name, "rapids_bfs", self.graph(name))

    @pytest.mark.parametrize("kept", [False, True])
    def test_a_change_before_the_first_item_is_seen(self, name, kept):
        def changed(backend):
            graph = self.graph(name)
            if kept:
                list(self.call(name, backend, graph))
            items = self.call(name, backend, graph)
            graph.add_edge(4, 5)
            graph.add_edge(0, "new")
            return items

        ends_alike(changed)

    @pytest.mark.parametrize("at", [1, 2, 4])
    @pytest.mark.parametrize(
        "change",
        [
            lambda graph: graph.add_edge(8, 5),
            lambda graph: graph.add_edge(1, 4),
            lambda graph: graph.add_edge(0, 1, weight=5),
            lambda graph: graph.add_node(3, colour="red"),
            lambda graph: graph.add_node("new"),
            lambda graph: graph.remove_node(4),
            lambda graph: graph.remove_nodes_from([1, 4]),
            lambda graph: graph.remove_edge(0, 1),
            lambda graph: graph.clear(),
            lambda graph: graph.nodes[2].update(colour="red"),
        ],
    )
    def test_a_change_between_two_items_is_seen_as_networkx_sees_it(self, name, change, at):
        graphs = {}

        def call(backend):
            graphs[backend] = self.graph(name)
            return self.call(name, backend, graphs[backend])

        def consume(graph):
            def go_on(values, items):
                for value in values:
                    items.append(in_order(value))
                    if len(items) == at:
                        change(graph)

            return go_on

        expected, found = (
            odd_calls.ending(lambda: call(backend), lambda values, items: consume(graphs[backend])(values, items))  # noqa: B023
            for backend in BACKENDS
        )
        assert close(found, expected, strict=True), (found, expected)


def test_one_change_after_another():
    def call(backend):
        graph = nx.MultiDiGraph([(0, 1), (0, 2), (1, 3), (0, 4)])
        for place, component in enumerate(nx.strongly_connected_components(graph, backend=backend)):
            yield component
            graph.add_edge(2, 4) if place == 0 else graph.clear()

    kind, *_ = ends_alike(call)
    assert kind in (RuntimeError, KeyError)  # by the version of NetworkX


def test_an_attribute_in_place_is_no_change(caplog):
    caplog.set_level("DEBUG", logger="rapids_bfs.nx")
    graph = nx.path_graph(50)
    for _, node in nx.bfs_edges(graph, 0, backend="rapids_bfs"):
        graph.nodes[node]["seen"] = graph.edges[node, node - 1]["seen"] = True
    assert len(nx.get_node_attributes(graph, "seen")) == 49
    assert [record for record in caplog.records if record.name == "rapids_bfs.nx"] == []


def test_a_change_that_cannot_be_told_is_networkx_to_see():
    """A view that asks a function, and a graph without a cache."""
    for view in (nx.subgraph_view, lambda graph, **_: graph):
        graph = nx.path_graph(6)
        shown = view(graph, filter_node=lambda node: node != 4)
        graph.__networkx_cache__ = None
        edges = nx.bfs_edges(shown, 0, backend="rapids_bfs")
        next(edges)
        graph.add_edge(2, 5)
        assert (2, 5) in list(edges)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_graph_is_asked_about_while_its_edges_are_added(cls):
    """And about another one, which is still searched here."""
    graph, other, added = cls(), nx.path_graph(9), []
    graph.add_nodes_from(range(6))
    shown = graph.reverse(copy=False) if graph.is_directed() else graph.subgraph(range(6))
    ends = [(1, 0), (2, 1), (2, 0), (3, 2), (3, 0), (0, 3)]

    def without_a_path():
        for u, v in ends:
            assert list(nx.bfs_edges(other, 0, backend="rapids_bfs")) == list(nx.bfs_edges(other, 0))
            assert cached_conversion(other) is not None
            assert len({str(list(nx.bfs_edges(shown, 0, backend=each))) for each in BACKENDS}) == 1
            found, expected = (nx.has_path(graph, u, v, backend=each) for each in ("rapids_bfs", "networkx"))
            assert found == expected
            added.append(not found)
            if not found:
                yield u, v

    assert not nx.has_path(graph, 0, 1, backend="rapids_bfs")
    graph.add_edges_from(without_a_path())
    assert added == [True, True, False, True, False, graph.is_directed()]


@pytest.mark.parametrize("cls", CLASSES)
def test_what_a_failed_change_has_added_is_seen(cls):
    graph = cls([(0, 1)])
    assert nx.descendants(graph, 0, backend="rapids_bfs") == {1}
    with pytest.raises(ValueError, match="None"):
        graph.add_edges_from([(1, 2), (2, None)])
    assert nx.descendants(graph, 0, backend="rapids_bfs") == {1, 2}


def test_a_sight_is_lost_at_a_change_that_another_call_has_seen():
    graph = nx.path_graph(6)
    edges = nx.bfs_edges(graph, 0, backend="rapids_bfs")
    next(edges)
    graph.add_edge(2, 5)
    assert nx.has_path(graph, 0, 5, backend="rapids_bfs")
    assert (2, 5) in list(edges)


def test_all_pairs_of_a_graph_that_changes_are_still_searched_here(caplog):
    caplog.set_level("DEBUG", logger="rapids_bfs.nx")
    graph, expected = nx.path_graph(60), []
    for node, lengths in nx.all_pairs_shortest_path_length(graph, backend="rapids_bfs"):
        expected.append(nx.single_source_shortest_path_length(graph, node, backend="networkx"))
        assert list(lengths.items()) == list(expected[-1].items())
        if node % 10 == 0:
            graph.add_edge(node, (node + 17) % 60)
    assert len(expected) == 60
    assert [record for record in caplog.records if record.name == "rapids_bfs.nx"] == []


def test_all_pairs_of_a_graph_that_changes_into_one_that_is_left_to_networkx():
    for name in ("all_pairs_shortest_path_length", "all_pairs_shortest_path", "all_pairs_all_shortest_paths"):

        def call(backend, name=name):
            graph = nx.path_graph(6)
            for item in public(name)(graph, backend=backend):
                yield item
                if item[0] == 2:
                    graph.add_edge(True, 4.0)
                if item[0] == 3:
                    graph._adj[4] = UserDict(graph._adj[4])
                    graph.add_edge(2, 5)

        ends_alike(call)


def test_paths_are_the_callers_to_change():
    """Those to the next nodes are made of those to the last."""
    if VERSION < (3, 5):
        pytest.skip("nodes are not in the order of their distances")

    def call(backend):
        for node, paths in nx.single_source_all_shortest_paths(nx.grid_2d_graph(4, 5), (0, 0), backend=backend):
            yield node, [list(path) for path in paths]
            for path in paths:
                path.clear()
            paths.clear()

    ends_alike(call)


def test_paths_are_made_as_they_are_asked_for():
    """Two corners of a grid are joined by 184,756 paths; those to the nearest nodes are few."""
    paths = nx.single_source_all_shortest_paths(nx.grid_2d_graph(11, 11), (0, 0), backend="rapids_bfs")
    tracemalloc.start()
    try:
        assert len(list(islice(paths, 60))) == 60
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_an_unhashable_target_fails_when_the_first_path_is_asked_for():
    paths = nx.all_shortest_paths(nx.path_graph(3), 0, [1], backend="rapids_bfs")
    with pytest.raises(TypeError, match="unhashable"):
        next(paths)


@pytest.mark.parametrize("name", [name for name in CALLS if FUNCTIONS[name].ends])
@pytest.mark.parametrize("node", [True, 1.0, np.int64(1), np.float64(1), np.uint8(1), odd_calls.Decimal(1)], ids=repr)
def test_an_equal_node_is_the_callers_own_in_the_answer_where_it_is_with_networkx(name, node):
    for graph in (nx.path_graph(4), nx.DiGraph([(1, 0), (0, 1), (1, 2), (5, 1)]), nx.Graph([(1, 1), ("a", 1)])):
        own = next(each for each in graph if each == 1)
        others = {"target": 2} if name in ("all_shortest_paths", "predecessor") and 2 in graph else {}
        for given in (node, [own, node]):
            ends = dict.fromkeys(FUNCTIONS[name].ends, given)
            ends_alike(lambda backend, ends=others | ends, graph=graph: public(name)(graph, backend=backend, **ends))
        for end in FUNCTIONS[name].ends:
            ends = dict.fromkeys(FUNCTIONS[name].ends, 0) | {end: node} | others
            ends_alike(lambda backend, ends=ends, graph=graph: public(name)(graph, backend=backend, **ends))


def test_a_node_that_edges_name_by_an_equal_of_another_type():
    graph = nx.path_graph(4)
    graph.add_edge(np.int64(1), 3.0)
    for name in ("bfs_edges", "single_source_shortest_path", "betweenness_centrality", "descendants"):
        ends = dict.fromkeys(FUNCTIONS[name].ends, 0)
        ends_alike(lambda backend, name=name, ends=ends: public(name)(graph, backend=backend, **ends))


@pytest.mark.parametrize("flag", odd_calls.FLAGS, ids=repr)
@pytest.mark.parametrize("name", FLAGGED)
def test_flags_are_taken_as_networkx_takes_them(name, flag):
    ends = {} if FUNCTIONS[name].per_vertex else dict.fromkeys(FUNCTIONS[name].ends, 1)
    if name.endswith("_subset"):
        ends = {"sources": [1], "targets": [2]}
    for each in odd_calls.FLAGGED & inspect.signature(public(name)).parameters.keys():
        given = ends | {each: flag}
        for graph in (nx.DiGraph([(0, 1), (1, 2), (2, 0), (3, 2)]), nx.cycle_graph(5)):
            ends_alike(lambda backend, graph=graph, given=given: public(name)(graph, backend=backend, **given))


def test_a_function_that_sorts_neighbors_is_called_as_networkx_calls_it():
    for name in ("bfs_edges", "bfs_tree", "bfs_successors", "bfs_predecessors"):
        asked = []

        def call(backend, name=name, asked=asked):
            rng = random.Random(1)
            asked.append([])

            def shuffled(neighbors):
                asked[-1].append(found := list(neighbors))
                return rng.sample(found, len(found))

            return public(name)(nx.wheel_graph(9), 3, sort_neighbors=shuffled, backend=backend)

        ends_alike(call)
        assert asked[0] == asked[1]
        assert len(asked[0]) == 9


def test_a_method_of_the_graph_sorts_nothing():
    graph = nx.path_graph(4)
    for backend in BACKENDS:
        with pytest.raises(nx.NetworkXError, match="is not in the graph"):
            next(nx.bfs_edges(graph, 0, sort_neighbors=graph.neighbors, backend=backend))


def test_an_exception_of_networkx_has_none_of_ours_as_its_context():
    with pytest.raises(nx.NodeNotFound) as raised:
        nx.single_source_shortest_path(nx.path_graph(3), "missing", backend="rapids_bfs")
    assert raised.value.__context__ is None
