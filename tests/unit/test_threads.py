"""How many of Numba's threads a kernel gets, and Python's threads that search at once."""

import os
import signal
import threading

import numba
import pytest
from programs import LAYERS, WITHOUT_OPENMP, run

from rapids_bfs import bfs
from rapids_bfs._core import threads
from rapids_bfs._core.threads import pool
from rapids_bfs.engines import resolve
from rapids_bfs.generators import generate
from rapids_bfs.kernels.threads import STACK, start_thread
from rapids_bfs.kernels.threads import _code as code_of

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
        seconds=60,
    )


@pytest.mark.parametrize("size", [0, 1 << 17])
def test_a_signal_handler_starts_threads_while_they_start(size):
    """Their lock was held by the main thread, which waited for another that needed it."""
    run(
        f"""
import threading
threading.stack_size({size})
from interrupts import at_line
from rapids_bfs.kernels.threads import start_thread, uninterrupted
def start():
    assert uninterrupted(uninterrupted, int, "7") == 7
lines = at_line(0, start)
assert lines > 10
for line in range(1, lines + 1):
    at_line(line, start, lambda: uninterrupted(start_thread, int))
assert threading.stack_size() == {size}
""",
        seconds=60,
    )


def test_an_interrupt_of_a_module_that_searches_leaves_all_of_numba(tmp_path):
    """In the thread that was interrupted half of it stayed, and no later search worked."""
    search = "import rapids_bfs; found = rapids_bfs.bfs(rapids_bfs.load('path:70000'), 0).num_reached"
    (tmp_path / "searches.py").write_text(search)
    run(
        f"""
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "numba.core.types":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
sys.path.insert(0, {str(tmp_path)!r})
try:
    import searches
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("not interrupted")
{search}
assert found == 70_000
""",
        seconds=120,
    )


def test_a_signal_handler_imports_what_is_being_imported(tmp_path):
    """Another thread waited for the import by the main thread, which waited for that thread."""
    (tmp_path / "half.py").write_text("import signal; signal.raise_signal(signal.SIGTERM)\nwhole = True")
    run(
        f"""
import signal, sys
from rapids_bfs.kernels.threads import imported
errors = []
def handle(*_):
    try:
        imported("half")
    except ImportError as error:
        errors.append(str(error))
signal.signal(signal.SIGTERM, handle)
sys.path.insert(0, {str(tmp_path)!r})
import half
assert errors == ["half is being imported: search when it has been"]
assert imported("half").whole
""",
        seconds=20,
    )


def test_an_import_system_with_other_functions():
    """They are not public, and a later Python may have others: then no wait is seen, and nothing else changes."""
    assert code_of("_ModuleLock.no_such_function") is code_of("no_such_class.acquire") is None
    run(
        """
from rapids_bfs.kernels import threads
threads._IMPORTS = threads._WAITS = threads._code("no_such_function")
assert threads.imported("json").loads("[1]") == [1]
""",
        seconds=20,
    )


def test_an_interrupt_in_a_module_that_is_being_imported_leaves_no_half_module(tmp_path):
    """The main thread imported, and the interrupt left half of the package for the rest of the process."""
    (tmp_path / "mine.py").write_text("from rapids_bfs.kernels.threads import imported; imported('slow')")
    (tmp_path / "slow.py").write_text(
        "import signal, time; signal.raise_signal(signal.SIGTERM); time.sleep(0.5)\ndone = 1"
    )
    run(
        f"""
import signal, sys
from rapids_bfs.kernels.threads import imported
def stop(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGTERM, stop)
sys.path.insert(0, {str(tmp_path)!r})
try:
    import mine
except KeyboardInterrupt:
    interrupted = True
first = sys.modules["slow"]
assert interrupted and imported("slow") is first and first.done
""",
        seconds=20,
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
    others, end = [], time.monotonic() + 60
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
end = time.monotonic() + 60
while calls < 50 or not refusals:
    bfs(graphs[0], 1)
    assert time.monotonic() < end
signal.setitimer(signal.ITIMER_REAL, 0)
(refusal,) = refusals
assert "already: signal handlers and finalizers cannot call one meanwhile" in refusal
""",
        seconds=120,
    )


def test_a_process_ends_although_many_helpers_are_at_work():
    run(
        """
import threading, time
from rapids_bfs._core.threads import pool
pool._helpers = [threading.Lock() for _ in range(100)]
for inside in pool._helpers:
    inside.acquire()
began = time.monotonic()
pool._end()
assert time.monotonic() < began + 5
"""
    )


def test_threads_are_told_to_have_small_stacks():
    """The import of Numba alone needs more."""
    run(
        """
import threading
threading.stack_size(1 << 15)
from rapids_bfs import bfs, bfs_batch, load
from rapids_bfs.generators import generate
on_ranks = bfs(load("urand:14", devices="cpu:3"), 1).to("cpu").distances
graph = generate("urand:14")
found = bfs(graph, 1, engine="cpu", trace=True).distances
assert (found == on_ranks).all()
assert (bfs_batch(graph, [1], engine="cpu").distances[0] == found).all()
assert threading.stack_size() == 1 << 15
""",
        NUMBA_NUM_THREADS="4",
    )


def test_threads_that_start_others_at_once_give_each_a_large_stack():
    """The size of stacks is one for all threads: one told it back while another was about to start its own."""
    found = run(
        """
import sys, threading, time
from rapids_bfs.kernels import threads
sys.setswitchinterval(1e-5)
sizes, together, start = set(), threading.Barrier(4), threads.start_new_thread
def start_noted(*arguments):
    time.sleep(1e-5)
    sizes.add(threads._size_of_stacks())
    start(*arguments)
threads.start_new_thread = start_noted
def start_many():
    together.wait()
    for _ in range(200):
        threads.start_thread(int)
at_once = [threading.Thread(target=start_many) for _ in range(4)]
threading.stack_size(1 << 17)
for thread in at_once:
    thread.start()
for thread in at_once:
    thread.join()
print(sizes == {threads.STACK}, threading.stack_size() == 1 << 17)
"""
    )
    assert found.stdout.split() == ["True", "True"]


@pytest.mark.parametrize("size", [0, 1 << 17, STACK, 8 * STACK])
def test_the_size_of_stacks_is_told_back(size):
    """A larger one, for deep recursion, was forgotten."""
    before = threading.stack_size(size)
    try:
        start_thread(int)
        assert threading.stack_size() == size
    finally:
        threading.stack_size(before)


def test_an_interrupt_as_a_large_stack_is_told(monkeypatch):
    """A signal may be handled as the call that tells the size returns."""
    tell, told = threading.stack_size, threading.stack_size(1 << 17)

    def tell_and_stop(size=None):
        if size != STACK:
            return tell() if size is None else tell(size)
        tell(size)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading, "stack_size", tell_and_stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            start_thread(int)
        assert tell() == 1 << 17
    finally:
        tell(told)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_while_another_thread_starts_one():
    run(
        """
import os, threading
from rapids_bfs.kernels import threads
begun, go_on = threading.Event(), threading.Event()
def hold():
    with threads._stacks:
        begun.set()
        go_on.wait()
threading.Thread(target=hold).start()
begun.wait()
threading.stack_size(1 << 17)
child = os.fork()
if not child:
    threads.start_thread(int)
    os._exit(0)
go_on.set()
assert os.waitpid(child, 0)[1] == 0
""",
        seconds=60,
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
        seconds=60,
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
    assert run(SUBINTERPRETER, seconds=120).stdout.count("\n") == 1
