"""The graph itself: CSR by counting, ids, and what is derived from it."""

import pickle
from functools import partial

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists, edges_of, graphs

from rapids_bfs import Graph, InputError, as_graph
from rapids_bfs._core import threads
from rapids_bfs._core.csr import host as csr
from rapids_bfs._core.cuda.driver import driver
from rapids_bfs.adapters._edge_list import EdgeList
from rapids_bfs.adapters.edges import from_edge_list


@pytest.fixture(scope="module", autouse=True, params=["few for one thread", "all for all threads"])
def sharing(request):
    """Small graphs are left to one thread, or shared out as large ones are."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "all for all threads":
            patch.setattr(threads, "FEW", 0)
        yield


def rows_of(graph):
    return [graph.targets[start:stop].tolist() for start, stop in zip(graph.offsets, graph.offsets[1:], strict=False)]


@given(edge_lists(), st.sampled_from([True, False, None]))
def test_adjacency_is_the_edge_list_in_its_order(edges, directed):
    n, sources, targets = edges
    graph = as_graph((sources, targets), vertices=n, directed=directed)
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    symmetric = sorted(pairs) == sorted((v, u) for u, v in pairs)
    rows = [[] for _ in range(n)]
    for u, v in pairs:
        rows[u].append(v)
        if directed is False and not symmetric and u != v:
            rows[v].append(u)
    assert rows_of(graph) == rows
    assert graph.directed == (not symmetric if directed is None else directed)
    assert graph.offsets.dtype == graph.targets.dtype == np.int32


@given(graphs(), st.sampled_from([np.int32, np.int64]))
def test_positions_lead_from_the_reverse_back_to_the_edges(graph, dtype):
    targets = graph.targets.astype(dtype)
    offsets, sources = csr.transpose(graph.offsets, targets)
    positions = csr.transposed_positions(graph.offsets, targets)
    heads = np.repeat(np.arange(graph.num_vertices), np.diff(offsets))
    edges = graph.offsets[sources] + positions
    assert sources.dtype == positions.dtype == dtype
    np.testing.assert_array_equal(targets[edges], heads)
    assert sorted(edges.tolist()) == list(range(graph.num_arcs))
    assert csr.ascends(offsets, sources)


@given(graphs())
def test_ascends(graph):
    assert csr.ascends(graph.offsets, graph.targets) == all(row == sorted(row) for row in rows_of(graph))


@given(graphs())
def test_reverse(graph):
    assert edges_of(graph.reverse) == sorted((v, u) for u, v in edges_of(graph))
    assert (graph.reverse is graph) == (not graph.directed)
    assert graph.reverse is graph.reverse


@pytest.mark.parametrize(("offset", "vertex"), [(np.int32, np.int32), (np.int64, np.int32), (np.int64, np.int64)])
def test_reverse_keeps_the_types(offset, vertex):
    """A kernel is compiled for one type of offsets and one of vertices."""
    graph = Graph(np.array([0, 1, 2], offset), np.array([1, 1], vertex), directed=True)
    assert (graph.reverse.offsets.dtype, graph.reverse.targets.dtype) == (offset, vertex)


@given(graphs())
def test_undirected_is_symmetric_and_joins_the_same_vertices(graph):
    both = graph.undirected
    assert not both.directed
    assert edges_of(both) == sorted((v, u) for u, v in edges_of(both))
    assert {frozenset(edge) for edge in edges_of(both)} == {frozenset(edge) for edge in edges_of(graph)}


@given(graphs())
def test_simple_loops_and_duplicates(graph):
    edges = edges_of(graph)
    assert graph.num_loops == sum(u == v for u, v in edges)
    assert graph.num_duplicates == len(edges) - len(set(edges))
    simple = graph.simple
    assert all(row == sorted({v for v in row if v != u}) for u, row in enumerate(rows_of(simple)))
    assert edges_of(simple) == sorted({(u, v) for u, v in edges if u != v})
    assert simple.directed == graph.directed
    assert (simple.num_loops, simple.num_duplicates) == (0, 0)


@given(st.data())
def test_integer_ids_with_gaps_become_ascending_labels(data):
    """Whether they lie close, and are counted, or far apart, and are hashed."""
    _, sources, targets = data.draw(edge_lists())
    distance = data.draw(st.sampled_from([1, 3, 10**12]))
    graph = as_graph((sources * distance, targets * distance), directed=data.draw(st.booleans()))
    ids = np.union1d(sources, targets) * distance
    if graph.labels is None:
        np.testing.assert_array_equal(ids, np.arange(graph.num_vertices))
    else:
        np.testing.assert_array_equal(graph.labels, ids)
        assert not np.array_equal(ids, np.arange(len(ids)))
    assert graph.vertices_of(ids.tolist()).tolist() == list(range(len(ids)))
    for id in (-1, 1 if distance > 1 else 99, 0.5, "0", None, (0,), 1 << 70, -1 << 70):
        assert id not in graph


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_an_id_beyond_the_type_of_the_labels_is_no_vertex(dtype):
    graph = Graph(np.array([0, 1, 1]), np.array([1]), labels=np.array([5, 7], dtype))
    assert [graph.vertex_of(id) for id in (5, np.int64(7))] == [0, 1]
    assert graph.vertices_of([7, np.int32(5), 7]).tolist() == [1, 0, 1]
    for id in (7 + 2**32, 5 - 2**32, 7 + 2**64, 2**31, -5, 0, 8, True):
        assert id not in graph
        with pytest.raises(InputError, match=f"{id} is not a vertex"):
            graph.vertices_of([5, id, -1])
    assert 0 not in Graph(np.array([0]), np.array([], dtype), labels=np.array([], dtype))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_negative_integers_are_no_labels(dtype):
    with pytest.raises(InputError, match="label -1 is negative: integer ids start at 0"):
        Graph(np.array([0, 1, 1]), np.array([1]), labels=np.array([-1, 7], dtype))


def test_blocks_smaller_than_the_edge_list():
    rng = np.random.default_rng(0)
    sources, targets = rng.integers(0, 100, (2, 5000))

    def blocks():
        for start in range(0, 5000, 7):
            yield sources[start : start + 7].astype(np.int32), targets[start : start + 7].astype(np.uint16)

    for directed in (True, False):
        whole = as_graph((sources, targets), directed=directed)
        pieces = from_edge_list(EdgeList(5000, blocks), directed=directed)
        assert rows_of(whole) == rows_of(pieces)


@pytest.mark.parametrize("threads", [1, 2])
def test_more_edges_than_a_block(threads):
    rng = np.random.default_rng(0)
    n, m = 70_000, csr.BLOCK + 12345
    sources, targets = rng.integers(0, n, (2, m))
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        graph = as_graph((sources, targets), vertices=n)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(graph.degrees, np.bincount(sources, minlength=n))
    np.testing.assert_array_equal(graph.targets, targets[np.argsort(sources, kind="stable")])


def test_without_a_device_a_graph_stays_on_the_host():
    graph = as_graph(([0], [1]))
    assert graph.device == "cpu"
    assert graph.to("cpu") is graph is as_graph(graph, device="cpu")
    with pytest.raises(InputError, match="lives on 'cpu' or 'cuda', not on 'tpu'"):
        as_graph(graph, device="tpu")
    with pytest.raises(InputError, match="unknown kind 'tpu': a graph goes to cpu or cuda, or"):
        graph.to("tpu")
    if driver().devices:
        pytest.skip("there is a CUDA device")
    with pytest.raises(InputError, match="this needs a CUDA device: there is no CUDA device"):
        graph.to("cuda")
    with pytest.raises(InputError, match="this needs a CUDA device: there is no CUDA device"):
        as_graph(([0], [1]), device="cuda")


@pytest.mark.parametrize("graph", [as_graph("path:3"), as_graph("path:3", devices="cpu:2")], ids=repr)
@pytest.mark.parametrize(
    "function", [nx.Graph, partial(nx.shortest_path, source=0, target=1), nx.is_tree, nx.line_graph]
)
def test_networkx_says_what_to_do_with_a_graph(function, graph):
    with pytest.raises((InputError, AttributeError), match=r"not a NetworkX graph: use graph\.to\('networkx'\)"):
        function(graph)


def test_arrays_cannot_be_written():
    graph = as_graph(([0], [1]))
    with pytest.raises(ValueError, match="read-only"):
        graph.targets[0] = 0


@pytest.mark.parametrize("name", ["device", "num_vertices", "num_loops", "num_duplicates"])
def test_what_follows_from_the_arrays_cannot_be_set(name):
    """With graph.num_vertices = 10**6, as PyTorch Geometric has it, a search crashed."""
    graph = as_graph([("a", "b")])
    for _ in range(2):
        with pytest.raises(AttributeError, match=f"a graph's {name} cannot be set: it follows from the arrays"):
            setattr(graph, name, 10**6)
        assert getattr(graph, name) in ("cpu", 2, 0)


@pytest.mark.parametrize("name", ["offsets", "targets", "labels", "directed", "edge_data"])
def test_what_was_checked_cannot_be_set(name):
    graph = as_graph([("a", "b")])
    with pytest.raises(AttributeError, match=rf"a graph's {name} cannot be set: graph\.replace"):
        setattr(graph, name, getattr(graph, name))
    with pytest.raises(AttributeError, match=f"a graph's {name} cannot be deleted"):  # and set then
        delattr(graph, name)
    graph.name = "renamed"
    assert graph.replace(directed=True).name == pickle.loads(pickle.dumps(graph)).name == "renamed"


def test_pickle_whose_arrays_came_out_of_band():
    """As Dask sends them: at addresses that are no multiple of anything."""
    graph, buffers = as_graph(([3, 70], [70, 99])), []
    sent = pickle.dumps(graph, protocol=5, buffer_callback=buffers.append)
    received = [memoryview(b"x" + buffer.raw().tobytes())[1:] for buffer in buffers]
    copy = pickle.loads(sent, buffers=received)
    assert copy.to("edges")[1].tolist() == graph.to("edges")[1].tolist() == [70, 99]


def test_pickle():
    graph = as_graph((["a"], ["b"]))
    copy = pickle.loads(pickle.dumps(graph))
    assert rows_of(copy) == rows_of(graph)
    assert copy.labels.tolist() == ["a", "b"]


def test_edges_are_counted_as_people_count_them():
    graph = as_graph(([0, 0, 1], [1, 0, 2]), directed=False)
    assert (graph.num_edges, graph.num_arcs) == (3, 5)


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        (([0, -4], [1, 1]), {}, r"column 'source', row 1 \(from 0\): -4 is negative"),
        (([0, 1], [1, 2.5]), {}, r"column 'target', row 1 \(from 0\): 2.5 is fractional"),
        (([0, 1], [1, np.nan]), {}, r"column 'target', row 1 \(from 0\): nan"),
        ((["a", "b"], ["b", None]), {}, r"column 'target', row 1 \(from 0\): null"),
        (([0, 5], [1, 1]), {"vertices": 3}, r"column 'source', row 1 \(from 0\): 5 is past the last of 3 vertices"),
        (([0], [5]), {"vertices": 1}, r"5 is past the last of 1 vertex, 0"),
        (([0], [1, 2]), {}, "of one length"),
        (([True], [False]), {}, "bool cannot hold vertex ids"),
        (([0], [1]), {"vertices": -1}, "at least 0, not -1"),
        (([0], [1]), {"vertices": 10**15}, "needs .* PiB of memory, and .* are free"),
        ((np.eye(2), np.eye(2)), {}, "one-dimensional"),
        (([[1, 2]], [[1, 2]]), {}, "must be hashable"),
        (([{}], [{}]), {}, "must be hashable"),
        ((["a"], ["b"]), {"vertices": 3}, "can only be given with integer ids"),
        (([2**63], [1]), {}, "beyond int64"),
    ],
)
def test_bad_edges_are_named(edges, options, message):
    with pytest.raises(InputError, match=message):
        as_graph(edges, **options)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (([0, 1], [1, 2]), r"its vertices are 0\.\.2$"),
        (([5, 7], [7, 9]), "its 3 vertices have the ids 5, ..., 9$"),
        (([0], [0]), "its only vertex is 0$"),
        ((["a"], ["a"]), "its only vertex is 'a'$"),
        (([], []), "the graph has no vertices"),
    ],
)
def test_the_ids_that_there_are_instead(edges, message):
    with pytest.raises(InputError, match=message):
        as_graph(edges).vertex_of("z")


@pytest.mark.parametrize(
    ("id", "hint"),
    [
        ("lvoe", "; did you mean 'love'?"),
        ("lov", "; did you mean 'love'?"),
        ("loove", "; did you mean 'love'?"),
        ("lin", "; did you mean 'line' or 'fin'?"),
        ("lime", "; did you mean 'line' or 'lire'?"),
        ("MONEY ", ""),
        ("Money", "; did you mean 'money'?"),
        (" money", "; did you mean 'money'?"),
        (17, "; did you mean '17'?"),
        ("hatred", ""),
        ("x" * 1000, ""),
        (("love",), ""),
    ],
)
def test_an_id_that_is_nearly_one(id, hint):
    graph = as_graph((["love", "line", "17", "fin"], ["money", "lire", "2.50", "2.50"]))
    with pytest.raises(InputError) as refused:
        graph.vertex_of(id)
    assert str(refused.value).endswith(f"its 7 vertices have the ids 'love', ..., 'fin'{hint}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"columns": columns}, "columns are two names") for columns in (("a",), ("a", "a"), (1, 2), "ab", None)),
        ({"columns": ("u", "v"), "edge_data": {"v": np.array([1, 2])}}, "the column 'v' holds the ends of edges"),
        ({"edge_data": {"source": np.array([1, 2])}}, "the column 'source' holds the ends of edges"),
        ({"labels": np.array([None, "a"])}, "None is not a vertex id"),
        ({"name": 5}, "a graph's name is a string, not 5"),
    ],
)
def test_names_and_labels_that_a_frame_could_not_keep(changes, message):
    """A column of the frame replaced another, or None meant both a vertex and none, without a word."""
    graph = Graph(np.array([0, 1, 2]), np.array([1, 0]))
    with pytest.raises(InputError, match=message):
        graph.replace(**changes)
