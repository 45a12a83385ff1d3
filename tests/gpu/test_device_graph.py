"""Graphs that live on a device: made there, searched there, validated there, and the same as those on the host."""

import importlib.util

import numpy as np
import pytest
from oracle import random_graph, random_options
from strategies import edges_of, oracle_distances

from rapids_bfs import Graph, InputError, as_graph, bfs, load, plot_levels, validate
from rapids_bfs._core.cuda.arrays import on_device, to_host
from rapids_bfs._core.memory import PeakDeviceBytes
from rapids_bfs.comparison.graph500 import graph500
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.engines import Options, registered, resolve
from rapids_bfs.generators import generate
from rapids_bfs.testing import assert_same_distances, assert_valid_bfs

cupy = pytest.importorskip("cupy", reason="CuPy is not installed: pip install 'rapids-bfs[cuda13]'")
device_csr = pytest.importorskip("rapids_bfs._core.csr.device")
from_device_edges = pytest.importorskip("rapids_bfs.adapters.device_edges").from_device_edges

GPU_ENGINES = ["cupy", "cupy:two-kernel", "cupy:block-queue", "numba-cuda", "numba-cuda:two-kernel"]
CPU_ENGINES = ["cpu", "cpu:sequential", "scipy", "networkx"]


def address(array):
    return array.__cuda_array_interface__["data"][0]


def rows_of(graph):
    offsets, targets = to_host(graph.offsets), to_host(graph.targets)
    return [row.tolist() for row in np.split(targets, offsets[1:-1])] if len(offsets) > 1 else []


def assert_same(graph, expected, *, order=False):
    """The same graph, its adjacencies in the same order if that is asked."""
    assert graph.device == "cuda"
    assert (graph.directed, graph.num_vertices, graph.num_arcs) == (
        expected.directed,
        expected.num_vertices,
        expected.num_arcs,
    )
    assert (graph.offsets.dtype, graph.targets.dtype) == (expected.offsets.dtype, expected.targets.dtype)
    np.testing.assert_array_equal(to_host(graph.offsets), expected.offsets)
    assert (graph.labels is None) == (expected.labels is None)
    if expected.labels is not None:
        np.testing.assert_array_equal(to_host(graph.labels), expected.labels)
    if order:
        np.testing.assert_array_equal(to_host(graph.targets), expected.targets)
    else:
        assert [sorted(row) for row in rows_of(graph)] == [sorted(row) for row in rows_of(expected)]


@pytest.fixture(params=["whole", "in blocks"])
def blocks(request, monkeypatch):
    """Small graphs are looked at in one piece, or in several as large ones are."""
    if request.param == "in blocks":
        monkeypatch.setattr(device_csr, "BLOCK", 50)
        monkeypatch.setattr(device_csr, "PIECE", 60)


def random_edges(rng, dtype):
    """Edges with loops and repeats; sometimes symmetric, sorted, or all from one vertex."""
    n, m = int(rng.integers(1, 40)), int(rng.choice([0, 1, 30, 130, 3000]))
    sources, targets = rng.integers(0, n, (2, m)).astype(dtype)
    if rng.integers(4) == 0:
        sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    if rng.integers(4) == 0:
        sources = np.sort(sources)
    if rng.integers(8) == 0:
        sources[:] = 0
    return n, sources, targets


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16, np.float64])
@pytest.mark.parametrize("directed", [True, False, None])
def test_edge_lists(dtype, directed):
    rng = np.random.default_rng(1)
    for trial in range(40):
        n, sources, targets = random_edges(rng, dtype)
        distance = [1, 3, 10**9][trial % 3 if dtype == np.int64 else trial % 2]  # of ids; far apart they are sorted
        sources, targets = sources * dtype(distance), targets * dtype(distance)
        vertices = n if distance == 1 and trial % 4 else None
        expected = as_graph((sources, targets), vertices=vertices, directed=directed)
        pair = cupy.asarray(sources), cupy.asarray(targets)
        assert_same(as_graph(pair, vertices=vertices, directed=directed), expected)
        ordered = from_device_edges(*pair, vertices=vertices, directed=directed, keep_order=True)
        assert_same(ordered, expected, order=True)


