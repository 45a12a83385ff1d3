"""A window of memory for each rank, which all ranks read and write while their kernels run.

That needs ranks of one host whose devices have peer access, each GPU the ranks' own.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from .._core.cuda.arrays import CUDA
from .._core.cuda.driver import pci_bus_id
from .._core.cuda.peer_access import obstacle
from .communicators import Communicator
from .launchers import said
from .peer_memory import DeviceMemory, HostMemory, MappedMemory, Memory, Offer, found, process

BOOT = Path("/proc/sys/kernel/random/boot_id")
Found = TypeVar("Found")


class Place(NamedTuple):
    """Where a rank is."""

    host: str  # its name
    boot: str  # the same in all containers of a host
    process: str
    pid: int
    ordinal: int  # of its device, in its process; -1: it is in the host's memory
    gpu: str  # its PCI bus id, the same in all processes

    @classmethod
    def here(cls, device: str) -> Place:
        """That of this thread, whose device is the current one."""
        ordinal, gpu, host = -1, "", platform.node()
        if device == CUDA:
            from cupy.cuda import Device

            ordinal = int(Device().id)
            gpu = pci_bus_id(ordinal)
        boot = BOOT.read_text().strip() if BOOT.exists() else host
        return cls(host, boot, process(), os.getpid(), ordinal, gpu)


class Windows:
    """The windows of all ranks, as one of them sees them."""

    def __init__(self, memories: Sequence[Memory | MappedMemory]) -> None:
        self._memories = tuple(memories)
        self.addresses = tuple(memory.address for memory in memories)  # by rank

    def close(self) -> None:
        """Let go of them; also done when nobody refers to them any more. No kernel of this rank may use them then.

        The ranks do so in any order: memory is freed a little after the last one of them, or with its process.
        """
        self._memories, self.addresses = (), ()


def open_windows(communicator: Communicator, nbytes: int, device: str = CUDA) -> Windows | str:
    """Windows of so many bytes, all zero, at addresses that are multiples of 512; or one line on why there are none.

    All ranks call it, on their device, with the same ``device``, "cuda" or "cpu"; all get windows, or all the same
    line. Raises `Aborted` as every collective does.
    """
    places = communicator.share(Place.here(device))
    if reason := unfit(places):
        return reason
    name = communicator.names[communicator.rank]
    own = _tried(name, lambda: _allocated(communicator.rank, places, nbytes))
    offers = communicator.share(own if isinstance(own, str) else own.offer)
    if reason := _first(offers):
        return reason
    assert not isinstance(own, str)
    memories = _tried(name, lambda: [_opened(offer, places[communicator.rank]) for offer in offers])
    if reason := _first(communicator.share(memories if isinstance(memories, str) else None)):
        return reason
    assert not isinstance(memories, str)
    own.settled()
    return Windows(memories)


def unfit(places: Sequence[Place]) -> str | None:
    """None, or one line: why ranks at these places cannot have windows, wherever one looks from."""
    hosts = {place.boot: place.host for place in places}
    if len(hosts) > 1:
        return f"the partitions are on several hosts: {', '.join(sorted(hosts.values()))}"
    if len({place.process for place in places}) == 1:
        return None
    if places[0].ordinal < 0:
        return "the partitions are in the memory of several processes: 'cpu:4' makes 4 partitions in one"
    at: dict[str, tuple[int, Place]] = {}
    for rank, place in enumerate(places):
        first, other = at.setdefault(place.gpu, (rank, place))
        if other.process != place.process:
            return f"partition {first} and partition {rank} share GPU {place.gpu} from two processes: start one worker a GPU"
    return None


def _tried(name: str, function: Callable[[], Found]) -> Found | str:
    """What it returns, or its error in one line."""
    try:
        return function()
    except Exception as error:
        return f"{name}: {said(error)}"


def _first(reasons: Sequence[Any]) -> str | None:
    return next((each for each in reasons if isinstance(each, str)), None)


def _allocated(rank: int, places: Sequence[Place], nbytes: int) -> Memory | str:
    """This rank's own window, or one line."""
    mine = places[rank]
    if mine.ordinal < 0:
        return HostMemory(nbytes)
    if reason := obstacle(mine.ordinal, {place.gpu for place in places}, {place.pid for place in places}):
        return reason
    return DeviceMemory(nbytes, lent=any(place.process != mine.process for place in places))


def _opened(offer: Offer, mine: Place) -> Memory | MappedMemory:
    """The window of any rank, for the device of this one."""
    if offer.process != mine.process:
        return MappedMemory(offer)
    memory = found(offer)
    if isinstance(memory, DeviceMemory):
        memory.reach()
    return memory
