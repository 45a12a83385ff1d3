"""Ids that are not 0..n-1. Each part keeps those of its vertices.

Where they are close together they are dealt as if all below the highest occurred, and numbered again without those that
do not. Else a hash chooses the part of each, which numbers its ids in ascending order.
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
from .communicators import Peers
from .partitioning import Partition

MULTIPLIER = np.int64(0x9E3779B97F4A7C15 - (1 << 64))  # of Fibonacci hashing
BITS = 31  # of a hash


def owners(ids: Any, size: int) -> Any:
    """The part that each id (int64) belongs to."""
    return ((ids * MULTIPLIER >> (64 - BITS)) & ((1 << BITS) - 1)) % size


@dataclass
class Occurring:
    """Those of the ids 0..n-1 that occur."""

    partition: Partition
    own: Any  # the ids of this part's vertices, by place
    dealt: Partition  # of all ids
    numbered: Any  # the number by that of ``dealt``, on every rank

    @classmethod
    def of(cls, dealt: Partition, occurs: Any, peers: Peers, tools: ModuleType) -> Occurring:
        """``occurs`` tells it of the ids that are dealt to this rank, by place."""
        xp = tools.xp
        partition = Partition(tuple(peers.share(int(occurs.sum()))), dealt=False)
        own = dealt.ids(dealt.own_numbers(peers.rank, xp)[occurs])
        slots = dealt.size * dealt.stride
        tools.require(slots * partition.dtype.itemsize, f"the numbers of {counted(dealt.n, 'id')}")
        numbered = xp.zeros(slots, partition.dtype)
        first = peers.rank * dealt.stride
        mine = numbered[first : first + len(occurs)]
        mine[:] = occurs
        xp.cumsum(mine, dtype=mine.dtype, out=mine)
        mine -= 1
        xp.maximum(mine, 0, out=mine)  # an id that does not occur has the number of another
        mine += peers.rank * partition.stride
        return cls(partition, own, dealt, peers.completed(numbered))

    def numbers(self, ids: Any) -> Any:
        """The numbers of ids that occur."""
        return self.numbered[self.dealt.numbers(ids)]


@dataclass
class Labels:
    """The ids of all parts; each rank keeps those of its own part."""

    partition: Partition
    own: Any  # int64, ascending
    peers: Peers
    xp: ModuleType

    @classmethod
    def of(cls, blocks: Iterable[Pairs], peers: Peers, tools: ModuleType) -> Labels:
        """The distinct ids in the blocks of all ranks, which go through their blocks in step."""
        xp = tools.xp
        own = xp.empty(0, np.int64)
        for sources, targets in blocks:
            ids = _distinct(xp.concatenate([sources, targets]).astype(np.int64), xp)
            received = peers.all_to_all(grouped(ids, owners(ids, peers.size), peers.size, xp)[0])
            own = _distinct(xp.concatenate([own, *received]), xp)
        partition = Partition(tuple(peers.share(len(own))), dealt=False)
        return cls(partition, own, peers, xp)

    def numbers(self, ids: Any) -> Any:
        """The vertex numbers of ids, each a label of some part. A collective: all ranks call it."""
        distinct = _distinct(ids.astype(np.int64), self.xp)
        asked, order = grouped(distinct, owners(distinct, self.peers.size), self.peers.size, self.xp)
        dtype = self.partition.dtype
        base = self.peers.rank * self.partition.stride
        received = self.peers.all_to_all(asked)
        places = [self._places(some).astype(dtype) + dtype.type(base) for some in received]
        numbers = self.xp.empty(len(distinct), dtype)
        numbers[order] = self.xp.concatenate(self.peers.all_to_all(places))
        return numbers[self.xp.searchsorted(distinct, ids.astype(np.int64))]

    def _places(self, ids: Any) -> Any:
        """Where these ids are in this part's. Raises `InputError` if one was not read before."""
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
