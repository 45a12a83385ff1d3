"""Columns of pandas as Arrow's, where Arrow has a type for their objects."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np

# Sets of types whose objects Arrow and Polars put into one column.
NUMBERS = {int, float, np.float64, *(np.dtype(code).type for code in "bhilqBHILQ")}
KINDS = ({str, np.str_}, {bytes, np.bytes_}, NUMBERS, {bool})  # and finite decimals


def array_of(series: Any) -> Any:
    """A column of pandas as Arrow's; None if it holds objects that Arrow has no type for.

    Arrow crashes on some mixtures of NumPy's scalars with other objects, so it never sees one.
    """
    import pandas as pd
    import pyarrow as pa

    try:
        if isinstance(series.dtype, pd.SparseDtype):
            series = series.sparse.to_dense()
        if isinstance(series.dtype, np.dtype) and not series.dtype.isnative:
            series = series.astype(series.dtype.newbyteorder("="))
        values = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else series
        if values.dtype == object and not of_one_kind(values):
            return None
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, ValueError):
        return None


def of_one_kind(ids: Iterable[Any]) -> bool:
    """Return True if all but None are of one of the `KINDS`, finite decimals, or tuples of one of these."""
    types = set(map(type, ids)) - {type(None)}
    if types == {tuple}:
        ids = list(chain.from_iterable(id for id in ids if id is not None))
        types = set(map(type, ids))
    if types == {Decimal}:
        return all(id is None or id.is_finite() for id in ids)
    return any(types <= kind for kind in KINDS)
