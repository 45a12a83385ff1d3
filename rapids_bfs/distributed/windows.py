"""A window of device memory for each rank, which kernels of all ranks read and write.

Windows need ranks on one host, on GPUs with working peer access that no other process uses.
"""

from __future__ import annotations

import ctypes
import os
import platform
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from .._core.cuda.driver import pci_bus_id, uuid
from .._core.cuda.peer_access import obstacle
from .communicators import Communicator
from .launchers import one_line
from .peer_memory import DeviceMemory, MappedMemory, Offer, find_memory, process

BOOT = Path("/proc/sys/kernel/random/boot_id")
MARK = 8  # bytes
Found = TypeVar("Found")


class Location(NamedTuple):
    """The host, process and device of a rank. A host is what NCCL takes for one, see its variable NCCL_HOSTID."""

    host: str  # its name
    boot: str  # what identifies it: the same in all containers of a host
    process: str
    pid: int
    ordinal: int  # of its device, in its process
    gpu: str  # its PCI bus id, the same in all processes
    uuid: str  # of the device, which may be a slice of that GPU

    @classmethod
    def here(cls) -> Location:
        """The location of this thread and its current device."""
        from cupy.cuda import Device

        ordinal, host = int(Device().id), platform.node()
        boot = BOOT.read_text().strip() if BOOT.exists() else host
        if named := os.environ.get("NCCL_HOSTID"):
            host = boot = named
        return cls(host, boot, process(), os.getpid(), ordinal, pci_bus_id(ordinal), uuid(ordinal))


class Windows:
    """The windows of all ranks, as one of them sees them."""

    def __init__(self, memories: Sequence[DeviceMemory | MappedMemory]) -> None:
        self._memories = tuple(memories)
        self.addresses = tuple(memory.address for memory in memories)  # by rank

    def close(self) -> None:
        """Release the windows, as garbage collection does too. No kernel of this rank may use them any more.

        Ranks close in any order. Memory is freed soon after the last rank has closed, or ended.
        """
        self._memories, self.addresses = (), ()


def open_windows(communicator: Communicator, nbytes: int) -> Windows | str:
    """Windows of ``nbytes`` bytes, all zero, at multiples of 512; or one line that says why there are none.

    A collective: all ranks call it, each on its device, and all get windows or all get the same line. Raises `Aborted`.
    """
    locations = communicator.allgather_object(Location.here())
    if reason := unfit(locations):
        return reason
    name = communicator.names[communicator.rank]
    own = _value_or_reason(name, lambda: _allocated(communicator.rank, locations, nbytes))
    offers = communicator.allgather_object(own if isinstance(own, str) else own.offer)
    if reason := _first(offers):
        return reason
    assert not isinstance(own, str)
    memories = _value_or_reason(name, lambda: [_opened(offer, locations[communicator.rank]) for offer in offers])
    if reason := _first(communicator.allgather_object(memories if isinstance(memories, str) else None)):
        return reason
    assert not isinstance(memories, str)
    own.unlink_leases()
    windows = Windows(memories)
    return _difference(communicator, windows.addresses) or windows


def _difference(communicator: Communicator, addresses: Sequence[int]) -> str | None:
    """One line that names two ranks that do not see what the other writes; None if there are none.

    An IOMMU, or access control in PCIe switches, may break the peer access that CUDA grants. This is a collective; it
    leaves zeros in the windows.
    """
    from cupy.cuda import runtime

    rank, size = communicator.rank, communicator.size
    name, own = communicator.names[rank], addresses[rank]
    marks = communicator.allgather_object(secrets.token_bytes(MARK))

    def copy(target: int, source: int, nbytes: int) -> None:
        runtime.memcpy(target, source, nbytes, runtime.memcpyDefault)

    def write() -> None:
        mark = ctypes.create_string_buffer(marks[rank], MARK)
        copy(own + MARK * rank, ctypes.addressof(mark), MARK)
        for address in addresses:
            if address != own:
                copy(address + MARK * rank, own + MARK * rank, MARK)
        runtime.deviceSynchronize()

    def read() -> str | None:
        for other, address in enumerate(addresses):
            copy(own + MARK * (size + other), address + MARK * other, MARK)
        runtime.deviceSynchronize()
        found = ctypes.create_string_buffer(2 * MARK * size)
        copy(ctypes.addressof(found), own, len(found))
        for place, mark in enumerate(2 * marks):
            if found.raw[MARK * place :][:MARK] != mark:
                pair = f"{name} and {communicator.names[place % size]}"
                return f"{pair} do not see what the other writes, as with an IOMMU: see nvidia-smi topo -p2p w"
        return None

    def clear() -> None:
        runtime.memset(own, 0, 2 * MARK * size)
        runtime.deviceSynchronize()

    outcomes = (_first(communicator.allgather_object(_value_or_reason(name, step))) for step in (write, read, clear))
    return next(filter(None, outcomes), None)


def unfit(locations: Sequence[Location]) -> str | None:
    """One line that says why ranks at these locations cannot have windows; None if they can."""
    hosts = {location.boot: location.host for location in locations}
    if len(hosts) > 1:
        return f"ranks on {len(hosts)} hosts ({', '.join(sorted(hosts.values()))})"
    if len({location.process for location in locations}) == 1:
        return None
    at: dict[str, tuple[int, Location]] = {}
    for rank, location in enumerate(locations):
        first, other = at.setdefault(location.gpu, (rank, location))
        if other.process != location.process:
            ranks = f"partition {first} and partition {rank}"
            if other.uuid != location.uuid:
                return f"{ranks} are on slices (MIG) of GPU {location.gpu}, which cannot reach each other's memory"
            return f"{ranks} share GPU {location.gpu} from two processes: start one worker a GPU"
    return None


def _value_or_reason(name: str, function: Callable[[], Found]) -> Found | str:
    """What ``function`` returns; if it raises, the error in one line."""
    try:
        return function()
    except Exception as error:
        return f"{name}: {one_line(error)}"


def _first(reasons: Sequence[Any]) -> str | None:
    return next((each for each in reasons if isinstance(each, str)), None)


def _allocated(rank: int, locations: Sequence[Location], nbytes: int) -> DeviceMemory | str:
    """The window of this rank; or one line that says why it cannot have one."""
    mine = locations[rank]
    if reason := obstacle(
        mine.ordinal, {location.gpu for location in locations}, {location.pid for location in locations}
    ):
        return reason
    return DeviceMemory(nbytes, lent=any(location.process != mine.process for location in locations))


def _opened(offer: Offer, mine: Location) -> DeviceMemory | MappedMemory:
    """The window that ``offer`` describes, accessible from this rank's device."""
    if offer.process != mine.process:
        return MappedMemory(offer)
    memory = find_memory(offer)
    memory.reach()
    return memory
