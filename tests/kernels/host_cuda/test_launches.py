"""Searches that a device refuses to launch, or cannot do in one launch, on the host."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from emulator import emulate
from host_device import HostDevice, HostKernel
from oracle import assert_answer, expected_distances, random_graph, random_options
from search_on_host import assert_right, assert_written, host, search_of  # noqa: F401 - a fixture
from tunings import TUNINGS

from rapids_bfs import as_graph
from rapids_bfs.engines import Options
from rapids_bfs.engines.gpu import betweenness, bit_parallel, deterministic, neighborhoods
from rapids_bfs.engines.gpu import cooperative as one_launch
from rapids_bfs.engines.gpu.direction_optimizing import DirectionOptimizing
from rapids_bfs.errors import TraversalError
from rapids_bfs.generators import generate


@pytest.mark.parametrize(("cooperative", "time_limit"), [(False, False), (False, True), (True, True)])
def test_what_a_device_cannot_do_in_one_launch_goes_by_levels(cooperative, time_limit, monkeypatch):
    """A device that launches no blocks that wait for each other, or ends kernels that take longer than two levels."""
    monkeypatch.setattr(one_launch, "MOST_LEVELS", 2)
    emulate(monkeypatch, deterministic)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, most_vertices=60, most_edges=90) if seed % 4 else generate("path:30")
        device = HostDevice(seed, blocks=4)
        device.cooperative, device.time_limit = cooperative, time_limit
        search = DirectionOptimizing(graph, device, TUNINGS["dense"])
        for _ in range(3):
            sources, options = random_options(rng, graph.num_vertices)
            result = search.run(np.array(sources), Options(**options))
            assert_answer(result, sources, result.depth_limit, result.target)
            assert_written(search, sources, Options(**options | {"predecessors": True}))
        depth = int(expected_distances(graph, [0]).max())
        too_deep = time_limit and depth >= 2
        with pytest.raises(TraversalError, match=r"2 levels.*engine='cpu'") if too_deep else nullcontext():
            assert_answer(search.run(np.array([0]), Options(deterministic=True)), [0])


def distances_of_a_batch(graph, sources, device):
    found = np.empty((len(sources), graph.num_vertices), np.int32)
    tuning = replace(bit_parallel.DEFAULT, threads=64, grid=2)
    bit_parallel.BitParallel(graph, device, tuning).distances(sources, None, found)
    return found


def sums(graph, sources, device):
    brandes = betweenness.Brandes(graph, device, replace(betweenness.DEFAULT, threads=64, grid=2))
    return brandes.scores(sources, np.ones(graph.num_vertices, bool), True, False)


def distances_in_neighborhoods(graph, sources, device):
    tuning = replace(neighborhoods.DEFAULT, threads=64, blocks=1)
    search, found = neighborhoods.Neighborhoods(graph, device, "out", tuning), []
    while len(found) < len(sources):
        bounds, _, distances = search.search(sources[len(found) :], 1 << 20)
        found += np.split(distances, bounds[1:-1])
    return found


@pytest.mark.parametrize("operation", [distances_of_a_batch, sums, distances_in_neighborhoods])
def test_launches_are_short_where_the_driver_ends_long_ones(operation, monkeypatch):
    """They have few sources, and a graph of too many levels is refused."""
    emulate(monkeypatch, bit_parallel, betweenness, neighborhoods)
    monkeypatch.setattr(bit_parallel, "WRITE_THREADS", 64)
    star, sources = generate("star:41"), np.arange(10)
    expected = operation(star, sources, HostDevice())
    monkeypatch.setattr(one_launch, "MOST_LEVELS", 4)
    monkeypatch.setattr(one_launch, "MOST_VISITS", 7 * star.num_arcs)
    monkeypatch.setattr(HostDevice, "time_limit", True)
    sizes, launcher = [], HostKernel.launcher

    def noting(self, *how, **more):
        launch = launcher(self, *how, **more)
        return lambda: (sizes.append(how[4].k), launch())

    monkeypatch.setattr(HostKernel, "launcher", noting)
    np.testing.assert_allclose(operation(star, sources, HostDevice()), expected)
    assert set(sizes) == {4, 2}
    with pytest.raises(TraversalError, match=r"more than 4 levels.*engine='cpu'"):
        operation(generate("path:30"), sources[:1], HostDevice())


def isolated_and_not():
    """A graph with isolated vertices, each a source that leaves a distance, and others."""
    return as_graph((np.array([0, 1, 2]), np.array([1, 2, 3])), vertices=8, directed=False)


def test_a_refused_launch_leaves_no_traces():
    """The kernel looks in turns at one of two notes of the last search, which a launch that never was has not left."""
    search = search_of(isolated_and_not(), TUNINGS["top-down"])
    for before, after in [(6, 5), (5, 0), (0, 7), (7, 6)]:
        assert_right(search, [before])
        search.device.refuses = True
        with pytest.raises(TraversalError, match="refused"):
            search.run(np.array([2]))
        search.device.refuses = False
        assert_right(search, [after])
