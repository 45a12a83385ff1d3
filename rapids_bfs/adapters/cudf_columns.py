"""The two columns of a list of edges as cuDF's, whatever the edges are in."""

from __future__ import annotations

from typing import Any

from . import pylibcudf
from .cudf import is_proxy
from .cudf import matches as is_cudf


def edge_columns(obj: Any, columns: tuple[str, str]) -> Any:
    """These columns of a table of edges, of any type that `as_graph` takes, or a pair of arrays with these names, as a
    `cudf.DataFrame`."""
    import cudf
    import pyarrow as pa

    if isinstance(obj, tuple):
        return cudf.DataFrame(dict(zip(columns, obj, strict=True)))
    if is_proxy(obj):
        obj = obj.as_gpu_object()
    elif pylibcudf.matches(obj):
        obj = pylibcudf.frame_of_table(obj)
    elif type(obj).__module__.startswith("pandas."):
        obj = cudf.from_pandas(obj)
    elif not is_cudf(obj):
        obj = cudf.DataFrame.from_arrow(pa.table(obj).select(columns))
    return obj.rename(columns=str)[list(columns)]
