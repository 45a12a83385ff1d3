"""The arcs of a CSR that a filter keeps, on a CUDA device: what `host_filter` does, by CuPy."""

from __future__ import annotations

from typing import Any

import cupy

from ..cuda.kernels import launch
from ..memory import require_device_bytes as require

BLOCK = 1 << 27  # arcs whose ends are looked up at a time


class Kept:
    """The arcs that a filter keeps.

    ``edges`` is a mask of the arcs, ``vertices`` one of the vertices, both of which an arc must have at its ends; None
    keeps all. The first row is that of the vertex ``base``. The masks are copied.
    """

    def __init__(self, offsets: Any, targets: Any, edges: Any, vertices: Any, base: int = 0) -> None:
        arcs = len(targets)
        require(arcs, f"a filter of {arcs:,} arcs")
        self._kept = cupy.ones(arcs, bool) if edges is None else edges.copy()
        if vertices is not None:
            for first in range(0, arcs, BLOCK):
                block = targets[first : first + BLOCK]
                sources = cupy.empty_like(block)
                arguments = (offsets, len(offsets) - 1, first, len(block), sources)
                launch("csr", "expand", targets.dtype, offsets.dtype, len(block), *arguments)
                self._kept[first : first + BLOCK] &= vertices[base:][sources] & vertices[block]
        self.total = int(cupy.count_nonzero(self._kept))

    def offsets(self, offsets: Any) -> Any:
        """The offsets of the arcs that are kept, of the same type."""
        arcs = len(self._kept)
        require((arcs + len(offsets)) * offsets.itemsize, f"the offsets of {self.total:,} arcs")
        ranks = cupy.zeros(arcs + 1, offsets.dtype)
        cupy.cumsum(self._kept, dtype=offsets.dtype, out=ranks[1:])
        return ranks[offsets]

    def taken(self, values: Any) -> Any:
        """A column of the arcs, of the arcs that are kept."""
        require(self.total * values.itemsize + 8 * len(values), f"a column of {self.total:,} arcs")
        return values[self._kept]
