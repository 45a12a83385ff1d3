"""The kernels by NumPy beside those that are compiled, and the processes that need no others."""

import signal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import run

from rapids_bfs import as_graph, bfs
from rapids_bfs._core.csr import building, counting
from rapids_bfs.engines.cpu import CPU, first
from rapids_bfs.engines.cpu.first import First
from rapids_bfs.kernels import by_numpy

MOST = 12
KEY = np.array([3, 5], np.uint64)
vertices = st.integers(-2, MOST + 2)  # kernels pass over those that do not exist
edges = st.lists(st.tuples(vertices, vertices), max_size=60)


def columns(pairs, dtype=np.int64):
    return [building.as_block(column) for column in np.array(pairs, dtype).reshape(-1, 2).T]


@given(edges, st.sampled_from([np.int32, np.int64]))
def test_degrees_and_hashes_are_those_of_the_compiled_kernel(pairs, dtype):
    answers = []
    for kernels in by_numpy, counting:
        degrees = np.zeros((2, MOST), np.int64)
        asymmetry = kernels.count(*columns(pairs, dtype), *degrees, KEY)
        answers.append((asymmetry % 2**64, degrees.tolist()))
    assert answers[0] == answers[1]


@given(edges)
def test_a_whole_graph_has_the_hash_of_the_compiled_kernel(pairs):
    graph = as_graph(tuple(abs(column) for column in columns(pairs)), directed=True)
    hashes = [kernels.asymmetry(graph.offsets, graph.targets, KEY) % 2**64 for kernels in (by_numpy, counting)]
    assert hashes[0] == hashes[1]
    assert (hashes[0] == 0) == (as_graph(offsets=graph.offsets, targets=graph.targets).directed is False)


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from([0, 1, 5, counting.ARCS - 1, counting.ARCS, counting.PIECE + 3]), min_size=1, max_size=8),
    st.integers(0, 9),
    st.sampled_from([np.int32, np.int64]),
)
def test_rows_on_the_border_of_two_chunks_have_the_hash_of_the_compiled_kernel(degrees, seed, dtype):
    offsets = np.cumsum([0, *degrees])
    targets = np.random.default_rng(seed).integers(0, len(degrees), offsets[-1]).astype(dtype)
    hashes = [kernels.asymmetry(offsets, targets, KEY) % 2**64 for kernels in (by_numpy, counting)]
    assert hashes[0] == hashes[1]


@given(edges, st.booleans(), st.integers(0, MOST), st.lists(st.integers(0, 2), min_size=MOST, max_size=MOST))
def test_edges_are_placed_as_the_compiled_kernel_places_them(pairs, mirror, limit, room):
    """With room for more, or for fewer, where nothing is written beyond the end."""
    degrees = np.array(room)
    for u, v in pairs:
        for source, target in ((u, v), (v, u))[: 1 + (mirror and u != v)]:
            if 0 <= source < MOST and 0 <= target < limit:
                degrees[source] += 1
    offsets = building.offsets_of(degrees)
    for end in offsets[-1], offsets[-1] // 2:
        answers = []
        for kernels in by_numpy, counting:
            cursors, targets = offsets[:-1].copy(), np.full(end, -7, np.int32)
            for block in pairs[:20], pairs[20:]:
                kernels.place(*columns(block), mirror, limit, cursors, targets)
            answers.append((cursors.tolist(), targets.tolist()))
        assert answers[0] == answers[1]


@given(st.lists(vertices), st.lists(st.integers(0, 9), max_size=MOST))
def test_gathered_values_are_those_of_the_compiled_kernel(indices, values):
    answers = []
    for kernels in by_numpy, counting:
        gathered = np.empty(len(indices), np.int32)
        kernels.gather(np.array(values, np.int32), building.as_block(np.array(indices, np.int64)), gathered)
        answers.append(gathered.tolist())
    assert answers[0] == answers[1]


class Changing(np.ndarray):
    """Ids that leave their range once they are compared with its end, as another thread may change them."""

    def __lt__(self, end):
        below = np.asarray(self) < end
        self[:] = MOST + 7
        return below


@pytest.mark.parametrize("mirror", [False, True])
def test_ids_are_those_that_were_checked(mirror):
    def ids():
        return np.arange(MOST).view(Changing)

    degrees = np.zeros((2, MOST), np.int64)
    by_numpy.count(ids(), ids()[::-1], *degrees, KEY)
    assert degrees.tolist() == [[1] * MOST] * 2
    cursors, targets = np.arange(MOST) * (1 + mirror), np.full((1 + mirror) * MOST, -1)
    by_numpy.place(ids(), ids()[::-1], mirror, MOST, cursors, targets)
    assert targets.tolist() == np.repeat(np.arange(MOST)[::-1], 1 + mirror).tolist()
    gathered = np.empty(MOST, np.int64)
    by_numpy.gather(np.arange(MOST), ids(), gathered)
    assert gathered.tolist() == [*range(MOST)]


@st.composite
def searches(draw):
    """A graph, and the arguments of a search."""
    n = draw(st.integers(1, MOST))
    pairs = draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=40))
    graph = as_graph(tuple(columns(pairs)), vertices=n, directed=draw(st.booleans()))
    allowed = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    sources = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True))
    target = draw(st.none() | st.integers(0, n - 1))
    allowed[sources + ([] if target is None else [target])] = True
    options = {"depth_limit": draw(st.none() | st.integers(0, 4)), "target": target, "vertices": allowed}
    return graph, sources, options


