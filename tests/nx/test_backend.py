"""Conversion, caching, policy, configuration and threads."""

import copy
import pickle
import random
import subprocess
import sys
import warnings
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from pathlib import Path
from re import MULTILINE, search

import networkx as nx
import numpy as np
import pytest
from nx_calls import CLASSES, random_graph

import rapids_bfs.nx
from rapids_bfs import InputError
from rapids_bfs.nx.cache import cached_conversion
from rapids_bfs.nx.functions import FUNCTIONS, get_info
from rapids_bfs.nx.graph import ConvertedGraph, FallBack
from rapids_bfs.nx.routing import engine_for

HEAVY = {"cupy", "numba", "cudf", "cugraph", "networkx", "pandas", "pyarrow", "scipy", "polars", "numpy"}


@pytest.fixture(autouse=True)
def priority():
    """The backend is tried first, as a user has it who names it once."""
    with nx.config(backend_priority=["rapids_bfs"]):
        yield


@pytest.fixture
def conversions(monkeypatch):
    """The graphs that were converted."""
    made = []
    original = ConvertedGraph.__init__

    def init(self, graph):
        made.append(graph)
        original(self, graph)

    monkeypatch.setattr(ConvertedGraph, "__init__", init)
    return made


def big_graph():
    return nx.gnm_random_graph(3000, 40_000, seed=1)


def rows_of(converted, graph):
    nodes = converted.nodes.tolist()
    bounds = graph.offsets.tolist()
    return {nodes[i]: converted.nodes_at(graph.targets[bounds[i] : bounds[i + 1]]) for i in range(len(nodes))}


class TestConversion:
    @pytest.mark.parametrize("seed", range(100))
    def test_keeps_the_order_of_nodes_and_both_adjacencies(self, seed):
        graph = random_graph(random.Random(seed), most_nodes=30)
        converted = ConvertedGraph(graph)
        assert converted.nodes.tolist() == list(graph)
        assert rows_of(converted, converted.forward) == {node: list(row) for node, row in graph.adj.items()}
        if graph.is_directed():
            assert rows_of(converted, converted.backward) == {node: list(row) for node, row in graph.pred.items()}
            both = {node: [*graph.succ[node], *graph.pred[node]] for node in graph}
            assert rows_of(converted, converted.symmetrized) == both
        assert converted.num_edges == graph.number_of_edges()

    def test_finds_every_node_and_nothing_else(self):
        for nodes in (range(5), [3, 1, 2], ["a", "b"], [(0, 1), (1, 2)], [None.__class__, 2.5]):
            converted = ConvertedGraph(nx.empty_graph(nodes))
            assert [converted.find(node) for node in nodes] == list(range(len(nodes)))
            assert [converted.find(other) for other in ("x", -1, 99, 0.5, [1], {}, None, float("nan"))] == [None] * 8

    def test_nodes_equal_to_numbers_are_the_same_node(self):
        graph = nx.path_graph(6)
        graph.add_edge(True, 5.0)
        assert list(graph) == list(range(6))
        with pytest.raises(FallBack):  # 5.0 in a row, and 5
            ConvertedGraph(graph)
        converted = ConvertedGraph(nx.path_graph(6))
        assert [converted.find(each) for each in (4.0, True, np.int64(3))] == [4, 1, 3]

    def test_dicts_of_other_classes_and_views(self):
        class Ordered(nx.DiGraph):
            adjlist_inner_dict_factory = OrderedDict

        ordered = Ordered([(0, 1), (0, 2), (2, 1), (1, 0)])
        ordered._adj[0].move_to_end(1)
        whole = nx.gnp_random_graph(12, 0.4, seed=2, directed=True)
        for graph in (
            ordered,
            whole.subgraph([3, 1, 7, 8]),
            whole.reverse(copy=False),
            whole.to_undirected(as_view=True),
        ):
            converted = ConvertedGraph(graph)
            assert rows_of(converted, converted.forward) == {node: list(row) for node, row in graph.adj.items()}
            assert list(nx.bfs_edges(graph, 1, backend="rapids_bfs")) == list(
                nx.bfs_edges(graph, 1, backend="networkx")
            )

    def test_back_is_the_graph_itself(self):
        graph = nx.path_graph(3)
        converted = rapids_bfs.nx.convert_from_nx(graph)
        assert rapids_bfs.nx.convert_to_nx(converted) is graph
        assert rapids_bfs.nx.convert_to_nx([1, 2]) == [1, 2]
        with nx.config(fallback_to_nx=True):
            assert nx.triangles(converted) == nx.triangles(graph)

    def test_a_converted_graph_can_be_passed_instead(self):
        converted = rapids_bfs.nx.convert_from_nx(nx.path_graph(4))
        assert nx.single_source_shortest_path_length(converted, 1) == {1: 0, 0: 1, 2: 1, 3: 2}
        assert nx.is_connected(converted)

    @pytest.mark.parametrize("cls", CLASSES)
    def test_a_graph_with_a_conversion_can_be_pickled_and_copied(self, cls):
        graph = cls([(0, 1), (1, 2), (2, 0)])
        nx.eccentricity(graph, backend="rapids_bfs")
        nx.descendants(graph, 0, backend="rapids_bfs")
        for twin in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
            assert nx.eccentricity(twin, backend="rapids_bfs") == nx.eccentricity(graph, backend="networkx")


