"""Graphs larger than a device's memory: their adjacency stays on the host, and kernels read it over the bus.

A search reads the adjacency of a vertex once or twice, so slow memory suffices. All arrays indexed by vertex are on the
device, including the neighbours that bottom-up levels probe first.

Source: S. W. Min et al., EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs, VLDB 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.cuda.arrays import CPU, CUDA, moved
from .._core.memory import require_bytes, require_device_bytes
from ..graph import Graph

DEVICE, PINNED = "device", "pinned"


def with_pinned_adjacency(graph: Graph) -> Graph:
    """The graph on the device except for its targets, which are copied to pinned memory of the host; so are those of
    the reversed graph if it is directed.

    Raises `InputError` if there is no device, or if one of the two memories does not suffice.
    """
    mapped = _mapped(graph.to(CPU))
    if graph.directed:
        mapped._reverse = _mapped(graph.to(CPU).reverse)
    return mapped


def _mapped(graph: Graph) -> Graph:
    rest = graph.offsets.nbytes + (0 if graph.labels is None or graph.has_objects else graph.labels.nbytes)
    require_bytes(graph.targets.nbytes, f"the adjacency of {graph.name} in pinned memory")
    require_device_bytes(rest, f"{graph.name} without its adjacency")
    here = graph._with(targets=_pinned(graph.targets))
    labels = here.labels if here.labels is None or here.has_objects else moved(here.labels, CUDA)
    there = here._with(offsets=moved(here.offsets, CUDA), targets=_seen_from_device(here.targets), labels=labels)
    there._copy, here._original = here, there._owner  # `Graph.to` returns each for the other
    return there


def _pinned(array: np.ndarray) -> np.ndarray:
    """A copy in memory that devices reach. CuPy's pool of it would round its size up to a power of two."""
    from cupy import cuda

    if not array.nbytes:
        return array
    memory = cuda.PinnedMemoryPointer(cuda.PinnedMemory(array.nbytes), 0)
    pinned = np.ndarray(array.shape, array.dtype, memory)
    pinned[:] = array
    return pinned


def _seen_from_device(pinned: np.ndarray) -> Any:
    """The same memory as a CuPy array: with unified addressing it has the same address there."""
    import cupy

    memory = cupy.cuda.UnownedMemory(pinned.ctypes.data, pinned.nbytes, pinned, cupy.cuda.Device().id)
    return cupy.ndarray(pinned.shape, pinned.dtype, cupy.cuda.MemoryPointer(memory, 0))
