"""How many of Numba's threads a kernel gets, and Python's threads that search at once."""

import signal

import numba
import pytest
from programs import LAYERS, WITHOUT_OPENMP, run

from rapids_bfs import bfs
from rapids_bfs._core import threads
from rapids_bfs._core.threads import pool
from rapids_bfs.engines import resolve
from rapids_bfs.generators import generate

needs_two = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="Numba has one thread here")


@needs_two
def test_some_cores_are_spared_once(monkeypatch):
    allowed = numba.get_num_threads()
    monkeypatch.setattr(numba.config, "NUMBA_DEFAULT_NUM_THREADS", allowed)
    monkeypatch.setattr(threads, "SPARE", allowed)
    assert pool.team()[1] == allowed
    with pool.work_on() as outer:
        assert outer == numba.get_num_threads() == allowed - 1
        with pool.work_on() as inner, pool.work_on(1) as alone:
            assert (inner, alone) == (allowed - 1, 1)
        assert numba.get_num_threads() == allowed - 1
    assert numba.get_num_threads() == allowed


@needs_two
def test_threads_that_numba_was_told_to_use_are_used(monkeypatch):
    allowed = numba.get_num_threads()
    monkeypatch.setattr(threads, "SPARE", 1)
    numba.set_num_threads(1)
    try:
        with pool.work_on() as given:
            assert given == 1
        assert pool.team()[1] == 1
        assert numba.get_num_threads() == 1
    finally:
        numba.set_num_threads(allowed)


@needs_two
def test_a_graph_that_was_prepared_on_one_thread_is_searched_on_all():
    graph, allowed = generate("urand:16:2"), numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        bfs(graph, 0, engine="cpu")
    finally:
        numba.set_num_threads(allowed)
    assert len(resolve("cpu").traversal(graph).arrays.bins) >= allowed


@needs_two
def test_more_threads_are_asked_for_after_the_first_search():
    """Kernels have no buffers for them. Numba reads the variable again whenever it compiles."""
    run(
        """
import os
import numba, numpy as np
from rapids_bfs import as_graph, bfs
from rapids_bfs._core.threads import pool
ends = np.random.default_rng(0).integers(0, 1 << 16, (2, 1 << 19))
graph = as_graph((ends[0], ends[1]))
expected, most = bfs(graph, 1, engine="cpu", trace=True).distances, pool.most
os.environ["NUMBA_NUM_THREADS"] = "64"
numba.njit(lambda: 0)()
assert numba.config.NUMBA_NUM_THREADS == 64 > pool.most == most
for _ in range(100):
    assert (bfs(graph, 1, engine="cpu").distances == expected).all()
assert len(pool._helpers) < most
"""
    )


def test_no_threads_are_asked_for_after_the_import():
    """One is there. The graph was empty, without a word."""
    run(
        """
import os
import numba, numpy as np
from rapids_bfs import as_graph, bfs
os.environ["NUMBA_NUM_THREADS"] = "0"
numba.njit(lambda: 0)()
ends = np.random.default_rng(0).integers(0, 1 << 14, (2, 1 << 17))
graph = as_graph((ends[0], ends[1]))
assert graph.num_vertices == 1 << 14
found, expected = (bfs(graph, 1, engine=engine).distances for engine in ("cpu", "cpu:sequential"))
assert (found == expected).all()
"""
    )


MANY = """
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from rapids_bfs import bfs, bfs_batch, validate
from rapids_bfs.generators import generate
for spec in ("urand:18:2", "rmat:18:2"):
    graph = generate(spec)
    shape = graph.num_vertices, graph.num_vertices
    matrix = csr_array((np.ones(graph.num_arcs), graph.targets, graph.offsets), shape)
    at_once = bfs_batch(graph, range(64, 128), engine="cpu").distances
    for source in (77, 64):
        result = bfs(graph, source, engine="cpu", trace=True)
        expected = dijkstra(matrix, indices=source, unweighted=True)
        np.testing.assert_array_equal(result.distances, np.where(np.isinf(expected), -1, expected))
        np.testing.assert_array_equal(at_once[source - 64], result.distances)
        assert validate(graph, result)
    print(sum(level.direction == "bottom-up" for level in result.trace))
"""


def test_eight_threads():
    """They go bottom-up in the levels in which two do."""
    levels = {count: [int(each) for each in run(MANY, NUMBA_NUM_THREADS=count).stdout.split()] for count in "28"}
    assert levels["8"] == levels["2"]
    assert all(levels["8"])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that signals")
def test_a_signal_handler_needs_helpers_while_they_start():
    run(
        """
import signal
from rapids_bfs._core.threads import pool
teams = []
signal.signal(signal.SIGALRM, lambda *_: teams.append(pool.team()))
signal.setitimer(signal.ITIMER_REAL, 0.0005)
while not teams:
    pool.team()
assert teams[0][0] is pool.team()[0]
""",
        NUMBA_NUM_THREADS="4",
    )


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that signals")
def test_a_signal_handler_searches_the_graph_that_is_being_searched():
    """It overwrote the answer, without a word."""
    found = run(
        """
import signal, time
from rapids_bfs import InputError, bfs, bfs_batch, betweenness, shortest_paths
from rapids_bfs.generators import generate
graph = generate("rmat:10")
searches = [
    lambda source: bfs(graph, source, engine="cpu").distances,
    lambda source: bfs(graph, source, engine="cpu:sequential").distances,
    lambda source: bfs_batch(graph, range(source, source + 70), engine="cpu").distances,
    lambda source: betweenness(graph, [source], engine="cpu"),
    lambda source: shortest_paths(graph, [source] * 40, range(40, 80)).lengths,
]
def handle(*_):
    try:
        assert (search(2) == expected[1]).all()
        others.append(None)
    except InputError as error:
        others.append(str(error))
signal.signal(signal.SIGALRM, handle)
for search in searches:
    for _ in range(20):
        expected = search(1), search(2)
    others, end = [], time.monotonic() + 500
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0017)
    while len(others) < 100 or not any(others):
        assert (search(1) == expected[0]).all()
        assert time.monotonic() < end
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(*{other for other in others if other})
"""
    ).stdout.splitlines()
    assert len(found) == 5
    assert all("already: let signal handlers and finalizers search a copy" in line for line in found)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that signals")
