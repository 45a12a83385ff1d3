"""Ids other than 0..n-1: a hash assigns each id to a part, which keeps its ids in ascending order and numbers them."""

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
        told = [self.xp.searchsorted(self.own, some).astype(dtype) + dtype.type(base) for some in received]
        numbers = self.xp.empty(len(distinct), dtype)
        numbers[order] = self.xp.concatenate(self.peers.all_to_all(told))
        return numbers[self.xp.searchsorted(distinct, ids.astype(np.int64))]


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
