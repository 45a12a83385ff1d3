"""pylibcudf's tables, and tables on a device with the Arrow C device interface."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from ..graph import Graph
from .cudf import from_cudf, to_cudf

ARROW_CUDA = (2, 13)  # ARROW_DEVICE_CUDA, ARROW_DEVICE_CUDA_MANAGED
DEVICE_TYPE = 88  # where it stands in struct ArrowDeviceArray: behind an ArrowArray (80 bytes) and device_id


def matches(obj: Any) -> bool:
    """A `pylibcudf.Table`, or an Arrow table in the memory of a CUDA device."""
    return _is_table(obj) or (hasattr(obj, "__arrow_c_device_array__") and _device_type(obj) in ARROW_CUDA)


def _is_table(obj: Any) -> bool:
    return type(obj).__module__.startswith("pylibcudf.") and type(obj).__name__ == "Table"


def _device_type(obj: Any) -> int:
    """The device type of ``obj`` by the Arrow C device interface."""
    _, array = obj.__arrow_c_device_array__()
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    start = address(array, b"arrow_device_array")
    assert start is not None  # a NULL would have been raised
    return ctypes.c_int32.from_address(start + DEVICE_TYPE).value


def from_pylibcudf(table: Any, **options: Any) -> Graph:
    """A graph on the device from a table of edges; ``options`` are those of `rapids_bfs.adapters.cudf.from_cudf`.

    The columns of a `pylibcudf.Table` have no names: two are source and target, more go by the names "0", "1", ...
    """
    return from_cudf(frame_of_table(table), **options)


def frame_of_table(table: Any) -> Any:
    """The table as a `cudf.DataFrame`, without a copy."""
    import cudf
    import pylibcudf

    if _is_table(table):
        columns = table.num_columns()
        names = ["source", "target"] if columns == 2 else [str(place) for place in range(columns)]
    else:
        names = _names(table)
        table = pylibcudf.Table.from_arrow(table)
    return cudf.DataFrame.from_pylibcudf(table, {"columns": names})


def to_pylibcudf(graph: Graph) -> Any:
    """A `pylibcudf.Table` of edges, an undirected edge once."""
    table, _ = to_cudf(graph).to_pylibcudf()
    return table


def to_arrow_device(graph: Graph) -> NamedTable:
    """The edges, an undirected edge once, for consumers of the Arrow C device interface."""
    return NamedTable(to_pylibcudf(graph), graph.columns)


@dataclass(frozen=True)
class NamedTable:
    """A table with the Arrow C device interface, shown with these names of columns."""

    table: Any
    names: tuple[str, ...]

    def __arrow_c_device_array__(self, requested_schema: Any = None, **options: Any) -> tuple[Any, Any]:
        import pyarrow as pa

        schema, array = self.table.__arrow_c_device_array__(requested_schema, **options)
        fields = [field.with_name(name) for field, name in zip(_schema(schema), self.names, strict=True)]
        return pa.schema(fields).__arrow_c_schema__(), array


@dataclass(frozen=True)
class _Exported:
    """A capsule with an Arrow schema, as PyArrow asks for it."""

    capsule: Any

    def __arrow_c_schema__(self) -> Any:
        return self.capsule


def _schema(capsule: Any) -> Any:
    import pyarrow as pa

    return pa.schema(_Exported(capsule))


def _names(obj: Any) -> list[str]:
    """The names of the columns of an Arrow table on a device."""
    schema, _ = obj.__arrow_c_device_array__()
    names: list[str] = _schema(schema).names
    return names
