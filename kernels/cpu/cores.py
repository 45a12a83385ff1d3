"""The core that a thread runs on, and leaving it.

A thread that is woken may begin on the core of the thread that woke it, which then waits although other cores are idle:
a guest of KVM takes a virtual core that has been idle for a while for one that its host has taken away.
"""

import ctypes

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .bits import ONE
from .compiled import call_of_c, serial

CORES = 1024  # in a mask, as the C library has it
WORDS = CORES // 64
NAMES = "sched_getcpu", "sched_getaffinity", "sched_setaffinity", "getpid"
THIS_THREAD = 0
INT, LONG = ir.IntType(32), ir.IntType(64)

try:
    KNOWN = all(hasattr(ctypes.CDLL(None), name) for name in NAMES)
except (OSError, TypeError):  # Windows has no such library
    KNOWN = False


def _number(name):
    """A call of C that returns a number; -1 if the system does not know these calls."""

    def declare(typing_context):
        def generate(context, builder, signature, args):
            return builder.sext(call_of_c(builder, name, INT), LONG) if KNOWN else LONG(-1)

        return types.int64(), generate

    return intrinsic(declare)


def _of_mask(name):
    """A call of C that reads or sets the cores on which a thread may run, a bitmap; returns 0 if it succeeded."""

    def declare(typing_context, thread, mask):
        def generate(context, builder, signature, args):
            if not KNOWN:
                return LONG(-1)
            view = context.make_array(signature.args[1])(context, builder, args[1])
            given = builder.trunc(args[0], INT), LONG(CORES // 8), builder.bitcast(view.data, cgutils.voidptr_t)
            return builder.sext(call_of_c(builder, name, INT, *given), LONG)

        return types.int64(types.int64, mask), generate

    return intrinsic(declare)


current_core, _main_thread = _number("sched_getcpu"), _number("getpid")
_allowed, _allow = _of_mask("sched_getaffinity"), _of_mask("sched_setaffinity")


@serial
def masks():
    """What `leave` remembers: where the thread was allowed to run and where it still is, and what the system says of it
    and of the main thread."""
    return np.zeros((4, WORDS), np.uint64)


@serial
def leave(core, masks):
    """Take a core from those that this thread may run on, unless it is the only one; one that was taken before is given
    back. If others have set where the thread may run, that is where it begins. They may have set what it had left
    itself, but then for the main thread, too."""
    before, left, now, main = masks[0], masks[1], masks[2], masks[3]
    if not 0 <= core < CORES or _allowed(THIS_THREAD, now) or _allowed(_main_thread(), main):
        return
    left_by_itself, everyones = True, True
    for word in range(WORDS):
        left_by_itself &= now[word] == left[word]
        everyones &= now[word] == main[word]
    some = False
    for word in range(WORDS):
        if everyones or not left_by_itself:
            before[word] = now[word]
        left[word] = before[word]
        if word == core // 64:
            left[word] &= ~(ONE << np.uint64(core % 64))
        some |= left[word] != 0
    if some:
        _allow(THIS_THREAD, left)
