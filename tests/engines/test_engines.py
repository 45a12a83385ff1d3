"""Every engine against SciPy's Dijkstra, and the tree against NetworkX's."""

import os
import subprocess
import sys
import threading

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import assert_right, random_graph, random_options
from strategies import graphs, oracle_distances

import rapids_bfs
from rapids_bfs import InputError, as_graph, betweenness, bfs, bfs_batch, compare
from rapids_bfs.engines import OPTIONAL, Engine, Options, register, registered, resolve
from rapids_bfs.engines.cpu import search as cpu_search
from rapids_bfs.generators import generate
from rapids_bfs.testing import assert_valid_bfs

ENGINES = ["cpu", "cpu:sequential", "scipy", "networkx"]
SHAPES = ["path:9", "star:9", "complete:7", "tree:15", "grid:5", "rmat:8", "urand:8"]


@pytest.fixture(autouse=True, scope="module")
def _no_graph_is_tiny():
    """The textbook queue, which tiny graphs are left to, is an algorithm of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu_search, "TINY", 0)
        yield


@pytest.fixture(params=ENGINES, scope="module")
def engine(request):
    return request.param


@pytest.mark.parametrize("near", [0, 5, 1 << 12])
def test_searches_near_and_far_take_turns(near, monkeypatch):
    """By the queue or by the parallel kernel, in the same buffers."""
    monkeypatch.setattr(cpu_search, "NEAR", near)
    rng = np.random.default_rng(1)
    ends = np.sort(rng.integers(0, 40, (2, 90)), axis=0)  # no edge leads into some vertices
    for directed in (False, True):
        graph = as_graph(tuple(ends), directed=directed)
        for source in rng.integers(0, graph.num_vertices, 200).tolist():
            assert_right(graph, source, "cpu", depth_limit=[None, 0, 1, 2, 3][rng.integers(5)])


@pytest.mark.parametrize(
    "sources",
    [np.array([4, 0, 7, 0])[::2], np.array([7, 4])[::-1], np.array([4, 7], np.int32)],
    ids=["every other", "backwards", "int32"],
)
@pytest.mark.parametrize("algorithm", ["sequential", "direction-optimizing"])
def test_sources_in_an_array_of_another_kind(sources, algorithm, monkeypatch):
    """Nothing is compiled for them."""
    monkeypatch.setattr(cpu_search, "TINY", 0)
    traversal = resolve("cpu").engine.prepare(generate("path:9"), algorithm)
    for _ in range(3):  # the first one compiles
        traversal.run(np.array([0]))
    kernels = cpu_search.sequential.search, cpu_search.direction_optimizing.search
    compiled = [len(kernel.signatures) for kernel in kernels]
    assert traversal.run(sources).distances.tolist() == [4, 3, 2, 1, 0, 1, 1, 0, 1]
    assert [len(kernel.signatures) for kernel in kernels] == compiled


def test_searches_from_several_sources_and_by_the_queue_take_turns():
    """The kernel resets the sources of the last search; no edge leads into half of the vertices."""
    rng = np.random.default_rng(2)
    graph = as_graph((rng.integers(0, 20, 60), rng.integers(20, 40, 60)), vertices=40, directed=True)
    for _ in range(300):
        sources = rng.choice(graph.num_vertices, rng.integers(1, 9), replace=False).tolist()
        traced, deterministic = rng.random(2) < 0.4
        found = bfs(graph, sources, engine="cpu", trace=bool(traced), deterministic=bool(deterministic))
        assert np.array_equal(found.distances, bfs(graph, sources, engine="cpu:sequential").distances)


def test_tiny_graphs_are_left_to_the_textbook_queue(monkeypatch):
    """Until levels are to be noted, which the queue has none of."""
    monkeypatch.setattr(cpu_search, "TINY", 79)
    tiny, larger = generate("path:40"), generate("path:41")  # 78 and 80 edges
    engine = resolve("cpu").engine
    assert engine.prepare(larger, "direction-optimizing").prepared
    traversal = engine.prepare(tiny, "direction-optimizing")
    for source in (3, 30):
        assert traversal.run(np.array([source]), Options()) == bfs(tiny, source, engine="cpu:sequential")
        assert not traversal.prepared
    traced = traversal.run(np.array([7]), Options(trace=True))
    assert {step.direction for step in traced.trace} <= {"top-down", "bottom-up"}
    for source in (3, 30):
        assert_valid_bfs(tiny, traversal.run(np.array([source]), Options()))


@pytest.fixture
def one_and_two_threads():
    """Runs a function with one thread and with two; returns both answers."""

    def both(function):
        answers = []
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            before = numba.get_num_threads()
            numba.set_num_threads(threads)
            try:
                answers.append(function())
            finally:
                numba.set_num_threads(before)
        return answers

    return both


@settings(max_examples=150)
@given(data=st.data())
def test_distances_and_tree_are_right(engine, data):
    graph = data.draw(graphs(min_vertices=1))
    vertices = st.integers(0, graph.num_vertices - 1)
    sources = data.draw(st.lists(vertices, min_size=1, max_size=3))
    depth_limit = data.draw(st.none() | st.integers(0, 4))
    predecessors = data.draw(st.booleans())
    result = bfs(graph, sources, depth_limit=depth_limit, predecessors=predecessors, engine=engine)
    np.testing.assert_array_equal(result.distances, oracle_distances(graph, sources, depth_limit))
    assert (result.predecessors is not None) == predecessors
    assert_valid_bfs(graph, result)


@given(data=st.data())
def test_target_ends_the_search_after_its_level(engine, data):
    graph = data.draw(graphs(min_vertices=1))
    vertices = st.integers(0, graph.num_vertices - 1)
    source, target = data.draw(vertices), data.draw(vertices)
    result = bfs(graph, source, target=target, engine=engine)
    whole = oracle_distances(graph, [source])
    stop = whole[target] if whole[target] >= 0 else graph.num_vertices
    np.testing.assert_array_equal(result.distances, np.where(whole > stop, -1, whole))
    assert_valid_bfs(graph, result)


def test_a_target_that_is_the_source_ends_the_search_at_once(engine):
    graph = as_graph(([1, 0], [0, 2]), vertices=3, directed=True)  # no edge leads to 1
    assert bfs(graph, 1, target=1, engine=engine).distances.tolist() == [-1, 0, -1]


@given(data=st.data())
def test_buffers_carry_nothing_over_to_the_next_run(engine, data):
    graph = data.draw(graphs(min_vertices=1))
    traversal = resolve(engine).traversal(graph)
    vertices = st.integers(0, graph.num_vertices - 1)
    searches = st.tuples(st.lists(vertices, min_size=1, max_size=2, unique=True), st.booleans(), st.booleans())
    for sources, predecessors, deterministic in data.draw(st.lists(searches, min_size=2, max_size=4)):
        deterministic = deterministic and not (engine == "scipy" and len(sources) > 1)
        result = traversal.run(np.array(sources), Options(predecessors=predecessors, deterministic=deterministic))
        np.testing.assert_array_equal(result.distances, oracle_distances(graph, sources))
        assert_valid_bfs(graph, result)


@given(data=st.data())
def test_deterministic_tree_is_networkx_tree(engine, data):
    graph = data.draw(graphs(min_vertices=1))
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    nx_graph = graph.to("networkx")
    expected = np.full(graph.num_vertices, -1)
    for parent, child in nx.bfs_edges(nx_graph, source):
        expected[child] = parent
    result = bfs(graph, source, deterministic=True, engine=engine)
    np.testing.assert_array_equal(result.predecessors, expected)


@pytest.mark.parametrize("spec", SHAPES)
def test_shapes(engine, spec):
    graph = generate(spec)
    for source in (0, graph.num_vertices - 1):
        result = bfs(graph, source, engine=engine)
        np.testing.assert_array_equal(result.distances, oracle_distances(graph, [source]))
        assert_valid_bfs(graph, result)


@pytest.mark.parametrize("spec", ["rmat:18", "urand:17:8", "grid:400", "star:200000"])
def test_answer_does_not_depend_on_threads(spec, one_and_two_threads):
    """Big enough that levels run in parallel, top-down and bottom-up."""
    graph = generate(spec)
    for source in (0, 17):
        one, two = one_and_two_threads(lambda source=source: bfs(graph, source))
        np.testing.assert_array_equal(one.distances, two.distances)
        np.testing.assert_array_equal(one.distances, oracle_distances(graph, [source]))
        assert_valid_bfs(graph, one)
        assert_valid_bfs(graph, two)
        one, two = one_and_two_threads(lambda source=source: bfs(graph, source, deterministic=True))
        np.testing.assert_array_equal(one.predecessors, two.predecessors)


@given(data=st.data())
def test_parallel_search_of_small_graphs(data):
    """Small graphs have a search on one thread; this is the other one."""
    graph = data.draw(graphs(min_vertices=1))
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu_search, "SMALL", 0)
        result = bfs(graph, sources, engine="cpu")
    np.testing.assert_array_equal(result.distances, oracle_distances(graph, sources))
    assert_valid_bfs(graph, result)


@pytest.mark.parametrize("seed", range(20))
def test_parallel_search_of_random_graphs(seed):
    """Levels with enough edges to be shared out, in both directions, and a search that stops half-way."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2_000, 50_000)), int(rng.integers(100_000, 400_000))
    graph = as_graph(tuple(rng.zipf(1.5, (2, m)) % n if seed % 2 else rng.integers(0, n, (2, m))), vertices=n)
    assert graph.num_arcs > cpu_search.SMALL
    sources = rng.choice(np.flatnonzero(graph.degrees), 1 + seed % 3, replace=False)
    for depth_limit in (None, 2, 3):
        result = bfs(graph, sources, depth_limit=depth_limit, engine="cpu")
        np.testing.assert_array_equal(result.distances, oracle_distances(graph, sources, depth_limit))
        assert_valid_bfs(graph, result)


