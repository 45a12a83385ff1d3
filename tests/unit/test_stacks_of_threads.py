"""Threads are started with large stacks; the size that other threads of Python are told to have stays as it was."""

import os
import threading

import pytest
from programs import run

from rapids_bfs.kernels.threads import STACK, start_thread


def test_a_signal_handler_starts_threads_while_they_start():
    """Their lock was held by the main thread, which waited for another that needed it."""
    run(
        """
from interrupts import at_line
from rapids_bfs.kernels.threads import start_thread, uninterrupted
def start():
    assert uninterrupted(uninterrupted, int, "7") == 7
lines = at_line(0, start)
assert lines > 10
for line in range(1, lines + 1):
    at_line(line, start, lambda: uninterrupted(start_thread, int))
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

    def tell_and_stop(size):
        tell(size)
        if size == STACK:
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
"""
    )
