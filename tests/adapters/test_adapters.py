"""From and to the types that people have; tables and files have tests of their own."""

import datetime
import math
from unittest.mock import Mock

import dask
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import scipy.sparse.linalg
from hypothesis import given
from hypothesis import strategies as st
from strategies import edges_of, graphs

from rapids_bfs import Graph, InputError, as_graph, bfs, bfs_batch
from rapids_bfs.adapters.scipy import to_scipy
from rapids_bfs.nx.graph import ConvertedGraph

NX_CLASSES = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
ODD_IDS = [
    *([-1, 0, 1], [-3, -1], [True, False], [True, -1, 2.5], [0.0, 1.0], [math.nan, math.inf, "nan"]),
    *([2**63, 0, 1], [-(10**30), 1], [np.int64(-1), np.int64(5)], [pd.NA, pd.NaT, "None"], [frozenset(), (), ""]),
]


@st.composite
def nx_graphs(draw):
    """NetworkX graphs with nodes in any order, loops, parallel edges and isolated nodes."""
    kinds = [list(range(8)), [3, 1, 0, 2], [10, 7, 99], ["a", "b", "c", "d"], [(0, 1), "x", 5, 2.5], []]
    nodes = draw(st.sampled_from([*kinds, *ODD_IDS]))
    graph = draw(st.sampled_from(NX_CLASSES))()
    graph.add_nodes_from(draw(st.permutations(nodes)))
    if nodes:
        graph.add_edges_from(draw(st.lists(st.tuples(*[st.sampled_from(nodes)] * 2), max_size=20)))
    return graph


def adjacency_of(graph):
    ids = graph.ids_of(np.arange(graph.num_vertices)).tolist()
    targets = graph.ids_of(graph.targets).tolist()
    return {id: targets[graph.offsets[v] : graph.offsets[v + 1]] for v, id in enumerate(ids)}


@given(nx_graphs())
def test_networkx_adjacency_keeps_its_order(nx_graph):
    graph = as_graph(nx_graph)
    expected = {
        u: [v for v, keys in row.items() for _ in (keys if nx_graph.is_multigraph() else [0])]
        for u, row in nx_graph.adj.items()
    }
    assert adjacency_of(graph) == expected
    assert graph.directed == nx_graph.is_directed()
    if all(type(node) is int for node in nx_graph) and set(nx_graph) == set(range(len(nx_graph))):
        assert graph.labels is None


@given(nx_graphs(), st.sampled_from([None, 1, 3]))
def test_vertices_by_id_are_those_of_networkx(nx_graph, size):
    graph = as_graph(nx_graph, devices=size and f"cpu:{size}")
    whole = graph.to("cpu")
    assert len(graph) == len(nx_graph)
    assert list(graph) == list(whole)
    assert set(graph) == set(nx_graph)
    assert [*map(type, graph)] == [*map(type, sorted(nx_graph) if whole.labels is None else whole.labels.tolist())]
    for id in [*nx_graph, "nowhere", -7, None, [], graph]:
        assert (id in graph) == (id in nx_graph)
    for id, row in nx_graph.adj.items():
        assert graph.neighbors(id) == [
            v for v, keys in row.items() for _ in (keys if nx_graph.is_multigraph() else "1")
        ]
        assert sorted(map(repr, set(whole.reverse.neighbors(id)))) == sorted(
            map(repr, nx_graph.pred[id] if nx_graph.is_directed() else row)
        )
    with pytest.raises(InputError, match="'nowhere' is not a vertex"):
        graph.neighbors("nowhere")