class TestCache:
    def test_one_conversion_serves_every_function(self, conversions):
        graph = big_graph()
        nx.single_source_shortest_path_length(graph, 0)
        list(nx.bfs_edges(graph, 1))
        nx.ego_graph(graph, 1)
        nx.has_path(graph, 0, 1)
        assert conversions == [graph]

    def test_networkx_has_nothing_to_warn_of(self, conversions):
        """Not even while a generator has not read its graph yet."""
        graph = big_graph()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            edges = nx.bfs_edges(graph, 0)
            nx.descendants(graph, 1)
            nx.is_connected(graph, backend="rapids_bfs")
            next(edges)
        assert conversions == [graph]

    def test_nothing_is_kept_if_networkx_is_to_keep_nothing(self, conversions):
        graph = big_graph()
        with nx.config(cache_converted_graphs=False):
            nx.descendants(graph, 0)
            nx.descendants(graph, 1)
            assert cached_conversion(graph) is None
        assert cached_conversion(graph) is None
        assert conversions == [graph] * 2

    def test_what_engines_prepare_is_kept(self):
        graph = big_graph()
        nx.closeness_centrality(graph, 1)
        converted = cached_conversion(graph)
        prepared = list(converted.forward.traversals.values())
        nx.closeness_centrality(graph, 2)
        assert prepared
        assert list(converted.forward.traversals.values()) == prepared

    @pytest.mark.parametrize("cls", CLASSES)
    def test_a_changed_graph_gives_the_new_answer(self, cls, conversions):
        graph = cls(nx.path_graph(5))
        for change in (
            lambda: graph.add_edge(0, 4),
            lambda: graph.remove_edge(0, 1),
            lambda: graph.add_node("new"),
            lambda: graph.add_edge("new", 2),
            lambda: graph.remove_node(3),
            lambda: graph.clear_edges(),
        ):
            nx.descendants(graph, 0, backend="rapids_bfs")
            change()
            assert nx.descendants(graph, 0, backend="rapids_bfs") == nx.descendants(graph, 0, backend="networkx")
            assert nx.ancestors(graph, 2, backend="rapids_bfs") == nx.ancestors(graph, 2, backend="networkx")
        assert len(conversions) == 7

    @pytest.mark.parametrize("cls", CLASSES)
    def test_a_view_gives_the_new_answer_when_its_graph_changes(self, cls, conversions):
        graph = nx.path_graph(6, cls)
        read = [graph.subgraph([0, 1, 2, 5]).to_directed(as_view=True), graph.to_undirected(as_view=True)]
        views = [graph.subgraph([0, 1, 2, 5]), nx.restricted_view(graph, [3], []), *read]
        for change in (lambda: None, lambda: graph.add_edge(1, 5), lambda: graph.remove_node(2)):
            change()
            for view in views:
                expected = set(nx.bfs_tree(nx.Graph(view) if not view.is_directed() else nx.DiGraph(view), 0)) - {0}
                assert nx.descendants(view, 0, backend="rapids_bfs") == expected
                assert nx.descendants(view, 0, backend="rapids_bfs") == expected
        assert len([each for each in conversions if each in views]) == 3 * len(read)

    def test_a_view_that_asks_a_function_is_converted_each_time(self):
        graph, shown = nx.path_graph(6), {0, 1, 2}
        view = nx.subgraph_view(graph, filter_node=shown.__contains__)
        assert nx.descendants(view, 0, backend="rapids_bfs") == {1, 2}
        shown.add(3)
        assert nx.descendants(view, 0, backend="rapids_bfs") == {1, 2, 3}

    def test_a_view_of_a_graph_without_a_cache(self):
        graph = nx.path_graph(6)
        graph.__networkx_cache__ = None
        view = graph.subgraph(range(5))
        assert nx.descendants(view, 0, backend="rapids_bfs") == {1, 2, 3, 4}
        graph.add_edge(0, 5)
        graph.remove_edge(3, 4)
        assert nx.descendants(view, 0, backend="rapids_bfs") == {1, 2, 3}


