"""The arcs of a CSR that a filter keeps, on the host: a bitmap with ranks, by which any column is compacted.

The masks are copied into the bitmap, so what other threads write to them afterwards changes nothing.
"""

from __future__ import annotations

import numpy as np

from ...kernels.cpu import prange
from ...kernels.cpu.bits import LAST, ONE, WORD, bit_of, count_ones, lowest_one, word_of, words
from ...kernels.cpu.compiled import parallel, serial
from ..dtypes import index_dtype
from ..memory import require_bytes as require
from ..threads import pool

PIECES = 16  # of the arcs for each thread: rows and their ends are not equally near everywhere


def bitmap(mask: np.ndarray) -> np.ndarray:
    """A mask as a bitmap of 64-bit words; the bits past its end are 0."""
    bits = np.zeros(words(len(mask)), np.uint64)
    packed = np.packbits(mask, bitorder="little")
    bits.view(np.uint8)[: len(packed)] = packed
    return bits


@parallel
def _drop_ends(offsets, targets, base, allowed, kept, pieces):
    """Clear the bits in ``kept[words of m]`` of the arcs that have an end outside of ``allowed[words of n]``; ``base``
    is the vertex of the first row."""
    for piece in prange(pieces):
        first, last = piece * len(kept) // pieces, (piece + 1) * len(kept) // pieces
        vertex = np.searchsorted(offsets, first * WORD, side="right") - 2
        end, is_allowed = offsets[vertex + 1], np.uint64(0)
        for word in range(first, last):
            bits = np.uint64(0)
            for arc in range(word * WORD, min((word + 1) * WORD, len(targets))):
                while arc >= end:
                    vertex += 1
                    end = offsets[vertex + 1]
                    is_allowed = allowed[word_of(base + vertex)] >> (np.uint64(base + vertex) & LAST)
                target = np.uint64(targets[arc])
                bits |= (is_allowed & (allowed[word_of(target)] >> (target & LAST)) & ONE) << (np.uint64(arc) & LAST)
            kept[word] &= bits


@serial
def _rank(kept, ranks):
    """Fill ``ranks[words + 1]`` with the number of bits before each word."""
    before = 0
    for word in range(len(kept)):
        ranks[word] = before
        before += count_ones(kept[word])
    ranks[len(kept)] = before


@parallel
def _move_offsets(offsets, kept, ranks, moved):
    for vertex in prange(len(offsets)):
        arc = offsets[vertex]
        rank = ranks[word_of(arc)]
        if arc & (WORD - 1):
            rank += count_ones(kept[word_of(arc)] & (bit_of(arc) - ONE))
        moved[vertex] = rank


@parallel
def _compact(values, kept, ranks, compacted):
    for word in prange(len(kept)):
        place = np.uint64(ranks[word])
        first = np.uint64(word) * np.uint64(WORD)
        left = kept[word]
        while left:
            compacted[place] = values[first + (lowest_one(left) & LAST)]
            left &= left - ONE
            place += ONE


class Kept:
    """The arcs that a filter keeps.

    ``edges`` is a mask of the arcs, ``vertices`` one of the vertices, both of which an arc must have at its ends; None
    keeps all. The first row is that of the vertex ``base``.
    """

    def __init__(
        self,
        offsets: np.ndarray,
        targets: np.ndarray,
        edges: np.ndarray | None,
        vertices: np.ndarray | None,
        base: int = 0,
    ) -> None:
        arcs = len(targets)
        require(arcs // 4, f"a filter of {arcs:,} arcs")
        self._bits = bitmap(np.ones(arcs, bool) if edges is None else edges)
        if vertices is not None:
            with pool.work_on(arcs) as threads:
                _drop_ends(offsets, targets, base, bitmap(vertices), self._bits, PIECES * threads)
        self._ranks = np.empty(len(self._bits) + 1, np.int64)
        _rank(self._bits, self._ranks)
        self.total = int(self._ranks[-1])

    def offsets(self, offsets: np.ndarray) -> np.ndarray:
        """The offsets of the arcs that are kept."""
        moved = np.empty(len(offsets), index_dtype(self.total))
        with pool.work_on(len(offsets)):
            _move_offsets(offsets, self._bits, self._ranks, moved)
        return moved

    def taken(self, values: np.ndarray) -> np.ndarray:
        """A column of the arcs, of the arcs that are kept."""
        require(self.total * values.itemsize, f"a column of {self.total:,} arcs")
        compacted = np.empty(self.total, values.dtype)
        unsigned = np.dtype(f"u{values.itemsize}")
        with pool.work_on(len(values)):
            _compact(values.view(unsigned), self._bits, self._ranks, compacted.view(unsigned))
        return compacted
