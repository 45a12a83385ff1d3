"""Edge data, filters and masks of graphs on a device: the same as on the host."""

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import graphs, oracle_distances

from rapids_bfs import InputError, as_graph, bfs, bfs_batch, connected_components, load, shortest_path, validate
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


def test_paths_and_components_stay_within_a_mask():
    graph = load("karate")
    mask = np.ones(34, bool)
    mask[[0, 33]] = False
    there = graph._with().to("cuda")
    path = shortest_path(there, 1, 32, vertices=mask)
    assert len(path) == len(shortest_path(graph, 1, 32, vertices=mask))
    labels = connected_components(there, vertices=mask)
    np.testing.assert_array_equal(to_host(labels), connected_components(graph, vertices=mask))
    found = bfs(there, 1, vertices=mask, deterministic=True)
    np.testing.assert_array_equal(
        to_host(found.predecessors), bfs(graph, 1, vertices=mask, deterministic=True).predecessors
    )
