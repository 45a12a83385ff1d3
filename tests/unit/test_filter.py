"""What edges carry, and graphs with some of their edges and vertices."""

import pickle
from collections import Counter

import numba
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists, edges_of, graphs

from rapids_bfs import Graph, InputError, as_graph
from rapids_bfs._core import threads
from rapids_bfs._core.csr import host_filter
from rapids_bfs.graph import Categories
from rapids_bfs.kernels.cpu.rows import row_of


@pytest.fixture(scope="module", autouse=True)
def all_threads():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "FEW", 0)
        patch.setattr(host_filter, "LARGE", 0)
        yield


def test_the_row_of_an_arc():
    rows = numba.njit(lambda offsets, arcs: [row_of(offsets, arc) for arc in arcs])
    for degrees in ([], [0], [3], [0, 0, 1, 0, 70, 2, 0], [1] * 33):
        for dtype in (np.int32, np.int64):
            offsets = np.cumsum([0, *degrees]).astype(dtype)
            arcs = np.arange(offsets[-1] + 2)
            assert rows(offsets, arcs) == (np.searchsorted(offsets, arcs, side="right") - 1).tolist()


def carrying(edges, directed):
    """A graph whose edges carry the number of their row."""
    n, sources, targets = edges
    return as_graph((sources, targets), vertices=n, directed=directed, edge_data={"row": np.arange(len(sources))})


def arcs_of(graph):
    """Source, target and row of every arc, sorted."""
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
    columns = sources, graph.targets, graph.edge_data["row"]
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def expected_arcs(edges, directed):
    _, sources, targets = edges
    rows = list(zip(sources.tolist(), targets.tolist(), range(len(sources)), strict=True))
    there = sorted((u, v) for u, v, _ in rows)
    if directed is False and there != sorted((v, u) for u, v in there):
        rows += [(v, u, row) for u, v, row in rows if u != v]
    return sorted(rows)


@given(edge_lists(), st.sampled_from([True, False, None]))
def test_arcs_carry_the_data_of_their_edges(edges, directed):
    graph = carrying(edges, directed)
    assert arcs_of(graph) == expected_arcs(edges, directed)
    assert graph.directed == (directed is not False or not len(edges[1]) > 0) or directed is False
    assert arcs_of(pickle.loads(pickle.dumps(graph))) == arcs_of(graph)
    rows = graph.edge_data["row"]
    assert all(np.all(np.diff(row) >= 0) for row in np.split(rows, graph.offsets[1:-1]))  # in the order of the edges


@given(edge_lists())
def test_derived_graphs_carry_the_data(edges):
    graph = carrying(edges, True)
    pairs = arcs_of(graph)
    assert arcs_of(graph.reverse) == sorted((v, u, row) for u, v, row in pairs)
    assert edges_of(graph.undirected) == sorted((u, v) for u, v, _ in arcs_of(graph.undirected))
    assert {row for _, _, row in arcs_of(graph.undirected)} == set(range(len(pairs)))
    first = {}
    for u, v, row in pairs:
        if u != v:
            first.setdefault((u, v), row)
    assert arcs_of(graph.simple) == sorted((u, v, row) for (u, v), row in first.items())
    assert arcs_of(graph.undirected) == arcs_of(carrying(edges, False))


@given(edge_lists(min_vertices=1), st.booleans(), st.data())
def test_a_filter_keeps_what_passes_both_masks(edges, directed, data):
    graph = carrying(edges, directed)
    n, m = graph.num_vertices, len(edges[1])
    rows = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)), bool)
    if directed is False and len(graph.targets) == m:  # symmetric rows, with data of their own
        rows[:] = data.draw(st.booleans())
    vertices = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    which = data.draw(st.sampled_from(["edges", "vertices", "both", "functions", "neither"]))
    edges_mask = rows[graph.edge_data["row"]]
    masks = {
        "edges": {"edges": edges_mask},
        "vertices": {"vertices": vertices},
        "both": {"edges": edges_mask, "vertices": vertices.tolist()},
        "functions": {"edges": lambda graph: edges_mask, "vertices": lambda graph: vertices},
        "neither": {},
    }[which]
    filtered = graph.filter(**masks)
    kept = [
        (u, v, row)
        for u, v, row in arcs_of(graph)
        if ("edges" not in masks or rows[row]) and ("vertices" not in masks or (vertices[u] and vertices[v]))
    ]
    assert arcs_of(filtered) == kept
    assert filtered.num_vertices == n
    assert filtered.directed == graph.directed
    assert filtered.offsets.dtype == filtered.targets.dtype == np.int32
    filtered.check()
    matrix = scipy.sparse.csr_array((np.ones(graph.num_arcs), graph.targets, graph.offsets), shape=(n, n))
    if which == "vertices":
        chosen = scipy.sparse.diags_array(vertices.astype(float))
        np.testing.assert_array_equal((chosen @ matrix @ chosen).toarray(), filtered.to("scipy").toarray())


