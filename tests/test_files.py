"""Files of graphs: every format brings back what it can hold, and says what is wrong with a bad file."""

from __future__ import annotations

import gzip
import json
import os
import re
import struct
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import Graph, InputError, as_graph, read
from rapids_bfs.adapters.arrow import frame, from_arrow
from rapids_bfs.adapters.edges import from_codes, labelled
from rapids_bfs.adapters.files import FORMATS, check_graph_output, check_output, replacing

# What each suffix keeps beside plain vertices; all keep edges and, unless a directed graph is symmetric, direction.
KEEPS_LABELS = (".parquet", ".arrow", ".arrows", ".npz")
KEEPS_DIRECTION = (".parquet", ".arrow", ".arrows", ".npz", ".sg", ".txt", ".txt.gz")
KEEPS_ISOLATED = (*KEEPS_DIRECTION, ".mtx", ".mtx.gz")


def sorted_csr(graph: Graph) -> tuple[list[int], list[list[int]]]:
    bounds = graph.offsets.tolist()
    return bounds, [sorted(graph.targets[a:b].tolist()) for a, b in pairwise(bounds)]


def arcs(graph: Graph) -> Counter[tuple[Any, Any]]:
    """How often each id leads to each other."""
    ids = graph.ids_of(np.arange(graph.num_vertices)).tolist()
    sources = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    return Counter((ids[u], ids[v]) for u, v in zip(sources, graph.targets, strict=True))


def ids(graph: Graph) -> list[Any]:
    return graph.ids_of(np.arange(graph.num_vertices)).tolist()


def assert_same(graph: Graph, other: Graph, *, direction: bool = True) -> None:
    assert sorted_csr(graph) == sorted_csr(other)
    assert ids(graph) == ids(other)
    assert getattr(graph.labels, "dtype", None) == getattr(other.labels, "dtype", None)
    assert graph.offsets.dtype == other.offsets.dtype
    assert graph.targets.dtype == other.targets.dtype
    if direction:
        assert graph.directed == other.directed


def saved_and_read(graph: Graph, suffix: str) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"graph{suffix}")
        graph.save(path)
        assert os.listdir(folder) == [path.name]
        return read(path)


@st.composite
def plain_graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(0, 9))
    vertex = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=20 if n else 0))
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    return as_graph((pairs[:, 0], pairs[:, 1]), vertices=n, directed=draw(st.booleans()))


def with_labels(graph: Graph, labels: list[Any]) -> Graph:
    return labelled(graph, np.array(labels, np.int64) if labels and isinstance(labels[0], int) else labels)


@st.composite
def labelled_graphs(draw: st.DrawFn, text: st.SearchStrategy[str]) -> Graph:
    graph = draw(plain_graphs().filter(lambda graph: graph.num_vertices > 0))
    n = graph.num_vertices
    if draw(st.booleans()):
        gaps = st.integers(n, 50) | st.integers(n, 2**63 - 1)  # 0..n-1 would be no labels
        return with_labels(graph, sorted(draw(st.lists(gaps, min_size=n, max_size=n, unique=True))))
    return with_labels(graph, draw(st.lists(text, min_size=n, max_size=n, unique=True)))


any_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
word = st.text("aéc1-_.🐘", min_size=1, max_size=3)


@settings(deadline=None, max_examples=60)
@given(plain_graphs())
@pytest.mark.parametrize("suffix", KEEPS_ISOLATED)
def test_plain_graphs_come_back(suffix: str, graph: Graph) -> None:
    assert_same(saved_and_read(graph, suffix), graph, direction=suffix in KEEPS_DIRECTION)


@settings(deadline=None, max_examples=60)
@given(plain_graphs())
def test_npz_and_sg_keep_the_order(graph: Graph) -> None:
    for suffix in (".npz", ".sg"):
        again = saved_and_read(graph, suffix)
        assert np.array_equal(again.offsets, graph.offsets)
        assert np.array_equal(again.targets, graph.targets)


@settings(deadline=None, max_examples=100)
@given(labelled_graphs(any_text))
@pytest.mark.parametrize("suffix", KEEPS_LABELS)
def test_labelled_graphs_come_back(suffix: str, graph: Graph) -> None:
    if suffix == ".npz" and any(str(id).endswith("\0") for id in ids(graph)):
        with pytest.raises(InputError, match="ends in a NUL"):
            saved_and_read(graph, suffix)
    else:
        assert_same(saved_and_read(graph, suffix), graph)