@given(nx_graphs().filter(len), st.sampled_from([None, 1, 3]), st.sampled_from([None, 0, 2]))
def test_distances_by_id_are_those_of_networkx(nx_graph, size, limit):
    start = next(iter(nx_graph))
    expected = nx.single_source_shortest_path_length(nx_graph, start, cutoff=limit)
    result = bfs(as_graph(nx_graph, devices=size and f"cpu:{size}"), start, depth_limit=limit)
    assert result.as_dict() == expected
    assert list(result.as_dict().values()) == sorted(expected.values())
    for id in [*nx_graph, "nowhere", -7, [], None]:
        reached = not isinstance(id, list) and id in expected
        assert (id in result) == reached
        if reached:
            assert result[id] == expected[id] == result.distance_to(id)
            assert type(result[id]) is int
        else:
            with pytest.raises(KeyError, match="is not one of the vertices reached"):
                _ = result[id]
    with pytest.raises(TypeError, match="not iterable"):
        iter(result)


@pytest.mark.parametrize("size", [None, 2])
def test_a_graph_is_no_list_of_edges(size):
    """Though it has a length and yields its ids, each of which looks like a pair here."""
    graph = as_graph({"ab": ["cd"], "cd": ["ab"]}, devices=size and f"cpu:{size}")
    assert np.asarray(graph).shape == ()
    with pytest.raises(InputError, match=r"use graph.to\('networkx'\)"):
        nx.Graph(graph)
    for wrong in ((graph, graph), {"ab": graph}, [graph, graph]):
        with pytest.raises(InputError):
            as_graph(wrong)
    assert np.asarray(bfs(graph, "ab")).shape == ()


def test_a_graph_without_vertices_is_false_and_still_itself():
    graph = as_graph(([], []))
    assert not graph
    assert graph.for_engines.owner is graph
    copy = graph._with()
    copy._original = graph._owner
    assert copy.to("cuda" if graph.device == "cpu" else "cpu") is graph
    assert copy.is_on("cuda")


@given(nx_graphs())
def test_networkx_round_trip(nx_graph):
    back = as_graph(nx_graph).to("networkx")
    assert set(back) == set(nx_graph)
    assert back.is_directed() == nx_graph.is_directed()
    for node in nx_graph:
        assert list(back.adj[node]) == list(nx_graph.adj[node])
    if nx_graph.is_multigraph():
        assert back.number_of_edges() == nx_graph.number_of_edges()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("family", ["array", "matrix"])
@given(graph=graphs())
def test_scipy_round_trip(kind, family, graph):
    matrix = getattr(scipy.sparse, f"csr_{family}")(graph.to("scipy")).asformat(kind)
    back = as_graph(matrix, directed=graph.directed)
    if kind == "csr":
        np.testing.assert_array_equal(back.targets, graph.targets)
    if kind in ("csr", "csc"):
        assert edges_of(back) == edges_of(graph)
    else:  # these formats merge duplicates
        assert set(edges_of(back)) == set(edges_of(graph))
    assert back.num_vertices == graph.num_vertices


class OwnMatrix(scipy.sparse.csr_array):
    """A class of a user's."""


def test_matrices_of_derived_classes():
    assert edges_of(as_graph(OwnMatrix(np.eye(3, k=1)))) == [(0, 1), (1, 2)]
    operator = scipy.sparse.linalg.aslinearoperator(scipy.sparse.eye_array(3))  # of a module below scipy.sparse too
    with pytest.raises(InputError, match=r"cannot make a graph of .*LinearOperator"):
        as_graph(operator)


def test_scipy_says_whether_it_is_symmetric():
    assert as_graph(scipy.sparse.csr_array(np.array([[0, 1], [0, 0]]))).directed
    assert not as_graph(scipy.sparse.csr_array(np.array([[0, 1], [1, 0]]))).directed
    both = as_graph(scipy.sparse.csr_array(np.array([[0, 1], [0, 0]])), directed=False)
    assert edges_of(both) == [(0, 1), (1, 0)]


def test_csr_is_taken_and_given_without_a_copy():
    offsets, targets = np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32)
    graph = as_graph(offsets=offsets, targets=targets)
    assert np.shares_memory(graph.offsets, offsets)
    assert np.shares_memory(graph.targets, targets)
    assert offsets.flags.writeable
    assert all(a is b for a, b in zip(graph.to("csr"), (graph.offsets, graph.targets), strict=True))
    matrix = to_scipy(graph, copy=False)
    assert np.shares_memory(matrix.indices, targets)
    assert np.shares_memory(as_graph(matrix).targets, targets)


