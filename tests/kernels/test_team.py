"""The team that helps the CPU's kernels: each job is done once, and nobody waits for helpers that do not come.

What could wait for ever runs in a process of its own.
"""

import os

import pytest
from programs import LAYERS, run

TEAM = """
import threading, time
import numpy as np
from rapids_bfs.kernels.cpu.atomics import fetch_add, load, store
from rapids_bfs.kernels.cpu.clock import ticks
from rapids_bfs.kernels.cpu.compiled import serial
from team_jobs import done, module, start
def until(condition):
    while not condition():  # `run` ends a process that waits for ever
        time.sleep(0.001)
"""


def test_every_tile_is_taken_once_however_many_come():
    run(
        TEAM
        + """
team = start(5)
for threads in 1, 2, 6, 3, 6, 2:
    done(team, threads)
    assert team[module.STATE] % module.JOB == 0
module.close(team)
for thread in threading.enumerate()[1:]:
    thread.join(600)
    assert not thread.is_alive()
done(team, 6)
""",
    )


def test_nobody_waits_for_helpers_that_do_not_come():
    """On Numba's threads this would never end."""
    run(TEAM + "assert done(module.new(7), 8).tolist() == [300 * 50, 0, 0, 0, 0, 0, 0, 0]")


def test_helpers_come():
    """The caller takes no tile until a helper has taken one, asleep as it was."""
    run(
        TEAM
        + """
@module.shared
def wait(arguments, thread):
    if thread:
        return fetch_add(arguments, 0, 1) + 1
    while not load(arguments, 0):
        pass
    return 0
@serial
def both(team, came):
    return wait(team, 2, came)
team = start(1)
for pause in 0, 0.01, 0:
    time.sleep(pause)
    team[module.RESTED] = 0  # where a busy machine has kept a helper from leaving, the team rests
    assert both(team, np.zeros(1, np.int64)) == 1
""",
    )


def test_a_job_for_those_that_are_awake_wakes_nobody():
    """A summons does, and how many are ready is how many will come."""
    run(
        TEAM
        + """
LANES = [1 * module.LANE, 2 * module.LANE, 3 * module.LANE]
def asleep():
    return [int(team[lane + module.ASLEEP]) for lane in LANES]
team = module.new(3)  # its helpers sleep for good: one that has just said so would still look for a job
team[module.LANE + module.ASLEEP :: module.LANE] = 1
team[module.WANTED] = 3
assert done(team, -4, rounds=3).tolist() == [150, 0, 0, 0]
assert asleep() == [1, 1, 1]
assert team[module.WANTED] == 3  # those summoned before still wake others
team = start(3)
for _ in range(20):
    until(lambda: asleep() == [1, 1, 1] and not team[module.AWAKE])
    assert module.ready(team, 4) == 1
    while (threads := module.ready(team, 4)) == 1:
        module.summon(team, 3)
    assert 2 <= threads <= 4
    assert module.ready(team, 2) <= 2
    assert asleep()[2] == 1  # not summoned
team[module.RESTED] = 1 << 62
while not team[module.AWAKE]:
    module.summon(team, 4)
assert module.ready(team, 4) == 1
module.close(team)
until(lambda: not team[module.AWAKE])
from rapids_bfs._core.threads import pool
team, _ = pool.team()
until(lambda: not team[module.AWAKE])  # nobody for ever
""",
        NUMBA_NUM_THREADS="4",
    )


def test_nobody_beyond_the_team_is_woken():
    """A caller asks for more threads than the team has."""
    run(
        TEAM
        + """
several = module.new(8)
several[module.LANE + module.ASLEEP :: module.LANE] = 1
team = several[: 2 * module.LANE]
threading.Thread(target=module.serve, args=(team, 1), daemon=True).start()
until(lambda: done(team, 9)[1])
assert several[2 * module.LANE + module.ASLEEP :: module.LANE].all()
""",
    )


DAWDLE = """
BEGAN, CAME, LEFT = 0, 1, 2
@module.shared
def dawdle(arguments, thread):
    team, times, longer = arguments
    if not thread:
        while not load(times, CAME):
            pass
        return 0
    store(times, CAME, 1)
    while load(team, module.STATE) & module.OPEN:
        pass
    times[LEFT] = ticks() + 3 * (ticks() - times[BEGAN]) + longer
    while ticks() < times[LEFT]:
        pass
    return 0
@serial
def begin(team, times, longer):
    times[BEGAN] = ticks()
    dawdle(team, 2, (team, times, longer))
    return ticks()
def left_and_ended(team, longer):
    times = np.zeros(3, np.int64)
    ended = begin(team, times, longer)
    return times[LEFT], ended
"""


def test_a_team_rests_after_a_wait_in_vain():
    """Once the caller is done, the helper stays three times as long as the job has lasted, and a little more."""
    run(
        TEAM
        + DAWDLE
        + """
team = start(1)
assert team[module.RESTED] == 0
left, _ = left_and_ended(team, 2 * module.LOSS)
assert left + module.REST * module.LOSS < team[module.RESTED]
team[module.RESTED] += 10**18
assert done(team, 2)[1] == 0
team[module.RESTED] = 0
while not done(team, 2)[1]:
    team[module.RESTED] = 0
""",
    )


