"""Distributed graphs over two hosts, made of namespaces: right answers against SciPy and NetworkX, and every failure.

Needs root on Linux; see `hosts`.
"""

import gc
import os
import signal
import threading
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import faults
import hosts as made
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from certificates import security
from searched import assert_random_graphs_are_searched, assert_searched

from rapids_bfs import TraversalError, as_graph, bfs, bfs_batch, connected_components, load, shortest_path
from rapids_bfs.distributed.dask import DaskLauncher
from rapids_bfs.distributed.graph import from_graph

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

if reason := made.missing():
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module")
def cluster():
    with made.cluster() as (hosts, client), dask.config.set(scheduler=client):
        yield hosts, client


@pytest.fixture
def client(cluster, monkeypatch):
    """With both workers, whatever happened to one before."""
    monkeypatch.setattr("rapids_bfs.distributed.dask.GRACE", made.PATIENCE)
    cluster[1].wait_for_workers(2, timeout=made.PATIENCE)
    return cluster[1]


@pytest.fixture
def hosts(cluster, client):
    return cluster[0]


def launcher_of(client):
    return DaskLauncher(client, sorted(client.nthreads()), timeout=made.PATIENCE)


def distribute(graph, client):
    return from_graph(graph, launcher_of(client))


def frame_of(columns, partitions=3):
    return dd.from_pandas(pd.DataFrame(columns), npartitions=partitions)


def test_each_host_has_a_worker_and_its_own_folders(client):
    def place():
        return os.stat("/dev/shm").st_dev, os.stat("/tmp").st_dev, os.readlink("/proc/self/ns/net")

    first, second = client.run(place).values()
    assert not set(first) & set(second)


def test_random_graphs(client):
    assert_random_graphs_are_searched(launcher_of(client), 10)


@pytest.mark.parametrize("ids", [str, int], ids=["strings", "integers"])
def test_a_frame_answers_like_networkx(client, ids):
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 60, (2, 70))
    oracle = nx.Graph(zip(*ends.tolist(), strict=True))
    name = (lambda vertex: f"v{vertex}") if ids is str else int
    graph = as_graph(frame_of({"u": [*map(name, ends[0])], "v": [*map(name, ends[1])]}), directed=False)
    assert graph.num_devices == 2
    start = int(ends[0, 0])
    lengths = nx.single_source_shortest_path_length(oracle, start)
    assert bfs(graph, name(start)).as_dict() == {name(vertex): distance for vertex, distance in lengths.items()}
    components = defaultdict(set)
    for id, label in zip(graph, connected_components(graph).tolist(), strict=True):
        components[label].add(id)
    expected = [{name(vertex) for vertex in component} for component in nx.connected_components(oracle)]
    assert sorted(map(sorted, components.values())) == sorted(map(sorted, expected))
    farthest = max(lengths, key=lengths.get)
    assert len(shortest_path(graph, name(start), name(farthest))) == lengths[farthest] + 1
    ends_of_path = start, farthest
    batch = bfs_batch(graph, [*map(name, ends_of_path)])
    for source, distances in zip(ends_of_path, batch.distances.tolist(), strict=True):
        expected = nx.single_source_shortest_path_length(oracle, source)
        reached = {id: distance for id, distance in zip(graph, distances, strict=True) if distance >= 0}
        assert reached == {name(vertex): distance for vertex, distance in expected.items()}


def test_over_tls():
    """In a folder that both hosts see, as their /tmp are their own."""
    with TemporaryDirectory(dir="/var/tmp") as folder, made.cluster(security(Path(folder))) as (_, client):
        assert all(worker.startswith("tls://") for worker in client.nthreads())
        whole = load("karate")
        options = {"source": [0, 33], "depth_limit": None, "target": None, "predecessors": True}
        assert_searched(distribute(whole, client), whole, options)