def test_directed_graph_searches_bottom_up_over_its_reverse():
    """Half the edges of a dense graph turned round: a search that took out-edges for in-edges would go wrong."""
    rng = np.random.default_rng(3)
    sources, targets = rng.integers(0, 3000, (2, 200_000))
    graph = as_graph((sources, targets), vertices=3000, directed=True)
    for source in range(5):
        result = bfs(graph, source)
        np.testing.assert_array_equal(result.distances, oracle_distances(graph, [source]))
        assert_valid_bfs(graph, result)


def test_first_level_bottom_up_from_sources_without_in_edges():
    """Another vertex has none either, and is not in the frontier for that."""
    sources, targets = np.repeat([4000, 4001, 4002], [2000, 2000, 900]), np.delete(np.arange(4903), [4000, 4001, 4002])
    graph = as_graph((sources, targets), vertices=5000, directed=True)
    result = bfs(graph, [4000, 4001], engine="cpu", trace=True)
    assert result.trace[0].direction == "bottom-up"
    np.testing.assert_array_equal(result.distances, oracle_distances(graph, [4000, 4001]))
    np.testing.assert_array_equal(result.predecessors[:4000], np.repeat([4000, 4001], 2000))


def test_int64_offsets():
    graph = generate("rmat:10")
    wide = rapids_bfs.Graph(graph.offsets.astype(np.int64), graph.targets, directed=False)
    for algorithm in ("cpu", "cpu:sequential"):
        np.testing.assert_array_equal(bfs(wide, 1, engine=algorithm).distances, bfs(graph, 1).distances)


