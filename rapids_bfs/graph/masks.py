"""Masks of the arcs or the vertices of a graph, as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arguments import quoted
from .._core.csr import arcs
from .._core.cuda.arrays import CUDA, beside, is_cupy_array, moved, on_device, to_device, to_host
from ..errors import InputError

FEW = 4  # vertices that are looked up in a mask on a device one by one

Mask = Any  # an array of bool, on the host or a device, or a function of the graph that returns one


def checked_mask(mask: Mask, graph: Any, length: int, what: str) -> Any:
    """A mask of ``what`` as an array of ``length`` bools where the graph's answers are, on the graph's own device.

    Raises `InputError` if it has another type or length.
    """
    origin = ""
    if callable(mask):
        origin = f"what {getattr(mask, '__name__', 'the function')} returned, "
        mask = mask(graph)
    array = _as_array(mask)
    if array is None or array.dtype != bool:
        given = quoted(mask) if array is None or isinstance(mask, list) else array.dtype
        raise InputError(
            f"{graph.name}: a mask of {what} is an array of bool, or a function that returns one, not {origin}{given}"
        )
    if array.shape != (length,):
        raise InputError(f"{graph.name}: a mask of its {length:,} {what} has that length, not the shape {array.shape}")
    _require_places(mask, length, what, graph.name)
    return beside(array, graph.targets) if graph.answers_on == CUDA else np.ascontiguousarray(to_host(array))


def _require_places(mask: Any, length: int, what: str, name: str) -> None:
    """Raise `InputError` for a column of pandas that was sorted or has an index of its own: pandas finds values by the
    index, and a mask is read by place."""
    index: Any = getattr(mask, "index", None)
    if on_device(mask) or not hasattr(index, "equals"):
        return
    import pandas as pd

    if not index.equals(pd.RangeIndex(length)):
        raise InputError(
            f"{name}: the index of this {type(mask).__name__} is not 0..{length - 1} in order, and a mask is read by "
            f"place: bring it into the order of the graph's {what}, and give mask.to_numpy()"
        )


def one_way_error(filtered: Any) -> InputError:
    """The error about a mask of arcs that tells the two arcs of an edge apart: it made this graph of an undirected
    one."""
    ends = np.array(arcs.first_one_way(filtered.offsets, filtered.targets))
    one, other = map(quoted, filtered.ids_of(ends).tolist())
    return InputError(
        f"{filtered.name} is undirected, and the mask keeps the edge from {one} to {other} but not the one back: a "
        "mask of arcs must treat both arcs of an edge alike"
    )


def kept_mask(graph: Any, vertices: Mask | None) -> Any:
    """`graph.mask` for a result to keep: on the host a copy, since the caller may change the array afterwards."""
    mask = graph.mask(vertices)
    return mask if mask is None or on_device(mask) else mask.copy()


def require_unmasked(graph: Any, mask: Any, vertices: Any) -> None:
    """Raise `InputError` naming the first of these vertices that a mask leaves out."""
    if mask is None:
        return
    places = np.asarray(vertices, np.int64)
    left_out = places[~_entries(mask, graph.places_of(places))]
    if len(left_out):
        id = graph.ids_of(left_out[:1]).tolist()[0]
        raise InputError(f"{quoted(id)} is masked: a search neither starts nor ends at a vertex that it may not enter")


def _entries(mask: Any, places: np.ndarray) -> np.ndarray:
    """What a mask says of these vertices, on the host."""
    if not on_device(mask):
        found: np.ndarray = mask[places]
        return found
    if len(places) <= FEW:  # 10 microseconds each, and the other way takes 40
        return np.array([bool(mask[place]) for place in places.tolist()])
    return to_host(mask[moved(places, CUDA)])


def _as_array(mask: Any) -> Any:
    """``mask`` as an array of NumPy or CuPy; None if it is neither an array, a column nor a list."""
    if on_device(mask):
        return mask if is_cupy_array(mask) else to_device(mask)  # which copies an array of another device
    if isinstance(mask, np.ma.MaskedArray) or not (hasattr(mask, "__array__") or isinstance(mask, list)):
        return None
    if isinstance(mask, list) and not mask:  # of a graph without edges, or without vertices
        return np.empty(0, bool)
    try:
        return np.asarray(mask)
    except (TypeError, ValueError, RuntimeError):  # the last from PyTorch, for a tensor that requires a gradient
        return None
