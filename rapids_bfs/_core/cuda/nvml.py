"""Other processes that compute on a GPU, from NVIDIA's management library, which comes with the driver."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Collection
from functools import cache, partial
from typing import Any

RECENT = 1.0  # seconds, in which NVML samples several times
MORE = 8  # entries, for processes that start between two calls
INSUFFICIENT_SIZE = 7  # NVML_ERROR_INSUFFICIENT_SIZE


class Process(ctypes.Structure):
    """A process with a context, as nvmlProcessInfo_v2_t."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class Sample(ctypes.Structure):
    """The activity of a process within a fraction of a second, in percent, as nvmlProcessUtilizationSample_t."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("time", ctypes.c_ulonglong),
        *((unit, ctypes.c_uint) for unit in ("multiprocessors", "memory", "encoder", "decoder")),
    )


@cache
def library() -> Any:
    """NVML, initialized; None if it is missing or too old."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return nvml if hasattr(nvml, "nvmlDeviceGetComputeRunningProcesses_v3") and not nvml.nvmlInit_v2() else None


def others(bus_id: str, ours: Collection[int] = ()) -> list[int]:
    """The ids of the processes, without ``ours``, that compute on this GPU in two samples a little apart.

    A context alone does not count. Containers may hide processes, or number them otherwise: if none of ``ours``, which
    have a context there, is found, they cannot be distinguished from the others.
    """
    nvml, device = library(), ctypes.c_void_p()
    if nvml is None or nvml.nvmlDeviceGetHandleByPciBusId_v2(bus_id.encode(), ctypes.byref(device)):
        return []
    found = _busy(nvml, device, ours)
    if found:
        time.sleep(RECENT)
        found &= _busy(nvml, device, ours)
    return sorted(found)


def _busy(nvml: Any, device: ctypes.c_void_p, ours: Collection[int]) -> set[int]:
    """The ids of the processes that computed within the last `RECENT` seconds."""
    running = _entries(Process, partial(nvml.nvmlDeviceGetComputeRunningProcesses_v3, device))
    there = {each.pid for each in running}
    if ours and there.isdisjoint(ours):
        return set()
    since = ctypes.c_ulonglong(int(1e6 * (time.time() - RECENT)))
    utilization = nvml.nvmlDeviceGetProcessUtilization
    samples = _entries(Sample, lambda count, room: utilization(device, room, count, since))
    return {each.pid for each in samples if each.multiprocessors and each.time >= since.value} & there - {*ours}


def _entries(kind: Any, ask: Callable[[Any, Any], int]) -> list[Any]:
    """A list of NVML's, which ``ask(count, room)`` fetches; empty if NVML refuses."""
    count, room = ctypes.c_uint(MORE), (kind * MORE)()
    status = ask(ctypes.byref(count), room)
    if status == INSUFFICIENT_SIZE:
        count.value += MORE
        room = (kind * count.value)()
        status = ask(ctypes.byref(count), room)
    return [] if status else list(room[: count.value])
