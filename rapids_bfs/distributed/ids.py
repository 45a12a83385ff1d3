"""Ids that are not 0..n-1. Each rank stores the ids of its own vertices.

If integers are close together, the distribution is cyclic over all of them up to the largest, and a table skips those
that do not occur. Otherwise a hash of the id chooses its rank, and each rank orders its ids ascending. Strings are
exchanged only once: every rank then knows the global ids of those in its own edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._core.arguments import is_integer
from .._core.csr.building import CHANGED, Pairs
from .._core.formatting import counted
from .._core.memory import require_bytes
from ..errors import InputError
from ..kernels.cpu.distributed import hash_strings
from .communicators import Communicator
from .partitioning import Partitioning

if TYPE_CHECKING:
    import pyarrow as pa

MULTIPLIER = np.int64(0x9E3779B97F4A7C15 - (1 << 64))  # of Fibonacci hashing
BITS = 31  # of a hash
PER_STRING = 80  # bytes of a short string of Python's, and of a reference to it


def owners(ids: Any, size: int) -> Any:
    """The rank that owns each id (int64)."""
    return ((ids * MULTIPLIER >> (64 - BITS)) & ((1 << BITS) - 1)) % size


class VertexIds(Protocol):
    """The ids of the vertices of a build, and the global ids that they become."""

    @property
    def partitioning(self) -> Partitioning: ...

    @property
    def own_ids(self) -> Any:
        """The ids of this rank's vertices by local id; None if they are computed from global ids."""

    def global_ids(self, ids: Any) -> Any:
        """The global ids of ids in the edges. It may be a collective: all ranks call it for each block."""


@dataclass
class CyclicIds:
    """Global ids of all ids 0..n-1, which are computed."""

    partitioning: Partitioning
    own_ids: None = None

    def global_ids(self, ids: Any) -> Any:
        return self.partitioning.global_ids(ids)


@dataclass
class CompactIds:
    """Global ids of the ids 0..n-1 that occur, where some do not."""

    partitioning: Partitioning
    own_ids: Any
    cyclic: Partitioning  # of all ids 0..n-1
    table: Any  # from global ids of ``cyclic`` to those of ``partitioning``; replicated on every rank

    @classmethod
    def of(cls, cyclic: Partitioning, occurs: Any, communicator: Communicator, csr: ModuleType) -> CompactIds:
        """``occurs`` is a mask of the ids that ``cyclic`` assigns to this rank, by local id."""
        xp = csr.xp
        partitioning = Partitioning(tuple(communicator.allgather_object(int(occurs.sum()))), cyclic=False)
        own_ids = cyclic.ids(cyclic.own_global_ids(communicator.rank, xp)[occurs])
        slots = cyclic.size * cyclic.stride
        csr.require(slots * partitioning.dtype.itemsize, f"a table of {counted(cyclic.n, 'id')}")
        table = xp.zeros(slots, partitioning.dtype)
        first = communicator.rank * cyclic.stride
        mine = table[first : first + len(occurs)]
        mine[:] = occurs
        xp.cumsum(mine, dtype=mine.dtype, out=mine)
        mine -= 1
        xp.maximum(mine, 0, out=mine)  # an id that does not occur shares the entry of another
        mine += communicator.rank * partitioning.stride
        return cls(partitioning, own_ids, cyclic, communicator.allgather_slices(table))

    def global_ids(self, ids: Any) -> Any:
        return self.table[self.cyclic.global_ids(ids)]


@dataclass
class HashedIds:
    """Global ids of ids that a hash assigns to ranks; each rank stores its own."""

    partitioning: Partitioning
    own_ids: Any  # int64, ascending
    communicator: Communicator
    xp: ModuleType

    @classmethod
    def of(cls, blocks: Iterable[Pairs], communicator: Communicator, csr: ModuleType) -> HashedIds:
        """From the distinct ids in the blocks of all ranks. A collective for each block."""
        xp = csr.xp
        own_ids = xp.empty(0, np.int64)
        for sources, targets in blocks:
            ids = _distinct(xp.concatenate([sources, targets]).astype(np.int64), xp)
            received = communicator.alltoallv_new(
                grouped(ids, owners(ids, communicator.size), communicator.size, xp)[0]
            )
            own_ids = _distinct(xp.concatenate([own_ids, *received]), xp)
        partitioning = Partitioning(tuple(communicator.allgather_object(len(own_ids))), cyclic=False)
        return cls(partitioning, own_ids, communicator, xp)

    def global_ids(self, ids: Any) -> Any:
        distinct = _distinct(ids.astype(np.int64), self.xp)
        asked, order = grouped(distinct, owners(distinct, self.communicator.size), self.communicator.size, self.xp)
        dtype = self.partitioning.dtype
        base = self.communicator.rank * self.partitioning.stride
        received = self.communicator.alltoallv_new(asked)
        answers = [self._local_ids(some).astype(dtype) + dtype.type(base) for some in received]
        global_ids = self.xp.empty(len(distinct), dtype)
        global_ids[order] = self.xp.concatenate(self.communicator.alltoallv_new(answers))
        return global_ids[self.xp.searchsorted(distinct, ids.astype(np.int64))]

    def _local_ids(self, ids: Any) -> Any:
        """The local ids of ids that this rank owns. Raises `InputError` if `of` has not seen one of them."""
        local_ids = self.xp.searchsorted(self.own_ids, ids)
        if len(ids) and (int(local_ids.max()) == len(self.own_ids) or not bool((self.own_ids[local_ids] == ids).all())):
            raise InputError(CHANGED)
        return local_ids


