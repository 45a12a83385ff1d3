"""A hash table of integer ids.

It takes them in blocks, which `pandas.factorize` cannot, and holds only the distinct ids; Arrow's dictionary encoding
takes twice as long for many blocks as for one.
"""

from __future__ import annotations

import secrets

import numpy as np

from .._core.csr.building import as_block
from .._core.dtypes import index_dtype
from .._core.memory import require_bytes
from ..kernels.cpu import njit
from ..kernels.cpu.compiled import serial
from ..kernels.cpu.splitmix import mixed

STEP = 1 << 16  # ids numbered between two checks that the table has room
FREE = -1  # marks a free row of the table; ids are 0 or more


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
