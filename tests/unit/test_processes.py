"""Forked children answer, whatever the threads of their parent were doing at the fork."""

import importlib.util
import os
import sys

import pytest
from programs import LAYERS, WITHOUT_OPENMP, run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

BEGIN = """
import os, sys, threading, time
import answers
from answers import in_child, same
from rapids_bfs import bfs
from rapids_bfs.generators import generate
"""


@pytest.mark.parametrize("layer", LAYERS)
def test_every_answer_in_a_child(layer):
    run(
        BEGIN
        + """
expected = answers.of_everything()
assert same(in_child(answers.of_everything), expected)
assert same(in_child(lambda: in_child(answers.of_everything)), expected)
assert same(answers.of_everything(), expected)
""",
        **LAYERS[layer],
    )


def test_every_answer_without_openmp():
    run(
        WITHOUT_OPENMP
        + BEGIN
        + """
expected = answers.of_everything()
import numba
assert numba.threading_layer() == "workqueue"
assert same(in_child(answers.of_everything), expected)
"""
    )


def test_a_child_that_was_forked_before_any_search_has_threads():
    run(
        BEGIN
        + """
from rapids_bfs.kernels.cpu.compiled import threads_lost
def child():
    found = answers.of_searches(graph)
    return threads_lost(), found, in_child(lambda: (threads_lost(), answers.of_searches(graph)))
import numpy as np
from rapids_bfs import Graph
graph = Graph(np.arange(101, dtype=np.int32), np.roll(np.arange(100, dtype=np.int32), -1))
lost, found, (lost_below, found_below) = in_child(child)
assert not lost and lost_below
assert same(found, found_below) and same(found, answers.of_searches(graph))
"""
    )


def test_a_child_that_compiles_for_the_first_time():
    """A kernel that nothing was kept of; `test_every_answer_in_a_child` runs those of the package."""
    run(
        BEGIN
        + """
import numpy as np
from numba import prange
from rapids_bfs.kernels.cpu.compiled import parallel
@parallel
def add(x):
    for i in prange(len(x)):
        x[i] += i
def added():
    x = np.ones(1000, np.int64)
    add(x)
    return x
expected = np.arange(1, 1001)
assert (added() == expected).all() and (in_child(added) == expected).all()
"""
    )


POOL = """
graph = generate("urand:17:4")
def depth(source):
    return bfs(graph, source, engine="cpu").depth
expected = list(map(depth, range(1, 9)))
"""


@pytest.mark.parametrize("layer", LAYERS)
def test_pools_of_multiprocessing_and_of_futures(layer):
    run(
        BEGIN
        + POOL
        + """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    assert pool.map(depth, range(1, 9)) == expected
with ProcessPoolExecutor(2, mp_context=context) as pool:
    assert list(pool.map(depth, range(1, 9))) == expected
""",
        **LAYERS[layer],
    )


@pytest.mark.skipif(importlib.util.find_spec("joblib") is None, reason="joblib is not installed")
def test_joblib():
    run(
        BEGIN
        + POOL
        + """
import multiprocessing
from joblib import Parallel, delayed
multiprocessing.set_start_method("fork", force=True)
assert Parallel(2, backend="multiprocessing")(delayed(depth)(source) for source in range(1, 9)) == expected
"""
    )


@pytest.mark.parametrize("layer", LAYERS)
def test_forks_while_other_threads_are_inside(layer):
    """Two threads, so that one of them is nearly always inside a kernel, and the other waits for its turn."""
    run(
        BEGIN
        + """
graphs = generate("urand:17:4"), generate("grid:70")
def answer():
    return [bfs(graph, 1, engine="cpu").depth for graph in graphs]
expected = answer()
from rapids_bfs import bfs_batch, betweenness
going_on = True
def search():
    while going_on:
        assert answer() == expected
        bfs_batch(graphs[0], range(70), engine="cpu")
        graphs[1].replace(directed=True).reverse
threads = [threading.Thread(target=search) for _ in range(2)]
for thread in threads:
    thread.start()
try:
    time.sleep(0.3)
    assert all(in_child(answer) == expected for _ in range(25))
finally:
    going_on = False
    for thread in threads:
        thread.join()
""",
        **LAYERS[layer],
    )