@dataclass
class StringIds:
    """Global ids of strings that a hash assigns to ranks; each rank stores its own."""

    partitioning: Partitioning
    own_ids: np.ndarray  # Python's strings, ascending
    of_given: np.ndarray  # the global ids of the distinct strings that `of` was given, in their order

    @classmethod
    def of(cls, strings: pa.Array, communicator: Communicator) -> StringIds:
        """From the distinct strings of each rank, of type ``large_string``. A collective."""
        import pyarrow as pa
        import pyarrow.compute as pc

        size, rank = communicator.size, communicator.rank
        hashes = np.empty(len(strings), np.int64)
        hash_strings(*_buffers(strings), hashes)
        places, order = grouped(np.arange(len(strings)), owners(hashes, size), size, np)
        received = _exchange_strings(communicator, [strings.take(pa.array(mine)) for mine in places])
        everything = pa.chunked_array(received).combine_chunks().dictionary_encode()
        require_bytes(PER_STRING * len(everything.dictionary), f"{len(everything.dictionary):,} strings as ids")
        local_ids = pc.rank(everything.dictionary, "ascending", tiebreaker="first").to_numpy().astype(np.int64) - 1
        partitioning = Partitioning(tuple(communicator.allgather_object(len(local_ids))), cyclic=False)
        own_ids = np.empty(len(local_ids), object)
        own_ids[local_ids] = everything.dictionary.to_numpy(zero_copy_only=False)
        mine = (local_ids + rank * partitioning.stride).astype(partitioning.dtype)[everything.indices.to_numpy()]
        ends = np.cumsum([len(some) for some in received])
        answers = communicator.alltoallv_new(np.split(mine, ends[:-1]))
        of_given = np.empty(len(strings), partitioning.dtype)
        of_given[order] = np.concatenate(answers)
        return cls(partitioning, own_ids, of_given)

    def global_ids(self, ids: Any) -> Any:
        """``ids``: the edges of `StringEdges` are between global ids already."""
        return ids.astype(self.partitioning.dtype, copy=False)


def stored_id(id: Any) -> int | str | None:
    """An id that a user gave, in the form in which ranks store ids; None if none of them can have it."""
    if isinstance(id, str):
        return id
    return int(id) if is_integer(id) and 0 <= id < 1 << 63 else None


def exchange_ids(communicator: Communicator, pieces: Sequence[Any]) -> list[Any]:
    """`Communicator.alltoallv_new` of arrays of ids, integers or strings."""
    if pieces[0].dtype != object:
        return communicator.alltoallv_new(pieces)
    import pyarrow as pa

    strings = [pa.array(piece, pa.large_string()) for piece in pieces]
    return [received.to_numpy(zero_copy_only=False) for received in _exchange_strings(communicator, strings)]


def _exchange_strings(communicator: Communicator, strings: Sequence[pa.Array]) -> list[pa.Array]:
    """Send an array of strings to each rank. Returns those received."""
    import pyarrow as pa

    offsets, content = zip(*map(_buffers, strings), strict=True)
    their_offsets = communicator.alltoallv_new([each - each[0] for each in offsets])
    their_content = communicator.alltoallv_new(
        [some[each[0] : each[-1]] for each, some in zip(offsets, content, strict=True)]
    )
    return [
        pa.LargeStringArray.from_buffers(len(each) - 1, pa.py_buffer(each), pa.py_buffer(some))
        for each, some in zip(their_offsets, their_content, strict=True)
    ]


def _buffers(strings: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Where each string begins, and where the last ends, in the bytes of all of them in UTF-8."""
    _, offsets, content = strings.buffers()
    if not len(strings):
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    first, last = strings.offset, strings.offset + len(strings) + 1
    content = np.empty(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
    return np.frombuffer(offsets, np.int64)[first:last], content


def _distinct(ids: Any, xp: ModuleType) -> Any:
    """The distinct ids, ascending."""
    return xp.unique(ids) if len(ids) else ids


def grouped(values: Any, owner: Any, size: int, xp: ModuleType) -> tuple[list[Any], Any]:
    """The values grouped by owner, and their original positions in that order."""
    if not len(values):
        return [values] * size, xp.empty(0, np.int64)
    order = xp.argsort(owner)
    ends = xp.searchsorted(owner[order], xp.arange(1, size, dtype=owner.dtype)).tolist()
    in_order = values[order]
    return [in_order[first:last] for first, last in zip([0, *ends], [*ends, len(values)], strict=True)], order
