"""There and back between our graphs and every type of the GPU world."""

import subprocess
import sys

import cudf
import cugraph
import cupy
import cupyx.scipy.sparse
import networkx as nx
import numpy as np
import nx_cugraph
import pyarrow as pa
import pylibcudf
import pytest
from edge_lists import KINDS, frame_of_edges, random_pairs
from oracle import random_graph
from strategies import edges_of

from rapids_bfs import InputError, as_graph, bfs, load
from rapids_bfs.adapters.cudf import frame_of, frames_of

EXPORTS = ("arrow-device", "cudf", "cugraph", "cupy", "cupyx", "nx-cugraph", "pylibcudf", "pylibcugraph")
MERGING = ("cugraph",)  # parallel edges become one


def random_graphs(count=15):
    rng = np.random.default_rng(11)
    return [random_graph(rng) for _ in range(count)]


@pytest.mark.parametrize("kind", EXPORTS)
def test_there_and_back(kind):
    for graph in random_graphs():
        if graph.num_arcs == 0:
            continue
        options = {} if kind in ("cugraph", "cupyx", "nx-cugraph", "pylibcugraph") else {"vertices": graph.num_vertices}
        directed = {} if kind == "cugraph" else {"directed": graph.directed}
        back = as_graph(graph.to(kind), **options, **directed)
        assert back.device == "cuda"
        assert back.directed == graph.directed
        assert back.num_vertices == graph.num_vertices
        found, expected = edges_of(back.to("cpu")), edges_of(graph)
        assert (set(found) == set(expected)) if kind in MERGING else (found == expected)


@pytest.mark.parametrize("kind", KINDS)
def test_cudf_ids(kind):
    rng = np.random.default_rng(12)
    for directed in (True, False):
        frame = frame_of_edges(random_pairs(rng), kind)
        graph = as_graph(frame, directed=directed)
        assert graph.device == "cuda"
        expected = as_graph(frame.to_pandas(), directed=directed)
        named = [
            {(g.ids_of(np.array([u])).tolist()[0], g.ids_of(np.array([v])).tolist()[0]) for u, v in edges_of(g)}
            for g in (graph.to("cpu"), expected)
        ]
        assert named[0] == named[1]
        start = frame["src"].to_pandas().tolist()[0]
        result = bfs(graph, start)
        table = result.to_frame()
        assert isinstance(table, cudf.DataFrame)
        assert list(table.columns) == ["vertex", "distance", "predecessor"]
        rows = table.to_pandas().set_index("vertex")["distance"].to_dict()
        there = bfs(expected, start, engine="cpu").to_frame().set_index("vertex")["distance"].to_dict()
        assert rows == there


def test_nulls_are_refused_by_column_and_row():
    frame = cudf.DataFrame({"src": [0, 1, 2], "dst": [1, None, 0]})
    with pytest.raises(InputError, match=r"column 'dst', row 1 \(from 0\): null is not a vertex id"):
        as_graph(frame)
    with pytest.raises(InputError, match=r"column 'src', row 2 \(from 0\): null is not a vertex id"):
        as_graph(cudf.DataFrame({"src": ["a", "b", None], "dst": ["b", "c", "a"]}))
    with pytest.raises(InputError, match=r"column 'dst', row 0 \(from 0\): -3 is negative"):
        as_graph(cudf.DataFrame({"src": [0, 1], "dst": [-3, 0]}))
    with pytest.raises(InputError, match="all numbers or all strings"):
        as_graph(cudf.DataFrame({"src": [0, 1], "dst": ["a", "b"]}))
    with pytest.raises(InputError, match="its columns are"):
        as_graph(cudf.DataFrame({"a": [0], "b": [1], "c": [2]}))


def test_order_of_the_rows_is_kept_where_asked_for():
    from rapids_bfs.adapters.cudf import from_cudf

    frame = cudf.DataFrame({"src": [1, 0, 1, 0, 1], "dst": [2, 2, 0, 1, 1]})
    graph = from_cudf(frame, keep_order=True).to("cpu")
    assert graph.targets.tolist() == [2, 1, 2, 0, 1]


def pointers(*arrays):
    return [cupy.asarray(array).data.ptr for array in arrays]


def test_csr_on_the_device_is_not_copied():
    offsets, targets = cupy.array([0, 2, 3, 4], np.int32), cupy.array([1, 2, 0, 0], np.int32)
    graph = as_graph(offsets=offsets, targets=targets)
    assert pointers(graph.offsets, graph.targets) == pointers(offsets, targets)

    matrix = cupyx.scipy.sparse.csr_matrix((cupy.ones(4, np.float32), targets, offsets), shape=(3, 3))
    graph = as_graph(matrix)
    assert pointers(graph.offsets, graph.targets) == pointers(matrix.indptr, matrix.indices)
    back = graph.to("cupyx")
    assert pointers(back.indptr, back.indices) == pointers(graph.offsets, graph.targets)

    series = cudf.Series(offsets), cudf.Series(targets)
    graph = as_graph(offsets=series[0], targets=series[1])
    assert pointers(graph.offsets, graph.targets) == pointers(*series)