@given(graphs())
def test_edges_round_trip(graph):
    back = as_graph(graph.to("edges"), vertices=graph.num_vertices, directed=graph.directed)
    assert edges_of(back) == edges_of(graph)


@given(graphs())
def test_dict_round_trip(graph):
    back = as_graph(graph.to("dict"), directed=graph.directed)
    np.testing.assert_array_equal(back.offsets, graph.offsets)
    np.testing.assert_array_equal(back.targets, graph.targets)


def test_dict_of_lists():
    graph = as_graph({"a": ["b", "c"], "b": ["a"]})
    assert adjacency_of(graph) == {"a": ["b", "c"], "b": ["a"], "c": []}
    assert as_graph({1: {0}, 0: ()}).labels is None
    assert as_graph({5: [7]}).labels.tolist() == [5, 7]
    assert as_graph({0: [1 + 0j], 1: [0.0]}).targets.tolist() == [1, 0]  # as in a dict, 1 + 0j is 1


@pytest.mark.parametrize("ids", ODD_IDS, ids=repr)
def test_an_id_in_a_dict_may_be_anything_that_is_hashable(ids):
    first, *others = ids
    graph = as_graph({first: ids})
    assert [*map(id, graph.labels)] == [*map(id, ids)]
    assert graph.to("dict") == {first: ids} | {each: [] for each in others}
    assert [graph.vertex_of(each) for each in ids] == list(range(len(ids)))
    found = bfs(graph, [first])
    assert [found.distance_to(each) for each in ids] == [0] + [1] * len(others)


@pytest.mark.parametrize(
    "edges",
    [
        ([0, 2], [1, 3]),
        ((0, 2), [1, 3]),
        *((column([0, 2]), column([1, 3])) for column in (np.array, pd.Series, pd.Index, pl.Series, pa.array)),
        (pa.chunked_array([[0], [2]]), range(1, 4, 2)),
        [(0, 1), (2, 3)],
        [[0, 1], [2, 3]],
        [(0, 1), [2, 3]],
        np.array([[0, 1], [2, 3]]),
        list(np.array([[0, 1], [2, 3]])),
    ],
    ids=range(13),
)
def test_ways_to_write_an_edge_list(edges):
    graph = as_graph(edges)
    assert edges_of(graph) == [(0, 1), (2, 3)]
    assert graph.labels is None


@pytest.mark.parametrize("column", [pa.array, pd.Series, pl.Series, np.array])
def test_columns_hold_ids_rather_than_their_library_s_scalars(column):
    """In a pair, as neighbours, and as sources."""
    for ids in (["a", "b"], [10, 20], [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)]):
        pair = as_graph((column(ids[:1]), column(ids[1:])))
        neighbors = as_graph({column(ids)[0] if column is np.array else ids[0]: column(ids[1:])})
        for graph in (pair, neighbors):
            assert graph.num_vertices == 2
            assert bfs(graph, column(ids)).num_reached == len(bfs_batch(graph, column(ids)).sources) == 2


VIEWS = [
    *(lambda G: G.edges, lambda G: G.edges(data=True), lambda G: G.edges(data="weight"), lambda G: G.degree),
    *(lambda G: G.nodes, lambda G: G.nodes(data=True), lambda G: G.adj, lambda G: G[0], lambda G: G.adj[0]),
    *(lambda G: G.subgraph([0, 1]).edges, lambda G: G.subgraph([0, 1]).adj, lambda G: G.to_directed(True).in_edges),
]


