"""Ids that are not 0..n-1. Each partition keeps those of its vertices.

Where they are close together they are dealt as if all below the highest occurred, and numbered again without those that
do not. Else a hash chooses the partition of each, which numbers its ids in ascending order.
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
    """The partition that each id (int64) belongs to."""
    return ((ids * MULTIPLIER >> (64 - BITS)) & ((1 << BITS) - 1)) % size


@dataclass
class CompactIds:
    """Those of the ids 0..n-1 that occur."""

    partitioning: Partitioning
    own: Any  # the ids of this partition's vertices, by place
    dealt: Partitioning  # of all ids
    numbered: Any  # the number by that of ``dealt``, on every rank

    @classmethod
    def of(cls, dealt: Partitioning, occurs: Any, communicator: Communicator, tools: ModuleType) -> CompactIds:
        """``occurs`` tells it of the ids that are dealt to this rank, by place."""
        xp = tools.xp
        partitioning = Partitioning(tuple(communicator.share(int(occurs.sum()))), dealt=False)
        own = dealt.ids(dealt.own_numbers(communicator.rank, xp)[occurs])
        slots = dealt.size * dealt.stride
        tools.require(slots * partitioning.dtype.itemsize, f"the numbers of {counted(dealt.n, 'id')}")
        numbered = xp.zeros(slots, partitioning.dtype)
        first = communicator.rank * dealt.stride
        mine = numbered[first : first + len(occurs)]
        mine[:] = occurs
        xp.cumsum(mine, dtype=mine.dtype, out=mine)
        mine -= 1
        xp.maximum(mine, 0, out=mine)  # an id that does not occur has the number of another
        mine += communicator.rank * partitioning.stride
        return cls(partitioning, own, dealt, communicator.completed(numbered))

    def numbers(self, ids: Any) -> Any:
        """The numbers of ids that occur."""
        return self.numbered[self.dealt.numbers(ids)]


@dataclass
class HashedIds:
    """The ids of all partitions; each rank keeps those of its own partition."""

    partitioning: Partitioning
    own: Any  # int64, ascending
    communicator: Communicator
    xp: ModuleType

    @classmethod
    def of(cls, blocks: Iterable[Pairs], communicator: Communicator, tools: ModuleType) -> HashedIds:
        """The distinct ids in the blocks of all ranks, which go through their blocks in step."""
        xp = tools.xp
        own = xp.empty(0, np.int64)
        for sources, targets in blocks:
            ids = _distinct(xp.concatenate([sources, targets]).astype(np.int64), xp)
            received = communicator.all_to_all(grouped(ids, owners(ids, communicator.size), communicator.size, xp)[0])
            own = _distinct(xp.concatenate([own, *received]), xp)
        partitioning = Partitioning(tuple(communicator.share(len(own))), dealt=False)
        return cls(partitioning, own, communicator, xp)

    def numbers(self, ids: Any) -> Any:
        """The vertex numbers of ids, each a label of some partition. A collective: all ranks call it."""
        distinct = _distinct(ids.astype(np.int64), self.xp)
        asked, order = grouped(distinct, owners(distinct, self.communicator.size), self.communicator.size, self.xp)
        dtype = self.partitioning.dtype
        base = self.communicator.rank * self.partitioning.stride
        received = self.communicator.all_to_all(asked)
        places = [self._places(some).astype(dtype) + dtype.type(base) for some in received]
        numbers = self.xp.empty(len(distinct), dtype)
        numbers[order] = self.xp.concatenate(self.communicator.all_to_all(places))
        return numbers[self.xp.searchsorted(distinct, ids.astype(np.int64))]

    def _places(self, ids: Any) -> Any:
        """Where these ids are in this partition's. Raises `InputError` if one was not read before."""
        places = self.xp.searchsorted(self.own, ids)
        if len(ids) and (int(places.max()) == len(self.own) or not bool((self.own[places] == ids).all())):
            raise InputError(CHANGED)
        return places


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
