"""The core that a thread runs on, and leaving it.

A guest of KVM takes cores that have been idle for a while for cores that its host has taken away, and runs a thread
that is woken on the core of the thread that wakes it, which then waits.
"""

import sys

import numpy as np
from numba import types

from .bits import ONE
from .compiled import serial

CORES = 1024  # in a mask, as the C library has it
INT, LONG, POINTER = types.int32, types.int64, types.voidptr

if sys.platform == "linux":
    _getcpu = types.ExternalFunction("sched_getcpu", INT())
    _getpid = types.ExternalFunction("getpid", INT())
    _getaffinity = types.ExternalFunction("sched_getaffinity", INT(INT, LONG, POINTER))
    _setaffinity = types.ExternalFunction("sched_setaffinity", INT(INT, LONG, POINTER))

    @serial
    def current_core():
        """Return the core that this thread runs on."""
        return np.int64(_getcpu())

    @serial
    def leave(core):
        """Keep this thread off ``core``; let it run on all others of the main thread, if there are any."""
        mask = np.zeros(CORES // 64, np.uint64)
        if 0 <= core < CORES and _getaffinity(_getpid(), CORES // 8, mask.ctypes) == 0:
            mask[core // 64] &= ~(ONE << np.uint64(core % 64))
            if mask.any():
                _setaffinity(0, CORES // 8, mask.ctypes)  # 0: this thread

else:

    @serial
    def current_core():
        return -1

    @serial
    def leave(core):
        pass
