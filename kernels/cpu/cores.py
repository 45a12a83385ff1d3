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
NAMES = "sched_getcpu", "sched_getaffinity", "sched_setaffinity"
INT, LONG = ir.IntType(32), ir.IntType(64)

try:
    KNOWN = all(hasattr(ctypes.CDLL(None), name) for name in NAMES)
except (OSError, TypeError):  # Windows has no such library
    KNOWN = False


@intrinsic
def current_core(typing_context):
    """The number of the core that this thread runs on, or -1 if the system does not say."""

    def generate(context, builder, signature, args):
        return builder.sext(call_of_c(builder, "sched_getcpu", INT), LONG) if KNOWN else LONG(-1)

    return types.int64(), generate


def _of_mask(name):
    """A call of C that reads or sets the cores on which this thread may run, a bitmap; returns 0 if it succeeded."""

    def declare(typing_context, mask):
        def generate(context, builder, signature, args):
            if not KNOWN:
                return LONG(-1)
            view = context.make_array(signature.args[0])(context, builder, args[0])
            data = builder.bitcast(view.data, cgutils.voidptr_t)
            return builder.sext(call_of_c(builder, name, INT, INT(0), LONG(CORES // 8), data), LONG)

        return types.int64(mask), generate

    return intrinsic(declare)


_allowed, _allow = map(_of_mask, NAMES[1:])


@serial
def masks():
    """What `leave` remembers: where the thread was allowed to run, where it still is, and what the system says."""
    return np.zeros((3, WORDS), np.uint64)


@serial
def leave(core, masks):
    """Take a core from those that this thread may run on, unless it is the only one; one that was taken before is given
    back. If others have set where the thread may run, that is where it begins."""
    before, left, now = masks[0], masks[1], masks[2]
    if not 0 <= core < CORES or _allowed(now):
        return
    same = True
    for word in range(WORDS):
        same &= now[word] == left[word]
    some = False
    for word in range(WORDS):
        if not same:
            before[word] = now[word]
        left[word] = before[word]
        if word == core // 64:
            left[word] &= ~(ONE << np.uint64(core % 64))
        some |= left[word] != 0
    if some:
        _allow(left)