def test_two_graphs_of_the_same_edges_have_one_tree():
    """Though their arcs are placed by atomics, in any order: every adjacency ascends, large ones too."""
    edges = cupy.random.default_rng(1).integers(0, 1 << 12, (2, 1 << 18))
    edges[0, :5000] = 7
    one, other = (as_graph(tuple(edges), directed=True) for _ in range(2))
    for graph in (one, other):
        rows = np.split(graph.targets.get(), graph.offsets[1:-1].get())
        assert all((np.diff(row) >= 0).all() for row in rows)
    trees = [bfs(graph, 7, deterministic=True).predecessors.get() for graph in (one, other)]
    np.testing.assert_array_equal(*trees)


def test_an_array_of_pairs():
    pairs = np.random.default_rng(2).integers(0, 20, (50, 2))
    assert_same(as_graph(cupy.asarray(pairs), vertices=20), as_graph(pairs, vertices=20))


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        (([0, -4], [1, 1]), {}, r"column 'source', row 1 \(from 0\): -4 is negative"),
        (([0, 1], [1, -2]), {}, r"column 'target', row 1 \(from 0\): -2 is negative"),
        (([0.0, 1.0], [1, 2.5]), {}, r"column 'target', row 1 \(from 0\): 2.5 is fractional"),
        (([0.0, 1.0], [1, np.nan]), {}, r"column 'target', row 1 \(from 0\): nan"),
        (([0, 5], [1, 1]), {"vertices": 3}, r"column 'source', row 1 \(from 0\): 5 is past the last of 3 vertices"),
        (([0], [1, 2]), {}, "of one length"),
        (([True], [False]), {}, "bool cannot hold vertex ids"),
        (([0], [1]), {"vertices": -1}, "at least 0, not -1"),
        (([0], [1]), {"vertices": 10**15}, "needs .* PiB of device memory, and .* are free"),
        (([2**63], [1]), {}, "beyond int64"),
    ],
)
def test_bad_edges_are_named(edges, options, message):
    with pytest.raises(InputError, match=message):
        as_graph(tuple(cupy.asarray(np.array(ids)) for ids in edges), **options)


def test_what_is_made_of_a_graph(blocks):
    rng = np.random.default_rng(3)
    for _ in range(60):
        expected = random_graph(rng)
        graph = expected.to("cuda")
        assert_same(graph, expected, order=True)
        assert_same(graph.reverse, expected.reverse)
        assert_same(graph.undirected, expected.undirected)
        assert_same(graph.simple, expected.simple, order=True)
        assert (graph.num_loops, graph.num_duplicates) == (expected.num_loops, expected.num_duplicates)
        np.testing.assert_array_equal(to_host(graph.degrees), expected.degrees)
        pairs = [ids.tolist() for ids in map(to_host, graph.vertex_pairs())]
        assert sorted(zip(*pairs, strict=True)) == sorted(
            zip(*map(np.ndarray.tolist, expected.vertex_pairs()), strict=True)
        )


def test_a_graph_is_copied_once():
    graph = generate("grid:9")
    there = graph.to("cuda")
    assert (graph.device, there.device) == ("cpu", "cuda")
    assert graph.to("cpu") is graph
    assert graph.to("cuda") is there is there.to("cuda")
    assert there.to("cpu") is graph
    with pytest.raises(InputError, match="unknown kind 'tpu'"):
        graph.to("tpu")


