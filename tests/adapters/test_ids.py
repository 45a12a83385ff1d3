"""Ids become vertices: integers wherever they lie, objects, and what is refused because it would be guessed."""

from __future__ import annotations

import datetime
import json
import math
import uuid
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import Graph, InputError, as_graph, bfs, read
from rapids_bfs.adapters import _integer_ids
from rapids_bfs.adapters._edge_list import EdgeList
from rapids_bfs.adapters._integer_ids import IntegerIds
from rapids_bfs.adapters.arrow import from_arrow
from rapids_bfs.adapters.edges import from_edge_list

INT64_MAX = 2**63 - 1

integer_ids = st.one_of(
    st.integers(0, 20),
    st.integers(10**9, 10**9 + 20),
    st.integers(0, 20).map(lambda id: id + id // 2),  # every third is missing
    st.integers(0, INT64_MAX),
    st.integers(INT64_MAX - 3, INT64_MAX),
)


def rows_by_id(graph: Graph) -> dict[Any, list[Any]]:
    return {id: row for id, row in graph.to("dict").items() if row}


@given(st.lists(st.tuples(integer_ids, integer_ids), max_size=30))
def test_integers_ascend_and_neighbours_keep_their_order(pairs: list[tuple[int, int]]) -> None:
    source, target = np.array(pairs, np.int64).reshape(-1, 2).T
    graph = as_graph((source, target), directed=True)
    expected: dict[int, list[int]] = {}
    for u, v in pairs:
        expected.setdefault(u, []).append(v)
    assert rows_by_id(graph) == expected
    assert graph.ids_of(np.arange(graph.num_vertices)).tolist() == sorted({id for pair in pairs for id in pair})


@pytest.mark.parametrize("distinct", [10, 3 * _integer_ids.STEP, None])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_numbers_are_those_of_pandas(distinct: int | None, dtype: type) -> None:
    """Blocks of any size, over all the steps in which the table grows."""
    rng = np.random.default_rng(0)
    ids = rng.integers(0, distinct or np.iinfo(dtype).max, 5 * _integer_ids.STEP, dtype)
    codes, labels = pd.factorize(ids)
    table = IntegerIds()
    numbers = np.concatenate([table.number(block) for block in np.split(ids, [0, 1, 100, 3 * _integer_ids.STEP])])
    np.testing.assert_array_equal(numbers, codes)
    ascending, ranks = table.ascending()
    np.testing.assert_array_equal(ascending, np.sort(labels))
    np.testing.assert_array_equal(ascending[ranks[numbers]], ids)


def edge_list(source: np.ndarray, target: np.ndarray, rows: int) -> tuple[EdgeList, list[int]]:
    """An edge list that says it has ``rows``, and the list of how often it was read."""
    readings: list[int] = []

    def blocks() -> Any:
        readings.append(len(readings))
        return [(source, target)]

    return EdgeList(rows, blocks), readings


def test_scattered_ids_are_hashed_in_one_reading() -> None:
    """The first reading ends at the first id that lies too far; the next one is the last."""
    edges, readings = edge_list(np.array([0, 10**15]), np.array([10**15, 7]), 2)
    assert from_edge_list(edges).to("dict") == {0: [10**15], 7: [], 10**15: [7]}
    assert len(readings) == 2


@pytest.mark.parametrize("rows", [0, 10**12])
def test_rows_that_are_not_there(rows: int) -> None:
    """Neither memory nor time goes by what a file says of its length."""
    edges, _ = edge_list(np.array([0, 3 * 10**8]), np.array([3 * 10**8, 7]), rows)
    assert from_edge_list(edges).labels.tolist() == [0, 7, 3 * 10**8]


def test_no_array_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 1 << 25)
    edges, _ = edge_list(np.array([0, 2 * 10**6]), np.array([2 * 10**6, 7]), 10**6)
    assert from_edge_list(edges).labels.tolist() == [0, 7, 2 * 10**6]
    many = np.arange(1 << 20) * 10**9
    with pytest.raises(InputError, match=r"needs .* MiB of memory, and 32.0 MiB are free"):
        as_graph((many, many))


def test_gap_vertices_between_two_far_ids(tmp_path: Path) -> None:
    (tmp_path / "a.el").write_text("0 9999999\n9999999 5\n")
    graph = read(tmp_path / "a.el")
    assert (graph.num_vertices, graph.num_arcs, graph.labels) == (10**7, 2, None)
    assert graph.targets[graph.offsets[9999999]] == 5


