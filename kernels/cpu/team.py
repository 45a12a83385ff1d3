"""A team: threads that help with the work of a kernel. The caller waits only for helpers that have begun.

A *job* is a function that takes tiles of work from a shared counter until none is left. `together` opens a job, does it
on the calling thread, and closes it. Helpers that are awake meanwhile enter it and take tiles too; those that come
later find it closed. So the caller waits only for the helpers that are inside, each at its last tile, and a helper that
has lost its core to another process costs nothing. Numba's threading layers give every thread a share and wait for all
of them: on a busy machine, that is for milliseconds.

An idle helper polls for the next job for some microseconds, then it sleeps. Callers and helpers sleep on locks of
Python's C API, which take no GIL and exist on every system. Waking a helper often costs more than a small job, so a
caller may `summon` helpers before, and open small jobs for those that are awake alone: it asks how many are `ready`. A
helper that wakes up on the caller's core would only keep it from its work, and leaves that core.

A team has one job at a time. A caller that finds it busy with the job of another Python thread does its own job alone;
so does a caller in the child of a fork, where the helpers are missing.

The team is an array of int64:

=========================  ==========================================================================================
``team[STATE]``            number of the job in units of `JOB`, with a bit that is set while it is `RESERVED`, `OPEN`,
                           or `WAITED_FOR` by a caller that sleeps, and how many helpers are inside
``team[SIZE]``             threads that may do the job, the caller among them; negative: only those that are awake
``team[WANTED]``           threads that are to be awake
``team[AWAKE]``            helpers that are awake
``team[CORE]``             the core of the last caller that woke others
``team[EXPECTED]``         until when idle helpers stay awake, as they have been summoned
``team[FUNCTION, DATA]``   addresses: the helpers' function, and its arguments, which live while the caller waits
``team[RESTED]``           when the team may next be asked
``team[DONE]``             the address of the lock that the caller sleeps on
``team[CLOSED]``           1: helpers return
``team[SUM]``              the sum of the values that helpers have returned
``team[CAME, FAILED]``     the number of helpers that have come, and of threads without memory
``team[LANE * thread]``    from the first helper's on: the address of the lock that it sleeps on, and whether it sleeps
=========================  ==========================================================================================
"""

import ctypes

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic

from .atomics import compare_and_swap, load, ordered_add, ordered_exchange, ordered_or, store
from .clock import TICKS_PER_MS, ticks
from .compiled import call_of_c, for_kernels, serial
from .cores import current_core, leave

LANE = 16  # int64 that share no cache line, nor the one fetched with it, with others
STATE, SIZE, FUNCTION, DATA, RESTED, DONE, CLOSED, SUM, CAME, FAILED = 0, 2, 3, 4, 5, 6, 7, 8, 9, 10
WANTED, AWAKE, CORE, EXPECTED = 11, 12, 13, 14
LOCK, ASLEEP = 0, 1  # in a helper's lane
INSIDE = (1 << 14) - 1
OPEN, WAITED_FOR, RESERVED, JOB = 1 << 14, 1 << 15, 1 << 16, 1 << 17
FAN = 4  # sleeping helpers that one thread wakes
PATIENCE = int(0.05 * TICKS_PER_MS)  # how long an idle thread polls before it sleeps,
SUMMONED = int(0.2 * TICKS_PER_MS)  # or from a summons on: a caller goes through levels of a search alone meanwhile

LOSS = int(0.02 * TICKS_PER_MS)  # the time that a caller may lose by waiting for helpers
REST = 20  # times the lost time, until the caller asks for help again,
LONGEST_REST = int(10_000 * TICKS_PER_MS)  # but no longer: a process that was stopped meanwhile has lost hours
NO_MEMORY = -(1 << 63)  # the value of a job that raises an exception

INT, LONG, POINTER = ir.IntType(32), ir.IntType(64), cgutils.voidptr_t
JOB_TYPE = ir.FunctionType(LONG, [POINTER, LONG])

_new_lock = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", ctypes.pythonapi))
_take = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(("PyThread_acquire_lock", ctypes.pythonapi))
_free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyThread_release_lock", ctypes.pythonapi))


