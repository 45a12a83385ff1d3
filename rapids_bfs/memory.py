"""How much memory there is, asked before it is taken."""

from pathlib import Path

from .device import require_device
from .errors import InputError

CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int:
    """Bytes that this process can still allocate: what the machine has left, or its container if that is less."""
    import psutil

    available = int(psutil.virtual_memory().available)
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return available
    return available if limit == "max" else min(available, max(int(limit) - used, 0))


def available_device_bytes() -> int:
    """Bytes that CuPy can still allocate on its current device."""
    import cupy

    free: int = cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
    return free


def require_device_bytes(needed: int, what: str) -> None:
    """Raise `InputError` if ``needed`` bytes for ``what`` are more than the device has."""
    require_device()
    available = available_device_bytes()
    if needed > available:
        raise InputError(f"{what} needs {needed:,} bytes of device memory and {available:,} are available")


def require_bytes(needed: int, what: str) -> None:
    """Raise `InputError` if ``needed`` bytes for ``what`` are more than there are."""
    available = available_bytes()
    if needed > available:
        raise InputError(f"{what} needs {needed:,} bytes of memory and {available:,} are available")
