"""Distributed graphs whose ranks fail, hang or are interrupted: one error that names the rank, and no hang.

Each program runs in a process of its own, which is killed if it hangs.
"""

import subprocess
import sys
import textwrap

import pytest

from rapids_bfs.distributed.communicators import Rendezvous

PATIENCE = 600  # seconds
PREAMBLE = """
import os, signal, sys, threading, time
import numpy as np
import rapids_bfs
from rapids_bfs import InputError, TraversalError, bfs, load
from rapids_bfs.distributed import cpu
from rapids_bfs.distributed import launchers as launch
from rapids_bfs.distributed.graph import from_graph

graph = from_graph(load("path:60"), launch.Threads(["cpu"] * 3, timeout=600.0))
sound = bfs(graph, 0)
real = cpu.HostSearch.top_down
troubled = True

def at_level(wanted, rank, trouble):
    def top_down(search, level, edges, communicator):
        if troubled and level == wanted and communicator.rank == rank:
            trouble()
        real(search, level, edges, communicator)
    cpu.HostSearch.top_down = top_down

def silent_at_level(wanted, silent, go):
    there = threading.Event()
    def top_down(search, level, edges, communicator):
        if troubled and level == wanted:
            if communicator.rank == silent:
                there.set()
                go.wait()
            else:
                there.wait()
                communicator.rendezvous.timeout = 1.0  # from this level on
        real(search, level, edges, communicator)
    cpu.HostSearch.top_down = top_down

def said_by_bfs():
    try:
        bfs(graph, 0)
    except TraversalError as error:
        return str(error)
"""


def run(program):
    text = PREAMBLE + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("RuntimeError('it broke')", "partition 1 of 3 (cpu) failed: it broke"),
        ("MemoryError()", "partition 1 of 3 (cpu) failed: MemoryError: it does not fit: use more devices"),
        ("SystemExit(3)", "partition 1 of 3 (cpu) failed: 3"),
    ],
)
def test_a_rank_that_fails(error, says):
    program = f"""
        def trouble():
            raise {error}
        at_level(5, 1, trouble)
        print(said_by_bfs())
        troubled = False
        assert (bfs(graph, 0).to("cpu").distances == sound.to("cpu").distances).all()
        """
    assert says in run(program)


def test_a_rank_that_does_not_answer():
    """It is named, once the others have waited as long as they may; until it ends, the graph refuses to be searched."""
    program = """
        launch.GRACE = 0.1
        graph = from_graph(load("path:60"), launch.Threads(["cpu"] * 2, timeout=600.0))
        go = threading.Event()
        silent_at_level(5, 1, go)
        print(said_by_bfs())
        print(said_by_bfs())
        other = from_graph(load("path:60"), launch.Threads(["cpu"]))
        assert bfs(other, 0).depth == 59
        launch.GRACE = 600
        troubled = False
        go.set()
        assert (bfs(graph, 0).to("cpu").distances == sound.to("cpu").distances).all()
        """
    first, second = run(program).splitlines()
    assert first.startswith("no answer for 1 s from partition 1 (cpu): all were stopped")
    assert second == "partition 1 (cpu) has not ended after an earlier failure: wait, or make the graph again"


def test_a_rank_that_comes_as_the_time_is_over_is_not_late():
    """An error named nobody. It takes a machine that is too busy to tell a rank of the time before the others come."""
    rendezvous, found = Rendezvous(["first", "second"], 600.0), []

    def wait(seconds):
        rendezvous._lock.release()
        found.append(rendezvous.exchange(1, "b"))
        return rendezvous._lock.acquire() and False

    rendezvous._changed.wait = wait
    assert [rendezvous.exchange(0, "a"), *found] == [["a", "b"]] * 2


def test_interrupted():
    """Ctrl-C ends the search though a rank is slow, and the next search is right."""
    program = """
        entered, pressed = threading.Event(), threading.Event()
        def trouble():
            entered.set()
            pressed.wait()
            time.sleep(0.2)
        at_level(5, 1, trouble)
        def press():
            entered.wait()
            os.kill(os.getpid(), signal.SIGINT)
            pressed.set()
        threading.Thread(target=press).start()
        try:
            bfs(graph, 0)
        except KeyboardInterrupt:
            print("interrupted")
        troubled = False
        assert (bfs(graph, 0).to("cpu").distances == sound.to("cpu").distances).all()
        """
    assert run(program) == "interrupted\n"


def test_a_thread_that_begins_after_an_interrupt_leaves_its_part_alone():
    program = """
        go, ended, used = threading.Event(), threading.Event(), []
        start = launch.start_thread
        def start_late(work, communicator):
            start(lambda: (go.wait(), work(communicator), ended.set()))
            raise KeyboardInterrupt
        launch.start_thread = start_late
        try:
            bfs(graph, 0)
        except KeyboardInterrupt:
            launch.start_thread = start
        assert (bfs(graph, 0).to("cpu").distances == sound.to("cpu").distances).all()
        cpu.HostSearch.begin = lambda *_: used.append(True)
        go.set()
        assert ended.wait(600) and not used
        """
    run(program)


def test_a_forked_child_searches_though_its_parent_was_searching():
    program = """
        entered, go = threading.Event(), threading.Event()
        def trouble():
            entered.set()
            go.wait()
        at_level(5, 1, trouble)
        searching = threading.Thread(target=bfs, args=(graph, 0))
        searching.start()
        entered.wait()
        child = os.fork()
        if child == 0:
            troubled = False
            os._exit(0 if bfs(graph, 0).depth == 59 else 1)
        assert os.waitpid(child, 0)[1] == 0
        go.set()
        searching.join()
        """
    run(program)


def test_a_forked_child_searches_though_a_rank_of_its_parent_has_not_ended():
    program = """
        launch.GRACE = 0.1
        go = threading.Event()
        silent_at_level(5, 2, go)
        said_by_bfs()
        child = os.fork()
        if child == 0:
            troubled = False
            os._exit(0 if bfs(graph, 0).depth == 59 else 1)
        assert os.waitpid(child, 0)[1] == 0
        """
    run(program)


def test_many_threads_search_at_the_same_time():
    program = """
        found = []
        threads = [threading.Thread(target=lambda source=source: found.append((source, bfs(graph, source).depth)))
                   for source in range(0, 60, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [(source, max(source, 59 - source)) for source in range(0, 60, 7)]
        """
    run(program)


def test_a_graph_that_cannot_fit_is_refused_before_it_is_drawn():
    program = """
        try:
            load("rmat:40", devices="cpu:3")
        except InputError as error:
            print(error)
        """
    assert run(program).startswith("rmat:40:16 distributed over 3 devices needs 272 TiB of memory, and ")
