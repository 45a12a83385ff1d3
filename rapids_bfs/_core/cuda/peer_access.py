"""Can each GPU of this host read and write the memory of the others while kernels run on all of them?"""

from __future__ import annotations

import os
from collections.abc import Collection

from . import nvml
from .driver import NO_LINK, driver, link, pci_bus_id, under_mps


def obstacle(ordinal: int, peers: Collection[str], ours: Collection[int] = ()) -> str | None:
    """None, or one line: why this device cannot run together with these, and what to do.

    ``peers`` are PCI bus ids; those that this process does not see are left out. ``ours`` are the ids of the processes
    that may compute there.
    """
    bus_id = pci_bus_id(ordinal)
    if under_mps(ordinal):
        return f"GPU {bus_id} is shared through MPS: stop its daemon (echo quit | nvidia-cuda-mps-control)"
    for other in range(len(driver().devices)):
        if other != ordinal and pci_bus_id(other) in peers and link(ordinal, other) == NO_LINK:
            return f"GPU {bus_id} has no peer access to GPU {pci_bus_id(other)}: see nvidia-smi topo -p2p r"
    if os.environ.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0"):
        return "with CUDA_LAUNCH_BLOCKING no two kernels of a thread run at the same time: unset it"
    if there := nvml.others(bus_id, ours):
        return (
            f"process {there[0]} computes on GPU {bus_id}: wait until it has ended; graphs made before stay with NCCL"
        )
    return None


def obstacle_of_all() -> str | None:
    """None, or one line: why not all devices of this process can run together."""
    ordinals = range(len(driver().devices))
    peers = {pci_bus_id(each) for each in ordinals}
    return next(filter(None, (obstacle(each, peers) for each in ordinals)), None)