class TestPolicy:
    def test_tiny_graphs_and_local_queries_stay_in_networkx(self, conversions):
        graph = big_graph()
        tiny = nx.path_graph(50)
        nx.shortest_path(graph, 0, 1)
        nx.has_path(graph, 0, 1)
        nx.ego_graph(graph, 0)
        nx.is_bipartite(graph)
        list(nx.bfs_edges(graph, 0, depth_limit=1))
        nx.single_source_shortest_path(graph, 0, cutoff=1)
        nx.eccentricity(tiny)
        nx.is_connected(tiny)
        assert conversions == []

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("bfs_edges", {"source": 0}),
            ("bfs_layers", {"sources": [0, 1]}),
            ("bfs_layers", {"sources": iter([0, 1])}),
            ("single_source_shortest_path", {"source": 0, "cutoff": 3}),
            ("shortest_path", {"source": 0}),
            ("shortest_path", {"target": 0}),
            ("shortest_path", {}),
            ("connected_components", {}),
            ("eccentricity", {"v": [0, 1]}),
            ("diameter", {}),
        ],
    )
    def test_large_searches_run_here(self, name, arguments):
        assert rapids_bfs.nx.should_run(name, (big_graph(),), arguments) is True

    def test_small_components_of_large_graphs_stay(self):
        graph = nx.disjoint_union(nx.path_graph(10), big_graph())
        assert rapids_bfs.nx.should_run("bfs_edges", (graph, 0), {}) is not True
        assert rapids_bfs.nx.should_run("bfs_edges", (graph, 10), {}) is True

    def test_many_searches_of_a_small_graph_run_here(self):
        graph = nx.gnm_random_graph(200, 1000, seed=1)
        assert rapids_bfs.nx.should_run("closeness_centrality", (graph,), {}) is True
        assert rapids_bfs.nx.should_run("closeness_centrality", (graph, 3), {}) is not True

    def test_no_node_stays(self):
        assert rapids_bfs.nx.should_run("bfs_edges", (big_graph(), "missing"), {}) is not True

    def test_min_edges_is_obeyed_when_it_changes(self, conversions):
        graph = nx.gnm_random_graph(100, 300, seed=1)
        nx.single_source_shortest_path_length(graph, 0)
        assert conversions == []
        with nx.config.backends.rapids_bfs(min_edges=100):
            nx.single_source_shortest_path_length(graph, 0)
        assert conversions == [graph]

    @pytest.mark.parametrize("wrong", ["20000", None, [1]])
    def test_min_edges_that_is_no_number_is_refused(self, wrong):
        with nx.config.backends.rapids_bfs(min_edges=wrong), pytest.raises(InputError, match="min_edges must be a num"):
            nx.single_source_shortest_path_length(big_graph(), 0)

    def test_wrong_arguments_are_networkx_to_explain(self):
        assert isinstance(rapids_bfs.nx.can_run("bfs_edges", (), {"nonsense": 1}), str)
        with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
            nx.bfs_edges(big_graph(), 0, nonsense=1)