def test_no_team_rests_for_long():
    """The helper loses its core for most of a second, as where the process is stopped."""
    run(
        TEAM
        + DAWDLE
        + """
team = start(1)
left, ended = left_and_ended(team, module.LONGEST_REST // 15)
assert left <= team[module.RESTED] - module.LONGEST_REST <= ended
""",
    )


@pytest.mark.parametrize("without", [0, 1])
def test_a_thread_without_memory(without):
    """The others have left before the exception does, and the next job is done."""
    run(
        TEAM
        + f"""
@module.shared
def fill(arguments, thread):
    if thread:
        store(arguments, 0, 1)
    while not load(arguments, 0):  # until both are inside
        pass
    if thread == {without}:
        return len(np.empty(1 << 60, np.int8))
    return 0
@serial
def filled(team, came):
    return fill(team, 2, came)
team, failed = start(1), 0
for _ in range(10):
    team[module.RESTED] = 0
    try:
        filled(team, np.zeros(1, np.int64))
    except MemoryError:
        failed += 1
    assert team[module.STATE] % module.JOB == 0
    done(team, 2, rounds=1)
assert failed == 10
""",
    )


def test_callers_at_once():
    run(
        TEAM
        + """
from concurrent.futures import ThreadPoolExecutor
team = start(2)
done(team, 3)
with ThreadPoolExecutor(4) as callers:
    list(callers.map(lambda threads: done(team, threads, rounds=2000), 4 * [1, 2, 3]))
assert team[module.STATE] % module.JOB == 0
""",
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forks_between_jobs_and_during_those_of_others():
    run(
        TEAM
        + """
from answers import in_child
from rapids_bfs._core.threads import pool
team, threads = pool.team()
done(team, threads)
assert in_child(lambda: done(team, threads).tolist())[0] == 300 * 50
going_on = True
def work():
    while going_on:
        done(*pool.team())
worker = threading.Thread(target=work)
worker.start()
try:
    for _ in range(20):
        assert sum(in_child(lambda: done(*pool.team()).tolist())) == 300 * 50
finally:
    going_on = False
    worker.join()
""",
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_interrupts_leave_nobody_inside():
    run(
        """
import os, signal, threading, time
import numpy as np
from rapids_bfs import bfs
from rapids_bfs.generators import generate
from rapids_bfs.kernels.cpu import team
from rapids_bfs._core.threads import pool
graph = generate("urand:17:4")
expected = bfs(graph, 1, engine="cpu").distances
going_on, searching, interrupts = True, False, 0
def strike(signum, frame):
    global searching, interrupts
    if searching:
        searching = False
        interrupts += 1
        raise KeyboardInterrupt
def interrupt():
    while going_on:
        time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, strike)
thread = threading.Thread(target=interrupt)
thread.start()
try:
    while interrupts < 300:
        try:
            searching = True
            while searching:  # an interrupt within a finalizer is lost
                bfs(graph, 1, engine="cpu")
        except KeyboardInterrupt:
            assert pool.team()[0][team.STATE] & team.INSIDE == 0
finally:
    going_on = False
    thread.join()
assert (bfs(graph, 1, engine="cpu").distances == expected).all()
""",
    )


@pytest.mark.parametrize("layer", LAYERS)
def test_searches_beside_a_users_own_parallel_code(layer):
    """``workqueue`` aborts a process that two threads enter it in; a search of a prepared graph does not."""
    run(
        """
import threading
import numba, numpy as np
from rapids_bfs import betweenness, bfs, bfs_batch
from rapids_bfs.generators import generate
@numba.njit(parallel=True, nogil=True)
def add(x):
    for i in numba.prange(len(x)):
        x[i] += 1
def answers():
    return [
        bfs(graph, 1, engine="cpu").distances,
        bfs_batch(graph, range(70), engine="cpu").distances,
        betweenness(graph, range(4), engine="cpu"),
    ]
graph, x = generate("rmat:13"), np.zeros(1 << 16)
expected = answers()
add(x)
going_on = True
def users():
    while going_on:
        add(x)
user = threading.Thread(target=users)
user.start()
try:
    for _ in range(20):
        assert all(np.array_equal(*pair) for pair in zip(answers(), expected))
finally:
    going_on = False
    user.join()
assert len(set(x)) == 1
""",
        **LAYERS[layer],
    )


def test_no_thread_can_be_started():
    run(
        """
import threading
from rapids_bfs import bfs
from rapids_bfs.generators import generate
graph = generate("urand:14")
def refuse(self):
    raise RuntimeError("can't start new thread")
start, threading.Thread.start = threading.Thread.start, refuse
found = bfs(graph, 1, engine="cpu")
threading.Thread.start = start
assert (found.distances == bfs(graph, 1, engine="cpu:sequential").distances).all()
""",
    )


def test_a_process_ends_while_it_searches():
    """Its helpers, and a search on another thread, are left behind."""
    run(
        """
import threading, time
from rapids_bfs import bfs
from rapids_bfs.generators import generate
graph = generate("urand:17:4")
bfs(graph, 1, engine="cpu")
def search():
    while True:
        bfs(graph, 1, engine="cpu")
threading.Thread(target=search, daemon=True).start()
time.sleep(0.1)
""",
    )