@settings(deadline=None, max_examples=60)
@given(plain_graphs() | labelled_graphs(word) | labelled_graphs(any_text))
@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".txt", ".el"])
def test_text_comes_back_or_is_refused(suffix: str, graph: Graph) -> None:
    """Ids and edges survive in text, though vertices may be numbered differently."""
    try:
        again = saved_and_read(graph, suffix)
    except InputError as error:
        reasons = "without edges|without vertices|as numbers|keeps no vertex ids|white space"
        if not re.search(reasons, str(error)):
            raise
        return
    assert arcs(again) == arcs(graph)
    assert sorted(ids(again), key=str) == sorted(ids(graph), key=str)
    assert all(type(id) in (int, str) for id in ids(again))


@settings(deadline=None, max_examples=60)
@given(plain_graphs(), st.sampled_from(["csr", "csc", "coo"]))
def test_sparse_archives(graph: Graph, format: str) -> None:
    if not graph.num_vertices:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "matrix.npz")
        n = graph.num_vertices
        arrays = np.ones(graph.num_arcs), graph.targets.copy(), graph.offsets.copy()
        matrix = scipy.sparse.csr_array(arrays, shape=(n, n))
        matrix.sum_duplicates()
        scipy.sparse.save_npz(path, matrix.asformat(format))
        assert arcs(read(path)) == Counter(set(arcs(graph)))


@settings(deadline=None, max_examples=60)
@given(plain_graphs() | labelled_graphs(word))
def test_tables_in_memory(graph: Graph) -> None:
    assert_same(from_arrow(graph.to("arrow")), graph)
    for kind in ("pandas", "polars"):
        table = graph.to(kind)
        again = as_graph(table, directed=graph.directed)
        assert arcs(again) == arcs(graph)
        assert again.frame == kind


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


MTX = "%%MatrixMarket matrix coordinate {} {}\n% a comment\n"
GENERAL = MTX.format("pattern", "general")

