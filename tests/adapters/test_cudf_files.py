"""Files that cuDF reads: pandas stands in for it, whose `read_csv` and `read_parquet` take the same arguments."""

import sys

import pandas as pd
import pytest

from rapids_bfs import InputError, as_graph
from rapids_bfs.adapters import cudf_edges
from rapids_bfs.generators import generate


@pytest.fixture(autouse=True)
def with_cudf(monkeypatch):
    monkeypatch.setitem(sys.modules, "cudf", pd)
    monkeypatch.setattr(cudf_edges, "package_missing", lambda package: None)


def read(path, text=None, **columns):
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return cudf_edges.read_edges(path, **columns)


def test_csv(tmp_path):
    frame, options = read(tmp_path / "e.csv", "weight;dst;src\n0.5;2;1\n1.5;3;7\n")
    assert list(frame.columns) == ["src", "dst"]
    assert frame["src"].tolist() == [1, 7]
    assert options == {"name": "e"}


def test_named_columns_of_a_tsv(tmp_path):
    frame, _ = read(tmp_path / "e.tsv", "a\tb\tc\nx\ty\tz\n", source="c", target="a")
    assert frame.to_dict("list") == {"c": ["z"], "a": ["x"]}


@pytest.mark.parametrize(
    "text",
    [
        "source,target\n1,2\n3,x\n",  # not all numbers, as the first row is
        "source,target\n1,2\n3,2.5\n",
        "source,target\n1,x\n2,y\n",  # strings, of which some look like numbers
        "\ufeffsource,target\n1,2\n",
    ],
)
def test_the_host_reads_what_is_not_plain(tmp_path, text):
    assert read(tmp_path / "e.csv", text) is None
    assert read(tmp_path / "none.csv") is None


def test_parquet_with_what_it_says(tmp_path):
    graph = as_graph(([0, 1], [1, 2]), vertices=5, directed=True)
    graph.save(tmp_path / "g.parquet")
    frame, options = read(tmp_path / "g.parquet")
    assert options == {"name": "g", "directed": True, "vertices": 5}
    assert frame.to_dict("list") == {"source": [0, 1], "target": [1, 2]}


def test_the_host_reads_labels_and_isolated_vertices(tmp_path):
    as_graph({"a": ["b"]}).save(tmp_path / "labels.parquet")
    assert read(tmp_path / "labels.parquet") is None
    as_graph({3: [70], 9: []}).save(tmp_path / "isolated.parquet")
    assert read(tmp_path / "isolated.parquet") is None


def test_other_formats_and_a_wrong_column(tmp_path):
    generate("path:3").save(tmp_path / "g.mtx")
    assert read(tmp_path / "g.mtx") is None
    with pytest.raises(InputError, match="no column 'from'"):
        read(tmp_path / "e.csv", "a,b,c\n1,2,3\n", source="from")
