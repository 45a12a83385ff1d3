"""Whatever is passed for an argument: an answer, or one `InputError` that says what is wrong."""

from collections.abc import Hashable
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import oracle_distances

from rapids_bfs import (
    InputError,
    as_graph,
    betweenness,
    bfs,
    bfs_batch,
    compare,
    load,
    plot_levels,
    plot_sizes,
    read,
    shortest_path,
    shortest_paths,
    validate,
)
from rapids_bfs._core.arguments import LONGEST_QUOTE, quoted
from rapids_bfs._core.cuda.arrays import cupy_missing
from rapids_bfs.comparison.graph500 import graph500
from rapids_bfs.errors import LONGEST_MESSAGE
from rapids_bfs.generators import rmat_edges, urand_edges

GRAPH = as_graph(([0, 1, 2, 0, 5], [1, 2, 3, 2, 6]), vertices=7, directed=False)
KARATE = as_graph("karate")
RESULT = bfs(KARATE, 0)
DISTRIBUTED = load("karate", devices="cpu:2")
NAMED = as_graph([("a", "b"), ("b", "c")])
SPREAD = as_graph(([10, 20], [20, 2**40]))
HUGE = [10**20, 10**30, 2**31, 2**31 - 1, 2**63 - 1]
NO_NUMBERS = [-1, -(10**30), 0.5, float("nan"), float("inf"), "2", "", b"2", True, np.True_, [], {}, object, 1j]
ON_THE_DEVICE = ["cudf", "cugraph", "cupy", "cupyx", "pylibcudf", "pylibcugraph", "nx-cugraph", "arrow-device"]
NO_VERTEX = "is not a vertex of edges; its"
NO_COUNT = "must be (at least [01]|a whole number), not "
NO_ENGINE = "an engine is written as a string|unknown engine|has no algorithm 'nonsense'"
NO_ENGINES = [None, 3, "", "nonsense", ":", "cpu:nonsense", ["cpu"], b"cpu", True, object]


def refused(message, call, *arguments, **options):
    with pytest.raises(InputError, match=message):
        call(*arguments, **options)


@pytest.mark.parametrize("graph", [GRAPH, NAMED, SPREAD], ids=["0..n-1", "names", "spread ids"])
@pytest.mark.parametrize("id", [*NO_NUMBERS, *HUGE, (), None, np.float64(2), np.array([[0]])], ids=repr)
def test_what_is_no_vertex_is_refused(graph, id):
    for search in (bfs, bfs_batch, betweenness):
        refused(NO_VERTEX, search, graph, [id])
    if id is not None:
        refused("at least one source is needed" if isinstance(id, list | tuple) else NO_VERTEX, bfs, graph, id)
        refused(NO_VERTEX, bfs, graph, graph.ids_of(np.array([0])).tolist()[0], target=id)
        assert not isinstance(id, Hashable) or id not in graph


@pytest.mark.parametrize(
    "sources",
    [np.array([0, 2], dtype) for dtype in ("i1", "u8", ">i4", "i8", object)] + [range(0, 3, 2), {0, 2}],
    ids=repr,
)
def test_sources_of_any_integers(sources):
    found = bfs_batch(GRAPH, sources).distances
    for row, source in zip(found, sources, strict=True):
        np.testing.assert_array_equal(row, oracle_distances(GRAPH, [int(source)]))
    np.testing.assert_array_equal(bfs(GRAPH, sources).distances, oracle_distances(GRAPH, [0, 2]))


TIMES = [
    pd.Timestamp(2020, 1, 1),
    pd.Timedelta(1, "s"),
    pd.Period("2020"),
    np.timedelta64(1, "s"),
    np.datetime64(1, "s"),
]


@pytest.mark.parametrize("id", TIMES, ids=repr)
def test_a_time_is_one_id(id):
    """What has to_numpy need not be a collection, and NumPy's timedeltas are no integers."""
    for graph in (as_graph([(id, id)]), as_graph({id: ["b"]}), as_graph({id: [id]})):
        assert bfs(graph, id, target=id).distance_to(id) == 0
    refused(NO_VERTEX, bfs, GRAPH, id)
    refused("expected a list of vertex ids, not", bfs_batch, GRAPH, id)


def test_one_source_is_no_batch():
    refused(r"expected a list of vertex ids, not array\(0\)", bfs_batch, GRAPH, np.array(0))
    refused("expected a list of vertex ids, not b", bfs_batch, GRAPH, b"\0")
    refused(r"expected a list of vertex ids, not array\(0\)", betweenness, GRAPH, np.array(0))


@pytest.mark.parametrize("option", ["predecessors", "deterministic", "trace", "check"])
@pytest.mark.parametrize("value", [0, 1, "yes", None, np.array([True])], ids=repr)
def test_flags_are_bools(option, value):
    refused(f"^{option} must be True or False, not", bfs, GRAPH, 0, **{option: value})
    if option != "check":
        assert bfs(GRAPH, 0, **{option: np.True_}).num_reached == 4


