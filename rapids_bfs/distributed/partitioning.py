"""Assigns each vertex to a partition, and a place there.

The vertices of partition r have the numbers ``r * stride``, ``r * stride + 1``, ...; those between its last vertex and the
next partition's first are unused. So a number alone gives its vertex's owner, and a bitmap over all numbers consists of
equal slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._core.cuda.arrays import on_device
from .._core.cuda.kernels import launch
from .._core.dtypes import index_dtype
from ..kernels.cpu import distributed as kernels

STRIDE = 256  # a stride is a multiple of this, so that slices of bitmaps are aligned whole words


def stride_of(most: int) -> int:
    """The stride of partitions with at most this many vertices."""
    return max(-(-most // STRIDE), 1) * STRIDE


@dataclass(frozen=True)
class Partitioning:
    """The number of vertices of each partition, and how ids are numbered.

    ``dealt``: the ids are 0..n-1, and their numbers are computed: they are scrambled, since neighbouring ids may have
    similar degrees, and then dealt to the partitions in turn. Otherwise partitions have labels, see `labels`.
    """

    counts: tuple[int, ...]
    dealt: bool = True

    @classmethod
    def of(cls, n: int, size: int) -> Partitioning:
        """Ids 0..n-1 over ``size`` partitions."""
        return cls(tuple((n - rank + size - 1) // size for rank in range(size)))

    @cached_property
    def size(self) -> int:
        return len(self.counts)

    @cached_property
    def n(self) -> int:
        return sum(self.counts)

    @cached_property
    def stride(self) -> int:
        return stride_of(max(self.counts))

    @property
    def dtype(self) -> np.dtype:
        """The type of vertex numbers."""
        return np.dtype(index_dtype(self.size * self.stride))

    def numbers(self, ids: Any) -> Any:
        """The numbers of the vertices with these ids, which are dealt, -1 for others; on the device if ``ids`` are
        there."""
        return self._computed("number", ids, self.dtype)

    def ids(self, numbers: Any) -> Any:
        """The inverse of `numbers`; -1 for what is no number."""
        return self._computed("name", numbers, np.dtype(index_dtype(self.n)))

    def _computed(self, kernel: str, values: Any, dtype: np.dtype) -> Any:
        given = (self.n, self.size, self.stride)
        if on_device(values):
            import cupy

            computed = cupy.empty(len(values), dtype)
            suffix = "" if dtype.itemsize == 8 else "_as_int"
            size, values = len(values), cupy.ascontiguousarray(values)
            launch("distributed_build", kernel + suffix, values.dtype, np.int64, size, values, size, *given, computed)
        else:
            computed = np.empty(len(values), dtype)
            getattr(kernels, kernel)(np.ascontiguousarray(values), *given, computed)
        return computed

    def own_numbers(self, rank: int, like: Any = np) -> Any:
        """The numbers of a partition's vertices, by place, as an array of the module ``like``, NumPy or CuPy."""
        first = rank * self.stride
        return like.arange(first, first + self.counts[rank], dtype=self.dtype)
