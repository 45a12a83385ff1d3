"""Edge data, filters and masks of graphs on a device: the same as on the host."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import with_types
from strategies import graphs, oracle_distances

from rapids_bfs import (
    InputError,
    as_graph,
    bfs,
    bfs_batch,
    connected_components,
    load,
    shortest_path,
    shortest_paths,
    validate,
)
from rapids_bfs._core.cuda.arrays import on_device, to_host

cupy = pytest.importorskip("cupy", reason="CuPy is not installed: pip install 'rapids-bfs[cuda13]'")

ENGINES = ["cupy", "cupy:two-kernel", "cupy:block-queue", "cupy:frontier-mask", "numba-cuda", "cpu"]
DAYS = np.arange("2024-01-01", "2024-03-01", dtype="M8[D]")


def carrying(seed, directed=True, n=200, m=3000):
    """A graph on the host whose edges carry a column of each type."""
    rng = np.random.default_rng(seed)
    columns = {
        "row": np.arange(m),
        "weight": rng.random(m),
        "flag": rng.random(m) < 0.5,
        "day": rng.choice(DAYS, m),
        "kind": rng.choice(["cites", "knows", "likes"], m),
    }
    return as_graph(tuple(rng.integers(0, n, (2, m))), vertices=n, directed=directed, edge_data=columns)


def assert_same(graph, expected):
    assert graph.device == "cuda"
    np.testing.assert_array_equal(to_host(graph.offsets), expected.offsets)
    np.testing.assert_array_equal(to_host(graph.targets), expected.targets)
    back = graph.to("cpu")
    assert list(back.edge_data) == list(expected.edge_data)
    for name, column in expected.edge_data.items():
        np.testing.assert_array_equal(np.asarray(back.edge_data[name]), np.asarray(column))


@pytest.mark.parametrize("directed", [True, False])
def test_edge_data_go_to_the_device_and_along(directed):
    host = carrying(1, directed)
    there = host._with().to("cuda")
    there._original = lambda: None  # so that `to` copies back
    assert_same(there, host)
    assert all(on_device(there.edge_data[name]) for name in ("row", "weight", "flag"))
    for change in ("reverse", "undirected", "simple"):
        assert_same(getattr(there, change), getattr(host, change))


def test_dates_and_categories_compare_on_the_device():
    host = carrying(2)
    there = host._with().to("cuda")
    moment = np.datetime64("2024-02-03T12")
    for compare in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
        for value in (moment, DAYS[7], np.datetime64("NaT")):
            mask = getattr(there.edge_data["day"], compare)(value)
            assert on_device(mask)
            expected = {"__lt__": np.less, "__le__": np.less_equal, "__gt__": np.greater}
            expected |= {"__ge__": np.greater_equal, "__eq__": np.equal, "__ne__": np.not_equal}
            np.testing.assert_array_equal(to_host(mask), expected[compare](host.edge_data["day"], value))
    for kinds in (["cites"], ["knows", "else"], []):
        mask = there.edge_data["kind"].isin(kinds)
        np.testing.assert_array_equal(to_host(mask), host.edge_data["kind"].isin(kinds))


@pytest.mark.parametrize("directed", [True, False])
def test_filters_are_those_of_the_host(directed):
    host = carrying(3, directed)
    there = host._with().to("cuda")
    vertices = np.random.default_rng(3).random(host.num_vertices) < 0.7
    edges = host.edge_data["kind"] == "cites"
    for masks in ({"edges": edges}, {"vertices": vertices}, {"edges": edges, "vertices": vertices}, {}):
        expected = host.filter(**masks)
        assert_same(there.filter(**masks), expected)
        assert_same(there.filter(**{name: cupy.asarray(mask) for name, mask in masks.items()}), expected)
    assert_same(
        there.filter(edges=lambda graph: graph.edge_data["day"] < DAYS[30]),
        host.filter(edges=host.edge_data["day"] < DAYS[30]),
    )
    if not directed:
        edges = edges.copy()
        edges[np.flatnonzero(edges)[0]] = False
        with pytest.raises(InputError, match="but not the one back"):
            there.filter(edges=edges)


def shares():
    """How many of the edges or vertices a mask has: none and all, too."""
    return st.sampled_from([0, 0.3, 0.9, 1])


@settings(max_examples=60)
@given(graphs(max_vertices=90, max_edges=400), shares(), shares(), st.booleans(), st.booleans())
def test_filters_of_any_graph_are_those_of_the_host(graph, of_edges, of_vertices, wide, strided):
    rng = np.random.default_rng(graph.num_arcs)
    host = with_types(graph, np.int64, np.int64) if wide else graph
    there = host._with().to("cuda")
    ends = np.repeat(np.arange(graph.num_vertices), graph.degrees), graph.targets
    edges = rng.random(1000)[np.minimum(*ends) * 31 % 1000] < of_edges  # alike both ways
    vertices = rng.random(graph.num_vertices) < of_vertices
    for masks in ({"edges": edges}, {"vertices": vertices}, {"edges": edges, "vertices": vertices}):
        on_gpu = {name: cupy.asarray(np.repeat(mask, 2))[::2] if strided else mask for name, mask in masks.items()}
        assert_same(there.filter(**on_gpu), host.filter(**masks))
    assert_same(there.filter(edges=cupy.zeros(host.num_arcs, bool)), host.filter(edges=np.zeros(host.num_arcs, bool)))


@pytest.mark.parametrize("spec", ["star:100000", "rmat:14", "grid:200", "path:70000", "urand:12"])
def test_filters_of_hubs_and_long_rows(spec):
    host = load(spec)
    rng = np.random.default_rng(1)
    apart = as_graph(
        tuple(rng.integers(199_000, 200_000, (2, 9000))), vertices=200_000, directed=True
    )  # many empty rows
    for graph in (host, apart):
        there = graph._with().to("cuda")
        vertices, edges = rng.random(graph.num_vertices) < 0.6, rng.random(graph.num_arcs) < 0.5
        masks = {"vertices": vertices, "edges": edges} if graph.directed else {"vertices": vertices}
        assert_same(there.filter(**masks), graph.filter(**masks))
        if not graph.directed:
            with pytest.raises(InputError, match="but not the one back"):
                there.filter(edges=edges)


def test_numba_arrays_are_masks():
    cuda = pytest.importorskip("numba.cuda")
    graph = load("karate")
    there = graph._with().to("cuda")
    vertices = np.arange(34) % 3 != 2
    mask = cuda.to_device(vertices)
    assert_same(there.filter(vertices=mask), graph.filter(vertices=vertices))
    np.testing.assert_array_equal(
        to_host(bfs(there, 1, vertices=mask).distances), bfs(graph, 1, vertices=vertices).distances
    )


def test_device_edges_carry_their_data():
    rng = np.random.default_rng(4)
    sources, targets, rows = rng.integers(0, 50, 400), rng.integers(0, 50, 400), np.arange(400)
    for directed in (True, False):
        expected = as_graph((sources, targets), directed=directed, edge_data={"row": rows})
        made = as_graph(
            tuple(map(cupy.asarray, (sources, targets))), directed=directed, edge_data={"row": cupy.asarray(rows)}
        )
        assert_same(made, expected)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=20)
@given(graph=graphs(min_vertices=2, max_vertices=60, max_edges=200))
def test_searches_stay_within_a_mask(engine, graph):
    mask = np.random.default_rng(graph.num_arcs).random(graph.num_vertices) < 0.7
    mask[0] = True
    there = graph.to("cuda")
    for given_mask in (mask, cupy.asarray(mask)):
        found = bfs(there, 0, vertices=given_mask, engine=engine)
        expected = oracle_distances(graph.filter(vertices=mask), [0])
        np.testing.assert_array_equal(to_host(found.distances), expected)
        assert validate(there, found)
        assert on_device(found.vertices)
    np.testing.assert_array_equal(to_host(bfs_batch(there, [0], vertices=mask, engine=engine).distances), [expected])


@pytest.mark.parametrize("spec", ["rmat:14", "grid:150", "star:3000", "path:3000", "urand:13", "web:12"])
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
def test_one_search_after_another_with_other_masks(spec, vertex):
    """Through every kind of level; what a mask leaves behind is nothing to the next search."""
    graph = load(spec)
    graph = with_types(graph, vertex, vertex)
    there = graph.to("cuda")
    rng = np.random.default_rng(3)
    n = graph.num_vertices
    for share in (0.9, 1.1, 0.6, 0.99, 1.1, 0):
        mask = rng.random(n) < share
        sources = rng.choice(n, 2, replace=False).tolist()
        mask[sources] = True
        given_mask = None if share > 1 else cupy.asarray(mask) if share > 0.6 else mask
        wanted = None if share > 1 else mask
        for options in ({}, {"predecessors": False}, {"depth_limit": 3}, {"target": sources[1]}):
            asked = {"vertices": given_mask} | options
            found = bfs(there, sources[:1], engine="cupy", **asked)
            expected = bfs(graph, sources[:1], **asked | {"vertices": wanted})
            np.testing.assert_array_equal(to_host(found.distances), expected.distances)
            assert validate(there, found)
        ordered = {"deterministic": True, "engine": "cupy"}
        found = bfs(there, sources, vertices=given_mask, **ordered)
        expected = bfs(graph, sources, vertices=wanted, deterministic=True)
        np.testing.assert_array_equal(to_host(found.predecessors), expected.predecessors)
        batch = bfs_batch(there, sources, vertices=given_mask, engine="cupy")
        np.testing.assert_array_equal(to_host(batch.distances), bfs_batch(graph, sources, vertices=wanted).distances)
        sums = bfs_batch(there, sources, vertices=given_mask, engine="cupy", keep="summary")
        np.testing.assert_array_equal(sums.reached, (to_host(batch.distances) >= 0).sum(axis=1))


@pytest.mark.parametrize("engine", ["cupy", "cupy:two-kernel", "numba-cuda"])
def test_masked_ends_are_refused_on_a_device(engine):
    graph = load("path:5").to("cuda")
    mask = cupy.asarray([True, True, False, True, True])
    for call in (
        lambda: bfs(graph, 2, vertices=mask, engine=engine),
        lambda: bfs(graph, [0, 2], vertices=mask, engine=engine),
        lambda: bfs(graph, 0, target=2, vertices=mask, engine=engine),
        lambda: bfs_batch(graph, [0, 2], vertices=mask, engine=engine),
    ):
        with pytest.raises(InputError, match="2 is masked"):
            call()
    assert to_host(bfs(graph, 0, vertices=mask, engine=engine).distances).tolist() == [0, 1, -1, -1, -1]


def test_a_mask_is_as_it_is_when_the_search_begins():
    """What another stream has queued before is in it."""
    graph = load("urand:16").to("cuda")
    mask = cupy.zeros(graph.num_vertices, bool)
    with cupy.cuda.Stream(non_blocking=True):
        for _ in range(50):
            cupy.random.random(1 << 20).sort()
        mask[:] = True
        found = bfs(graph, 0, vertices=mask)
    np.testing.assert_array_equal(to_host(found.distances), to_host(bfs(graph, 0).distances))


if cupy.cuda.runtime.getDeviceCount() > 1:

    @pytest.mark.gpus
    @pytest.mark.parametrize("options", [{}, {"deterministic": True}])
    @pytest.mark.parametrize("on", [None, 0, 1])
    def test_a_mask_goes_to_the_graphs_device_though_another_is_current(on, options):
        """What a stream has queued before is in it, wherever it is."""
        host = load("urand:16")
        mask = np.arange(host.num_vertices) % 3 != 1
        with cupy.cuda.Device(0):
            graph = host._with().to("cuda")
        with cupy.cuda.Device(1):
            there = mask
            if on is not None:
                with cupy.cuda.Device(on):
                    there = cupy.zeros(len(mask), bool)
                    for _ in range(50):
                        cupy.random.random(1 << 20).sort()
                    there[:] = cupy.asarray(mask)
            found = bfs(graph, 0, vertices=there, engine="cupy", **options)
            batch = bfs_batch(graph, [0], vertices=there, engine="cupy")
        expected = bfs(host, 0, vertices=mask).distances
        np.testing.assert_array_equal(to_host(found.distances), expected)
        np.testing.assert_array_equal(to_host(batch.distances), [expected])


def test_paths_and_components_stay_within_a_mask():
    graph = load("karate")
    mask = np.ones(34, bool)
    mask[[0, 33]] = False
    there = graph._with().to("cuda")
    path = shortest_path(there, 1, 32, vertices=mask)
    assert len(path) == len(shortest_path(graph, 1, 32, vertices=mask))
    ends = [1, 5, 11, 16], [32, 16, 11, 25]
    found, expected = (shortest_paths(each, *ends, vertices=mask) for each in (there, graph))
    assert found.lengths.tolist() == expected.lengths.tolist() == [len(path) - 1 for path in found]
    assert [path[:1] + path[-1:] for path in found if path] == [path[:1] + path[-1:] for path in expected if path]
    labels = connected_components(there, vertices=mask)
    np.testing.assert_array_equal(to_host(labels), connected_components(graph, vertices=mask))
    found = bfs(there, 1, vertices=mask, deterministic=True)
    np.testing.assert_array_equal(
        to_host(found.predecessors), bfs(graph, 1, vertices=mask, deterministic=True).predecessors
    )
