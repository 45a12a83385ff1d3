"""Searches by the fast kernel and its host, run on the host, and their checks against SciPy."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from emulator import emulate
from host_device import HostDevice
from oracle import assert_answer, expected_distances, random_graph, random_options, with_types
from tunings import TUNINGS

from rapids_bfs import as_graph
from rapids_bfs.engines import Options
from rapids_bfs.engines.gpu import cooperative, direction_optimizing
from rapids_bfs.engines.gpu.direction_optimizing import DirectionOptimizing
from rapids_bfs.generators import generate
from rapids_bfs.testing import assert_valid_bfs

SHORT, LONG = np.int32, np.int64


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, cooperative, direction_optimizing)
    monkeypatch.setattr(direction_optimizing, "PREPARE_THREADS", 64)
    monkeypatch.setattr(direction_optimizing, "finish", lambda: None)
    monkeypatch.setattr(cooperative, "SMALL_ARCS", 0)


def search_of(graph, tuning, seed=0):
    """On one to four blocks, or for deep levels on two to four."""
    grid = 1 + seed % 4 if tuning.grid else 2 + seed % 3
    return DirectionOptimizing(graph, HostDevice(seed, blocks=4), replace(tuning, grid=grid))


def assert_right(search, sources, **options):
    options = Options(**options)
    result = search.run(np.array(sources), options)
    assert_answer(result, sources, options.depth_limit, options.target)
    assert options.trace is False or len(search.steps) == search.host.levels


def assert_written(search, sources, options, cleared=False):
    """A search into arrays that hold garbage writes every element; the distance where it found nothing is 2**30.

    If predecessors are said to be cleared, it need not write those of vertices that it does not reach.
    """
    n, vertex = search.graph.num_vertices, search.graph.targets.dtype
    distances, predecessors = search.device.empty(n, np.int32), search.device.empty(n, vertex)
    predecessors[:] = n
    as_cupy = [SimpleNamespace(data=SimpleNamespace(ptr=each.ctypes.data)) for each in (distances, predecessors)]
    with search.device.current(), search.search_into(*as_cupy, 1 << 30, np.array(sources), options, cleared=cleared):
        pass
    expected = expected_distances(search.graph, sources, options.depth_limit, options.target)
    np.testing.assert_array_equal(distances, np.where(expected < 0, 1 << 30, expected))
    if cleared:
        assert (expected[predecessors == n] < 0).all()
        predecessors[predecessors == n] = -1
    np.testing.assert_array_equal(predecessors == -1, expected <= 0)


def search_graphs(name, seeds=range(10), types=(SHORT, SHORT), **changes):
    """Directed or not, with isolated vertices, self-loops and parallel arcs, one search over what the last one left."""
    for seed in seeds:
        rng = np.random.default_rng([seed, len(name)])
        graph = with_types(random_graph(rng, most_vertices=60, most_edges=150), *types)
        search = search_of(graph, replace(TUNINGS[name], **changes), seed)
        for _ in range(3):
            sources, options = random_options(rng, graph.num_vertices)
            assert_right(search, sources, trace=bool(rng.integers(2)), **options)


def search_within_masks(name, seeds=range(10), types=(SHORT, SHORT)):
    """One search over what the last one left, with another mask or none; some bar nearly all, some none."""
    for seed in seeds:
        rng = np.random.default_rng([seed, len(name)])
        graph = with_types(random_graph(rng, most_vertices=60, most_edges=250), *types)
        search = search_of(graph, TUNINGS[name], seed)
        for _ in range(4):
            sources, options = random_options(rng, graph.num_vertices)
            assert_stays_within(search, random_mask(rng, graph, sources, options), sources, options)


def random_mask(rng, graph, sources, options):
    """Of some of the vertices, all with edges, or none; the ends of the search are in it."""
    mask = rng.random(graph.num_vertices) < rng.choice([0, 0.5, 0.8, 1])
    mask[[*sources, options.get("target", sources[0])]] = True
    return mask if rng.integers(4) else None


def assert_stays_within(search, mask, sources, options):
    graph = search.graph
    result = search.run(np.array(sources), Options(**options, vertices=mask))
    kept = graph if mask is None else graph.filter(vertices=mask)
    expected = expected_distances(kept, sources, result.depth_limit, result.target)
    np.testing.assert_array_equal(result.distances, expected)
    assert_valid_bfs(graph, result)


def search_small_rows(name, seeds=range(8), types=(SHORT, SHORT), **changes):
    """Graphs of up to four neighbours a vertex on average, some of more: most stand in `heavy`."""
    for seed in seeds:
        rng = np.random.default_rng([seed, len(name)])
        spec = ["grid:9", "tree:63", "path:70", "star:70"][seed % 4]
        ends = tuple(rng.integers(0, 90, (2, 150)))
        graph = generate(spec) if seed < 4 else as_graph(ends, vertices=90, directed=False)
        search = search_of(with_types(graph, *types), replace(TUNINGS[name], **changes), seed)
        assert search.small_rows
        assert_right(search, [graph.num_vertices // 2])
        assert_right(search, [0, graph.num_vertices - 1], target=graph.num_vertices // 3)