VARIANTS = {
    "pattern general": ("a.mtx", GENERAL + "3 3 2\n1 2\n2 3\n", 3, [(0, 1), (1, 2)], True),
    "symmetric": (
        "a.mtx",
        MTX.format("pattern", "symmetric") + "3 3 2\n2 1\n3 3\n",
        3,
        [(0, 1), (1, 0), (2, 2)],
        False,
    ),
    "integer, stored zero": ("a.mtx", MTX.format("integer", "general") + "2 2 1\n1 2 0\n", 2, [(0, 1)], True),
    "real symmetric": ("a.mtx", MTX.format("real", "symmetric") + "2 2 1\n2 1 -0.5\n", 2, [(0, 1), (1, 0)], False),
    "skew": ("a.mtx", MTX.format("real", "skew-symmetric") + "2 2 1\n2 1 1\n", 2, [(0, 1), (1, 0)], False),
    "hermitian": ("a.mtx", MTX.format("complex", "hermitian") + "2 2 1\n2 1 1 2\n", 2, [(0, 1), (1, 0)], False),
    "symmetric in fact": ("a.mtx", GENERAL + "2 2 2\n2 1\n1 2\n", 2, [(0, 1), (1, 0)], False),
    "duplicates": ("a.mtx", GENERAL + "2 2 2\n1 2\n1 2\n", 2, [(0, 1), (0, 1)], True),
    "mtx CRLF": (
        "a.mtx",
        (GENERAL + "\n3 3 1\n1 2\n\n\n").replace("\n", "\r\n"),
        3,
        [(0, 1)],
        True,
    ),
    "array": ("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n0\n2.5\n0\n", 2, [(0, 1)], True),
    "snap": (
        "a.txt",
        "# Directed graph: a.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n",
        3,
        [(0, 1), (1, 2)],
        True,
    ),
    "snap undirected": ("a.txt", "# Undirected graph: a.txt\n0 1\n", 2, [(0, 1), (1, 0)], False),
    "snap both": ("a.txt", "# Undirected graph (each pair twice)\n0 1\n1 0\n", 2, [(0, 1), (1, 0)], False),
    "konect": ("out.ucidata", "% sym unweighted\n% 1 2 2\n0 1 7 12345\n", 2, [(0, 1), (1, 0)], False),
    "extra columns": ("a.txt", "0 1 0.5 x\n1 2\n2 0 1\n", 3, [(0, 1), (1, 2), (2, 0)], True),
    "CRLF and blanks": ("a.edges", "# c\r\n0 1\r\n\r\n1 2\r\n\r\n\r\n", 3, [(0, 1), (1, 2)], True),
    "old Mac": ("a.edges", "# c\r0 1\r1 2\r", 3, [(0, 1), (1, 2)], True),
    "both signs": ("a.snap", "% a\n# b\n\n0 1\n% c\n1 2 % d\n", 3, [(0, 1), (1, 2)], True),
    "aligned": ("a.edgelist", "  0    1\n\t1 \t 2  \n", 3, [(0, 1), (1, 2)], True),
    "no last newline": ("a.txt", "0 1\n1 2", 3, [(0, 1), (1, 2)], True),
    "ours": ("a.txt", "# rapids_bfs directed=false vertices=4\n0\t1\n", 4, [(0, 1), (1, 0)], False),
    "floats": ("a.txt", "0.0 1.0\n1e0 2\n", 3, [(0, 1), (1, 2)], True),
    "comments only": ("a.txt", "# nothing\n", 0, [], False),
    "BOM": ("a.txt", "\ufeff0 1\n", 2, [(0, 1)], True),
    "el": ("a.el", "0 1\n5 1\n", 6, [(0, 1), (5, 1)], True),
    "wel": ("a.wel", "0 1 7\n5 1 3\n", 6, [(0, 1), (5, 1)], True),
    "csv": ("a.csv", "source,target\n0,1\n1,2\n", 3, [(0, 1), (1, 2)], True),
    "csv in other order": ("a.csv", "weight;dst;note;src\n0.5;1;x;0\n0.1;2;;1\n", 3, [(0, 1), (1, 2)], True),
    "csv with two columns": ("a.csv", "a|b\r\n0|1\r\n\r\n", 2, [(0, 1)], True),
    "csv quoted": ("a.csv", '\ufeff"From","To","a\nb"\n"0","1","x\ny"\n1,0,z\n', 2, [(0, 1), (1, 0)], False),
    "csv without rows": ("a.csv", "u,v\n", 0, [], False),
    "tsv": ("a.tsv", "Source\tTarget\n0\t1\n", 2, [(0, 1)], True),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("packed", [False, True])
def test_variants(tmp_path: Path, variant: str, packed: bool) -> None:
    name, content, n, edges, directed = VARIANTS[variant]
    data = content.encode()
    path = write(tmp_path / (f"{name}.gz" if packed else name), gzip.compress(data) if packed else data)
    graph = read(path)
    assert graph.num_vertices == n
    assert graph.labels is None
    assert arcs(graph) == Counter(edges)
    assert graph.directed == directed
    assert graph.name == name.rpartition(".")[0]


def test_string_ids(tmp_path: Path) -> None:
    text = read(write(tmp_path / "a.txt", '% langs\n# x\nC# Java#1 7\nNA C#\n# later\n"q C# 5\n'))
    assert ids(text) == ["C#", "Java#1", "NA", '"q']
    assert arcs(text) == Counter([("C#", "Java#1"), ("NA", "C#"), ('"q', "C#")])
    assert ids(read(write(tmp_path / "b.txt", "a,\tb,c\n"))) == ["a,", "b,c"]
    table = read(write(tmp_path / "a.csv", 'u,v,w\n"a, b",NA,1\n"",nan,2\n7,NA,3\n'))
    assert arcs(table) == Counter([("a, b", "NA"), ("", "nan"), ("7", "NA")])


def test_numbering_is_by_first_appearance(tmp_path: Path) -> None:
    edges = pd.DataFrame({"u": ["c", "a", "b", "d"], "v": ["b", "c", "d", "c"]})
    edges.to_parquet(tmp_path / "a.parquet", row_group_size=2)
    edges.to_csv(tmp_path / "a.csv", index=False)
    edges.to_csv(tmp_path / "a.txt", sep=" ", index=False, header=False)
    for graph in (from_arrow(edges), *(read(tmp_path / f"a.{suffix}") for suffix in ("parquet", "csv", "txt"))):
        assert ids(graph) == ["c", "b", "a", "d"]
        assert graph.targets.tolist() == [1, 3, 0, 0]


def test_integer_ids_with_gaps_become_labels(tmp_path: Path) -> None:
    for name, content in {"a.csv": "u,v\n5,100\n7,5\n", "a.txt": "5 100\n7 5\n"}.items():
        assert ids(read(write(tmp_path / name, content))) == [5, 7, 100]
    assert read(tmp_path / "a.txt", vertices=200).num_vertices == 200
    far = read(write(tmp_path / "far.csv", f"u,v\n5,{2**62}\n"))
    assert ids(far) == [5, 2**62]


def test_direction_can_be_said(tmp_path: Path) -> None:
    symmetric = write(tmp_path / "a.mtx", MTX.format("pattern", "symmetric") + "2 2 1\n2 1\n")
    assert read(symmetric, directed=True).directed
    for name, content in {"a.txt": "0 1\n", "a.csv": "u,v\n0,1\n", "a.el": "0 1\n"}.items():
        graph = read(write(tmp_path / name, content), directed=False, name="mine")
        assert not graph.directed
        assert graph.num_arcs == 2
        assert graph.name == "mine"


def test_parquet_and_arrow_column_types(tmp_path: Path) -> None:
    for type in (pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(20, 0)):
        table = pa.table({"u": pa.array([0, 1, 2]).cast(type), "v": pa.array([1, 2, 0]), "w": ["x", None, "y"]})
        pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
        with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
        for graph in (read(tmp_path / "a.parquet"), read(tmp_path / "a.arrow"), from_arrow(table)):
            assert graph.labels is None
            assert graph.targets.tolist() == [1, 2, 0]
            assert graph.columns == ("u", "v")
    for value in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        table = pa.table({"u": pa.array(["a", "b"]).cast(value), "v": pa.array(["b", "a"])})
        assert arcs(from_arrow(table)) == Counter([("a", "b"), ("b", "a")])
    numbers = pa.table({"u": pa.array([3, 0]).dictionary_encode(), "v": pa.array([0, 1])})
    assert ids(from_arrow(numbers)) == [0, 1, 3]
    days = pa.array([0, 1]).cast(pa.int32()).cast(pa.date32())
    assert len(ids(from_arrow(pa.table({"u": days, "v": days})))) == 2


def test_columns_of_a_table(tmp_path: Path) -> None:
    edges = pd.DataFrame({"weight": [1.0, 2.0], "Dst": [1, 2], "SRC": [0, 1]}, index=[5, 7])
    edges.to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").columns == ("SRC", "Dst")
    assert read(tmp_path / "a.parquet", source="Dst", target="SRC").targets.tolist() == [0, 1]
    edges[["Dst", "weight"]].to_parquet(tmp_path / "two.parquet")
    assert read(tmp_path / "two.parquet", target="Dst").columns == ("weight", "Dst")
    with pytest.raises(InputError, match=r"say which columns.*'weight', 'Dst', 'SRC'"):
        read(tmp_path / "a.parquet", source="weight")
    with pytest.raises(InputError, match="two columns, not 'SRC' twice"):
        read(tmp_path / "a.parquet", source="SRC", target="SRC")
    with pytest.raises(InputError, match="'weight', 'v'"):
        from_arrow(pd.DataFrame({"weight": [1], "v": [2]}).assign(w=1).rename(columns={"w": "v"}))


def test_pandas_objects() -> None:
    tuples = pd.DataFrame({"u": [(0, 0), (0, 1)], "v": [(0, 1), (1, 1)]})
    assert ids(from_arrow(tuples)) == [(0, 0), (0, 1), (1, 1)]
    mixed = from_arrow(pd.DataFrame({0: ["a", 1], 1: [1, 2.5]}, dtype=object))
    assert ids(mixed) == ["a", 1, 2.5]
    assert mixed.columns == ("0", "1")
    categories = pd.DataFrame({"u": ["a", "b"], "v": ["b", "c"]}).astype("category")
    assert ids(from_arrow(categories)) == ["a", "b", "c"]
    assert as_graph(pl.DataFrame({"u": ["a"], "v": ["b"]})).frame == "polars"
    assert from_arrow(pa.record_batch({"u": [0], "v": [1]})).frame == "arrow"
    assert from_arrow(pd.DataFrame({"u": [], "v": []})).num_vertices == 0
    with pytest.raises(InputError, match="Series is no table"):
        from_arrow(pd.Series([1]))
    with pytest.raises(InputError, match="no table of edges"):
        from_arrow(pa.array([1]))
    with pytest.raises(InputError, match=r"column 'v', row 1 \(from 0\): null"):
        from_arrow(pd.DataFrame({"u": [0, 1], "v": [(1,), None]}))


def test_frames() -> None:
    columns = {"vertex": np.array(["a", "b"], object), "predecessor": np.array([None, "a"], object), "d": np.arange(2)}
    for kind, type in {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.Table}.items():
        made = frame(columns, kind)
        assert isinstance(made, type)
        rows = made.to_dict("records") if kind == "pandas" else made.to_pylist() if kind == "arrow" else made.to_dicts()
        assert pd.isna(rows[0]["predecessor"])
        assert rows[1] == {"vertex": "b", "predecessor": "a", "d": 1}
    with pytest.raises(InputError, match="unknown kind of frame 'cudf3'"):
        frame(columns, "cudf3")
    with pytest.raises(InputError, match="no type for these ids"):
        frame({"vertex": np.array(["a", (1, 2)], object)}, "arrow")


def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(InputError, match="a polars frame needs polars: pip install polars"):
        frame({"a": np.arange(2)}, "polars")


def serialized(*parts: tuple[list[int], list[int]]) -> bytes:
    """GAP's bytes of offsets and targets and, if the graph is directed, those of its reverse."""
    offsets, targets = parts[0]
    header = struct.pack("<?qq", len(parts) == 2, len(targets), len(offsets) - 1)
    return header + b"".join(np.array(o, "<i8").tobytes() + np.array(t, "<i4").tobytes() for o, t in parts)


def test_gap_serialized(tmp_path: Path) -> None:
    directed = serialized(([0, 2, 2, 3], [2, 1, 0]), ([0, 1, 2, 3], [2, 0, 0]))
    graph = read(write(tmp_path / "a.sg", directed))
    assert graph.directed
    assert graph.offsets.tolist() == [0, 2, 2, 3]
    assert graph.targets.tolist() == [2, 1, 0]
    graph.save(tmp_path / "b.sg")
    assert (tmp_path / "b.sg").read_bytes() == directed
    undirected = serialized(([0, 1, 2], [1, 0]))
    assert not read(write(tmp_path / "c.sg", undirected)).directed


def test_gap_edge_list_is_bare(tmp_path: Path) -> None:
    as_graph(([0, 2], [2, 3]), vertices=4, directed=False).save(tmp_path / "a.el")
    assert (tmp_path / "a.el").read_text() == "0\t2\n2\t0\n2\t3\n3\t2\n"


def test_undirected_matrix_is_written_as_symmetric(tmp_path: Path) -> None:
    as_graph(([0, 1], [1, 1]), directed=False).save(tmp_path / "a.mtx")
    lines = (tmp_path / "a.mtx").read_text().splitlines()
    assert lines[0] == "%%MatrixMarket matrix coordinate pattern symmetric"
    assert lines[-3:] == ["2 2 2", "2 1", "2 2"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".npz", ".mtx", ".mtx.gz", ".sg"])
