"""Distributed graphs on the workers of a Dask cluster: built, searched and validated there, against SciPy."""

import os
import signal

import numpy as np
import pytest
from searched import assert_random_graphs_are_searched, assert_searched

from rapids_bfs import InputError, TraversalError, as_graph, bfs, load, validate
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.distributed.launchers import Threads

distributed = pytest.importorskip("distributed")

from rapids_bfs.distributed.dask import DaskLauncher  # noqa: E402


def launcher_of(dask_client, size=3):
    return DaskLauncher(dask_client, sorted(dask_client.nthreads())[:size], timeout=600)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_random_graphs(dask_client, size):
    assert_random_graphs_are_searched(launcher_of(dask_client, size), 8)


def test_rank_0_searches_alone_what_is_deep(dask_client):
    whole = load("path:300")
    graph = from_graph(whole, launcher_of(dask_client))
    for target in (None, 250):
        assert_searched(graph, whole, {"source": [7], "depth_limit": None, "target": target, "predecessors": True})
    assert graph.searched == "distributed over 3 devices, gathered on one"


@pytest.mark.parametrize("predecessors", [True, False])
def test_bytes_of_a_search_are_counted(dask_client, predecessors):
    """Workers have to send what threads have to, and hardly more is sent: what frames some messages a level."""
    whole = load("rmat:14")
    source = int(whole.sample_sources(1, 1)[0])
    on_workers, on_threads = (
        bfs(from_graph(whole, launcher), source, predecessors=predecessors, trace=True).trace
        for launcher in (launcher_of(dask_client, 2), Threads(["cpu"] * 2))
    )
    assert on_workers.bytes_needed == on_threads.bytes_needed
    framing = np.array(on_workers.bytes_sent) - on_workers.bytes_needed
    assert framing.min() > 0
    assert framing.max() < 5000


def test_validation_names_the_rule_that_an_answer_breaks(dask_client):
    graph = from_graph(as_graph("karate"), launcher_of(dask_client))
    result, other = bfs(graph, 0), bfs(graph, 33)
    assert validate(graph, result)
    object.__setattr__(result, "answers", other.answers)
    assert validate(graph, result).rule == "source"


def test_errors_are_those_of_one_device(dask_client):
    graph = from_graph(as_graph({"a": ["b"], "b": ["c"], "z": []}), launcher_of(dask_client))
    assert bfs(graph, "a").path_to("c") == ["a", "b", "c"]
    with pytest.raises(InputError, match="'q' is not a vertex"):
        bfs(graph, "q")
    with pytest.raises(InputError, match="deterministically"):
        bfs(graph, "a", deterministic=True)
    with pytest.raises(InputError, match=r"result.to\('cpu'\)"):
        bfs(graph, "a").distances  # noqa: B018


def die_in_the_second_level(partition, communicator, rank):
    """Let this rank's process be killed when it next tells the others how far it is, for the second time."""
    search, calls = partition.cache["search"], []
    counters = search.counters

    def dying(communicator):
        calls.append(1)
        if len(calls) == 2 and communicator.rank == rank:
            os.kill(os.getpid(), signal.SIGKILL)
        return counters(communicator)

    search.counters = dying


@pytest.mark.parametrize("rank", [0, 2])
def test_a_worker_killed_in_the_middle_of_a_search(dask_client, rank):
    whole = as_graph("karate")
    graph = from_graph(whole, launcher_of(dask_client))
    other = from_graph(whole, DaskLauncher(dask_client, graph.launcher.workers[1:2]))
    graph.prepare()
    graph.launcher.collect(die_in_the_second_level, rank, each=[graph.partitions])
    name = rf"partition {rank} of 3 \(worker {graph.launcher.workers[rank]}\)"
    line = f"^{name} is gone, and with it its partition: make the graph"
    for _ in range(2):
        with pytest.raises(TraversalError, match=line):
            bfs(graph, 0)
    assert bfs(other, 0).to("cpu").distances.tolist() == bfs(whole, 0).distances.tolist()
    dask_client.wait_for_workers(3, timeout=600)
    again = from_graph(whole, launcher_of(dask_client))
    assert bfs(again, 0).num_reached == whole.num_vertices


def test_a_rank_out_of_memory(dask_client):
    graph = from_graph(as_graph("karate"), launcher_of(dask_client))
    graph.prepare()
    graph.launcher.collect(exhaust, 1, each=[graph.partitions])
    with pytest.raises(TraversalError, match=r"partition 1 of 3 \(worker tcp:.*\) failed: .*it does not fit"):
        bfs(graph, 0)
    assert bfs(graph, 0).depth == 3


def exhaust(partition, communicator, rank):
    """Let this rank find no memory in its next search."""
    search = partition.cache["search"]
    begin = search.begin

    def exhausted(*arguments):
        search.begin = begin
        if communicator.rank == rank:
            raise MemoryError("Unable to allocate 3 TiB")
        begin(*arguments)

    search.begin = exhausted
