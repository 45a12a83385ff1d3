"""Many sources at once against SciPy's Dijkstra, and betweenness against NetworkX."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from graph_files import labelled_graphs, plain_graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from strategies import graphs, records

from rapids_bfs import InputError, as_graph, bfs, bfs_batch
from rapids_bfs._core.threads import pool
from rapids_bfs.adapters.scipy import to_scipy
from rapids_bfs.engines.cpu import batch
from rapids_bfs.engines.cpu.batch import ManySources
from rapids_bfs.generators import generate

ENGINES = ["cpu", "cpu:sequential", "scipy"]
KINDS = ["bit_parallel", "one_by_one", "parallel_over_sources"]  # in which engine cpu searches from many sources
SHAPES = ["path:300", "star:99", "complete:70", "tree:255", "grid:20", "rmat:9", "urand:8"]


def expected_distances(graph, sources, depth_limit=None):
    """Distances from each source, k x n, by SciPy's Dijkstra on unit weights."""
    if graph.num_vertices == 0 or len(sources) == 0:
        return np.empty((len(sources), graph.num_vertices), np.int32)
    distances = dijkstra(to_scipy(graph, np.float64, copy=True), indices=sources, unweighted=True)
    if depth_limit is not None:
        distances[distances > depth_limit] = np.inf
    return np.where(np.isfinite(distances), distances, -1).astype(np.int32)


def assert_summary_is_that_of(distances, result):
    reached = distances >= 0
    np.testing.assert_array_equal(result.reached, reached.sum(axis=1))
    np.testing.assert_array_equal(result.total, np.where(reached, distances, 0).sum(axis=1))
    np.testing.assert_array_equal(result.eccentricity, distances.max(axis=1, initial=0))
    inverses = np.where(distances > 0, 1 / np.maximum(distances, 1), 0)
    np.testing.assert_allclose(result.harmonic, inverses.sum(axis=1))
    assert getattr(result, "distances", None) is None


def assert_right(graph, sources, engine, depth_limit=None):
    """Every way to ask for the batch gives the answer of Dijkstra."""
    expected = expected_distances(graph, sources, depth_limit)
    result = bfs_batch(graph, sources, depth_limit=depth_limit, engine=engine)
    np.testing.assert_array_equal(result.distances, expected)
    np.testing.assert_array_equal(result.sources, sources)
    summary = bfs_batch(graph, sources, keep="summary", depth_limit=depth_limit, engine=engine)
    assert_summary_is_that_of(expected, summary)


@pytest.fixture(params=ENGINES, scope="module")
def engine(request):
    return request.param


@settings(max_examples=60)
@given(data=st.data())
def test_random_graphs(engine, data):
    graph = data.draw(graphs(min_vertices=1))
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), max_size=150))
    assert_right(graph, sources, engine, data.draw(st.none() | st.integers(0, 4)))


@pytest.mark.parametrize("spec", SHAPES)
def test_shapes(engine, spec):
    graph = generate(spec)
    assert_right(graph, np.arange(graph.num_vertices), engine)


@pytest.fixture(params=KINDS, scope="module")
def kind(request):
    return request.param


def assert_traversal_right(traversal, sources, depth_limit=None):
    expected = expected_distances(traversal.graph, sources, depth_limit)
    distances = np.full(expected.shape, -2, np.int32)
    traversal.distances(np.array(sources, np.int64), depth_limit, distances)
    np.testing.assert_array_equal(distances, expected)
    summary = traversal.summary(np.array(sources, np.int64), depth_limit)
    assert_summary_is_that_of(expected, summary)


@given(data=st.data())
def test_buffers_carry_nothing_over(kind, data):
    graph = data.draw(graphs(min_vertices=1))
    traversal = getattr(ManySources(graph), kind)
    some = st.lists(st.integers(0, graph.num_vertices - 1), max_size=70)
    for sources in data.draw(st.lists(some, min_size=2, max_size=4)):
        assert_traversal_right(traversal, sources, data.draw(st.none() | st.integers(0, 3)))


@pytest.mark.parametrize("spec", SHAPES)
def test_every_kind_on_every_shape(kind, spec):
    graph = generate(spec)
    assert_traversal_right(getattr(ManySources(graph), kind), np.arange(graph.num_vertices))