def test_isolated_ids_of_a_file_may_repeat() -> None:
    notes = {b"rapids_bfs": json.dumps({"directed": True, "isolated": [7, 3, 3, 5]}).encode()}
    table = pa.table({"u": [5], "v": [9]}).replace_schema_metadata(notes)
    assert from_arrow(table).to("dict") == {3: [], 5: [9], 7: [], 9: []}


def test_integers_that_numpy_would_round() -> None:
    """It has no type for integers of both int64 and uint64."""
    large = 2**63 + 1
    assert as_graph([(large, 1), (1, 2)]).to("dict") == {large: [1], 1: [2], 2: []}
    assert as_graph(([large, 1], [1, 2])).to("dict") == {large: [1], 1: [2], 2: []}


UTC = datetime.UTC
ODD_IDS = [
    *(0, 2, -1, 2**64, -(2**70), True, 1.0, 0.5, math.nan, math.inf, 1j, "a", "", "\ud800", b"a", b"\xff", None, pd.NA),
    *(np.int8(1), np.uint64(2**63), np.float32(0.1), np.longdouble(1), np.True_, np.str_("a"), np.void(b"a")),
    *(np.datetime64("2020"), np.datetime64(5, "as"), np.datetime64("NaT"), np.datetime64(2**62, "Y"), np.complex64(1)),
    *(np.timedelta64(1), np.timedelta64(1, "s"), np.timedelta64(1, "Y"), pd.NaT, pd.Timestamp(1), pd.Timedelta(1)),
    *(pd.Timestamp(2020, 1, 1, tz="UTC"), pd.Period("2020"), pd.Interval(0, 1), datetime.date(2020, 1, 1)),
    *(datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=UTC), datetime.datetime.max),
    *(datetime.time(1), datetime.timedelta.max, Decimal(1), Decimal("nan"), Decimal("snan"), Decimal("1e400")),
    *((0, 1), (), ("a", 1), ("\ud800",), (None,), (np.datetime64("2020"), 1), frozenset(), uuid.UUID(int=5), object),
    *(pa.scalar(1), np.array(1), np.array([1]), [1], {}, ...),
]


def objects(values: list[Any]) -> np.ndarray:
    """An array of these objects, each whole."""
    return np.fromiter(values, object, len(values))


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_odd_objects_make_a_graph_or_are_refused(data: st.DataObject) -> None:
    """Arrow crashes on some of these columns, and Polars panics."""
    places = st.sampled_from(range(len(ODD_IDS)))  # Hypothesis would hash the ids
    some = st.sampled_from(data.draw(st.lists(places, min_size=1, max_size=3))).map(ODD_IDS.__getitem__)
    pairs = data.draw(st.lists(st.tuples(some, some), min_size=1, max_size=4))
    source, target = (pd.Series(objects([*ids]), dtype=object) for ids in zip(*pairs, strict=True))
    kind = data.draw(st.sampled_from(["frame", "series", "rows", "dict"]))
    frame_of_edges = pd.DataFrame({"source": source, "target": target})
    try:
        dict_of_edges = {u: [v] for u, v in pairs} if kind == "dict" else {}
    except (TypeError, ValueError):  # not hashable
        return
    given = {"frame": frame_of_edges, "series": (source, target), "rows": pairs, "dict": dict_of_edges}[kind]
    id = ODD_IDS[data.draw(places)]
    try:
        graph = as_graph(given)
    except InputError:
        return
    first = graph.ids_of(np.array([0]))[0]
    result = bfs(graph, [first], engine="cpu:sequential")
    for call in (
        lambda: bfs(graph, id, engine="cpu:sequential"),
        lambda: bfs(graph, [first, id], target=id, engine="cpu:sequential"),
        *(lambda kind=kind: result.to_frame(kind) for kind in ("pandas", "polars", "arrow", "dask")),
    ):
        with suppress(InputError):
            call()


@pytest.mark.parametrize(
    "ids",
    [
        [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=UTC)],
        [pd.Timestamp(1), pd.Timestamp(2)],
        [pd.Timedelta(1), pd.Timedelta(2)],
        ["\ud800", "a"],
        [(0, 1), ("a", 1)],
        [b"\xff", "a"],
    ],
    ids=range(6),
)
def test_objects_stay_distinct(ids: list[Any]) -> None:
    """Arrow makes one id of a time with a zone and without, and of times a nanosecond apart."""
    column = pd.Series(objects(ids), dtype=object)
    graph = as_graph(pd.DataFrame({"source": column, "target": column[::-1]}), directed=True)
    assert graph.labels.tolist() == ids
    result = bfs(graph, [ids[0]])
    for kind in ("pandas", "dask"):
        made = result.to_frame(kind)
        assert [*(made.compute() if kind == "dask" else made)["vertex"]] == ids
    for kind in ("polars", "arrow"):
        with pytest.raises(InputError, match=r"has no type for these ids, .*: use pandas"):
            result.to_frame(kind)


