"""RAPIDS, as far as it is installed here."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache

from . import device
from .forks import in_each_child

MEND = "pip install 'rapids-bfs[cu13]'"


@cache
def missing(package: str) -> str | None:
    """None, or one line: what this package of RAPIDS lacks here and what mends it."""
    if reason := device.missing():
        return reason
    if importlib.util.find_spec(package) is None:
        return f"{package} is not installed: {MEND}"
    try:
        importlib.import_module(package)
    except Exception as error:  # importing mismatched versions can raise anything
        first_line = str(error).strip().partition("\n")[0]
        return f"{package} cannot be imported ({first_line}): {MEND}"
    return None


in_each_child(missing.cache_clear)


def has_pool() -> bool:
    """Does CuPy take memory from a pool of RMM's?"""
    allocators = sys.modules.get("rmm.allocators.cupy")
    if allocators is None or driver_allocates():
        return False
    import cupy

    return bool(cupy.cuda.get_allocator() is allocators.rmm_cupy_allocator)


def driver_allocates() -> bool:
    """Is RMM loaded, which CuPy then asks for memory, and does it ask the driver each time, for want of a pool?"""
    rmm = sys.modules.get("rmm")
    if rmm is None:
        return False
    resource = rmm.mr.get_current_device_resource()
    while isinstance(resource, rmm.mr.StatisticsResourceAdaptor):
        resource = resource.get_upstream()
    return isinstance(resource, rmm.mr.CudaMemoryResource)