@pytest.mark.parametrize("value", [0, 1, "no", None, np.ones(8, bool)], ids=repr)
def test_flags_of_other_calls_are_bools(value, tmp_path):
    """A mask for ``edges``, as other calls take it, is none here."""
    for option in ("edges", "endpoints"):
        refused(f"^{option} must be True or False, not", betweenness, GRAPH, **{option: value})
    (tmp_path / "kept.npz").write_text("kept")
    refused("^force must be True or False, not", GRAPH.save, tmp_path / "kept.npz", force=value)
    assert (tmp_path / "kept.npz").read_text() == "kept"


@pytest.mark.parametrize("graph", [{"a": 1}, {"a": None}, (np.int64(1), np.int64(2)), (object, object)], ids=repr)
def test_what_is_no_graph_is_refused(graph):
    refused("instead of a list of its neighbours|a column of ids is an array or a list", as_graph, graph)


def test_ids_that_arrow_knows_by_an_extension_are_objects():
    for ids in (pd.interval_range(0, 2), pd.period_range("2020", periods=2)):
        graph = as_graph(pd.DataFrame({"source": ids, "target": ids[::-1]}))
        assert set(graph.labels) == set(ids)


@pytest.mark.parametrize("limit", NO_NUMBERS, ids=repr)
def test_what_is_no_depth_limit_is_refused(limit):
    for search in (bfs, bfs_batch):
        refused(f"^the depth limit {NO_COUNT}", search, GRAPH, [0], depth_limit=limit)
    refused(f"^the depth limit {NO_COUNT}", compare, GRAPH, sources=[0], depth_limit=limit)


@pytest.mark.parametrize("limit", HUGE)
@pytest.mark.parametrize("engine", ["cpu", "cpu:sequential", "scipy", "networkx"])
def test_a_depth_limit_beyond_all_distances_is_none(engine, limit):
    result = bfs(GRAPH, 0, depth_limit=limit, engine=engine)
    np.testing.assert_array_equal(result.distances, oracle_distances(GRAPH, [0]))
    assert validate(GRAPH, result)
    assert validate(GRAPH, replace(result, depth_limit=limit))
    batch = bfs_batch(GRAPH, [0], depth_limit=limit, engine=engine)
    np.testing.assert_array_equal(batch.distances[0], result.distances)


@pytest.mark.parametrize("engine", NO_ENGINES, ids=repr)
def test_what_is_no_engine_is_refused(engine):
    for search in (bfs, bfs_batch, betweenness):
        refused(NO_ENGINE, search, GRAPH, [0], engine=engine)
    refused(NO_ENGINE, graph500, 4, engine=engine)
    if engine is not None:
        several = f"{NO_ENGINE}|engines are a list of names, or one string with commas"
        refused(several, compare, GRAPH, sources=[0], engines=engine if engine != ["cpu"] else [["cpu"]])
        refused(NO_ENGINE, compare, GRAPH, sources=[0], baseline=engine, engines="cpu")


@pytest.mark.parametrize("size", [0, *NO_NUMBERS], ids=repr)
def test_what_is_no_batch_size_is_refused(size):
    refused(f"^batch_size {NO_COUNT}", bfs_batch, GRAPH, [0], batch_size=size)
    refused(f"^the number of roots {NO_COUNT}", graph500, 4, roots=size)
    refused(f"^the number of sources {NO_COUNT}", compare, GRAPH, num_sources=size, engines="cpu")


def test_a_batch_may_be_larger_than_the_sources():
    for options in ({}, {"keep": "summary"}, {"on_batch": lambda rows, distances: None}):
        assert len(bfs_batch(GRAPH, batch_size=10**20, **options).sources) == 7


@pytest.mark.parametrize("options", [{"keep": each} for each in (None, 3, ["distances"], np.zeros(2))], ids=repr)
def test_what_is_not_to_be_kept_is_refused(options):
    refused("^keep must be 'distances' or 'summary', not", bfs_batch, GRAPH, [0], **options)
    refused("^on_batch must be a function, not 3", bfs_batch, GRAPH, [0], on_batch=3)


@pytest.mark.parametrize("number", NO_NUMBERS, ids=repr)
def test_what_is_no_seed_or_scale_is_refused(number):
    refused(f"^the seed {NO_COUNT}", compare, GRAPH, num_sources=1, seed=number, engines="cpu")
    refused(f"^the seed {NO_COUNT}", rmat_edges, 4, seed=number)
    refused(f"^rmat: the scale {NO_COUNT}", rmat_edges, number)
    refused(f"^rmat: the edge factor {NO_COUNT}", rmat_edges, 4, number)


