"""What edges carry, from every kind of table, file and graph that has it, and back."""

from datetime import date, datetime
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import InputError, as_graph, read

IDS = st.sampled_from([["a", "b", "c", "d"], [0, 1, 2, 3], [7, 2, 900, 41]])
ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(-(2**62), 2**62),
        st.none() | st.floats(allow_nan=False, width=32),
        st.none() | st.sampled_from(["cites", "knows", "ünd", ""]),
        st.none() | st.datetimes(pd.Timestamp("1900-01-01"), pd.Timestamp("2100-01-01")),
        st.booleans(),
    ),
    max_size=12,
)
NAMES = ["number", "weight", "kind", "time", "flag"]


def frame_of(ids, rows):
    ends = [(ids[row[0]], ids[row[1]]) for row in rows]
    columns = dict(zip(NAMES, zip(*(row[2:] for row in rows), strict=True), strict=True)) if rows else {}
    none = dict.fromkeys(NAMES, ())
    types = {"number": "int64", "weight": "float64", "kind": object, "time": "datetime64[us]", "flag": bool}
    frame = pd.DataFrame({"src": [u for u, _ in ends], "dst": [v for _, v in ends]} | none | columns)
    return frame.astype(types)


def plain(value):
    return (
        None if value is None or value != value else pd.Timestamp(value) if isinstance(value, np.datetime64) else value
    )


def rows_of(graph):
    """Every arc with what it carries, in the order of the edges of a vertex, sorted by the ends alone."""
    ends = zip(*(graph.ids_of(v).tolist() for v in sources_and_targets(graph)), strict=True)
    columns = (map(plain, np.asarray(graph.edge_data[name])) for name in NAMES)
    return sorted(zip(ends, *columns, strict=True), key=lambda row: row[0])


def sources_and_targets(graph):
    return np.repeat(np.arange(graph.num_vertices), graph.degrees), graph.targets


def expected(frame, directed):
    rows = [((row[0], row[1]), *map(plain, row[2:])) for row in frame.itertuples(index=False)]
    if not directed:
        turned = [((v, u), *carried) for (u, v), *carried in rows]
        if sorted(row[0] for row in rows) != sorted(row[0] for row in turned):
            rows = [
                each
                for row, back in zip(rows, turned, strict=True)
                for each in ([row] if row[0] == back[0] else [row, back])
            ]
    return sorted(rows, key=lambda row: row[0])


@settings(max_examples=30)
@given(IDS, ROWS, st.booleans(), st.sampled_from(["pandas", "polars", "arrow", "dict"]))
def test_tables_keep_what_their_edges_carry(ids, rows, directed, kind):
    frame = frame_of(ids, rows)
    if kind == "dict":
        given = (frame["src"].to_numpy(), frame["dst"].to_numpy())
        graph = as_graph(given, directed=directed, edge_data={name: frame[name] for name in NAMES})
    else:
        table = {"pandas": frame.copy, "polars": partial(pl.from_pandas, frame), "arrow": partial(pa.table, frame)}[
            kind
        ]()
        graph = as_graph(table, directed=directed, edge_data=NAMES)
    assert graph.directed == directed
    assert rows_of(graph) == expected(frame, directed)


@settings(max_examples=20)
@given(IDS, ROWS, st.sampled_from(["parquet", "arrow", "arrows", "npz", "pandas", "polars", "networkx"]))
def test_going_back_keeps_it(tmp_path_factory, ids, rows, kind):
    graph = as_graph(frame_of(ids, rows), edge_data=NAMES)
    if kind in ("pandas", "polars", "networkx"):
        again = as_graph(graph.to(kind), edge_data=NAMES)
    else:
        path = tmp_path_factory.getbasetemp() / f"carried.{kind}"
        graph.save(path, force=True)
        again = read(path)
    if kind == "networkx" and graph.num_duplicates:  # NetworkX puts parallel edges together
        assert sorted(map(str, rows_of(again))) == sorted(map(str, rows_of(graph)))
    else:
        assert rows_of(again) == rows_of(graph)


