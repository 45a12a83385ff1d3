"""The engine ``cugraph-dask`` without a GPU: a fake cuGraph on a real Dask cluster, pandas in place of cuDF."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from oracle import assert_right
from strategies import graphs

from rapids_bfs import InputError, as_graph, bfs, compare
from rapids_bfs._core import rapids
from rapids_bfs._core.cuda.driver import Driver, driver
from rapids_bfs.comparison import baselines
from rapids_bfs.engines import Options, registered
from rapids_bfs.engines.rapids import cugraph_dask
from rapids_bfs.generators import generate

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


class FakeGraph:
    """What cuGraph makes of a frame: its edges, both ways if it is undirected."""

    def __init__(self, directed):
        self.directed = directed

    def from_dask_cudf_edgelist(self, frame, source, destination):
        self.edges = frame[[source, destination]].compute().to_numpy()
        self.partitions = frame.npartitions
        if not self.directed:
            self.edges = np.concatenate([self.edges, self.edges[:, ::-1]])


def fake_bfs(graph, start, depth_limit=None):
    """A frame in no order, of the vertices with edges, the largest number where there is no distance."""
    assert comms.is_initialized()
    assert start in graph.edges
    ids = np.unique(graph.edges)[::-1]
    found = bfs((graph.edges[:, 0], graph.edges[:, 1]), int(start), depth_limit=depth_limit, engine="scipy")
    found = found.to_frame("pandas").set_index("vertex").reindex(ids)
    far = found["distance"] < 0
    columns = {"vertex": ids, "distance": found["distance"].mask(far, np.iinfo(np.int64).max).to_numpy()}
    return dd.from_pandas(pd.DataFrame(columns | {"predecessor": found["predecessor"].to_numpy()}), npartitions=2)


class FakeComms(ModuleType):
    """cuGraph's communicator, of which there is one."""

    clients = ()

    def initialize(self, p2p):
        assert not self.clients
        assert not p2p
        self.clients = (distributed.default_client(),)

    def is_initialized(self):
        return bool(self.clients)

    def destroy(self):
        assert self.clients[0].status == "running"
        self.clients = ()


comms = FakeComms("cugraph.dask.comms.comms")


def local_cluster(n_workers, protocol, dashboard_address):
    assert protocol == "tcp"
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=dashboard_address
    )


@pytest.fixture
def several_gpus(monkeypatch):
    """RAPIDS and two GPUs, as far as the engine can tell."""
    cugraph, dask = ModuleType("cugraph"), ModuleType("cugraph.dask")
    cugraph.Graph, dask.bfs = FakeGraph, fake_bfs
    modules = {"cugraph": cugraph, "cugraph.dask": dask, "cugraph.dask.comms": SimpleNamespace(comms=comms)}
    modules |= {"cupy": np, "cudf": pd}
    monkeypatch.setattr(pd, "from_pandas", pd.DataFrame, raising=False)
    modules["dask_cudf"] = SimpleNamespace(from_delayed=dd.from_delayed, from_cudf=dd.from_pandas)
    modules["dask_cuda"] = SimpleNamespace(LocalCUDACluster=local_cluster)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(cugraph_dask, "package_missing", lambda package: None)
    for module in (cugraph_dask, baselines):
        monkeypatch.setattr(module, "driver", lambda: Driver((13, 0), ("H200", "H200")))
    yield
    cugraph_dask._close()
    assert not comms.clients


def test_is_registered():
    assert registered()["cugraph-dask"].algorithms == ("bfs",)


@pytest.mark.parametrize("lacking", cugraph_dask.PACKAGES)
def test_says_which_package_is_missing(monkeypatch, lacking):
    monkeypatch.setattr(
        cugraph_dask, "package_missing", lambda package: f"no {package}" if package == lacking else None
    )
    monkeypatch.setattr(cugraph_dask, "driver", lambda: Driver((13, 0), ("H200", "H200")))
    assert registered()["cugraph-dask"].unavailable() == f"no {lacking}"


def test_wants_two_gpus(monkeypatch):
    monkeypatch.setattr(cugraph_dask, "package_missing", lambda package: None)
    monkeypatch.setattr(cugraph_dask, "driver", lambda: Driver((13, 0), ("H200",)))
    assert "there is one here: use 'cugraph'" in registered()["cugraph-dask"].unavailable()


@pytest.mark.skipif(rapids.package_missing("cugraph") is None and len(driver().devices) > 1, reason="it can run here")
def test_cannot_run_without_rapids():
    with pytest.raises(InputError, match="engine 'cugraph-dask' cannot run here: "):
        bfs("path:5", 0, engine="cugraph-dask")


@pytest.mark.parametrize(
    ("options", "sources", "reason"),
    [
        (Options(target=1), 1, "does not support target"),
        (Options(deterministic=True), 1, "does not support deterministic"),
        (Options(depth_limit=0), 1, "a depth limit of 0 for none"),
        (Options(), 2, "does not support several sources"),
    ],
)
def test_declines_what_cugraph_cannot_do(options, sources, reason):
    engine = registered()["cugraph-dask"]
    assert reason in engine.unsupported(generate("path:3"), "bfs", options, sources)
    assert engine.unsupported(generate("path:3"), "bfs", Options(depth_limit=2)) is None


def test_right_on_random_graphs(several_gpus):
    @settings(max_examples=15)
    @given(graph=graphs(min_vertices=1))
    def check(graph):
        for options in ({}, {"depth_limit": 2}, {"predecessors": False}):
            assert_right(graph, [graph.num_vertices - 1], "cugraph-dask", **options)

    check()


def test_a_cluster_with_a_worker_for_each_gpu_is_kept(several_gpus):
    bfs("karate", 0, engine="cugraph-dask")
    (cluster,) = cugraph_dask._own
    assert cluster.gpus == len(cluster.client.nthreads()) == 2
    traversal = registered()["cugraph-dask"].prepare(as_graph("karate"), "bfs")
    assert traversal.cugraph_graph.partitions == 2
    assert cugraph_dask._own == [cluster]
    assert cugraph_dask.started(1) is not cluster.client
    assert cluster.client.status == "closed"


def test_the_users_own_cluster_and_communicator_are_used_and_left(several_gpus):
    with local_cluster(1, "tcp", None) as cluster, distributed.Client(cluster) as client:
        comms.initialize(p2p=False)
        assert bfs("karate", 0, engine="cugraph-dask").depth == 3
        assert not cugraph_dask._own
        cugraph_dask._close()
        assert comms.clients == (client,)
        comms.destroy()


def test_compared_from_a_list_of_edges(several_gpus):
    frame = pd.DataFrame({"u": [10, 20, 30], "v": [20, 30, 77]})
    comparison = compare(frame, sources=[10, 20], engines="cpu,cugraph-dask", source="u", target="v")
    assert comparison["cugraph-dask"].unavailable is None
    assert comparison["cugraph-dask"].valid
    assert comparison["cugraph-dask"].edges_ms


def test_left_out_of_a_comparison_on_one_gpu_unless_it_is_named(several_gpus):
    assert "compare with --gpus" in compare("karate", num_sources=1)["cugraph-dask"].unavailable
