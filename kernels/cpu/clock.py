"""The system's monotonic clock, read by a kernel."""

import ctypes
import sys
import time

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiled import call_of_c

INT, LONG = ir.IntType(32), ir.IntType(64)

if sys.platform == "win32":
    NAME = "QueryPerformanceCounter"
    TICKS_PER_MS = 1e-3 / time.get_clock_info("perf_counter").resolution
    binding.add_symbol(NAME, ctypes.cast(ctypes.WinDLL("kernel32")[NAME], ctypes.c_void_p).value)
else:
    NAME = "clock_gettime"
    TICKS_PER_MS = 1e6  # nanoseconds


@intrinsic
def ticks(typing_context):
    """Ticks since some moment in the past, an int64."""

    def generate(context, builder, signature, args):
        filled = cgutils.alloca_once(builder, LONG, 2)  # ticks, or seconds and nanoseconds
        given = [filled] if sys.platform == "win32" else [INT(time.CLOCK_MONOTONIC), filled]
        call_of_c(builder, NAME, INT, *given)
        first, second = builder.load(filled), builder.load(builder.gep(filled, [INT(1)]))
        return first if sys.platform == "win32" else builder.add(builder.mul(first, LONG(10**9)), second)

    return types.int64(), generate