def test_more_sources_than_vertices_are_all_of_them():
    assert len(compare(GRAPH, num_sources=10**20, engines="cpu")["cpu"].runs) == 6
    assert len(compare(GRAPH, num_sources=np.int64(2), engines="cpu")["cpu"].runs) == 2


@pytest.mark.parametrize("vertices", NO_NUMBERS, ids=repr)
def test_what_is_no_number_of_vertices_is_refused(vertices):
    refused(f"^the number of vertices {NO_COUNT}", as_graph, ([0, 1], [1, 2]), vertices=vertices)


@pytest.mark.parametrize("device", ["x", "CPU", "networkx", "", None, 0, ["cpu"], np.array(["cpu"])], ids=repr)
def test_what_is_no_device(device):
    for make in (rmat_edges, urand_edges):
        refused("a graph lives on 'cpu' or 'cuda', not on", make, 4, device=device)
    if device is not None:  # its default
        for name in ("rmat:4", "karate"):
            refused("a graph lives on 'cpu' or 'cuda'", load, name, device=device)
    for result in (RESULT, bfs(DISTRIBUTED, 0)):
        refused("a graph lives on 'cpu' or 'cuda'", result.to, device)


@pytest.mark.parametrize("path", [None, 3, 1.5, ["a.csv"], object], ids=repr)
def test_what_is_no_path(path):
    comparison = compare(KARATE, sources=[0], engines="cpu")
    for call in (read, load, KARATE.save, comparison.to_json, comparison.to_csv, comparison.to_html):
        refused("a path is a string or an os.PathLike, not", call, path)


def test_what_is_no_name(tmp_path):
    KARATE.save(tmp_path / "g.npz")
    refused("a graph's name is a string, not 3", as_graph, ([0], [1]), name=3)
    refused("a graph's name is a string, not 3", read, tmp_path / "g.npz", name=3)


@pytest.mark.parametrize("kind", ["nonsense", None, 3, ["csr"], {}], ids=repr)
def test_what_is_no_kind(kind):
    for graph in (KARATE, DISTRIBUTED):
        refused("unknown kind .*: a graph goes to cpu or cuda, or becomes arrow", graph.to, kind)


@pytest.mark.skipif(cupy_missing() is None, reason="there is a CUDA device")
@pytest.mark.parametrize("kind", ON_THE_DEVICE)
def test_what_needs_a_device_says_so(kind):
    refused("there is no CUDA device|is not installed|cannot be imported", KARATE.to, kind)
    if kind == "cudf":
        refused("there is no CUDA device|is not installed", RESULT.to_frame, kind)


@pytest.mark.parametrize("arguments", [(RESULT, KARATE), (KARATE, None), (nx.Graph(), RESULT.distances)])
def test_what_cannot_be_validated(arguments):
    kinds = " and ".join(f"{type(each).__module__}.{type(each).__qualname__}" for each in arguments)
    refused(f"validate takes a Graph, such as as_graph makes, and the BFSResult .*, not {kinds}$", validate, *arguments)


def test_what_is_searched_can_be_validated():
    searched = nx.Graph([("a", "b"), ("b", "c")])
    result = bfs(searched, "a")
    assert validate(searched, result)
    searched.add_edge("a", "c")
    assert "vertex 'c' has distance 2" in str(validate(searched, result))
    assert validate("karate", RESULT)
    refused("cannot make a graph of rapids_bfs.result.BFSResult", validate, RESULT, RESULT)
    there = load("karate", devices="cpu:2")
    for arguments in ((there, RESULT), ("karate", bfs(there, 0)), (load("karate", devices="cpu:2"), bfs(there, 0))):
        refused("^this result belongs to another graph, karate: pass that instead of karate$", validate, *arguments)


def test_what_cannot_be_drawn():
    refused("plot_levels takes a Graph, such as as_graph makes", plot_levels, RESULT, KARATE)
    refused("plot_levels takes a Graph, such as as_graph makes", plot_levels, KARATE, None)
    refused("distances must be an array of 3", plot_levels, as_graph("path:3"), RESULT)
    refused("not the result of a search of path:34: rule", plot_levels, as_graph("path:34"), RESULT)
    refused("plot_sizes takes a list of comparisons, not int", plot_sizes, 3)
    refused("plot_sizes takes a list of comparisons, not dict", plot_sizes, {"graph": 1})
    refused("a comparison is what compare returns", plot_sizes, [3])


class Nameless:
    def __repr__(self):
        raise RuntimeError

    __str__ = __repr__


