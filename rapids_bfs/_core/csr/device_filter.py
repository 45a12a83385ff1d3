"""The arcs of a CSR that a filter keeps, on a CUDA device, by `kernels/cuda/graph/masks.cu`."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ..cuda.kernels import launch
from ..memory import require_device_bytes as require
from . import is_symmetric

WORD = 32  # vertices or arcs of a bitmap's word
RUN = 64 * WORD  # arcs of a run: LONG_RUN in the kernels


class KeptArcs:
    """The arcs that a filter keeps: a bitmap with ranks, by which any column is compacted.

    ``edges`` is a mask of the arcs, ``vertices`` one of the vertices, both of which an arc must have at its ends; None
    keeps all. The first row is that of the vertex ``base``. What is written to the masks afterwards changes nothing.
    """

    def __init__(self, offsets: Any, targets: Any, edges: Any, vertices: Any, base: int = 0) -> None:
        rows, arcs = len(offsets) - 1, len(targets)
        words, runs = -(-arcs // WORD), -(-arcs // RUN)
        require(6 * words + 16 * runs + (0 if vertices is None else len(vertices) // 8), f"a filter of {arcs:,} arcs")
        self.arcs = arcs
        self._types = targets.dtype, offsets.dtype
        self._bits, self._ranks = cupy.empty(words, np.uint32), cupy.empty(words, np.uint16)
        barred = None
        if vertices is not None:
            barred = cupy.empty(-(-len(vertices) // WORD), np.uint32)
            self._launch("bar", len(barred), vertices, len(vertices), None, barred)
        counts = cupy.zeros(runs + 1, np.int64)
        found = self._bits, self._ranks, counts[1:]
        self._launch("kept_arcs", arcs, offsets, targets, rows, arcs, base, edges, barred, *found)
        self._starts = cupy.cumsum(counts)
        self.total = int(self._starts[-1])

    def offsets(self, offsets: Any) -> Any:
        """The offsets of a CSR of the kept arcs alone, from those of all; of the same type."""
        count = len(offsets)
        require(count * offsets.itemsize, f"the offsets of {self.total:,} arcs")
        moved = cupy.empty(count, offsets.dtype)
        self._launch("move_offsets", count, offsets, count, self.arcs, *self._found, moved)
        return moved

    def compacted(self, values: Any) -> Any:
        """The entries of the kept arcs, from ``values``, which has one for each arc."""
        require(self.total * values.itemsize, f"a column of {self.total:,} arcs")
        compacted = cupy.empty(self.total, values.dtype)
        self._launch(f"compact_{values.itemsize}", self.arcs, values, self.arcs, *self._found, compacted)
        return compacted

    def symmetric(self, offsets: Any, targets: Any, kept: tuple[Any, Any]) -> bool:
        """Are the kept arcs, whose CSR is ``kept``, symmetric?"""
        return is_symmetric(*kept)

    @property
    def _found(self) -> tuple[Any, Any, Any]:
        return self._bits, self._ranks, self._starts

    def _launch(self, kernel: str, count: int, *arguments: Any) -> None:
        launch("masks", kernel, *self._types, count, *arguments)
