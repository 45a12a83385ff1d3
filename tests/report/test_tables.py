"""Tables of edges, in memory and in files that keep their types."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_files import arcs, assert_same, check_message, ids, labelled_graphs, plain_graphs, read_apart, word, write
from hypothesis import given, settings

from rapids_bfs import Graph, InputError, as_graph, read
from rapids_bfs.adapters.arrow import frame, from_arrow


@settings(deadline=None, max_examples=60)
@given(plain_graphs() | labelled_graphs(word))
def test_tables_in_memory(graph: Graph) -> None:
    assert_same(from_arrow(graph.to("arrow")), graph)
    for kind in ("pandas", "polars"):
        table = graph.to(kind)
        again = as_graph(table, directed=graph.directed)
        assert arcs(again) == arcs(graph)
        assert again.frame == kind


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
        table = pa.table({"u": pa.array(["a", "b"], value), "v": pa.array(["b", "a"])})
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
    with pytest.raises(InputError, match="Series is not a table of edges"):
        from_arrow(pd.Series([1]))
    with pytest.raises(InputError, match="not a table of edges"):
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


def test_bad_row_far_down(tmp_path: Path) -> None:
    rows = 1_060_000
    source = pa.array(np.arange(rows) % 10)
    target = pa.array(np.arange(rows) % 10, mask=np.arange(rows) == rows - 3)
    for columns in ((source, target), (source.cast(pa.string()), target.cast(pa.string()))):
        pq.write_table(pa.table(columns, names=["u", "v"]), tmp_path / "a.parquet")
        with pytest.raises(InputError, match=rf"column 'v', row {rows - 3} \(from 0\): null is not a vertex id"):
            read(tmp_path / "a.parquet")


def test_bad_columns(tmp_path: Path) -> None:
    table = pa.table({"u": [0, 1, None], "v": [1, 2, 0], "x": [[1], [2], [3]], "neg": [0, -1, 2], "f": [0.0, 1.0, 2.5]})
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_stream(tmp_path / "a.arrows", table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    for name in ("a.parquet", "a.arrows"):
        for target, message in {
            "w": f"{name} has no column 'w'; its columns are 'u', 'v', 'x', 'neg', 'f'",
            "u": rf"{name}, column 'u', row 2 \(from 0\): null is not a vertex id",
            "x": f"{name}, column 'x': list<.*> cannot hold vertex ids",
            "neg": rf"{name}, column 'neg', row 1 \(from 0\): -1 is negative",
            "f": rf"{name}, column 'f', row 2 \(from 0\): 2.5 is fractional",
        }.items():
            with pytest.raises(InputError, match=message) as error:
                read(tmp_path / name, source="v", target=target)
            check_message(error)
    pq.write_table(table.select(["v", "neg"]).slice(2), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"'neg', row 0 \(from 0\): 2 is past the last of 2 vertices"):
        read(tmp_path / "b.parquet", vertices=2)


def test_metadata(tmp_path: Path) -> None:
    as_graph(([0, 1], [1, 0]), vertices=3).save(tmp_path / "a.parquet")
    assert json.loads(pq.read_schema(tmp_path / "a.parquet").metadata[b"rapids_bfs"]) == {
        "directed": False,
        "vertices": 3,
    }
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == {"source": [0], "target": [1]}


def to_ipc(table: pa.Table, stream: bool, compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue().to_pybytes()


COLUMNS = {
    "string": pa.array(["a", "bb", "ccc", "a"]),
    "large_string": pa.array(["a", "bb", "ccc", "a"], pa.large_string()),
    "string_view": pa.array(["a", "bb", "longer than twelve bytes", "a"], pa.string_view()),
    "dictionary": pa.array(["a", "bb", "ccc", "a"]).dictionary_encode(),
    "dictionary of integers": pa.array([3, 0, 7, 3]).dictionary_encode(),
    "uint8": pa.array([3, 0, 7, 3], pa.uint8()),
    "decimal": pa.array([3, 0, 7, 3]).cast(pa.decimal128(20, 0)),
    "nullable": pa.array(["a", None, "b", "c"]),
}


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_no_byte_of_an_arrow_file_crashes(tmp_path: Path, compression: str | None) -> None:
    """A damaged file is a graph still, or one `InputError`; an offset that lies would be read through."""
    paths = []
    random = Random(1)
    for name, column in COLUMNS.items():
        for stream in (False, True):
            whole = to_ipc(pa.table({"u": column, "v": column}), stream, compression)
            for number in range(25):
                damaged = bytearray(whole)
                for _ in range(random.choice([1, 1, 4])):
                    damaged[random.randrange(8, len(whole))] = random.choice([0, 1, 127, 128, 255])
                suffix = ".arrows" if stream else ".arrow"
                paths.append(write(tmp_path / f"{name.replace(' ', '-')}-{number}{suffix}", bytes(damaged)))
    told, _ = read_apart(*paths)
    assert all(re.match("<Graph|InputError: .*\\.arrow", line) for line in told)
    assert 20 < sum(line.startswith("InputError") for line in told) < len(told)


def corrupt(type: pa.DataType) -> pa.Array:
    """Strings of which one lies far outside of the buffer; as indices, one that is none."""
    if pa.types.is_dictionary(type):
        indices = pa.array([0, 1, 1 << 20], pa.int32())
        return pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    offsets = np.array([0, 1 << 30, 2, 3], np.int64 if pa.types.is_large_string(type) else np.int32)
    return pa.Array.from_buffers(type, 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"abc")])


CORRUPT = """
import pandas as pd, polars as pl, pyarrow as pa
from rapids_bfs import InputError, as_graph
from test_tables import corrupt

