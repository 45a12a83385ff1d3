"""Files of results: what is read is what was written, and what is no result is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_files import check_message, labelled_graphs, plain_graphs
from hypothesis import given
from hypothesis import strategies as st

from rapids_bfs import Graph, InputError, as_graph, bfs, read
from rapids_bfs.adapters.result_files import SUFFIXES, read_table, save_table
from rapids_bfs.result import from_frame

readable = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=4)
wordy = st.sampled_from(["0x10", "2020-01-01", "1e3", "true", "007", "NA", "nan", "12:30:00", "-1", "a,b", "1.0"])


@given(plain_graphs().filter(lambda graph: graph.num_vertices > 0) | labelled_graphs(readable) | labelled_graphs(wordy))
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_results_come_back(tmp_path_factory: pytest.TempPathFactory, suffix: str, graph: Graph) -> None:
    path = tmp_path_factory.mktemp("frames") / f"a{suffix}"
    result = bfs(graph, graph.ids_of(np.array([0])).tolist()[0], engine="cpu:sequential")
    save_table(result.to_frame("arrow"), path)
    again = from_frame(graph, read_table(path, graph), str(path))
    assert again.distances.tolist() == result.distances.tolist()
    assert again.predecessors.tolist() == result.predecessors.tolist()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("ids", [None, ["a", "b", "c"]])
def test_the_direction_of_edges_comes_with_a_frame(tmp_path: Path, ids: list[str] | None, directed: bool) -> None:
    """A file of undirected edges was undirected, and directed as the frame that pandas read from it."""
    graph = as_graph([(0, 1), (2, 1), (1, 0)] if directed else [(0, 1), (2, 1)], directed=directed)
    graph = graph if ids is None else graph.replace(labels=np.array(ids, object))
    graph.save(tmp_path / "a.parquet")
    frame = pd.read_parquet(tmp_path / "a.parquet")
    frame.to_parquet(tmp_path / "b.parquet")  # without our metadata
    for each in (
        frame,
        pd.read_parquet(tmp_path / "b.parquet"),
        pq.read_table(tmp_path / "a.parquet"),
        graph.to("pandas"),
        graph.to("arrow"),
    ):
        made = as_graph(each)
        assert (made.directed, made.num_arcs) == (directed, graph.num_arcs)
        assert as_graph(each, directed=not directed).directed is not directed
    assert read(tmp_path / "b.parquet").directed is directed
    frame.attrs = {"directed": np.False_}
    assert not as_graph(frame).directed
    for attrs in ({}, {"directed": "no"}, {"directed": None}):
        frame.attrs = attrs
        assert as_graph(frame).num_arcs == as_graph(pl.from_pandas(frame)).num_arcs == len(frame)
        frame.to_parquet(tmp_path / "c.parquet")
        assert read(tmp_path / "c.parquet").num_arcs == len(frame)


HEADER = "vertex,distance,predecessor\n"
REFUSED = {
    "text": (HEADER + "0,x,-1\n1,1,0\n", r"column 'distance', row 0 \(from 0\): 'x' is not an integer"),
    "fraction": (HEADER + "0,0,-1\n1,0.5,0\n", r"column 'distance', row 1 \(from 0\): '0.5' is not an integer"),
    "hexadecimal": (HEADER + "0,0,-1\n0x1,1,0\n", "column 'vertex', row 1 .* '0x1' is not an integer"),
    "wrapped around": (HEADER + f"0,{2**32},-1\n1,1,0\n", "column 'distance': .*4294967296"),
    "beyond int64": (HEADER + f"0,{2**64},-1\n1,1,0\n", "column 'distance', row 0 .* is not an integer"),
    "short row": (HEADER + "0,0\n", "Expected 3 columns, got 2"),
    "twice": (HEADER + "0,0,-1\n0,0,-1\n", "must hold each vertex of edges once: vertex 0 occurs 2 times$"),
    "one missing": (HEADER + "0,0,-1\n", "must hold each vertex of edges once: vertex 1 is missing$"),
    "unknown predecessor": (HEADER + "0,0,7\n1,1,0\n", "7 is not a vertex"),
    "NUL": (HEADER + "0,0,-1\n1,1,0\0\n", "there is a NUL byte"),
    "nothing": ("", "a.csv is empty"),
    "strings": ({"vertex": ["0", "1"], "distance": [0, 1]}, "column 'vertex' holds string, not integers"),
    "distances as text": ({"vertex": [0, 1], "distance": ["0", "1"]}, "column 'distance' holds string"),
    "distances as floats": ({"vertex": [0, 1], "distance": [0.0, 1.5]}, "column 'distance' holds double"),
    "distances in lists": ({"vertex": [0, 1], "distance": [[0], [1]]}, "column 'distance' holds list"),
    "far": ({"vertex": [0, 1], "distance": [0, 2**40]}, "column 'distance': Integer value 1099511627776 not in range"),
    "bools": ({"vertex": [False, True], "distance": [0, 1]}, "column 'vertex' holds bool"),
}


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_more_rows_than_vertices_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    """A small file can say the same a hundred million times."""
    table = pa.table({"vertex": np.zeros(1000, int), "distance": np.zeros(1000, np.int32)})
    path = tmp_path / f"a{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path)
        monkeypatch.delattr(pq.ParquetFile, "read")
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    message = "must hold each vertex of edges once, and holds [0-9,]+ rows for 2 vertices"
    with pytest.raises(InputError, match=message):
        read_table(path, as_graph(([0, 1], [1, 0])))


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_result(tmp_path: Path, case: str) -> None:
    graph = as_graph(([0, 1], [1, 0]))
    content: Any = REFUSED[case][0]
    path = tmp_path / ("a.csv" if isinstance(content, str) else "a.parquet")
    if isinstance(content, str):
        path.write_text(content)
    else:
        pq.write_table(pa.table(content), path)
    with pytest.raises(InputError, match=REFUSED[case][1]) as error:
        from_frame(graph, read_table(path, graph), str(path))
    check_message(error)


def test_chunks_without_rows() -> None:
    """A filter leaves them. Arrow's C interface tells the library of a slice of no rows that lies past its end."""
    nothing = pa.array([], pa.int64())
    sources = pa.chunked_array([pa.array([0]), nothing, pa.array([1, 2]), nothing])
    for targets in (pa.array([1, 2, 0]), pa.chunked_array([[1, 2], [0]])):
        table = pa.table({"src": sources, "dst": targets, "w": pa.array([7, 8, 9])})
        graph = as_graph(table, edge_data=["w"])
        assert (graph.targets.tolist(), graph.edge_data["w"].tolist()) == ([1, 2, 0], [7, 8, 9])
    assert (
        len(as_graph(pa.table({"src": pa.chunked_array([nothing] * 2), "dst": pa.chunked_array([nothing] * 2)}))) == 0
    )


