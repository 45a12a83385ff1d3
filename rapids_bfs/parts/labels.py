"""Ids that are not 0..n-1: a hash chooses the part of each, which numbers its ids in ascending order and keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from ..csr import Edges
from .partition import Partition
from .peers import Peers

MULTIPLIER = np.int64(0x9E3779B97F4A7C15 - (1 << 64))  # of Fibonacci hashing
BITS = 31  # of a hash


def owners(ids: Any, size: int) -> Any:
    """The part that each id (int64) belongs to."""
    return ((ids * MULTIPLIER >> (64 - BITS)) & ((1 << BITS) - 1)) % size


@dataclass
class Labels:
    """The ids of all parts, of which this rank keeps its own."""

    partition: Partition
    own: Any  # int64, ascending
    peers: Peers
    xp: ModuleType

    @classmethod
    def of(cls, blocks: Iterable[Edges], peers: Peers, tools: ModuleType) -> Labels:
        """The distinct ids in the blocks of all ranks, which come in step."""
        xp = tools.xp
        own = xp.empty(0, np.int64)
        for sources, targets in blocks:
            ids = xp.unique(xp.concatenate([sources, targets]).astype(np.int64))
            received = peers.all_to_all(_split(ids, peers.size, xp)[0])
            own = xp.unique(xp.concatenate([own, *received]))
        partition = Partition(tuple(peers.share(len(own))), dealt=False)
        return cls(partition, own, peers, xp)

    def numbers(self, ids: Any) -> Any:
        """The numbers of ids, which all are labels of some part. Every rank asks at the same time."""
        distinct, back = self.xp.unique(ids.astype(np.int64), return_inverse=True)
        asked, order = _split(distinct, self.peers.size, self.xp)
        dtype = self.partition.dtype
        base = self.peers.rank * self.partition.stride
        told = [self.xp.searchsorted(self.own, some).astype(dtype) + dtype.type(base) for some in self.peers.all_to_all(asked)]
        numbers = self.xp.empty(len(distinct), dtype)
        numbers[order] = self.xp.concatenate(self.peers.all_to_all(told))
        return numbers[back]


def _split(ids: Any, size: int, xp: ModuleType) -> tuple[list[Any], Any]:
    """The ids of each owner, and where in ``ids`` they were, owner after owner."""
    owner = owners(ids, size)
    order = xp.argsort(owner, kind="stable") if xp is np else xp.argsort(owner)
    ends = xp.searchsorted(owner[order], xp.arange(1, size)).tolist()
    grouped = ids[order]
    return [grouped[first:last] for first, last in zip([0, *ends], [*ends, len(ids)], strict=True)], order