def new(helpers):
    """A team with lanes for ``helpers`` threads, which have yet to come. Its locks are never freed."""
    team = np.zeros((helpers + 1) * LANE, np.int64)
    for place in (DONE, *range(LANE + LOCK, len(team), LANE)):
        team[place] = _new_lock() or 0
        if not team[place]:
            raise MemoryError("no lock can be allocated")
        _take(int(team[place]), True)
    return team


def close(team):
    """Let the helpers return, those that sleep as well."""
    team[CLOSED] = 1
    for lane in range(LANE, len(team), LANE):
        if team[lane + ASLEEP]:
            _free(int(team[lane + LOCK]))


@intrinsic
def _sleep_on(typing_context, lock):
    """Take the lock at this address, once somebody releases it."""

    def generate(context, builder, signature, args):
        call_of_c(builder, "PyThread_acquire_lock", INT, builder.inttoptr(args[0], POINTER), INT(1))
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def _release(typing_context, lock):
    """Release the lock at this address."""

    def generate(context, builder, signature, args):
        call_of_c(builder, "PyThread_release_lock", ir.VoidType(), builder.inttoptr(args[0], POINTER))
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def _call_job(typing_context, function, data, thread):
    """Call the function at this address."""

    def generate(context, builder, signature, args):
        function = builder.inttoptr(args[0], JOB_TYPE.as_pointer())
        return builder.call(function, [builder.inttoptr(args[1], POINTER), args[2]])

    return types.int64(types.int64, types.int64, types.int64), generate


@serial
def _do(team, thread):
    """Take part in the job that is open."""
    result = _call_job(team[FUNCTION], team[DATA], thread)
    if result == NO_MEMORY:
        ordered_add(team, FAILED, 1)
    else:
        ordered_add(team, SUM, result)