def test_torch_is_not_copied():
    torch = pytest.importorskip("torch")
    offsets = torch.tensor([0, 2, 3, 4], dtype=torch.int32, device="cuda")
    targets = torch.tensor([1, 2, 0, 0], dtype=torch.int32, device="cuda")
    graph = as_graph(offsets=offsets, targets=targets)
    assert pointers(graph.offsets, graph.targets) == [offsets.data_ptr(), targets.data_ptr()]
    edges = as_graph((torch.tensor([0, 1], device="cuda"), torch.tensor([1, 2], device="cuda")))
    assert edges_of(edges.to("cpu")) == [(0, 1), (1, 2)]


class DLPackOnly:
    """A tensor on the device that speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_is_not_copied():
    offsets, targets = cupy.array([0, 2, 3, 4], np.int32), cupy.array([1, 2, 0, 0], np.int32)
    graph = as_graph(offsets=DLPackOnly(offsets), targets=DLPackOnly(targets))
    assert pointers(graph.offsets, graph.targets) == pointers(offsets, targets)


def test_results_become_frames_without_a_copy():
    array = cupy.arange(5, dtype=np.int32)
    assert pointers(frame_of({"a": array})["a"]) == pointers(array)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_frames_of_searches_are_like_those_of_cudfs_constructor(dtype):
    vertices, distances, predecessors = cupy.arange(15, dtype=dtype).reshape(3, 5)
    make = frames_of(vertices)
    expected = cudf.DataFrame({"vertex": vertices, "distance": distances, "predecessor": predecessors})
    found, other = make(distances.copy(), predecessors.copy()), make(distances.copy(), predecessors.copy())
    cudf.testing.assert_frame_equal(found, expected)
    assert vars(found).keys() == vars(frame_of({"vertex": vertices})).keys()
    found.index.name = "row"
    found.loc[0, "vertex"] = 77
    found["new"] = found["distance"] * 2
    cudf.testing.assert_frame_equal(other, expected)
    assert other.index.name is None
    assert pointers(make(distances, predecessors)["distance"]) == pointers(distances)


def test_arrow_device_keeps_names():
    frame = cudf.DataFrame({"from": [0, 1], "to": [1, 2], "weight": [0.5, 0.5]})
    graph = as_graph(frame)
    exported = graph.to("arrow-device")
    back = as_graph(exported)
    assert back.columns == ("from", "to")
    assert edges_of(back.to("cpu")) == edges_of(graph.to("cpu"))
    plain, _ = frame[["from", "to"]].to_pylibcudf()
    assert edges_of(as_graph(plain).to("cpu")) == edges_of(graph.to("cpu"))
    assert isinstance(graph.to("pylibcudf"), pylibcudf.Table)
    host = pa.RecordBatch.from_pydict({"from": [0, 1], "to": [1, 2]})
    assert as_graph(host).device == "cpu"


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("renumber", [True, False])
def test_cugraph(renumber, directed):
    rng = np.random.default_rng(13)
    for _ in range(10):
        pairs = random_pairs(rng)
        graph = cugraph.Graph(directed=directed)
        graph.from_cudf_edgelist(frame_of_edges(pairs, "int32"), source="src", destination="dst", renumber=renumber)
        found = as_graph(graph)
        expected = as_graph(tuple(pairs), directed=directed, **({} if renumber else {"vertices": int(pairs.max()) + 1}))
        assert set(edges_of(found.to("cpu"))) == set(edges_of(expected))
        assert found.directed == directed
        np.testing.assert_array_equal(
            *(np.arange(g.num_vertices) if g.labels is None else g.to("cpu").labels for g in (found, expected))
        )


def test_cugraph_with_strings():
    graph = cugraph.Graph(directed=True)
    graph.from_cudf_edgelist(cudf.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]}), source="src", destination="dst")
    found = as_graph(graph)
    assert bfs(found, "a").path_to("c") == ["a", "b", "c"]
    back = as_graph(found.to("cugraph"))
    assert bfs(back, "a").path_to("c") == ["a", "b", "c"]


@pytest.mark.parametrize("make", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_nx_cugraph_keeps_order_and_nodes(make):
    graph = make([("c", "a"), ("c", "b"), ("a", "b"), ("d", "d"), ("c", "a")])
    on_device = nx_cugraph.from_networkx(graph)
    found = as_graph(on_device)
    assert found.device == "cuda"
    expected = as_graph(graph)
    assert found.directed == expected.directed
    assert found.to("cpu").labels.tolist() == expected.labels.tolist()
    assert edges_of(found.to("cpu")) == edges_of(expected)
    assert type(found.to("nx-cugraph")) is type(on_device)


CUDF_PANDAS = """
import pandas as pd
from rapids_bfs import as_graph, bfs
frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
graph = as_graph(frame)
assert graph.device == "cuda", graph.device
table = bfs(graph, 0).to_frame()
assert type(table) is type(frame), type(table)
assert table["distance"].tolist() == [0, 1, 2]
assert pd.Series([1]).sum() == 1
"""


def test_proxies_of_cudf_pandas_are_recognised(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(CUDF_PANDAS)
    command = [sys.executable, "-m", "cudf.pandas", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_bundled_graph_goes_everywhere():
    graph = load("karate")
    for kind in EXPORTS:
        back = as_graph(graph.to(kind))
        assert back.num_arcs in (graph.num_arcs, graph.num_edges)
