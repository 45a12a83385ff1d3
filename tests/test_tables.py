"""Tables of edges, in memory and in files that keep their types."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_files import (
    arcs,
    assert_same,
    check_message,
    ids,
    labelled_graphs,
    plain_graphs,
    word,
)
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


def test_metadata(tmp_path: Path) -> None:
    as_graph(([0, 1], [1, 0]), vertices=3).save(tmp_path / "a.parquet")
    assert json.loads(pq.read_schema(tmp_path / "a.parquet").metadata[b"rapids_bfs"]) == {
        "directed": False,
        "vertices": 3,
    }
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == {"source": [0], "target": [1]}