@pytest.mark.parametrize("wrong", ["", ".dat", ".csv", ".txt", ".parquet", ".el"])
def test_content_tells_the_format(tmp_path: Path, suffix: str, wrong: str) -> None:
    graph = as_graph(([0, 1, 5], [1, 5, 2]), vertices=7)
    graph.save(tmp_path / f"a{suffix}")
    (tmp_path / f"a{suffix}").rename(tmp_path / f"b{wrong}")
    assert_same(read(tmp_path / f"b{wrong}"), graph)


@pytest.mark.parametrize("name", ["a", "a.dat", "a.txt", "a.dat.gz"])
@pytest.mark.parametrize(
    "content", ["source,target\n0,1\n1,2\n", "0 1\n1 2\n", "# c\n0\t1\n1\t2\n", "u;v;w\n0;1;\n1;2;5\n"]
)
def test_text_tells_the_format(tmp_path: Path, name: str, content: str) -> None:
    data = gzip.compress(content.encode()) if name.endswith(".gz") else content.encode()
    assert arcs(read(write(tmp_path / name, data))) == Counter([(0, 1), (1, 2)])


BAD = {
    "empty": ("a.txt", "", "a.txt is empty"),
    "unknown": ("a.xyz", "hello there\n", "no known format; there are .*.parquet"),
    "binary": ("a.bin", b"\0\1\2", "no known format"),
    "mtx truncated": ("a.mtx", GENERAL + "3 3 2\n1 2\n", "a.mtx .*Expected another 1 lines"),
    "mtx without entries": ("a.mtx", GENERAL + "3 3 2\n", "a.mtx .*"),
    "mtx header only": ("a.mtx", GENERAL, "a.mtx .*Premature EOF"),
    "mtx mislabelled": ("a.mtx", "3 3 1\n1 2\n", "a.mtx has the suffix of Matrix Market, but its content is none"),
    "mtx row": ("a.mtx", GENERAL + "3 3 1\n4 2\n", "a.mtx .*Line 4: Row index out of bounds"),
    "mtx column": ("a.mtx", GENERAL + "3 3 1\n1 0\n", "a.mtx .*Line 4: Column index out of bounds"),
    "mtx text": ("a.mtx", GENERAL + "3 3 1\n1 x\n", "a.mtx .*Line 4: Invalid integer value"),
    "mtx not square": ("a.mtx", GENERAL + "3 4 1\n1 2\n", "must be square, not 3 x 4"),
    "mtx huge": ("a.mtx", GENERAL + f"3 3 {10**15}\n1 2\n", "a.mtx: a matrix of .* needs .* bytes of memory"),
    "mtx huge n": ("a.mtx", GENERAL + f"{10**15} {10**15} 1\n1 2\n", "a.mtx.*"),
    "txt text": ("a.txt", "# c\n0 1\n\n1 x\n", "a.txt, line 4: 'x' is no number"),
    "txt one id": ("a.txt", "# c\n0 1\n1\n", "a.txt, line 3: an edge has two ids, not '1'"),
    "txt one id first": ("a.edges", "1\n", "a.edges, line 1: an edge has two ids"),
    "txt one name": ("a.txt", "a b\nc\n", "a.txt, line 2: an edge has two ids, not 'c'"),
    "txt negative": ("a.txt", "0 1\n1 -1\n", "a.txt, line 2: -1 is negative"),
    "txt fractional": ("a.txt", "0 1\n1 0.5\n", "a.txt, line 2: 0.5 is fractional"),
    "txt fractional first": ("a.txt", "0 1.5\n1 0\n", "a.txt, line 1: 1.5 is fractional"),
    "txt huge": ("a.txt", f"0 1\n{2**64} 2\n", f"a.txt, line 2: {2**64} is beyond int64"),
    "txt bipartite": ("a.txt", "% bip unweighted\n1 1\n", "a.txt is bipartite"),
    "txt in latin-1": ("a.txt", "a b\nc ü\n".encode("latin-1"), "a.txt cannot be read"),
    "el text": ("a.el", "a b\n", "a.el, line 1: 'a' is no number"),
    "el huge": ("a.el", f"0 {2**60}\n", "a.el: a graph of .* vertices needs .* bytes"),
    "csv text": ("a.csv", "u,w,v\n0,z,1\n1,z,x\n", r"a.csv, column 'v', row 1 \(from 0\): 'x' is no integer"),
    "csv null": ("a.csv", "u,v\n0,1\n1,\n", r"a.csv, column 'v', row 1 \(from 0\): null"),
    "csv null name": ("a.csv", "u,v\na,b\n,a\n", r"a.csv, column 'u', row 1 \(from 0\): null"),
    "csv negative": ("a.csv", "u,v\n0,1\n1,-4\n", r"a.csv, column 'v', row 1 \(from 0\): -4 is negative"),
    "csv fractional": ("a.csv", "u,v\n0.0,1.0\n1,1.5\n", r"a.csv, column 'v', row 1 \(from 0\): 1.5 is fractional"),
    "csv ragged": ("a.csv", "u,v\n0,1\n1\n", r"a.csv, row 1 \(from 0\): Expected 2 columns, got 1"),
    "csv without header": ("a.csv", "0,1\n1,2\n", "a.csv has no header row"),
    "csv of spaces": ("a.csv", "u v\n1 2\n", "a.csv: its first line has no comma, tab"),
    "csv columns": ("a.csv", "a,b,c\n1,2,3\n", "a.csv: say which columns .* its columns are 'a', 'b', 'c'"),
    "csv twice": ("a.csv", "a,a\n1,2\n", "a.csv: say which columns"),
    "parquet corrupted": ("a.parquet", b"PAR1" + b"x" * 50 + b"PAR1", "a.parquet cannot be read as Parquet"),
    "parquet head only": ("a.parquet", b"PAR1", "a.parquet cannot be read as Parquet"),
    "parquet of text": ("a.parquet", "hello", "a.parquet has the suffix of Parquet, but its content is none"),
    "arrow corrupted": ("a.arrow", b"ARROW1\0\0" + b"x" * 50, "a.arrow cannot be read as Arrow"),
    "arrow stream": ("a.arrows", b"\xff\xff\xff\xff" + b"x" * 50, "a.arrows cannot be read as an Arrow stream"),
    "npz corrupted": ("a.npz", b"PK\x03\x04" + b"x" * 50, "a.npz cannot be read as NumPy"),
    "sg header": ("a.sg", b"\0\1\2", "a.sg is cut short: it has 3 bytes, the header alone has 17"),
    "sg truncated": ("a.sg", serialized(([0, 1, 2], [1, 0]))[:-1], "a.sg has 48 bytes, .* 2 edges need 49"),
    "sg target": ("a.sg", serialized(([0, 1, 2], [1, 5])), "a.sg: target 5 of edge 1 is none of"),
    "sg nonsense": ("a.sg", b"\7" * 40, "a.sg is none of GAP's"),
    "gzip truncated": (
        "a.txt.gz",
        gzip.compress(b"0 1\n" * 10**6)[:-20],
        "a.txt.gz .*end-of-stream",
    ),
    "gzip corrupted": ("a.mtx.gz", b"\x1f\x8b" + b"x" * 50, "a.mtx.gz cannot be read"),
    "gzip of nothing": ("a.txt.gz", gzip.compress(b""), "a.txt.gz is empty"),
    "gzip of parquet": ("a.parquet.gz", gzip.compress(b"PAR1"), "Parquet packed by gzip: unpack it first"),
}