def test_a_worker_killed_in_a_build(client, monkeypatch):
    from rapids_bfs.distributed import frames

    monkeypatch.setattr(frames, "build", faults.build_and_die)
    with pytest.raises(TraversalError, match=r"partition 1 of 2 \(worker tcp://10\.77\.30\.2:.*is gone"):
        as_graph(frame_of({"u": [0, 1], "v": [1, 2]}, 2))


@pytest.mark.parametrize("moment", ["in a search", "between two"])
def test_a_worker_killed(client, moment):
    whole = load("path:60")
    graph = distribute(whole, client)
    assert bfs(graph, 0).depth == 59
    if moment == "in a search":
        graph.launcher.map(faults.die_in_level, 1, 3, each=[graph.partitions])
    else:
        os.kill(client.run(os.getpid)[graph.launcher.workers[1]], signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(TraversalError, match=r"partition 1 of 2 \(worker tcp://10\.77\.30\.2:.*is gone"):
            bfs(graph, 0)
    client.wait_for_workers(2, timeout=made.PATIENCE)
    assert bfs(distribute(whole, client), 0).depth == 59


def test_a_worker_that_restarts(client):
    graph = distribute(load("path:20"), client)
    client.restart_workers([graph.launcher.workers[1]], timeout=made.PATIENCE)
    with pytest.raises(TraversalError, match=r"partition 1 of 2 .*is gone, and with it its partition"):
        bfs(graph, 0)
    client.wait_for_workers(2, timeout=made.PATIENCE)
    assert bfs(distribute(load("path:20"), client), 0).depth == 19


def test_a_network_that_fails_in_a_search(hosts, client):
    """The error names the rank and its host, within the limit; once the network is back, a new graph answers."""
    whole = load("path:2000")
    graph = distribute(whole, client)
    graph.prepare()
    client.run(faults.be_impatient, graph.launcher.token, 8)
    graph.launcher.timeout = 8
    graph.launcher.map(faults.slow_down, 0.05, each=[graph.partitions])
    errors = []

    def search():
        try:
            with faults.in_time(1):
                bfs(graph, 0)
        except TraversalError as error:
            errors.append(str(error))

    searching = threading.Thread(target=search)
    searching.start()
    while client.run(faults.levels_searched, workers=graph.launcher.workers[:1])[graph.launcher.workers[0]] < 3:
        assert searching.is_alive(), errors
        time.sleep(0.05)
    hosts.link(1, "down")
    try:
        searching.join(made.PATIENCE)
        assert not searching.is_alive()
    finally:
        hosts.link(1, "up")
    assert "partition 1 of 2 (worker tcp://10.77.30.2:" in errors[0]
    client.wait_for_workers(2, timeout=made.PATIENCE)
    assert bfs(distribute(load("path:20"), client), 0).depth == 19


def test_two_clients(client):
    """Each has ranks of its own on the workers, so that their searches do not wait for each other."""
    with distributed.Client(
        client.scheduler.address, loop=client.loop, set_as_default=False, timeout=made.PATIENCE
    ) as other:
        graphs_of_both = [distribute(load("path:40"), each) for each in (client, other)]
        depths = []
        threads = [
            threading.Thread(
                target=lambda graph=graph, source=source: depths.append((source, bfs(graph, source).depth))
            )
            for source in (0, 39, 20)
            for graph in graphs_of_both
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(made.PATIENCE)
        assert sorted(depths) == [(0, 39)] * 2 + [(20, 20)] * 2 + [(39, 39)] * 2
        result = bfs(graphs_of_both[1], 0)
    with pytest.raises(TraversalError, match="client of this graph is closed: make the graph again"):
        result.distance_to(39)
    assert bfs(graphs_of_both[0], 0).depth == 39


def test_a_worker_is_retired_once_no_graph_needs_it(client):
    graph = distribute(load("path:20"), client)
    worker = graph.launcher.workers[1]
    client.retire_workers([worker])
    assert bfs(graph, 0).depth == 19
    del graph
    deadline = time.monotonic() + made.PATIENCE
    while worker in client.nthreads():
        assert time.monotonic() < deadline
        gc.collect()
        client.retire_workers([worker])
