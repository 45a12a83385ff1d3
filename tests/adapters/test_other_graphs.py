"""From and to the graphs of igraph, NetworKit, rustworkx, python-graphblas, PyTorch Geometric and `cugraph.datasets`.

PyTorch and RAPIDS need not be here: classes of their names stand in for theirs.
"""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import edges_of, graphs

from rapids_bfs import InputError, as_graph

NAMES = [None, list("abcd"), [("x", 1), "y", 3, 2.5], [3, 1, 0, 2], [10, 7, 99, 8], [-1, 0, 1, 2], [True, 2, 3, 4]]
edge_pairs = st.lists(st.tuples(*[st.integers(0, 3)] * 2), max_size=12)


def arcs_of(graph):
    """How often each pair of ids is an arc."""
    ids = list(graph)
    return Counter((ids[u], ids[v]) for u, v in edges_of(graph))


def arcs(edges, directed):
    """The same of edges that may be undirected, of which each is there once."""
    return Counter(edges) + Counter((v, u) for u, v in edges if not directed and u != v)


@given(edges=edge_pairs, directed=st.booleans(), names=st.sampled_from(NAMES))
def test_igraph_s_vertex_names_are_ids(edges, directed, names):
    igraph = pytest.importorskip("igraph")
    theirs = igraph.Graph(4, edges, directed=directed)
    if names:
        theirs.vs["name"] = names
    graph = as_graph(theirs)
    ids = names or range(4)
    assert {*graph} == {*ids}
    assert graph.directed == directed
    assert arcs_of(graph) == arcs([(ids[u], ids[v]) for u, v in edges], directed)
    if names in (None, [3, 1, 0, 2]):
        assert graph.labels is None


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", None, "b"], "vertex 1 has no name, though others have: name it, or delete the names"),
        (["a", "b", "a"], "vertices 0 and 2 are both named 'a': rename one of them"),
        ([1, 2, 1.0], "vertices 0 and 2 are both named 1.0"),
        (["a", [], "b"], "vertex ids must be hashable"),
    ],
)
def test_igraph_s_names_may_be_no_ids(names, message):
    theirs = pytest.importorskip("igraph").Graph(3)
    theirs.vs["name"] = names
    with pytest.raises(InputError, match=message):
        as_graph(theirs)


@given(edges=edge_pairs, directed=st.booleans(), removed=st.sets(st.integers(0, 3), max_size=4), added=st.booleans())
@pytest.mark.parametrize("library", ["networkit", "rustworkx"])
def test_ids_have_gaps_where_nodes_were_removed(library, edges, directed, removed, added):
    package = pytest.importorskip(library)
    if library == "networkit":
        theirs = package.Graph(4, directed=directed)
        for u, v in edges:
            theirs.addEdge(u, v)
        remove, add = theirs.removeNode, theirs.addNode
    else:
        theirs = package.PyDiGraph() if directed else package.PyGraph()
        theirs.add_nodes_from(["same payload", "same payload", [], None])
        theirs.add_edges_from_no_data(edges)
        remove, add = theirs.remove_node, lambda: theirs.add_node(None)
    nodes = {0, 1, 2, 3}
    for node in sorted(removed):
        remove(node)
        nodes.discard(node)
    if added:
        nodes.add(add())
    graph = as_graph(theirs)
    assert list(graph) == sorted(nodes)
    assert graph.directed == directed
    assert arcs_of(graph) == arcs([(u, v) for u, v in edges if not removed & {u, v}], directed)


@given(graph=graphs(), kind=st.sampled_from(["igraph", "networkit", "rustworkx", "graphblas"]))
def test_round_trip(graph, kind):
    pytest.importorskip(kind)
    back = as_graph(graph.to(kind))
    assert back.num_vertices == graph.num_vertices
    if kind == "graphblas":
        assert {*edges_of(back)} == {*edges_of(graph)}
        assert not (back.directed and not graph.directed)
    else:
        assert edges_of(back) == edges_of(graph)
        assert back.directed == graph.directed
    assert edges_of(as_graph(graph.to(kind), directed=False)) == edges_of(back.undirected)
    assert as_graph(graph.to(kind), directed=True).directed


@given(names=st.sampled_from(NAMES[1:]), edges=edge_pairs)
def test_ids_go_out_as_names_and_payloads(names, edges):
    pytest.importorskip("igraph")
    pytest.importorskip("rustworkx")
    graph = as_graph({name: [names[v] for u, v in edges if names[u] == name] for name in names})
    ids = list(graph)
    assert graph.to("rustworkx").nodes() == ids
    theirs = graph.to("igraph")
    assert (theirs.vs["name"] if graph.labels is not None else [*theirs.vs.indices]) == ids
    assert arcs_of(as_graph(theirs)) == arcs_of(graph)
    assert list(as_graph(theirs)) == ids