def test_a_result_owns_its_arrays(engine):
    graph = generate("path:5")
    first = bfs(graph, 0, engine=engine)
    bfs(graph, 4, engine=engine)
    assert first.distances.tolist() == [0, 1, 2, 3, 4]
    assert first.predecessors.tolist() == [-1, 0, 1, 2, 3]


def test_too_little_memory_for_a_direction_optimizing_search(monkeypatch):
    """There is enough for the textbook queue."""
    graph = generate("urand:16:2")
    monkeypatch.setattr(cpu_search.pool, "most", 2)
    monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: graph.num_vertices * 25 // 2)
    cpu_search.Sequential(graph)
    with pytest.raises(InputError, match="a direction-optimizing search needs 832 KiB of memory, and 800 KiB are free"):
        cpu_search.DirectionOptimizing(graph)


def test_threads_may_search_one_graph_at_once():
    graph = generate("rmat:12")
    expected = [oracle_distances(graph, [source]) for source in range(8)]
    wrong = []

    def search(source):
        answers = [bfs(graph, source).distances for _ in range(20)]
        wrong.extend(source for distances in answers if not np.array_equal(distances, expected[source]))

    threads = [threading.Thread(target=search, args=(source,)) for source in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_may_search_at_once_on_the_layer_that_is_always_there():
    program = (
        "import threading, rapids_bfs; from rapids_bfs.generators import generate\n"
        "graphs = [generate('rmat:12') for _ in range(4)]\n"
        "work = lambda graph: [rapids_bfs.bfs(graph, source) for source in range(20)]\n"
        "threads = [threading.Thread(target=work, args=(graph,)) for graph in graphs]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
        "print('done')\n"
    )
    environment = os.environ | {"NUMBA_THREADING_LAYER": "workqueue"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


class Textbook(Engine):
    """Searches from the first source to the end, whatever it is asked. Its tree is valid, but no queue's."""

    name = "textbook"
    algorithms = ("queue",)

    def prepare(self, graph, algorithm):
        class Ignorant(cpu_search.Sequential):
            def search(self, sources, options):
                return super().search(sources[:1], Options())

            def answer(self, found):
                distances, predecessors = super().answer(found)
                origins = np.repeat(np.arange(len(distances)), self.here.degrees)
                down = (distances[origins] >= 0) & (distances[self.targets] == distances[origins] + 1)
                predecessors[self.targets[down]] = origins[down]  # the last of each vertex's stays
                return distances, predecessors

        return Ignorant(graph)


@pytest.fixture(scope="module")
def textbook():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registered(), "textbook", Textbook())
        yield
    resolve.cache_clear()


@pytest.mark.parametrize("engine", [None, Textbook, type("Nameless", (Textbook,), {"algorithms": ()})(), object()])
def test_what_is_no_engine_is_not_registered(engine):
    before = list(registered())
    with pytest.raises(InputError, match="register takes an instance of a subclass of Engine"):
        register(engine)
    assert list(registered()) == before


@pytest.mark.usefixtures("textbook")
class TestOptionsOfAnotherEngine:
    """What it does not declare is refused; what it declares is its own affair."""

    @settings(max_examples=100)
    @given(seed=st.integers(0, 1 << 32), deterministic=st.booleans())
    def test_any_search_is_right_or_refused(self, seed, deterministic):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng)
        sources, options = random_options(rng, graph.num_vertices)
        asked = {"depth_limit", "target"} & options.keys() or len(sources) > 1
        if asked or (deterministic and options["predecessors"]):
            with pytest.raises(
                InputError, match=r"'textbook' cannot run this search: textbook does not support .*'cpu'"
            ):
                bfs(graph, sources, engine="textbook", deterministic=deterministic, **options)
        else:
            assert_right(graph, sources, "textbook", deterministic=deterministic, **options)

    @pytest.mark.parametrize("option", OPTIONAL)
    def test_what_is_declared_is_taken(self, option, monkeypatch):
        monkeypatch.setattr(Textbook, "supports", (option,))
        asked = {"depth_limit": 9, "target": 9, "deterministic": True}
        sources = [0, 1] if option == "several sources" else 0
        bfs("path:10", sources, engine="textbook", **{name: asked[name] for name in {option} & asked.keys()})

    @pytest.mark.parametrize("keep", ["distances", "summary"])
    def test_a_batch_has_the_same_limits(self, keep):
        bfs_batch("path:10", [3, 0], keep=keep, engine="textbook")
        with pytest.raises(InputError, match="does not support depth_limit"):
            bfs_batch("path:10", [3, 0], keep=keep, depth_limit=2, engine="textbook")

    def test_compare_gives_the_reason(self):
        found = compare("karate", num_sources=2, engines="textbook,cpu", depth_limit=1)
        assert "does not support depth_limit" in found["textbook"].unavailable
        assert compare("karate", num_sources=2, engines="textbook")["textbook"].valid


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"source": 34}, r"34 is not a vertex of karate; its vertices are 0\.\.33"),
            ({"source": -1}, "-1 is not a vertex"),
            ({"source": 1.5}, "1.5 is not a vertex"),
            ({"source": "a"}, "'a' is not a vertex"),
            ({"source": []}, "at least one source"),
            ({"source": 0, "target": 99}, "99 is not a vertex"),
            ({"source": 0, "depth_limit": -1}, "the depth limit must be at least 0, not -1"),
            ({"source": 0, "depth_limit": 1.5}, "the depth limit must be a whole number"),
            ({"source": 0, "engine": "gpu"}, "unknown engine 'gpu': choose from .*cpu.*scipy"),
            ({"source": 0, "engine": "cpu:magic"}, "'cpu' has no algorithm 'magic': it has direction-optimizing"),
        ],
    )
    def test_is_named(self, arguments, message):
        with pytest.raises(InputError, match=message):
            bfs("karate", **arguments)

    def test_empty_graph_has_no_source(self):
        with pytest.raises(InputError, match="the graph has no vertices"):
            bfs(as_graph(([], [])), 0)


@pytest.mark.parametrize(
    "call", [betweenness, lambda graph: compare(graph, num_sources=1), bfs_batch, lambda graph: bfs(graph, 0)]
)
def test_packages_are_looked_for_once(call, monkeypatch):
    """An interrupt under the import lock leaves it locked."""
    call("karate")

    def look(name):
        raise AssertionError(f"looks for {name} again")

    monkeypatch.setattr("rapids_bfs.engines.libraries.base.find_spec", look)
    monkeypatch.setattr("importlib.util.find_spec", look)
    for engine in registered().values():
        monkeypatch.setattr(type(engine), "unavailable", look)
    call("karate")


def test_every_engine_says_whether_it_can_run():
    for engine in registered().values():
        reason = engine.unavailable()
        assert reason is None or "\n" not in reason