@pytest.mark.parametrize(
    ("spec", "sources", "chosen"),
    [
        ("rmat:12", 64, "bit_parallel"),
        ("rmat:12", 2, "one_by_one"),
        ("grid:64", 64, "parallel_over_sources"),
        ("grid:64", 2, "parallel_over_sources"),
        ("grid:64", 1024, "bit_parallel"),
        ("path:2000", 1024, "parallel_over_sources"),
        ("star:99", 64, "bit_parallel"),
    ],
)
def test_thin_frontiers_and_few_sources_are_searched_alone(spec, sources, chosen):
    traversal = ManySources(generate(spec))
    assert traversal.chosen(sources) is getattr(traversal, chosen)


def test_a_depth_limit_counts_for_the_choice():
    traversal = ManySources(generate("star:999"))
    assert traversal.sharing(64, 0) == pytest.approx(1, rel=0.05)  # each source is a vertex of its own
    assert traversal.sharing(64) > 30


@given(data=st.data())
def test_sharing_is_what_random_sources_share(data):
    """On a graph on which every vertex sees the same, against a count of what is shared."""
    n = data.draw(st.integers(3, 60))
    ring = as_graph((np.arange(n), (np.arange(n) + 1) % n), directed=False)
    k = data.draw(st.integers(1, 64))
    rng = np.random.default_rng(0)
    distances = expected_distances(ring, rng.integers(0, n, 200 * k)).reshape(200, k, n)
    rows = sum(np.count_nonzero((distances == level).any(axis=1)) for level in range(n))
    assert ManySources(ring).sharing(k) == pytest.approx(distances.size / rows, rel=0.05)


@pytest.mark.parametrize("seed", range(10))
def test_levels_shared_out_among_threads(seed, monkeypatch):
    """Graphs with enough edges for top-down and bottom-up levels in parallel, in every width."""
    monkeypatch.setattr(batch, "FEW_WORDS", dict.fromkeys(batch.WIDTHS, 0))
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2_000, 20_000)), int(rng.integers(20_000, 200_000))
    ends = rng.zipf(1.5, (2, m)) % n if seed % 2 else rng.integers(0, n, (2, m))
    graph = as_graph(tuple(ends), vertices=n, directed=bool(seed % 3))
    sources = rng.integers(0, n, (5, 64, 65, 513, 700)[seed % 5])
    assert_traversal_right(ManySources(graph).bit_parallel, sources, None if seed % 4 else 3)