def test_graphblas_stores_what_it_stores():
    """A stored zero is an edge; SuiteSparse's matrices may have more rows than any memory."""
    graphblas = pytest.importorskip("graphblas")
    matrix = graphblas.Matrix.from_coo([0, 2], [1, 2], [0.0, 5.0], nrows=3, ncols=3)
    assert edges_of(as_graph(matrix)) == [(0, 1), (2, 2)]
    assert edges_of(as_graph(matrix.T)) == [(1, 0), (2, 2)]
    for rows, columns, message in [(2, 3, "must be square, not 2 x 3"), (2**59, 2**59, "needs .* of memory")]:
        with pytest.raises(InputError, match=message):
            as_graph(graphblas.Matrix(bool, rows, columns))


@pytest.mark.parametrize("kind", ["igraph", "networkit", "rustworkx", "graphblas"])
def test_what_is_not_installed_is_named(kind, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, kind, None)
    with pytest.raises(InputError, match=rf"^{kind} is not installed: pip install 'rapids-bfs\[peers\]'$"):
        as_graph([(0, 1)]).to(kind)


class Tensor:
    """As PyTorch's, in host memory: it speaks DLPack and has a shape."""

    __module__ = "torch"

    def __init__(self, values, dtype=np.int64):
        self._array = np.array(values, dtype)
        self.shape = self._array.shape

    def __dlpack__(self, **options):
        if self._array.dtype == object:
            raise BufferError("this type is unknown to DLPack")
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def container(kind, module, **attributes):
    """One of PyTorch Geometric's, of a class derived from its."""
    base = type(kind, (), {"__module__": f"torch_geometric.data.{module}"})
    return type("Mine", (base,), {"__module__": "mine", **attributes})()


@given(graphs(), st.sampled_from([np.int64, np.int32, np.uint8]))
def test_an_edge_index_is_a_tensor_of_two_rows(graph, dtype):
    directed = graph.directed
    edges = np.array(edges_of(graph)).reshape(-1, 2).T
    n = graph.num_vertices
    for tensor in (Tensor(edges, dtype), Tensor(np.asfortranarray(edges), dtype)):
        assert edges_of(as_graph(tensor, vertices=n)) == edges_of(graph)
        data = container("Data", "data", edge_index=tensor, num_nodes=n)
        assert edges_of(as_graph(data)) == edges_of(graph)
        assert as_graph(data).num_vertices == n
        assert not (as_graph(data).directed and not directed)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Tensor([[0, 1], [1, 2], [2, 0]]), r"an edge_index has shape \(2, m\), not \(3, 2\): transpose it by \.T"),
        (Tensor([0, 1]), r"an edge_index has shape \(2, m\), not \(2,\)"),
        (Tensor([[0], [-1]]), "column 'target', row 0 .*: -1 is negative"),
        (Tensor([[0], [0.5]], np.float32), "0.5 is fractional"),
        (Tensor([["a"], ["b"]], object), r"DLPack cannot read this Tensor \(this type is unknown to DLPack\)"),
        (container("Data", "data", edge_index=None, num_nodes=3), "this Mine has no edge_index"),
        (container("TemporalData", "temporal"), "this Mine has no edge_index"),
        (container("Data", "data", edge_index=Tensor([[0], [3]]), num_nodes=3), "3 is past the last of 3 vertices, 2"),
        (
            container("HeteroData", "hetero_data", edge_types=[("user", "rates", "film"), ("film", "of", "genre")]),
            r"edges of 2 kinds, the first \('user', 'rates', 'film'\): give the edge_index of a kind",
        ),
    ],
)
def test_what_is_no_edge_index_is_named(given, message):
    with pytest.raises(InputError, match=message):
        as_graph(given)


def dataset(edges, **metadata):
    """As an object of `cugraph.datasets`, whose frame is pandas's, as where there is no GPU."""

    def get_edgelist(self, download=False):
        if edges is None:
            raise RuntimeError("The datafile /data/karate.csv does not exist. Try setting download=True")
        return pd.DataFrame(edges, columns=["src", "dst", "wgt"])

    attributes = {"get_edgelist": get_edgelist, "metadata": metadata, "__str__": lambda self: "karate"}
    return type("Dataset", (), {"__module__": "cugraph.datasets.dataset", **attributes})()


@pytest.mark.parametrize(
    ("edges", "metadata", "directed", "arcs"),
    [
        ([(0, 1, 1.0), (1, 0, 1.0)], {"is_directed": True}, False, [(0, 1), (1, 0)]),
        ([(0, 1, 1.0)], {"is_directed": True}, True, [(0, 1)]),
        ([(0, 1, 1.0)], {"is_directed": False}, False, [(0, 1), (1, 0)]),
        ([(0, 1, 1.0)], {}, True, [(0, 1)]),
    ],
)
def test_cugraph_s_datasets(edges, metadata, directed, arcs):
    graph = as_graph(dataset(edges, **metadata))
    assert edges_of(graph) == arcs
    assert graph.directed == directed
    assert graph.name == "karate"


def test_a_dataset_that_is_not_here_is_not_fetched():
    with pytest.raises(InputError, match=r"dataset\.get_edgelist\(download=True\) fetches it"):
        as_graph(dataset(None))
