"""Ids become vertices: each distinct id gets one number, in time and memory linear in what is read."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import is_integer, quoted
from .._core.csr.building import Pairs
from ..errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    Columns = tuple[pa.Array, pa.Array]  # source and target ids, equally many

LARGEST = np.iinfo(np.int64).max  # of the integers that a column of ids can hold
PLAIN = re.compile("0|[1-9][0-9]{0,18}", re.ASCII)  # an integer as it is written


def are_integer_ids(ids: Iterable[Hashable]) -> bool:
    """Are all of these integers that a column of ids can hold?"""
    return all(is_integer(id) and 0 <= id <= LARGEST for id in ids)


def are_written_integers(ids: Iterable[Any]) -> bool:
    """Are these strings integers, each written in the one way that leaves them distinct?"""
    return all(isinstance(id, str) and PLAIN.fullmatch(id) and int(id) <= LARGEST for id in ids)


def refuse_written_integers(ids: list[str]) -> None:
    """Raise `InputError` if these strings would be read as integers."""
    if are_written_integers(ids):
        raise InputError("the ids are strings that would be read as integers; .parquet, .arrow and .npz keep them")


def number_values(
    pairs: Iterable[Columns], labels: Sequence[Hashable], type: pa.DataType, name: str
) -> tuple[list[Pairs], list[Hashable]]:
    """Edges between values of one Arrow type as vertices, and the id of each vertex.

    Vertices are ``labels``, which are distinct, or without labels the values by first appearance, source before
    target. Raises `InputError` if there are ``labels`` and a value is not one of them.
    """
    import pandas as pd
    import pyarrow as pa

    encoded = [_encoded(pa.array(labels, type))]
    for pair in pairs:
        encoded.extend(map(_encoded, pair))
    chunks = pa.chunked_array(encoded).unify_dictionaries().chunks
    ids = chunks[0].dictionary
    vertices = np.full(len(ids), -1, np.int32)
    vertices[: len(labels)] = np.arange(len(labels))
    count = len(labels)
    blocks = []
    for pair in zip(chunks[1::2], chunks[2::2], strict=True):
        source, target = (chunk.indices.to_numpy() for chunk in pair)
        seen = np.column_stack([source, target]).ravel()
        new = pd.unique(seen[vertices[seen] < 0])
        vertices[new] = np.arange(count, count + len(new))
        count += len(new)
        blocks.append((vertices[source], vertices[target]))
    by_vertex = np.argsort(vertices)[len(ids) - count :]
    found = ids.take(pa.array(by_vertex)).to_pylist()
    if labels and count > len(labels):
        raise InputError(f"{name}: the id {quoted(found[len(labels)])} is not one of the labels in its metadata")
    return blocks, found


def _encoded(ids: pa.Array) -> pa.DictionaryArray:
    import pyarrow as pa

    encoded = ids if pa.types.is_dictionary(ids.type) else ids.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices.cast(pa.int32()), encoded.dictionary)


# `pandas.api.types.infer_dtype` of object columns that hold only numbers, and of those that hold several types.
NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
SEVERAL = ("mixed", "mixed-integer", "empty", "unknown-array")


def require_one_type(types: Sequence[str], columns: tuple[str, str], name: str) -> None:
    """Raise `InputError` if each of two columns holds ids of a single type, but the types differ.

    As in a dict, '1' and 1 are different ids, hence two vertices: mostly because one column was read as text by
    mistake. A column that mixes types does so on purpose.
    """
    source, target = ("number" if type in NUMBERS else type for type in types)
    if source != target and source not in SEVERAL and target not in SEVERAL:
        raise InputError(
            f"{name}: column {columns[0]!r} holds ids of type {types[0]} and column {columns[1]!r} of type {types[1]}, "
            "which are never the same vertex: cast one column to the type of the other"
        )
