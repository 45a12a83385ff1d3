"""The types of the arrays of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cuda.arrays import on_device

INT32_LIMIT = 1 << 31


def index_dtype(count: int) -> type[np.signedinteger[Any]]:
    """int32 if it can number ``count`` items, else int64."""
    return np.int32 if count < INT32_LIMIT else np.int64


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view of ``array``; an array on a device, where nothing is read-only, is returned itself."""
    if on_device(array):
        return array
    view = array.view()
    view.flags.writeable = False
    return view
