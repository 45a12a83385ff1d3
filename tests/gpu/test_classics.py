"""The kernels on a GPU, each engine and algorithm against SciPy and the rules of Graph500."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import assert_right, random_graph, random_options
from strategies import graphs, oracle_distances

from rapids_bfs import Graph, InputError, as_graph, bfs, validate
from rapids_bfs.engines import Options, registered, resolve
from rapids_bfs.engines.gpu.published import SOURCES_AT_ONCE
from rapids_bfs.generators import generate
from rapids_bfs.testing import assert_valid_bfs

ENGINES = [f"{name}:{algorithm}" for name in ("cupy", "numba-cuda") for algorithm in registered()[name].algorithms]
SMALL = ["path:1", "path:9", "star:9", "complete:7", "tree:15", "grid:5", "rmat:8", "urand:8"]
LARGE = ["rmat:20", "urand:20", "grid:1024", "star:1000000", "path:100000", "tree:1048575"]
RANDOM_GRAPHS = 1000


def checks(engine):
    """Does it return to the host after each level, so that the level can be checked?"""
    return not engine.endswith("direction-optimizing")


def hub(graph):
    """The vertex with the most edges."""
    return int(np.argmax(graph.degrees))


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.mark.parametrize("spec", SMALL)
def test_small(engine, spec):
    graph = generate(spec)
    for source in (0, graph.num_vertices - 1):
        assert_right(graph, [source], engine, check=checks(engine))


@pytest.fixture(scope="module", params=LARGE)
def large(request):
    """A graph, a source and SciPy's distances from it."""
    graph = generate(request.param)
    source = hub(graph)
    return graph, source, bfs(graph, source, engine="scipy").distances


def test_large(large, engine):
    graph, source, distances = large
    try:
        result = bfs(graph, source, engine=engine)
    finally:
        graph.traversals.pop(resolve(engine).name, None)  # the next engine may need its memory
    np.testing.assert_array_equal(result.distances, distances)
    assert_valid_bfs(graph, result)


def test_large_directed(engine):
    rng = np.random.default_rng(5)
    graph = as_graph(tuple(rng.integers(0, 100_000, (2, 400_000))), vertices=100_000, directed=True)
    result = bfs(graph, 7, engine=engine)
    np.testing.assert_array_equal(result.distances, bfs(graph, 7, engine="scipy").distances)
    assert_valid_bfs(graph, result)


def test_random_graphs_with_random_options(engine):
    rng = np.random.default_rng(1)
    for _ in range(RANDOM_GRAPHS):
        graph = random_graph(rng)
        sources, options = random_options(rng, graph.num_vertices)
        assert_right(graph, sources, engine, **options)


@pytest.mark.parametrize("name", ENGINES)
@given(data=st.data())
def test_any_graph(name, data):
    """What Hypothesis thinks of: loops, duplicates, isolated vertices, several sources and components."""
    graph = data.draw(graphs(min_vertices=1))
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=3))
    depth_limit = data.draw(st.none() | st.integers(0, 4))
    result = bfs(graph, sources, depth_limit=depth_limit, predecessors=data.draw(st.booleans()), engine=name)
    np.testing.assert_array_equal(result.distances, oracle_distances(graph, sources, depth_limit))
    assert validate(graph, result), validate(graph, result)


def test_levels_pass_the_check(engine):
    if not checks(engine):
        with pytest.raises(InputError, match="this engine cannot check its levels: use"):
            bfs(generate("path:3"), 0, engine=engine, check=True)
        return
    rng = np.random.default_rng(2)
    for _ in range(30):
        graph = random_graph(rng)
        sources, options = random_options(rng, graph.num_vertices)
        assert_right(graph, sources, engine, check=True, **options)
    graph = generate("rmat:12")
    assert_right(graph, [hub(graph)], engine, check=True)


def test_depth_limit_and_target(engine):
    graph = generate("grid:60")
    for depth_limit in (0, 1, 30, 500):
        assert_right(graph, [0], engine, depth_limit=depth_limit)
        assert_right(graph, [0], engine, depth_limit=depth_limit, target=25 * 60 + 25)
    for target in (0, 1, 3599):
        assert_right(graph, [0], engine, target=target, predecessors=False)


def test_many_sources(engine):
    """More of them than go to the device at a time."""
    graph = generate("grid:100")
    sources = np.random.default_rng(4).permutation(10_000)
    for count in (SOURCES_AT_ONCE, 2 * SOURCES_AT_ONCE + 1, 10_000):
        assert_right(graph, sources[:count], engine)


def test_int64(engine):
    graph = generate("rmat:12")
    wide_offsets = Graph(graph.offsets.astype(np.int64), graph.targets, directed=False)
    assert_right(wide_offsets, [hub(graph)], engine)
    if not engine.endswith("texture"):
        wide = Graph(wide_offsets.offsets, graph.targets.astype(np.int64), directed=False)
        assert assert_right(wide, [hub(graph)], engine).predecessors.dtype == np.int64


def test_no_edges(engine):
    assert_right(as_graph(([], []), vertices=1000), [5], engine, check=checks(engine))


def test_buffers_carry_nothing_over_to_the_next_run(engine):
    graph = generate("rmat:10")
    traversal = resolve(engine).traversal(graph)
    rng = np.random.default_rng(6)
    for _ in range(30):
        sources, options = random_options(rng, graph.num_vertices)
        traversal.run(np.array(sources), Options(**options))
        result = traversal.run(np.array(sources[:1]))
        np.testing.assert_array_equal(result.distances, bfs(graph, sources[0], engine="scipy").distances)


def test_trace(engine):
    graph = generate("rmat:12")
    result = bfs(graph, hub(graph), engine=engine, trace=True)
    trace = result.trace
    assert trace[0].frontier_vertices == 1
    assert trace[-1].newly_reached == 0
    assert sum(level.newly_reached for level in trace) == result.num_reached - 1
    if checks(engine):
        assert all(level.direction == "top-down" and level.milliseconds > 0 for level in trace)
    else:
        assert {level.direction for level in trace} <= {"top-down", "bottom-up"}
        assert all(level.milliseconds >= 0 for level in trace)


def test_what_does_not_fit_is_refused_before_it_is_allocated(engine, monkeypatch):
    name = engine.partition(":")[0]
    device = {
        "cupy": "rapids_bfs.engines.gpu.cupy.CuPyDevice",
        "numba-cuda": "rapids_bfs.engines.gpu.numba_cuda.NumbaDevice",
    }
    monkeypatch.setattr(f"{device[name]}.free_bytes", lambda self: 10_000)
    with pytest.raises(InputError, match=r"needs [\d,.]+ .iB of device memory on engine '.*', and 9.77 KiB are free"):
        bfs(generate("path:10000"), 0, engine=engine)


def test_texture_is_refused_what_it_cannot_hold(monkeypatch):
    monkeypatch.setattr("rapids_bfs.engines.gpu.cupy.CuPyDevice.attribute", lambda self, name: 10)
    with pytest.raises(InputError, match="a texture of this device holds 10 of int32, use 'cupy:frontier-mask'"):
        bfs(generate("path:100"), 0, engine="cupy:frontier-mask-texture")


@pytest.mark.parametrize("engine", [each for each in ENGINES if each != "cupy:direction-optimizing"])
def test_deterministic_is_refused(engine):
    with pytest.raises(InputError, match="deterministic"):
        bfs(generate("path:3"), 0, deterministic=True, engine=engine)
