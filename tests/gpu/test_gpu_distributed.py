"""Distributed graphs on devices: several partitions on one GPU, and by NCCL on several (marked `gpus`)."""

import threading
from functools import partial

import numpy as np
import pytest
from oracle import expected_distances, random_graph, random_options
from strategies import edges_of

from rapids_bfs import (
    TraversalError,
    as_graph,
    bfs,
    bfs_batch,
    connected_components,
    eccentricity,
    load,
    shortest_path,
    validate,
)
from rapids_bfs._core.cuda.driver import driver
from rapids_bfs.distributed import gathered as alone
from rapids_bfs.distributed import launchers as launch
from rapids_bfs.distributed import level_synchronous as search
from rapids_bfs.distributed import nccl
from rapids_bfs.distributed import persistent as one_launch
from rapids_bfs.distributed.build import Plan, build
from rapids_bfs.distributed.gathered import GATHERED
from rapids_bfs.distributed.graph import DistributedGraph, from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.partitioning import Partitioning
from rapids_bfs.distributed.persistent import PersistentSearch
from rapids_bfs.distributed.sources import LocalEdges

ONE = [[0] * size for size in (1, 2, 3, 5)]
ORDERS = [0, 1], [1, 0], [2, 0, 1], [0, 1, 2, 3]
SEVERAL = [pytest.param(each, marks=pytest.mark.gpus) for each in ORDERS if max(each) < len(driver().devices)]


@pytest.fixture(params=[*ONE, *SEVERAL], ids=str)
def devices(request):
    return request.param


@pytest.fixture
def by_steps(monkeypatch):
    """Searches go back to the host after each step, as where there are no windows."""
    monkeypatch.setattr(one_launch, "open_windows", lambda *given: "not asked for")


@pytest.fixture(params=["one launch", "steps"])
def either_way(request):
    if request.param == "steps":
        request.getfixturevalue("by_steps")


def on(devices, timeout=45.0):
    return Threads([f"cuda:{each}" for each in devices], timeout)


def assert_right(graph, whole, sources, **options):
    for _ in range(2):  # the second time over what the first one left
        result = bfs(graph, sources, **options)
        assert validate(graph, result)
        expected = expected_distances(whole, sources, options.get("depth_limit"), options.get("target"))
        brought = result.to("cpu")
        np.testing.assert_array_equal(brought.distances, expected)
        assert validate(brought.graph, brought)
        assert (result.num_reached, result.depth) == (brought.num_reached, brought.depth)
        assert result.num_traversed_edges == brought.num_traversed_edges
        assert result.to_frame().equals(brought.to_frame())
    return result


@pytest.mark.usefixtures("either_way")
def test_random_graphs(devices):
    for seed in range(12 if devices == [0, 0, 0] else 4):
        rng = np.random.default_rng(seed)
        whole = random_graph(rng, most_vertices=300, most_edges=2000)
        graph = from_graph(whole, on(devices))
        assert edges_of(graph.to("cpu")) == edges_of(whole)
        sources, options = random_options(rng, whole.num_vertices)
        assert_right(graph, whole, sources, **options)


@pytest.mark.parametrize(
    ("alpha", "beta", "room", "dense"),
    [(0, 1, 0, 1), (0, 1, 5, 1 << 20), (0, 1, 256, 1 << 20), (3, 1, 256, 1), (1 << 30, 1 << 40, 256, 1)],
)
@pytest.mark.usefixtures("either_way")
def test_directions(devices, monkeypatch, alpha, beta, room, dense):
    monkeypatch.setattr(search, "ALPHA", alpha)
    monkeypatch.setattr(search, "BETA", beta)
    tuning = one_launch.Tuning(alpha=alpha, beta=beta, shrinking_levels=1, dense=dense, dense_edges=0)
    monkeypatch.setattr(one_launch, "PersistentSearch", partial(PersistentSearch, tuning=tuning))
    monkeypatch.setattr(search, "CAPACITY_DIVISOR", 1 << 30)
    monkeypatch.setattr(search, "MIN_CAPACITY", room)
    monkeypatch.setattr(one_launch, "inbox_capacity", lambda partition: room)
    for seed in range(4 if devices == [0, 0, 0] else 1):
        rng = np.random.default_rng(seed)
        whole = random_graph(rng, most_vertices=300, most_edges=2000)
        assert_right(from_graph(whole, on(devices)), whole, *random_options(rng, whole.num_vertices)[:1])


