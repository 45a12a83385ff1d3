"""The connected components of a CSR on a CUDA device, by `kernels/cuda/graph/components.cu`."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ..cuda.arrays import to_host
from ..cuda.kernels import launch
from ..memory import require_device_bytes as require

FILE = "components"
ROUNDS = 2  # first edges of a vertex
SAMPLE = 1024  # vertices among which the largest component is looked for


def components(offsets: Any, targets: Any, symmetric: bool, allowed: Any) -> tuple[Any, int]:
    """See `rapids_bfs._core.csr.host.components`."""
    n, m, dtype = len(offsets) - 1, len(targets), targets.dtype
    if n == 0:
        return cupy.empty(0, dtype), 0
    require(n * (4 * dtype.itemsize + 1), f"the components of {n:,} vertices")
    types = dtype, offsets.dtype
    pointers = cupy.arange(n, dtype=dtype)
    for place in range(ROUNDS):
        launch(FILE, "join_first", *types, n, offsets, targets, n, place, allowed, pointers)
        launch(FILE, "flatten", *types, n, n, pointers)
    largest = _most_frequent(pointers) if symmetric else -1
    launch(FILE, "join_others", *types, m, offsets, targets, n, m, ROUNDS, allowed, largest, pointers)
    launch(FILE, "flatten", *types, n, n, pointers)
    return _numbered(pointers, allowed)


def _most_frequent(pointers: Any) -> int:
    """The most frequent pointer of `SAMPLE` vertices, evenly spread."""
    places = cupy.arange(SAMPLE) * len(pointers) // SAMPLE
    found, votes = np.unique(to_host(pointers[places]), return_counts=True)
    return int(found[votes.argmax()])


def _numbered(roots: Any, allowed: Any) -> tuple[Any, int]:
    """The number of each vertex's root among the roots that are allowed, in ascending order; -1 where a vertex is not.
    And how many roots there are."""
    is_root = roots == cupy.arange(len(roots), dtype=roots.dtype)
    if allowed is not None:
        is_root &= allowed
    numbers = cupy.cumsum(is_root, dtype=roots.dtype)
    labels = numbers[roots] - 1
    if allowed is not None:
        labels[~allowed] = -1
    return labels, int(numbers[-1])
