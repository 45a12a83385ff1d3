"""The graphs of `cugraph.datasets`."""

from __future__ import annotations

from typing import Any

from .._core.arguments import is_of
from ..errors import InputError
from ..graph import Graph
from . import arrow, cudf


def matches(obj: Any) -> bool:
    return is_of(obj, "cugraph.datasets.dataset", "Dataset")


def from_dataset(dataset: Any, *, directed: bool | None = None, name: str | None = None, **options: Any) -> Graph:
    """A graph from a `cugraph.datasets` object, such as `cugraph.datasets.karate`, on the device if cuDF reads it.

    Undirected if its metadata or ``directed`` say so, or if its edges are symmetric. The other options are those of the
    frame of its edges. Raises `InputError` if its file has not been downloaded.
    """
    try:
        edges = dataset.get_edgelist()
    except (RuntimeError, OSError) as error:
        raise InputError(f"{dataset}: {error}; dataset.get_edgelist(download=True) fetches it") from None
    if directed is None and dataset.metadata.get("is_directed") is False:
        directed = False
    convert = cudf.from_cudf if cudf.matches(edges) else arrow.from_arrow
    return convert(edges, directed=directed, name=name or str(dataset), **options)
