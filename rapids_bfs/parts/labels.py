"""Ids that are not 0..n-1: a hash chooses the part of each, which numbers its ids in ascending order and keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from .._core.csr import Pairs
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
    def of(cls, blocks: Iterable[Pairs], peers: Peers, tools: ModuleType) -> Labels:
        """The distinct ids in the blocks of all ranks, which come in step."""
        xp = tools.xp
        own = xp.empty(0, np.int64)
        for sources, targets in blocks:
            ids = _distinct(xp.concatenate([sources, targets]).astype(np.int64), xp)
            received = peers.all_to_all(grouped(ids, owners(ids, peers.size), peers.size, xp)[0])
            own = _distinct(xp.concatenate([own, *received]), xp)
        partition = Partition(tuple(peers.share(len(own))), dealt=False)
        return cls(partition, own, peers, xp)

    def numbers(self, ids: Any) -> Any:
        """The numbers of ids, which all are labels of some part. Every rank asks at the same time."""
        distinct = _distinct(ids.astype(np.int64), self.xp)
        asked, order = grouped(distinct, owners(distinct, self.peers.size), self.peers.size, self.xp)
        dtype = self.partition.dtype
        base = self.peers.rank * self.partition.stride
        received = self.peers.all_to_all(asked)
        told = [self.xp.searchsorted(self.own, some).astype(dtype) + dtype.type(base) for some in received]
        numbers = self.xp.empty(len(distinct), dtype)
        numbers[order] = self.xp.concatenate(self.peers.all_to_all(told))
        return numbers[self.xp.searchsorted(distinct, ids.astype(np.int64))]


def _distinct(ids: Any, xp: ModuleType) -> Any:
    """The distinct ids, ascending."""
    return xp.unique(ids) if len(ids) else ids


def grouped(values: Any, owner: Any, size: int, xp: ModuleType) -> tuple[list[Any], Any]:
    """The values of each of ``size`` owners, and where they were, owner after owner."""
    if not len(values):
        return [values] * size, xp.empty(0, np.int64)
    order = xp.argsort(owner)
    ends = xp.searchsorted(owner[order], xp.arange(1, size, dtype=owner.dtype)).tolist()
    in_order = values[order]
    return [in_order[first:last] for first, last in zip([0, *ends], [*ends, len(values)], strict=True)], order