class TestConfiguration:
    @pytest.mark.parametrize("engine", ["auto", "cpu", "cpu:sequential", "scipy", "networkx"])
    def test_engine_is_obeyed_when_it_changes(self, engine, monkeypatch):
        graph = nx.gnp_random_graph(30, 0.2, seed=4)
        expected = list(nx.bfs_edges(graph, 3, backend="networkx")), nx.closeness_centrality(graph, backend="networkx")
        with nx.config.backends.rapids_bfs(engine=engine):
            found = (
                list(nx.bfs_edges(graph, 3, backend="rapids_bfs")),
                nx.closeness_centrality(graph, backend="rapids_bfs"),
            )
        assert found == expected
        converted = cached_conversion(graph)
        prepared = " ".join(map(str, converted.forward.traversals))
        assert engine in ("auto", "cpu") or engine in prepared

    def test_an_engine_without_betweenness_leaves_it_to_the_cpu(self):
        graph = nx.karate_club_graph()
        expected = nx.betweenness_centrality(graph, backend="networkx")
        with nx.config.backends.rapids_bfs(engine="scipy"):
            assert nx.betweenness_centrality(graph, backend="rapids_bfs") == pytest.approx(expected)

    def test_auto_takes_a_gpu_only_for_much_work(self):
        assert engine_for(10, 10) == "auto"
        assert engine_for(9, 10) == "cpu"
        with nx.config.backends.rapids_bfs(engine="scipy"):
            assert engine_for(9, 10) == "scipy"

    def test_an_engine_that_there_is_not_is_named(self):
        with nx.config.backends.rapids_bfs(engine="abacus"), pytest.raises(InputError, match="unknown engine 'abacus'"):
            nx.descendants(nx.path_graph(3), 0, backend="rapids_bfs")


def test_threads_may_call_at_once():
    graph = nx.gnm_random_graph(800, 4000, seed=6)
    calls = [
        lambda backend, node: list(nx.bfs_edges(graph, node, backend=backend)),
        lambda backend, node: nx.single_source_shortest_path(graph, node, backend=backend),
        lambda backend, node: nx.closeness_centrality(graph, node, backend=backend),
        lambda backend, node: nx.shortest_path(graph, node, 0, backend=backend),
        lambda backend, node: list(nx.connected_components(graph, backend=backend)),
        lambda backend, node: nx.eccentricity(graph.subgraph(range(node)), 0, backend=backend) if node == 799 else 0,
    ]
    jobs = [(call, node) for call in calls for node in (1, 5, 17, 300)]
    expected = [call("networkx", node) for call, node in jobs]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            graph.__networkx_cache__.clear()
            assert list(threads.map(lambda job: job[0]("rapids_bfs", job[1]), jobs)) == expected


def test_info_is_light_and_from_the_declarations():
    program = "import sys, rapids_bfs.nx.functions as f; f.get_info(); import rapids_bfs.nx; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())
    info = get_info()
    assert info["functions"].keys() == FUNCTIONS.keys()
    assert set(nx.config.backends.rapids_bfs) == set(info["default_config"]) == {"engine", "min_edges"}
    assert "weight : None\n" in nx.shortest_path.__doc__
    assert f"{info['url']}/blob/main/rapids_bfs/nx/algorithms/paths.py" in nx.shortest_path.__doc__


def test_info_documents_every_function_and_its_arguments():
    root = Path(rapids_bfs.__file__).parents[1]
    for name, told in get_info()["functions"].items():
        source = root / told["url"].partition("/blob/main/")[2]
        assert search(rf"^(def {name}\(|{name}\b.* = )", source.read_text(), MULTILINE), f"{name}: {told['url']}"
        arguments = signature(getattr(rapids_bfs.nx, name)).parameters
        documented = [parameter.partition(" : ")[0] for parameter in told["additional_parameters"]]
        assert documented[0] == "G"
        assert set(documented) <= set(arguments)
        assert {*FUNCTIONS[name].without, *FUNCTIONS[name].delegated} <= set(documented)
        assert told["additional_docs"].endswith(".")


def test_names_are_there():
    assert set(FUNCTIONS) <= set(dir(rapids_bfs.nx))
    with pytest.raises(AttributeError, match="no attribute 'pagerank'"):
        _ = rapids_bfs.nx.pagerank