def test_an_undirected_graph_goes_back_with_each_edge_once(tmp_path):
    frame = pd.DataFrame({"u": ["a", "b", "c"], "v": ["b", "c", "c"], "time": [3, 1, 2]})
    graph = as_graph(frame, directed=False, edge_data=["time"])
    assert sorted(graph.to("pandas").itertuples(index=False, name=None)) == [
        ("a", "b", 3),
        ("b", "c", 1),
        ("c", "c", 2),
    ]
    graph.save(tmp_path / "graph.parquet")
    again = read(tmp_path / "graph.parquet")
    assert not again.directed
    assert sorted(again.edge_data["time"].tolist()) == [1, 1, 2, 3, 3]
    both_ways = pd.DataFrame({"u": ["a", "b"], "v": ["b", "a"], "time": [1, 2]})
    two = as_graph(both_ways, directed=False, edge_data=["time"])
    assert as_graph(both_ways, edge_data=["time"]).directed
    with pytest.raises(InputError, match="the edge between 'a' and 'b' carries another 'time' each way"):
        two.to("pandas")


def test_networkx_gives_and_takes_attributes():
    theirs = nx.MultiGraph()
    theirs.add_edge("a", "b", time=1, kind="x")
    theirs.add_edge("a", "b", time=2)
    theirs.add_edge("b", "c", time=3, kind="y")
    graph = as_graph(theirs, edge_data=["time", "kind"])
    assert graph.edge_data["time"].tolist() == [1, 2, 1, 2, 3, 3]
    assert np.asarray(graph.edge_data["kind"]).tolist() == ["x", None, "x", None, "y", "y"]
    assert sorted(graph.to("networkx").edges(data="time")) == [("a", "b", 1), ("a", "b", 2), ("b", "c", 3)]
    with pytest.raises(InputError, match=r"row 2 \(from 0\): null is no bool"):
        as_graph(nx.Graph([(0, 1, {"weight": True}), (1, 2)]), edge_data=["weight"])
    with pytest.raises(InputError, match="give a list of them"):
        as_graph(theirs, edge_data={"time": [1, 2, 3]})


def test_a_dict_of_lists_has_lists_of_values():
    graph = as_graph({"a": ["b", "c"], "b": []}, edge_data={"time": {"a": [5, 6]}})
    assert graph.edge_data["time"].tolist() == [5, 6]
    with pytest.raises(InputError, match="'a' wants a list of 2 values"):
        as_graph({"a": ["b", "c"]}, edge_data={"time": {"a": [5]}})