def check_message(error: pytest.ExceptionInfo[InputError]) -> None:
    message = str(error.value)
    assert len(message.splitlines()) <= 2
    assert "Traceback" not in message


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path: Path, case: str) -> None:
    name, content, message = BAD[case]
    with pytest.raises(InputError, match=message) as error:
        read(write(tmp_path / name, content))
    assert name in str(error.value)
    check_message(error)


def test_bad_line_far_down(tmp_path: Path) -> None:
    rows = "0 1\n" * 1_060_000
    for name, header, content in (("a.txt", "", rows), ("a.csv", "u,v\n", rows.replace(" ", ","))):
        path = write(tmp_path / name, header + content + "7 x".replace(" ", content[1]) + "\n")
        with pytest.raises(InputError, match=r"line 1060001: 'x'|row 1060000 \(from 0\): 'x'"):
            read(path)


def test_bad_row_far_down(tmp_path: Path) -> None:
    rows = 1_060_000
    source = pa.array(np.arange(rows) % 10)
    target = pa.array(np.arange(rows) % 10, mask=np.arange(rows) == rows - 3)
    for columns in ((source, target), (source.cast(pa.string()), target.cast(pa.string()))):
        pq.write_table(pa.table(columns, names=["u", "v"]), tmp_path / "a.parquet")
        with pytest.raises(InputError, match=rf"column 'v', row {rows - 3} \(from 0\): null is no vertex id"):
            read(tmp_path / "a.parquet")