@given(searches())
def test_a_search_by_numpy_is_that_of_the_textbook_queue(search):
    graph, sources, options = search
    expected = bfs(graph, sources, engine="cpu:sequential", deterministic=True, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rapids_bfs.engines.cpu.numpy_will_do", lambda things: True)
        patch.setattr(first, "numpy_will_do", lambda things: True)
        fresh = graph.replace()
        found = bfs(fresh, sources, engine="cpu", **options)
        assert isinstance(fresh.traversals["cpu"], First)
    assert found.distances.tolist() == expected.distances.tolist()
    assert found.predecessors.tolist() == expected.predecessors.tolist()


def test_the_compiled_search_takes_over(monkeypatch):
    """From the first search for which NumPy will not do, in the middle of it."""
    answers = iter([True, True, True, False])
    monkeypatch.setattr("rapids_bfs.engines.cpu.numpy_will_do", lambda things: True)
    monkeypatch.setattr(first, "numpy_will_do", lambda things: next(answers))
    graph = as_graph("path:50")
    for source in 0, 49, 0:
        assert bfs(graph, source, engine="cpu").distance_to(49 - source) == 49
    assert next(answers, None) is None
    assert len(bfs(graph, 0, engine="cpu", trace=True).trace) == 50


def test_a_traced_search_is_compiled(monkeypatch):
    monkeypatch.setattr("rapids_bfs.engines.cpu.numpy_will_do", lambda things: True)
    graph = as_graph("path:5")
    assert len(bfs(graph, 0, engine="cpu", trace=True).trace) == 5
    assert isinstance(CPU().prepare(graph, "sequential"), First)


def test_a_first_search_imports_no_compiler():
    program = """
import sys, rapids_bfs
graphs = [rapids_bfs.as_graph(each) for each in ("moby", ([0, 1, 7], [1, 7, 9]), {"a": ["b"], "b": ["c"]})]
asked = [(graph, graph.ids_of([0]).item()) for graph in graphs]
first = [rapids_bfs.bfs(*each) for each in asked]
assert not {"numba", "scipy", "pandas"} & sys.modules.keys()
import numba
for (graph, source), found in zip(asked, first):
    assert rapids_bfs.validate(graph, found)
    assert rapids_bfs.bfs(graph, source).distances.tolist() == found.distances.tolist()
"""
    run(program)


def test_numba_is_imported_once_it_pays():
    program = """
import sys, rapids_bfs
from rapids_bfs._core import without_numba
without_numba._left = 10_000
graph, searches = rapids_bfs.load("karate"), 0
while "numba" not in sys.modules:
    assert rapids_bfs.bfs(graph, 1).depth == 3
    searches += 1
print(searches)
"""
    assert 2 <= int(run(program).stdout) <= 5


CALLS = {
    "bfs(graph, 0).distances": [0, 1, 2, 3, 4],
    "bfs_batch(graph, [0, 4], engine='cpu').distances": [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]],
    "betweenness(graph, engine='cpu')": [0, 6, 8, 6, 0],
    "connected_components(graph)": [0, 0, 0, 0, 0],
    "shortest_path(graph, 0, 4)": [0, 1, 2, 3, 4],
    "as_graph(scattered).labels": [0, 5, 10**12],
}


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system cannot interrupt a thread that waits")
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.partition("(")[0])
def test_an_interrupt_leaves_no_half_of_numba(call):
    """Ctrl-C ends the call three times while Numba is imported, and once among our own modules; the next call must find
    all of Numba. Each moment of the import waits until the next call has begun."""
    program = f"""
import signal, sys, threading, time, numpy as np, rapids_bfs
from rapids_bfs._core import without_numba

moments = ["numba.core.config", "numba.core.types.misc", "numba.typed", "rapids_bfs.kernels.cpu.compiled"]
left = moments.copy()

def interrupt(event, arguments):
    if event == "import" and left and arguments[0] == left[0]:
        main, number = threading.main_thread(), len(moments) - len(left)
        while threading.current_thread() is not main and calls <= number and main.is_alive():
            time.sleep(1e-3)
        del left[0]
        signal.pthread_kill(main.ident, signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
graph, scattered = rapids_bfs.as_graph("path:5"), (np.array([0, 5]), np.array([5, 10**12]))
without_numba._left = calls = 0
sys.addaudithook(interrupt)
for _ in moments:
    try:
        calls += 1
        rapids_bfs.{call}
        sys.exit("not interrupted")
    except KeyboardInterrupt:
        pass
assert not left
assert np.array_equal(rapids_bfs.{call}, {CALLS[call]})
"""
    run(program)


def test_networkx_agrees_on_a_deep_graph():
    graph = as_graph("grid:20")
    distances, _ = by_numpy.search(
        graph.offsets, graph.targets, np.array([0]), 99, -1, np.zeros(400, bool), lambda edges: True
    )
    expected = nx.single_source_shortest_path_length(graph.to("networkx"), 0)
    assert dict(enumerate(distances.tolist())) == expected