@pytest.mark.parametrize("view", range(len(VIEWS)))
@pytest.mark.parametrize("kind", NX_CLASSES)
def test_views_of_networkx_are_no_graphs(kind, view):
    """As mappings, edges would be vertices, and of a multigraph keys."""
    with pytest.raises(InputError, match=r"a NetworkX \w+ shows a part of a graph: give the graph itself"):
        as_graph(VIEWS[view](kind(nx.path_graph(3))))


@pytest.mark.parametrize("row", ["bob", b"bob", bytearray(b"b"), np.str_("bob"), 3, None, np.array(3), np.float64(1)])
def test_what_holds_no_neighbours(row):
    with pytest.raises(InputError, match=r"'ann' has .* instead of a list of its neighbours"):
        as_graph({"ann": row})


@pytest.mark.parametrize("pair", [("source", "target"), ("Source", "Target"), ("u", "v"), ("from", "to")])
def test_columns_in_a_dict_are_no_lists_of_neighbours(pair):
    source, target = pair
    columns = {source: [0, 1], target: [1, 2]}
    strings = {name: list(map(str, ids)) for name, ids in columns.items()}
    for table in (columns, columns | {"weight": [1.0, 2.0]}, strings):
        with pytest.raises(InputError, match=rf"'{source}' and '{target}'.* columns of a table, .*: give a pandas"):
            as_graph(table)
    for network in ({source: ["a"], "a": [target], target: []}, {source: [target], target: [source]}, {source: ["a"]}):
        assert as_graph(network).num_edges == sum(map(len, network.values())) // (1 if "a" in as_graph(network) else 2)


@pytest.mark.parametrize(
    ("thing", "advice"),
    [(dask.delayed(1), r"call as_graph\(delayed\.compute\(\)\)"), (Mock(), "give a NetworkX graph")],
)
def test_what_has_any_attribute_is_no_graph_of_networkx(thing, advice):
    with pytest.raises(InputError, match=rf"cannot make a graph of \S+: {advice}"):
        as_graph(thing)


@pytest.mark.parametrize("kind", [nx.Graph, dict, list, np.ndarray, pd.DataFrame, pa.Table, pl.LazyFrame, Graph])
def test_a_class_is_no_graph(kind):
    with pytest.raises(InputError, match=rf"{kind.__name__} is a class: give an object of it"):
        as_graph(kind)


def test_a_number_of_vertices_that_is_too_long_to_print():
    for kinds in ({}, {"devices": "cpu:2"}):
        with pytest.raises(InputError, match="number of vertices must be less than"):
            as_graph(([0], [1]), vertices=10**5000, **kinds)


@pytest.mark.parametrize(("given", "name"), [(7, "7"), (("a", 1), "('a', 1)"), ("", "networkx"), ("x", "x")])
def test_names_of_graphs_are_strings(given, name):
    """NetworkX takes anything, and a copy of the graph was refused for it."""
    theirs = nx.Graph([(0, 1)], name=given)
    graph = as_graph(theirs)
    assert graph.name == graph.replace().name == ConvertedGraph(theirs).forward.name == name


def test_the_next_step_from_a_lazy_frame_is_named():
    edges = [(0, 1), (1, 2), (2, 0)]
    lazy = pl.LazyFrame(edges, ["u", "v"], orient="row")
    with pytest.raises(InputError, match=r"cannot make a graph of polars.*: call as_graph\(frame.collect\(\)\)"):
        as_graph(lazy)
    assert edges_of(as_graph(lazy.collect())) == edges


def test_hashable_ids_keep_their_order_and_identity():
    ids = ["x", ("y", 1), 7, None.__class__]
    graph = as_graph((ids[:-1], ids[1:]))
    assert graph.labels.tolist() == ids
    assert graph.vertex_of(("y", 1)) == 1


def test_tuples_of_integers_are_ids():
    """The squares of a board; NumPy would make a table of them."""
    graph = as_graph([((0, 0), (0, 1)), ((0, 1), (1, 1))])
    assert graph.labels.tolist() == [(0, 0), (0, 1), (1, 1)]
    assert (0, 1) in as_graph(([(0, 0)], [(0, 1)]))
    assert as_graph(nx.grid_2d_graph(2, 2)).vertex_of((1, 1)) == 3
    assert as_graph({(0, 0): [(0, 1)]}).labels.tolist() == [(0, 0), (0, 1)]


