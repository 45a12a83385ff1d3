"""Ids become vertices: each distinct id gets one number, in time and memory linear in what is read.

Integers have their own hash table. It takes them in blocks, which `pandas.factorize` cannot, and holds only the
distinct ids; Arrow's dictionary encoding takes twice as long for many blocks as for one.
"""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from .._core.arguments import is_integer, quoted
from .._core.csr.host import Pairs, as_block
from .._core.dtypes import index_dtype
from .._core.memory import require_bytes
from ..errors import InputError
from ..kernels.cpu.compiled import serial
from ..kernels.cpu.splitmix import mixed

if TYPE_CHECKING:
    import pyarrow as pa

    Columns = tuple[pa.Array, pa.Array]  # source and target ids, equally many

LARGEST = np.iinfo(np.int64).max  # of the integers that a column of ids can hold
STEP = 1 << 16  # ids numbered between two checks that the table has room
FREE = -1  # marks a free row of the table; ids are 0 or more


def are_integer_ids(ids: Iterable[Hashable]) -> bool:
    """Are all of these integers that a column of ids can hold?"""
    return all(is_integer(id) and 0 <= id <= LARGEST for id in ids)


@njit(inline="always")
def _find(table, id, salt, shift):
    """The row of ``table`` that holds ``id``, or the free one where it belongs."""
    row = np.int64(mixed(np.uint64(id) ^ salt) >> shift)  # the upper bits of a 64-bit hash
    while table[row, 0] != id and table[row, 0] != FREE:
        row = (row + 1) & (len(table) - 1)
    return row


@serial
def _number(ids, table, salt, shift, count, numbers):
    """Write the number of each of ``ids`` to ``numbers``; new ones get ``count``, ... Returns the new count."""
    for i in range(len(ids)):
        row = _find(table, ids[i], salt, shift)
        if table[row, 0] == FREE:
            table[row, 0] = ids[i]
            table[row, 1] = count
            count += 1
        numbers[i] = table[row, 1]
    return count


@serial
def _move(table, larger, salt, shift):
    for old in range(len(table)):
        if table[old, 0] != FREE:
            row = _find(larger, table[old, 0], salt, shift)
            larger[row] = table[old]


class IntegerIds:
    """Distinct ids, int64 and not negative, numbered from 0 in the order in which they come.

    A hash table with linear probing, at most half full: a row has an id and its number, so an id takes 32 to 64 bytes,
    and half as much again while the table grows. Each table draws its own salt, so that nobody can construct ids that
    all hash to the same row.
    """

    def __init__(self) -> None:
        self.count = 0
        self._salt = np.uint64(secrets.randbits(64))
        self._table = self._free(10)

    def number(self, ids: np.ndarray) -> np.ndarray:
        """The numbers of ``ids``, which may be new."""
        numbers = np.empty(len(ids), index_dtype(self.count + len(ids)))
        ids = as_block(ids)
        for start in range(0, len(ids), STEP):
            step = slice(start, start + STEP)
            while 2 * (self.count + len(ids[step])) > len(self._table):
                self._grow()
            self.count = _number(ids[step], self._table, self._salt, self._shift, self.count, numbers[step])
        return numbers

    def ascending(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct ids in ascending order, and for each number the place of its id there."""
        ids, numbers = self._table[self._table[:, 0] != FREE].T
        order = np.argsort(ids)
        ranks = np.empty(self.count, index_dtype(self.count))
        ranks[numbers[order]] = np.arange(self.count)
        return ids[order], ranks

    @property
    def _shift(self) -> np.uint64:
        return np.uint64(65 - len(self._table).bit_length())

    @staticmethod
    def _free(bits: int) -> np.ndarray:
        return np.full((1 << bits, 2), FREE, np.int64)

    def _grow(self) -> None:
        bits = len(self._table).bit_length()
        require_bytes(16 << bits, f"a table of more than {self.count:,} vertex ids")
        small, self._table = self._table, self._free(bits)
        _move(small, self._table, self._salt, self._shift)


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