@serial
def _wake(team, first, size):
    """Wake the helpers from ``first`` on that sleep, `FAN` of them, but none beyond ``size`` threads."""
    for helper in range(first, min(first + FAN, size, len(team) // LANE)):
        lane = helper * LANE
        if load(team, lane + ASLEEP) and ordered_exchange(team, lane + ASLEEP, 0):
            _release(team[lane + LOCK])


@serial
def summon(team, threads):
    """`_wake_all` for jobs that come soon, and keep the helpers awake until then."""
    team[EXPECTED] = ticks() + SUMMONED
    _wake_all(team, threads)


@serial
def _wake_all(team, threads):
    """Wake as many helpers as there must be for ``threads`` threads, the caller included; helpers wake others."""
    team[CORE] = current_core()
    team[WANTED] = threads
    _wake(team, 1, threads)


@serial
def ready(team, threads):
    """How many threads, ``threads`` at most, would begin a job at once."""
    awake = load(team, AWAKE)
    if awake == 0 or load(team, STATE) % JOB or ticks() < team[RESTED]:
        return 1
    return min(threads, awake + 1)


@serial
def _wait_for_helpers(team, began):
    """Close the job that began at ``began``, and wait until no helper is inside.

    Alone, the caller would have taken longer by the number of helpers. If it lost time by waiting, the team rests.
    """
    done = ticks()
    ordered_add(team, STATE, -OPEN)
    while load(team, STATE) & INSIDE:
        if ticks() - done > PATIENCE:
            if ordered_or(team, STATE, WAITED_FOR) & INSIDE:
                _sleep_on(team[DONE])
            break
    now = ticks()
    lost = (now - done) - load(team, CAME) * (done - began)
    if lost > LOSS:
        team[RESTED] = now + min(REST * lost, LONGEST_REST)


@serial
def _together(team, threads, function, data):
    """Share a job, given as addresses, with the team; return the sum of its results."""
    began = ticks()
    state = load(team, STATE)
    reserved = state + JOB + RESERVED
    if -2 < threads < 2 or state % JOB or began < team[RESTED] or not compare_and_swap(team, STATE, state, reserved):
        result = _call_job(function, data, 0)
        failed = result == NO_MEMORY
    else:
        team[SIZE] = threads
        team[FUNCTION], team[DATA] = function, data
        team[SUM] = team[CAME] = team[FAILED] = 0
        store(team, STATE, reserved + OPEN)
        if threads > 0:
            _wake_all(team, threads)
        _do(team, 0)
        _wait_for_helpers(team, began)
        result, failed = team[SUM], team[FAILED] > 0
        store(team, STATE, state + JOB)
    if failed:
        raise MemoryError("a thread has no memory for its part of the work")
    return result


def shared(function, **options):
    """``together(team, threads, arguments)``, for kernels, which shares ``function(arguments, thread)`` with the team.

    It is shared among ``threads`` threads or, if that is negative, among those of ``-threads`` that are awake.
    It returns the sum of what each thread that came returns, an integer. ``thread`` is a thread's own, below their
    number. ``function`` raises no exception other than `MemoryError`.
    """
    work = for_kernels(function, **options)

    @intrinsic
    def together(typing_context, team, threads, arguments):
        of_work = typeof(work).get_call_type(typing_context, (arguments, types.intp), {})
        of_together = typeof(_together).get_call_type(typing_context, (team, types.int64, types.int64, types.int64), {})

        def generate(context, builder, signature, args):
            team, threads, arguments = args
            data = cgutils.alloca_once_value(builder, arguments)
            job = ir.Function(builder.module, JOB_TYPE, builder.module.get_unique_name(function.__name__))
            job.linkage = "internal"
            inside = ir.IRBuilder(job.append_basic_block())
            given = inside.load(inside.bitcast(job.args[0], data.type)), job.args[1]
            status, result = _call_compiled(context, inside, work, of_work, given)
            result = context.cast(inside, result, of_work.return_type, types.int64)
            inside.ret(inside.select(status.is_error, LONG(NO_MEMORY), result))
            addresses = [builder.ptrtoint(each, LONG) for each in (job, data)]
            status, result = _call_compiled(context, builder, _together, of_together, (team, threads, *addresses))
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        return types.int64(team, types.int64, arguments), generate

    return together


def _call_compiled(context, builder, dispatcher, signature, args):
    """Have a compiled function called; return its status and what it returns."""
    compiled = dispatcher.get_compile_result(signature)
    context.add_linking_libs([compiled.library])
    function = context.declare_function(builder.module, compiled.fndesc)
    return context.call_conv.call_function(builder, function, signature.return_type, signature.args, args)


@serial
def _next_job(team, last, lane):
    """Wait for an open job other than the ``last``; return the state that shows it, or -1 if the team is closed."""
    until = ticks() + PATIENCE
    while not load(team, CLOSED):
        state = load(team, STATE)
        if state & OPEN and state // JOB != last:
            return state
        if ticks() > max(until, team[EXPECTED]):
            ordered_add(team, AWAKE, -1)
            store(team, lane + ASLEEP, 1)
            state = load(team, STATE)
            wanted = (state & OPEN and state // JOB != last) or load(team, CLOSED)
            if not (wanted and ordered_exchange(team, lane + ASLEEP, 0)):  # else the lock has not been released
                _sleep_on(team[lane + LOCK])
                if current_core() == team[CORE]:
                    leave(team[CORE])
                _wake(team, FAN * (lane // LANE) + 1, team[WANTED])
            ordered_add(team, AWAKE, 1)
            until = ticks() + PATIENCE
    return -1


@serial
def serve(team, thread):
    """Help with one job after the other, until the team is closed."""
    lane = thread * LANE
    last = -1
    ordered_add(team, AWAKE, 1)
    while True:
        state = _next_job(team, last, lane)
        if state < 0:
            break
        last = state // JOB
        size = team[SIZE]
        _wake(team, FAN * thread + 1, size)
        while state & OPEN and state // JOB == last:
            if thread >= abs(size):
                break
            if compare_and_swap(team, STATE, state, state + 1):
                ordered_add(team, CAME, 1)
                _do(team, thread)
                if ordered_add(team, STATE, -1) & (INSIDE | WAITED_FOR) == WAITED_FOR + 1:
                    _release(team[DONE])
                break
            state = load(team, STATE)
    ordered_add(team, AWAKE, -1)