def test_a_graph_is_itself():
    graph = as_graph(([0], [1]))
    assert as_graph(graph) is graph
    assert isinstance(graph, Graph)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((object(),), {}, "cannot make a graph of builtins.object"),
        ((), {}, "takes either a graph, or both offsets= and targets="),
        ((), {"offsets": [0, 1]}, "takes either a graph, or both offsets= and targets="),
        ((np.eye(3),), {}, r"dense adjacency matrix .* give scipy\.sparse\.csr_array\(matrix\)"),
        ((np.array([[0, 1], [1, 0]]).view(np.matrix),), {}, "dense adjacency matrix"),
        ((np.zeros((2, 3)),), {}, r"shape \(m, 2\), not \(2, 3\): transpose it by \.T"),
        ((np.zeros((4, 3)),), {}, r"shape \(m, 2\), not \(4, 3\)"),
        ((np.zeros(3),), {}, r"shape \(m, 2\), not \(3,\)"),
        (([(0, 1), (1,)],), {}, r"row 1 \(from 0\): an edge is a pair"),
        (([(0, 1, 2.5)],), {}, r"row 0 \(from 0\): an edge is a pair of ids, not \(0, 1, 2\.5\)$"),
        ((["ab", "cd"],), {}, r"row 0 \(from 0\): an edge is a pair of ids, not 'ab'"),
        (([[0, 1, 2], [1, 2, 3]],), {}, r"two columns of ids are given as a tuple, \(sources, targets\)"),
        ((((0, 1), (2, 3)),), {}, "may be two edges or two columns"),
        ((("ab", "cd"),), {}, "column 'source': a column of ids is an array or a list"),
        ((({0, 1}, {2, 3}),), {}, "column 'source': a column of ids is an array or a list"),
        ((({0: 1}, {2: 3}),), {}, "column 'source': a column of ids is an array or a list"),
        ((iter([(0, 1)]),), {}, "cannot make a graph of builtins.list_iterator: give a list of its edges, or a dict"),
        ((nx.path_graph(2).adjacency(),), {}, "give a list of its edges, or a dict of its neighbour lists"),
        (({(0, 1)},), {}, "give a list of its edges"),
        ((scipy.sparse.csr_array((2, 3)),), {}, "must be square, not 2 x 3"),
        ((), {"offsets": [0, 2], "targets": [0]}, "end with 1, the number of targets"),
        ((), {"offsets": [0, 2, 1], "targets": [0]}, "offsets fall after vertex 1"),
        ((), {"offsets": [0, 1], "targets": [5]}, r"target 5 of edge 0 is not one of the vertices 0\.\.0"),
        ((), {"offsets": [0, 1], "targets": [0.5]}, "targets must be a one-dimensional array of integers"),
        (({0: [None]},), {}, "None is not a vertex id"),
        (({0: [[]]},), {}, "must be hashable"),
        ((nx.path_graph(3),), {"vertices": 3}, "vertices= does not go with Graph"),
        (("no-such-graph",), {}, "is not a file, a generator .* or a bundled graph"),
        (("rmat:x",), {}, "whole numbers"),
        (("cube:3",), {}, "is not a generator"),
        (("rmat:40",), {}, "needs .* TiB of memory, and .* are free"),
        (("path:0",), {}, "at least 1"),
    ],
)
def test_what_is_no_graph_is_named(arguments, options, message):
    with pytest.raises(InputError, match=message):
        as_graph(*arguments, **options)


def test_unknown_kind():
    with pytest.raises(
        InputError, match="unknown kind 'excel': a graph goes to cpu or cuda, or becomes arrow, arrow-device, csr"
    ):
        as_graph(([0], [1])).to("excel")