@given(graphs(min_vertices=1), st.data())
def test_a_mask_that_tells_the_arcs_of_an_edge_apart_names_it(graph, data):
    graph = graph.undirected
    m = graph.num_arcs
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)), bool)
    sources = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    kept = sorted(zip(sources[mask].tolist(), graph.targets[mask].tolist(), strict=True))
    if kept == sorted((v, u) for u, v in kept):
        assert edges_of(graph.filter(edges=mask)) == kept
        return
    with pytest.raises(InputError, match=r"keeps the edge from \d+ to \d+ but not the one back") as error:
        graph.filter(edges=mask)
    words = str(error.value).split()
    u, v = int(words[words.index("from") + 1]), int(words[words.index("to") + 1])
    assert kept.count((u, v)) > kept.count((v, u))


DENSITIES = st.sampled_from([0.0, 0.02, 0.2, 0.5, 0.99, 1.0])


@given(st.integers(0, 2**32 - 1), st.integers(0, 6000), st.integers(1, 300), DENSITIES, DENSITIES)
def test_columns_are_compacted_as_by_numpy(seed, arcs, n, of_edges, of_vertices):
    rng = np.random.default_rng(seed)
    sources, targets = np.sort(rng.integers(0, n, arcs)), rng.integers(0, n, arcs, np.int32)
    offsets = np.searchsorted(sources, np.arange(n + 1)).astype(np.int32)
    edges, vertices = rng.random(arcs) < of_edges, rng.random(n) < of_vertices
    both = edges & vertices[sources] & vertices[targets]
    for masks, expected in (((edges, None), edges), ((edges, vertices), both)):
        kept = host_filter.KeptArcs(offsets, targets, *masks)
        np.testing.assert_array_equal(kept.offsets(offsets), np.append(0, expected.cumsum())[offsets])
        for dtype in "bool", "int16", "int32", "float32", "int64", "float64":
            column = rng.integers(0, 100, arcs).astype(dtype)
            np.testing.assert_array_equal(kept.compacted(column), column[expected])


@given(graphs(min_vertices=1), st.data())
def test_the_arcs_that_are_dropped_tell_whether_the_rest_is_symmetric(graph, data):
    graph = graph.undirected
    sources = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    mask = (sources + graph.targets) % data.draw(st.integers(2, 9)) > 0
    for arc in data.draw(st.lists(st.integers(0, graph.num_arcs - 1), max_size=2) if graph.num_arcs else st.just([])):
        mask[arc] ^= True
    ends = zip(sources[mask].tolist(), graph.targets[mask].tolist(), strict=True)
    kept = host_filter.KeptArcs(graph.offsets, graph.targets, mask, None)
    rows = kept.offsets(graph.offsets), kept.compacted(graph.targets)
    symmetric = Counter(ends) == Counter((v, u) for u, v in zip(sources[mask], graph.targets[mask], strict=True))
    assert kept.symmetric(graph.offsets, graph.targets, rows) == symmetric


def test_the_mask_of_nothing_is_any_empty_one():
    empty = as_graph(([], []), vertices=2)
    for mask in ([], np.zeros(0, bool), lambda graph: []):
        assert len(empty.filter(edges=mask)) == 2
    with pytest.raises(InputError, match="has that length"):
        as_graph(([0], [1])).filter(edges=[])


def test_a_filter_keeps_ids():
    graph = as_graph(
        (["a", "b", "c", "a"], ["b", "c", "a", "c"]), edge_data={"kind": ["cites", "knows", "cites", None]}
    )
    kinds = graph.edge_data["kind"]
    assert graph.filter(edges=kinds == "cites").to("dict") == {"a": ["b"], "b": [], "c": ["a"]}
    assert graph.filter(edges=kinds != "cites").to("dict") == {"a": ["c"], "b": ["c"], "c": []}
    assert graph.filter(edges=kinds.isin(["cites", "knows", "else"])).num_edges == 3
    assert graph.filter(edges=kinds == "else").num_edges == 0
    assert [kinds[arc] for arc in range(4)] == np.asarray(kinds).tolist() == ["cites", None, "knows", "cites"]
    with pytest.raises(InputError, match="isin takes a list"):
        kinds.isin("cites")


GRAPH = as_graph(([0, 0, 1], [1, 2, 2]), edge_data={"time": [1, 2, 3]})
BAD_MASKS = {
    "a number": (1, "not 1"),
    "integers": (np.array([0, 1, 1]), "not int64"),
    "too short": (np.ones(2, bool), r"not the shape \(2,\)"),
    "two dimensions": (np.ones((3, 1), bool), r"not the shape \(3, 1\)"),
    "ids": ([0, 1, 2], r"not \[0, 1, 2\]"),
    "ragged": ([[True], True, False], "is an array of bool"),
    "a set": ({True}, "is an array of bool"),
    "a masked array": (np.ma.masked_array([True] * 3, [False, True, False]), "is an array of bool"),
    "strings": (["a", "b", "c"], "is an array of bool"),
    "a function": (lambda graph: graph.degrees, "what <lambda> returned, int32"),
    "a function that returns nothing": (lambda graph: None, "not what <lambda> returned, None"),
}