LONG = "m" * 200_000
# Calls that quote what they are given, or an id of their graph.
QUOTING = {
    "source": lambda id: bfs(id_graph(id), "no such vertex"),
    "first and last": lambda id: bfs(id_graph(id), id + id if isinstance(id, str) else Nameless()),
    "target": lambda id: bfs(KARATE, 0, target=id),
    "several": lambda id: bfs(KARATE, [id]),
    "distributed": lambda id: bfs(DISTRIBUTED, id),
    "path": lambda id: RESULT.path_to(id),
    "shortest path": lambda id: shortest_path(KARATE, 0, id),
    "shortest paths": lambda id: shortest_paths(KARATE, [0], [id]),
    "no path": lambda id: shortest_path(as_graph({id: [], "a": []}), id, "a"),
    "batch": lambda id: bfs_batch(KARATE, id),
    "engine": lambda id: bfs(KARATE, 0, engine=id),
    "depth limit": lambda id: bfs(KARATE, 0, depth_limit=id),
    "deterministic": lambda id: bfs(KARATE, 0, deterministic=id),
    "name": lambda id: bfs(as_graph(([0], [1]), name=id), 2),
    "graph": as_graph,
    "file": load,
    "kind": KARATE.to,
    "columns": lambda id: as_graph(pd.DataFrame({LONG + "x": [0], id if isinstance(id, str) else "b": [1], "c": [2]})),
    "no column": lambda id: as_graph(pd.DataFrame({"a": [0], "b": [1], "c": [2]}), source=id),
    "devices": lambda id: load("karate", devices=id),
    "validate": lambda id: validate(KARATE, replace(RESULT, target=id)),
    "compare": lambda id: compare(KARATE, sources=[0], engines=id),
}


def id_graph(id):
    return as_graph({id: ["b"], "b": []})


@pytest.mark.parametrize("call", QUOTING)
@pytest.mark.parametrize(
    "id",
    [
        LONG,
        np.str_(LONG),
        LONG.encode(),
        -(10**5000),
        (LONG, np.int64(0)),
        np.int64(-7),
        np.float64(0.5),
        [LONG],
        "\n" * 99,
    ],
    ids=lambda id: type(id).__name__,
)
def test_no_message_is_long(call, id):
    """Nor does it name NumPy's types; what is passed is on one line."""
    with pytest.raises(
        TypeError if isinstance(id, list) and call in ("source", "first and last", "no path") else InputError
    ) as error:
        QUOTING[call](id)
    assert 0 < len(str(error.value)) <= LONGEST_MESSAGE
    assert "np." not in str(error.value)
    assert "\n" not in str(error.value) or call == "name"


@given(st.recursive(st.text() | st.integers() | st.binary(), lambda ids: st.tuples(ids, ids), max_leaves=30))
def test_what_is_short_is_quoted_as_python_writes_it(id):
    shown = quoted(id)
    assert shown == repr(id) if len(repr(id)) <= LONGEST_QUOTE else len(shown) <= LONGEST_QUOTE
    assert quoted(np.int64(0)) == "0"
    assert quoted(Nameless()) == "<Nameless>"


def test_an_engine_that_was_not_compared():
    with pytest.raises(KeyError, match="'scipy' is not one of the engines compared: cpu"):
        compare(KARATE, sources=[0], engines="cpu")["scipy"]


@pytest.mark.parametrize("engine", ["nonsense", None, 3, "cpu:nonsense"])
def test_a_backend_told_to_use_no_engine(engine):
    graph = nx.path_graph(4)
    with (
        nx.config.backends.rapids_bfs(engine=engine),
        pytest.raises(InputError, match=r"unknown engine|has no algorithm 'nonsense'"),
    ):
        nx.single_source_shortest_path_length(graph, 0, backend="rapids_bfs")


def test_a_negative_node_of_networkx_is_a_vertex():
    graph = as_graph(nx.path_graph([-1, 2, 3]))
    assert bfs(graph, -1).distance_to(3) == 2


@pytest.mark.parametrize("strings", [["0", "1"], np.array(["0", "1"]), [b"0", b"1"]], ids=repr)
def test_strings_in_one_column_and_integers_in_the_other(strings):
    refused("which are never the same vertex", as_graph, (strings, [1, 2]))
    refused("which are never the same vertex", as_graph, ([1, 2], strings))


def test_a_comparison_is_a_mapping_of_its_engines():
    comparison = compare(KARATE, sources=[0], engines=["cpu", "cpu:sequential"])
    assert list(comparison) == ["cpu", "cpu:sequential"]
    assert ("cpu" in comparison, "scipy" in comparison, 0 in comparison, len(comparison)) == (True, False, False, 2)
    assert dict(comparison) == {runs.engine: runs for runs in comparison.engines}


@pytest.mark.parametrize("id", [np.int64(99), "x" * 2_000_000, [1], 10**5000], ids=["int64", "str", "list", "int"])
def test_a_vertex_not_reached_is_named_in_few_letters(id):
    with pytest.raises(KeyError) as error:
        RESULT[id]
    assert len(str(error.value)) < 200
    assert "np.int64" not in str(error.value)