for type in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
    table = pa.table({"u": corrupt(type), "v": corrupt(type)})
    frame = pd.DataFrame({name: pd.arrays.ArrowExtensionArray(table[name]) for name in "uv"})
    for given in (table, table.to_batches()[0], frame):
        try:
            print(as_graph(given))
        except InputError as error:
            assert "column 'u' is corrupt" in str(error), error
"""


def test_corrupt_tables_in_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CORRUPT],
        cwd=Path(__file__).parent,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "support")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]


WRONG_NOTES = {
    "[]": "must be a JSON object, not a list",
    "{": "are not valid JSON",
    "\\xff": "are not valid JSON",
    "[" * 100_000: "are not valid JSON",
    '{"directed": 0}': "give 0 for 'directed', which must be true or false",
    '{"directed": "no"}': "give 'no' for 'directed'",
    '{"vertices": -1}': "give -1 for 'vertices', which must be a whole number",
    '{"vertices": "x"}': "give 'x' for 'vertices'",
    '{"vertices": 1e30}': "give 1e.30 for 'vertices'",
    '{"vertices": true}': "give True for 'vertices'",
    '{"vertices": NaN}': "give nan for 'vertices'",
    '{"vertices": 9, "isolated": [9]}': "give both 'vertices' and 'isolated'",
    f'{{"vertices": {2**62}}}': "EiB of memory, and",
    f'{{"vertices": {"9" * 5000}}}': "are not valid JSON",
    '{"isolated": ["a"]}': "give a list for 'isolated', which must be a list of whole numbers",
    '{"isolated": [-1]}': "for 'isolated'",
    '{"isolated": [2.5]}': "for 'isolated'",
    '{"isolated": [true]}': "for 'isolated'",
    f'{{"isolated": [{2**70}]}}': "for 'isolated'",
    '{"labels": 7}': "give 7 for 'labels', which must be a list of strings, all different",
    '{"labels": ["a", "a"]}': "for 'labels'",
    '{"labels": [1]}': "for 'labels'",
    '{"labels": ["a"]}': "the id 'b' is not one of the labels",
}


@pytest.mark.parametrize("notes", WRONG_NOTES, ids=range(len(WRONG_NOTES)))
def test_metadata_of_another_shape(tmp_path: Path, notes: str) -> None:
    column = ["a", "b"] if "labels" in notes else [0, 1]
    metadata = {"rapids_bfs": notes.encode("latin-1", "replace") if notes != "\\xff" else b"\xff"}
    table = pa.table({"u": column, "v": column}, metadata=metadata)
    pq.write_table(table, tmp_path / "a.parquet")
    write(tmp_path / "a.arrow", to_ipc(table, stream=False))
    for form in (tmp_path / "a.parquet", tmp_path / "a.arrow", table):
        with pytest.raises(InputError, match=WRONG_NOTES[notes]) as error:
            as_graph(form)
        check_message(error)


def test_a_number_that_a_float_does_not_hold() -> None:
    for type, last in ((np.float64, 2**53), (np.float32, 2**24), (np.float16, 2**11)):
        ids = np.array([last - 1, 0], type)
        assert as_graph((ids, ids[::-1])).labels.tolist() == [0, last - 1]
        with pytest.raises(InputError, match=r"row 1 .* is beyond the whole numbers that a float\d+ holds"):
            as_graph((np.array([0, last + 1], type), ids))
    far = [Decimal(2**53 + 1), Decimal(2**63 - 1)]
    decimals = pa.array(far, pa.decimal128(38, 3))
    assert as_graph(pa.table({"u": decimals, "v": decimals})).labels.tolist() == [int(id) for id in far]
    for wrong, reason in (
        ("1.001", "1.001 is fractional"),
        ("1e20", "is beyond int64"),
        ("-1", "-1 is negative|-1.000"),
    ):
        column = pa.array([Decimal(1), Decimal(wrong)], pa.decimal128(38, 3))
        with pytest.raises(InputError, match=rf"column 'v', row 1 \(from 0\): .*{reason}"):
            as_graph(pa.table({"u": [0, 1], "v": column}))


def test_objects_of_polars_and_masked_rows() -> None:
    objects = pl.DataFrame({"u": pl.Series([(0, 1), (1, 2)], dtype=pl.Object), "v": [1, 2]})
    with pytest.raises(InputError, match="column 'u': Polars objects cannot hold vertex ids"):
        as_graph(objects)
    masked = np.ma.array([0, 1, 2], mask=[False, True, False])
    for pair in ((masked, [1, 2, 0]), np.ma.array([[0, 1], [1, 2]], mask=[[False, False], [False, True]])):
        with pytest.raises(InputError, match=r"row 1 \(from 0\): masked is not a vertex id: drop the rows without one"):
            as_graph(pair)
    assert as_graph((np.ma.array([0, 1]), np.ma.array([1, 0]))).num_arcs == 2


def test_two_equal_entries_of_a_dictionary_are_one_vertex() -> None:
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "a"]))
    graph = as_graph(pa.table({"u": twice, "v": twice}))
    assert arcs(graph) == Counter({("a", "a"): 2, ("b", "b"): 1})


CHANGED = """
import numpy as np
from rapids_bfs import InputError
from rapids_bfs.adapters._edge_list import EdgeList
from rapids_bfs.adapters.edges import from_edge_list

before = np.arange(1000) % 10
for after in (before * 0, before[:9], np.tile(before, 3), before + 10**9, before * -1 + 9, before + 10**15):
    for given in ({}, {"directed": False}, {"vertices": 10}):
        for scale in (1, 7, 10**12):
            reads = iter([before * scale, after * scale] * 9)
            try:
                graph = from_edge_list(EdgeList(1000, lambda: [(edges := next(reads), edges)]), **given)
                assert graph.num_vertices == 0 or graph.targets.max() < graph.num_vertices
            except InputError:
                pass
"""


def test_edges_that_change_while_they_are_read() -> None:
    done = subprocess.run([sys.executable, "-c", CHANGED], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
