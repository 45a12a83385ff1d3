"""The arcs of a CSR that a filter keeps, on the host: a bitmap with ranks, by which any column is compacted.

The masks are copied into the bitmap, so what other threads write to them afterwards changes nothing.
"""

from __future__ import annotations

import numpy as np

from ...kernels.cpu import prange
from ...kernels.cpu.bits import LAST, ONE, WORD, bit_of, count_ones, lowest_one, word_of, words
from ...kernels.cpu.compiled import for_kernels, parallel, serial
from ...kernels.cpu.rows import row_of
from ...kernels.cpu.vectors import compress, lanes, pack
from ..dtypes import index_dtype
from ..memory import require_bytes as require
from ..threads import pool
from .building import CSR, is_symmetric

PIECES = 16  # of the arcs for each thread: rows and their ends are not equally near everywhere
LARGE = 1 << 16  # arcs; fewer are not worth another kernel
SPARSE = 16  # arcs, of which fewer than one is kept
CHUNK = 16  # words whose rows are looked at before their targets
FEW = 12  # set bits of a word that are taken one by one
MANY = 3  # times as many arcs are kept as dropped: to compact and check the latter takes less time


@parallel
def _pack(mask, bits):
    """Fill the words of ``bits`` that the mask fills."""
    for word in prange(len(mask) // WORD):
        bits[word] = pack(mask, word * WORD)


def bitmap(mask: np.ndarray) -> np.ndarray:
    """A mask as a bitmap of 64-bit words, by one thread; the bits past its end are 0."""
    bits = np.zeros(words(len(mask)), np.uint64)
    packed = np.packbits(mask, bitorder="little")
    bits.view(np.uint8)[: len(packed)] = packed
    return bits


def _bitmap_of_arcs(mask: np.ndarray) -> np.ndarray:
    """The same, by all threads if it is large."""
    if len(mask) < LARGE:
        return bitmap(mask)
    bits = np.empty(words(len(mask)), np.uint64)
    with pool.work_on(len(mask)):
        _pack(mask, bits)
    done = len(mask) // WORD
    bits[done:] = bitmap(mask[done * WORD :])
    return bits


@for_kernels
def _spread(toggles, fill):
    """The word whose bits change where ``toggles`` has one; ``fill`` is the bit before, in all places."""
    for distance in (1, 2, 4, 8, 16, 32):
        toggles ^= toggles << np.uint64(distance)
    return toggles ^ fill


@for_kernels
def _allowed(targets, allowed, bits):
    """Those of a word's bits whose targets, of which there are up to 64, are allowed."""
    if count_ones(bits) > FEW and len(targets) == WORD:
        ends = np.uint64(0)
        for place in range(WORD):
            target = np.uint64(targets[place])
            ends |= (allowed[word_of(target)] >> (target & LAST) & ONE) << np.uint64(place)
        return bits & ends
    left = bits
    while left:
        place = lowest_one(left)
        target = np.uint64(targets[place])
        bits ^= (~allowed[word_of(target)] >> (target & LAST) & ONE) << place
        left &= left - ONE
    return bits


@parallel
def _drop_ends(offsets, targets, base, allowed, kept, pieces):
    """Clear the bits in ``kept[words of m]`` of the arcs that have an end outside of ``allowed[words of n]``; ``base``
    is the vertex of the first row.

    The rows come without a branch that depends on degrees: where a row begins that differs from the one before in
    being allowed, a bit is toggled, and the bits between are then spread.
    """
    for piece in prange(pieces):
        first, last = piece * len(kept) // pieces, (piece + 1) * len(kept) // pieces
        toggles, fill, before = np.empty(CHUNK, np.uint64), np.uint64(0), np.uint64(0)
        vertex = row_of(offsets, first * WORD)
        if first < last:
            before = allowed[word_of(base + vertex)] >> (np.uint64(base + vertex) & LAST) & ONE
            fill = np.uint64(0) - before
        for start in range(first, last, CHUNK):
            count = min(CHUNK, last - start)
            stop = min((start + count) * WORD, len(targets))
            toggles[:] = 0
            while offsets[vertex + 1] < stop:
                vertex += 1
                now = allowed[word_of(base + vertex)] >> (np.uint64(base + vertex) & LAST) & ONE
                arc = offsets[vertex] - start * WORD
                toggles[word_of(arc)] ^= (now ^ before) << (np.uint64(arc) & LAST)
                before = now
            for word in range(count):
                bits = _spread(toggles[word], fill)
                fill = np.uint64(0) - (bits >> LAST)
                begin = (start + word) * WORD
                kept[start + word] = _allowed(targets[begin : begin + WORD], allowed, bits & kept[start + word])


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
def _pick(values, kept, ranks, compacted):
    """Fill ``compacted`` with the values whose bits are set, one by one."""
    for word in prange(len(kept)):
        left, begin, place = kept[word], np.uint64(word * WORD), np.uint64(ranks[word])
        while left:
            compacted[place] = values[begin + lowest_one(left)]
            left &= left - ONE
            place += ONE


@parallel
def _compact(values, kept, ranks, compacted, pieces):
    """The same, some at a time if the processor can. Each thread writes its own part: what `compress` writes past the
    last value is overwritten, or would lie past the end of the part, and the last values come one by one."""
    for piece in prange(pieces):
        word, last = piece * len(kept) // pieces, (piece + 1) * len(kept) // pieces
        place, end = ranks[word], ranks[last]
        while lanes(values) and word < last and place + WORD <= end:
            for lane in range(0, WORD, lanes(values)):
                bits = kept[word] >> np.uint64(lane)
                compress(values, word * WORD + lane, bits, compacted, place)
                place += count_ones(bits & ((ONE << np.uint64(lanes(values))) - ONE))
            word += 1
        for rest in range(word, last):
            left, begin, single = kept[rest], np.uint64(rest * WORD), np.uint64(ranks[rest])
            while left:
                compacted[single] = values[begin + lowest_one(left)]
                left &= left - ONE
                single += ONE


class MarkedArcs:
    """The arcs, numbered 0 to ``arcs`` - 1, whose bits are set."""

    def __init__(self, bits: np.ndarray, arcs: int) -> None:
        self._arcs, self._bits = arcs, bits
        self._ranks = np.empty(len(bits) + 1, np.int64)
        _rank(bits, self._ranks)
        self.total = int(self._ranks[-1])

    def offsets(self, offsets: np.ndarray) -> np.ndarray:
        """The offsets of a CSR of these arcs alone, from those of all; of the smallest type that holds them."""
        moved = np.empty(len(offsets), index_dtype(self.total))
        with pool.work_on(len(offsets)):
            _move_offsets(offsets, self._bits, self._ranks, moved)
        return moved

    def compacted(self, values: np.ndarray) -> np.ndarray:
        """The entries of these arcs, from ``values``, which has one for each arc."""
        require(self.total * values.itemsize, f"a column of {self.total:,} arcs")
        compacted = np.empty(self.total, values.dtype)
        unsigned = np.dtype(f"u{values.itemsize}")
        columns = values.view(unsigned), self._bits, self._ranks, compacted.view(unsigned)
        with pool.work_on(len(values)) as threads:
            if self.total < self._arcs // SPARSE:
                _pick(*columns)
            else:
                _compact(*columns, PIECES * threads)
        return compacted


class KeptArcs(MarkedArcs):
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
        bits = _bitmap_of_arcs(np.ones(arcs, bool) if edges is None else edges)
        if vertices is not None:
            with pool.work_on(arcs) as threads:
                _drop_ends(offsets, targets, base, bitmap(vertices), bits, PIECES * threads)
        super().__init__(bits, arcs)

    def symmetric(self, offsets: np.ndarray, targets: np.ndarray, kept: CSR) -> bool:
        """Are the kept arcs, whose CSR is ``kept``, symmetric, given that all arcs are?

        If they are, so are those that are dropped, and those are looked at where they are few.
        """
        if self._arcs < LARGE or (self._arcs - self.total) * MANY > self.total:
            return is_symmetric(*kept)
        bits = ~self._bits
        bits[self._arcs // WORD :] &= bitmap(np.ones(self._arcs % WORD, bool))  # none past the end
        dropped = MarkedArcs(bits, self._arcs)
        return is_symmetric(dropped.offsets(offsets), dropped.compacted(targets))
