"""The machine and the installed versions, which belong to every measurement."""

from __future__ import annotations

import platform
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .cores import usable_cores
from .cuda.arrays import cupy_missing
from .cuda.driver import driver
from .cuda.driver import links as driver_links

PACKAGES = (
    "rapids-bfs",
    "numpy",
    "scipy",
    "numba",
    "networkx",
    "pandas",
    "pyarrow",
    "polars",
    "numba-cuda",
    *("cupy-cuda13x", "cupy-cuda12x"),
    *(f"{name}-cu{cuda}" for name in ("cudf", "cugraph", "pylibcugraph", "nx-cugraph") for cuda in (13, 12)),
    "dask",
    "distributed",
    "dask-cuda",
    *("nvidia-nccl-cu13", "nvidia-nccl-cu12"),
    "igraph",
    "networkit",
    "rustworkx",
    "python-graphblas",
    "suitesparse-graphblas",
)


def describe() -> dict[str, Any]:
    """The machine: system, processor, `usable_cores`, memory in bytes, CUDA devices."""
    import psutil

    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": usable_cores(),
        "memory_bytes": int(psutil.virtual_memory().total),
        "cuda_devices": list(driver().devices),
    }


def links() -> str:
    """How the CUDA devices reach each other's memory, pairs with the same link together."""
    pairs: dict[str, list[str]] = {}
    for (one, other), link in driver_links().items():
        pairs.setdefault(link, []).append(f"{one}-{other}")
    if len(pairs) == 1:
        return f"{next(iter(pairs))}, all pairs"
    return "; ".join(f"{link}: {', '.join(those)}" for link, those in pairs.items())


def nccl_version() -> str | None:
    """The version of the NCCL that CuPy uses; None without it."""
    if cupy_missing():
        return None
    try:
        from cupy.cuda import nccl
    except ImportError:  # its library
        return None
    if not getattr(nccl, "available", True):
        return None
    version = nccl.get_version()  # 22809 is 2.28.9
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


def _processor() -> str:
    lines: list[str] = []
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Versions of Python and of `PACKAGES`, as far as they are installed."""
    return {"python": platform.python_version(), **_installed()}


@cache
def _installed() -> dict[str, str]:
    """The versions of installed packages. Read once: that takes as long as comparing a small graph, and a process keeps
    the packages that it has imported."""
    found = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