def test_a_fork_while_another_thread_is_inside_of_each_search():
    """`test_forks_while_other_threads_are_inside` forks at any moment; here all locks of searches are taken."""
    run(
        BEGIN
        + """
import signal
from contextlib import ExitStack
from rapids_bfs import betweenness, bfs_batch
graph = generate("rmat:10")
def answer():
    batch, central = bfs_batch(graph, range(9), engine="cpu"), betweenness(graph, [1], engine="cpu")
    return [bfs(graph, 1, engine="cpu").depth, batch.distances.tolist(), central.tolist()]
expected = answer()
locks = [traversal.lock for traversal in graph.traversals.values()]
assert len(locks) == 3
taken, forked = threading.Event(), threading.Event()
def hold():
    with ExitStack() as held:
        for lock in locks:
            held.enter_context(lock)
        taken.set()
        forked.wait()
thread = threading.Thread(target=hold)
thread.start()
taken.wait()
try:
    assert in_child(lambda: signal.alarm(60) or answer()) == expected  # it ends a child that waits forever
finally:
    forked.set()
    thread.join()
"""
    )


def test_forks_while_another_thread_compiles(tmp_path):
    run(
        BEGIN
        + """
import numba
from rapids_bfs.kernels.cpu.compiled import serial
@serial
def double(x):
    return 2 * x
def compiling():
    while going_on:
        numba.njit(lambda x: x + 1)(1)
double(1)
going_on = True
thread = threading.Thread(target=compiling)
thread.start()
try:
    assert all(in_child(lambda: double(1.5)) == 3 for _ in range(8))
finally:
    going_on = False
    thread.join()
""",
        NUMBA_CACHE_DIR=str(tmp_path),
    )


def test_a_fork_inside_of_a_batch_goes_on_in_both():
    run(
        BEGIN
        + """
from rapids_bfs import bfs_batch
graph = generate("rmat:12")
expected = bfs_batch(graph, range(200), engine="cpu").distances
children = []
def seen(rows, distances):
    if rows.start == 64:
        children.append(os.fork())
    assert (distances == expected[rows]).all()
bfs_batch(graph, range(200), engine="cpu", on_batch=seen, batch_size=64)
assert (bfs_batch(graph, range(200), engine="cpu").distances == expected).all()
if children == [0]:
    os._exit(0)
assert os.waitpid(children[0], 0)[1] == 0
"""
    )


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cached properties have no locks from Python 3.12 on")
def test_a_fork_while_another_thread_forks_finds_all_locks_of_cached_properties_or_none():
    """None if that thread is looking for them: then the child looks itself. Of some, it did not."""
    run(
        BEGIN
        + """
from functools import cached_property
from rapids_bfs._core import forks
there = set()
class Noting(type):
    def __instancecheck__(cls, attribute):
        there.add(len(forks._cached_properties))
        return type(attribute) is cached_property
forks.cached_property = Noting("Noting", (), {})
forks._find_cached_properties()
assert there == {0} and len(forks._cached_properties) > 1
"""
    )


def test_cuda_is_given_up_in_the_child_of_a_process_that_used_it():
    """The driver's `cuInit` fails in the child of a process that has called it: measured on an H100, CUDA 13.0."""
    run(
        BEGIN
        + """
import ctypes
from types import SimpleNamespace
from rapids_bfs._core.cuda import arrays as device, driver
from rapids_bfs.engines import resolve, registered
from rapids_bfs.engines.gpu import numba_cuda
used_by = set()
def cuInit(flags):
    failed = 3 if used_by - {os.getpid()} else 0
    used_by.add(os.getpid())
    return failed
def count(found):
    found._obj.value = 1
    return 0
names = {"cuInit": cuInit, "cuDeviceGetCount": count, "cuDriverGetVersion": lambda found: 0}
driver.library = lambda: SimpleNamespace(**names, cuDeviceGetName=lambda *given: 0, cuDeviceGet=lambda *given: 0)
registered()["cupy"].unavailable = lambda: driver.no_device()
assert in_child(driver.no_device) is None
assert resolve("auto").name == "cupy"
def child():
    return [device.cupy_missing(), numba_cuda.numba_cuda_missing(), resolve("auto").name, bfs("karate", 1).depth]
assert driver.no_device() is None
device.cupy_missing(), numba_cuda.numba_cuda_missing()
no_cupy, no_numba_cuda, auto, depth = in_child(child)
assert "spawn" in no_cupy and "spawn" in no_numba_cuda and (auto, depth) == ("cpu", 3)
assert resolve("auto").name == "cupy"
"""
    )


def test_a_child_copies_little_memory():
    """Looking at every module in each child took it four times as long as to begin."""
    run(
        """
import os
import networkx, pandas, rapids_bfs
rapids_bfs.bfs("karate", 1, engine="cpu")
child = os.fork()
if not child:
    os._exit(0)
used = os.wait4(child, 0)[2]
assert used.ru_minflt < 1200, used
"""
    )


def test_start_methods_that_copy_nothing():
    run(
        BEGIN
        + """
import multiprocessing
import rapids_bfs
bfs("karate", 1, engine="cpu")
for method in ("spawn", "forkserver"):
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(rapids_bfs.bfs, ("karate", 1), {"engine": "cpu"}).depth == 3
"""
    )
