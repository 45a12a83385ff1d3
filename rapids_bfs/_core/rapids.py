"""The installed packages of RAPIDS, and its memory manager RMM."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from ..errors import InputError
from .cuda import arrays as device
from .cuda.driver import pip_install
from .forks import in_each_child
from .interrupts import is_interrupt

PACKAGES = ("cudf", "cugraph", "cupy", "cupyx", "nx_cugraph", "pylibcudf", "pylibcugraph", "rmm")


@cache
def package_missing(package: str) -> str | None:
    """None, or one line: what this package of RAPIDS lacks here and how to fix it."""
    if reason := device.cupy_missing():
        return reason
    if importlib.util.find_spec(package) is None:
        return f"{package} is not installed: {pip_install('rapids-cu')}"
    try:
        importlib.import_module(package)
    except Exception as error:  # importing mismatched versions can raise anything
        if is_interrupt(error):
            raise
        first_line = str(error).strip().partition("\n")[0]
        return f"{package} cannot be imported ({first_line}): {pip_install('rapids-cu')}"
    return None


in_each_child(package_missing.cache_clear)


@contextmanager
def naming_missing_package(what: str) -> Iterator[None]:
    """A context that raises `InputError` instead of Python's error where ``what`` needs a CUDA package that is
    missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in PACKAGES:
            raise
        raise InputError(f"{what} cannot be made here: {package_missing(package)}") from None


def has_pool() -> bool:
    """Return True if CuPy takes its memory from a pool of RMM."""
    return rmm_allocates() and not driver_allocates()


def rmm_allocates() -> bool:
    """Return True if CuPy takes its memory from RMM."""
    allocators = sys.modules.get("rmm.allocators.cupy")
    if allocators is None:
        return False
    import cupy

    return bool(cupy.cuda.get_allocator() is allocators.rmm_cupy_allocator)


def pool_bytes(free: int, total: int) -> int:
    """How many bytes RMM's resource can still hand out, at most, on a device with this many free bytes.

    A pool adds what it holds, in use or not: it does not say how much of that is free. A `LimitingResourceAdaptor`
    sets a bound. A resource of another kind has the whole device. Managed memory has no bound.
    """
    mr = sys.modules["rmm"].mr
    bound, held = sys.maxsize, None
    resource = mr.get_current_device_resource()
    while hasattr(resource, "get_upstream"):
        if isinstance(resource, mr.LimitingResourceAdaptor):
            bound = min(bound, resource.get_allocation_limit() - resource.get_allocated_bytes())
        elif isinstance(resource, mr.PoolMemoryResource):
            held = resource.pool_size()
        resource = resource.get_upstream()
    if isinstance(resource, mr.ManagedMemoryResource | mr.SystemMemoryResource):
        return int(bound)
    return int(min(bound, total if held is None else free + held))


def driver_allocates() -> bool:
    """Return True if RMM, without a pool, takes each allocation of CuPy's from the driver."""
    rmm = sys.modules.get("rmm")
    if rmm is None:
        return False
    resource = rmm.mr.get_current_device_resource()
    while isinstance(resource, rmm.mr.StatisticsResourceAdaptor):
        resource = resource.get_upstream()
    return isinstance(resource, rmm.mr.CudaMemoryResource)
