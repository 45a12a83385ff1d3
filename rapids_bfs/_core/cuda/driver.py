"""The NVIDIA driver of this machine, called directly, so that no package has to be installed."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import NamedTuple

from ..forks import in_each_child

INSTALL = "https://www.nvidia.com/drivers"
NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED: `cuInit` in a forked process whose parent called it before


class Driver(NamedTuple):
    """Facts that the driver reports."""

    cuda: tuple[int, int] | None  # the newest CUDA that it runs; None if there is no driver
    devices: tuple[str, ...]  # their names
    forked: bool = False  # was CUDA lost at a fork?


@cache
def library() -> ctypes.CDLL:
    """The driver's functions. Raises `OSError` if there is no driver."""
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


@cache
def driver() -> Driver:
    """The facts that the driver reported when this process first asked for them."""
    try:
        cuda = library()
    except OSError:
        return Driver(None, ())
    version, count, device = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    failed = cuda.cuInit(0)
    if failed or cuda.cuDeviceGetCount(ctypes.byref(count)):
        count.value = 0
    names = []
    for ordinal in range(count.value):
        cuda.cuDeviceGet(ctypes.byref(device), ordinal)
        cuda.cuDeviceGetName(name, len(name), device)
        names.append(name.value.decode())
    return Driver((version.value // 1000, version.value % 1000 // 10), tuple(names), failed == NOT_INITIALIZED)


in_each_child(driver.cache_clear)


SUPPORTED, ATOMIC = 2, 3  # CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED and _NATIVE_ATOMIC_SUPPORTED
MPS_ENABLED = 133  # CU_DEVICE_ATTRIBUTE_MPS_ENABLED, which drivers before CUDA 12.1 do not know
NVLINK, PCIE, NO_LINK = "NVLink", "PCIe", "none"


def links() -> dict[tuple[int, int], str]:
    """How each pair of devices reaches each other's memory; only over NVLink does that include atomics."""
    count = len(driver().devices)
    return {(one, other): link(one, other) for one in range(count) for other in range(one + 1, count)}


def link(one: int, other: int) -> str:
    """How these two devices reach each other's memory."""
    ends = _handle(one), _handle(other)
    for attribute, kind in ((ATOMIC, NVLINK), (SUPPORTED, PCIE)):
        holds = ctypes.c_int()
        if not library().cuDeviceGetP2PAttribute(ctypes.byref(holds), attribute, *ends) and holds.value:
            return kind
    return NO_LINK


def pci_bus_id(ordinal: int) -> str:
    """The PCI bus id of this device, such as 0000:1b:00.0, which is the same in every process."""
    name = ctypes.create_string_buffer(16)
    library().cuDeviceGetPCIBusId(name, len(name), _handle(ordinal))
    return name.value.decode().lower()


def uuid(ordinal: int) -> str:
    """The UUID of this device, which is the same in every process; slices of a GPU (MIG) have their own."""
    found = (ctypes.c_ubyte * 16)()
    library().cuDeviceGetUuid_v2(found, _handle(ordinal))
    return bytes(found).hex()


def under_mps(ordinal: int) -> bool:
    """Return True if kernels on this device run under the Multi-Process Service."""
    holds = ctypes.c_int()
    return not library().cuDeviceGetAttribute(ctypes.byref(holds), MPS_ENABLED, _handle(ordinal)) and bool(holds.value)


def _handle(ordinal: int) -> ctypes.c_int:
    device = ctypes.c_int()
    library().cuDeviceGet(ctypes.byref(device), ordinal)
    return device


def no_device() -> str | None:
    """None, or one line: why there is no device here, and how to fix it."""
    cuda, devices, forked = driver()
    if cuda is None:
        return f"there is no CUDA device: no NVIDIA driver is installed ({INSTALL})"
    if forked:
        return (
            "CUDA does not survive a fork, and was in use before that of this process: start processes by 'spawn',"
            " as multiprocessing.set_start_method('spawn') does"
        )
    return None if devices else "there is no CUDA device: the NVIDIA driver finds none"


def cuda_major() -> int:
    """The CUDA for which packages are to be installed here: that of the driver, 12 or 13."""
    cuda = driver().cuda
    return 12 if cuda is not None and cuda[0] == 12 else 13


def pip_install(extra: str) -> str:
    """How to install "cuda" (CuPy and numba-cuda) or "rapids-cu" (these and RAPIDS), for the CUDA of this driver."""
    return f"pip install 'rapids-bfs[{extra}{cuda_major()}]'"


def too_old(package: str, major: int) -> str | None:
    """None, or one line: that the driver is too old for ``package``, built for CUDA ``major``, and how to fix it."""
    cuda = driver().cuda
    if cuda is None or cuda[0] >= major:
        return None
    fix = f"update the driver ({INSTALL})"
    if cuda[0] == 12:
        fix += f" or {pip_install('cuda')} in a new environment"
    return f"the NVIDIA driver runs CUDA up to {cuda[0]}.{cuda[1]} and {package} is built for CUDA {major}: {fix}"
