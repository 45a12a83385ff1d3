"""Frames of dask_cudf as graphs on the workers of a cluster, and cugraph.dask beside us."""

import os
import signal
import sys

import cudf
import numpy as np
import pytest
import window_checks
from readme import ROOT

from rapids_bfs import (
    InputError,
    TraversalError,
    as_graph,
    bfs,
    bfs_batch,
    compare,
    connected_components,
    load,
    validate,
)
from rapids_bfs._core.cuda.driver import NO_LINK, driver, links
from rapids_bfs.cugraph import dask as drop_in
from rapids_bfs.distributed.dask import DaskLauncher
from rapids_bfs.distributed.graph import from_graph

sys.path.append(str(ROOT))  # behind what is installed

from benchmarks.worker_variables import set_variables

dask_cudf = pytest.importorskip("dask_cudf")
dask_cuda = pytest.importorskip("dask_cuda")
distributed = pytest.importorskip("distributed")

GPUS = len(driver().devices)
several = [pytest.mark.gpus, pytest.mark.skipif(GPUS < 2, reason="there is one GPU")]


def linked(test):
    """A test for GPUs that all have peer access."""
    there = GPUS > 1 and NO_LINK not in links().values()
    return pytest.mark.gpus(pytest.mark.skipif(not there, reason="there are no GPUs with peer access")(test))