def test_ids_that_cannot_be_compared() -> None:
    """Python's decimals and NumPy's integers, which have the same hash if they are equal."""
    source, target = objects([Decimal(1), Decimal(2)]), objects([Decimal(2), np.int8(1)])
    for edges in (source, target), pd.DataFrame({"source": source, "target": target}):
        with pytest.raises(InputError, match="vertex ids must be hashable and comparable"):
            as_graph(edges)


STRINGS, INTEGERS = ["0", "1"], [1, 2]


def saved(path: Path, table: pa.Table) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed")
    return path


@pytest.mark.parametrize("numbers", [INTEGERS, [1.0, 2.0]])
@pytest.mark.parametrize(
    "give",
    [
        lambda u, v, path: pd.DataFrame({"u": u, "v": v}),
        lambda u, v, path: pd.DataFrame({"u": u, "v": v}, dtype=object),
        lambda u, v, path: pd.DataFrame({"u": pd.Categorical(u), "v": v}),
        lambda u, v, path: pl.DataFrame({"u": u, "v": v}),
        lambda u, v, path: pa.table({"u": u, "v": v}),
        lambda u, v, path: saved(path / "a.parquet", pa.table({"u": u, "v": v})),
        lambda u, v, path: saved(path / "a.arrow", pa.table({"u": u, "v": v})),
        lambda u, v, path: (u, v),
        lambda u, v, path: (np.array(u), np.array(v)),
        lambda u, v, path: (np.array(u, object), np.array(v, object)),
        lambda u, v, path: list(zip(u, v, strict=True)),
    ],
    ids=[
        "pandas",
        "objects",
        "category",
        "polars",
        "arrow",
        "parquet",
        "ipc",
        "lists",
        "arrays",
        "object arrays",
        "pairs",
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_strings_beside_numbers_are_refused(tmp_path: Path, give: Any, numbers: list[Any], swapped: bool) -> None:
    columns = (numbers, STRINGS) if swapped else (STRINGS, numbers)
    with pytest.raises(InputError, match=r"column '(u|source)' holds .* and column '(v|target)' .*: cast one column"):
        as_graph(give(*columns, tmp_path))


def test_other_types_side_by_side_are_refused() -> None:
    days = pa.array([0, 1], pa.int32()).cast(pa.date32())
    for other in (pa.array(STRINGS), pa.array(INTEGERS), pa.array([b"0", b"1"])):
        with pytest.raises(InputError, match=r"column 'u' holds ids of type date32\[day\]"):
            from_arrow(pa.table({"u": days, "v": other}))
    for columns in ((days, days.cast(pa.timestamp("s"))), (["a"], [b"a"]), ([datetime.date(2020, 1, 1)], ["2020"])):
        with pytest.raises(InputError, match="cast one column"):
            from_arrow(pa.table(columns, ["u", "v"])) if len(columns[0]) == 2 else as_graph(columns)
    with pytest.raises(InputError, match="column 'u': bool cannot hold vertex ids"):
        from_arrow(pa.table({"u": [True], "v": [False]}))
    with pytest.raises(InputError, match=r"column 'u': extension<arrow\.uuid> cannot hold vertex ids"):
        from_arrow(pa.table([pa.array([bytes(16)], pa.uuid())] * 2, ["u", "v"]))


def test_a_column_of_several_types_means_them() -> None:
    """As in a dict or a NetworkX graph: '1' and 1 are two vertices, 2 and 2.0 one."""
    graph = as_graph([("1", 1), (1, "a"), (2, 2.0), (np.int64(2), True)])
    assert graph.to("dict") == {"1": [1], 1: ["a"], "a": [], 2: [2, 1]}
    assert as_graph([("a", (0, 1)), ("b", (0, 1))]).num_vertices == 3


def test_tables_without_rows_have_no_types_to_differ() -> None:
    types = pa.schema({"u": pa.string(), "v": pa.int64()})
    assert from_arrow(types.empty_table()).num_vertices == 0
    with pytest.raises(InputError, match=r"column 'v', row 0 \(from 0\): null"):
        from_arrow(pa.table({"u": ["a"], "v": pa.nulls(1)}))


@pytest.mark.parametrize(("unit", "type"), [("D", datetime.date), ("s", datetime.datetime), ("ns", np.datetime64)])
def test_dates_stay_dates(unit: str, type: type) -> None:
    days = np.array(["2020-01-01", "2020-01-02"], f"M8[{unit}]")
    graph = as_graph((days[:1], days[1:]))
    assert all(day in graph for day in days)
    with pytest.raises(InputError, match=r"row 0 \(from 0\): null"):
        as_graph((days[:1], np.array(["NaT"], days.dtype)))


@pytest.mark.parametrize("type", [pl.Datetime("ns"), pl.Datetime("ns", "UTC"), pl.Duration("ns")], ids=repr)
def test_columns_of_polars_keep_nanoseconds(type: Any) -> None:
    column = pl.Series([0, 1, 10**9]).cast(type)
    graph = as_graph((column[:2], column[1:]))
    assert [id.value for id in graph] == [0, 1, 10**9]
    assert list(graph) == list(as_graph(pl.DataFrame({"u": column[:2], "v": column[1:]})))
    assert bfs(graph, column[1:]).sources.tolist() == [1, 2]


@pytest.mark.parametrize("encoded", [False, True])
def test_times_of_the_day_stay_distinct(encoded: bool) -> None:
    """Python's have no nanoseconds, without which these would be one vertex."""

    def table(*nanoseconds: int) -> pa.Table:
        times = pa.array(nanoseconds).cast(pa.time64("ns"))
        return pa.table({"u": times.dictionary_encode() if encoded else times, "v": times})

    graph = from_arrow(table(1000, 2000))
    assert list(graph) == [datetime.time(microsecond=1), datetime.time(microsecond=2)]
    with pytest.raises(InputError, match=r"column 'u': Casting from time64\[ns\] to time64\[us\] would lose data: 1"):
        from_arrow(table(1, 2))
    for column in (pa.chunked_array([[1, 2]]).cast(pa.time64("ns")), pl.Series([1, 2]).cast(pl.Time)):
        with pytest.raises(InputError, match=r"column 'source': a column of ids .* would lose data: 1"):
            as_graph((column, column))


def test_bytes_in_views() -> None:
    views = pa.array([b"a", b"b"], pa.binary_view())
    assert from_arrow(pa.table({"u": views, "v": views})).to("dict") == {b"a": [b"a"], b"b": [b"b"]}


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (
            np.array([2**24], np.float32),
            r"(16777216\.0|1\.6777216e\+07) is beyond the whole numbers that a float32 holds",
        ),
        (np.array([2.0**53]), "9007199254740992.0 is beyond the whole numbers that a float64 holds"),
        ([2**53 + 1, 1.0], "beyond the whole numbers that a float64 holds"),
        (np.array([np.inf]), "inf is beyond"),
        (np.array([np.nan]), "nan is not a vertex id"),
        (np.array([2**63], np.uint64), "beyond int64"),
        (np.array([-(10**15)]), "is negative"),
        (np.array([True]), "bool cannot hold vertex ids"),
        (np.ma.array([5, 6], mask=[False, True]), r"column 'source', row 1 \(from 0\): masked is not a vertex id"),
    ],
)
def test_ids_that_are_none(ids: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_graph((ids, ids))


def test_a_mask_that_hides_nothing() -> None:
    assert as_graph((np.ma.array([0, 1]), [1, 2])).labels is None
    assert as_graph(np.ma.array([[0, 1], [1, 2]])).num_edges == 2
    with pytest.raises(InputError, match="column 'target', row 1"):
        as_graph(np.ma.array([[0, 1], [1, 2]], mask=[[0, 0], [0, 1]]))


def test_whole_floats_are_integers() -> None:
    assert as_graph((np.array([2.0, 0]), np.array([1, 2]))).labels is None
    assert as_graph((np.array([2.0**53 - 1]), np.array([2**53]))).labels.tolist() == [2**53 - 1, 2**53]
    assert as_graph((np.array([2.0**24 - 1], np.float32), [0])).labels.tolist() == [0, 2**24 - 1]


@pytest.mark.parametrize("labels", [["a", "a"], ["a", None], ["b", "a", "b"]])
def test_a_label_twice_in_the_metadata(labels: list[Any]) -> None:
    """Each later vertex would take the id of the one before it."""
    notes = {b"rapids_bfs": json.dumps({"labels": labels}).encode()}
    with pytest.raises(InputError, match="'labels', which must be a list of strings, all different"):
        from_arrow(pa.table({"u": ["a"], "v": ["b"]}).replace_schema_metadata(notes))


def test_a_dictionary_with_a_value_twice() -> None:
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "a"]))
    assert from_arrow(pa.table({"u": twice, "v": ["b", "c", "c"]})).to("dict") == {"a": ["b", "c"], "b": ["c"], "c": []}