@pytest.mark.parametrize("spec", ["rmat:12", "urand:11:4", "grid:40", "star:5000", "path:70", "rmat:0"])
def test_named_graphs(devices, spec, monkeypatch):
    monkeypatch.setattr(alone, "DEEP", 1 << 40)
    graph, whole = load(spec, devices=devices), load(spec)
    assert edges_of(graph.to("cpu")) == edges_of(whole)
    assert_right(graph, whole, [int(whole.degrees.argmax())])


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("spec", ["grid:64", "path:300"])
def test_rank_0_searches_alone_what_is_deep(devices, spec):
    graph, whole = load(spec, devices=devices), load(spec)
    assert_right(graph, whole, [0, 17])
    assert (graph.transport == GATHERED) == (len(devices) > 1)
    assert_right(graph, whole, [5], depth_limit=90, predecessors=False)


def test_more_than_searches(devices):
    """Components, many sources, paths and bounds: on devices that are several ranks', and on several devices."""
    for seed in range(6):
        whole = random_graph(np.random.default_rng(seed), most_vertices=90, most_edges=150)
        graph = from_graph(whole, on(devices))
        np.testing.assert_array_equal(connected_components(graph), connected_components(whole))
        np.testing.assert_array_equal(bfs_batch(graph).distances, bfs_batch(whole, engine="cpu").distances)
        np.testing.assert_array_equal(eccentricity(graph), eccentricity(whole, engine="cpu"))
        far = int(bfs(whole, 0, engine="cpu").distances.argmax())
        assert len(shortest_path(graph, 0, far)) == len(shortest_path(whole, 0, far))
    graph, whole = load("rmat:14", devices=devices), load("rmat:14")
    np.testing.assert_array_equal(connected_components(graph), connected_components(whole))
    sources = list(range(100))
    found, expected = (bfs_batch(each, sources, keep="summary").total for each in (graph, whole))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("either_way")
def test_masks(devices):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        whole = random_graph(rng, most_vertices=300, most_edges=900)
        mask = rng.random(len(whole)) < 0.8
        if not mask.any():
            continue
        graph, source = from_graph(whole, on(devices)), int(mask.argmax())
        filtered = whole.filter(vertices=mask)
        assert edges_of(graph.filter(vertices=mask).to("cpu")) == edges_of(filtered)
        result = bfs(graph, source, vertices=mask)
        assert validate(graph, result)
        np.testing.assert_array_equal(result.distances_on_host(), expected_distances(filtered, [source], None, None))
        for question in (connected_components, lambda each, **masks: bfs_batch(each, **masks).distances):
            np.testing.assert_array_equal(question(graph, vertices=mask), question(whole, vertices=mask))


if SEVERAL:

    @pytest.mark.gpus
    def test_without_nccl(monkeypatch):
        """Building exchanges arrays by copies between the devices, and searches are one launch."""
        monkeypatch.setattr(nccl, "missing", lambda: "NCCL is not installed")
        whole = load("rmat:12")
        graph = from_graph(whole, on([0, 1]))
        assert_right(graph, whole, [1, 9])
        assert "NCCL" not in graph.transport


def test_wide_numbers(devices, monkeypatch):
    monkeypatch.setattr(Partitioning, "dtype", np.dtype(np.int64))
    graph, whole = load("rmat:10", devices=devices), load("rmat:10")
    assert edges_of(graph.to("cpu")) == edges_of(whole)
    assert_right(graph, whole, [1, 9])


@pytest.mark.parametrize("directed", [None, True, False])
@pytest.mark.parametrize("factor", [1, 3, 10**15])
def test_edges_distributed(devices, factor, directed):
    """Ids with gaps, small and large; each rank with some of the edges, or none."""
    import cupy

    rng = np.random.default_rng(factor % 97)
    ends = [factor * each for each in rng.integers(0, 200, (2, 900))]
    whole = as_graph(tuple(ends), directed=directed)
    launcher = on(devices)

    def blocks_of(rank):
        def blocks():
            for first in range(0, 900, 130):
                if first // 130 % (launcher.size + 1) == rank:
                    yield tuple(cupy.asarray(each[first : first + 130]) for each in ends)
            if rank == 0:
                for first in range(0, 900, 130):
                    if first // 130 % (launcher.size + 1) == launcher.size:
                        yield tuple(cupy.asarray(each[first : first + 130]) for each in ends)

        return blocks

    sources = [LocalEdges(blocks_of(rank)) for rank in range(launcher.size)]
    partitions = launcher.map(build, Plan("cuda", directed=directed), each=[sources])
    graph = DistributedGraph(partitions, launcher)
    brought = graph.to("cpu")
    brought.check()
    assert edges_of(brought) == edges_of(whole)
    source = brought.ids_of(np.array([0])).tolist()[0]
    result = bfs(graph, source)
    assert validate(graph, result)
    np.testing.assert_array_equal(result.to("cpu").distances, bfs(whole, source, engine="cpu").distances)
    assert result.to_frame().equals(result.to("cpu").to_frame())