@pytest.fixture(scope="module")
def client():
    with (
        dask_cuda.LocalCUDACluster(protocol="tcp", dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def frame_of(edges, partitions=5):
    return dask_cudf.from_cudf(cudf.DataFrame(edges), npartitions=partitions)


@pytest.mark.parametrize(("factor", "summand"), [(1, 0), (7, 3), (10**13, 1)], ids=["0..n-1", "gaps", "scattered"])
@pytest.mark.parametrize("directed", [True, False])
def test_frames_in_and_out(client, factor, summand, directed):
    rng = np.random.default_rng(8)
    ends = factor * rng.integers(0, 500, (2, 3000)) + summand
    whole = as_graph(tuple(ends), directed=directed)
    graph = as_graph(frame_of({"src": ends[0], "w": ends[0], "dst": ends[1]}), directed=directed)
    assert (graph.num_vertices, graph.num_edges) == (whole.num_vertices, whole.num_edges)
    for source in np.unique(ends)[:3].tolist():
        for options in ({}, {"depth_limit": 2}, {"predecessors": False}):
            result, expected = bfs(graph, source, **options), bfs(whole, source, **options)
            assert validate(graph, result)
            frame = result.to_frame()
            assert isinstance(frame, dask_cudf.DataFrame)
            found = frame.compute().sort_values("vertex")
            assert found["vertex"].to_numpy().tolist() == np.unique(ends).tolist()
            distances = expected.to_frame("pandas").sort_values("vertex")["distance"].tolist()
            assert found["distance"].to_numpy().tolist() == distances


def test_bad_ids(client):
    with pytest.raises(InputError, match="ids are integers"):
        as_graph(frame_of({"source": ["a", "b"], "target": ["b", "c"]}))
    with pytest.raises(InputError, match="null is not a vertex id"):
        as_graph(frame_of({"source": [0, None], "target": [1, 2]}))


@pytest.mark.parametrize("engine", [pytest.param("cugraph-dask", marks=several)])
def test_right_on_random_graphs(client, engine):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        graph = as_graph(tuple(rng.integers(0, 60, (2, 200))), vertices=64, directed=bool(seed % 2))
        for source in (int(np.argmax(graph.degrees)), 63):
            result = bfs(graph, source, engine=engine, depth_limit=[None, 3][seed % 2])
            assert validate(graph, result)


@pytest.mark.gpus
@pytest.mark.skipif(GPUS < 2, reason="there is one GPU")
def test_side_by_side(client):
    comparison = compare(load("rmat:12", devices="all"), num_sources=3)
    for name in ("cupy", "cugraph-dask", "pylibcugraph"):
        assert comparison[name].valid, (name, comparison[name].unavailable)
    assert comparison.baseline == "cugraph-dask"


def on_all(client, **options):
    return DaskLauncher(client, sorted(client.nthreads()), device="cuda", **options)


@pytest.mark.gpus
@pytest.mark.skipif(GPUS < 2, reason="there is one GPU")
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_drop_in(client, dtype):
    """The same columns, types and distances as cuGraph's frames, and predecessors one level up."""
    import cugraph.dask
    from cugraph.dask.comms import comms

    ends = (3 * np.random.default_rng(4).integers(0, 300, (2, 900))).astype(dtype)
    edges = frame_of({"source": ends[0], "target": ends[1]})
    if not comms.is_initialized():  # as it is once an engine has searched on this client
        comms.initialize(p2p=False)
    try:
        for directed in (False, True):
            graph = cugraph.Graph(directed=directed)
            graph.from_dask_cudf_edgelist(edges, source="source", destination="target")
            for start, limit in ((int(ends[0, 0]), None), (int(ends[1, 7]), 2)):
                theirs = cugraph.dask.bfs(graph, start, depth_limit=limit).compute().sort_values("vertex")
                ours = drop_in.bfs(graph, start, depth_limit=limit)
                assert isinstance(ours, dask_cudf.DataFrame)
                ours = ours.compute().sort_values("vertex")
                assert dict(ours.dtypes) == dict(theirs.dtypes)
                for column in ("vertex", "distance"):
                    assert ours[column].to_numpy().tolist() == theirs[column].to_numpy().tolist()
                distances = dict(zip(*(ours[name].to_numpy().tolist() for name in ("vertex", "distance")), strict=True))
                for vertex, before in zip(*(ours[each].to_numpy() for each in ("vertex", "predecessor")), strict=True):
                    assert before < 0 or distances[before] + 1 == distances[vertex]
    finally:
        comms.destroy()


@linked
def test_windows_of_workers(client):
    """Kernels in all processes write into each other's memory and wait for each other."""
    launcher = on_all(client)
    windows = launcher.map(window_checks.opened)
    assert all(launcher.collect(window_checks.zeros, each=[windows]))
    assert [rounds for rounds, _ in launcher.collect(window_checks.waited, 100, each=[windows])] == [100] * GPUS
    for turn in range(3):
        assert launcher.collect(window_checks.written, turn, each=[windows]) == [[]] * GPUS
    launcher.collect(window_checks.close, 0, each=[windows])
    assert all(launcher.collect(window_checks.others_read, [0], 2, each=[windows]))


@linked
def test_workers_search_in_one_launch(client):
    whole = load("rmat:12")
    graph = from_graph(whole, on_all(client))
    for source in np.argsort(whole.degrees)[-3:].tolist():
        result = bfs(graph, source, trace=True)
        assert "one launch" in result.trace.engine
        assert validate(graph, result)
        np.testing.assert_array_equal(result.to("cpu").distances, bfs(whole, source, engine="cpu").distances)


@pytest.mark.gpus
@pytest.mark.skipif(GPUS < 2, reason="there is one GPU")
def test_workers_of_several_hosts():
    """NCCL takes each worker for one of a host of its own, and connects them by sockets."""
    with (
        dask_cuda.LocalCUDACluster(protocol="tcp", dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = sorted(client.nthreads())
        apart = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}
        for number, worker in enumerate(workers):
            set_variables(client, apart | {"NCCL_HOSTID": f"host{number}"}, [worker])
        whole = load("rmat:12")
        graph = from_graph(whole, on_all(client))
        for source in np.argsort(whole.degrees)[-3:].tolist():
            result = bfs(graph, source, trace=True)
            names = ", ".join(sorted(f"host{number}" for number in range(GPUS)))
            assert f"NCCL: ranks on {GPUS} hosts ({names})" in result.trace.engine
            assert validate(graph, result)
            np.testing.assert_array_equal(result.to("cpu").distances, bfs(whole, source, engine="cpu").distances)
        np.testing.assert_array_equal(connected_components(graph), connected_components(whole))
        sources = list(range(70))
        np.testing.assert_array_equal(bfs_batch(graph, sources).distances, bfs_batch(whole, sources).distances)


@pytest.mark.gpus
@pytest.mark.skipif(GPUS < 2, reason="there is one GPU")
def test_workers_that_cannot_reach_each_other():
    """A network interface that there is not: an error within the limit, and the next graph is made."""
    with (
        dask_cuda.LocalCUDACluster(protocol="tcp", dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        last = sorted(client.nthreads())[-1]
        set_variables(client, {"NCCL_SOCKET_IFNAME": "nothere0"}, [last])
        with pytest.raises(TraversalError, match="NCCL"):
            from_graph(load("rmat:8"), on_all(client, timeout=10.0))


@linked
def test_a_worker_that_stands_still_while_kernels_wait(client):
    """They end at the limit, in whose time one line comes; the others' devices go on."""
    launcher = on_all(client, timeout=5.0)
    graph = from_graph(load("rmat:10"), launcher)
    assert bfs(graph, 0).num_reached
    pid = client.run(os.getpid)[launcher.workers[1]]
    launcher.collect(window_checks.at_launch, 1, signal.SIGSTOP, each=[graph.partitions])
    try:
        with pytest.raises(
            TraversalError, match=r"partition 1 of .* does not answer|no answer for 5 s from partition 1"
        ):
            bfs(graph, 0)
    finally:
        os.kill(pid, signal.SIGCONT)
    client.run(window_checks.free_bytes, None, workers=[launcher.workers[0]])
    assert bfs(from_graph(load("rmat:10"), on_all(client)), 0).num_reached


@linked
def test_a_worker_that_is_killed_while_kernels_wait(client):
    """The others' kernels are stopped, and a line comes at once."""
    launcher = on_all(client, timeout=600.0)  # nobody waits so long
    graph = from_graph(load("rmat:10"), launcher)
    assert bfs(graph, 0).num_reached
    launcher.collect(window_checks.at_launch, 1, signal.SIGKILL, each=[graph.partitions])
    with pytest.raises(
        TraversalError, match=r"partition 1 of .* is gone, and with it its partition: make the graph again"
    ):
        bfs(graph, 0)
    client.run(window_checks.free_bytes, None, workers=[launcher.workers[0]])
    client.wait_for_workers(GPUS, timeout=120)
    assert bfs(from_graph(load("rmat:10"), on_all(client)), 0).num_reached


@pytest.mark.gpus
@pytest.mark.skipif(GPUS < 2, reason="there is one GPU")
def test_a_worker_that_is_killed(client):
    """The last of these tests: cuGraph's communicator does not outlive it."""
    graph = as_graph(frame_of({"source": [0, 1, 2], "target": [1, 2, 3]}), directed=False)
    assert bfs(graph, 0).depth == 3
    os.kill(client.run(os.getpid)[graph.launcher.workers[1]], signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(
            TraversalError, match=r"partition 1 of .* is gone, and with it its partition: make the graph again"
        ):
            bfs(graph, 0)
    client.wait_for_workers(GPUS, timeout=120)
    assert client.submit(int, 5, pure=False).result() == 5
    assert bfs(as_graph(frame_of({"source": [0], "target": [1]})), 0).depth == 1