def test_csv_columns_have_the_types_that_arrow_sees(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target,time,kind\n0,1,2024-01-01,x\n1,2,2024-02-01,\n")
    graph = read(path, edge_data=["time", "kind"])
    assert graph.edge_data["time"].dtype == "datetime64[D]"
    assert np.asarray(graph.edge_data["kind"]).tolist() == ["x", None]
    graph.save(tmp_path / "again.csv")
    assert read(tmp_path / "again.csv", edge_data=["kind"]).edge_data["kind"][0] == "x"
    graph.save(tmp_path / "part-1.parquet")
    graph.save(tmp_path / "part-2.parquet")
    several = read(tmp_path / "part-*.parquet", edge_data=["kind"])
    assert np.asarray(several.edge_data["kind"]).tolist() == ["x", "x", None, None]


STRINGS = ["a,b", 'x"y', "a\nb", "NA", "null", "nan"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_csv_keeps_strings_or_refuses_them(tmp_path, suffix):
    path = tmp_path / f"edges{suffix}"
    sources = np.arange(len(STRINGS))
    as_graph((sources, sources + 1), edge_data={"kind": STRINGS}).save(path)
    assert np.asarray(read(path, edge_data=["kind"]).edge_data["kind"]).tolist() == STRINGS
    for strings, message in [
        (["x", ""], "'kind', and '' would be read as missing"),
        (["1", "2"], "'kind', and '1' would be read as int64"),
        (["x", "a\0b"], "data 'kind' 'a.x00b' has a NUL"),
    ]:
        with pytest.raises(InputError, match=message):
            as_graph(([0, 1], [1, 2]), edge_data={"kind": strings}).save(path, force=True)


def test_csv_keeps_integers_beyond_int64(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(f"source,target,hash,size\n0,1,{2**63 + 1},1e300\n1,2,5,2\n")
    data = read(path, edge_data=["hash"]).edge_data
    assert data["hash"].tolist() == [2**63 + 1, 5]
    both = read(path, edge_data=["hash", "size"]).edge_data
    assert both["hash"].tolist() == [2**63 + 1, 5]  # a large float beside it made them floats, rounded
    assert both["size"].tolist() == [1e300, 2]


def test_ends_of_edges_in_csv_are_no_edge_data(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target,w\n0,1,2\n")
    for end in ("source", "target"):
        with pytest.raises(InputError, match=rf"edges\.csv: '{end}' holds the ends of edges"):
            read(path, source="source", target="target", edge_data=["w", end])


def test_integers_that_floats_would_round_are_refused():
    theirs = nx.Graph([(0, 1, {"hash": 2**53 + 1}), (1, 2)])  # the edge without one makes the column one of floats
    with pytest.raises(
        InputError, match=r"row 0 \(from 0\): 9007199254740993 is beyond the whole numbers of the float64"
    ):
        as_graph(theirs, edge_data=["hash"])
    for values in ([0.5, 2**53 + 1], np.array([None, -(2**53) - 1], object)):
        with pytest.raises(InputError, match=r"edge data 'hash', row 1 \(from 0\)"):
            as_graph(([0, 1], [1, 2]), edge_data={"hash": values})
    assert as_graph(([0, 1], [1, 2]), edge_data={"hash": [0.5, 2**60]}).edge_data["hash"].tolist() == [0.5, 2.0**60]
    with pytest.raises(InputError, match="edge data 'hash': "):
        as_graph(([0, 1], [1, 2]), edge_data={"hash": pl.Series([1, 2], dtype=pl.Int128)})


DAYS = ["2024-02-01", "2025-01-01"]


@pytest.mark.parametrize(
    ("dates", "unit"),
    [
        (np.array(DAYS, "M8[M]"), "D"),
        (np.array(DAYS, "M8[h]"), "s"),
        (np.array(DAYS, "M8[12h]"), "s"),
        (np.array(DAYS, "M8[ms]"), "ms"),
        ([date.fromisoformat(day) for day in DAYS], "D"),
        (pd.Series([datetime.fromisoformat(day) for day in DAYS], dtype=object), "us"),
    ],
)
def test_dates_of_any_unit_or_as_objects(tmp_path, dates, unit):
    graph = as_graph(([0, 1], [1, 2]), edge_data={"time": dates})
    assert graph.edge_data["time"].dtype == f"M8[{unit}]"
    again = as_graph(graph.to("arrow"), edge_data=["time"])
    for held in graph, again, graph.replace(edge_data={"time": graph.edge_data["time"]}):
        assert held.edge_data["time"].astype("M8[D]").astype(str).tolist() == DAYS


@pytest.mark.parametrize(
    ("dates", "message"),
    [
        (np.array(["NaT", "NaT"], "M8"), "in units from days to nanoseconds, not as datetime64"),
        (np.array([1, 2], "M8[fs]"), "in units from days to nanoseconds"),
        (np.array([2**60, 2], "M8[h]"), r"beyond those of datetime64\[s\]"),
        (np.array([2**31, 2], "M8[D]"), "beyond those of date32"),  # Arrow would wrap them
        (np.array([2, 10**12], "M8[M]"), "beyond those of date32"),
    ],
)
def test_dates_that_nobody_else_has_are_refused(dates, message):
    with pytest.raises(InputError, match=message):
        as_graph(([0, 1], [1, 2]), edge_data={"time": dates})
    with pytest.raises(InputError, match=message):
        as_graph(([0, 1], [1, 2])).replace(edge_data={"time": dates})


@pytest.mark.parametrize(
    ("last", "kind", "message"),
    [
        (
            np.datetime64(2**31 - 1, "D"),
            "csv",
            "'time' from 1970-01-01 to 5881580-07-11, which would be read as string",
        ),
        (np.datetime64(-(2**40), "s"), "csv", "from -32873-11-12T23:23:44 to .*, which would be read as string"),
        (np.datetime64(-(2**63) + 1, "ns"), "csv", "which would be read as string"),
        (np.datetime64(2**62, "s"), "parquet", "Parquet cannot hold"),
        (np.datetime64(2**40, "s"), "networkx", "36812-02-20T00:36:16, and those of Python are in the years 1 to 9999"),
        (np.datetime64("NaT", "s"), "csv", None),
        (np.datetime64("9999-12-31T23:59:59", "s"), "csv", None),
        (np.datetime64("9999-12-31T23:59:59", "s"), "networkx", None),
        (np.datetime64("NaT", "D"), "networkx", None),
    ],
)
def test_dates_that_a_format_lacks_are_refused(tmp_path, last, kind, message):
    graph = as_graph(([0, 1], [1, 2]), edge_data={"time": np.array([0, last.astype(int)]).astype(last.dtype)})
    path = tmp_path / f"edges.{kind}"
    give = partial(graph.to, kind) if kind == "networkx" else partial(graph.save, path)
    if message:
        with pytest.raises(InputError, match=message):
            give()
        return
    made = give()
    again = read(path, edge_data=["time"]) if made is None else as_graph(made, edge_data=["time"])
    assert np.array_equal(again.edge_data["time"], graph.edge_data["time"], equal_nan=True)


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz"])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        (np.array([0.1, 2], "f4"), "edges carry float32 'w', which would be read as float64"),
        (np.array([0.1, 2], "f2"), "edges carry float16 'w'"),
        (np.array(["NaT", "NaT"], "M8[D]"), "all dates 'w' that edges carry are missing"),
        (np.array([0.1, np.nan]), None),
    ],
)
def test_columns_that_text_would_change_are_refused(tmp_path, suffix, column, message):
    graph = as_graph(([0, 1], [1, 2]), edge_data={"w": column})
    path = tmp_path / f"edges{suffix}"
    if message:
        with pytest.raises(InputError, match=message):
            graph.save(path)
        path = tmp_path / "edges.arrow"
    graph.save(path)
    again = read(path, edge_data=["w"]).edge_data["w"]
    assert again.dtype == column.dtype
    assert np.array_equal(again, column, equal_nan=True)


def test_frames_in_the_other_order_of_bytes():
    frame = pd.DataFrame({"src": np.array([0, 1], ">i4"), "dst": np.array([1, 2], ">i8"), "w": np.array([1, 2], ">f4")})
    graph = as_graph(frame, edge_data=["w"])
    assert graph.labels is None
    assert graph.edge_data["w"].tolist() == [1, 2]


FRAME = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "time": [1, 2], "list": [[1], [2]]})


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (FRAME, {"edge_data": ["tme"]}, "frame has no column 'tme'; its columns are 'src', 'dst', 'time'"),
        (FRAME, {"edge_data": ["time", "time"]}, "a name is there twice"),
        (FRAME, {"edge_data": ["src"], "source": "src", "target": "dst"}, "'src' holds the ends of edges"),
        (FRAME, {"edge_data": ["list"]}, "column 'list'"),
        (FRAME, {"edge_data": "time"}, "is a list of names"),
        (
            FRAME[["src", "dst"]][::-1],
            {"edge_data": {"time": FRAME["time"]}},
            "'time': the index of this Series is not",
        ),
        (FRAME, {"edge_data": ["time"], "devices": "cpu:2"}, "a distributed graph carries no edge data"),
        (as_graph(FRAME, edge_data=["time"]), {"devices": "cpu:2"}, r"frame does: give graph\.replace\(edge_data=None"),
        ("rmat:5", {"edge_data": ["time"]}, "no edge data to choose"),
        ("karate", {"edge_data": ["time"]}, "no edge data to choose"),
        (as_graph(FRAME[["src", "dst"]]), {"edge_data": ["time"]}, "edge_data= does not go with Graph"),
        ({0: [1]}, {"edge_data": ["time"]}, "has no columns with names"),
        (nx.path_graph(3), {"edge_data": ["tme"]}, "no edge has an attribute 'tme'; there are none"),
        (nx.Graph([(0, 1, {"time": 1})]), {"edge_data": ["tme"]}, "no edge has an attribute 'tme'; there are 'time'"),
    ],
)
def test_what_is_not_there_is_refused(graph, options, message):
    with pytest.raises(InputError, match=message):
        as_graph(graph, **options)


def test_an_attribute_that_some_edges_have():
    some = nx.MultiDiGraph([(0, 1, {"kind": "x"}), (0, 1, {}), (1, 2, {"kind": None})])
    assert np.asarray(as_graph(some, edge_data=["kind"]).edge_data["kind"]).tolist() == ["x", None, None]
    assert len(as_graph(nx.empty_graph(3), edge_data=["kind"]).edge_data["kind"]) == 0


def test_formats_without_edge_data_refuse_them(tmp_path):
    graph = as_graph(([0, 1], [1, 0]), edge_data={"time": [1, 2]})
    for suffix in ("mtx", "el", "txt", "sg"):
        with pytest.raises(InputError, match=r"keeps no edge data; \.parquet"):
            graph.save(tmp_path / f"graph.{suffix}")
    graph.replace(edge_data=None).save(tmp_path / "graph.el")
    with pytest.raises(InputError, match="GAP's edge list, which has no edge data to choose"):
        read(tmp_path / "graph.el", edge_data=["time"])
    graph.save(tmp_path / "graph.npz")
    with pytest.raises(InputError, match="no edge data 'tme': there are 'time'"):
        read(tmp_path / "graph.npz", edge_data=["tme"])
