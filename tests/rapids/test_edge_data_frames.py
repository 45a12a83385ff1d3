"""What edges carry, from frames of cuDF and back."""

import cudf
import numpy as np
import pandas as pd
import pytest

from rapids_bfs import InputError, as_graph, bfs
from rapids_bfs._core.cuda.arrays import on_device, to_host

COLUMNS = {
    "whole": np.arange(200, dtype=np.int16) - 7,
    "large": np.arange(200, dtype=np.uint64) << np.uint64(54),
    "flag": np.arange(200) % 3 == 0,
    "weight": np.where(np.arange(200) % 7 == 0, np.nan, np.arange(200) / 8),
    "day": np.datetime64("2026-01-01", "ns") + np.arange(200) * np.timedelta64(36, "h"),
    "kind": np.array(["cites", "é", "", "likes"], object)[np.arange(200) % 4],
}


def frames(ids, directed):
    """The same edges, no two with the same ends, as frames of pandas and of cuDF."""
    rng = np.random.default_rng(3)
    pairs = rng.choice(40 * 40, 200, replace=False)
    ends = [pairs // 40, pairs % 40]
    if not directed:
        ends = [np.minimum(*ends), np.maximum(*ends)]
        once = np.unique(ends[0] * 40 + ends[1], return_index=True)[1]
    else:
        once = np.arange(200)
    names = {"numbers": np.arange(40), "gaps": 3 * np.arange(40) + 10**6, "strings": [f"v{i}" for i in range(40)]}[ids]
    columns = {"source": np.array(names)[ends[0]], "target": np.array(names)[ends[1]]} | COLUMNS
    frame = pd.DataFrame(columns).iloc[once].reset_index(drop=True)
    frame["group"] = frame["kind"].astype("category")
    return frame, cudf.from_pandas(frame)


def rows(frame):
    """The rows by their ends, as plain values."""
    frame = frame.astype({"group": str}).sort_values(["source", "target"], ignore_index=True)
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("ids", ["numbers", "gaps", "strings"])
def test_there_and_back(ids, directed):
    host, device = frames(ids, directed)
    names = [*COLUMNS, "group"]
    graph = as_graph(device, directed=directed, edge_data=names)
    assert graph.device == "cuda"
    assert all(on_device(graph.edge_data[name]) for name in ("whole", "large", "flag", "weight"))
    back = graph.to("cudf").to_pandas()
    assert list(back.columns) == list(host.columns)
    if directed:
        assert rows(back) == rows(host)
    same_ends = as_graph(host, directed=directed, edge_data=names)
    for name in names:
        found = dict(zip(arcs(graph), np.asarray(graph.to("cpu").edge_data[name]), strict=True))
        expected = dict(zip(arcs(same_ends), np.asarray(same_ends.edge_data[name]), strict=True))
        assert found.keys() == expected.keys()
        assert all(
            one == expected[arc] or (one != one and expected[arc] != expected[arc]) for arc, one in found.items()
        )


def arcs(graph):
    """The arcs of a graph as pairs of ids, in their order."""
    here = graph.to("cpu")
    sources = np.repeat(np.arange(len(here)), here.degrees)
    return list(zip(here.ids_of(sources).tolist(), here.ids_of(here.targets).tolist(), strict=True))


def test_a_mask_of_cudf_filters():
    _, device = frames("strings", True)
    graph = as_graph(device, edge_data=list(COLUMNS))
    february = np.datetime64("2026-02-01")
    for mask in (graph.edge_data["kind"] == "cites", graph.edge_data["day"] < february, graph.edge_data["whole"] > 90):
        filtered = graph.filter(edges=mask)
        assert filtered.num_arcs == int(to_host(mask).sum())
        source = next(iter(graph))
        found = bfs(filtered, source).to_frame("pandas")
        expected = bfs(graph.to("cpu").filter(edges=to_host(mask)), source).to_frame("pandas")
        assert found["distance"].tolist() == expected["distance"].tolist()
    column = cudf.Series(graph.edge_data["whole"] > 90)
    assert graph.filter(edges=column).num_arcs == int(column.sum())


def test_missing_values():
    frame = cudf.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0]})
    frame["kind"] = cudf.Series(["a", None, "b"])
    frame["weight"] = cudf.Series([0.5, None, 2.0])
    frame["whole"] = cudf.Series([1, None, 3])
    graph = as_graph(frame, edge_data=["kind", "weight"])
    assert graph.filter(edges=graph.edge_data["kind"] == "a").num_arcs == 1
    assert np.isnan(to_host(graph.edge_data["weight"])).tolist() == [False, True, False]
    with pytest.raises(InputError, match="whole"):
        as_graph(frame, edge_data=["whole"])
