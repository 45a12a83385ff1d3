"""The 1D partitioning of vertices: each has an owner, the rank that stores its row, and a local id there.

The vertex with local id l on rank r has the global id ``r * stride + l``. Global ids between the last vertex of a rank
and the first of the next are unused. So a global id alone gives the owner, and a bitmap over all global ids consists of
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


@dataclass(frozen=True)
class Partitioning:
    """The number of vertices of each partition, and the map between ids and global ids.

    If ``cyclic``, the ids are 0..n-1 and global ids are computed from them: a permutation scrambles the ids, since
    neighbouring ids may have similar degrees, and a cyclic distribution assigns them to ranks. Otherwise each partition
    stores the ids of its vertices, see `ids`.
    """

    counts: tuple[int, ...]
    cyclic: bool = True

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
        return max(-(-max(self.counts) // STRIDE), 1) * STRIDE

    @property
    def dtype(self) -> np.dtype:
        """The type of global ids: int32, or int64 from 2**31 on."""
        return np.dtype(index_dtype(self.size * self.stride))

    def global_ids(self, ids: Any) -> Any:
        """The global ids of these ids under the cyclic distribution, -1 for values that are not ids; on the device that
        ``ids`` is on."""
        return self._computed("to_global_ids", ids, self.dtype)

    def ids(self, global_ids: Any) -> Any:
        """The inverse of `global_ids`; -1 for unused global ids and for -1."""
        return self._computed("to_ids", global_ids, np.dtype(index_dtype(self.n)))

    def _computed(self, kernel: str, values: Any, dtype: np.dtype) -> Any:
        layout = (self.n, self.size, self.stride)
        if on_device(values):
            import cupy

            computed = cupy.empty(len(values), dtype)
            suffix = "" if dtype.itemsize == 8 else "_as_int"
            size, values = len(values), cupy.ascontiguousarray(values)
            launch("distributed_build", kernel + suffix, values.dtype, np.int64, size, values, size, *layout, computed)
        else:
            computed = np.empty(len(values), dtype)
            getattr(kernels, kernel)(np.ascontiguousarray(values), *layout, computed)
        return computed

    def own_global_ids(self, rank: int, like: Any = np) -> Any:
        """The global ids of a rank's vertices by local id, as an array of the module ``like``, NumPy or CuPy."""
        first = rank * self.stride
        return like.arange(first, first + self.counts[rank], dtype=self.dtype)
