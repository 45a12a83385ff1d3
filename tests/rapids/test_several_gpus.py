"""Frames of dask_cudf as graphs on the workers of a cluster, and cugraph.dask beside us."""

import os
import signal

import cudf
import numpy as np
import pytest

from rapids_bfs import InputError, TraversalError, as_graph, bfs, compare, load, validate
from rapids_bfs._core.driver import driver

dask_cudf = pytest.importorskip("dask_cudf")
dask_cuda = pytest.importorskip("dask_cuda")
distributed = pytest.importorskip("distributed")

GPUS = len(driver().devices)
several = [pytest.mark.gpus, pytest.mark.skipif(GPUS < 2, reason="there is one GPU")]


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
    comparison = compare(load("rmat:12", devices="all"), 3)
    for name in ("cupy", "cugraph-dask", "pylibcugraph"):
        assert comparison[name].valid, (name, comparison[name].unavailable)
    assert comparison.baseline == "cugraph-dask"


@pytest.mark.gpus
@pytest.mark.skipif(GPUS < 2, reason="there is one GPU")
def test_a_worker_that_is_killed(client):
    """The last of these tests: cuGraph's communicator does not outlive it."""
    graph = as_graph(frame_of({"source": [0, 1, 2], "target": [1, 2, 3]}), directed=False)
    assert bfs(graph, 0).depth == 3
    os.kill(client.run(os.getpid)[graph.launcher.workers[1]], signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(TraversalError, match=r"part 1 of .* is gone, and with it its part: make the graph again"):
            bfs(graph, 0)
    client.wait_for_workers(GPUS, timeout=120)
    assert client.submit(int, 5, pure=False).result() == 5
    assert bfs(as_graph(frame_of({"source": [0], "target": [1]})), 0).depth == 1
