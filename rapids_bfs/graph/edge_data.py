"""What the edges of a graph carry besides their ends: named columns, in the order of the arcs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from .._core.arguments import elements, quoted
from .._core.csr.checks import check_array
from .._core.cuda.arrays import CPU, CUDA, device_of, moved, on_device, to_host
from .._core.dtypes import frozen
from .._core.formatting import counted
from ..errors import InputError

NUMBERS = "bool, integers and floats of up to 64 bits"
USUAL_UNITS = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"} | {unit: unit for unit in ("D", "s", "ms", "us", "ns")}
NOT_A_TIME = np.iinfo(np.int64).min  # how NumPy stores NaT

Changed = Callable[[Any], Any]  # of the array that holds a column


class EdgeData(Mapping[str, Any]):
    """The columns of a graph's edges by name, each with an entry for every entry of ``graph.targets``, read-only.

    A column is an array of bool, integers, floats or, on the host, datetime64; on a device dates are `Dates`. Strings
    are `Categories`. All of them compare to a value, which gives a mask for `Graph.filter`.
    """

    __slots__ = ("_columns", "_pending")
    __eq__ = object.__eq__  # arrays have no truth
    __hash__ = object.__hash__

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns: Any = dict(columns)  # None until they are put together
        self._pending: Callable[[], EdgeData] | None = None

    def __getitem__(self, name: str) -> Any:
        try:
            return self._now[name]
        except (KeyError, TypeError):
            known = ", ".join(map(quoted, self)) if self else "none: see edge_data= of as_graph"
            raise InputError(f"there are no edge data {quoted(name)}; there are {known}") from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._now

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)

    def __repr__(self) -> str:
        return f"<EdgeData: {', '.join(f'{name} ({column.dtype})' for name, column in self.items())}>"

    def __reduce__(self) -> Any:
        return EdgeData, (self._now,)

    def now(self) -> EdgeData:
        """This, put together."""
        return EdgeData(self._now) if self._columns is None else self

    @property
    def _now(self) -> dict[str, Any]:
        pending = self._pending  # read first: another thread that puts the columns together clears it last
        if self._columns is None and pending is not None:
            self._columns = pending()._now
            self._pending = None
        columns: dict[str, Any] = self._columns
        return columns

    @property
    def nbytes(self) -> int:
        """Bytes of the columns."""
        return sum(column.nbytes for column in self.values())

    def changed(self, change: Changed) -> EdgeData:
        """The same columns, with the arrays that hold them changed by a function."""
        return EdgeData({name: _changed(column, change) for name, column in self.items()})

    def taken(self, arcs: Callable[[], Any]) -> EdgeData:
        """The columns in another order, whose arc i was arc ``arcs()[i]``; put together when they are first read."""
        if not self:
            return self
        later = EdgeData({})
        later._columns, later._pending = None, lambda: self.changed(operator.itemgetter(arcs()))
        return later

    def on(self, device: str) -> EdgeData:
        """The same columns in the memory of "cpu" or "cuda"."""
        return EdgeData({name: _on(column, device) for name, column in self.items()})


NO_EDGE_DATA = EdgeData({})


class Categories:
    """A column of strings, each held as a number.

    ``column == "a"``, ``column != "a"`` and ``column.isin(["a", "b"])`` give masks where the column is; nothing equals
    a missing string. On the host ``numpy.asarray(column)`` gives the strings, None where one is missing.

    Attributes
    ----------
    codes : int32 array
        The place of each string in ``categories``; -1 where it is missing.
    categories : array of distinct str, on the host
    """

    __slots__ = ("categories", "codes")
    __array_ufunc__: ClassVar[None] = None  # NumPy leaves comparisons to this class
    __hash__ = None  # type: ignore[assignment]
    dtype = "category"

    def __init__(self, codes: Any, categories: np.ndarray) -> None:
        self.codes = frozen(codes)
        self.categories = frozen(categories)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<Categories: {len(self):,} of {counted(len(self.categories), 'string')}>"

    def __reduce__(self) -> Any:
        return Categories, (self.codes, self.categories)

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes)

    def __getitem__(self, places: Any) -> Any:
        """The string at one place, or the column at several."""
        codes = self.codes[places]
        if getattr(codes, "ndim", 0):
            return Categories(codes, self.categories)
        return None if codes < 0 else self.categories[int(codes)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        strings: np.ndarray = np.append(self.categories, [None])[to_host(self.codes)]
        return strings if dtype is None else strings.astype(dtype)

    def __eq__(self, value: object) -> Any:
        return self.isin([value])

    def __ne__(self, value: object) -> Any:
        return ~self.isin([value])

    def isin(self, values: Iterable[Any]) -> Any:
        """A mask of the entries that are among these strings."""
        try:
            wanted = {value for value in elements(values) if isinstance(value, str)}
        except (TypeError, ValueError):
            raise InputError(f"isin takes a list of strings, not {quoted(values)}") from None
        chosen = [value in wanted for value in self.categories]
        return moved(np.array([*chosen, False]), device_of(self.codes))[self.codes]


class Dates:
    """A column of dates on a device, where arrays have no type for them.

    Compared to a `numpy.datetime64`, a `datetime`, or a string that NumPy reads as a date, it gives a mask; NaT, which
    marks a missing date, only differs.

    Attributes
    ----------
    counts : int64 array, on the device
        Since 1970, in the unit of ``dtype``.
    dtype : NumPy's datetime64 of some unit
    """

    __slots__ = ("counts", "dtype")
    __array_ufunc__: ClassVar[None] = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, counts: Any, dtype: Any) -> None:
        self.counts = counts
        self.dtype = np.dtype(dtype)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"<Dates: {len(self):,} of {self.dtype}>"

    def __reduce__(self) -> Any:
        return Dates, (self.counts, self.dtype)

    @property
    def nbytes(self) -> int:
        return int(self.counts.nbytes)

    def __getitem__(self, places: Any) -> Any:
        """The date at one place, or the column at several."""
        counts = self.counts[places]
        return Dates(counts, self.dtype) if counts.ndim else np.int64(int(counts)).view(self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        dates: np.ndarray = to_host(self.counts).view(self.dtype)
        return dates if dtype is None else dates.astype(dtype)

    def _moment(self, value: Any) -> tuple[int, bool]:
        """``value`` as a count, rounded down, and whether that is exact."""
        try:
            moment = value.to_datetime64() if hasattr(value, "to_datetime64") else np.datetime64(value)
        except (TypeError, ValueError) as error:
            raise InputError(f"{quoted(value)} is no date that NumPy reads ({error})") from None
        down = moment.astype(self.dtype)
        return int(down.astype(np.int64)), bool(down == moment)

    def _compared(self, compare: Callable[[Any, int], Any], count: int) -> Any:
        mask = compare(self.counts, count)
        mask &= self.counts != NOT_A_TIME
        return mask if count != NOT_A_TIME else mask & False

    def __lt__(self, value: Any) -> Any:
        count, exact = self._moment(value)
        return self._compared(operator.lt, count) if exact else self._compared(operator.le, count)

    def __le__(self, value: Any) -> Any:
        return self._compared(operator.le, self._moment(value)[0])

    def __gt__(self, value: Any) -> Any:
        return self._compared(operator.gt, self._moment(value)[0])

    def __ge__(self, value: Any) -> Any:
        count, exact = self._moment(value)
        return self._compared(operator.ge, count) if exact else self._compared(operator.gt, count)

    def __eq__(self, value: object) -> Any:
        count, exact = self._moment(value)
        return self._compared(operator.eq, count) if exact else self.counts != self.counts

    def __ne__(self, value: object) -> Any:
        return ~(self == value)


def _changed(column: Any, change: Changed) -> Any:
    match column:
        case Categories():
            return Categories(change(column.codes), column.categories)
        case Dates():
            return Dates(change(column.counts), column.dtype)
    return frozen(change(column))


def _on(column: Any, device: str) -> Any:
    if isinstance(column, np.ndarray) and column.dtype.kind == "M" and device == CUDA:
        return Dates(moved(column.view(np.int64), device), column.dtype)
    if isinstance(column, Dates) and device == CPU:
        return frozen(np.asarray(column))
    return _changed(column, lambda array: moved(array, device))


def checked_edge_data(edge_data: Any, arcs: int, device: str, name: str) -> EdgeData:
    """The columns of a graph of this many arcs on this device. Raises `InputError` if one is not."""
    if edge_data is None:
        return NO_EDGE_DATA
    if not isinstance(edge_data, Mapping):
        raise InputError(f"{name}: edge_data is a dict of columns by name, not {quoted(edge_data)}")
    return EdgeData({title: _checked(title, column, arcs, device, name) for title, column in edge_data.items()})


def _checked(title: Any, column: Any, arcs: int, device: str, name: str) -> Any:
    if not isinstance(title, str):
        raise InputError(f"{name}: edge data have names, not {quoted(title)}")
    where = f"{name}, edge data {title!r}"
    array = storage_of(column)
    _check_storage(array, where)
    if array.ndim != 1 or len(array) != arcs:
        raise InputError(f"{where}: {arcs:,} arcs want an array of that length, not one of shape {array.shape}")
    if on_device(array) != (device == CUDA):
        raise InputError(f"{where} must be on {device!r}, where the graph is")
    if isinstance(column, Categories) and arcs and (array.min() < -1 or array.max() >= len(column.categories)):
        raise InputError(f"{where}: a code is not one of its {len(column.categories):,} categories")
    return _changed(column, lambda array: with_usual_unit(_contiguous(array), where))


def storage_of(column: Any) -> Any:
    """The array that holds a column: the codes of `Categories`, the counts of `Dates`, any other column itself."""
    match column:
        case Categories():
            return column.codes
        case Dates():
            return column.counts
    return column


def _check_storage(array: Any, where: str) -> None:
    """Raise `InputError` unless this is an array of a type that holds columns."""
    check_array(array, where)
    if not (array.dtype.kind in "biuf" and array.dtype.itemsize <= 8) and array.dtype.kind != "M":
        raise InputError(
            f"{where}: {array.dtype} is none of {NUMBERS}, datetime64: as_graph makes categories of strings"
        )


def with_usual_unit(array: Any, where: str) -> Any:
    """``array``, or its dates in days, or in the next smaller one of the units that Arrow, pandas and Polars have.

    Raises `InputError` if there is none, or the dates do not fit.
    """
    if array.dtype.kind != "M":
        return array
    unit, multiple = np.datetime_data(array.dtype)
    usual = USUAL_UNITS.get(unit)
    if usual is None:
        raise InputError(f"{where}: dates are kept in units from days to nanoseconds, not as {array.dtype}")
    if unit == usual != "D" and multiple == 1:
        return array
    converted = array.astype(f"M8[{usual}]", copy=False)
    counts = converted.view(np.int64)
    kept = converted.astype(array.dtype).view(np.int64) == array.view(np.int64)  # NumPy's comparison wraps too
    if usual == "D":
        kept &= (counts == counts.astype(np.int32)) | (counts == NOT_A_TIME)
    if not kept.all():
        raise InputError(f"{where}: its dates are beyond those of {'date32' if usual == 'D' else converted.dtype}")
    return converted


def _contiguous(array: Any) -> Any:
    """``array``, or a copy that is contiguous, aligned and in this machine's order of bytes."""
    if on_device(array):
        import cupy

        return cupy.ascontiguousarray(array)
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