def test_bad_columns(tmp_path: Path) -> None:
    table = pa.table({"u": [0, 1, None], "v": [1, 2, 0], "x": [[1], [2], [3]], "neg": [0, -1, 2], "f": [0.0, 1.0, 2.5]})
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_stream(tmp_path / "a.arrows", table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    for name in ("a.parquet", "a.arrows"):
        for target, message in {
            "w": f"{name} has no column 'w'; its columns are 'u', 'v', 'x', 'neg', 'f'",
            "u": rf"{name}, column 'u', row 2 \(from 0\): null is no vertex id",
            "x": f"{name}, column 'x': list<.*> holds no vertex ids",
            "neg": rf"{name}, column 'neg', row 1 \(from 0\): -1 is negative",
            "f": rf"{name}, column 'f', row 2 \(from 0\): 2.5 is fractional",
        }.items():
            with pytest.raises(InputError, match=message) as error:
                read(tmp_path / name, source="v", target=target)
            check_message(error)
    pq.write_table(table.select(["v", "neg"]).slice(2), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"'neg', row 0 \(from 0\): 2 is past the last of 2 vertices"):
        read(tmp_path / "b.parquet", vertices=2)


def test_bad_archives(tmp_path: Path) -> None:
    good = {"offsets": np.array([0, 1]), "targets": np.array([0]), "directed": np.array(True)}
    for arrays, message in (
        ({"x": np.arange(3)}, "lacks directed, offsets, targets"),
        (good | {"targets": np.array([5])}, "target 5 of edge 0"),
        (good | {"labels": np.array(["a", "b"])}, "labels must be an integer or a string for each of 1"),
        (good | {"labels": np.array([(1, 2)], object)}, "cannot be read as NumPy"),
    ):
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(InputError, match=message) as error:
            read(tmp_path / "a.npz")
        assert "a.npz" in str(error.value)
        check_message(error)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.mtx does not exist"):
        read(tmp_path / "nowhere.mtx")
    with pytest.raises(InputError, match="is a directory, not a file"):
        read(tmp_path)


def test_options_that_do_not_go_with_the_format(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mtx", GENERAL + "3 3 0\n")
    for option in ({"source": "u"}, {"vertices": 5}):
        with pytest.raises(InputError, match="= does not go with Matrix Market"):
            read(path, **option)


def test_save_refuses_what_would_be_lost(tmp_path: Path) -> None:
    words = as_graph([("a", "b")])
    tuples = from_arrow(pd.DataFrame({"u": [(0, 0)], "v": [(0, 1)]}))
    isolated = as_graph(([0, 1], [1, 0]), vertices=5)
    gap_isolated = as_graph(nx.Graph([(10, 30)]), directed=False)
    for graph, name, message in (
        (words, "a.mtx", "a.mtx: Matrix Market keeps no vertex ids other than 0..n-1; .parquet.*.csv"),
        (words, "a.sg", "keeps no vertex ids"),
        (words, "a.el", "keeps no vertex ids"),
        (gap_isolated, "a.el", "keeps no vertex ids"),
        (tuples, "a.parquet", r"but \(0, 0\) is of type tuple: rename the vertices first"),
        (tuples, "a.npz", "is of type tuple"),
        (tuples, "a.csv", "is of type tuple"),
        (tuples, "a.txt", "is of type tuple"),
        (isolated, "a.csv", r"would lose vertices without edges \(3, the first is 2\)"),
        (isolated, "a.el", r"would lose vertices without edges \(1, the first is 4\)"),
        (as_graph([("1", "2")]), "a.csv", "would be read as numbers"),
        (as_graph([("a b", "2")]), "a.txt", "the id 'a b' .* has white space"),
        (as_graph([("\ud800", "b")]), "a.parquet", "is no valid Unicode"),
        (words, "a.xml", "unknown suffix; there are .parquet"),
        (words, "a.parquet.gz", "leave out .gz"),
    ):
        with pytest.raises(InputError, match=message) as error:
            graph.save(tmp_path / name)
        assert name in str(error.value)
        check_message(error)
    assert not os.listdir(tmp_path)


def test_outputs(tmp_path: Path) -> None:
    graph = as_graph(([0], [1]))
    path = tmp_path / "a.npz"
    graph.save(path)
    with pytest.raises(InputError, match=r"a\.npz exists: choose another name, or force"):
        graph.save(path)
    as_graph(([0, 1], [1, 0])).save(path, force=True)
    assert not read(path).directed
    with pytest.raises(InputError, match=r"there is no directory .*nowhere"):
        graph.save(tmp_path / "nowhere" / "a.npz")
    with pytest.raises(InputError, match="is a directory"):
        check_output(tmp_path, force=True)
    with pytest.raises(InputError, match="unknown suffix"):
        check_graph_output(tmp_path / "a.json")
    assert check_output(tmp_path / "new.json") == tmp_path / "new.json"
    if os.geteuid():
        tmp_path.chmod(0o500)
        with pytest.raises(InputError, match="not writable"):
            check_output(tmp_path / "b.npz")
        tmp_path.chmod(0o700)


def test_interrupted_save_leaves_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "old")

    def interrupted() -> None:
        with replacing(path) as stream:
            stream.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_metadata(tmp_path: Path) -> None:
    as_graph(([0, 1], [1, 0]), vertices=3).save(tmp_path / "a.parquet")
    assert json.loads(pq.read_schema(tmp_path / "a.parquet").metadata[b"rapids_bfs"]) == {
        "directed": False,
        "vertices": 3,
    }
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == {"source": [0], "target": [1]}


def test_every_suffix_is_there_once() -> None:
    suffixes = [suffix for format in FORMATS for suffix in format.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(callable(format.read) and callable(format.write) for format in FORMATS)


def test_distances_survive(tmp_path: Path) -> None:
    graph = from_codes(np.array([0, 1, 1]), np.array([1, 2, 0]), np.array(["x", "y", "z"], object), directed=False)
    for suffix in (".parquet", ".arrow", ".npz", ".csv", ".txt"):
        graph.save(tmp_path / f"a{suffix}")
        again = nx.Graph(list(arcs(read(tmp_path / f"a{suffix}"))))
        assert nx.single_source_shortest_path_length(again, "x") == {"x": 0, "y": 1, "z": 2}
