"""CSR arrays: `host` and `device` build and change them, where the arrays are.

`host` and `device` have the same functions of a whole CSR (`transpose`, `mirrored`, `ascends`, `ascending`,
`edge_blocks`, `sources_of`, `components`, `count_loops`, `count_repeats`, `without_repeats_and_loops`, `KeptArcs`) and
of the rows of one rank of a distributed graph (`summary`, `bucket_by_owner`, `count_local_ids`, `scatter_targets`,
`simplified`, `count_own_loops`). Both have ``xp``, the library of their arrays; ``require``, which raises `InputError`
if that many bytes are not free there; ``working``, a context for the work on a partition; and ``EXCHANGE_BLOCK``, the
number of edges that a rank exchanges at a time.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from ..cuda.arrays import CUDA, device_of, on_device


def csr_for(array: Any) -> ModuleType:
    """The module for CSRs where ``array`` is."""
    return csr_on(device_of(array))


def is_symmetric(offsets: Any, targets: Any) -> bool:
    """Does every edge exist in both directions, equally often? On the host this does not import Numba for a small
    graph."""
    csr = csr_on(CUDA) if on_device(targets) else import_module(".building", __name__)
    symmetric: bool = csr.is_symmetric(offsets, targets)
    return symmetric


def csr_on(device: str) -> ModuleType:
    """The module for CSRs on "cpu" or "cuda"."""
    return import_module(".device" if device == CUDA else ".host", __name__)
