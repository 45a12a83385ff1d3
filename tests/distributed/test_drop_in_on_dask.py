"""`rapids_bfs.cugraph.dask` on workers without GPUs: frames of pandas in the place of cuDF's, ranks on the CPU."""

import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from test_dask_launcher import eventually

from rapids_bfs import InputError, as_graph, bfs
from rapids_bfs.cugraph import dask as drop_in

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
import dask.dataframe as dd  # noqa: E402

from rapids_bfs.distributed.frames import from_dask_cudf  # noqa: E402


class Graph:
    """As a `cugraph.Graph` over several GPUs: its edges, both ways if it is undirected, with weights beside them."""

    __module__ = "cugraph.structure.graph_classes"

    renumbered = False

    def __init__(self, sources, targets, directed, *, gpus=True):
        self.directed, self.gpus = directed, gpus
        if not directed:
            sources, targets = np.append(sources, targets), np.append(targets, sources)
        self.edges = pd.DataFrame({"renumbered_src": sources, "renumbered_dst": targets, "weight": 1.0})
        self._Impl = SimpleNamespace(_plc_graph={"worker": self.edges})

    def is_multi_gpu(self):
        return self.gpus

    def is_directed(self):
        return self.directed

    def decompress_to_edgelist(self, return_unrenumbered_edgelist):
        assert return_unrenumbered_edgelist
        return dd.from_pandas(self.edges, npartitions=2)


@pytest.fixture
def client(dask_client, monkeypatch):
    monkeypatch.setattr(drop_in, "as_graph", partial(from_dask_cudf, device="cpu"))
    with dask_client.as_current(), dask.config.set({"scheduler": dask_client}):
        yield dask_client


@pytest.mark.parametrize(
    ("dtype", "directed", "factor"), [(np.int32, True, 1), (np.int32, False, 7), (np.int64, False, 1)]
)
def test_frames(client, dtype, directed, factor):
    sources, targets = (factor * np.random.default_rng(factor).integers(0, 40, (2, 60))).astype(dtype)
    whole, graph = as_graph((sources, targets), directed=directed), Graph(sources, targets, directed)
    for starts, limit in [(int(sources[0]), None), ([int(sources[0]), int(targets[3])], 2), (int(targets[1]), 0)]:
        frame = drop_in.bfs(graph, starts, depth_limit=limit)
        assert isinstance(frame, dd.DataFrame)
        assert frame.npartitions == 3
        found = frame.compute().set_index("vertex").sort_index()
        assert list(frame.columns) == ["vertex", "distance", "predecessor"]
        assert set(frame.compute().dtypes) == {np.dtype(dtype)}
        ids = np.unique([sources, targets])
        assert found.index.tolist() == ids.tolist()
        expected = bfs(whole, starts, depth_limit=limit)
        distances = np.array([expected.distance_to(int(id)) for id in ids])
        far = np.iinfo(dtype).max
        assert found["distance"].tolist() == np.where(distances < 0, far, distances).tolist()
        behind = found[(found["distance"] > 0) & (found["distance"] < far)]
        assert (found.loc[behind["predecessor"], "distance"].to_numpy() == behind["distance"] - 1).all()
        assert (found.loc[found["distance"] == far, "predecessor"] == -1).all()


@pytest.mark.parametrize(
    "start", [3, np.int64(3), [3], np.array([3]), pd.Series([3]), pd.DataFrame({"x": [3]}), "dask"], ids=str
)
def test_starts_and_columns(client, start):
    graph = Graph(np.array([3, 4]), np.array([4, 9]), directed=True)
    start = dd.from_pandas(pd.Series([3]), npartitions=1) if isinstance(start, str) else start
    found = drop_in.bfs(graph, start, check_start=False).compute().sort_values("vertex")
    assert found["distance"].tolist() == [0, 1, 2]
    found = drop_in.bfs(graph, start, None, False).compute().sort_values("vertex")
    assert found.to_dict("list") == {"vertex": [3, 4, 9], "predecessor": [-1, 3, 4]}


def test_what_is_prepared_is_kept_weakly(client):
    graph = Graph(np.array([3, 4]), np.array([4, 9]), directed=True)
    drop_in.bfs(graph, 3)
    prepared = drop_in._conversions[graph]
    drop_in.bfs(graph, 4)
    assert drop_in._conversions[graph] is prepared
    graph._Impl._plc_graph = {"worker": "another"}
    drop_in.bfs(graph, 4)
    assert drop_in._conversions[graph] is not prepared
    kept = weakref.ref(drop_in._conversions[graph].graph)
    del graph, prepared
    eventually(lambda: kept() is None)


@pytest.mark.parametrize(
    ("change", "start", "says"),
    [
        ({}, 77, "77 is not a vertex"),
        ({}, [], "at least one start"),
        ({}, ["a"], "start must be one or more integers"),
        ({"gpus": False}, 3, "the graph is on one GPU: use rapids_bfs.cugraph.bfs"),
        ({"renumbered": True}, 3, "ids are integers of one column"),
        ({"_Impl": SimpleNamespace()}, 3, "no edges yet"),
    ],
)
def test_errors(client, change, start, says):
    graph = Graph(np.array([3, 4]), np.array([4, 9]), directed=True)
    vars(graph).update(change)
    with pytest.raises(InputError, match=says):
        drop_in.bfs(graph, start)


def test_what_is_no_graph():
    with pytest.raises(TypeError, match="is not supported"):
        drop_in.bfs(pd.DataFrame(), 3)
