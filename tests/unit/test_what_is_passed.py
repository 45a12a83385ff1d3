"""What is passed in the wrong place, of the wrong kind, or for what is not installed: one `InputError` that says so."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs

from rapids_bfs import (
    InputError,
    as_graph,
    bfs,
    bfs_batch,
    compare,
    load,
    plot_levels,
    plot_sizes,
    read,
    shortest_path,
    validate,
)
from rapids_bfs._core.arguments import LONGEST_QUOTE, quoted
from rapids_bfs._core.cuda.arrays import cupy_missing
from rapids_bfs.errors import LONGEST_MESSAGE
from rapids_bfs.generators import rmat_edges, urand

GRAPH = as_graph("karate")
RESULT = bfs(GRAPH, 0)
PARTS = load("karate", devices="cpu:2")
ON_THE_DEVICE = ["cudf", "cugraph", "cupy", "cupyx", "pylibcudf", "pylibcugraph", "nx-cugraph", "arrow-device"]


def refused(message, call, *arguments, **options):
    with pytest.raises(InputError, match=message):
        call(*arguments, **options)


@pytest.mark.parametrize("device", ["x", "CPU", "networkx", "", None, 0, ["cpu"], np.array(["cpu"])], ids=repr)
def test_what_is_no_device(device):
    for make in (rmat_edges, urand):
        refused("a graph lives on 'cpu' or 'cuda', not on", make, 4, device=device)
    if device is not None:  # its default
        for name in ("rmat:4", "karate"):
            refused("a graph lives on 'cpu' or 'cuda'", load, name, device=device)
    for result in (RESULT, bfs(PARTS, 0)):
        refused("a graph lives on 'cpu' or 'cuda'", result.to, device)


@pytest.mark.parametrize("path", [None, 3, 1.5, ["a.csv"], object], ids=repr)
def test_what_is_no_path(path):
    comparison = compare(GRAPH, sources=[0], engines="cpu")
    for call in (read, load, GRAPH.save, comparison.to_json, comparison.to_csv, comparison.to_html):
        refused("a path is a string or an os.PathLike, not", call, path)


def test_what_is_no_name(tmp_path):
    GRAPH.save(tmp_path / "g.npz")
    refused("a graph's name is a string, not 3", as_graph, ([0], [1]), name=3)
    refused("a graph's name is a string, not 3", read, tmp_path / "g.npz", name=3)


@pytest.mark.parametrize("kind", ["nonsense", None, 3, ["csr"], {}], ids=repr)
def test_what_is_no_kind(kind):
    for graph in (GRAPH, PARTS):
        refused("unknown kind .*: a graph goes to cpu or cuda, or becomes arrow", graph.to, kind)


@pytest.mark.skipif(cupy_missing() is None, reason="there is a CUDA device")
@pytest.mark.parametrize("kind", ON_THE_DEVICE)
def test_what_needs_a_device_says_so(kind):
    refused("there is no CUDA device|is not installed|cannot be imported", GRAPH.to, kind)
    if kind == "cudf":
        refused("there is no CUDA device|is not installed", RESULT.to_frame, kind)


@pytest.mark.parametrize("arguments", [(RESULT, GRAPH), (GRAPH, None), (nx.Graph(), RESULT.distances)])
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
    refused("validate takes a Graph", validate, load("karate", devices="cpu:2"), RESULT)


def test_what_cannot_be_drawn():
    refused("plot_levels takes a Graph, such as as_graph makes", plot_levels, RESULT, GRAPH)
    refused("plot_levels takes a Graph, such as as_graph makes", plot_levels, GRAPH, None)
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
    "target": lambda id: bfs(GRAPH, 0, target=id),
    "several": lambda id: bfs(GRAPH, [id]),
    "distributed": lambda id: bfs(load("karate", devices="cpu:2"), id),
    "path": lambda id: RESULT.path_to(id),
    "shortest path": lambda id: shortest_path(GRAPH, 0, id),
    "no path": lambda id: shortest_path(as_graph({id: [], "a": []}), id, "a"),
    "batch": lambda id: bfs_batch(GRAPH, id),
    "engine": lambda id: bfs(GRAPH, 0, engine=id),
    "depth limit": lambda id: bfs(GRAPH, 0, depth_limit=id),
    "deterministic": lambda id: bfs(GRAPH, 0, deterministic=id),
    "name": lambda id: bfs(as_graph(([0], [1]), name=id), 2),
    "graph": as_graph,
    "file": load,
    "kind": GRAPH.to,
    "columns": lambda id: as_graph(pd.DataFrame({LONG + "x": [0], id if isinstance(id, str) else "b": [1], "c": [2]})),
    "no column": lambda id: as_graph(pd.DataFrame({"a": [0], "b": [1], "c": [2]}), source=id),
    "devices": lambda id: load("karate", devices=id),
    "validate": lambda id: validate(GRAPH, replace(RESULT, target=id)),
    "compare": lambda id: compare(GRAPH, sources=[0], engines=id),
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


@given(st.data())
def test_equal_results_are_equal(data):
    graph = data.draw(graphs(min_vertices=2))
    source, other = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=2, max_size=2, unique=True))
    ids = graph.ids_of(np.array([source, other])).tolist()
    one, again = bfs(graph, ids[0], deterministic=True), bfs(graph, ids[0], deterministic=True)
    assert one == again == one.copy()
    assert (one == again) is True
    assert one != bfs(graph, ids[1], deterministic=True)
    assert one != bfs(graph, ids[0], deterministic=True, predecessors=False)
    assert one != replace(one, distances=one.distances + 1)
    assert one != replace(one, depth_limit=3)
    assert one == bfs(graph, ids[0], deterministic=True, trace=True)
    assert one != 3
    batch = bfs_batch(graph, ids)
    assert (batch == bfs_batch(graph, ids)) is True
    assert batch != bfs_batch(graph, ids[::-1])
    assert batch != bfs_batch(graph, ids, keep="summary")


def test_results_of_two_graphs_differ():
    assert bfs(as_graph("karate"), 0) != RESULT
    assert bfs_batch(GRAPH, [0]) != RESULT
    with pytest.raises(TypeError, match="unhashable"):
        hash(RESULT)


def test_an_engine_that_was_not_compared():
    with pytest.raises(KeyError, match="'scipy' is not one of the engines compared: cpu"):
        compare(GRAPH, sources=[0], engines="cpu")["scipy"]


def test_a_comparison_is_a_mapping_of_its_engines():
    comparison = compare(GRAPH, [0], engines=["cpu", "cpu:sequential"])
    assert list(comparison) == ["cpu", "cpu:sequential"]
    assert ("cpu" in comparison, "scipy" in comparison, 0 in comparison, len(comparison)) == (True, False, False, 2)
    assert dict(comparison) == {runs.engine: runs for runs in comparison.engines}


@pytest.mark.parametrize("id", [np.int64(99), "x" * 2_000_000, [1], 10**5000], ids=["int64", "str", "list", "int"])
def test_a_vertex_not_reached_is_named_in_few_letters(id):
    with pytest.raises(KeyError) as error:
        RESULT[id]
    assert len(str(error.value)) < 200
    assert "np.int64" not in str(error.value)


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