@pytest.mark.parametrize("place", ["src", " Target ", ("x", "from")])
def test_an_end_of_the_edges_in_the_index(place: Any) -> None:
    """The two columns besides it would be taken for the edges otherwise, one of them weights."""
    frame = pd.DataFrame({"a": [0, 1], "dst": [1, 2], "w": [5, 6]})
    index = frame["a"] if isinstance(place, str) else [frame["a"], frame["a"]]
    indexed = frame.drop(columns="a").set_index(index)
    indexed.index.names = [place] if isinstance(place, str) else list(place)
    for given_columns in ({}, {"source": "dst"}):
        with pytest.raises(InputError, match=r"frame has '.*' as its index: call reset_index\(\)") as error:
            as_graph(indexed, **given_columns)
        check_message(error)
    assert as_graph(indexed, source="dst", target="w").num_edges == 2
    assert as_graph(indexed.rename(columns={"dst": "u", "w": "v"})).num_edges == 2


class OwnPandas(pd.DataFrame):
    """A class of a user's, or such as GeoPandas's."""


class OwnPolars(pl.DataFrame):
    """The same of Polars."""


def test_frames_of_derived_classes() -> None:
    edges = {"a": [(0, 1), "x"], "b": ["x", 3]}
    graph = as_graph(OwnPandas(edges, index=[7, 9]))
    assert graph.to("dict") == {(0, 1): ["x"], "x": [3], 3: []}
    assert graph.frame == "pandas"
    assert as_graph(OwnPolars({"a": [0, 1], "b": [1, 2]})).frame == "polars"
    with pytest.raises(InputError, match="column 'a': Polars objects cannot hold vertex ids"):
        as_graph(OwnPolars({"a": pl.Series([object()], dtype=pl.Object), "b": [1]}))


def test_columns_whose_names_are_no_strings_are_named_as_they_are() -> None:
    frame = pd.DataFrame([[3, 1, 2], [4, 2, 3]])
    for edges in (frame, dask.dataframe.from_pandas(frame, npartitions=2)):
        assert list(as_graph(edges, source=1, target=np.int64(2))) == [1, 2, 3]
    levels = frame.set_axis(pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)]), axis=1)
    assert list(as_graph(levels, source=("x", np.int64(2)), target=("y", 1))) == [1, 2, 3]
    with pytest.raises(InputError, match="no column 5;"):
        as_graph(frame, source=5, target=1)


@pytest.mark.parametrize("of", [pd.DataFrame, pl.DataFrame, lambda edges: pa.table(pd.DataFrame(edges))])
def test_what_is_no_name_of_a_column(of: Callable[[Any], Any]) -> None:
    frame = of({"a": [0, 1], "b": [1, 2]})
    for asked in (pd.Series([0, 1]), pl.Series([0, 1]), np.array(["a", "b"]), pl.col("a"), pd.NA, ["a"], True, ([],)):
        with pytest.raises(InputError, match=r"the name of a column is a string, not .*; its columns are 'a', 'b'"):
            as_graph(frame, source=asked, target="b")


def test_places_of_columns_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("a,b,c\n9,0,1\n9,1,2\n")
    assert list(read(path, source=np.int64(1), target=2)) == [0, 1, 2]
    with pytest.raises(InputError, match="the name of a column is a string, not False; its columns are 'a', 'b', 'c'"):
        read(path, source=False, target=True)


def test_titles_that_cannot_be_compared() -> None:
    frame = pd.DataFrame([[3, 1, 2], [4, 2, 3]]).set_axis([pd.NA, 1, 2], axis=1)
    assert list(as_graph(frame, source=1, target=2)) == [1, 2, 3]
