"""Ids that are not 0..n-1. Each rank stores the ids of its own vertices.

If ids are close together, the distribution is cyclic over all ids up to the largest, and a table skips those that do
not occur. Otherwise a hash of the id chooses its rank, and each rank orders its ids ascending.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from .._core.csr.host import CHANGED, Pairs
from .._core.formatting import counted
from ..errors import InputError
from .communicators import Communicator
from .partitioning import Partitioning

MULTIPLIER = np.int64(0x9E3779B97F4A7C15 - (1 << 64))  # of Fibonacci hashing
BITS = 31  # of a hash


def owners(ids: Any, size: int) -> Any:
    """The rank that owns each id (int64)."""
    return ((ids * MULTIPLIER >> (64 - BITS)) & ((1 << BITS) - 1)) % size


@dataclass
class CompactIds:
    """Global ids of the ids 0..n-1 that occur, where some do not."""

    partitioning: Partitioning
    own: Any  # the ids of this rank's vertices by local id
    cyclic: Partitioning  # of all ids 0..n-1
    table: Any  # from global ids of ``cyclic`` to those of ``partitioning``; replicated on every rank

    @classmethod
    def of(cls, cyclic: Partitioning, occurs: Any, communicator: Communicator, csr: ModuleType) -> CompactIds:
        """``occurs`` is a mask of the ids that ``cyclic`` assigns to this rank, by local id."""
        xp = csr.xp
        partitioning = Partitioning(tuple(communicator.allgather_object(int(occurs.sum()))), cyclic=False)
        own = cyclic.ids(cyclic.own_global_ids(communicator.rank, xp)[occurs])
        slots = cyclic.size * cyclic.stride
        csr.require(slots * partitioning.dtype.itemsize, f"a table of {counted(cyclic.n, 'id')}")
        table = xp.zeros(slots, partitioning.dtype)
        first = communicator.rank * cyclic.stride
        mine = table[first : first + len(occurs)]
        mine[:] = occurs
        xp.cumsum(mine, dtype=mine.dtype, out=mine)
        mine -= 1
        xp.maximum(mine, 0, out=mine)  # an id that does not occur shares the entry of another
        mine += communicator.rank * partitioning.stride
        return cls(partitioning, own, cyclic, communicator.allgather_slices(table))

    def global_ids(self, ids: Any) -> Any:
        """The global ids of ids that occur."""
        return self.table[self.cyclic.global_ids(ids)]


@dataclass
class HashedIds:
    """Global ids of ids that a hash assigns to ranks; each rank stores its own."""

    partitioning: Partitioning
    own: Any  # int64, ascending
    communicator: Communicator
    xp: ModuleType

    @classmethod
    def of(cls, blocks: Iterable[Pairs], communicator: Communicator, csr: ModuleType) -> HashedIds:
        """From the distinct ids in the blocks of all ranks. A collective for each block."""
        xp = csr.xp
        own = xp.empty(0, np.int64)
        for sources, targets in blocks:
            ids = _distinct(xp.concatenate([sources, targets]).astype(np.int64), xp)
            received = communicator.alltoallv_new(
                grouped(ids, owners(ids, communicator.size), communicator.size, xp)[0]
            )
            own = _distinct(xp.concatenate([own, *received]), xp)
        partitioning = Partitioning(tuple(communicator.allgather_object(len(own))), cyclic=False)
        return cls(partitioning, own, communicator, xp)

    def global_ids(self, ids: Any) -> Any:
        """The global ids of ids that `of` has seen. A collective: all ranks call it."""
        distinct = _distinct(ids.astype(np.int64), self.xp)
        asked, order = grouped(distinct, owners(distinct, self.communicator.size), self.communicator.size, self.xp)
        dtype = self.partitioning.dtype
        base = self.communicator.rank * self.partitioning.stride
        received = self.communicator.alltoallv_new(asked)
        answers = [self._local_ids(some).astype(dtype) + dtype.type(base) for some in received]
        global_ids = self.xp.empty(len(distinct), dtype)
        global_ids[order] = self.xp.concatenate(self.communicator.alltoallv_new(answers))
        return global_ids[self.xp.searchsorted(distinct, ids.astype(np.int64))]

    def _local_ids(self, ids: Any) -> Any:
        """The local ids of ids that this rank owns. Raises `InputError` if `of` has not seen one of them."""
        local_ids = self.xp.searchsorted(self.own, ids)
        if len(ids) and (int(local_ids.max()) == len(self.own) or not bool((self.own[local_ids] == ids).all())):
            raise InputError(CHANGED)
        return local_ids


def _distinct(ids: Any, xp: ModuleType) -> Any:
    """The distinct ids, ascending."""
    return xp.unique(ids) if len(ids) else ids


def grouped(values: Any, owner: Any, size: int, xp: ModuleType) -> tuple[list[Any], Any]:
    """The values grouped by owner, and their original positions in that order."""
    if not len(values):
        return [values] * size, xp.empty(0, np.int64)
    order = xp.argsort(owner)
    ends = xp.searchsorted(owner[order], xp.arange(1, size, dtype=owner.dtype)).tolist()
    in_order = values[order]
    return [in_order[first:last] for first, last in zip([0, *ends], [*ends, len(values)], strict=True)], order
