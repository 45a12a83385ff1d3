"""Frames of Dask whose partitions are of pandas, which become a graph in this process.

Every object is shown to this module, so it imports Arrow late, which takes a tenth of a second.
"""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..graph import Graph
from ._edge_data import Asked
from .arrow import from_arrow

FRAME = "dask"  # `Graph.frame` of graphs from this module


def matches(obj: Any) -> bool:
    return type(obj).__name__ == "DataFrame" and type(obj).__module__.partition(".")[0] in ("dask", "dask_cudf")


def is_on_devices(obj: Any) -> bool:
    """Are the partitions of this frame cuDF's? `distributed.frames` makes a graph of them on their workers."""
    return type(obj._meta).__module__.startswith("cudf.")


def edge_columns(obj: Any, source: str | None, target: str | None, name: str) -> tuple[Any, tuple[str, str]]:
    """The frame of the two columns that hold the edges, and their names."""
    from ._tables import choose_columns

    (i, j), columns = choose_columns(list(obj.columns), source, target, name, index=obj._meta.index.names)
    return obj[[obj.columns[i], obj.columns[j]]], columns


def from_dask(
    obj: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    name: str = "frame",
    edge_data: Asked | None = None,
    **options: Any,
) -> Graph:
    """A graph in this process from a frame of edges with partitions of pandas, which are computed and fetched
    once.

    ``source`` and ``target`` name its columns, by default a pair with usual names, or the only two. The other arguments
    are those of `rapids_bfs.adapters.edges.from_edges`.
    """
    import dask
    import pyarrow as pa

    from ._dask_partitions import edges_of
    from ._tables import from_arrow_table

    if edge_data is not None:
        graph = from_arrow(obj.compute(), source=source, target=target, name=name, edge_data=edge_data, **options)
        graph.frame = FRAME
        return graph
    frame, columns = edge_columns(obj, source, target, name)
    parts = dask.compute(*(dask.delayed(edges_of)(part, columns, name) for part in frame.to_delayed()))
    try:
        table = pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(f"{name}: its partitions hold ids of several types: cast them to one ({error})") from None
    return from_arrow_table(table, columns, name, frame=FRAME, **options)


def client_here() -> Any:
    """The client of Dask's default cluster; None if this process computes."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "gather") else None
