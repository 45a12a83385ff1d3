"""Which part a vertex belongs to, and its place there.

The numbers of part r are ``r * stride``, ``r * stride + 1``, ...: as many as it has vertices, and then unused ones up
to the next part's. So a number alone tells its vertex's owner, and a bitmap over all numbers consists of equal slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.device import on_device
from .._core.dtypes import index_dtype
from .._core.launch import launch
from ..kernels.cpu import parts as kernels

STRIDE = 256  # a stride is a multiple of it, so that slices of bitmaps are whole words and aligned


def stride_of(most: int) -> int:
    """The stride of parts with at most so many vertices."""
    return max(-(-most // STRIDE), 1) * STRIDE


@dataclass(frozen=True)
class Partition:
    """So many vertices on each part, and how ids become numbers.

    With ``dealt`` the ids are 0..n-1, and their numbers are computed: scrambled, since neighbouring ids may have
    similar degrees, and then dealt to the parts in turn. Otherwise parts have labels, see `labels`.
    """

    counts: tuple[int, ...]
    dealt: bool = True

    @classmethod
    def of(cls, n: int, size: int) -> Partition:
        """Ids 0..n-1 over ``size`` parts."""
        return cls(tuple((n - rank + size - 1) // size for rank in range(size)))

    @property
    def size(self) -> int:
        return len(self.counts)

    @property
    def n(self) -> int:
        return sum(self.counts)

    @property
    def stride(self) -> int:
        return stride_of(max(self.counts))

    @property
    def dtype(self) -> np.dtype:
        """The type of numbers."""
        return np.dtype(index_dtype(self.size * self.stride))

    def numbers(self, ids: Any) -> Any:
        """The numbers of vertices, where ``ids`` are dealt; on the device if they are."""
        return self._computed("number", ids, self.dtype)

    def ids(self, numbers: Any) -> Any:
        """The inverse of `numbers`; -1 stays."""
        return self._computed("name", numbers, np.dtype(index_dtype(self.n)))

    def _computed(self, kernel: str, values: Any, dtype: np.dtype) -> Any:
        given = (self.n, self.size, self.stride)
        if on_device(values):
            import cupy

            computed = cupy.empty(len(values), dtype)
            suffix = "" if dtype.itemsize == 8 else "_as_int"
            size, values = len(values), cupy.ascontiguousarray(values)
            launch("parts_build", kernel + suffix, values.dtype, np.int64, size, values, size, *given, computed)
        else:
            computed = np.empty(len(values), dtype)
            getattr(kernels, kernel)(np.ascontiguousarray(values), *given, computed)
        return computed

    def own_numbers(self, rank: int, like: Any = np) -> Any:
        """The numbers of a part's vertices, by place; an array of the module ``like``, NumPy or CuPy."""
        first = rank * self.stride
        return like.arange(first, first + self.counts[rank], dtype=self.dtype)