def test_a_large_graph(devices):
    graph, whole = load("rmat:18", devices=devices), load("rmat:18", device="cuda")
    assert graph.num_edges == whole.num_edges
    for source in (1, 77):
        result = bfs(graph, source)
        assert validate(graph, result)
        expected = bfs(whole, source)
        assert (result.num_reached, result.depth) == (expected.num_reached, expected.depth)
        np.testing.assert_array_equal(result.to("cpu").distances, expected.to("cpu").distances)


@pytest.mark.usefixtures("by_steps")
def test_a_rank_that_fails(devices, monkeypatch):
    """One line names it, and the next search is right."""
    from rapids_bfs.distributed.cuda import DeviceSearch

    graph, whole = load("path:60", devices=devices), load("path:60")
    bfs(graph, 0)
    last = len(devices) - 1
    real = DeviceSearch.top_down

    def top_down(search, level, edges, communicator):
        if level == 5 and communicator.rank == last:
            raise RuntimeError("it broke")
        real(search, level, edges, communicator)

    with monkeypatch.context() as patch:
        patch.setattr(DeviceSearch, "top_down", top_down)
        with pytest.raises(
            TraversalError, match=rf"partition {last} of {len(devices)} \(cuda:{devices[-1]}\).*it broke"
        ):
            bfs(graph, 0)
    assert_right(graph, whole, [0])


def test_a_launch_that_fails(devices, monkeypatch):
    """One line names the partition, and the others' launches end; the next search is right."""
    graph, whole = load("path:60", devices=devices), load("path:60")
    assert_right(graph, whole, [0])
    last, real = len(devices) - 1, PersistentSearch.launch

    def launch(search):
        if search.partition.rank == last:
            raise RuntimeError("it broke")
        real(search)

    with monkeypatch.context() as patch:
        patch.setattr(PersistentSearch, "launch", launch)
        with pytest.raises(
            TraversalError, match=rf"partition {last} of {len(devices)} \(cuda:{devices[-1]}\).*it broke"
        ):
            bfs(graph, 0)
    assert_right(graph, whole, [0])


@pytest.mark.parametrize("devices", [[0, 0], *SEVERAL], ids=str)
def test_a_launch_that_does_not_come(devices, monkeypatch):
    """It is named after a limit, at which the others' end; the next search is right."""
    whole = load("path:60")
    graph = from_graph(whole, on(devices, timeout=3))
    assert_right(graph, whole, [0])
    real = PersistentSearch.launch
    with monkeypatch.context() as patch:
        patch.setattr(PersistentSearch, "launch", lambda search: search.partition.rank == 1 or real(search))
        with pytest.raises(TraversalError, match=rf"no answer for 3 s from partition 1 \(cuda:{devices[1]}\)"):
            bfs(graph, 0)
    assert_right(graph, whole, [0])


@pytest.mark.usefixtures("by_steps")
@pytest.mark.parametrize("devices", [[0, 0], *SEVERAL], ids=str)
def test_a_rank_that_does_not_answer(devices, monkeypatch):
    """It is named after a limit; the others end; other graphs on the same devices are searched."""
    from rapids_bfs.distributed.cuda import DeviceSearch

    whole = load("path:60")
    other = load("rmat:8", devices=devices)
    graph = from_graph(whole, on(devices, timeout=3))
    bfs(graph, 0)
    go = threading.Event()
    real = DeviceSearch.top_down

    def top_down(search, level, edges, communicator):
        if level == 5 and communicator.rank == 1:
            go.wait()
        real(search, level, edges, communicator)

    monkeypatch.setattr(launch, "GRACE", 1)
    with monkeypatch.context() as patch:
        patch.setattr(DeviceSearch, "top_down", top_down)
        with pytest.raises(TraversalError, match=rf"no answer for 3 s from partition 1 \(cuda:{devices[1]}\)"):
            bfs(graph, 0)
    with pytest.raises(TraversalError, match="make the graph again"):
        bfs(graph, 0)
    assert validate(other, bfs(other, 1))
    go.set()