@pytest.mark.parametrize("offset", [np.int32, np.int64])
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
def test_csr_on_the_device_is_taken_without_a_copy(vertex, offset):
    host = generate("rmat:10")
    offsets, targets = cupy.asarray(host.offsets.astype(offset)), cupy.asarray(host.targets.astype(vertex))
    graph = as_graph(offsets=offsets, targets=targets)
    assert not graph.directed
    assert address(graph.targets) == address(targets)
    assert (address(graph.offsets) == address(offsets)) == (vertex == np.int32 or offset == np.int64)
    for engine in GPU_ENGINES:
        traversal = resolve(engine).traversal(graph)
        searched = getattr(traversal, "arrays", None) or vars(traversal)
        assert address(searched["targets"]) == address(targets)
        assert address(searched["offsets"]) == address(graph.offsets)
        result = bfs(graph, 3, engine=engine)
        assert on_device(result.predecessors)
        assert result.predecessors.dtype == vertex
        np.testing.assert_array_equal(result.distances.get(), oracle_distances(host, [3]))
        assert validate(graph, result)


class OnlyDLPack:
    """An array of a library that has no other interface."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def test_dlpack():
    host = generate("grid:5")
    offsets, targets = cupy.asarray(host.offsets), cupy.asarray(host.targets)
    graph = as_graph(offsets=OnlyDLPack(offsets), targets=OnlyDLPack(targets))
    assert (address(graph.offsets), address(graph.targets)) == (address(offsets), address(targets))


@pytest.mark.parametrize(
    ("offsets", "targets", "message"),
    [
        ([0, 2, 1, 2], [0, 1], "offsets fall after vertex 1"),
        ([0, 1, 2], [0, 2], r"target 2 of edge 1 is not one of the vertices 0\.\.1"),
        ([0, 1], [0, 0], "end with 2"),
    ],
)
def test_bad_csr_is_named(offsets, targets, message):
    with pytest.raises(InputError, match=message):
        as_graph(offsets=cupy.asarray(np.array(offsets)), targets=cupy.asarray(np.array(targets)))


def test_targets_that_begin_anywhere():
    """The kernel reads them in groups of 16 bytes. They are still being written when the graph is prepared."""
    host = generate("rmat:10")
    room = cupy.zeros(host.num_arcs + 3, np.int32)
    written, work = cupy.asarray(host.targets), cupy.ones((4096, 4096), np.float32)
    for shift in range(4):
        targets = room[shift : shift + host.num_arcs]
        for engine in GPU_ENGINES:
            targets[:] = written
            graph = Graph(cupy.asarray(host.offsets), targets, directed=False)
            targets[:] = 0
            cupy.dot(work, work)  # some milliseconds
            targets[:] = written
            np.testing.assert_array_equal(bfs(graph, 1, engine=engine).distances.get(), oracle_distances(host, [1]))


@pytest.mark.parametrize("engine", [*GPU_ENGINES, *CPU_ENGINES])
def test_a_result_lives_where_its_graph_lives(engine):
    rng = np.random.default_rng(4)
    for _ in range(15):
        host = random_graph(rng)
        sources, options = random_options(rng, host.num_vertices)
        expected = bfs(host, sources, engine="cpu:sequential", **options)
        for graph in (host, host.to("cuda")):
            result = bfs(graph, sources, engine=engine, trace=True, **options)
            assert result.graph is graph
            assert on_device(result.distances) == (graph.device == "cuda")
            np.testing.assert_array_equal(to_host(result.distances), expected.distances)
            for name in ("num_reached", "depth", "stopped_at", "num_traversed_edges"):
                assert getattr(result, name) == getattr(expected, name)
            assert sum(level.newly_reached for level in result.trace) == result.num_reached - len(sources)
            assert_valid_bfs(graph, result)
            assert result.to_frame()["distance"].tolist() == expected.distances.tolist()
            there = result.to("cpu")
            assert not on_device(there.distances)
            assert there.graph is host
            if result.predecessors is not None:
                for vertex in np.flatnonzero(expected.distances >= 0).tolist():
                    assert (
                        len(result.path_to(vertex)) == expected.distances[vertex] + 1 == result.distance_to(vertex) + 1
                    )


def test_a_result_on_the_device_is_asserted_on_and_drawn():
    graph = load("karate", device="cuda")
    result, expected = bfs(graph, 0, engine="cupy"), bfs("karate", 0, engine="scipy")
    assert_same_distances(result, expected)
    assert_same_distances(expected, result)
    assert_same_distances(result, result.distances)
    assert_valid_bfs(graph, result)
    if importlib.util.find_spec("matplotlib"):
        assert plot_levels(graph, result)._repr_png_()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("engine", [*GPU_ENGINES, "cpu"])
def test_a_result_outlives_the_next_search(engine, device):
    host = load("rmat:8")
    graph = host.to(device)
    first, second, third = sample_sources(host, 3).tolist()
    for options in ({}, {"depth_limit": 2}, {"target": third}, {"predecessors": False}, {"trace": True}):
        result = bfs(graph, first, engine=engine, **options)
        bfs(graph, second, engine=engine)
        assert on_device(result.distances) == (device == "cuda")
        wanted = bfs(host, first, engine="scipy", **options)
        np.testing.assert_array_equal(to_host(result.distances), wanted.distances)
        assert (result.predecessors is None) == ("predecessors" in options)
        if result.predecessors is not None:
            assert_valid_bfs(graph, result)


def test_ids():
    ids = np.array([5, 7, 1000, 4])
    graph = as_graph((cupy.asarray(ids[[0, 1, 2]]), cupy.asarray(ids[[1, 2, 3]])))
    assert graph.labels.tolist() == [4, 5, 7, 1000]
    assert bfs(graph, 5).path_to(4) == [5, 7, 1000, 4]
    assert bfs(graph, cupy.asarray(7)).num_reached == 3
    assert graph.vertices_of(cupy.asarray(ids)).tolist() == [1, 2, 3, 0]
    assert graph.ids_of(cupy.asarray([3, -1, 0])).tolist() == [1000, -1, 4]
    assert graph.ids_of(np.array([3, -1, 0])).tolist() == [1000, -1, 4]
    with pytest.raises(InputError, match="6 is not a vertex of edges; its 4 vertices have the ids"):
        graph.vertices_of(cupy.asarray([5, 6]))
    words = as_graph({"a": ["b"], "b": ["c"], "c": []}).to("cuda")
    assert bfs(words, "a").path_to("c") == ["a", "b", "c"]


def test_validation_says_the_same_on_both_sides():
    rng = np.random.default_rng(5)
    rules = set()
    for _ in range(400):
        host = random_graph(rng)
        sources, options = random_options(rng, host.num_vertices)
        result = bfs(host, sources, engine="cpu", **options)
        for _ in range(int(rng.integers(1, 3))):
            vertex, change = int(rng.integers(host.num_vertices)), int(rng.integers(-2, host.num_vertices + 1))
            array = result.distances if result.predecessors is None or rng.integers(2) else result.predecessors
            array[vertex] = change
        verdict = validate(host, result)
        rules.add(verdict.rule)
        assert validate(host.to("cuda"), result.to("cuda")) == verdict
        assert validate(host, result.to("cuda")) == verdict
    assert len(rules) >= 9


@pytest.mark.parametrize(
    "spec", ["rmat:0", "rmat:1", "rmat:10", "rmat:18", "rmat:9:3", "urand:0", "urand:17", "grid:20"]
)
def test_generated_graphs_are_the_same_everywhere(spec):
    expected, graph = generate(spec), load(spec, device="cuda")
    assert graph.name == expected.name
    assert_same(graph, expected, order=True)


def test_large_edge_lists(monkeypatch):
    """More edges than blocks of threads, hubs, and several pieces; with and without gaps between ids."""
    monkeypatch.setattr(device_csr, "BLOCK", 1 << 20)
    monkeypatch.setattr(device_csr, "PIECE", 1 << 19)
    rng = np.random.default_rng(6)
    sources, targets = rng.integers(0, 100_000, (2, 3_000_000)).astype(np.int32)
    sources[:1_000_000] = 77
    for distance in (1, 3):
        pair = sources * np.int32(distance), targets * np.int32(distance)
        expected = as_graph(pair, directed=False)
        graph = as_graph(tuple(map(cupy.asarray, pair)), directed=False)
        np.testing.assert_array_equal(to_host(graph.offsets), expected.offsets)
        assert (graph.labels is None) == (expected.labels is None)
        np.testing.assert_array_equal(to_host(graph.simple.targets), expected.simple.targets)
        assert graph.num_duplicates == expected.num_duplicates


def test_a_graph_made_on_another_stream_is_complete_when_it_is_searched():
    host = generate("rmat:16")
    source = int(np.argmax(host.degrees))
    expected = oracle_distances(host, [source])
    for engine in GPU_ENGINES:
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            pair = cupy.asarray(np.repeat(np.arange(1 << 16), host.degrees)), cupy.asarray(host.targets)
            graph = as_graph(pair, vertices=1 << 16)
            result = bfs(graph, source, engine=engine)
            np.testing.assert_array_equal(result.distances.get(), expected)


@pytest.mark.parametrize("engine", ["cupy", "numba-cuda", "cpu"])
def test_graph500(engine):
    run = graph500(12, roots=8, engine=engine)
    expected = graph500(12, roots=8, engine="cpu")
    assert (run.roots, run.nedges) == (expected.roots, expected.nedges)
    assert "harmonic_mean_TEPS:     !  " in str(run)


def test_peak_device_bytes():
    with PeakDeviceBytes() as peak:
        first = cupy.zeros(1 << 20, np.int8)
        cupy.zeros(1 << 22, np.int8)
        second = cupy.zeros(1 << 21, np.int8)
    assert peak.bytes == (1 << 20) + (1 << 22)
    del first, second
    with PeakDeviceBytes() as peak:
        pass
    assert peak.bytes == 0


RANDOM_GRAPHS = 10_000


@pytest.mark.parametrize("engine", ["cupy", "numba-cuda"])
def test_ten_thousand_random_graphs(engine):
    """Of up to 60 vertices, directed or not, one or several sources, each prepared again; every answer SciPy's."""
    rng = np.random.default_rng(7)
    chosen = registered()[engine]
    for number in range(RANDOM_GRAPHS):
        n = int(rng.integers(1, 61))
        offsets = np.zeros(n + 1, np.int32)
        np.cumsum(rng.integers(0, 6, n), out=offsets[1:])
        graph = Graph(offsets, rng.integers(0, n, int(offsets[-1])).astype(np.int32), name=f"random graph {number}")
        if number % 2:
            graph = mirrored(graph)
        sources = rng.choice(n, min(n, int(rng.integers(1, 4))), replace=False)
        traversal = chosen.prepare(graph, chosen.algorithms[0])
        distances = traversal.run(sources, Options(predecessors=bool(number % 3))).distances
        np.testing.assert_array_equal(distances, oracle_distances(graph, sources), err_msg=graph.name)


def mirrored(graph):
    """The graph in both directions, by SciPy."""
    import scipy.sparse

    shape = (graph.num_vertices, graph.num_vertices)
    one = scipy.sparse.csr_array((np.ones(graph.num_arcs), graph.targets, graph.offsets), shape)
    both = (one + one.T).tocsr()
    return Graph(both.indptr.astype(np.int32), both.indices.astype(np.int32), directed=False, name=graph.name)


def test_edges_survive():
    """What `edges_of` sees on the host is what was on the device."""
    graph = load("rmat:8", device="cuda")
    assert edges_of(graph.to("cpu")) == edges_of(generate("rmat:8"))
