"""How much memory there is, asked before it is taken."""

from pathlib import Path

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


def require_bytes(needed: int, what: str) -> None:
    """Raise `InputError` if ``needed`` bytes for ``what`` are more than there are."""
    available = available_bytes()
    if needed > available:
        raise InputError(f"{what} needs {needed:,} bytes of memory and {available:,} are available")