@pytest.mark.parametrize("name", BAD_MASKS)
@pytest.mark.parametrize("which", ["edges", "vertices"])
def test_a_bad_mask_is_refused(name, which):
    mask, message = BAD_MASKS[name]
    with pytest.raises(InputError, match=message):
        GRAPH.filter(**{which: mask})


CARRIED = {
    "bools": ([True, False, True], "bool"),
    "integers": ([3, 1, 2], "int64"),
    "floats": ([0.5, None, 2.0], "float64"),
    "small integers": (np.array([1, 2, 3], np.uint8), "uint8"),
    "dates": (pd.to_datetime(["2024-01-01", None, "2026-01-01"]).as_unit("ns"), "datetime64[ns]"),
    "days": (np.array(["2024-01-01", "NaT", "2026-01-01"], "M8[D]"), "datetime64[D]"),
    "strings": (["b", "a", "b"], "category"),
    "strings of NumPy": (np.array(["b", "a", "b"]), "category"),
    "a category of pandas": (pd.Categorical(["b", None, "a"], categories=["b", "a"]), "category"),
    "a column of pandas": (pd.Series([1.5, 2.5, 3.5], index=[7, 8, 9]), "float64"),
}


@pytest.mark.parametrize("name", CARRIED)
def test_columns_keep_their_values(name):
    values, dtype = CARRIED[name]
    graph = as_graph(([2, 0, 1], [0, 1, 2]), edge_data={"it": values})
    column = graph.edge_data["it"]
    expected = np.asarray(pd.Series(values).tolist(), object)[[1, 2, 0]]
    assert str(column.dtype) == dtype
    assert [None if pd.isna(each) else each for each in np.asarray(column).tolist()] == [
        None
        if pd.isna(each)
        else pd.Timestamp(each).to_datetime64().astype(column.dtype).item()
        if "date" in dtype
        else each
        for each in expected
    ]


BAD_COLUMNS = {
    "not a dict": ("time", "is a list of names of columns, or a dict of columns, not 'time'"),
    "names": (["time"], "has no columns with names"),
    "a name that is none": ({1: [1, 2, 3]}, "the name of a column is a string, not 1"),
    "too few": ({"time": [1, 2]}, "2 values for 3 edges"),
    "the name of the ends": ({"source": [1, 2, 3]}, "'source' holds the ends of edges"),
    "a null among integers": ({"time": pd.array([1, None, 3], "Int64")}, "row 1 .*null is no int64"),
    "complex numbers": ({"time": np.array([1j, 2, 3])}, "edge data 'time'"),
    "several types": ({"time": [1, "a", ()]}, "of several types"),
    "a number": ({"time": 3}, "an array or a list is wanted, not 3"),
    "two dimensions": ({"time": np.zeros((3, 2))}, "one dimension"),
    "lists": ({"time": [[1], [2], [3]]}, "of several types|edges carry"),
}


@pytest.mark.parametrize("name", BAD_COLUMNS)
def test_what_edges_cannot_carry_is_refused(name):
    edge_data, message = BAD_COLUMNS[name]
    with pytest.raises(InputError, match=message):
        as_graph(([0, 0, 1], [1, 2, 2]), edge_data=edge_data)


@pytest.mark.parametrize(
    ("edge_data", "message"),
    [
        ([1, 2, 3], "edge_data is a dict of columns by name"),
        ({"it": np.arange(2)}, r"3 arcs want an array of that length, not one of shape \(2,\)"),
        ({"it": [1, 2, 3]}, "must be an array, not list"),
        ({"it": np.array(["a", "b", "c"])}, "as_graph makes categories of strings"),
        ({"it": Categories(np.array([0, 1, 2], np.int32), np.array(["a"], object))}, "a code is not one of its 1"),
        ({2: np.arange(3)}, "have names, not 2"),
    ],
)
def test_the_constructor_checks_edge_data(edge_data, message):
    with pytest.raises(InputError, match=message):
        Graph(GRAPH.offsets, GRAPH.targets, edge_data=edge_data)


def test_there_are_no_such_edge_data():
    with pytest.raises(InputError, match="there are no edge data 'tme'; there are 'time'"):
        GRAPH.edge_data["tme"]
    with pytest.raises(InputError, match="there are none: see edge_data= of as_graph"):
        as_graph([(0, 1)]).edge_data["time"]
    assert "time" in GRAPH.edge_data
    with pytest.raises(ValueError, match="read-only"):
        GRAPH.edge_data["time"][0] = 1