@pytest.mark.parametrize(
    ("width", "arcs", "most", "alone"),
    [
        (1, 300_000, 16, True),
        (1, 450_000, 16, False),
        (1, 1_000_000, 2, True),
        (1, 7_600_000, 2, False),
        (4, 100_000, 16, True),
        (4, 1_800_000, 16, False),
    ],
)
def test_small_graphs_have_one_thread(width, arcs, most, alone):
    traversal = batch.BitParallel(generate("path:9"))
    traversal.width, traversal.threads = width, most
    traversal.graph = SimpleNamespace(num_vertices=arcs // 30, num_arcs=arcs)
    assert traversal._team()[1] == (1 if alone else min(pool.size, most))


def test_single_searches_shared_out_among_threads():
    graph = generate("grid:200")
    assert_traversal_right(ManySources(graph).parallel_over_sources, np.arange(0, graph.num_vertices, 999))


def test_on_batch_may_wait_for_another_thread():
    graph, found = as_graph("karate"), []

    def search_elsewhere(rows, distances):
        search = threading.Thread(target=lambda: found.append(bfs_batch(graph, [33]).distances[0]), daemon=True)
        search.start()
        search.join(600)
        found.append(distances[0].copy())

    bfs_batch(graph, [0, 1], batch_size=1, on_batch=search_elsewhere)
    assert [row.tolist() for row in found] == [bfs(graph, source).distances.tolist() for source in (33, 0, 33, 1)]


def test_on_batch_sees_every_source_once(engine):
    graph = generate("rmat:8")
    sources = np.arange(0, graph.num_vertices, 3)
    seen = np.full((len(sources), graph.num_vertices), -2)
    sizes = []

    def keep(rows, distances):
        seen[rows] = distances
        sizes.append(len(distances))

    result = bfs_batch(graph, sources, engine=engine, on_batch=keep, batch_size=30)
    np.testing.assert_array_equal(seen, expected_distances(graph, sources))
    assert result.distances is None
    assert max(sizes) == 30
    assert sum(sizes) == len(sources)


def test_no_source_is_no_batch(engine):
    graph = generate("path:5")
    batches = []
    assert bfs_batch(graph, [], engine=engine).distances.shape == (0, 5)
    assert bfs_batch(graph, [], keep="summary", engine=engine).harmonic.shape == (0,)
    bfs_batch(graph, [], engine=engine, on_batch=lambda rows, distances: batches.append(rows))
    assert not batches


def test_a_graph_without_vertices(engine):
    assert bfs_batch(as_graph(([], [])), engine=engine).distances.shape == (0, 0)


def test_ids_are_the_users():
    result = bfs_batch({"a": ["b"], "b": ["c"], "c": []}, ["b", "a", "b"])
    assert result.sources.tolist() == [1, 0, 1]
    assert result.distances.tolist() == [[-1, 0, 1], [0, 1, 2], [-1, 0, 1]]


@given(plain_graphs() | labelled_graphs(st.text(max_size=3)), st.sampled_from(["pandas", "polars", "arrow"]))
def test_frames_have_the_rows_of_single_searches(graph, kind):
    ids = list(graph)
    sources = ids[:2] + ids[:1]
    result = bfs_batch(graph, sources, engine="cpu")
    expected = [
        {"source": source, "vertex": vertex, "distance": bfs(graph, source).distance_to(vertex)}
        for source in sources
        for vertex in ids
    ]
    assert records(result.to_frame(kind)) == expected
    summary = bfs_batch(graph, sources, engine="cpu", keep="summary")
    assert records(summary.to_frame(kind)) == [
        {"source": source, "reached": r, "total": t, "eccentricity": e, "harmonic": h}
        for source, r, t, e, h in zip(
            *(sources, summary.reached, summary.total, summary.eccentricity, summary.harmonic), strict=True
        )
    ]


def test_frames_have_the_types_of_results():
    batch = bfs_batch("karate", [3, 1])
    assert [*batch.to_frame().dtypes] == [np.int64, np.int64, np.int32]
    summary = bfs_batch("karate", [3, 1], keep="summary").to_frame()
    assert [*summary.dtypes] == [np.int64, np.int64, np.int64, np.int32, np.float64]


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"sources": [0, 34]}, "34 is not a vertex of karate"),
            ({"sources": 3}, "expected a list of vertex ids, not 3"),
            ({"sources": "ab"}, "expected a list of vertex ids, not 'ab'"),
            ({"keep": "sums"}, "keep must be 'distances' or 'summary', not 'sums'"),
            ({"keep": "summary", "on_batch": print}, "on_batch is called with distances"),
            ({"batch_size": 0}, "batch_size must be at least 1, not 0"),
            ({"depth_limit": -1}, "the depth limit must be at least 0"),
            ({"engine": "gpu"}, "unknown engine 'gpu'"),
        ],
    )
    def test_is_named(self, arguments, message):
        with pytest.raises(InputError, match=message):
            bfs_batch("karate", **arguments)

    def test_a_frame_of_nothing(self):
        with pytest.raises(InputError, match="nothing was kept"):
            bfs_batch("karate", on_batch=lambda rows, distances: None).to_frame()

    def test_a_frame_that_does_not_fit(self, monkeypatch):
        result = bfs_batch("karate")
        monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 1000)
        with pytest.raises(InputError, match="a frame of 1,156 distances needs"):
            result.to_frame()

    def test_too_little_memory(self, monkeypatch):
        graph = generate("path:34")
        bfs_batch(graph, [0], engine="scipy")
        monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 1000)
        with pytest.raises(
            InputError, match=r"34 vertices from 34 sources .* needs 4.52 KiB of memory, and 1,000 bytes are free"
        ):
            bfs_batch(graph, engine="scipy")