def test_a_signal_handler_calls_a_distributed_graph_while_one_is_called():
    """It waited for the call that it interrupted, forever."""
    run(
        """
import signal, time
from rapids_bfs import InputError, bfs, load
calls, refusals = 0, set()
def handle(*_):
    global calls
    calls += 1
    for graph in graphs:
        try:
            assert bfs(graph, 2).depth == expected
        except InputError as error:
            refusals.add(str(error))
graphs = [load("rmat:10", devices="cpu:2"), load("rmat:10", devices="cpu:2")]
expected = bfs(graphs[0], 2).depth
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.03)
end = time.monotonic() + 500
while calls < 50 or not refusals:
    bfs(graphs[0], 1)
    assert time.monotonic() < end
signal.setitimer(signal.ITIMER_REAL, 0)
(refusal,) = refusals
assert "already: signal handlers and finalizers cannot call one meanwhile" in refusal
"""
    )


def test_a_process_ends_although_many_helpers_are_at_work():
    """Time passes here while it waits for a helper, and only then."""
    run(
        """
from rapids_bfs._core import threads
waits = []
class Inside:
    def acquire(self, timeout):
        waits.append(timeout)
threads.monotonic = lambda: sum(waits)
threads.pool._helpers = [Inside() for _ in range(100)]
threads.pool._end()
assert len(waits) == 100 and sum(waits) <= threads.PARTING
"""
    )


def test_green_threads():
    """As gevent's, they run on the thread that starts them; a helper there would never let it go on."""
    run(
        """
import _thread
_thread.start_new_thread = lambda function, arguments: function(*arguments)
from rapids_bfs import bfs
from rapids_bfs.generators import generate
graph = generate("urand:14")
found, expected = bfs(graph, 1, engine="cpu", trace=True), bfs(graph, 1, engine="cpu:sequential")
assert (found.distances == expected.distances).all()
""",
        NUMBA_NUM_THREADS="4",
    )


SEARCHES = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
import answers, networkx as nx
from rapids_bfs import bfs
from rapids_bfs.generators import generate
graphs = [generate("urand:17:2"), generate("rmat:12"), generate("grid:60").replace(directed=True)]
def depths(graph):
    return [bfs(graph, source, engine="cpu").depth for source in range(1, 5)]
expected, everything = [depths(graph.replace()) for graph in graphs], answers.of_everything()
with ThreadPoolExecutor(8) as threads:
    assert list(threads.map(depths, 8 * graphs)) == 8 * expected
    assert all(answers.same(each, everything) for each in threads.map(lambda _: answers.of_everything(), range(3)))
async def all_at_once():
    return await asyncio.gather(*(asyncio.to_thread(depths, graph) for graph in 4 * graphs))
assert asyncio.run(all_at_once()) == 4 * expected
"""


@pytest.mark.parametrize("layer", LAYERS)
def test_searches_at_once(layer):
    run(SEARCHES, **LAYERS[layer])


def test_searches_at_once_without_openmp():
    run(WITHOUT_OPENMP + SEARCHES)


def test_a_networkx_function_and_a_search_of_its_graph_at_once():
    """The first holds back threads, the second the graph's buffers, and each wants the other's."""
    run(
        """
from concurrent.futures import ThreadPoolExecutor
import networkx as nx
import rapids_bfs.nx
from rapids_bfs import bfs
from rapids_bfs.nx.conversions import as_it_is_now
from rapids_bfs.nx.search import unordered_bfs
converted = as_it_is_now(rapids_bfs.nx.convert_from_nx(nx.gnm_random_graph(3000, 60000, seed=0)))
def ours():
    return unordered_bfs(converted, 0).distances.max()
def theirs():
    return bfs(converted.forward, 0, engine="cpu").depth
searches = [ours, theirs]
expected = [search() for search in searches]
with ThreadPoolExecutor(4) as threads:
    assert list(threads.map(lambda search: search(), 500 * searches)) == 500 * expected
"""
    )


def test_the_first_threads_find_the_same_engines():
    run(
        """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from rapids_bfs.engines import resolve, registered
together = Barrier(8)
def first(_):
    together.wait()
    return id(registered()), id(resolve("cpu").engine)
with ThreadPoolExecutor(8) as threads:
    assert len(set(threads.map(first, range(8)))) == 1
"""
    )


SUBINTERPRETER = """
import sys

try:
    import _interpreters as interpreters

    made = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters

    made = interpreters.create(isolated=False)
interpreters.run_string(made, f'''
import sys
sys.path[:] = {sys.path!r}
import rapids_bfs
try:
    rapids_bfs.bfs("karate", 0, trace=True)
except rapids_bfs.InputError as error:
    print(error, flush=True)
''')
"""


def test_a_subinterpreter():
    """One line, of NumPy where that refuses to be imported there, of Numba in a search that NumPy cannot do."""
    assert run(SUBINTERPRETER).stdout.count("\n") == 1
